# SPDX-License-Identifier: MIT
"""docs/cookbook.md is run as it stands; what docs/migrating.md and docs/units.md name exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

import chakra_core as cc
from chakra_core.cli.app import app

PROJECT = Path(__file__).resolve().parents[3]
DOCS = PROJECT / "docs"
PAGES = ["migrating.md", "units.md", "cookbook.md", "batch.md", "sweeps.md", "command-line.md"]


def test_cookbook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "cookbook.md").read_text()
    recipes = re.findall(r"^## (\d+)\. .*?^```python\n(.*?)^```", text, flags=re.M | re.S)
    assert [int(number) for number, _ in recipes] == list(range(1, 11))
    namespace: dict[str, object] = {}
    for number, code in recipes:
        exec(compile(code, f"cookbook.md, recipe {number}", "exec"), namespace)  # the page's own code
    assert "mean lateness by rank" in capsys.readouterr().out
    for name in ("overview.dot", "near.graphml", "recorded.pftrace", "simulated.pftrace", "sweep.csv"):
        assert (tmp_path / "out" / name).stat().st_size > 200


def commands_of(page: str) -> Iterator[list[str]]:
    """Command lines of our program on a page, as words."""
    text = (DOCS / page).read_text()
    quoted = re.findall(r"`(chakra-core [^`]+)`", text) + re.findall(r"^    (chakra-core .+)$", text, flags=re.M)
    for line in quoted:
        yield shlex.split(line.replace("...", "").replace("\n", " "))


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_exist(page: str) -> None:
    for words in commands_of(page):
        command = typer.main.get_command(app)
        rest = words[1:]
        while rest and rest[0] in getattr(command, "commands", {}):
            command = command.commands[rest.pop(0)]
        if rest and hasattr(command, "commands"):
            assert not rest[0].islower() or rest[0].startswith("-"), f"{page}: no command in {words}"
            continue
        options = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
        ours = rest[: rest.index("--")] if "--" in rest else rest
        for word in ours:
            if re.match(r"--?[a-z]", word):
                assert word.split("=")[0] in options, f"{page}: no option {word} in {words}"


@pytest.mark.parametrize("page", PAGES)
def test_names_exist(page: str) -> None:
    for dotted in re.findall(r"\bcc\.([A-Za-z_][\w.]*\w)", (DOCS / page).read_text()):
        value: object = cc
        for name in dotted.split("."):
            assert hasattr(value, name), f"{page}: cc.{dotted}"
            value = getattr(value, name)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+\.md)", (DOCS / page).read_text()):
        assert (DOCS / target).exists(), target
