# SPDX-License-Identifier: MIT
"""The command `dump`: the nodes of a trace as text or Parquet, for people and other tools."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from chakra_core._core import ChakraError, TraceDump
from chakra_core.cli.parameters import OnErrorOption
from chakra_core.cli.progress import watch
from chakra_core.cli.selecting import WhereOption, rows_where, split_list
from chakra_core.frames import to_parquet
from chakra_core.io import load
from chakra_core.output import complete_path


def dump(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", show_default=False, help="Trace file.")],
    json: Annotated[bool, typer.Option("--json", help="One JSON array.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="A JSON object a line; this is the default.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="A line a node after a line of headings.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="A Parquet file; needs --output and pyarrow.")] = False,
    head: Annotated[int | None, typer.Option("--head", min=0, show_default=False, help="The first N nodes.")] = None,
    where: WhereOption = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            show_default=False,
            help="Only these, separated by commas: id, name, type, start_ns, duration_ns, data_deps, ctrl_deps, "
            "inputs, outputs, attrs, or any attribute.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", show_default=False, help="File to write instead of the terminal.")
    ] = None,
    on_error: OnErrorOption = "strict",
) -> None:
    """Print the nodes of a trace."""
    forms = [name for name, wanted in (("json", json), ("jsonl", jsonl), ("csv", csv), ("parquet", parquet)) if wanted]
    if len(forms) > 1:
        raise ChakraError(f"--{forms[0]} and --{forms[1]} exclude each other")
    if parquet and output is None:
        raise ChakraError("--parquet needs a file: --output nodes.parquet")
    loaded = watch(f"reading {trace.name}", lambda progress: load(trace, on_error=on_error, progress=progress))
    rows = rows_where(loaded, where)[:head]
    chosen = split_list(columns)
    if parquet and output is not None:
        to_parquet(loaded if len(rows) == len(loaded) else loaded.select(rows), output, columns=chosen or None)
        return
    _write(TraceDump(loaded, rows, form=forms[0] if forms else "jsonl", columns=chosen), output)


def _write(pieces: TraceDump, output: Path | None) -> None:
    if output is not None:
        with complete_path(output) as temporary, temporary.open("wb") as file:
            file.writelines(pieces)
        return
    sys.stdout.flush()
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough, as `head` does. What is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
