# SPDX-License-Identifier: MIT
"""Output of the commands: JSON for machines, tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import typer

from chakra_core.result import format_bytes as format_bytes

_PIPE_WIDTH = 160


def print_json(data: object) -> None:
    """Print one JSON document on one line."""
    typer.echo(json.dumps(data, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, numeric_from: int = 1) -> None:
    """Print a table.

    Args:
        title: above the table; none if empty.
        columns: headings.
        rows: cells of each row.
        numeric_from: columns from this one on are set to the right.
    """
    # Imported here, because --help and --json need no tables.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index >= numeric_from else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    # Without a terminal there is no width to keep to, and cut or folded cells would be of no use to grep.
    console = Console()
    (console if console.is_terminal else Console(width=_PIPE_WIDTH)).print(table)


def format_count(number: int) -> str:
    """Write a number with its thousands apart: 1,048,576."""
    return f"{number:,}"
