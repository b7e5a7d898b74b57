# SPDX-License-Identifier: MIT
"""Bundles of ranks: what is expanded from one is what was generated, byte for byte."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from chakra_core.cli.app import main
from chakra_core.generate import TransformerRun, transformer
from generated_traffic import network

MODEL = {"layers": 4, "hidden": 64, "heads": 8, "ffn": 96, "vocabulary": 512, "experts": 4, "experts_per_token": 2}


@pytest.fixture(scope="module")
def run() -> TransformerRun:
    return transformer(MODEL, dp=2, tp=2, pp=2, ep=2, zero=3, sequence_parallel=True, sequence=32, micro_batches=2)


@pytest.fixture
def path(run: TransformerRun, tmp_path: Path) -> Path:
    assert run.save(tmp_path / "run.etb") == [tmp_path / "run.etb"]
    return tmp_path / "run.etb"


def test_expands_to_the_bytes_of_the_run(run: TransformerRun, path: Path, tmp_path: Path) -> None:
    run.save(tmp_path / "whole")
    bundle = cc.Bundle.load(path)
    assert bundle.groups == run.groups
    assert bundle.num_nodes == run.num_nodes
    assert bundle.num_ranks == 8
    for rank in range(8):
        cc.save(bundle.trace(rank), tmp_path / "expanded.et")
        assert (tmp_path / "expanded.et").read_bytes() == (tmp_path / f"whole.{rank}.et").read_bytes()


def test_is_the_same_file_again_and_small(run: TransformerRun, path: Path, tmp_path: Path) -> None:
    cc.Bundle.load(path).save(tmp_path / "again.etb")
    assert (tmp_path / "again.etb").read_bytes() == path.read_bytes()
    run.save(tmp_path / "whole")
    assert path.stat().st_size * 10 < sum(one.stat().st_size for one in tmp_path.glob("whole.*.et"))


def test_is_read_wherever_a_run_is(run: TransformerRun, path: Path) -> None:
    for loaded in (cc.load(str(path)), cc.load_run(path), cc.load_run(path, 8)):
        assert not any(cc.diff(one, other) for one, other in zip(loaded, run.traces, strict=True))
    assert cc.check_ranks(path).ok
    expected = cc.simulate(run.traces, network=network(8), comm_groups=run.groups)
    assert cc.simulate(path, network=network(8)).finish_ns.tolist() == expected.finish_ns.tolist()
    with pytest.raises(cc.ConfigError, match="found 8 ranks; expected 4"):
        cc.load_run(path, 4)


def test_commands_take_it(run: TransformerRun, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "network.yml").write_text("topology: [Switch]\nnpus_count: [8]\nbandwidth: [50.0]\nlatency: [500.0]\n")
    assert main(["simulate", str(path), "--network", str(tmp_path / "network.yml"), "--json"]) == 0
    expected = cc.simulate(run.traces, network=network(8), comm_groups=run.groups)
    assert json.loads(capsys.readouterr().out)["total_ns"] == expected.total_ns
    groups = tmp_path / "groups.json"
    assert main(["convert", str(path), "-o", str(tmp_path / "out.%d.et"), "--comm-groups", str(groups)]) == 0
    assert cc.CommGroups.load(groups) == run.groups
    written = cc.load_run(str(tmp_path / "out.%d.et"))
    assert not any(cc.diff(one, other) for one, other in zip(written, run.traces, strict=True))
    assert main(["generate", "llm", "llama3-8b", "-o", str(tmp_path / "llm.etb"), "--tp", "8"]) == 0
    assert cc.Bundle.load(tmp_path / "llm.etb").num_ranks == 8


def changed(path: Path, change: Callable[[Any], None]) -> Path:
    data = json.loads(gzip.decompress(path.read_bytes()))
    change(data)
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    return path


def replace(*keys: Any, value: Any) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


NODE = ("programs", 0, "blocks", 0, "nodes", 0)


@pytest.mark.parametrize(
    "change",
    [
        replace("format", value="other"),
        replace("version", value=2),
        replace("programs", value=3),
        replace("programs", value=[]),
        replace("programs", 0, "blocks", 0, "inputs", value=-1),
        replace("programs", 0, "placements", value={}),
        replace("programs", 0, "placements", "label", value=[3]),
        replace("ranks", "program", value=[0, 0]),
        replace("ranks", "program", 0, value=2),
        replace("ranks", "program", 0, value=-1),
        replace("groups", value={"1": [0, 0]}),
        replace(*NODE, "name", value=None),
        replace(*NODE, "type", value="NOTHING"),
        replace(*NODE, "queue", value="a"),
        replace(*NODE, "attrs", value={"a": {}}),
        replace(*NODE, "rank_attrs", value=[["a"]]),
    ],
)
def test_what_is_no_bundle_is_told(path: Path, change: Callable[[Any], None]) -> None:
    with pytest.raises(cc.FormatError, match=r"run\.etb: "):
        cc.Bundle.load(changed(path, change))


@pytest.mark.parametrize(
    "change",
    [
        replace("programs", 0, "placements", "block", 0, value=1000),
        replace("programs", 0, "placements", "link_offsets", value=[0]),
        replace(*NODE, "parents", value=[5]),
        replace(*NODE, "inputs", value=[99]),
        replace(*NODE, "queue", value=1 << 31),
        replace(*NODE, "rank_attrs", value=[["pg_name", 99]]),
    ],
)
def test_programs_that_do_not_fit_are_told(path: Path, change: Callable[[Any], None]) -> None:
    with pytest.raises(cc.ChakraError, match="block program"):
        cc.Bundle.load(changed(path, change)).trace(0)


@pytest.mark.parametrize("bytes_", [b"", b"text", gzip.compress(b"{"), gzip.compress(b"[]"), gzip.compress(b"\xff")])
def test_other_files_are_told(tmp_path: Path, bytes_: bytes) -> None:
    (tmp_path / "x.etb").write_bytes(bytes_)
    with pytest.raises(cc.FormatError, match=r"x\.etb: "):
        cc.load(tmp_path / "x.etb")


def test_limits_and_missing_files(path: Path, tmp_path: Path) -> None:
    with pytest.raises(cc.FormatError, match="more than max_bytes, 100"):
        cc.load_run(path, max_bytes=100)
    with pytest.raises(FileNotFoundError):
        cc.load(tmp_path / "none.etb")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(cc.FormatError):
        cc.load(path)
