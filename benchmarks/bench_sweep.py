"""Sweeps: one load for all configurations, in two threads, beside a loop that simulates files one after another."""

from __future__ import annotations

import itertools
from pathlib import Path

from measure import Ratio, compare, wall_seconds

import chakra_core as cc


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on eight ranks of about a hundred nodes."""
    for rank in range(8):
        cc.save(layers(), folder / f"run.{rank}.et")
    bandwidths = list(range(25, 25 + (5 if smoke else 25)))
    splits = [1, 2] if smoke else [1, 2, 4, 8]
    grid = {"network.bandwidth[0]": bandwidths, "system.preferred-dataset-splits": splits, "congestion": [False, True]}
    network = {"topology": ["Ring"], "npus": [8], "bandwidth": [50], "latency": [500]}
    files = f"{folder}/run.%d.et"

    def loop() -> list[int]:
        return [
            cc.simulate(
                files,
                network={**network, "bandwidth": [bandwidth]},
                system={"preferred-dataset-splits": split},
                congestion=congestion,
                record_nodes=False,
            ).total_ns
            for bandwidth, split, congestion in itertools.product(*grid.values())
        ]

    def sweep() -> list[int]:
        return cc.sweep(files, grid, network=network)["total_ns"].tolist()

    if sweep() != loop():
        raise RuntimeError("the two disagree")
    number = len(loop())
    each = 1e3 * wall_seconds(sweep) / number
    task = f"{number} configurations of 8 ranks"
    return [compare(task, sweep, "a loop over files", loop, repeats=2, clock=wall_seconds, note=f"{each:.1f} ms each")]


def layers() -> cc.Trace:
    """Make computations with a collective after every other one."""
    builder = cc.TraceBuilder()
    for number in range(96):
        after = [number - 1] if number else []
        if number % 3 == 2:
            attrs = {"comm_type": number % 2, "comm_size": 1 << 22}
            builder.add_node(id=number, type="COMM_COLL_NODE", data_deps=after, attrs=attrs)
        else:
            builder.add_node(id=number, name="mm", data_deps=after, duration_ns=50_000)
    return builder.build()
