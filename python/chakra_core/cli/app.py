# SPDX-License-Identifier: MIT
"""Entry of the command line: the list of commands, and how errors end it."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from chakra_core._core import Cancelled, ChakraError, __version__
from chakra_core.cli import batch
from chakra_core.cli.anonymise import anonymise
from chakra_core.cli.astra_sim_spelling import AstraSimSpelling
from chakra_core.cli.collect import collect
from chakra_core.cli.convert import convert
from chakra_core.cli.convert_text import convert_text
from chakra_core.cli.diff import diff
from chakra_core.cli.doctor import doctor
from chakra_core.cli.dump import dump
from chakra_core.cli.generate import generate
from chakra_core.cli.graph import graph
from chakra_core.cli.info import info
from chakra_core.cli.link import link
from chakra_core.cli.report import report
from chakra_core.cli.report_sweep import report_sweep
from chakra_core.cli.rescale import rescale
from chakra_core.cli.similarity import similarity
from chakra_core.cli.simplify import simplify
from chakra_core.cli.simulate import simulate
from chakra_core.cli.slice import slice_trace
from chakra_core.cli.sweep import sweep
from chakra_core.cli.timeline import timeline
from chakra_core.cli.validate import validate

app = typer.Typer(
    name="chakra-core",
    help="MLCommons Chakra execution traces: look at, check, link, convert and simulate them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (
    info,
    validate,
    doctor,
    dump,
    diff,
    similarity,
    collect,
    link,
    convert,
    simplify,
    anonymise,
    rescale,
    simulate,
    sweep,
    timeline,
    graph,
    report,
):
    app.command(cls=AstraSimSpelling if _command is simulate else None)(_command)
app.add_typer(batch.app, name="batch")
app.command("slice")(slice_trace)
app.command("convert-text")(convert_text)
app.command("report-sweep")(report_sweep)
app.add_typer(generate, name="generate")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0 done, 1 an error, 2 wrong usage, 130 interrupted.

    Args:
        arguments: those after the program's name; by default of this process.
    """
    try:
        app(args=None if arguments is None else list(arguments))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except (KeyboardInterrupt, Cancelled):
        return _fail("interrupted", 130)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or error}", 1)
    except (ChakraError, ImportError) as error:
        # An extra that is not installed says so.
        return _fail(str(error), 1)
    return 0


def _fail(message: str, status: int) -> int:
    typer.echo(f"error: {message}", err=True)
    return status
