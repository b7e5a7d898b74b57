# SPDX-License-Identifier: MIT
"""What came out of a sweep: a row a configuration."""

from __future__ import annotations

import csv
import importlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from chakra_core.output import complete_file, complete_path
from chakra_core.result import Result

if TYPE_CHECKING:
    import pandas as pd

_TIMES = ("finish_ns", "compute_ns", "comm_ns", "exposed_comm_ns", "idle_ns", "cpu_ns", "memory_ns")
MEASURES = ("total_ns", *(f"{how}_{name}" for name in _TIMES for how in ("max", "mean")), "messages")
"""Columns of results: `total_ns`, largest and mean over the ranks of each time, messages simulated."""


def measures_of(result: Result) -> dict[str, int | float]:
    """Take the columns of results from a simulation."""
    found: dict[str, int | float] = {"total_ns": result.total_ns}
    for name in _TIMES:
        times = getattr(result, name)
        found |= {f"max_{name}": int(times.max()), f"mean_{name}": float(times.mean())}
    return found | {"messages": result.messages}


class SweepResult:
    """A table with a row for each configuration, in the order of the product, the last axis fastest.

    Attributes:
        axes: names of the axes, which are the first columns.
        columns: numpy arrays by name: the axes' values (numbers and truth values as such, else text), the measures (see
            `MEASURES`; -1 or NaN where a configuration failed), and `error` (text, "" where there is none).
        seconds: how long the sweep took.
        resumed: rows that an earlier run had.
    """

    def __init__(
        self, axes: Sequence[str], values: Sequence[Sequence[Any]], records: Sequence[Mapping[str, Any]]
    ) -> None:
        self.axes = list(axes)
        self.seconds = 0.0
        self.resumed = 0
        self.columns: dict[str, npt.NDArray[Any]] = {
            name: _column([row[place] for row in values]) for place, name in enumerate(self.axes)
        }
        for name in MEASURES:
            is_mean = name.startswith("mean_")
            column = [record["measures"].get(name, np.nan if is_mean else -1) for record in records]
            self.columns[name] = np.array(column, np.float64 if is_mean else np.int64)
        self.columns["error"] = np.array(
            [(record.get("error") or {}).get("message", "") for record in records], dtype=object
        )

    def __len__(self) -> int:
        return len(self.columns["error"])

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.columns[name]

    def __repr__(self) -> str:
        return f"<SweepResult of {len(self)} configurations, {self.failures} failed>"

    @property
    def failures(self) -> int:
        """How many configurations could not be simulated."""
        return int(np.count_nonzero(self.columns["error"] != ""))

    def best(self, number: int = 1, *, by: str = "total_ns") -> list[dict[str, Any]]:
        """Rows with the smallest values of a measure, that one first; among equal ones the earlier row."""
        succeeded = np.flatnonzero(self.columns["error"] == "")
        order = succeeded[np.argsort(self.columns[by][succeeded], kind="stable")]
        return [self.row(place) for place in order[:number].tolist()]

    def row(self, place: int) -> dict[str, Any]:
        """Return a row as plain values."""
        return {name: column[place : place + 1].tolist()[0] for name, column in self.columns.items()}

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame. Needs pandas (`pip install chakra-core[frames]`)."""
        import pandas as pd

        return pd.DataFrame(self.columns)

    def to_arrow(self) -> Any:
        """Return a `pyarrow.Table`. Needs pyarrow (`pip install chakra-core[arrow]`)."""
        arrow = importlib.import_module("pyarrow")
        return arrow.table({name: arrow.array(column.tolist()) for name, column in self.columns.items()})

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write the table as one HTML file: heat maps, Pareto fronts, the best; see `chakra_core.report_sweep`.

        Raises:
            ImportError: plotly is not installed (`pip install chakra-core[report]`).
            ConfigError: every configuration failed.
            OSError: the file cannot be written; nothing is left behind.
        """
        from chakra_core.reports import report_sweep

        report_sweep(self, path, title=title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet (.parquet; needs pyarrow), CSV (.csv) or JSON (.json, a list of rows).

        Raises:
            ValueError: another ending.
            OSError: the file cannot be written; nothing is left behind.
        """
        target = Path(path)
        if target.suffix == ".parquet":
            parquet = importlib.import_module("pyarrow.parquet")
            with complete_path(target) as temporary:
                parquet.write_table(self.to_arrow(), temporary)
        elif target.suffix == ".csv":
            with complete_file(target) as file:
                writer = csv.writer(file)
                writer.writerow(self.columns)
                writer.writerows(zip(*(column.tolist() for column in self.columns.values()), strict=True))
        elif target.suffix == ".json":
            with complete_file(target) as file:
                json.dump([self.row(place) for place in range(len(self))], file)
        else:
            raise ValueError(f"{target}: a table of a sweep is written as .parquet, .csv or .json")


def _column(values: list[Any]) -> npt.NDArray[Any]:
    """Numbers of one kind as such, all else as text."""
    if values and all(isinstance(value, bool) for value in values):
        return np.array(values, bool)
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, np.int64)
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return np.array(values, np.float64)
    return np.array([value if isinstance(value, str) else json.dumps(value, default=str) for value in values], object)
