# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any

import pytest

from chakra_core import CommGroups, ConfigError, Memory
from chakra_core.config import SimulationOptions


def test_memory_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    path.write_text('{"memory-type": "MEMORY_POOL", "remote-mem-latency": 100, "remote-mem-bw": 256}')
    memory = Memory.load(path)
    assert (memory.memory_type, memory.remote_mem_latency, memory.remote_mem_bw) == ("MEMORY_POOL", 100, 256)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "missing key 'memory-type'"),
        ({"memory-type": "NONE"}, "'memory-type': found 'NONE', allowed: 'NO_MEMORY_EXPANSION', "),
        ({"memory-type": "MEMORY_POOL"}, "'remote-mem-bw': found 0.0; 'MEMORY_POOL' needs at least 1"),
        ({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-bw": 1}, "missing key 'num-npus-per-node'"),
    ],
)
def test_bad_memory(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"Memory: {message}"):
        Memory.coerce(data)


def test_groups_are_read_in_their_order_even_from_a_folder_named_empty(tmp_path: Path) -> None:
    folder = tmp_path / "empty_1"
    folder.mkdir()
    path = folder / "groups.json"
    path.write_text('{"tp": [3, 1, 2, 0], "1": [0, 2]}')
    groups = CommGroups.load(path)
    assert list(groups.groups.items()) == [("tp", (3, 1, 2, 0)), ("1", (0, 2))]
    assert len(groups) == 2
    assert CommGroups.coerce(path) == CommGroups.coerce({"tp": [3, 1, 2, 0], 1: [0, 2]}) == groups


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"tp": [0, 1, 0]}, "group 'tp' lists rank 0 more than once"),
        ({"tp": []}, "group 'tp' has no ranks"),
        ({"tp": [0, -1]}, r"group 'tp'\[1\]: found -1"),
        ({"tp": [0, 1.5]}, r"group 'tp'\[1\]: found 1.5"),
        ({"tp": 3}, "group 'tp': found 3"),
    ],
)
def test_bad_groups_name_file_and_group(tmp_path: Path, data: dict[str, Any], message: str) -> None:
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=message) as caught:
        CommGroups.load(path)
    assert str(caught.value).startswith(str(path))


def test_astra_sim_arguments() -> None:
    options = SimulationOptions.from_arguments(
        ["--num-queues-per-dim=4", "--rendezvous-protocol=true", "--injection-scale=0.5", "--comm-scale=2"], parity=True
    )
    assert options == SimulationOptions(
        num_queues_per_dim=4, rendezvous_protocol=True, injection_scale=0.5, comm_scale=2, parity=True
    )


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--num-queues-per-dim", "expected --name=value"),
        ("num-queues-per-dim=4", "expected --name=value"),
        ("--queues=4", "unknown key 'queues'"),
        ("--num-queues-per-dim=many", "'num-queues-per-dim': found 'many'"),
        ("--num-queues-per-dim=0", "'num-queues-per-dim': found 0"),
        ("--injection-scale=0", "'injection-scale': found 0"),
        ("--injection-scale=nan", "'injection-scale': found nan"),
        ("--rendezvous-protocol=1", "'rendezvous-protocol': found 1"),
    ],
)
def test_bad_astra_sim_arguments(argument: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SimulationOptions.from_arguments([argument])
