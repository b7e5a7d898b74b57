# SPDX-License-Identifier: MIT
"""The code of docs/batch.md is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
GUIDE = (PROJECT / "docs" / "batch.md").read_text()


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "traces").symlink_to(PROJECT / "examples" / "sample")
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.M | re.S)
    assert code
    namespace: dict[str, object] = {}
    for block in code:
        exec(compile(block, "batch.md", "exec"), namespace)  # the guide's own code
    assert "2 done, 0 skipped, 0 failed" in capsys.readouterr().out
