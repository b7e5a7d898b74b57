# SPDX-License-Identifier: MIT
"""The command `report-sweep`: a table of configurations as one page for a browser."""

from __future__ import annotations

import csv
import json as json_format
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from chakra_core._core import ConfigError
from chakra_core.cli.parameters import JsonOption, OutputOption
from chakra_core.cli.printing import format_bytes, print_json
from chakra_core.frames import needed


def report_sweep(
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE", show_default=False, help="A row a configuration: .csv, .parquet, .json."),
    ],
    output: OutputOption,
    parameters: Annotated[
        str | None,
        typer.Option("--parameters", show_default=False, help="Columns that were set, with commas; else all others."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", show_default=False, help="Columns that were found; else those that end in _ns."),
    ] = None,
    maximise: Annotated[
        str | None, typer.Option("--maximise", show_default=False, help="Metrics of which more is better.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", show_default=False, help="Above the page.")] = None,
    json: JsonOption = False,
) -> None:
    """Write a table of configurations as one HTML page: heat maps, Pareto fronts, the best of them."""
    # Imported here, because no other command draws.
    from chakra_core.reports.sweep_report import sweep_page
    from chakra_core.reports.sweep_tables import sweep_of

    sweep = sweep_of(read_table(table), _names(parameters), _names(metrics), _names(maximise) or ())
    sweep_page(sweep, title=title).write(output)
    facts = {"path": str(output), "configurations": len(sweep) + sweep.failed, "failed": sweep.failed}
    size = output.stat().st_size
    if json:
        print_json({**facts, "parameters": sweep.parameters, "metrics": sweep.metrics, "file_bytes": size})
    else:
        typer.echo(f"{output}: {facts['configurations']} configurations, {format_bytes(size)}; open it in a browser")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def read_table(path: Path) -> Any:
    """Read a table from CSV with a line of names, Parquet, or a JSON list of rows.

    Raises:
        ConfigError: another ending, or the file is no table.
        ImportError: pyarrow is not installed, and the file is Parquet.
        OSError: the file cannot be read.
    """
    if path.suffix == ".parquet":
        columns = needed("pyarrow.parquet", "arrow").read_table(path)
        return {name: np.array(columns[name].to_pylist()) for name in columns.column_names}
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        if len(rows) < 2 or len({len(row) for row in rows}) != 1:
            raise ConfigError(f"{path}: found no line of names with rows of as many values")
        return {name: _values(column) for name, column in zip(rows[0], zip(*rows[1:], strict=True), strict=True)}
    if path.suffix == ".json":
        try:
            content = json_format.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ConfigError(f"{path}: is no JSON: {error}") from None
        if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
            raise ConfigError(f"{path}: found no list of rows")
        return content
    raise ConfigError(f"{path}: a table of a sweep is .csv, .parquet or .json")


def _values(texts: tuple[str, ...]) -> Any:
    """Numbers, if all of a column are; nothing is NaN among numbers."""
    for kind in (np.int64, np.float64):
        try:
            return np.array([text or "nan" for text in texts] if kind is np.float64 else texts).astype(kind)
        except (ValueError, OverflowError):
            continue
    return np.array(texts, dtype=object)
