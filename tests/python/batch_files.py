# SPDX-License-Identifier: MIT
"""Small files for tests of batches."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import chakra_core as cc


def chain(nodes: int, *, name: str = "kernel") -> cc.Trace:
    """Nodes one after the other."""
    builder = cc.TraceBuilder()
    for number in range(nodes):
        builder.add_node(
            id=number,
            name=f"{name} {number}",
            duration_ns=1000,
            data_deps=[number - 1] if number else [],
            attrs={"is_cpu_op": False},
        )
    return builder.build()


def write_host(path: Path, *, pid: int = 1, ops: int = 3) -> None:
    """Write a host trace, in the shape of PyTorch's."""
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1}
    thread = {"id": 2, "name": "[pytorch|profiler|execution_trace|thread]", "ctrl_deps": 1}
    nodes = [_host_node(one, 0) for one in (root, thread)]
    nodes += [_host_node({"id": 3 + op, "name": f"aten::op{op}", "ctrl_deps": 2}, op + 1) for op in range(ops)]
    _write(path, {"schema": "1.1.1-chakra.0.0.4", "pid": pid, "time": "", "start_ts": 0, "nodes": nodes})


def _host_node(node: dict[str, Any], rf_id: int) -> dict[str, Any]:
    tensors: dict[str, Any] = {"values": [], "shapes": [], "types": []}
    attrs = [{"name": "rf_id", "type": "uint64", "value": rf_id}, {"name": "tid", "type": "uint64", "value": 1}]
    return {**node, "inputs": tensors, "outputs": tensors, "attrs": attrs}


def write_device(path: Path, *, rank: int | None = None, pid: int = 1, ops: int = 3) -> None:
    """Write a Kineto trace with the ops of `write_host`."""
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": f"aten::op{op}",
            "pid": pid,
            "tid": 1,
            "ts": 10.0 * op,
            "dur": 5.0,
            "args": {"Record function id": op + 1, "External id": op + 1},
        }
        for op in range(ops)
    ]
    info = {} if rank is None else {"distributedInfo": {"backend": "gloo", "world_size": 64, "rank": rank}}
    _write(path, {"schemaVersion": 1, **info, "traceEvents": events})


def _write(path: Path, data: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
