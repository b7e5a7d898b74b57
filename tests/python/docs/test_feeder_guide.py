# SPDX-License-Identifier: MIT
"""The code of docs/feeder.md is run, or compiled, as it stands."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
GUIDE = (PROJECT / "docs" / "feeder.md").read_text()


def blocks(language: str) -> list[str]:
    """Code blocks of the guide in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, flags=re.M | re.S)


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    code = blocks("python")
    assert len(code) >= 5
    for block in code:
        exec(compile(block, "feeder.md", "exec"), namespace)  # the guide's own code
    assert "waiting" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_cpp_compiles(tmp_path: Path) -> None:
    code = blocks("cpp")
    assert len(code) >= 2
    source = tmp_path / "guide.cpp"
    source.write_text("#include <cstdint>\n#include <string>\n" + "\n".join(code))
    include = PROJECT / "cpp" / "include"
    command = ["c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{include}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
