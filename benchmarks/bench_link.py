"""Linking and converting a PyTorch pair, from files to an ET, against merely parsing the JSON of the same files."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

from measure import Ratio, compare

import chakra_core as cc

PROJECT = Path(__file__).resolve().parent.parent
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
    return [compare_pair(folder, name, *paths) for name, paths in pairs.items()]


def compare_pair(folder: Path, name: str, host: Path, device: Path) -> Ratio:
    """Ratio for one pair, from plain JSON files."""
    plain = []
    for path in (host, device):
        plain.append(folder / f"{name}.{path.name.removesuffix('.gz')}")
        plain[-1].write_bytes(gzip.decompress(path.read_bytes()))

    def ours() -> None:
        cc.save(cc.convert(host=plain[0], device=plain[1], on_error="recover"), folder / f"{name}.et")

    def parse() -> None:
        for path in plain:
            json.loads(path.read_bytes())

    ours()
    size = sum(path.stat().st_size for path in plain) / 1e6
    note = f"{len(cc.load(folder / f'{name}.et')):,} nodes, {size:.1f} MB of JSON"
    return compare(f"link + convert + write: {name}", ours, "json.loads of both files", parse, note=note)
