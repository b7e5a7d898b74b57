# SPDX-License-Identifier: MIT
"""The command `graph`: a trace, or a part of it, as a graph to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from chakra_core.cli.parameters import JsonOption, OnErrorOption
from chakra_core.cli.printing import format_bytes, format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.cli.selecting import WhereOption
from chakra_core.io import load


def graph(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", show_default=False, help="Trace file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", show_default=False, help="File: .dot, .graphml, .svg, .pdf or .png.")
    ],
    around: Annotated[
        int | None, typer.Option("--around", show_default=False, help="Id of a node: only what is near it.")
    ] = None,
    depth: Annotated[int, typer.Option("--depth", min=0, help="Most dependencies on the way from there.")] = 3,
    direction: Annotated[
        Literal["parents", "children", "both"], typer.Option("--direction", help="Where to go from there.")
    ] = "both",
    where: WhereOption = None,
    collapse: Annotated[
        Literal["none", "repeats", "names"],
        typer.Option("--collapse", help="One box for: nodes that are alike and have like neighbours; each name; none."),
    ] = "repeats",
    radius: Annotated[int, typer.Option("--radius", min=0, help="For repeats: how far neighbours must be alike.")] = 1,
    max_boxes: Annotated[int, typer.Option("--max-boxes", min=1, help="The most that a picture may have.")] = 500,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Write a trace, or the part around a node, as a graph: DOT, GraphML, or a picture through Graphviz."""
    # Imported here, because no other command needs it.
    from chakra_core.graphs import graph as write

    loaded = watch(f"reading {trace.name}", lambda progress: load(trace, on_error=on_error, progress=progress))
    drawing = watch(
        f"drawing {trace.name}",
        lambda _: write(
            loaded,
            output,
            around=around,
            depth=depth,
            direction=direction,
            where=where,
            collapse=collapse,
            radius=radius,
            max_boxes=max_boxes,
        ),
    )
    nodes, size = int(drawing.count.sum()), output.stat().st_size
    if json:
        facts = {"path": str(output), "nodes": nodes, "boxes": len(drawing), "arrows": len(drawing.source)}
        print_json({**facts, "file_bytes": size})
        return
    typer.echo(
        f"{output}: {format_count(nodes)} of {format_count(len(loaded))} nodes in {format_count(len(drawing))} boxes, "
        f"{format_count(len(drawing.source))} arrows, {format_bytes(size)}"
    )
