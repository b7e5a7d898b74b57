# SPDX-License-Identifier: MIT
"""What nodes of a rank compete for, and recorded communication: real traces give their recorded times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import chakra_core as cc
from chakra_core.config import SimulationOptions
from shared_data import SHARED, needs
from timeline_files import read_chrome_json

SAMPLE = Path(__file__).parents[3] / "examples" / "sample"
PAIRS = SHARED / "data" / "pairs"
RECORDED = {
    "resnet_1gpu": ["resnet_1gpu_1.0.3"],
    "ddp2": ["torch213_ddp2_rank0", "torch213_ddp2_rank1"],
    "ddp4": [f"torch213_ddp4_rank{rank}" for rank in range(4)],
    "p2p": ["torch213_p2p2_rank0", "torch213_p2p2_rank1"],
}


def ring(ranks: int) -> dict[str, Any]:
    return {"topology": ["Ring"], "npus": [ranks], "bandwidth": ["25 Gbit/s"], "latency": ["5 us"]}


@pytest.fixture(scope="module")
def sample() -> list[cc.Trace]:
    """Both ranks of the sample, converted in the exact layout."""
    return [
        cc.convert(cc.link(SAMPLE / f"rank{rank}.host.json.gz", SAMPLE / f"rank{rank}.kineto.json.gz", rank=rank))
        for rank in (0, 1)
    ]


def spans(traces: list[cc.Trace]) -> npt.NDArray[np.uint64]:
    """Time from the start of each record to the end of its last node."""
    return np.array([(trace.start_ns + trace.duration_ns).max() for trace in traces])


def assert_recorded_times(result: cc.Result) -> None:
    recorded = spans(result.traces).astype(np.float64)
    assert np.abs(result.finish_ns - recorded).max() <= 1e-4 * recorded.min()
    nodes = result.nodes()
    starts = np.concatenate([trace.start_ns for trace in result.traces])
    timed = (nodes["resource"] != "none") & (nodes["end_ns"] > nodes["start_ns"])
    late = nodes["start_ns"].astype(np.int64) - starts.astype(np.int64)
    assert np.abs(late[timed]).max() <= 1e-4 * recorded.min()


def union(starts: npt.NDArray[np.uint64], ends: npt.NDArray[np.uint64]) -> set[tuple[int, int]]:
    """Intervals that none of the given ones leaves."""
    joined: list[list[int]] = []
    for start, end in sorted(zip(starts.tolist(), ends.tolist(), strict=True)):
        if start == end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return {(start, end) for start, end in joined}


def length(intervals: set[tuple[int, int]]) -> int:
    return sum(end - start for start, end in intervals)


def assert_times_are_unions(result: cc.Result) -> None:
    nodes = result.nodes()

    def of(rank: int, *resources: str) -> set[tuple[int, int]]:
        rows = (nodes["rank"] == rank) & np.isin(nodes["resource"].astype(str), resources)
        return union(nodes["start_ns"][rows], nodes["end_ns"][rows])

    for rank in range(result.num_ranks):
        finish = int(result.finish_ns[rank])
        times = {name: length(of(rank, name)) for name in ("cpu", "compute", "comm", "memory")}
        assert times == {name: int(getattr(result, f"{name}_ns")[rank]) for name in times}
        assert max(times.values()) <= finish
        assert int(result.exposed_comm_ns[rank]) == length(of(rank, "comm", "compute")) - times["compute"]
        assert int(result.idle_ns[rank]) == finish - length(of(rank, "cpu", "compute", "comm", "memory"))


def assert_lanes_hold_one_at_a_time(result: cc.Result) -> None:
    nodes = result.nodes()
    named = np.array([lane.startswith(("thread", "stream")) for lane in nodes["lane"]])
    for rank in range(result.num_ranks):
        for lane in set(nodes["lane"][named & (nodes["rank"] == rank)]):
            rows = np.flatnonzero((nodes["rank"] == rank) & (nodes["lane"] == lane))
            order = rows[np.lexsort((nodes["end_ns"][rows], nodes["start_ns"][rows]))]
            assert (nodes["end_ns"][order][:-1] <= nodes["start_ns"][order][1:]).all(), (rank, lane)


def test_sample_with_recorded_communication_takes_its_recorded_time(sample: list[cc.Trace]) -> None:
    result = cc.simulate(sample, network=ring(2), communication="recorded")
    assert_recorded_times(result)
    assert_times_are_unions(result)
    assert_lanes_hold_one_at_a_time(result)
    assert result.messages == 0


def test_sample_on_a_network(sample: list[cc.Trace]) -> None:
    result = cc.simulate(sample, network=ring(2))
    assert_times_are_unions(result)
    assert_lanes_hold_one_at_a_time(result)
    # No all-reduce ends on a rank before it has begun on both.
    nodes = result.nodes()
    comm_types = np.concatenate([trace.attr("comm_type").filled(-1) for trace in sample])
    times = []
    for rank in (0, 1):
        rows = np.flatnonzero((nodes["rank"] == rank) & (comm_types == cc.CollectiveType.ALL_REDUCE))
        order = rows[np.argsort(nodes["start_ns"][rows])]
        times.append((nodes["start_ns"][order], nodes["end_ns"][order]))
    (starts0, ends0), (starts1, ends1) = times
    assert len(starts0) == 6
    begun = np.maximum(starts0, starts1)
    assert (np.minimum(ends0, ends1) > begun).all()
    lanes = set(nodes["lane"])
    assert "comm" in lanes
    assert any(lane.startswith("thread ") for lane in lanes)


def test_timeline_has_a_track_a_lane(sample: list[cc.Trace], tmp_path: Path) -> None:
    result = cc.simulate(sample, network=ring(2))
    result.to_perfetto(tmp_path / "run.json")
    nodes = result.nodes()
    drawn = nodes["resource"] != "none"
    expected = {(f"rank {rank}", lane) for rank, lane in zip(nodes["rank"][drawn], nodes["lane"][drawn], strict=True)}
    assert {(one.process, one.track) for one in read_chrome_json(tmp_path / "run.json")} == expected


@pytest.mark.parametrize(
    "names",
    [pytest.param(names, id=key, marks=needs(PAIRS / names[0])) for key, names in RECORDED.items()],
)
def test_real_traces_take_their_recorded_time(names: list[str]) -> None:
    traces = [cc.convert(cc.link(PAIRS / name / "host.json.gz", PAIRS / name / "kineto.json.gz")) for name in names]
    recorded = cc.simulate(traces, network=ring(len(traces)), communication="recorded")
    assert_recorded_times(recorded)
    assert_times_are_unions(recorded)
    assert_lanes_hold_one_at_a_time(recorded)
    assert_times_are_unions(cc.simulate(traces, network=ring(len(traces))))


def two_threads() -> cc.Trace:
    builder = cc.TraceBuilder()
    for tid in (1, 2, 3):
        builder.add_node(id=tid, name="op", duration_ns=100, attrs={"is_cpu_op": True, "tid": tid})
    for stream in (7, 20):
        builder.add_node(id=stream, name="mm", duration_ns=50, attrs={"is_cpu_op": False, "stream": stream})
    return builder.build()


@pytest.mark.parametrize(
    ("resources", "finish", "lanes"),
    [
        (None, 100, {"thread 1", "thread 2", "thread 3", "stream 7", "stream 20"}),
        ("lanes", 100, {"thread 1", "thread 2", "thread 3", "stream 7", "stream 20"}),
        ("astra", 300, {"cpu", "compute"}),
        ({"cpu": 2}, 200, {"cpu", "compute"}),
        ("cpu=2, compute=1", 200, {"cpu", "compute"}),
        ({"cpu": 3, "compute": 1, "comm": 1}, 100, {"cpu", "compute"}),
    ],
)
def test_models(resources: Any, finish: int, lanes: set[str]) -> None:
    result = cc.simulate([two_threads()], network=ring(1), resources=resources)
    assert result.total_ns == finish
    assert set(result.nodes()["lane"]) == lanes
    assert result.cpu_ns[0] == finish
    options = SimulationOptions(resources=resources)
    assert SimulationOptions(**options.model_dump()) == options


def test_parity_is_astra_sims_model() -> None:
    traces = [two_threads()]
    assert cc.simulate(traces, network=ring(1), parity=True).total_ns == 300
    assert cc.simulate(traces, network=ring(1), parity=True, resources="astra").total_ns == 300
    with pytest.raises(cc.ConfigError, match="run without parity"):
        cc.simulate(traces, network=ring(1), parity=True, resources="lanes")
    with pytest.raises(cc.ConfigError, match="run without parity"):
        cc.simulate(traces, network=ring(1), parity=True, resources={"cpu": 4})
    with pytest.raises(cc.ConfigError, match="run without parity"):
        cc.simulate(traces, network=ring(1), parity=True, communication="recorded")


@pytest.mark.parametrize(
    "resources", ["lane", "", {}, {"cpu": 0}, {"cpu": True}, {"cpu": 1.5}, {"gpu": 1}, "cpu=two", "cpu=", 3, 1 << 40]
)
def test_wrong_resources_say_what_is_allowed(resources: Any) -> None:
    with pytest.raises(cc.ConfigError, match=r"'resources': found .*, allowed: 'lanes', 'astra' or counts"):
        cc.simulate([two_threads()], network=ring(1), resources=resources)


def test_wrong_communication_says_what_is_allowed() -> None:
    with pytest.raises(cc.ConfigError, match="'communication': found 'real', allowed: 'simulated' or 'recorded'"):
        cc.simulate([two_threads()], network=ring(1), communication="real")  # type: ignore[arg-type]


def test_recorded_communication_needs_no_groups() -> None:
    builder = cc.TraceBuilder()
    attrs = {"is_cpu_op": False, "comm_type": 0, "comm_size": 64, "pg_name": "unknown"}
    builder.add_node(id=1, name="ar", type="COMM_COLL_NODE", duration_ns=70, attrs=attrs)
    builder.add_node(id=2, name="ar", type="COMM_COLL_NODE", attrs=attrs)
    result = cc.simulate([builder.build()], network=ring(1), communication="recorded")
    assert result.total_ns == 70
    assert set(result.nodes()["lane"]) == {"comm unknown"}
    assert result.warnings == ["1 communication nodes have no recorded time and took none"]
