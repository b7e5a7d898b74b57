# SPDX-License-Identifier: MIT
"""The command `timeline`: recorded times as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chakra_core.astra_log import AstraLog, is_astra_log, read_astra_log
from chakra_core.cli.loading import load_named
from chakra_core.cli.parameters import JsonOption, OnErrorOption, OutputOption, TracePaths
from chakra_core.cli.printing import format_bytes, format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.recorded_timeline import timeline as write


def timeline(
    traces: TracePaths,
    output: OutputOption,
    frequency: Annotated[
        float, typer.Option("--frequency", min=0.0, help="Ticks of a log in a ns (GHz); in ASTRA-sim a tick is a ns.")
    ] = 1.0,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Write the recorded times of traces as a timeline that opens in Perfetto (ui.perfetto.dev).

    A name that ends in .json or .json.gz gives Chrome JSON, any other Perfetto's protobuf; .gz compresses.
    TRACES may also be a log of ASTRA-sim with lines of issues and callbacks.
    For simulated times use simulate --timeline.
    """
    if len(traces) == 1 and Path(traces[0]).is_file() and is_astra_log(traces[0]):
        log = watch("reading the log", lambda _: read_astra_log(traces[0], frequency_ghz=frequency))
        _warn(traces[0], log)
        loaded = log.traces
    else:
        loaded = load_named(traces, on_error=on_error)
    watch(f"writing {output.name}", lambda progress: write(loaded, output, progress=progress))
    size = output.stat().st_size
    if json:
        print_json({"path": str(output), "ranks": len(loaded), "file_bytes": size})
    else:
        typer.echo(f"{output}: {len(loaded)} ranks, {format_bytes(size)}; open it at https://ui.perfetto.dev")


def _warn(path: str, log: AstraLog) -> None:
    for number, what in ((log.unfinished, "issues without a callback"), (log.unissued, "callbacks without an issue")):
        if number:
            typer.echo(f"{path}: {format_count(number)} {what} left out", err=True)
