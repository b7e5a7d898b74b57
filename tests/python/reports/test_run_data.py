# SPDX-License-Identifier: MIT
"""The numbers behind the plots of a run: against every ns of small runs, and against the columns of the result."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.reports.bandwidth import bandwidth_points
from chakra_core.reports.categories import CATEGORIES, COMMUNICATION, colour
from chakra_core.reports.interval_coverage import Coverage, newly_covered
from chakra_core.reports.quantities import TimeScale, plain, size_ticks
from chakra_core.reports.run_figures import exposed_by_form, means_over_time, time_spent_figure
from chakra_core.reports.time_spent import time_spent
from chakra_core.reports.timeline_levels import Slices, drawn_ranks, levels_of, merged, timeline_of
from random_runs import Node, Run, build, random_run

RING = {"topology": ["Ring"], "npus": [4], "bandwidth": [50], "latency": [500]}
INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=12)


def drawn(data: st.DataObject) -> cc.Result | None:
    run: Run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=False)
    try:
        return run.simulate()
    except cc.SimulationError:
        return None


def columns(intervals: list[tuple[int, int]]) -> tuple[Any, Any]:
    start = np.array([begin for begin, _ in intervals], dtype=np.int64)
    return start, start + np.array([length for _, length in intervals], dtype=np.int64)


@given(INTERVALS, st.integers(0, 60), st.integers(0, 60))
def test_coverage_counts_every_ns_once(intervals: list[tuple[int, int]], low: int, high: int) -> None:
    coverage = Coverage(*columns(intervals))
    covered = {ns for begin, length in intervals for ns in range(begin, begin + length)}
    assert coverage.total == len(covered)
    low, high = min(low, high), max(low, high)
    within = coverage.within(np.array([low]), np.array([high]))
    assert within.tolist() == [len(covered & set(range(low, high)))]


@given(INTERVALS)
def test_the_first_to_begin_keeps_what_is_covered(intervals: list[tuple[int, int]]) -> None:
    start, end = newly_covered(*columns(intervals))
    taken: set[int] = set()
    for place in sorted(range(len(intervals)), key=lambda one: (intervals[one][0], one)):
        begin, length = intervals[place]
        new = set(range(begin, begin + length)) - taken
        assert set(range(start[place], end[place])) == new
        taken |= new


def spent_by_hand(result: cc.Result) -> list[Counter[str]]:
    """Category of each elementary interval between two events of a rank, by looking at all its nodes."""
    nodes = result.nodes()
    comm_type = {kind.value: kind.name.lower().replace("_", "-") for kind in cc.CollectiveType}
    found = []
    for rank, trace in enumerate(result.traces):
        here = nodes["rank"] == rank
        rows = list(
            zip(*(nodes[name][here].tolist() for name in ("start_ns", "end_ns", "resource", "id")), strict=True)
        )
        edges = sorted({0, int(result.finish_ns[rank])} | {time for row in rows for time in row[:2]})
        spent: Counter[str] = Counter()
        for low, high in pairwise(edges):
            running = [row for row in rows if row[0] <= low and high <= row[1]]
            resources = {row[2] for row in running}
            if "compute" in resources:
                name = "compute"
            elif "comm" in resources:
                first = min((row for row in running if row[2] == "comm"), key=lambda row: row[0])
                node = trace.node(first[3])
                kinds = {"COMM_SEND_NODE": "send", "COMM_RECV_NODE": "receive"}
                name = kinds.get(cc.NodeType(node.type).name) or comm_type[node.attrs["comm_type"]]
            else:
                name = "memory" if "memory" in resources else "host" if "cpu" in resources else "idle"
            spent[name] += high - low
        found.append(spent)
    return found


@settings(max_examples=40)
@given(data=st.data())
def test_time_of_random_runs(data: st.DataObject) -> None:
    result = drawn(data)
    if result is None:
        return
    spent = time_spent(result)
    zero = np.zeros(result.num_ranks, dtype=np.int64)
    assert (sum(spent.parts.values(), zero) == result.finish_ns).all()
    assert (spent.parts.get("compute", zero) == result.compute_ns).all()
    assert (spent.parts.get("idle", zero) == result.idle_ns).all()
    assert (sum(spent.exposed.values(), zero) == result.exposed_comm_ns).all()
    for rank, by_hand in enumerate(spent_by_hand(result)):
        assert {name: int(column[rank]) for name, column in spent.parts.items() if column[rank]} == +by_hand
    by_kind: Counter[str] = Counter()
    for (_, kind), times in spent.exposed.items():
        by_kind[kind] += int(times.sum())
    assert +by_kind == +Counter(
        {name: int(column.sum()) for name, column in spent.parts.items() if name in COMMUNICATION}
    )
    forms = exposed_by_form(spent, result.group_ranks())
    means = sum(sum(kinds.values()) for kinds in forms.values())
    assert means == pytest.approx(float(result.exposed_comm_ns.mean()))


def test_time_without_nodes_comes_from_the_sums_of_ranks() -> None:
    nodes = [
        Node("COMP_NODE", [], {"is_cpu_op": False}, 3000),
        Node("COMM_COLL_NODE", [0], {"comm_type": 0, "comm_size": 1 << 20}),
        Node("COMP_NODE", [1], {"is_cpu_op": True}, 500),
    ]
    traces = [build(nodes)] * 4
    coarse = time_spent(cc.simulate(traces, network=RING, record_nodes=False))
    fine = time_spent(cc.simulate(traces, network=RING))
    assert set(fine.parts) == {"compute", "all-reduce", "host"}
    assert coarse.parts["other communication"].tolist() == fine.parts["all-reduce"].tolist()
    for name in ("compute", "host"):
        assert coarse.parts[name].tolist() == fine.parts[name].tolist()


def test_groups_of_one_form_are_one_bar() -> None:
    def both(group: str) -> list[Node]:
        return [Node("COMM_COLL_NODE", [], {"comm_type": 2, "comm_size": 1 << 20, "pg_name": group})]

    groups = {"7": [0, 1], "8": [2, 3]}
    result = cc.simulate([build(both(one)) for one in ("7", "7", "8", "8")], network=RING, comm_groups=groups)
    spent = time_spent(result)
    assert set(spent.exposed) == {("7", "all-gather"), ("8", "all-gather")}
    assert exposed_by_form(spent, result.group_ranks()) == {
        "2 groups of 2, step 1 (7, 8)": {"all-gather": float(result.exposed_comm_ns.mean())}
    }


def random_slices(data: st.DataObject, most: int = 60) -> Slices:
    rows = data.draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 5000), st.integers(0, 400)), max_size=most
        )
    )
    rows.sort(key=lambda row: row[2])
    lane, category, start, length = (
        (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
        if rows
        else (np.empty(0, dtype=np.int64) for _ in range(4))
    )
    ones = np.ones(len(rows), dtype=np.int64)
    return Slices(lane, category, start, start + length, length, ones, np.arange(len(rows), dtype=np.int64))


@given(data=st.data(), resolution=st.integers(0, 500))
def test_joined_slices(data: st.DataObject, resolution: int) -> None:
    slices = random_slices(data)
    joined: dict[Any, list[int]] = defaultdict(list)
    for place in range(len(slices)):
        short = slices.end[place] - slices.start[place] < resolution
        key = (slices.start[place] // resolution, -1) if short else (0, place)
        joined[(int(slices.lane[place]), int(slices.category[place]), *key)].append(place)
    expected = sorted(
        (
            int(slices.start[places].min()),
            int(slices.end[places].max()),
            int(slices.busy[places].sum()),
            len(places),
            places[0],
            *key[:2],
        )
        for key, places in joined.items()
    )
    level = merged(slices, resolution)
    found = zip(
        *(getattr(level, name).tolist() for name in ("start", "end", "busy", "count", "node", "lane", "category")),
        strict=True,
    )
    assert sorted(found) == expected
    assert (np.diff(level.start) >= 0).all()


@settings(max_examples=20)
@given(st.integers(1, 20_000), st.integers(500, 30_000), st.integers(0, 5))
def test_levels_keep_all_nodes_and_stay_small(number: int, most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    start = np.sort(random.integers(0, 10**7, number))
    length = random.integers(0, 10**4, number)
    ones = np.ones(number, dtype=np.int64)
    slices = Slices(0 * ones, random.integers(0, 3, number), start, start + length, length, ones, np.arange(number))
    levels = levels_of(slices, 10**7, most)
    resolutions = [resolution for resolution, _ in levels]
    assert resolutions == sorted(set(resolutions), reverse=True)
    assert sum(len(level) for _, level in levels[1:]) <= most
    for _, level in levels:
        for category in range(3):
            mine, all_mine = level.category == category, slices.category == category
            assert level.busy[mine].sum() == length[all_mine].sum()
            assert level.count[mine].sum() == np.count_nonzero(all_mine)
    if number <= min(most, 4000):
        assert levels[-1] == (0, slices)


@settings(max_examples=30)
@given(data=st.data())
def test_timeline_has_the_nodes_of_the_result(data: st.DataObject) -> None:
    result = drawn(data)
    if result is None:
        return
    timeline = timeline_of(result)
    assert timeline.is_complete
    (resolution, level), *_ = timeline.levels
    found = sorted(
        (*timeline.lanes[lane], timeline.names[node], start, end)
        for lane, node, start, end in zip(
            level.lane.tolist(), level.node.tolist(), level.start.tolist(), level.end.tolist(), strict=True
        )
    )
    nodes = result.nodes()
    keep = (nodes["resource"] != "none") & np.isin(nodes["rank"], timeline.ranks)
    names = ("rank", "lane", "name", "start_ns", "end_ns")
    assert resolution == 0
    assert found == sorted(zip(*(nodes[name][keep].tolist() for name in names), strict=True))
    assert timeline.ranks == ([0] if result.folded_ranks else list(range(result.num_ranks)))


def test_drawn_ranks_reach_from_the_first_to_the_last_to_finish() -> None:
    network = {**RING, "npus": [40]}
    order = [(7 * rank) % 40 for rank in range(40)]
    traces = [build([Node("COMP_NODE", [], {"is_cpu_op": False}, 1000 + order[rank])]) for rank in range(40)]
    result = cc.simulate(traces, network=network)
    ranks = drawn_ranks(result, 5)
    assert len(ranks) == 5
    assert ranks == sorted(ranks)
    assert {order.index(0), order.index(39)} <= set(ranks)
    assert timeline_of(result, [3]).lanes == [(3, "compute")]
    with pytest.raises(IndexError, match="rank 40 of 40"):
        timeline_of(result, [40])


def check_bandwidth(table: Any) -> None:
    values: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    names = ("type", "ranks", "bytes", "duration_ns", "busbw")
    for kind, ranks, size, duration, busbw in zip(*(table[name].tolist() for name in names), strict=True):
        if size and duration and busbw:
            values[kind.lower().replace("_", "-"), ranks, size].append(busbw)
    points = bandwidth_points(table)
    names = ("kind", "ranks", "bytes", "count", "least", "busbw", "most")
    rows = list(zip(*(points.table[name].tolist() for name in names), strict=True))
    assert {row[:3]: row[3:] for row in rows} == {
        key: (len(of_key), min(of_key), pytest.approx(median(of_key)), max(of_key)) for key, of_key in values.items()
    }
    assert rows == sorted(rows)
    assert sum(len(points.of(*one)["bytes"]) for one in points.series()) == len(rows)


@settings(max_examples=30)
@given(data=st.data())
def test_bandwidth_is_that_of_the_collectives(data: st.DataObject) -> None:
    result = drawn(data)
    if result is not None:
        check_bandwidth(result.collectives())


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ALL_REDUCE", "ALL_GATHER"]),
            st.sampled_from([2, 4]),
            st.sampled_from([0, 1024, 4096]),
            st.integers(0, 2),
            st.integers(0, 50).map(float),
        ),
        max_size=30,
    )
)
def test_bandwidth_of_many_of_one_size(rows: list[tuple[str, int, int, int, float]]) -> None:
    kinds: tuple[Any, ...] = (object, np.uint32, np.uint64, np.uint64, np.float64)
    names = ("type", "ranks", "bytes", "duration_ns", "busbw")
    parts = list(zip(*rows, strict=True)) or [()] * len(names)
    check_bandwidth({name: np.array(part, dtype=kind) for name, part, kind in zip(names, parts, kinds, strict=True)})


def test_many_sizes_become_eighths_of_an_octave() -> None:
    sizes = np.arange(1000, 9000, dtype=np.uint64)
    table = {
        "type": np.array(["ALL_REDUCE"] * len(sizes), dtype=object),
        "ranks": np.full(len(sizes), 4),
        "bytes": sizes,
        "duration_ns": np.ones(len(sizes), dtype=np.uint64),
        "busbw": np.ones(len(sizes)),
    }
    points = bandwidth_points(table).table
    assert points["count"].sum() == len(sizes)
    assert 20 < len(points["bytes"]) < 30


def test_very_many_ranks_are_drawn_in_blocks_with_their_means() -> None:
    network = {**RING, "npus": [700]}
    traces = [build([Node("COMP_NODE", [], {"is_cpu_op": False}, 1000 + rank)]) for rank in range(700)]
    spent = time_spent(cc.simulate(traces, network=network))
    figure = time_spent_figure(spent, TimeScale("ns", 1))
    (bar,) = figure["data"]
    assert len(bar["x"]) == 234
    assert bar["y"][:2] == ["0-2", "3-5"]
    assert bar["y"][-1] == "699"
    assert bar["x"][:2] == [1001, 1004]


@settings(max_examples=30)
@given(data=st.data())
def test_use_of_dimensions_over_time(data: st.DataObject) -> None:
    result = drawn(data)
    if result is None:
        return
    use = result.dimension_use()
    for number in np.unique(use["dimension"]).tolist():
        here = use["dimension"] == number
        times, percent = use["time_ns"][here].astype(np.int64), use["percent"][here]
        assert percent[-1] == 0
        edges, means = means_over_time(times, percent, result.total_ns)
        # Part by part, by looking at every piece between two changes.
        for part in (0, 200, 400, 799):
            low, high = edges[part], edges[part + 1]
            pieces = zip(pairwise(times.tolist()), percent.tolist(), strict=False)
            area = sum(max(0, min(end, high) - max(begin, low)) * value for (begin, end), value in pieces)
            assert means[part] == pytest.approx(area / (high - low), abs=1e-6)
        # All parts together: what the table of dimensions says of the whole run.
        utilisation = 100 * float(result.dimensions()["utilisation"][number])
        assert means.mean() == pytest.approx(utilisation, rel=1e-3, abs=1e-3)


def test_many_ranks_that_are_alike_are_one_bar() -> None:
    trace = build([Node("COMP_NODE", [], {"is_cpu_op": False}, 1000)])
    spent = time_spent(cc.simulate([trace] * 100, network={**RING, "npus": [100]}))
    (bar,) = time_spent_figure(spent, TimeScale("ns", 1))["data"]
    assert (bar["y"], bar["x"]) == (["0-99"], [1000])


def test_units_and_texts() -> None:
    assert TimeScale.for_times_up_to(999) == TimeScale("ns", 1)
    assert TimeScale.for_times_up_to(1_500_000).of(1_500_000) == 1.5
    assert plain("a<int> && b") == "a&lt;int&gt; &amp;&amp; b"
    for smallest, largest in ((1, 1), (100, 100), (1000, 3 << 30), (1 << 20, 1 << 21), (1, 1 << 60)):
        values, texts = size_ticks(smallest, largest)
        assert values[0] <= smallest
        assert values[-1] >= largest
        assert 2 <= len(values) == len(set(texts)) <= 12
    assert len({colour(name) for name in CATEGORIES}) == len(CATEGORIES)
