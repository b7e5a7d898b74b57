# SPDX-License-Identifier: MIT
"""What generated traces do, added up node by node: the other side of the formulas."""

from __future__ import annotations

from collections import Counter

import numpy as np

import chakra_core as cc


def flops(trace: cc.Trace, *kinds: str) -> int:
    """Operations of nodes whose `op_type` is one of these; of all without any."""
    operations = trace.attr("num_ops").filled(0)
    if not kinds:
        return int(operations.sum())
    return int(operations[np.isin(trace.attr("op_type").filled(""), kinds)].sum())


def sent(run: cc.generate.TransformerRun, trace: cc.Trace) -> Counter[tuple[str, str]]:
    """Bytes that a rank contributes, by kind of group and collective; messages by ("pp", "send" or "receive")."""
    total: Counter[tuple[str, str]] = Counter()
    size = trace.attr("comm_size").filled(0)
    kind = trace.attr("comm_type").filled(-1)
    group = trace.attr("pg_name").filled("")
    for row in np.flatnonzero(np.asarray(trace.types) == cc.NodeType.COMM_COLL_NODE):
        name = cc.CollectiveType(int(kind[row])).name.lower()
        total[run.group_kinds[group[row]], name] += int(size[row])
    for node_type, name in ((cc.NodeType.COMM_SEND_NODE, "send"), (cc.NodeType.COMM_RECV_NODE, "receive")):
        rows = np.asarray(trace.types) == node_type
        if rows.any():
            total["pp", name] += int(size[rows].sum())
    return total


def network(ranks: int, *, fast: bool = False) -> cc.Network:
    """A switch; a fast one has next to no cost."""
    return cc.Network(
        topology=["Switch"], npus=[ranks], bandwidth=[1e9 if fast else 50.0], latency=[0.0 if fast else 500.0]
    )
