# SPDX-License-Identifier: MIT
"""The command `diff`: how two traces differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chakra_core._core import Trace, TraceDiff
from chakra_core.cli.parameters import JsonOption, OnErrorOption
from chakra_core.cli.printing import format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.io import OnError, load
from chakra_core.several import diff as diff_traces


def diff(
    first: Annotated[Path, typer.Argument(metavar="FIRST", show_default=False, help="Trace file.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", show_default=False, help="Trace file.")],
    show: Annotated[int, typer.Option("--show", min=0, help="Nodes named of each kind.")] = 20,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Compare two traces by node id, and end with status 1 if they differ."""
    one, other = _load(first, on_error), _load(second, on_error)
    found = watch("comparing", lambda progress: diff_traces(one, other, limit=show))
    if json:
        names = ("same", "metadata_differs", "equal", "only_in_first", "only_in_second", "changed", "changed_fields")
        lists = ("ids_only_in_first", "ids_only_in_second", "changed_nodes")
        print_json({name: getattr(found, name) for name in (*names, *lists)})
    else:
        _print(found, first, second)
    if not found.same:
        raise typer.Exit(1)


def _load(path: Path, on_error: OnError) -> Trace:
    return watch(f"reading {path.name}", lambda progress: load(path, on_error=on_error, progress=progress))


def _print(found: TraceDiff, first: Path, second: Path) -> None:
    typer.echo(f"{format_count(found.equal)} nodes are the same")
    if found.metadata_differs:
        typer.echo("the metadata differ")
    for path, count, ids in (
        (first, found.only_in_first, found.ids_only_in_first),
        (second, found.only_in_second, found.ids_only_in_second),
    ):
        if count:
            more = " ..." if count > len(ids) else ""
            typer.echo(f"{format_count(count)} only in {path}: {', '.join(map(str, ids))}{more}")
    if found.changed:
        fields = ", ".join(f"{name} {format_count(count)}" for name, count in found.changed_fields.items())
        typer.echo(f"{format_count(found.changed)} differ ({fields})")
        for node, of_node in found.changed_nodes.items():
            typer.echo(f"  node {node}: {', '.join(of_node)}")
