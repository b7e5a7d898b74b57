# SPDX-License-Identifier: MIT
"""The command `timeline`: recorded times as a picture."""

from __future__ import annotations

import typer

from chakra_core.cli.loading import load_named
from chakra_core.cli.parameters import JsonOption, OnErrorOption, OutputOption, TracePaths
from chakra_core.cli.printing import format_bytes, print_json
from chakra_core.cli.progress import watch
from chakra_core.recorded_timeline import timeline as write


def timeline(
    traces: TracePaths,
    output: OutputOption,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Write the recorded times of traces as a timeline that opens in Perfetto (ui.perfetto.dev).

    A name that ends in .json or .json.gz gives Chrome JSON, any other Perfetto's protobuf; .gz compresses.
    For simulated times use simulate --timeline.
    """
    loaded = load_named(traces, on_error=on_error)
    watch(f"writing {output.name}", lambda progress: write(loaded, output, progress=progress))
    size = output.stat().st_size
    if json:
        print_json({"path": str(output), "ranks": len(loaded), "file_bytes": size})
    else:
        typer.echo(f"{output}: {len(loaded)} ranks, {format_bytes(size)}; open it at https://ui.perfetto.dev")
