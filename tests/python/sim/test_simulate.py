# SPDX-License-Identifier: MIT
"""The simulate front and its result; what the simulator computes is tested elsewhere."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chakra_core as cc
from timeline_files import read_chrome_json, read_perfetto

NETWORK = {"topology": ["Ring"], "npus": [4], "bandwidth": [50], "latency": [500]}


def make_trace(*, size: int = 1 << 20, group: str | None = None, compute_ns: int = 30_000) -> cc.Trace:
    """Compute, then an all-reduce, then a host node beside it."""
    builder = cc.TraceBuilder()
    builder.add_node(id=10, name="mm", duration_ns=compute_ns, attrs={"is_cpu_op": False})
    attrs: dict[str, Any] = {"is_cpu_op": False, "comm_type": 0, "comm_size": size}
    if group is not None:
        attrs["pg_name"] = group
    builder.add_node(id=20, name="ar", type="COMM_COLL_NODE", data_deps=[10], attrs=attrs)
    builder.add_node(id=30, name="launch", duration_ns=7_000, data_deps=[10], attrs={"is_cpu_op": True})
    return builder.build()


@pytest.fixture(scope="module")
def result() -> cc.Result:
    return cc.simulate([make_trace()] * 4, network=NETWORK, system={"endpoint_delay": 10})


def ring_all_reduce_ns(size: int, ranks: int, bandwidth: float, latency: float, endpoint: int) -> int:
    """Add up the steps of one chunk over a ring; each moves 1/ranks of the data to the neighbour."""
    step = int(latency + size // ranks / (bandwidth * 2**30 / 1e9))
    return endpoint + 2 * (ranks - 1) * (step + endpoint)


def test_times_of_each_rank(result: cc.Result) -> None:
    communication = ring_all_reduce_ns(1 << 20, 4, 50, 500, 10)
    assert result.num_ranks == 4
    assert result.finish_ns.dtype == np.uint64
    assert result.finish_ns.tolist() == [30_000 + communication] * 4
    assert result.total_ns == 30_000 + communication
    assert result.compute_ns.tolist() == [30_000] * 4
    assert result.comm_ns.tolist() == result.exposed_comm_ns.tolist() == [communication] * 4
    assert result.cpu_ns.tolist() == [7_000] * 4
    with pytest.raises(ValueError, match="read-only"):
        result.finish_ns[0] = 1


def test_node_table(result: cc.Result) -> None:
    nodes = result.nodes()
    assert nodes["rank"].tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert nodes["id"].tolist() == [10, 20, 30] * 4
    assert nodes["name"].tolist() == ["mm", "ar", "launch"] * 4
    assert nodes["type"].tolist() == ["COMP_NODE", "COMM_COLL_NODE", "COMP_NODE"] * 4
    assert nodes["resource"].tolist() == ["compute", "comm", "cpu"] * 4
    assert nodes["start_ns"].tolist() == [0, 30_000, 30_000] * 4
    assert nodes["end_ns"].tolist() == [30_000, result.total_ns, 37_000] * 4
    frame = result.to_pandas()
    assert list(frame.columns) == list(nodes)
    assert len(frame) == 12


def test_csv_tables(result: cc.Result, tmp_path: Path) -> None:
    result.to_csv(tmp_path / "nodes.csv")
    result.to_csv(tmp_path / "ranks.csv", table="ranks")
    with (tmp_path / "nodes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1] == {
        "rank": "0",
        "id": "20",
        "name": "ar",
        "type": "COMM_COLL_NODE",
        "resource": "comm",
        "lane": "comm",
        "start_ns": "30000",
        "end_ns": str(result.total_ns),
        "wait_ns": "0",
    }
    with (tmp_path / "ranks.csv").open(newline="") as file:
        ranks = list(csv.DictReader(file))
    assert [int(row["finish_ns"]) for row in ranks] == result.finish_ns.tolist()
    with pytest.raises(ValueError, match=r"one of ranks, nodes, .*, not 'files'"):
        result.to_csv(tmp_path / "x.csv", table="files")
    with pytest.raises(FileNotFoundError):
        result.to_csv(tmp_path / "none" / "x.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nodes.csv", "ranks.csv"]


def test_timeline_shows_every_node(result: cc.Result, tmp_path: Path) -> None:
    nodes = result.nodes()
    expected = sorted(
        zip(
            (f"rank {rank}" for rank in nodes["rank"]),
            nodes["resource"].tolist(),
            nodes["name"].tolist(),
            nodes["start_ns"].tolist(),
            nodes["end_ns"].tolist(),
            strict=True,
        )
    )
    for name, read in {"run.json": read_chrome_json, "run.pftrace": read_perfetto}.items():
        result.to_perfetto(tmp_path / name)
        drawn = read(tmp_path / name)
        assert sorted((one.process, one.track, one.name, one.start_ns, one.end_ns) for one in drawn) == expected


def test_receives_have_a_track_of_their_own(tmp_path: Path) -> None:
    sender, receiver, idle = cc.TraceBuilder(), cc.TraceBuilder(), cc.TraceBuilder()
    attrs = {"is_cpu_op": False, "comm_size": 1 << 20, "comm_src": 0, "comm_dst": 1, "comm_tag": 0}
    sender.add_node(id=1, name="slow", duration_ns=9_000, attrs={"is_cpu_op": False})
    sender.add_node(id=2, name="send", type="COMM_SEND_NODE", data_deps=[1], attrs=attrs)
    receiver.add_node(id=3, name="receive", type="COMM_RECV_NODE", attrs=attrs)
    receiver.add_node(id=4, name="beside", duration_ns=1_000, attrs={"is_cpu_op": False})
    other = idle.build()
    cc.simulate([sender.build(), receiver.build(), other, other], network=NETWORK).to_perfetto(tmp_path / "run.json")
    drawn = {(one.process, one.name): (one.track, one.depth) for one in read_chrome_json(tmp_path / "run.json")}
    assert drawn == {
        ("rank 0", "slow"): ("compute", 0),
        ("rank 0", "send"): ("comm", 0),
        ("rank 1", "receive"): ("receive", 0),
        ("rank 1", "beside"): ("compute", 0),
    }


def test_summary(result: cc.Result) -> None:
    lines = result.summary().splitlines()
    assert lines[0].split()[:2] == ["rank", "finish"]
    assert [line.split()[0] for line in lines[1:5]] == ["0", "1", "2", "3"]
    assert "30.000 us" in lines[1]
    assert lines[5] == f"finished at {result.total_ns / 1000:.3f} us"


def test_summary_of_many_ranks_is_short() -> None:
    many = cc.simulate([make_trace()] * 32, network={**NETWORK, "npus": [32]})
    assert [row[0] for row in many.summary_rows()] == ["min", "mean", "max"]


def test_dict_for_json(result: cc.Result) -> None:
    data = result.to_dict()
    assert data["finish_ns"] == result.finish_ns.tolist()
    assert data["num_ranks"] == 4
    assert data["warnings"] == []


def test_objects_dicts_and_paths_give_the_same(result: cc.Result, tmp_path: Path) -> None:
    (tmp_path / "network.yml").write_text("topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n")
    for rank in range(4):
        cc.save(make_trace(), tmp_path / f"run.{rank}.et")
    from_files = cc.simulate(
        tmp_path / "run.%d.et", network=str(tmp_path / "network.yml"), system=cc.System(endpoint_delay="0.01 us")
    )
    assert from_files.finish_ns.tolist() == result.finish_ns.tolist()


@pytest.mark.parametrize("group", [None, "", "0"])
def test_all_ranks_by_any_of_their_names(result: cc.Result, group: str | None) -> None:
    again = cc.simulate([make_trace(group=group)] * 4, network=NETWORK, system={"endpoint_delay": 10})
    assert again.finish_ns.tolist() == result.finish_ns.tolist()
    groups = {"0": [0, 1, 2, 3]}
    again = cc.simulate(
        [make_trace(group=group)] * 4, network=NETWORK, system={"endpoint_delay": 10}, comm_groups=groups
    )
    assert again.finish_ns.tolist() == result.finish_ns.tolist()


def test_a_group_by_any_name() -> None:
    traces = [make_trace(group="tp")] * 4
    both = cc.simulate(traces, network=NETWORK, comm_groups={"tp": [3, 1, 2, 0]})
    assert both.total_ns > 30_000
    with pytest.raises(cc.ChakraError, match="tp9") as caught:
        cc.simulate([make_trace(group="tp9")] * 4, network=NETWORK, comm_groups={"tp": [3, 1, 2, 0]})
    assert "20" in str(caught.value)


def test_wrong_groups_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    path.write_text('{"tp": [2, 9]}')
    with pytest.raises(cc.ConfigError, match=r"groups.json: group 'tp' has rank 9, but the network \(Network\) has 4"):
        cc.simulate([make_trace()] * 4, network=NETWORK, comm_groups=path)
    path.write_text('{"0": [0, 1]}')
    with pytest.raises(cc.ConfigError, match="group '0' has 2 ranks, but this name always means all 4"):
        cc.simulate([make_trace()] * 4, network=NETWORK, comm_groups=path)


def test_algorithm_lists_fit_the_network(tmp_path: Path) -> None:
    traces = [make_trace()] * 4
    flat = {"topology": ["Ring", "Switch"], "npus": [2, 2], "bandwidth": [50, 50], "latency": [500, 500]}
    with pytest.raises(
        cc.ConfigError, match=r"System: 'all-reduce-implementation' has 1 entries, but the network .* has 2 dimensions"
    ):
        cc.simulate(traces, network=flat, system={"all_reduce_implementation": ["ring"]})
    with pytest.raises(cc.ConfigError, match="'all-gather-implementation' has 2 entries"):
        cc.simulate(traces, network=NETWORK, system={"all_gather_implementation": ["ring", "ring"]}, parity=True)
    cc.simulate(traces, network=flat, system={"all_reduce_implementation": ["oneRing"]})
    cc.simulate(traces, network=flat, system={"all_reduce_implementation": ["ring"]}, parity=True)


def test_a_file_must_name_the_algorithms_that_are_used(tmp_path: Path) -> None:
    path = tmp_path / "system.json"
    path.write_text('{"preferred-dataset-splits": 1, "collective-optimization": "baseline"}')
    with pytest.raises(
        cc.ConfigError, match=r"system.json: missing key 'all-reduce-implementation', and the traces have ALL_RED"
    ):
        cc.simulate([make_trace()] * 4, network=NETWORK, system=path)
    path.write_text(path.read_text().replace("{", '{"all-reduce-implementation": ["ring"], '))
    cc.simulate([make_trace()] * 4, network=NETWORK, system=path)


def test_wrong_options_are_config_errors() -> None:
    with pytest.raises(cc.ConfigError, match="'num-queues-per-dim': found 0"):
        cc.simulate([make_trace()] * 4, network=NETWORK, num_queues_per_dim=0)
    with pytest.raises(cc.ConfigError, match="'injection-scale': found -1"):
        cc.simulate([make_trace()] * 4, network=NETWORK, injection_scale=-1)


def test_missing_ranks() -> None:
    with pytest.raises(cc.ConfigError, match="found 2 of 4 ranks: 2-3 missing"):
        cc.simulate([make_trace()] * 2, network=NETWORK)


def test_nothing_to_go_on_is_a_simulation_error() -> None:
    builder = cc.TraceBuilder()
    attrs = {"is_cpu_op": False, "comm_size": 64, "comm_src": 1, "comm_dst": 0, "comm_tag": 3}
    builder.add_node(id=1, type="COMM_RECV_NODE", attrs=attrs)
    idle = cc.TraceBuilder().build()
    with pytest.raises(cc.SimulationError, match="64"):
        cc.simulate([builder.build(), idle, idle, idle], network=NETWORK)


def test_untimed_compute_is_told() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="mm", attrs={"is_cpu_op": False, "num_ops": 10**9, "tensor_size": 10**6})
    traces = [builder.build()] * 4
    (warning,) = cc.simulate(traces, network=NETWORK).warnings
    assert warning.startswith("4 compute nodes have no duration and took no time")
    timed = cc.simulate(traces, network=NETWORK, system={"roofline_enabled": True, "peak_perf": 1, "local_mem_bw": 100})
    assert timed.warnings == []
    assert timed.total_ns == 1_000_000


def test_without_node_times_the_tables_are_empty(tmp_path: Path) -> None:
    bare = cc.simulate([make_trace()] * 4, network=NETWORK, record_nodes=False)
    assert all(len(column) == 0 for column in bare.nodes().values())
    bare.to_perfetto(tmp_path / "run.json")
    assert read_chrome_json(tmp_path / "run.json") == []


def test_progress_counts_nodes() -> None:
    progress = cc.Progress()
    cc.simulate([make_trace()] * 4, network=NETWORK, progress=progress)
    assert progress.done == progress.total == 12


def test_cancelled_before_it_ends() -> None:
    builder = cc.TraceBuilder()
    for number in range(20_000):
        builder.add_node(id=number, duration_ns=1_000, attrs={"is_cpu_op": False})
    progress = cc.Progress()
    progress.cancel()
    with pytest.raises(cc.Cancelled):
        cc.simulate([builder.build()] * 4, network=NETWORK, progress=progress)
