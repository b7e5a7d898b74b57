"""Batches of conversions: two threads beside one, the engine beside a plain loop, and the memory budget beside none."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from measure import Ratio, compare, wall_seconds
from tile_pair import tile

import chakra_core as cc

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sample"


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on copies of the sample, made longer, and on tiny traces."""
    conversions = 8 if smoke else 64
    return [
        two_threads(folder / "pairs", conversions, 2_000 if smoke else 10_000),
        *cluster(folder / "pairs", conversions),
        engine(folder / "tiny", 50 if smoke else 2_000),
        skipping(folder / "tiny"),
        budget(folder / "large", 4 if smoke else 12, 5_000 if smoke else 400_000),
    ]


def two_threads(folder: Path, conversions: int, events: int) -> Ratio:
    """Convert pairs of host and device traces, in two threads and in one."""
    (folder / "rank0").mkdir(parents=True)
    host, device = tile(SAMPLE / "rank0.host.json.gz", SAMPLE / "rank0.kineto.json.gz", events, folder / "rank0")
    for rank in range(1, conversions):
        (folder / f"rank{rank}").mkdir()
        for path in (host, device):
            (folder / f"rank{rank}" / path.name).hardlink_to(path)

    def convert(threads: int) -> None:
        report = cc.batch.convert(folder, folder / "out" / "{folder}.et", threads=threads, resume=False)
        if not report.ok or len(report.records) != conversions:
            raise RuntimeError(str(report))

    begin = time.process_time()
    seconds = wall_seconds(lambda: convert(2))
    cores = (time.process_time() - begin) / seconds
    return compare(
        f"{conversions} conversions in two threads",
        lambda: convert(2),
        "one thread",
        lambda: convert(1),
        repeats=2,
        clock=wall_seconds,
        note=f"{seconds:.1f} s; two threads got {cores:.2f} of {len(os.sched_getaffinity(0))} cores",
    )


def cluster(folder: Path, conversions: int) -> list[Ratio]:
    """Convert the same pairs on a Dask cluster of two workers; nothing where Dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        return []
    import distributed

    def convert(where: distributed.Client | None) -> None:
        output = folder / "out" / "{folder}.et"
        report = cc.batch.convert(folder, output, threads=2, cluster=where, resume=False)
        if not report.ok or len(report.records) != conversions:
            raise RuntimeError(str(report))

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as workers, distributed.Client(workers) as client:
        convert(client)  # so that workers have imported what they need
        task = f"{conversions} conversions on two Dask workers"
        threads, dask = (min(wall_seconds(partial(convert, where)) for _ in range(2)) for where in (None, client))
    return [Ratio(task, "two threads", threads / dask, f"{dask / threads:.2f} times as long")]


def engine(folder: Path, files: int) -> Ratio:
    """Write tiny traces in another form, in a batch with one thread and in a loop."""
    (folder / "in").mkdir(parents=True)
    builder = cc.TraceBuilder()
    builder.add_node(id=1, duration_ns=1000)
    for rank in range(files):
        cc.save(builder.build(), folder / "in" / f"run.{rank}.et")

    def batch() -> None:
        cc.batch.convert(folder / "in", folder / "out" / "{rank}.et", threads=1, resume=False)

    def loop() -> None:
        (folder / "loop").mkdir(exist_ok=True)
        for rank in range(files):
            cc.save(cc.load(folder / "in" / f"run.{rank}.et"), folder / "loop" / f"{rank}.et")

    ours = min(wall_seconds(batch) for _ in range(3))
    plain = min(wall_seconds(loop) for _ in range(3))
    overhead = 1e3 * (ours - plain) / files
    return Ratio(f"{files:,} tiny files in a batch", "a loop", plain / ours, f"{overhead:.2f} ms more a file")


def skipping(folder: Path) -> Ratio:
    """Run a batch again that is done."""
    inputs, output = folder / "in", folder / "out" / "{rank}.et"
    begun = time.time()
    files = len(cc.batch.convert(inputs, output, threads=1, resume=False).records)
    time.sleep(max(0.0, 2.5 - (time.time() - begun)))  # so that times of files say enough
    return compare(
        f"{files:,} tiny files that are done already",
        lambda: cc.batch.convert(inputs, output, threads=1),
        "all again",
        lambda: cc.batch.convert(inputs, output, threads=1, resume=False),
        repeats=2,
        clock=wall_seconds,
    )


def budget(folder: Path, files: int, nodes: int) -> Ratio:
    """Peak memory of eight threads without a limit, and with one of a third."""
    (folder / "in").mkdir(parents=True)
    builder = cc.TraceBuilder()
    for number in range(nodes):
        attrs = {"comm_size": number}
        builder.add_node(id=number, name="kernel", data_deps=[number - 1] if number else [], attrs=attrs)
    cc.save(builder.build(), folder / "in" / "run.0.et.gz")
    for rank in range(1, files):
        shutil.copy(folder / "in" / "run.0.et.gz", folder / "in" / f"run.{rank}.et.gz")
    free = _peak(folder, "64GiB")
    limit = free // 3
    kept = _peak(folder, str(limit))
    note = f"{free / 1e6:.0f} MB without, limit {limit / 1e6:.0f} MB, {kept / 1e6:.0f} MB with"
    return Ratio(f"peak memory of {files} files, eight threads", "no limit", free / kept, note)


def _peak(folder: Path, limit: str) -> int:
    """Peak of the memory that is no file's, of a process of its own."""
    code = (
        "import sys, chakra_core as cc;"
        "report = cc.batch.convert(sys.argv[1] + '/in', sys.argv[1] + '/out/{rank}.et', threads=8, resume=False,"
        " max_memory=sys.argv[2]); assert report.ok, report; print(report.peak_memory_bytes)"
    )
    command = [sys.executable, "-c", code, str(folder), limit]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
