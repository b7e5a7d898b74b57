"""Draining a trace in dependency order, against parsing its records alone and against networkx."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
from bench_load import frames, parse_all
from measure import Ratio, compare
from typical_trace import write_typical

import chakra_core as cc


def drain(trace: cc.Trace) -> None:
    """Complete every node as soon as it is handed out."""
    feeder = cc.Feeder(trace)
    while (node := feeder.pop()) is not None:
        feeder.complete(node)


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on one typical file."""
    path = folder / "typical.et"
    nodes = 10_000 if smoke else 200_000
    write_typical(path, nodes)
    records = frames(path)

    trace = cc.load(path)
    graph = nx.DiGraph()
    graph.add_nodes_from(trace.ids.tolist())
    for row, parents in enumerate(trace.data_deps[i] for i in range(len(trace))):
        graph.add_edges_from((int(trace.ids[parent]), int(trace.ids[row])) for parent in parents)

    def sort_all() -> None:
        for _ in nx.lexicographical_topological_sort(graph):
            pass

    return [
        compare(
            "load and drain, node by node from Python",
            lambda: drain(cc.load(path)),
            "parsing alone",
            lambda: parse_all(records),
        ),
        compare("drain, node by node from Python", lambda: drain(trace), "networkx, data dependencies only", sort_all),
    ]
