# SPDX-License-Identifier: MIT
"""Random graphs for the feeder, as traces and for networkx."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import networkx as nx
from hypothesis import strategies as st

import chakra_core as cc


@dataclass
class Given:
    """A node of a graph, with all that an issue order may go by."""

    id: int
    data: list[int] = field(default_factory=list)
    ctrl: list[int] = field(default_factory=list)
    start: int = 0
    priority: int | None = None


@st.composite
def acyclic_graphs(draw: st.DrawFn, most: int = 14) -> list[Given]:
    """Graphs without cycles, in any file order, with dense or sparse ids."""
    ids = draw(st.lists(st.one_of(st.integers(0, 30), st.integers(0, 2**64 - 1)), unique=True, max_size=most))
    nodes = []
    for position, node_id in enumerate(ids):
        parents = st.lists(st.sampled_from(ids[:position]), max_size=4) if position else st.just([])
        start, priority = draw(st.integers(0, 3)), draw(st.none() | st.integers(-2, 2))
        nodes.append(Given(node_id, draw(parents), draw(parents), start * 1000, priority))
    return draw(st.permutations(nodes))


def trace_of(nodes: list[Given]) -> cc.Trace:
    builder = cc.TraceBuilder()
    for node in nodes:
        attrs = {} if node.priority is None else {"comm_priority": node.priority, "urgency": node.priority}
        builder.add_node(id=node.id, data_deps=node.data, ctrl_deps=node.ctrl, start_ns=node.start, attrs=attrs)
    return builder.build()


def graph_of(nodes: list[Given], deps: str = "both") -> Any:
    graph = nx.DiGraph()
    graph.add_nodes_from(node.id for node in nodes)
    for node in nodes:
        if deps != "control":
            graph.add_edges_from((parent, node.id) for parent in node.data)
        if deps != "data":
            graph.add_edges_from((parent, node.id) for parent in node.ctrl)
    return graph


def key_of(nodes: list[Given], order: str) -> Any:
    """The key by id that an order defines."""
    place = {node.id: row for row, node in enumerate(nodes)}
    by_id = {node.id: node for node in nodes}

    def priority(node_id: int, sign: int) -> tuple[bool, int, int]:
        value = by_id[node_id].priority
        return (value is None, 0 if value is None else sign * value, node_id)

    return {
        "id": lambda i: i,
        "start": lambda i: (by_id[i].start, i),
        "file": lambda i: place[i],
        "attr:comm_priority": lambda i: priority(i, -1),
        "attr:comm_priority:smallest": lambda i: priority(i, 1),
        "attr:urgency": lambda i: priority(i, -1),
    }[order]


ORDERS = ["id", "start", "file", "attr:comm_priority", "attr:comm_priority:smallest", "attr:urgency"]


def expected_order(nodes: list[Given], order: str = "id", deps: str = "both") -> list[int]:
    """The topological order that an issue order defines, as networkx gives it."""
    return list(nx.lexicographical_topological_sort(graph_of(nodes, deps), key=key_of(nodes, order)))
