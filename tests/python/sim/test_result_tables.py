# SPDX-License-Identifier: MIT
"""Tables of a result: collectives against the nodes they consist of, loads against every single message."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from astra_oracle import Oracle, Wires
from chakra_core.result import TABLES
from oracle_of_runs import oracle_of
from random_runs import Node, Run, build, random_run

KINDS = {kind.value: kind.name for kind in cc.CollectiveType}
#: NCCL-tests: S of n ranks that contribute c bytes each, and bus bandwidth from S / t.
SIZES = {"ALL_GATHER": lambda c, n: n * c, "GATHER": lambda c, n: n * c}
FACTORS = {
    "ALL_REDUCE": lambda n: 2 * (n - 1) / n,
    "REDUCE": lambda n: 1,
    "BROADCAST": lambda n: 1,
    "BARRIER": lambda n: 0,
    "ALL_GATHER": lambda n: (n - 1) / n,
    "GATHER": lambda n: (n - 1) / n,
    "SCATTER": lambda n: (n - 1) / n,
    "ALL_TO_ALL": lambda n: (n - 1) / n,
    "REDUCE_SCATTER": lambda n: (n - 1) / n,
    "REDUCE_SCATTER_BLOCK": lambda n: (n - 1) / n,
}


def drawn(data: st.DataObject, **options: Any) -> Run:
    return random_run(lambda choices: data.draw(st.sampled_from(choices)), **options)


def finished(run: Run, **options: Any) -> cc.Result | None:
    try:
        return run.simulate(**options)
    except cc.SimulationError:
        return None


def collectives_of_nodes(run: Run, result: cc.Result) -> dict[str, list[tuple[str, int, int, int, int]]]:
    """(type, size, first start, last start, last end) of each group's collectives, by their nodes."""
    times: dict[tuple[int, int], tuple[int, int]] = {}
    nodes = result.nodes()
    for rank, number, start, end in zip(
        *(nodes[name].tolist() for name in ("rank", "id", "start_ns", "end_ns")), strict=True
    ):
        times[rank, number] = (start, end)
    members: dict[tuple[str, int], list[tuple[int, int, Node]]] = defaultdict(list)
    for rank, mine in enumerate(run.nodes):
        issued: dict[str, list[tuple[int, int, Node]]] = defaultdict(list)
        for number, node in enumerate(mine):
            if node.kind == "COMM_COLL_NODE":
                start, end = times[rank, number]
                issued[node.attrs.get("pg_name", "all ranks")].append((start, end, node))
        for group, of_group in issued.items():
            # With one lane a group's collectives never begin in one ns, unless they take no time.
            for place, one in enumerate(sorted(of_group, key=lambda one: one[:2])):
                members[group, place].append(one)
    table: dict[str, list[tuple[str, int, int, int, int]]] = defaultdict(list)
    for (group, _), parts in sorted(members.items(), key=lambda item: item[0]):
        starts, ends, nodes_of_it = zip(*parts, strict=True)
        attrs = nodes_of_it[0].attrs
        table[group].append((KINDS[attrs["comm_type"]], attrs["comm_size"], min(starts), max(starts), max(ends)))
    return dict(table)


@settings(max_examples=80)
@given(st.data())
def test_a_collective_lasts_from_its_first_to_its_last_node(data: st.DataObject) -> None:
    run = drawn(data, parity=False)
    result = finished(run)
    if result is None:
        return
    table = result.collectives()
    found: dict[str, list[tuple[str, int, int, int, int]]] = defaultdict(list)
    rows = [table[name].tolist() for name in ("group", "number", "type", "size", "start_ns", "joined_ns", "end_ns")]
    for group, _, *row in sorted(zip(*rows, strict=True)):
        found[group].append(tuple(row))
    assert dict(found) == collectives_of_nodes(run, result)
    assert (np.diff(table["start_ns"].astype(np.int64)) >= 0).all()
    assert (table["duration_ns"] == table["end_ns"] - table["start_ns"]).all()
    members = {**{name: len(ranks) for name, ranks in run.groups.items()}, "all ranks": run.ranks}
    expected: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for group, kind, size, start, _, end in ((group, *row) for group, of_group in found.items() for row in of_group):
        expected[group, kind][0] += 1
        expected[group, kind][1] += SIZES.get(kind, lambda c, n: c)(size, members[group])
        expected[group, kind][2] += end - start
    groups = result.groups()
    totals = zip(*(groups[name].tolist() for name in ("collectives", "bytes", "duration_ns")), strict=True)
    assert dict(zip(zip(groups["group"], groups["type"], strict=True), map(list, totals), strict=True)) == expected
    bare = finished(run, record_nodes=False)
    assert bare is not None
    assert {name: column.tolist() for name, column in bare.groups().items()} == {
        name: column.tolist() for name, column in groups.items()
    }
    assert len(bare.collectives()["start_ns"]) == 0


@pytest.mark.parametrize("kind", cc.CollectiveType)
def test_bandwidths_are_those_of_nccl_tests(kind: cc.CollectiveType) -> None:
    members, size = 4, 1 << 20
    trace = build([Node("COMM_COLL_NODE", [], {"comm_type": kind.value, "comm_size": size})])
    result = cc.simulate(
        [trace] * members, network={"topology": ["Ring"], "npus": [4], "bandwidth": [50], "latency": [0]}
    )
    for table in (result.collectives(), result.groups()):
        expected = SIZES.get(kind.name, lambda c, n: c)(size, members) / result.total_ns
        assert table["algbw"].tolist() == [expected]
        assert table["busbw"].tolist() == [expected * FACTORS[kind.name](members)]
    assert result.collectives()["bytes"].tolist() == result.groups()["bytes"].tolist()


@settings(max_examples=80)
@given(st.data())
def test_dimensions_carry_what_their_links_carry(data: st.DataObject) -> None:
    run = drawn(data, parity=False)
    result = finished(run, congestion=True)
    if result is None:
        return
    dimensions, links = result.dimensions(), result.links()
    for number in dimensions["dimension"].tolist():
        here = links["dimension"] == number
        assert dimensions["link_bytes"][number] == links["bytes"][here].sum()
        assert dimensions["links"][number] >= np.count_nonzero(here)
        if not (run.links or run.damage or run.oversubscription):
            per_ns = run.bandwidth[number] * 2**30 / 1e9
            assert dimensions["busy_ns"][number] == int(links["bytes"][here].sum()) / per_ns
        # Whole ns of each message, and whole ps.
        messages, busy = links["messages"][here].sum(), int(links["busy_ns"][here].sum())
        assert busy - messages / 1000 <= dimensions["busy_ns"][number] < busy + messages + 1
    if len(run.npus) == 1:
        assert dimensions["messages"].tolist() == [result.messages]
    whole = dimensions["links"] * max(result.total_ns, 1)
    used = np.divide(dimensions["busy_ns"], whole, out=np.zeros(len(whole)), where=whole > 0)
    assert dimensions["utilisation"] == pytest.approx(used)
    # Links that wait for each other make it slower, but nobody sends more.
    free = finished(run)
    assert free is not None
    for name in ("messages", "bytes", "link_bytes"):
        assert free.dimensions()[name].tolist() == dimensions[name].tolist()


@settings(max_examples=60)
@given(st.data())
def test_dimensions_carry_every_message_of_the_plain_model(data: st.DataObject) -> None:
    run = drawn(data, parity=True)
    npus = run.npus
    loads = [[0, 0, 0] for _ in npus]

    class Counting(Wires):
        def _start(self, src: int, dst: int, tag: int, size: int, sent: Any) -> None:
            for d, (a, b) in enumerate(zip(self.coordinates(src), self.coordinates(dst), strict=True)):
                if a != b:
                    around = (b - a) % npus[d]
                    hops = {"Ring": min(around, npus[d] - around), "FullyConnected": 1, "Switch": 2}
                    loads[d][0] += 1
                    loads[d][1] += size
                    loads[d][2] += size * hops[self.setup.topology[d]]
                    break
            super()._start(src, dst, tag, size, sent)

    oracle: Oracle = oracle_of(run, wires=Counting)
    if oracle.is_stuck:
        return
    table = run.simulate().dimensions()
    assert [
        list(row) for row in zip(*(table[n].tolist() for n in ("messages", "bytes", "link_bytes")), strict=True)
    ] == loads


def test_a_ring_of_eight_by_hand() -> None:
    trace = build([Node("COMM_COLL_NODE", [], {"comm_type": 0, "comm_size": 1 << 20})])
    result = cc.simulate([trace] * 8, network={"topology": ["Ring"], "npus": [8], "bandwidth": [50], "latency": [0]})
    table = result.dimensions()
    assert table["topology"].tolist() == ["Ring"]
    assert table["links"].tolist() == [16]
    assert table["messages"].tolist() == [8 * 14]
    assert table["bytes"].tolist() == table["link_bytes"].tolist() == [14 << 20]
    assert table["busy_ns"].tolist() == [(14 << 20) / (50 * 2**30 / 1e9)]
    assert result.group_ranks() == {"all ranks": list(range(8))}


def test_a_node_waits_from_its_parents_to_its_start() -> None:
    # Two host computations that are ready together, one after the other; then a receive that waits for nothing.
    nodes = [
        Node("COMP_NODE", [], {"is_cpu_op": True}, 500),
        Node("COMP_NODE", [], {"is_cpu_op": True}, 300),
        Node("COMP_NODE", [1], {}, 50),
    ]
    result = cc.simulate(
        [build(nodes)] * 2, network={"topology": ["Ring"], "npus": [2], "bandwidth": [50], "latency": [0]}
    )
    table = result.nodes()
    assert table["start_ns"].tolist() == [0, 500, 800] * 2
    assert table["wait_ns"].tolist() == [0, 500, 0] * 2


def test_all_tables_as_frames_arrow_and_files(tmp_path: Path) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    nodes = [Node("COMP_NODE", [], {}, 500), Node("COMM_COLL_NODE", [0], {"comm_type": 2, "comm_size": 4096})]
    network = {"topology": ["Switch"], "npus": [4], "bandwidth": [50], "latency": [100]}
    runs = [cc.simulate([build(nodes)] * 4, network=network, congestion=True) for _ in range(2)]
    files = [run.save_tables(tmp_path / str(i) / "deep") for i, run in enumerate(runs)]
    assert [path.name for path in files[0]] == [f"{name}.csv" for name in TABLES]
    for name, one, other in zip(TABLES, *files, strict=True):
        assert one.read_bytes() == other.read_bytes()
        table = runs[0].table(name)
        assert len(next(iter(table.values()))) > 0
        with one.open(newline="") as file:
            header, *rows = csv.reader(file)
        assert header == list(table)
        assert rows == [list(map(str, row)) for row in zip(*(c.tolist() for c in table.values()), strict=True)]
        frame = runs[0].to_pandas(name)
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame.columns) == list(table)
        arrow = runs[0].to_arrow(name)
        assert isinstance(arrow, pyarrow.Table)
        assert arrow.to_pydict() == {column: values.tolist() for column, values in table.items()}
    assert set(runs[0].links()["source"]) == {"npu 0", "npu 1", "npu 2", "npu 3", "switch 0"}
