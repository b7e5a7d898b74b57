# SPDX-License-Identifier: MIT
"""A batch that is begun again does what is not done, whatever happened in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from batch_files import chain
from chakra_core.batch.engine import BatchReport, Silent, available_cores
from chakra_core.batch.task import _RACY_NS


def convert(**options: Any) -> BatchReport:
    return cc.batch.convert("in/run.%d.et", "out/{rank}.json.gz", **options)


def age(*paths: Path) -> None:
    """Make files look as if they were written long ago."""
    for path in paths:
        then = time.time_ns() - 100 * _RACY_NS
        os.utime(path, ns=(then, then))


@pytest.fixture(params=[False, True], ids=["just written", "old"])
def done(run_folder: Path, request: pytest.FixtureRequest) -> Path:
    if request.param:
        age(*(run_folder / "in").iterdir())
    assert convert().counts == {"done": 8, "skipped": 0, "failed": 0}
    return run_folder


def test_nothing_changed(done: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path("out").glob("*.json.gz")}
    report = convert()
    assert report.counts == {"done": 0, "skipped": 8, "failed": 0}
    assert {path: path.stat().st_mtime_ns for path in Path("out").glob("*.json.gz")} == before
    # What an earlier run found is told again.
    assert [record["facts"]["nodes"] for record in report.records] == [10 + rank for rank in range(8)]
    assert convert().counts["skipped"] == 8
    assert convert(resume=False).counts["done"] == 8


def test_other_content_and_other_size(done: Path) -> None:
    cc.save(chain(50), "in/run.2.et")
    # The same size, and even the same time: only the bytes tell.
    path = Path("in/run.5.et")
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"kernel", b"Kernel"))
    assert path.stat().st_size == status.st_size
    report = convert()
    assert [record["rank"] for record in report.records if record["status"] == "done"] == [2, 5]
    assert cc.load("out/5.json.gz").names[0] == "Kernel 0"


def test_touched(done: Path) -> None:
    age(Path("in/run.1.et"))
    assert convert().counts["skipped"] == 8
    # The new time is noted, so that the next run need not read the file again.
    lines = [json.loads(line) for line in Path("out/batch-report.jsonl").read_text().splitlines()]
    noted = next(line for line in lines if line.get("rank") == 1)["inputs"]["trace"]["version"]
    assert noted == Path("in/run.1.et").stat().st_mtime_ns


def test_other_options_or_version(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert convert(level=9).counts["done"] == 8
    assert convert(level=9).counts["skipped"] == 8
    monkeypatch.setattr("chakra_core.batch.task.__version__", "9.9.9")
    assert convert(level=9).counts["done"] == 8


def test_output_that_is_not_as_it_was_left(done: Path) -> None:
    Path("out/0.json.gz").unlink()
    Path("out/1.json.gz").write_bytes(Path("out/1.json.gz").read_bytes()[:-1])
    report = convert()
    assert [record["rank"] for record in report.records if record["status"] == "done"] == [0, 1]
    assert len(cc.load("out/1.json.gz")) == 11


def test_failures_are_tried_again(run_folder: Path) -> None:
    whole = Path("in/run.4.et").read_bytes()
    Path("in/run.4.et").write_bytes(whole[:-1])
    report = convert()
    assert not report.ok
    assert str(report).splitlines()[1].startswith("failed: in/run.4.et: ")
    assert not Path("out/4.json.gz").exists()
    assert convert().counts == {"done": 0, "skipped": 7, "failed": 1}
    Path("in/run.4.et").write_bytes(whole)
    assert convert().counts == {"done": 1, "skipped": 7, "failed": 0}


def test_more_items_and_fewer(done: Path) -> None:
    cc.save(chain(3), "in/run.8.et")
    assert convert().counts == {"done": 1, "skipped": 8, "failed": 0}
    assert cc.batch.convert("in/run.3.et", "out/{rank}.json.gz").counts["skipped"] == 1
    assert convert().counts["skipped"] == 9


def test_report_that_is_cut(done: Path) -> None:
    path = Path("out/batch-report.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][: len(lines[3]) // 2])
    report = convert()
    assert report.counts == {"done": 5, "skipped": 3, "failed": 0}
    assert report.unreadable_lines == 1
    path.write_bytes(b"\x00\xff no report at all")
    assert convert().counts["done"] == 8


def test_two_operations_share_a_report(done: Path) -> None:
    options: dict[str, Any] = {"report": "out/batch-report.jsonl"}
    assert cc.batch.validate("in", **options).counts["done"] == 8
    assert convert().counts["skipped"] == 8
    assert cc.batch.validate("in", **options).counts["skipped"] == 8


KILLED = """
import sys
import chakra_core as cc
print("begins", flush=True)
cc.batch.convert("in/run.*.et", "out/{rank}.json.gz", threads=2, level=9)
"""


@pytest.mark.parametrize("outputs", [0, 1, 7, 15])
def test_killed_at_any_moment(folder: Path, outputs: int) -> None:
    (folder / "in").mkdir()
    for rank in range(40):
        cc.save(chain(4000 + rank), folder / "in" / f"run.{rank}.et")
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        while len(list(folder.glob("out/*.json.gz"))) < outputs and process.poll() is None:
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    complete = {path.name: path.read_bytes() for path in folder.glob("out/*.json.gz")}
    assert outputs <= len(complete) <= 40
    for name, content in complete.items():
        assert len(cc.load(content)) == 4000 + int(name.split(".")[0])
    report = cc.batch.convert("in/run.*.et", "out/{rank}.json.gz", threads=2, level=9)
    counts = report.counts
    assert counts["failed"] == 0
    assert counts["done"] + counts["skipped"] == 40
    # What was done but for its line in the report, at most one a thread, is done again.
    assert len(complete) - 2 <= counts["skipped"] <= len(complete)
    for rank in range(40):
        assert len(cc.load(f"out/{rank}.json.gz")) == 4000 + rank
    assert {name: Path("out", name).read_bytes() for name in complete} == complete
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(
        [*(f"{rank}.json.gz" for rank in range(40)), "batch-report.jsonl"]
    )


@pytest.mark.usefixtures("heeds_interrupts")
def test_interrupted(folder: Path) -> None:
    (folder / "in").mkdir()
    for rank in range(40):
        cc.save(chain(4000 + rank), folder / "in" / f"run.{rank}.et")
    command = [
        sys.executable,
        "-m",
        "chakra_core",
        "batch",
        "convert",
        "in",
        "-o",
        "out/{rank}.json.gz",
        "--level",
        "9",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while len(list(folder.glob("out/*.json.gz"))) < 3:
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert not list(folder.glob("out/*.tmp-*"))
    complete = len(list(folder.glob("out/*.json.gz")))
    assert complete < 40
    report = cc.batch.convert("in", "out/{rank}.json.gz", level=9)
    assert report.counts["failed"] == 0
    assert complete - available_cores() <= report.counts["skipped"] <= complete


@pytest.mark.parametrize(("memory", "most"), [(1, 1), ("1 TiB", 4)])
def test_memory_decides_how_many_are_under_way(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch, memory: int | str, most: int
) -> None:
    """With no room at all one at a time; with room for all as many as there are threads."""
    from chakra_core.batch import operations

    meeting = threading.Barrier(most)

    def save_together(trace: cc.Trace, path: Path, **options: Any) -> None:
        meeting.wait(timeout=30)
        cc.save(trace, path, **options)

    class Watching(Silent):
        seen = 0

        def looked(self, in_flight: int, memory_bytes: int) -> None:
            self.seen = max(self.seen, in_flight)

    monkeypatch.setattr(operations, "save", save_together)
    observer = Watching()
    assert convert(threads=4, max_memory=memory, observer=observer).counts["done"] == 8
    assert observer.seen <= most


def test_input_that_changes_while_it_is_read(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chakra_core.batch import operations

    def save_late(trace: cc.Trace, path: Path, **options: Any) -> None:
        cc.save(trace, path, **options)
        if path.name.startswith("3."):
            cc.save(chain(99), "in/run.3.et")

    monkeypatch.setattr(operations, "save", save_late)
    report = convert()
    assert [record["rank"] for record in report.failures] == [3]
    assert "changed while it was read" in report.failures[0]["error"]["message"]


def test_unforeseen_error_fails_one_item(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chakra_core.batch import operations

    def save_or_fail(trace: cc.Trace, path: Path, **options: Any) -> None:
        if path.name.startswith("6."):
            raise MemoryError
        cc.save(trace, path, **options)

    monkeypatch.setattr(operations, "save", save_or_fail)
    report = convert()
    assert report.counts == {"done": 7, "skipped": 0, "failed": 1}
    assert report.failures[0]["error"] == {"type": "MemoryError", "message": "MemoryError"}
