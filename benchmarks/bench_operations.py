"""What one does with a trace in memory, against protobuf and networkx over the same nodes."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
from bench_load import frames
from google.protobuf import json_format
from measure import Ratio, compare, wall_seconds
from typical_trace import write_typical

import chakra_core as cc
from chakra_core import proto
from chakra_core._core import TraceDump


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on one typical file."""
    path = folder / "typical.et"
    nodes = 2_000 if smoke else 100_000
    write_typical(path, nodes)
    trace = cc.load(path)
    messages = [proto.Node.FromString(bytes(record)) for record in frames(path)]
    sample = messages[: nodes // 10]
    graph = nx.DiGraph(trace.to_networkx())

    def to_json() -> None:
        for message in sample:
            json_format.MessageToJson(message)

    def dump() -> None:
        for _ in TraceDump(trace, np.arange(len(sample))):
            pass

    def shape() -> None:
        nx.dag_longest_path_length(graph)
        max(len(level) for level in nx.topological_generations(graph))

    ids = np.arange(nodes, dtype=np.uint64)

    def from_arrays() -> None:
        builder = cc.TraceBuilder()
        builder.add_nodes(ids=ids, duration_ns=ids, attrs={"num_ops": ids})
        builder.build()

    def from_messages() -> None:
        for node_id in ids.tolist():
            node = proto.Node(id=node_id, type=proto.COMP_NODE, duration_micros=node_id)
            node.attr.add(name="num_ops", int64_val=node_id)
            node.SerializeToString()

    return [
        compare("dump nodes as JSON lines", dump, "MessageToJson node by node", to_json, clock=wall_seconds),
        compare("counts, depth, width, critical path", trace.stats, "networkx: depth and width alone", shape),
        compare("build a trace from arrays", from_arrays, "protobuf messages, serialised", from_messages),
    ]
