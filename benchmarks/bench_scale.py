"""Loading at ten times the size, and in other orders of the file: what must not cost more a node."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from bench_load import frames, read_back
from measure import Ratio, compare
from typical_trace import varint, write_typical

import chakra_core as cc


def write_small(path: Path, nodes: int) -> None:
    """Write nodes of about 40 bytes: an id, a type, a name, a parent, a duration, one attribute."""
    ids = np.arange(nodes, dtype=np.uint64)
    builder = cc.TraceBuilder()
    builder.add_nodes(
        ids=ids,
        names=["op"] * nodes,
        data_deps=(np.maximum(np.arange(nodes + 1) - 1, 0), np.maximum(ids, 1)[1:] - 1),
        duration_ns=ids % 1000 * 1000,
        attrs={"num_ops": ids % 100},
    )
    cc.save(builder.build(), path)
    read_back(path)


def write_in_order(path: Path, records: Iterable[memoryview]) -> None:
    """Write the records behind a metadata record."""
    with path.open("wb", buffering=1 << 20) as file:
        file.write(b"\x07\x0a\x050.0.4")
        for record in records:
            file.write(varint(len(record)) + record)
    read_back(path)


def moved(records: list[memoryview], share: float) -> list[memoryview]:
    """Move a share of the records up to 1,000 places towards the end, behind nodes that depend on them."""
    random_ = random.Random(0)
    keys = [i + random_.randrange(1000) if random_.random() < share else i for i in range(len(records))]
    return [records[i] for i in sorted(range(len(records)), key=keys.__getitem__)]


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Ratios of the time a node: 1 is as fast as the other."""
    base = 10_000 if smoke else 1_000_000
    small, large = folder / "small.et", folder / "large.et"
    write_small(small, base)
    write_small(large, 10 * base)

    def load_small_ten_times() -> None:
        for _ in range(10):
            cc.load(small)

    bytes_a_node = f"{large.stat().st_size / base / 10:.0f} B a node"
    results = [
        compare(
            f"load {10 * base:,} small nodes",
            lambda: cc.load(large),
            f"{base:,} of them, ten times",
            load_small_ten_times,
            note=bytes_a_node,
        )
    ]
    large.unlink()
    straight = folder / "straight.et"
    write_typical(straight, base)
    read_back(straight)
    records = frames(straight)
    for name, order in (("in reverse", records[::-1]), ("1% of the nodes behind their children", moved(records, 0.01))):
        path = folder / "order.et"
        write_in_order(path, order)
        results.append(
            compare(
                f"load typical nodes {name}",
                lambda path=path: cc.load(path),
                "the same in order",
                lambda: cc.load(straight),
                repeats=5,
            )
        )
    return results
