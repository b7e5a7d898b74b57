# SPDX-License-Identifier: MIT
"""The command `validate`: everything that is wrong with a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chakra_core._core import ChakraError, Report
from chakra_core.cli.loading import load_named
from chakra_core.cli.parameters import JsonOption, TracePaths
from chakra_core.cli.printing import format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.rank_agreement import check_ranks
from chakra_core.rank_traces import expand_paths
from chakra_core.trace_source import load_source


def validate(
    traces: TracePaths,
    json: JsonOption = False,
    show: Annotated[int, typer.Option("--show", min=0, help="Problems shown of each file.")] = 20,
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Also compare the communication of all files, one a rank.")
    ] = False,
) -> None:
    """Check traces, and end with status 1 if one has errors (warnings are allowed)."""
    paths = expand_paths(traces)
    checked = [_check(path, show) for path in paths]
    if ranks:
        checked.append(_check_ranks(traces, show))
    if json:
        print_json(checked)
    else:
        for one in checked:
            _print(one)
    if not all(one["ok"] for one in checked):
        raise typer.Exit(1)


def _check(path: Path, show: int) -> dict[str, Any]:
    try:
        trace = watch(
            f"checking {path.name}", lambda progress: load_source(path, on_error="recover", progress=progress)
        )
    except ChakraError as error:
        # What is no trace at all; the other files are still checked.
        return _describe(path, ok=False, errors=1, problems=[{"severity": "error", "message": str(error)}])
    return _describe_report(path, watch(f"checking {path.name}", lambda progress: trace.validate()), show)


def _check_ranks(traces: list[str], show: int) -> dict[str, Any]:
    try:
        found = check_ranks(load_named(traces))
    except ChakraError as error:
        problems = [{"severity": "error", "message": str(error)}]
        return _describe("all ranks", ok=False, errors=1, problems=problems)
    differences = [
        {"kind": one.kind, "severity": "error", "message": one.message, "ranks": one.ranks}
        for one in found.problems[:show]
    ]
    return _describe("all ranks", ok=found.ok, errors=len(found.problems), problems=differences)


def _describe_report(path: Path, report: Report, show: int) -> dict[str, Any]:
    problems = [
        {
            "kind": problem.kind,
            "severity": problem.severity,
            "message": problem.message,
            "nodes": list(problem.nodes),
            "record": problem.record,
            "offset": problem.offset,
        }
        for problem in report.problems[:show]
    ]
    return _describe(
        path,
        ok=report.ok,
        errors=report.errors,
        warnings=report.warnings,
        counts=dict(report.counts),
        problems=problems,
    )


def _describe(path: Path | str, *, ok: bool, errors: int, **facts: Any) -> dict[str, Any]:
    defaults = {"warnings": 0, "counts": {}, "problems": []}
    return {"path": str(path), "ok": ok, "errors": errors, **defaults, **facts}


def _print(checked: dict[str, Any]) -> None:
    verdict = "ok" if checked["ok"] else "NOT ok"
    errors, warnings = format_count(checked["errors"]), format_count(checked["warnings"])
    typer.echo(f"{checked['path']}: {verdict}, {errors} errors, {warnings} warnings")
    for problem in checked["problems"]:
        typer.echo(f"  {problem['severity']}: {problem['message']}")
    hidden = checked["errors"] + checked["warnings"] - len(checked["problems"])
    if hidden > 0:
        typer.echo(f"  and {format_count(hidden)} more: {checked['counts']}")
