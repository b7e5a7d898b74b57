# SPDX-License-Identifier: MIT
"""examples/embed_feeder builds against the installed package, and its times are those that a pencil gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from installed_package import ROOT, run

# A machine with round numbers: 1 operation or byte a ns in the device, 10 bytes a ns between devices, 100 ns latency.
MACHINE = ("--flops", "1e9", "--memory", "1e9", "--bandwidth", "1e10", "--latency", "100")


@pytest.fixture(scope="session")
def programs(build: Callable[..., Path]) -> Path:
    return build(ROOT / "examples" / "embed_feeder")


def save(path: Path, *nodes: dict[str, Any]) -> Path:
    b = cc.TraceBuilder()
    for node in nodes:
        b.add_node(name=f"node {node['id']}", **node)
    cc.save(b.build(), path)
    return path


def comp(node: int, *parents: int, **more: Any) -> dict[str, Any]:
    return {"id": node, "type": "COMP_NODE", "data_deps": parents, **more}


def comm(node: int, kind: str, *parents: int, **attrs: Any) -> dict[str, Any]:
    return {"id": node, "type": kind, "data_deps": parents, "attrs": attrs}


def table(text: str) -> list[list[int]]:
    return [[int(word) for word in line.split()] for line in text.splitlines()[1:]]


def test_ranks_meet_in_collectives_and_messages(programs: Path, tmp_path: Path) -> None:
    # rank 0: 300 ns by record, then the all-reduce; rank 1: 500 ns by the roofline (operations), then the same.
    # All-reduce of 2000 bytes over 2: 2 steps of 1000 bytes, 100 + 100 ns each. It begins at 500 and ends at 900.
    # Then rank 0 sends 1000 bytes to rank 1, which takes 200 ns, while rank 1 computes 700 ns (bytes) from 900 on.
    send = {"comm_size": 1000, "comm_src": 0, "comm_dst": 1, "comm_tag": 3}
    zero = save(
        tmp_path / "rank.0.et",
        comp(0, duration_ns=300),
        comm(1, "COMM_COLL_NODE", 0, comm_type=0, comm_size=2000),
        comm(2, "COMM_SEND_NODE", 1, **send),
    )
    one = save(
        tmp_path / "rank.1.et",
        comp(0, attrs={"num_ops": 500, "tensor_size": 20}),
        comm(1, "COMM_COLL_NODE", 0, comm_type=0, comm_size=2000),
        comm(2, "COMM_RECV_NODE", 1, **send),
        comp(3, 1, attrs={"num_ops": 5, "tensor_size": 700}),
        comp(4, 3, 2, duration_ns=50),
    )
    assert table(run(programs / "embed_feeder", *MACHINE, zero, one)) == [
        # rank, nodes, finish, compute, communication from the start of a node to its end
        [0, 3, 1100, 300, 600 + 200],
        [1, 5, 1650, 500 + 700 + 50, 400 + 200],
    ]


def test_a_lane_runs_one_node_at_a_time(programs: Path, tmp_path: Path) -> None:
    # Kernels 1 and 2 are free at once but share the device; host work runs beside them.
    trace = save(
        tmp_path / "rank.0.et",
        comp(1, duration_ns=100),
        comp(2, duration_ns=200),
        comp(3, duration_ns=250, attrs={"is_cpu_op": True}),
        comp(4, 2, 3, duration_ns=10),
    )
    assert table(run(programs / "embed_feeder", trace)) == [[0, 4, 310, 310, 0]]


def test_it_says_why_it_is_stuck(programs: Path, tmp_path: Path) -> None:
    lonely = save(tmp_path / "rank.0.et", comm(1, "COMM_RECV_NODE", comm_size=8, comm_src=1, comm_tag=2), comp(2, 1))
    said = run_for_error(programs, lonely)
    assert "message 1 to 0 tag 2: 1 arrived" in said
    assert "node 2 waits for 1" in said
    cyclic = save(tmp_path / "cyclic.et", comp(5, 6), comp(6, 5))
    said = run_for_error(programs, cyclic)
    assert "5" in said
    assert "6" in said
    assert "absent.et" in run_for_error(programs, tmp_path / "absent.et")


def run_for_error(programs: Path, trace: Path) -> str:
    # The message goes to stderr: `sh` turns it over to stdout.
    return run("sh", "-c", f"'{programs / 'embed_feeder'}' '{trace}' 2>&1", expect=1)


def test_critical_path_in_c(programs: Path, tmp_path: Path) -> None:
    trace = save(
        tmp_path / "rank.et",
        comp(1, duration_ns=100),
        comp(2, duration_ns=200),
        comp(3, 1, duration_ns=250),
        comp(4, 2, 3, duration_ns=10),
        comp(5, 2, duration_ns=20),
    )
    assert run(programs / "critical_path", trace) == "nodes 5, critical path 360 ns\n"
    assert run(programs / "critical_path", trace, "5") == "nodes 5, end 360 ns, 5 held at most\n"
    # Node 5 is read, and started, when node 4 no longer fills the window: at 350 instead of 200.
    assert run(programs / "critical_path", trace, "1") == "nodes 5, end 370 ns, 3 held at most\n"
    run("sh", "-c", f"'{programs / 'critical_path'}' '{tmp_path / 'absent.et'}' 2>&1 | grep absent.et")
