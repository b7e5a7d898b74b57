# SPDX-License-Identifier: MIT
"""The feeder against networkx."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc

Nodes = list[tuple[int, list[int], list[int]]]


@st.composite
def acyclic(draw: st.DrawFn) -> Nodes:
    """Ids, data and control parents of a graph without cycles, in any file order."""
    ids = draw(st.lists(st.one_of(st.integers(0, 30), st.integers(0, 2**64 - 1)), unique=True, max_size=14))
    nodes = []
    for position, node_id in enumerate(ids):
        parents = st.lists(st.sampled_from(ids[:position]), max_size=4) if position else st.just([])
        nodes.append((node_id, draw(parents), draw(parents)))
    return draw(st.permutations(nodes))


@st.composite
def any_graph(draw: st.DrawFn) -> Nodes:
    ids = draw(st.lists(st.integers(0, 40), unique=True, min_size=1, max_size=10))
    parents = st.lists(st.sampled_from(ids), max_size=2)
    return [(node_id, draw(parents), draw(parents)) for node_id in ids]


def trace_of(nodes: Nodes) -> cc.Trace:
    builder = cc.TraceBuilder()
    for node_id, data, ctrl in nodes:
        builder.add_node(id=node_id, data_deps=data, ctrl_deps=ctrl)
    return builder.build()


def graph_of(nodes: Nodes, deps: str = "both") -> Any:
    graph = nx.DiGraph()
    graph.add_nodes_from(node_id for node_id, _, _ in nodes)
    for node_id, data, ctrl in nodes:
        if deps != "control":
            graph.add_edges_from((parent, node_id) for parent in data)
        if deps != "data":
            graph.add_edges_from((parent, node_id) for parent in ctrl)
    return graph


def drain(feeder: cc.Feeder) -> list[int]:
    order = []
    while (node := feeder.pop()) is not None:
        order.append(node.id)
        feeder.complete(node)
    return order


@given(acyclic(), st.sampled_from(["data", "control", "both"]))
def test_order_is_the_topological_order_smallest_id_first(nodes: Nodes, deps: str) -> None:
    feeder = cc.Feeder(trace_of(nodes), deps=deps)
    assert drain(feeder) == list(nx.lexicographical_topological_sort(graph_of(nodes, deps)))
    assert feeder.done
    assert feeder.remaining == 0


@given(acyclic(), st.randoms(use_true_random=False))
def test_any_completion_order_releases_nothing_early_and_ends(nodes: Nodes, choose: random.Random) -> None:
    graph = graph_of(nodes)
    feeder = cc.Feeder(trace_of(nodes))
    flying: list[int] = []
    complete: set[int] = set()
    while not feeder.done:
        can_start = [n for n in graph if n not in complete and n not in flying and complete.issuperset(graph.pred[n])]
        assert feeder.ready_ids.tolist() == sorted(can_start)
        assert (feeder.ready, feeder.in_flight, feeder.remaining) == (
            len(can_start),
            len(flying),
            len(graph) - len(complete),
        )
        peeked = feeder.peek()
        assert (peeked.id if peeked else None) == min(can_start, default=None)
        action = choose.random()
        if flying and action < 0.4:
            done = flying.pop(choose.randrange(len(flying)))
            feeder.complete(done)
            complete.add(done)
        elif flying and action < 0.6:
            feeder.push_back(flying.pop(choose.randrange(len(flying))))
        else:
            node = feeder.pop()
            assert (node.id if node else None) == min(can_start, default=None)
            if node is not None:
                flying.append(node.id)
    assert complete == set(graph)


@given(any_graph())
def test_cycles_are_named_and_everything_else_runs(nodes: Nodes) -> None:
    graph = graph_of(nodes)
    stuck = {n for component in nx.strongly_connected_components(graph) if len(component) > 1 for n in component}
    stuck |= {n for n in graph if graph.has_edge(n, n)}
    stuck |= {later for n in stuck for later in nx.descendants(graph, n)}
    trace = trace_of(nodes)
    feeder = cc.Feeder(trace)
    ran = []
    try:
        while (node := feeder.pop()) is not None:
            ran.append(node.id)
            feeder.complete(node)
        assert not stuck
    except cc.DependencyError as error:
        check_minimal_cycle(graph, error.nodes)
        assert stuck
    assert set(ran) == set(graph) - stuck
    cycles = trace.find_cycles()
    for cycle in cycles:
        check_minimal_cycle(graph, cycle)
    knots = [c for c in nx.strongly_connected_components(graph) if len(c) > 1 or any(graph.has_edge(n, n) for n in c)]
    assert sorted(min(k) for k in knots) == sorted(min(k) for k in knots if any(set(c) <= k for c in cycles))
    assert len(cycles) == len(knots)


def check_minimal_cycle(graph: Any, cycle: list[int]) -> None:
    """Each node waits for the next, the last for the first, and there are no other edges among them."""
    expected = {(parent, node) for node, parent in zip(cycle, [*cycle[1:], cycle[0]], strict=True)}
    assert set(graph.subgraph(cycle).edges) == expected


@given(acyclic(), st.integers(0, 20))
def test_reset_forgets_what_ran(nodes: Nodes, steps: int) -> None:
    feeder = cc.Feeder(trace_of(nodes))
    for _ in range(steps):
        if (node := feeder.pop()) is None:
            break
        if steps % 2:
            feeder.complete(node)
    feeder.reset()
    assert drain(feeder) == list(nx.lexicographical_topological_sort(graph_of(nodes)))


def test_t08_dependencies_stay_readable_after_all_ran() -> None:
    trace = trace_of([(1, [], []), (2, [1], []), (3, [2], [])])
    nodes = [trace.node(node_id) for node_id in (1, 2, 3)]
    assert drain(cc.Feeder(trace)) == [1, 2, 3]
    assert [node.data_deps.tolist() for node in nodes] == [[], [1], [2]]
    assert [node.children.tolist() for node in nodes] == [[2], [3], []]


def test_late_nodes_that_depend_on_an_early_one() -> None:
    """More than 1,048,576 nodes, all of them on node 0; and each dependency twice."""
    count = 1_050_576
    builder = cc.TraceBuilder()
    record = bytes.fromhex("28002800")
    builder.add_record(b"")
    for node_id in range(1, count + 1):
        builder.add_record(b"\x08" + varint(node_id) + record)
    feeder = cc.Feeder(builder.build())
    first = feeder.pop()
    assert feeder.pop() is None
    feeder.complete(first)
    assert feeder.ready == count
    assert feeder.pop().id == 1


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


class TestMisuse:
    def test_complete_twice_or_before_pop(self) -> None:
        feeder = cc.Feeder(trace_of([(1, [], []), (2, [1], [])]))
        with pytest.raises(cc.ChakraError, match="not in flight"):
            feeder.complete(1)
        node = feeder.pop()
        feeder.complete(node)
        for call in (feeder.complete, feeder.push_back):
            with pytest.raises(cc.ChakraError, match="node 1 is not in flight"):
                call(node)

    def test_absent_ids_and_foreign_nodes(self) -> None:
        feeder = cc.Feeder(trace_of([(1, [], [])]))
        feeder.pop()
        with pytest.raises(KeyError):
            feeder.complete(2)
        with pytest.raises(ValueError, match="another trace"):
            feeder.complete(trace_of([(1, [], [])]).node(1))
        with pytest.raises((TypeError, RuntimeError)):
            feeder.complete("1")
        assert feeder.in_flight == 1

    def test_unknown_deps(self) -> None:
        with pytest.raises(ValueError, match="deps"):
            cc.Feeder(trace_of([]), deps="ctrl")
