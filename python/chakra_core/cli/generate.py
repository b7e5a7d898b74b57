# SPDX-License-Identifier: MIT
"""The command `generate`: traces that nobody had to record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from chakra_core._core import ConfigError, Testcase, Trace
from chakra_core.cli.parameters import JsonOption
from chakra_core.cli.printing import format_count, print_json
from chakra_core.generate import testcase, testcases
from chakra_core.io import save

generate = typer.Typer(help="Generate traces: test cases, and transformers.", no_args_is_help=True)

_Prefix = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        show_default=False,
        help="Files to write: a prefix (run gives run.0.et, run.1.et, ...) or a name with %d for the rank.",
    ),
]


@generate.command("testcase")
def write_testcase(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False, help="Of the test case.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", show_default=False, help="A parameter.")
    ] = None,
    output: _Prefix = None,
    show_list: Annotated[bool, typer.Option("--list", help="Show all test cases and their parameters.")] = False,
    json: JsonOption = False,
) -> None:
    """Write a small workload of known shape, a file a rank."""
    if show_list:
        _list_testcases(json)
        return
    if name is None or output is None:
        raise typer.BadParameter("give the name of a test case and -o PREFIX, or --list")
    traces = testcase(name, **_parameters(settings or []))
    report_written(write_ranks(traces, output), traces, json=json)


def _parameters(settings: Sequence[str]) -> dict[str, int]:
    parameters: dict[str, int] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not (value.isascii() and value.isdigit()):
            raise ConfigError(f"--set {setting}: expected KEY=VALUE with an integer of 0 or more")
        parameters[key] = int(value)
    return parameters


def _list_testcases(json: bool) -> None:
    known = testcases().values()
    if json:
        print_json([_as_dict(one) for one in known])
        return
    for one in known:
        typer.echo(f"{one.name}: {one.description}")
        for parameter in one.parameters:
            typer.echo(f"    {parameter.name}={parameter.usual}  {parameter.meaning}")


def _as_dict(one: Testcase) -> dict[str, object]:
    facts = ("name", "usual", "smallest", "largest", "meaning")
    parameters = [{fact: getattr(parameter, fact) for fact in facts} for parameter in one.parameters]
    return {"name": one.name, "description": one.description, "parameters": parameters}


def write_ranks(traces: Sequence[Trace], output: Path) -> list[str]:
    """Write a file a rank and return their names; `output` is a prefix or has %d for the rank."""
    pattern = str(output) if "%d" in output.name else f"{output}.%d.et"
    paths = [pattern.replace("%d", str(rank)) for rank in range(len(traces))]
    for path, trace in zip(paths, traces, strict=True):
        save(trace, path)
    return paths


def report_written(paths: Sequence[str], traces: Sequence[Trace], *, json: bool) -> None:
    """Say what was written."""
    if json:
        ranks = enumerate(zip(paths, traces, strict=True))
        print_json([{"path": path, "rank": rank, "nodes": len(trace)} for rank, (path, trace) in ranks])
        return
    nodes = format_count(sum(len(trace) for trace in traces))
    last = f" to {paths[-1]}" if len(paths) > 1 else ""
    typer.echo(f"{paths[0]}{last}: {nodes} nodes")
