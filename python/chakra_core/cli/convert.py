# SPDX-License-Identifier: MIT
"""The command `convert`: PyTorch records to execution traces, and execution traces from one form to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from chakra_core._core import ConfigError, Trace
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
from chakra_core.rank_traces import files_by_rank
from chakra_core.trace_source import load_source


def convert(
    output: OutputOption,
    traces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TRACES]", show_default=False, help="Execution traces to write in another form (.et, .json, .gz)."
        ),
    ] = None,
    host: HostOption = None,
    device: DeviceOption = None,
    rank: RankOption = None,
    layout: Annotated[
        Layout, typer.Option("--layout", help="exact replays to the recorded times; ops has one node an operator.")
    ] = "exact",
    level: Annotated[
        int | None, typer.Option("--level", show_default=False, help="Of gzip (1 to 9) or zstd (1 to 19).")
    ] = None,
    schema_version: Annotated[
        str | None, typer.Option("--schema-version", show_default=False, help="To be said in the metadata.")
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Turn PyTorch traces into execution traces, or execution traces into another form.

    The name of the output says which form: .et or .json, each also with .gz or .zst.
    """
    options = SaveOptions(level, schema_version)
    if traces:
        if host is not None or device is not None or rank is not None:
            raise ConfigError("give either execution traces or PyTorch's --host and --device")
        written = _convert_traces(traces, output, options, on_error)
    else:
        pairs = trace_pairs(host, device, rank)
        _check_output(output, len(pairs))
        written = [_convert_pair(pair, output, layout, options, on_error) for pair in pairs]
    if json:
        print_json(written)
        return
    for one in written:
        typer.echo(f"{one['path']}: {format_count(one['nodes'])} nodes, {format_bytes(one['file_bytes'])}")
        for advice in one.get("link", {}).get("advice", ()):
            typer.echo(f"  advice: {advice}")


class SaveOptions(NamedTuple):
    """How a trace is written."""

    level: int | None
    schema_version: str | None


def _check_output(output: Path, count: int) -> None:
    if count > 1 and "%d" not in str(output):
        raise ConfigError(f"--output {output}: {count} ranks need a name with %d for the rank, e.g. out.%d.et")


def _convert_traces(
    traces: list[str], output: Path, options: SaveOptions, on_error: OnErrorOption
) -> list[dict[str, Any]]:
    files = files_by_rank(traces)
    _check_output(output, len(files))
    written = []
    for rank, file in files.items():
        trace = _load(file, on_error)
        written.append({**_write(trace, output, rank, options), "source": str(file)})
        for kind, number in trace.load_report.counts.items():
            typer.echo(f"{file}: {format_count(number)} {kind.replace('_', ' ')}", err=True)
    return written


def _load(path: Path, on_error: OnErrorOption) -> Trace:
    return watch(f"reading {path.name}", lambda progress: load_source(path, on_error=on_error, progress=progress))


def _write(trace: Trace, output: Path, rank: int, options: SaveOptions) -> dict[str, Any]:
    path = Path(str(output).replace("%d", str(rank)))
    watch(f"writing {path.name}", lambda progress: save(trace, path, progress=progress, **options._asdict()))
    return {"path": str(path), "rank": rank, "nodes": len(trace), "file_bytes": path.stat().st_size}


def _convert_pair(
    pair: TracePair, output: Path, layout: Layout, options: SaveOptions, on_error: OnErrorOption
) -> dict[str, Any]:
    linked = link_pair(pair, on_error)
    rank = pair.rank if pair.rank is not None else linked.rank
    trace = watch(f"converting rank {rank or 0}", lambda _: convert_linked(linked, layout=layout))
    return {**_write(trace, output, rank or 0, options), "rank": rank, "link": describe(linked)}
