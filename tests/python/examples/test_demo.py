# SPDX-License-Identifier: MIT
"""The demo runs through and leaves what it promises."""

from __future__ import annotations

import gzip
import re
import runpy
import sys
from pathlib import Path

import pytest

import chakra_core as cc

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["demo.py", "--out", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "demo.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "coverage" in shown
    assert "exposed" in shown
    for rank in (0, 1):
        trace = cc.load(tmp_path / f"rank.{rank}.et")
        assert trace.validate().ok
        assert (trace.types == cc.NodeType.COMM_COLL_NODE).sum() == 12
    assert (tmp_path / "timeline.pftrace").stat().st_size > 10_000


def test_sample_holds_nothing_local() -> None:
    paths = sorted((EXAMPLES / "sample").glob("*.json.gz"))
    assert len(paths) == 4
    for path in paths:
        text = gzip.decompress(path.read_bytes()).decode()
        assert not re.search(r'"/(home|root|tmp|usr|var|mnt|opt)/', text), path.name
        assert set(re.findall(r'"host_name"\s*:\s*"([^"]*)"', text)) <= {"host"}, path.name
