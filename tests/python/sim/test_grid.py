# SPDX-License-Identifier: MIT
"""The reference grid: what ASTRA-sim's runs gave, in parity mode; what is right for its odd inputs, by default."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from chakra_core.config import SimulationOptions

ROOT = Path(__file__).parents[3]
REFERENCE = Path(os.environ.get("CHAKRA_CORE_SHARED", ROOT.parent / "shared")) / "reference"
GRID = REFERENCE / "astra_grid.jsonl"

pytestmark = pytest.mark.skipif(not GRID.exists(), reason=f"no reference grid at {GRID}")

EXCEPTIONS = {
    "s1-0509": (cc.ConfigError, "the shared-bus model is not offered"),
    "s1-0517": (cc.ConfigError, "memory without bandwidth is refused, where ASTRA-sim divides by 0"),
    "s1-0538": (cc.FormatError, "two nodes of one id are refused, where ASTRA-sim drops one"),
}
"""Rows with a result in ASTRA-sim that are refused, and why."""

NOT_REFUSED = {
    "s1-0346": "ASTRA-sim aborts after the result",
    "s1-0358": "ASTRA-sim aborts after the result",
    "s1-0532": "nothing to do, and done",
    "s1-0553": "memory tracking has no influence",
    "s1-0559": "a group named 0 with all ranks is the world",
    "s1-0586": "a ring of two links works",
}
"""Rows that ASTRA-sim fails at and that run in parity mode all the same, and why."""

DEFAULTS: dict[str, list[int] | str] = {
    "congestion_aware with 2D topology": [34285] * 4,
    "5D topology (default involved_dim has 4 entries)": [25695] * 32,
    "collective type BROADCAST": [40, 5432, 10824, 16216],
    "ALL_TO_ALL halvingDoubling": "halvingDoubling cannot do an all-to-all",
    "ALL_GATHER doubleBinaryTree": "doubleBinaryTree can do an all-reduce only",
    "more implementations than dims (2 for 1D)": "'all-reduce-implementation' has 2 entries",
    "missing implementation key": "missing key 'all-reduce-implementation'",
    "local-mem-bw missing (default 0)": [41560] * 4,
    "ALL_REDUCE of 0 bytes, 4 splits": [0] * 4,
    "ALL_GATHER of 0 bytes, 4 splits": [0] * 4,
    "ALL_GATHER of 1 bytes, 4 splits": [1540] * 4,
    "ALL_GATHER of 3 bytes, 4 splits": [4620] * 4,
    "METADATA_NODE in trace": [43000] * 4,
    "INVALID_NODE in trace": [43000] * 4,
    "INVALID_NODE mid-trace": [48000] * 4,
    "comm node flagged is_cpu_op": [43000] * 4,
    "memory node under NO_MEMORY_EXPANSION": "memory-type is NO_MEMORY_EXPANSION",
    "recv without matching send": "waits for a message from rank 1 of 1048576 bytes with tag 1",
    "send/recv size mismatch": "(COMM_SEND_NODE) sent",
    "send/recv tag mismatch": "(COMM_SEND_NODE) sent",
    "send of 0 bytes": [500, 500, 0, 0],
    "send to self": [0] * 4,
    "send/recv without comm_tag": [20031, 20031, 0, 0],
    "send issued by wrong rank": "comm_src is 1",
    "one rank misses the collective": "was never issued by rank",
    "ranks disagree on collective size": "rank 3 issued node 0, ALL_REDUCE of 2097152 bytes",
    "ranks disagree on collective order": "rank 2 issued node 0, ALL_GATHER of 1048576 bytes",
    "empty trace (metadata only)": "was never issued by rank",
    "all ranks empty": [0] * 4,
    "dependency cycle": "0 -> 1 -> 0",
    "cycle plus a free node": "0 -> 1 -> 0",
    "dependency on a missing node": "node 1 depends on missing node 99",
    "roofline with tensor_size 0": [10000] * 4,
    "pg_name not in comm group file": 'pg_name "7" is not in the communicator groups (1)',
    "pg_name set, no comm group file": 'pg_name "1" is not in the communicator groups (none)',
    "rank not member of its group": 'rank 2 is not in communicator group "1"',
    "group of one rank": [0] * 4,
    "involved_dim all false": [0] * 4,
    "comm_size missing": "attribute comm_size is missing",
    "comm_type missing": "attribute comm_type is missing",
    "1 NPU": [0],
    "congestion_aware Ring of 2 NPUs": [24620] * 2,
}
"""By default: the finish times, or a part of the message."""


@functools.cache
def rows() -> dict[str, dict[str, Any]]:
    if not GRID.exists():
        return {}
    with GRID.open(encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


def run(row: dict[str, Any], folder: Path, *, parity: bool) -> cc.Result:
    files = {}
    for name in ("network_yml", "system_json", "memory_json", "comm_group_json"):
        if row[name] is not None:
            files[name] = folder / name.replace("_", ".")
            files[name].write_text(row[name])
    options = SimulationOptions.from_arguments(row["extra_args"])
    return cc.simulate(
        os.fspath(REFERENCE / row["workload_dir"] / f"{row['workload_prefix']}.%d.et"),
        network=files["network_yml"],
        system=files["system_json"],
        memory=files.get("memory_json"),
        comm_groups=files.get("comm_group_json"),
        congestion=row["backend"] == "aware",
        parity=parity,
        num_queues_per_dim=options.num_queues_per_dim,
        rendezvous_protocol=options.rendezvous_protocol,
        injection_scale=options.injection_scale,
        comm_scale=options.comm_scale,
    )


@pytest.mark.parametrize("row_id", [name for name, row in rows().items() if row["expect"] == "finish"])
def test_parity_gives_the_same_integers(row_id: str, tmp_path: Path) -> None:
    row = rows()[row_id]
    if row_id in EXCEPTIONS:
        with pytest.raises(EXCEPTIONS[row_id][0]):
            run(row, tmp_path, parity=True)
        return
    result = run(row, tmp_path, parity=True)
    assert result.finish_ns.tolist() == row["finish_ns"]
    assert result.exposed_comm_ns.tolist() == row["exposed_comm_ns"]


@pytest.mark.parametrize("row_id", [name for name, row in rows().items() if row["expect"] != "finish"])
def test_parity_says_where_astra_sim_fails(row_id: str, tmp_path: Path) -> None:
    if row_id in NOT_REFUSED:
        run(rows()[row_id], tmp_path, parity=True)
        return
    with pytest.raises(cc.ChakraError):
        run(rows()[row_id], tmp_path, parity=True)


@pytest.mark.parametrize("description", list(DEFAULTS))
def test_default_does_the_right_thing(description: str, tmp_path: Path) -> None:
    row = next(row for row in rows().values() if row["description"] == description)
    expected = DEFAULTS[description]
    if isinstance(expected, str):
        with pytest.raises(cc.ChakraError) as caught:
            run(row, tmp_path, parity=False)
        assert expected in str(caught.value)
    else:
        assert run(row, tmp_path, parity=False).finish_ns.tolist() == expected


def test_default_ends_every_row_or_says_why(tmp_path: Path) -> None:
    for row in rows().values():
        try:
            result = run(row, tmp_path, parity=False)
        except cc.ChakraError:
            continue
        assert result.num_ranks == row["npus"]
