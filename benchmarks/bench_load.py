"""Loading and writing a typical trace, against Python protobuf over the same records."""

from __future__ import annotations

import mmap
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from measure import Ratio, compare, cpu_seconds, wall_seconds
from typical_trace import write_typical

import chakra_core as cc
from chakra_core import proto


def frames(path: Path) -> list[memoryview]:
    """Node records of a file, so that a rival's loop need not do the framing."""
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    found = []
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        found.append(data[at : at + size])
        at += size
    return found[1:]


def parse_all(records: list[memoryview]) -> None:
    """Parse every record with Python protobuf and keep nothing."""
    for record in records:
        proto.Node().ParseFromString(bytes(record))


def read_back(path: Path) -> None:
    """Have the file in the page cache as reading from a disk leaves it there, not as writing does."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with path.open("rb") as file:
        while file.read(1 << 22):
            pass


def anonymous_bytes() -> int:
    """Resident memory of this process that no file backs."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no RssAnon")


def memory_of_load(path: Path) -> tuple[int, int]:
    """Anonymous memory that a loaded trace takes, and the most that there was while it was loaded."""
    before = anonymous_bytes()
    peak = before
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, anonymous_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    trace = cc.load(path)
    done.set()
    watcher.join()
    after = anonymous_bytes()
    assert len(trace) > 0
    return after - before, max(peak, after) - before


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on one file of a million nodes, or of ten thousand."""
    path = folder / "typical.et"
    nodes = 10_000 if smoke else 1_000_000
    write_typical(path, nodes)
    read_back(path)
    kept, peak = memory_of_load(path)
    records = frames(path)
    size = path.stat().st_size

    trace = cc.load(path)
    built = rebuilt(trace)
    copy = folder / "copy.et"
    note = f"{nodes:,} nodes, {size / nodes:.0f} B each; {kept / nodes:.0f} B/node kept, {peak / nodes:.0f} at the peak"

    def save_anew(source: cc.Trace) -> None:
        copy.unlink(missing_ok=True)  # replacing a file makes some file systems flush it first
        cc.save(source, copy)

    def copy_anew() -> None:
        copy.unlink(missing_ok=True)
        shutil.copyfile(path, copy)

    def rate(write: Callable[[], object], written: int) -> str:
        return f"{written / min(wall_seconds(write) for _ in range(3)) / 1e9:.1f} GB/s"

    results = [
        compare(
            f"load, all columns, {threads} thread{'s' if threads > 1 else ''}",
            lambda threads=threads: cc.load(path, threads=threads),
            "Node.ParseFromString, nothing kept",
            lambda: parse_all(records),
            clock=cpu_seconds if threads == 1 else wall_seconds,
            note=note,
            repeats=5,
        )
        for threads in (1, 2)
    ]
    for task, source in (("write the loaded trace", trace), ("write from columns", built)):
        cc.save(source, copy)
        results.append(
            compare(
                task,
                lambda source=source: save_anew(source),
                "SerializeToString of parsed nodes",
                serialiser(records),
                note=rate(lambda source=source: save_anew(source), copy.stat().st_size)
                + f", shutil.copyfile {rate(copy_anew, size)}",
            )
        )
    return results


def rebuilt(trace: cc.Trace) -> cc.Trace:
    """Return the trace as a builder makes it: all that the writer has of it are columns."""
    builder = cc.TraceBuilder()
    offsets, parents = trace.data_deps.offsets, trace.ids[trace.data_deps.indices]
    builder.add_nodes(
        ids=trace.ids,
        names=list(trace.names),
        types=trace.types,
        start_ns=trace.start_ns,
        duration_ns=trace.duration_ns,
        data_deps=(offsets, parents),
        attrs={name: trace.attr(name) for name in ("is_cpu_op", "tid", "comm_type", "comm_size", "stream")},
    )
    return builder.build()


def serialiser(records: list[memoryview]) -> Callable[[], None]:
    """Return a loop that serialises a thousandth of the messages a thousand times: all would not fit into memory."""
    sample = [proto.Node.FromString(bytes(record)) for record in records[: max(1, len(records) // 1000)]]

    def serialise() -> None:
        for _ in range(len(records) // len(sample)):
            for message in sample:
                message.SerializeToString()

    return serialise
