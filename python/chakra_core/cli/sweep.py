# SPDX-License-Identifier: MIT
"""The command `sweep`: one workload on every configuration of a grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chakra_core.cli.batch_display import BatchDisplay
from chakra_core.cli.parameters import JsonOption
from chakra_core.cli.printing import format_count, print_json, print_table
from chakra_core.result import format_time

if TYPE_CHECKING:
    from chakra_core.sweeps import SweepResult

_SHOWN_TIMES = ("total_ns", "max_compute_ns", "max_comm_ns", "max_exposed_comm_ns", "max_idle_ns")


def sweep(
    grid: Annotated[Path, typer.Argument(metavar="GRID", show_default=False, help="Traces and grid (YAML or JSON).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", show_default=False, help="Table to write: .parquet, .csv or .json; else as the file says."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", show_default=False, help="What a later run resumes from; by default beside the table."
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", "-j", min=0, help="Configurations at a time; 0: as many as there are cores.")
    ] = 0,
    best: Annotated[int, typer.Option("--best", min=0, help="Configurations shown, the fastest first.")] = 10,
    json: JsonOption = False,
) -> None:
    """Simulate one workload on the product of lists of values, and show the fastest configurations."""
    # Imported here, because no other command needs it.
    from chakra_core.sweeps import GridFile

    file = GridFile.load(grid)
    with BatchDisplay("sweep", quiet=json) as display:
        result = file.run(threads=threads, output=output, report=report, observer=display)
    written = output if output is not None else file.output
    if json:
        facts = {"configurations": len(result), "failed": result.failures, "resumed": result.resumed}
        print_json(
            {
                **facts,
                "seconds": result.seconds,
                "path": None if written is None else str(written),
                "best": result.best(best),
            }
        )
    else:
        _print(result, best)
        if written is not None:
            typer.echo(f"{written}: {format_count(len(result))} rows")
    if result.failures:
        raise typer.Exit(1)


def _print(result: SweepResult, best: int) -> None:
    rows = [
        [*(str(row[axis]) for axis in result.axes), *(format_time(row[name]) for name in _SHOWN_TIMES)]
        for row in result.best(best)
    ]
    columns = [*result.axes, *(name.removesuffix("_ns").replace("_", " ") for name in _SHOWN_TIMES)]
    if rows:
        print_table("", columns, rows, numeric_from=len(result.axes))
    typer.echo(
        f"{format_count(len(result))} configurations in {result.seconds:.1f} s: {format_count(result.failures)} failed"
        f", {format_count(result.resumed)} done before"
    )
