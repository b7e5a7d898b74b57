# SPDX-License-Identifier: MIT
"""The code of docs/generating.md is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chakra_core.cli.app import main

PROJECT = Path(__file__).resolve().parents[3]
GUIDE = (PROJECT / "docs" / "generating.md").read_text()


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.M | re.S)
    assert len(code) >= 2
    namespace: dict[str, object] = {}
    for block in code:
        exec(compile(block, "generating.md", "exec"), namespace)  # the guide's own code
    assert (tmp_path / "out" / "llama.15.et").exists()


def test_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "model.yml").write_text("layers: 2\nhidden: 64\nheads: 8\nffn: 96\nvocabulary: 512\n")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    chakra-core (.*?)(?:   #.*)?$", GUIDE, flags=re.M)
    assert len(commands) >= 6
    for command in commands:
        assert main(command.split()) == 0, command
