"""Loading and writing a typical trace, against Python protobuf over the same records."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path

from measure import Ratio, compare
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


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on one file of a million nodes, or of ten thousand."""
    path = folder / "typical.et"
    nodes = 10_000 if smoke else 1_000_000
    write_typical(path, nodes)
    records = frames(path)

    trace = cc.load(path)
    size = f"{nodes:,} nodes, {path.stat().st_size / nodes:.0f} B each, {trace.memory_bytes / nodes:.0f} B/node kept"
    copy = folder / "copy.et"
    return [
        compare(
            "load, all columns",
            lambda: cc.load(path),
            "Node.ParseFromString, nothing kept",
            lambda: parse_all(records),
            note=size,
        ),
        compare(
            "write the loaded trace",
            lambda: cc.save(trace, copy),
            "SerializeToString of parsed nodes",
            serialiser(records),
        ),
    ]


def serialiser(records: list[memoryview]) -> Callable[[], None]:
    """Return a loop that serialises a thousandth of the messages a thousand times: all would not fit into memory."""
    sample = [proto.Node.FromString(bytes(record)) for record in records[: max(1, len(records) // 1000)]]

    def serialise() -> None:
        for _ in range(len(records) // len(sample)):
            for message in sample:
                message.SerializeToString()

    return serialise
