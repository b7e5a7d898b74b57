# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

import chakra_core as cc


def make_trace(rank: int) -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="mm", start_ns=1_000, duration_ns=4_000, attrs={"is_cpu_op": False, "stream": 7})
    builder.add_node(
        id=2,
        name="ar",
        type="COMM_COLL_NODE",
        data_deps=[1],
        start_ns=5_000,
        duration_ns=2_000,
        attrs={"is_cpu_op": False, "stream": 20, "comm_type": 0, "comm_size": 1 << 20},
    )
    builder.add_node(id=3, name=f"host of {rank}", duration_ns=500, attrs={"is_cpu_op": True, "tid": 1})
    return builder.build()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a folder with run.0.et to run.3.et and network.yml for four ranks."""
    for rank in range(4):
        cc.save(make_trace(rank), tmp_path / f"run.{rank}.et")
    (tmp_path / "network.yml").write_text("topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path
