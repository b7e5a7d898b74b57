# SPDX-License-Identifier: MIT
"""The command `simplify`: a smaller trace with the same order of what is left."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from chakra_core._core import ChakraError
from chakra_core.cli.parameters import JsonOption, OnErrorOption, OutputOption
from chakra_core.cli.printing import format_bytes, format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.cli.selecting import split_list
from chakra_core.io import load, save
from chakra_core.simplification import simplify as simplify_trace


def simplify(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", show_default=False, help="Trace file.")],
    output: OutputOption,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", show_default=False, help="Names to leave out, separated by commas; * and ? match any."),
    ] = None,
    drop_views: Annotated[
        bool, typer.Option("--drop-views", help="Leave out operators that only give another view of a tensor.")
    ] = False,
    collapse_cpu: Annotated[
        bool, typer.Option("--collapse-cpu", help="Of CPU nodes keep those that launch or await device work.")
    ] = False,
    device_only: Annotated[
        bool, typer.Option("--device-only", help="Keep device work and communication only.")
    ] = False,
    steps: Annotated[
        str | None, typer.Option("--steps", show_default=False, help="ProfilerSteps to keep: 7, or 5-9.")
    ] = None,
    start: Annotated[
        int | None, typer.Option("--start", min=0, show_default=False, help="Keep what begins at or after this ns.")
    ] = None,
    end: Annotated[
        int | None, typer.Option("--end", min=0, show_default=False, help="Keep what begins before this ns.")
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Leave out nodes so that whoever waited for them waits for what they waited for."""
    loaded = watch(f"reading {trace.name}", lambda progress: load(trace, on_error=on_error, progress=progress))
    window = None if start is None and end is None else (start or 0, 1 << 63 if end is None else end)
    small = simplify_trace(
        loaded,
        drop=split_list(drop),
        drop_views=drop_views,
        collapse_cpu=collapse_cpu,
        device_only=device_only,
        steps=None if steps is None else parse_steps(steps),
        window=window,
    )
    watch(f"writing {output.name}", lambda progress: save(small, output, progress=progress))
    size = output.stat().st_size
    if json:
        facts = {"path": str(output), "nodes": len(small), "nodes_left_out": len(loaded) - len(small)}
        print_json({**facts, "file_bytes": size})
        return
    typer.echo(f"{output}: {format_count(len(small))} of {format_count(len(loaded))} nodes, {format_bytes(size)}")


def parse_steps(text: str) -> tuple[int, int]:
    """Read one step or the first and the last: "5", "5-9"."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if not match:
        raise ChakraError(f"--steps {text}: give a number or two with a dash between, e.g. 5-9")
    return int(match[1]), int(match[2] or match[1])
