# SPDX-License-Identifier: MIT
"""The code of docs/sweeps.md is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import chakra_core as cc
from chakra_core.cli import main

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "sweeps.md").read_text()


def blocks(language: str) -> list[str]:
    """Code blocks of the guide in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, flags=re.M | re.S)


def test_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "sweeps.md", "exec"), namespace)  # the guide's own code
    assert "ns at best of 18" in capsys.readouterr().out
    assert Path("sweep.csv").stat().st_size > 1000


def test_grid_file_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    builder = cc.TraceBuilder()
    builder.add_node(id=0, duration_ns=1000)
    for rank in range(2):
        cc.save(builder.build(), f"run.{rank}.et")
    Path("network.yml").write_text("topology: [Ring]\nnpus_count: [2]\nbandwidth: [50]\nlatency: [500]\n")
    Path("system.json").write_text('{"preferred-dataset-splits": 1, "collective-optimization": "baseline"}')
    (text,) = blocks("yaml")
    Path("study.yml").write_text(text)
    assert main(["sweep", "study.yml", "--best", "5"]) == 0
    assert "9 configurations" in capsys.readouterr().out
