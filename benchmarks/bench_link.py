"""Linking and converting a PyTorch pair, from files to an ET, against merely parsing the JSON of the same files."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

from measure import Ratio, compare, cpu_seconds, wall_seconds
from tile_pair import tile

import chakra_core as cc

PROJECT = Path(__file__).resolve().parent.parent
# Of the device trace. Elapsed time is compared here, since host and device trace are read at the same time.
TILED_EVENTS = (100_000, 1_000_000)
SHARED = Path(os.environ.get("CHAKRA_CORE_SHARED", PROJECT.parent / "shared"))


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on the sample, and on the larger real pairs where they are there."""
    pairs = {
        "sample": (PROJECT / "examples/sample/rank0.host.json.gz", PROJECT / "examples/sample/rank0.kineto.json.gz")
    }
    for name in () if smoke else ("resnet_1gpu_1.0.3", "derived_ns_resolution", "resnet_1.1.0"):
        if (SHARED / "data/pairs" / name).is_dir():
            pairs[name] = (
                SHARED / "data/pairs" / name / "host.json.gz",
                SHARED / "data/pairs" / name / "kineto.json.gz",
            )
    ratios = [compare_pair(folder, name, unpack(folder, name, paths)) for name, paths in pairs.items()]
    if "resnet_1gpu_1.0.3" in pairs:
        ratios += [compare_tiled(folder, pairs["resnet_1gpu_1.0.3"], size) for size in TILED_EVENTS]
    return ratios


def unpack(folder: Path, name: str, paths: tuple[Path, Path]) -> list[Path]:
    """Write the files as plain JSON."""
    plain = []
    for path in paths:
        plain.append(folder / f"{name}.{path.name.removesuffix('.gz')}")
        plain[-1].write_bytes(gzip.decompress(path.read_bytes()))
    return plain


def compare_tiled(folder: Path, paths: tuple[Path, Path], num_events: int) -> Ratio:
    """Ratio of elapsed times for a pair that is repeated until it has so many events."""
    place = folder / str(num_events)
    place.mkdir()
    plain = list(tile(*paths, num_events, place))
    ratio = compare_pair(place, f"{num_events:,} events", plain, clock=wall_seconds)
    for path in place.iterdir():
        path.unlink()
    return ratio


def compare_pair(
    folder: Path, name: str, plain: list[Path], clock: Callable[[Callable[[], object]], float] = cpu_seconds
) -> Ratio:
    """Ratio for one pair of plain JSON files."""

    def ours() -> None:
        cc.save(cc.convert(host=plain[0], device=plain[1], on_error="recover"), folder / f"{name}.et")

    def parse() -> None:
        for path in plain:
            json.loads(path.read_bytes())

    ours()
    size = sum(path.stat().st_size for path in plain) / 1e6
    note = f"{len(cc.load(folder / f'{name}.et')):,} nodes, {size:.1f} MB of JSON"
    return compare(f"link + convert + write: {name}", ours, "json.loads of both files", parse, clock=clock, note=note)
