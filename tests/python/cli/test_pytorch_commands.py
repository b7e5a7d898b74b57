# SPDX-License-Identifier: MIT
"""`link` and `convert` on the recorded sample of two ranks."""

import json
import shutil
from pathlib import Path

import pytest

import chakra_core as cc
from chakra_core.cli import main

SAMPLE = Path(__file__).parents[3] / "examples" / "sample"
HOST, DEVICE = str(SAMPLE / "rank%d.host.json.gz"), str(SAMPLE / "rank%d.kineto.json.gz")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def error_of(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_link_one_rank(out: Path, capsys: Capture) -> None:
    arguments = ["link", "--host", HOST.replace("%d", "1"), "--device", DEVICE.replace("%d", "1")]
    linked = cc.link(arguments[2], arguments[4])
    assert main(arguments) == 0
    assert linked.report.text in capsys.readouterr().out
    assert main([*arguments, "--json", "--rank", "5"]) == 0
    (described,) = json.loads(capsys.readouterr().out)
    assert described["rank"] == 5
    assert described["counts"] == linked.report.counts
    assert described["num_host_nodes"] == linked.num_host_nodes > 0


def test_link_every_rank(out: Path, capsys: Capture) -> None:
    assert main(["link", "--host", HOST, "--device", DEVICE, "--json"]) == 0
    assert [one["rank"] for one in json.loads(capsys.readouterr().out)] == [0, 1]


@pytest.mark.parametrize("layout", ["exact", "ops"])
def test_convert_every_rank(out: Path, capsys: Capture, layout: str) -> None:
    arguments = ["convert", "--host", HOST, "--device", DEVICE, "-o", "rank.%d.et", "--layout", layout, "--json"]
    assert main(arguments) == 0
    written = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in written] == ["rank.0.et", "rank.1.et"]
    for rank, one in enumerate(written):
        trace = cc.load(one["path"])
        assert one["nodes"] == len(trace) > 100
        assert one["file_bytes"] == Path(one["path"]).stat().st_size
        expected = cc.convert(host=HOST.replace("%d", str(rank)), device=DEVICE.replace("%d", str(rank)), layout=layout)
        assert trace.ids.tolist() == expected.ids.tolist()
    Path("network.yml").write_text("topology: [Ring]\nnpus_count: [2]\nbandwidth: [10]\nlatency: [1000]\n")
    assert main(["simulate", "rank.%d.et", "--network", "network.yml", "--timeline", "run.pftrace"]) == 0
    assert "2 ranks finished at " in capsys.readouterr().out


def test_convert_one_side_alone(out: Path, capsys: Capture) -> None:
    assert main(["convert", "--device", DEVICE.replace("%d", "0"), "-o", "device.et.gz"]) == 0
    assert capsys.readouterr().out.startswith("device.et.gz: ")
    assert Path("device.et.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_wrong_pairs_are_told(out: Path, capsys: Capture) -> None:
    one_host = HOST.replace("%d", "0")
    assert "2 ranks need a name with %d" in error_of(
        capsys, "convert", "--host", HOST, "--device", DEVICE, "-o", "x.et"
    )
    assert "--rank 3 is for one pair of files, and there are 2" in error_of(
        capsys, "link", "--host", HOST, "--device", DEVICE, "--rank", "3"
    )
    assert "rank 1 has no file on the other side" in error_of(capsys, "link", "--host", one_host, "--device", DEVICE)
    shutil.copy(SAMPLE / "rank0.host.json.gz", out / "cut.json.gz")
    Path("cut.json.gz").write_bytes(Path("cut.json.gz").read_bytes()[:2000])
    assert "cut.json.gz" in error_of(capsys, "convert", "--host", "cut.json.gz", "-o", "x.et")
    assert not Path("x.et").exists()


def test_convert_needs_one_kind_of_input(out: Path) -> None:
    linked = cc.link(HOST.replace("%d", "0"), DEVICE.replace("%d", "0"))
    with pytest.raises(ValueError, match="either what link returned, or host="):
        cc.convert()
    with pytest.raises(ValueError, match="either what link returned, or host="):
        cc.convert(linked, host="x")
    with pytest.raises(cc.ConfigError, match="best"):
        cc.convert(linked, layout="best")  # type: ignore[arg-type]


def test_replay_and_progress() -> None:
    progress = cc.Progress()
    linked = cc.link(SAMPLE / "rank0.host.json.gz", SAMPLE / "rank0.kineto.json.gz", progress=progress)
    assert progress.done == progress.total > 0
    replayed = cc.replay(cc.convert(linked))
    assert replayed.nodes == len(cc.convert(linked))
    assert replayed.total_error == (replayed.replayed_ns - replayed.recorded_ns) / replayed.recorded_ns


def test_convert_and_replay(out: Path, capsys: Capture) -> None:
    arguments = ["convert", "--host", HOST, "--device", DEVICE, "-o", "rank.%d.et", "--replay"]
    assert main([*arguments, "--json"]) == 0
    for one in json.loads(capsys.readouterr().out):
        assert one["replay"]["total_error"] == 0
        assert one["replay"]["start_error_ns"]["max"] == 0
        assert one["replay"]["recorded_ns"] == one["link"]["span_ns"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.count("(+0.0000%)") == 2
