# SPDX-License-Identifier: MIT
"""The command `info`: what is in a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer

from chakra_core._core import CollectiveType, NodeType, Trace
from chakra_core.cli.parameters import JsonOption, OnErrorOption, TracePaths
from chakra_core.cli.printing import format_bytes, format_count, print_json, print_table
from chakra_core.cli.progress import watch
from chakra_core.rank_traces import expand_paths
from chakra_core.result import format_time
from chakra_core.trace_source import load_source


def info(traces: TracePaths, json: JsonOption = False, on_error: OnErrorOption = "strict") -> None:
    """Show what is in traces: nodes by type, communication by kind, times and sizes."""
    paths = expand_paths(traces)
    described = [describe(_load(path, on_error), path) for path in paths]
    if json:
        print_json(described)
        return
    _print_files(described)
    _print_counts("nodes by type", "type", [one["types"] for one in described])
    _print_counts("communication nodes by kind", "kind", [one["communication"] for one in described])


def _load(path: Path, on_error: OnErrorOption) -> Trace:
    return watch(f"reading {path.name}", lambda progress: load_source(path, on_error=on_error, progress=progress))


def describe(trace: Trace, path: Path) -> dict[str, Any]:
    """Facts about a trace, as plain values for JSON; times in ns, sizes in bytes."""
    end_ns = trace.start_ns + trace.duration_ns
    recorded = (trace.start_ns > 0) | (trace.duration_ns > 0)
    span_ns = int(end_ns[recorded].max() - trace.start_ns[recorded].min()) if recorded.any() else 0
    return {
        "path": str(path),
        "version": trace.metadata.version,
        "file_bytes": path.stat().st_size,
        "memory_bytes": trace.memory_bytes,
        "nodes": len(trace),
        "data_deps": len(trace.data_deps.indices),
        "ctrl_deps": len(trace.ctrl_deps.indices),
        "span_ns": span_ns,
        "duration_ns": int(trace.duration_ns.sum()),
        "comm_bytes": _communicated(trace),
        "types": _count_types(trace),
        "communication": _count_communication(trace),
        "problems": dict(trace.load_report.counts),
    }


def _communicated(trace: Trace) -> int:
    is_comm = np.isin(trace.types, [NodeType.COMM_SEND_NODE, NodeType.COMM_RECV_NODE, NodeType.COMM_COLL_NODE])
    return int(trace.attr("comm_size").filled(0)[is_comm].sum())


def _count_types(trace: Trace) -> dict[str, int]:
    known = {int(kind): kind.name for kind in NodeType}
    return _count(trace.types, known, "NODE_TYPE_")


def _count_communication(trace: Trace) -> dict[str, int]:
    types = trace.types
    counts = {}
    for name, node_type in (("SEND", NodeType.COMM_SEND_NODE), ("RECV", NodeType.COMM_RECV_NODE)):
        if number := int(np.count_nonzero(types == node_type)):
            counts[name] = number
    kinds = trace.attr("comm_type").filled(-1)[types == NodeType.COMM_COLL_NODE]
    known = {int(kind): kind.name for kind in CollectiveType} | {-1: "no comm_type"}
    return counts | _count(kinds, known, "COLLECTIVE_TYPE_")


def _count(numbers: Any, known: dict[int, str], otherwise: str) -> dict[str, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return {
        known.get(value, f"{otherwise}{value}"): count
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    }


def _print_files(described: list[dict[str, Any]]) -> None:
    folders = {str(Path(one["path"]).parent) for one in described}
    print_table(
        f"in {folders.pop()}" if len(folders) == 1 else "",
        ("file", "size", "nodes", "deps", "recorded", "comm bytes"),
        (
            (
                Path(one["path"]).name if not folders else one["path"],
                format_bytes(one["file_bytes"]),
                format_count(one["nodes"]),
                format_count(one["data_deps"] + one["ctrl_deps"]),
                format_time(one["span_ns"]) if one["span_ns"] else "-",
                format_bytes(one["comm_bytes"]),
            )
            for one in described
        ),
    )
    for one in described:
        for kind, number in one["problems"].items():
            typer.echo(f"{one['path']}: {format_count(number)} {kind.replace('_', ' ')}")


def _print_counts(title: str, label: str, counts: list[dict[str, int]]) -> None:
    """Print the sums over all files, largest first."""
    total: dict[str, int] = {}
    for one in counts:
        for name, number in one.items():
            total[name] = total.get(name, 0) + number
    if total:
        rows = sorted(total.items(), key=lambda item: (-item[1], item[0]))
        print_table(title, (label, "nodes"), ((name, format_count(number)) for name, number in rows))
