# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any

import pytest

from chakra_core import ConfigError, System

GOOD: dict[str, Any] = {
    "scheduling-policy": "LIFO",
    "endpoint-delay": 10,
    "active-chunks-per-dimension": 2,
    "preferred-dataset-splits": 4,
    "all-reduce-implementation": ["ring", "direct4"],
    "all-gather-implementation": ["halvingDoubling", "oneRing"],
    "reduce-scatter-implementation": ["doubleBinaryTree", "direct"],
    "all-to-all-implementation": ["oneDirect16"],
    "collective-optimization": "localBWAware",
    "local-mem-bw": 1600,
    "boost-mode": 0,
}


def load(tmp_path: Path, data: dict[str, Any]) -> System:
    path = tmp_path / "system.json"
    path.write_text(json.dumps(data))
    return System.load(path)


def test_file_is_read(tmp_path: Path) -> None:
    system = load(tmp_path, GOOD)
    assert system.all_reduce_implementation == ("ring", "direct4")
    assert system.endpoint_delay == 10
    assert system.collective_optimization == "localBWAware"
    assert system.model_dump(exclude_unset=True, mode="json") == GOOD


def test_python_names_and_units() -> None:
    system = System(endpoint_delay="1.5 us", local_mem_bw="1.6 TB/s", peak_perf="312 TFLOPS")
    assert (system.endpoint_delay, system.local_mem_bw, system.peak_perf) == (1500, 1600, 312)
    assert system.all_reduce_implementation is None


def test_keys_without_influence_are_known(tmp_path: Path) -> None:
    extra = {
        "local-reduction-delay": 1,
        "L": 5,
        "o": 1,
        "g": 1,
        "G": 0.01,
        "trace-enabled": 1,
        "track-local-mem": True,
        "local-mem-trace-filename": "x",
        "model-shared-bus": 0,
    }
    system = load(tmp_path, GOOD | extra)
    assert (system.L, system.trace_enabled, system.track_local_mem) == (5, True, True)


def test_optional_keys_have_astra_sims_defaults(tmp_path: Path) -> None:
    needed = ("preferred-dataset-splits", "collective-optimization")
    system = load(tmp_path, {key: GOOD[key] for key in needed})
    assert system.endpoint_delay is None
    assert (system.active_chunks_per_dimension, system.local_mem_bw) == (1, 0)


@pytest.mark.parametrize("key", ["preferred-dataset-splits", "collective-optimization"])
def test_keys_that_a_file_must_have(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match=rf"system.json: missing key '{key}'"):
        load(tmp_path, {name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"all-reduce-implementation": ["tree"]}, r"'all-reduce-implementation'\[0\]: found 'tree', allowed: ring, "),
        ({"all-reduce-implementation": ["direct0"]}, "found 'direct0'"),
        ({"all-reduce-implementation": "ring"}, "'all-reduce-implementation': found 'ring', should be a list"),
        ({"scheduling-policy": "SJF"}, "'scheduling-policy': found 'SJF', allowed: 'LIFO', 'FIFO' or 'EXPLICIT'"),
        ({"collective-optimization": "best"}, "'collective-optimization': found 'best', allowed: 'baseline' or 'local"),
        ({"preferred-dataset-splits": 0}, "'preferred-dataset-splits': found 0, should be greater than or equal to 1"),
        ({"preferred-dataset-splits": "4"}, "'preferred-dataset-splits': found '4', should be a valid integer"),
        ({"endpoint-delay": -1}, "'endpoint-delay': found -1"),
        ({"endpoint-delay": None, "L": None}, "'L': found None"),
        ({"boost-mode": 2}, "'boost-mode': found 2, allowed: 0, 1, true, false"),
        ({"model-shared-bus": 1}, "'model-shared-bus': found 1; the shared-bus model is not offered"),
        (
            {"roofline-enabled": 1},
            "'roofline-enabled' needs 'peak-perf' and 'local-mem-bw' above 0, found 0.0 and 1600",
        ),
        (
            {"all-reduce-implementation-custom": ["x", "y"]},
            "'all-reduce-implementation-custom': found .'x', 'y'., allowed",
        ),
        (
            {"all-gather-implementation-custom": 5},
            "'all-gather-implementation-custom': found 5, allowed: the prefix of a",
        ),
        ({"per-node-custom-implementation": "x"}, "'per-node-custom-implementation': one for each node is not offered"),
        ({"endpoint-delai": 1}, "unknown key 'endpoint-delai'; did you mean 'endpoint-delay'"),
    ],
)
def test_bad_values_name_file_and_key(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, GOOD | change)
    assert str(caught.value).startswith(str(tmp_path / "system.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"L": 1,}', "line 1, column 9: malformed JSON"),
        ('{"L": 1,\n "L": 2}', "key 'L' stands there more than once"),
        ('{"L": NaN}', "found NaN, which is no JSON number"),
        ("3", "expected keys with values, found a int"),
    ],
)
def test_malformed_json_says_where(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "system.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        System.load(path)
