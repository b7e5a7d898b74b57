# SPDX-License-Identifier: MIT
"""The command `convert`: PyTorch records to execution traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chakra_core._core import ConfigError
from chakra_core.cli.link import describe, link_pair
from chakra_core.cli.pairs import TracePair, trace_pairs
from chakra_core.cli.parameters import (
    DeviceOption,
    HostOption,
    JsonOption,
    OnErrorOption,
    OutputOption,
    RankOption,
)
from chakra_core.cli.printing import format_bytes, format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.io import save
from chakra_core.pytorch import Layout
from chakra_core.pytorch import convert as convert_linked


def convert(
    output: OutputOption,
    host: HostOption = None,
    device: DeviceOption = None,
    rank: RankOption = None,
    layout: Annotated[
        Layout, typer.Option("--layout", help="exact replays to the recorded times; ops has one node an operator.")
    ] = "exact",
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Turn PyTorch host and device traces into execution traces (.et, or .et.gz)."""
    pairs = trace_pairs(host, device, rank)
    if len(pairs) > 1 and "%d" not in str(output):
        raise ConfigError(f"--output {output}: {len(pairs)} ranks need a name with %d for the rank, e.g. out.%d.et")
    written = [_convert_pair(pair, output, layout, on_error) for pair in pairs]
    if json:
        print_json(written)
        return
    for one in written:
        typer.echo(f"{one['path']}: {format_count(one['nodes'])} nodes, {format_bytes(one['file_bytes'])}")
        for advice in one["link"]["advice"]:
            typer.echo(f"  advice: {advice}")


def _convert_pair(pair: TracePair, output: Path, layout: Layout, on_error: OnErrorOption) -> dict[str, Any]:
    linked = link_pair(pair, on_error)
    rank = pair.rank if pair.rank is not None else linked.rank
    path = Path(str(output).replace("%d", str(rank or 0)))
    trace = watch(f"converting to {path.name}", lambda _: convert_linked(linked, layout=layout))
    watch(f"writing {path.name}", lambda progress: save(trace, path, progress=progress))
    return {
        "path": str(path),
        "rank": rank,
        "nodes": len(trace),
        "file_bytes": path.stat().st_size,
        "link": describe(linked),
    }
