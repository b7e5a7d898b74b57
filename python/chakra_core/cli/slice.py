# SPDX-License-Identifier: MIT
"""The command `slice`: some nodes of a trace as a trace of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chakra_core._core import ChakraError
from chakra_core.cli.parameters import JsonOption, OnErrorOption, OutputOption
from chakra_core.cli.printing import format_bytes, format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.cli.selecting import WhereOption, ids_mask, split_list
from chakra_core.conditions import rows_meeting
from chakra_core.io import load, save


def slice_trace(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", show_default=False, help="Trace file.")],
    output: OutputOption,
    ids: Annotated[
        list[str] | None,
        typer.Option("--ids", show_default=False, help="Ids and ranges of ids, separated by commas: 3,7,10-19."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--types", show_default=False, help="Schema names, separated by commas: COMM_COLL_NODE."),
    ] = None,
    start: Annotated[
        int | None, typer.Option("--start", min=0, show_default=False, help="Nodes that run at or after this ns.")
    ] = None,
    end: Annotated[
        int | None, typer.Option("--end", min=0, show_default=False, help="Nodes that begin before this ns.")
    ] = None,
    pg: Annotated[
        list[str] | None,
        typer.Option("--pg", show_default=False, help="Names of process groups, separated by commas."),
    ] = None,
    where: WhereOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Write the nodes that meet all conditions as a trace; dependencies on others are left out."""
    loaded = watch(f"reading {trace.name}", lambda progress: load(trace, on_error=on_error, progress=progress))
    try:
        mask = loaded.mask(types=split_list(types) or None, start=start, end=end, pg=split_list(pg) or None)
    except ValueError as error:
        raise ChakraError(f"--types: {error}") from None
    if ids is not None:
        mask &= ids_mask(loaded, ids)
    if where is not None:
        mask &= rows_meeting(loaded, where)
    part = loaded.select(mask)
    watch(f"writing {output.name}", lambda progress: save(part, output, progress=progress))
    facts = {
        "path": str(output),
        "nodes": len(part),
        "nodes_left_out": len(loaded) - len(part),
        "dependencies_left_out": part.left_out_dependencies,
        "file_bytes": output.stat().st_size,
    }
    if json:
        print_json(facts)
        return
    typer.echo(
        f"{output}: {format_count(len(part))} of {format_count(len(loaded))} nodes, "
        f"{format_bytes(output.stat().st_size)}; {format_count(part.left_out_dependencies)} dependencies on others "
        "left out"
    )
