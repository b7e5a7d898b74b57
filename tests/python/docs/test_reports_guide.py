# SPDX-License-Identifier: MIT
"""The code of docs/reports.md is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import chakra_core as cc

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "reports.md").read_text()


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("plotly", "matplotlib"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    for rank in range(4):
        builder = cc.TraceBuilder()
        builder.add_node(id=0, name="mm", start_ns=1000, duration_ns=9000, attrs={"is_cpu_op": False})
        attrs = {"is_cpu_op": False, "comm_type": 0, "comm_size": 1 << 20}
        builder.add_node(
            id=1, name="ar", type="COMM_COLL_NODE", data_deps=[0], start_ns=10_000, duration_ns=5000, attrs=attrs
        )
        cc.save(builder.build(), tmp_path / f"run.{rank}.et")
    (tmp_path / "network.yml").write_text("topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    code = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.M | re.S)
    assert len(code) >= 2
    for block in code:
        exec(compile(block, "reports.md", "exec"), namespace)  # the guide's own code
    written = set(re.findall(r'"(\w+\.(?:html|pdf|svg))"', "".join(code)))
    assert len(written) >= 5
    assert written <= {path.name for path in tmp_path.iterdir()}
