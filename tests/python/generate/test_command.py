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


def test_llm_writes_traces_and_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "small.yml"
    model.write_text("layers: 2\nhidden: 64\nheads: 8\nkv-heads: 4\nffn: 96\nvocabulary: 512\n")
    prefix = tmp_path / "run"
    degrees = ["--dp", "2", "--tp", "2", "--sequence-parallel", "--zero", "1", "--sequence", "32"]
    more = ["--set", "bucket-bytes=1000", "--set", "causal_attention=true", "--peak-flops", "1e12"]
    arguments = ["generate", "llm", str(model), "-o", str(prefix), *degrees, *more, "--memory-bandwidth", "1e12"]
    assert main([*arguments, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["paths"] == [f"{prefix}.{rank}.et" for rank in range(4)]
    traces = cc.load_run(f"{prefix}.%d.et")
    assert said["nodes"] == sum(map(len, traces))
    run = cc.generate.transformer(
        cc.generate.TransformerModel.load(model),
        dp=2,
        tp=2,
        sequence_parallel=True,
        zero=1,
        sequence=32,
        bucket_bytes=1000,
        causal_attention=True,
        device={"peak_flops": 1e12, "memory_bandwidth": 1e12},
    )
    assert not any(cc.diff(one, other) for one, other in zip(traces, run.traces, strict=True))
    assert cc.CommGroups.load(said["comm_groups"]) == run.groups
    assert main(arguments) == 0
    assert "parameters, 4 ranks" in capsys.readouterr().out


def test_llm_lists_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "llm", "--list"]) == 0
    assert capsys.readouterr().out.split() == list(cc.generate.preset_names())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["llm"], 2),
        (["llm", "llama3-8b"], 2),
        (["llm", "llama3-8b", "-o", "x", "--peak-flops", "1"], 2),
        (["llm", "nothing", "-o", "x"], 1),
        (["llm", "llama3-8b", "-o", "x", "--tp", "3"], 1),
        (["llm", "llama3-8b", "-o", "x", "--set", "speed=1"], 1),
    ],
)
def test_llm_tells_wrong_use(arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", *arguments]) == status
    assert capsys.readouterr().err
