# SPDX-License-Identifier: MIT
"""The README's code is run as it stands, in the order in which it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
README = (PROJECT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Code blocks of the README in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


@pytest.fixture
def project_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder that looks like the project's root to the commands, so that they write nothing into the tree."""
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_run(project_copy: Path) -> None:
    commands = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]
    assert len(commands) >= 6
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, env=os.environ | {"PATH": path}, timeout=120
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout.strip() or "--output" in command
    assert (project_copy / "out" / "tour.pftrace").stat().st_size > 1000


def test_python_runs(project_copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = blocks("python")
    assert len(code) >= 4
    namespace: dict[str, object] = {}
    for block in code:
        exec(compile(block, "README.md", "exec"), namespace)  # the README's own code
    assert "bytes in" in capsys.readouterr().out


def test_files_named_in_the_readme_exist() -> None:
    for name in re.findall(r"`((?:docs|examples|scripts)/[\w./-]+)`", README):
        assert (PROJECT / name).exists(), name
