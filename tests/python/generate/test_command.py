# SPDX-License-Identifier: MIT
"""The command `generate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chakra_core as cc
from chakra_core.cli.app import main


def test_testcase_writes_a_file_a_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = tmp_path / "run"
    arguments = ["generate", "testcase", "chain", "--set", "nodes=5", "--set", "ranks=3", "-o", str(prefix), "--json"]
    assert main(arguments) == 0
    written = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in written] == [f"{prefix}.{rank}.et" for rank in range(3)]
    assert [len(trace) for trace in cc.load_run(f"{prefix}.%d.et")] == [5, 5, 5]


def test_testcase_takes_a_pattern(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "testcase", "chain", "-o", str(tmp_path / "c%d.et.gz")]) == 0
    assert "2,000 nodes" in capsys.readouterr().out
    assert len(cc.load(tmp_path / "c1.et.gz")) == 1000


def test_list_shows_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "testcase", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(f"{name}: " in text for name in cc.generate.testcases())
    assert main(["generate", "testcase", "--list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == list(cc.generate.testcases())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["testcase"], 2),
        (["testcase", "chain"], 2),
        (["testcase", "nothing", "-o", "x"], 1),
        (["testcase", "chain", "--set", "nodes", "-o", "x"], 1),
        (["testcase", "chain", "--set", "nodes=-1", "-o", "x"], 1),
        (["testcase", "chain", "--set", "length=1", "-o", "x"], 1),
    ],
)
def test_wrong_use_is_told(arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", *arguments]) == status
    assert capsys.readouterr().err
