# SPDX-License-Identifier: MIT
"""The command `batch`: what it prints, where, and how it ends."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from chakra_core.cli import batch_display, main
from chakra_core.cli.batch_display import BatchDisplay

Capture = pytest.CaptureFixture[str]


def test_convert_and_again(folder: Path, capsys: Capture) -> None:
    command = ["batch", "convert", "run.%d.et", "-o", "out/{rank:02d}.json.gz", "--threads", "2"]
    assert main(command) == 0
    captured = capsys.readouterr()
    assert "4 items in" in captured.out
    assert "4 done, 0 skipped, 0 failed" in captured.out
    assert captured.out.endswith("report: out/batch-report.jsonl\n")
    assert captured.err.startswith("convert: 4 items, ")
    assert sorted(path.name for path in Path("out").glob("*.gz")) == [f"{rank:02d}.json.gz" for rank in range(4)]
    assert main([*command, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    result = json.loads(captured.out)
    assert (result["done"], result["skipped"], result["report"]) == (0, 4, "out/batch-report.jsonl")
    assert result["items"][3]["facts"]["nodes"] == 3
    assert main([*command, "--again", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 4


def test_one_bad_file(folder: Path, capsys: Capture) -> None:
    Path("run.2.et").write_bytes(Path("run.2.et").read_bytes()[:-1])
    for operation in ("validate", "stats"):
        assert main(["batch", operation, "run.%d.et", "--report", f"{operation}.jsonl"]) == 1
        captured = capsys.readouterr()
        assert "3 done, 0 skipped, 1 failed" in captured.out
        assert "failed: run.2.et: " in captured.out
        assert f"{operation}: failed: run.2.et" in captured.err
        lines = [json.loads(line) for line in Path(f"{operation}.jsonl").read_text().splitlines()]
        assert [line["status"] for line in lines[:-1]] == ["done", "done", "failed", "done"]
        assert lines[-1]["summary"] == {"done": 3, "skipped": 0, "failed": 1}
    assert main(["batch", "stats", "run.%d.et", "--on-error", "recover"]) == 0


def test_simplify_and_simulate(folder: Path, capsys: Capture) -> None:
    assert main(["batch", "simplify", "run.%d.et", "-o", "small/", "--drop", "host*", "--device-only"]) == 0
    assert len(list(Path("small").glob("*.et"))) == 4
    command = ["batch", "simulate", "run.%d.et", "-o", "sim/", "--network", "network.yml", "--option", "fold=false"]
    assert main(command) == 0
    assert json.loads(Path("sim/run.result.json").read_text())["num_ranks"] == 4
    capsys.readouterr()
    assert main([*command, "--option", "wrong=1"]) == 1
    assert capsys.readouterr().err.startswith("error: ")


def test_link_and_convert_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    sample = Path(__file__).resolve().parents[3] / "examples" / "sample"
    monkeypatch.chdir(tmp_path)
    assert main(["batch", "link", str(sample), "-o", "linked/"]) == 0
    assert sorted(path.name for path in Path("linked").glob("*.gz")) == [
        f"rank{rank}.linked.json.gz" for rank in (0, 1)
    ]
    assert main(["batch", "convert", "linked", "-o", "et/{rank}.et", "--replay"]) == 0
    files = [f"{sample}/rank%d.{side}.json.gz" for side in ("host", "kineto")]
    assert main(["batch", "convert", "--host", files[0], "--device", files[1], "-o", "again/{rank}.et"]) == 0
    for rank in (0, 1):
        assert Path(f"et/{rank}.et").read_bytes() == Path(f"again/{rank}.et").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["convert", "run.%d.et"], "convert needs an output"),
        (["convert", "none.et", "-o", "x/"], "none.et: no such file"),
        (["stats", "run.%d.et", "--max-memory", "lots"], "max-memory: found 'lots'"),
        (["stats", "run.%d.et", "--storage-option", "x"], "--storage-option x: write NAME=VALUE"),
        (["simulate", "run.%d.et", "--option", "x"], "--option x: write NAME=VALUE"),
        (["stats"], "nothing to do"),
    ],
)
def test_wrong_use(folder: Path, capsys: Capture, arguments: list[str], says: str) -> None:
    assert main(["batch", *arguments]) == 1
    assert says in capsys.readouterr().err


def record(status: str = "done") -> dict[str, object]:
    return {"status": status, "name": "a", "error": {"message": "bad"}}


def test_lines_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_display, "_SECONDS_BETWEEN_LINES", 0.0)
    stream = io.StringIO()
    with BatchDisplay("convert", stream) as display:
        display.began(4, 4096)
        display.ended(record("skipped"), 1024)
        display.ended(record(), 1024)
        display.looked(2, 1 << 20)
        display.ended(record("failed"), 1024)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "convert: 4 items, 4.00 KiB"
    assert lines[1].startswith("convert: 2 of 4, 2.00 KiB of 4.00 KiB, 1 skipped, ")
    assert " items/s, " in lines[1]
    assert lines[1].endswith(" left, 2 under way, memory 1.00 MiB")
    assert lines[2] == "convert: failed: a: bad"


def test_live_display_on_a_terminal(folder: Path) -> None:
    Path("run.2.et").write_bytes(b"\xff")
    mine, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "160"}
    process = subprocess.Popen(
        [sys.executable, "-m", "chakra_core", "batch", "stats", "run.%d.et"],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(mine, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(mine)
    assert process.wait() == 1
    assert b"\x1b[" in shown
    assert b"of 4" in shown
    assert b"failed: run.2.et: " in shown
