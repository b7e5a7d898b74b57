# SPDX-License-Identifier: MIT
"""select, filter, subgraph, concat, stats and diff against protobuf and networkx."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core import proto
from et_records import check_trace, file_of, node_file
from et_strategies import nodes, traces


def without_parents(message: Any, kept: set[int]) -> Any:
    """The message as it is when only nodes in `kept` are left."""
    changed = proto.Node.FromString(message.SerializeToString())
    for field in ("ctrl_deps", "data_deps"):
        parents = [parent for parent in getattr(message, field) if parent in kept]
        changed.ClearField(field)
        getattr(changed, field).extend(parents)
    return changed


@given(traces(), st.data())
def test_a_selection_has_the_chosen_nodes(whole: tuple[Any, list[Any]], data: st.DataObject) -> None:
    metadata, messages = whole
    trace = cc.load(file_of([metadata, *messages]))
    rows = data.draw(st.lists(st.sampled_from(range(len(messages))), unique=True) if messages else st.just([]))
    part = trace.select(rows)
    kept = {messages[row].id for row in rows}
    expected = [without_parents(messages[row], kept) for row in rows]
    check_trace(part, metadata, expected)
    parents = sum(len(messages[row].data_deps) + len(messages[row].ctrl_deps) for row in rows)
    left = sum(len(message.data_deps) + len(message.ctrl_deps) for message in expected)
    assert part.left_out_dependencies == parents - left
    for row, message in zip(rows, expected, strict=True):
        record = part.node(message.id).record
        assert proto.Node.FromString(record) == message or message != message
        if message == messages[row]:
            assert record == trace.at(row).record


@given(traces())
def test_a_mask_and_its_rows_and_ids_choose_the_same(whole: tuple[Any, list[Any]]) -> None:
    metadata, messages = whole
    trace = cc.load(file_of([metadata, *messages]))
    mask = np.arange(len(trace)) % 3 != 1
    by_rows = trace.select(np.flatnonzero(mask))
    assert not cc.diff(trace.select(mask), by_rows)
    assert not cc.diff(trace.subgraph(trace.ids[mask]), by_rows)
    check_trace(trace.select(trace.ids == trace.ids), metadata, messages)


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([True], IndexError),
        ([2], IndexError),
        ([-1], IndexError),
        ([0, 0], cc.ChakraError),
        ([0.5], TypeError),
        ([[0]], TypeError),
        (["a"], TypeError),
    ],
)
def test_rows_that_are_none(rows: Any, error: type[Exception]) -> None:
    trace = cc.load(node_file(proto.Node(id=1), proto.Node(id=2)))
    with pytest.raises(error):
        trace.select(rows)
    for ids, error_of_ids in (([1, 3], KeyError), ([0.5], TypeError), ([[1]], TypeError), ([1, 1], cc.ChakraError)):
        with pytest.raises(error_of_ids):
            trace.subgraph(ids)


def test_a_masked_condition_does_not_choose_what_is_absent() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, attrs={"comm_size": 5})
    builder.add_node(id=2)
    trace = builder.build()
    assert trace.select(trace.attr("comm_size") > 1).ids.tolist() == [1]


def sample() -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="mm", start_ns=1_000, duration_ns=4_000, attrs={"is_cpu_op": False})
    builder.add_node(
        id=2,
        name="ar",
        type="COMM_COLL_NODE",
        data_deps=[1],
        start_ns=5_000,
        duration_ns=2_000,
        attrs={"is_cpu_op": False, "comm_type": 0, "comm_size": 100, "pg_name": "tp"},
    )
    builder.add_node(
        id=3,
        type="COMM_SEND_NODE",
        ctrl_deps=[1],
        start_ns=7_500,
        attrs={"is_cpu_op": True, "comm_dst": 1, "comm_size": 7, "pg_name": "dp"},
    )
    builder.add_node(id=4, type="COMM_COLL_NODE", data_deps=[2], ctrl_deps=[3], attrs={"comm_type": 6, "comm_size": 50})
    return builder.build()


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ({}, [1, 2, 3, 4]),
        ({"types": "COMM_COLL_NODE"}, [2, 4]),
        ({"types": cc.NodeType.COMP_NODE}, [1]),
        ({"types": [4, "COMM_SEND_NODE"]}, [1, 3]),
        ({"types": []}, []),
        ({"start": 5_000}, [2, 3]),
        ({"start": 4_999, "end": 5_000}, [1]),
        ({"end": 5_001}, [1, 2, 4]),
        ({"start": 7_500, "end": 7_501}, [3]),
        ({"pg": "tp"}, [2]),
        ({"pg": ["tp", "dp", "no such group"]}, [2, 3]),
        ({"pg": "tp", "types": "COMP_NODE"}, []),
    ],
)
def test_filter(condition: dict[str, Any], ids: list[int]) -> None:
    trace = sample()
    assert trace.filter(**condition).ids.tolist() == ids
    assert trace.ids[trace.mask(**condition)].tolist() == ids


def test_filter_refuses_unknown_types() -> None:
    with pytest.raises(ValueError):
        sample().filter(types="NO_SUCH_NODE")


@given(st.lists(traces(max_nodes=4), max_size=3))
def test_concat_gives_each_node_its_row_as_id(parts: list[tuple[Any, list[Any]]]) -> None:
    loaded = [cc.load(file_of([metadata, *messages])) for metadata, messages in parts]
    whole = cc.concat(loaded)
    expected: list[Any] = []
    for _, messages in parts:
        new_id = {message.id: len(expected) + row for row, message in enumerate(messages)}
        for message in messages:
            changed = proto.Node.FromString(message.SerializeToString())
            changed.id = new_id[message.id]
            for field in ("ctrl_deps", "data_deps"):
                changed.ClearField(field)
                getattr(changed, field).extend(new_id[parent] for parent in getattr(message, field))
            expected.append(changed)
    metadata = parts[0][0] if parts else proto.GlobalMetadata(version="0.0.4")
    check_trace(whole, metadata, expected)
    # What is written is read as the same trace.
    check_trace(cc.load(file_of([metadata, *(whole.at(row).record for row in range(len(whole)))])), metadata, expected)


def test_concat_may_keep_ids() -> None:
    one, other = sample(), cc.load(node_file(proto.Node(id=2**64 - 1)))
    assert cc.concat([one, other], ids="keep").ids.tolist() == [1, 2, 3, 4, 2**64 - 1]
    with pytest.raises(cc.ChakraError, match="node id 1"):
        cc.concat([one, one], ids="keep")
    with pytest.raises(ValueError):
        cc.concat([one], ids="shift")  # type: ignore[arg-type]


def test_views_stay_when_the_whole_is_gone() -> None:
    trace = cc.load(node_file(proto.Node(id=1, name="a"), proto.Node(id=2, name="b", data_deps=[1])))
    part = cc.concat([trace.select([1]), trace.select([0])])
    ids = part.ids
    del trace
    assert [part.at(row).name for row in range(2)] == ["b", "a"]
    del part
    assert ids.tolist() == [0, 1]


@st.composite
def timed_graphs(draw: st.DrawFn) -> list[Any]:
    ids = draw(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=12))
    acyclic = draw(st.booleans())
    made = []
    for position, node_id in enumerate(ids):
        node = draw(nodes(ids[:position] if acyclic else ids, node_id)) if position else proto.Node(id=node_id)
        del node.attr[:]
        node.duration_micros = draw(st.integers(0, 5))
        made.append(node)
    return draw(st.permutations(made))


@given(timed_graphs())
def test_stats_of_the_graph(messages: list[Any]) -> None:
    trace = cc.load(node_file(*messages))
    graph = nx.DiGraph()
    graph.add_nodes_from(message.id for message in messages)
    for message in messages:
        graph.add_edges_from((parent, message.id) for parent in (*message.data_deps, *message.ctrl_deps))
    stats = trace.stats()
    assert stats.nodes == len(messages)
    assert stats.data_deps == sum(len(message.data_deps) for message in messages)
    assert stats.ctrl_deps == sum(len(message.ctrl_deps) for message in messages)
    if not nx.is_directed_acyclic_graph(graph):
        assert not stats.acyclic
        assert (stats.depth, stats.width, stats.critical_path_ns, stats.critical_path) == (None, None, None, None)
        return
    levels = [len(level) for level in nx.topological_generations(graph)]
    assert stats.depth == len(levels)
    assert stats.width == max(levels, default=0)
    assert stats.widest_level == (levels.index(stats.width) if levels else 0)
    cost = {message.id: message.duration_micros * 1000 for message in messages}
    # The duration of a node is the weight of the edges into it; a source before all sources makes them all edges.
    weighted = nx.DiGraph((parent, child, {"cost": cost[child]}) for parent, child in graph.edges)
    weighted.add_edges_from(("source", node, {"cost": cost[node]}) for node in graph)
    longest = nx.dag_longest_path_length(weighted, "cost") if messages else 0
    assert stats.critical_path_ns == longest
    path = stats.critical_path.tolist()
    assert sum(cost[node] for node in path) == longest
    assert all(graph.has_edge(parent, child) for parent, child in pairwise(path))


def test_stats_of_kinds_and_groups() -> None:
    stats = sample().stats()

    def plain(totals: dict[Any, cc.NodeTotals]) -> dict[Any, tuple[int, int, int]]:
        return {key: (one.nodes, one.bytes, one.duration_ns) for key, one in totals.items()}

    assert plain(stats.types) == {
        "COMP_NODE": (1, 0, 4_000),
        "COMM_SEND_NODE": (1, 7, 0),
        "COMM_COLL_NODE": (2, 150, 2_000),
    }
    assert plain(stats.collectives) == {"ALL_REDUCE": (1, 100, 2_000), "ALL_TO_ALL": (1, 50, 0)}
    assert {group: plain(kinds) for group, kinds in stats.groups.items()} == {
        "dp": {"SEND": (1, 7, 0)},
        "tp": {"ALL_REDUCE": (1, 100, 2_000)},
        None: {"ALL_TO_ALL": (1, 50, 0)},
    }
    assert (stats.cpu.nodes, stats.device.nodes, stats.unplaced.nodes) == (1, 2, 1)
    assert stats.device.duration_ns == 6_000


def changed(message: Any, other: Any) -> set[str]:
    """The fields in which two messages differ, as diff names them."""
    fields = {
        name
        for name in ("name", "type", "data_deps", "ctrl_deps", "inputs", "outputs")
        if getattr(message, name) != getattr(other, name)
    }
    by_name: list[dict[str, list[bytes]]] = []
    for one in (message, other):
        by_name.append({})
        for attribute in one.attr:
            by_name[-1].setdefault(attribute.name, []).append(attribute.SerializeToString(deterministic=True))
    names = by_name[0].keys() | by_name[1].keys()
    return fields | {f"attrs.{name}" for name in names if by_name[0].get(name) != by_name[1].get(name)}


@given(traces(max_nodes=5), st.data())
def test_diff_finds_what_differs(whole: tuple[Any, list[Any]], data: st.DataObject) -> None:
    metadata, messages = whole
    ids = [message.id for message in messages]
    others = [data.draw(nodes(ids, node_id)) if data.draw(st.booleans()) else None for node_id in ids]
    second = [other if other is not None else message for other, message in zip(others, messages, strict=True)]
    one = cc.load(file_of([metadata, *messages]))
    two = cc.load(file_of([metadata, *reversed(second)]))
    found = cc.diff(one, two)
    expected = {a.id: changed(a, b) for a, b in zip(messages, second, strict=True)}
    times = {"start_ns", "duration_ns"}
    given_fields = {node: set(fields) - times for node, fields in found.changed_nodes.items()}
    assert {node: fields for node, fields in given_fields.items() if fields} == {
        node: fields for node, fields in expected.items() if fields
    }
    for a, b in zip(messages, second, strict=True):
        row = (one.node(a.id), two.node(b.id))
        differs = {name for name in times if getattr(row[0], name) != getattr(row[1], name)}
        assert set(found.changed_nodes.get(a.id, [])) & times == differs
    assert found.equal + found.changed == len(messages)
    assert bool(found) != found.same


def test_diff_of_other_nodes_and_metadata() -> None:
    one = cc.load(file_of([proto.GlobalMetadata(version="1"), proto.Node(id=1), proto.Node(id=2), proto.Node(id=3)]))
    two = cc.load(file_of([proto.GlobalMetadata(version="2"), proto.Node(id=3), proto.Node(id=4)]))
    found = cc.diff(one, two, limit=1)
    assert found
    assert found.metadata_differs
    assert (found.only_in_first, found.only_in_second, found.equal) == (2, 1, 1)
    assert (found.ids_only_in_first, found.ids_only_in_second) == ([1], [4])
    assert not cc.diff(one, one)
