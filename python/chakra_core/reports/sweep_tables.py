# SPDX-License-Identifier: MIT
"""What is worth seeing in a table of configurations: the best of each pair of values, fronts, effects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from chakra_core._core import ConfigError

_MOST_LEVELS = 40
_BINS = 20
_MOST_METRICS = 6
_ERROR = "error"

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Sweep:
    """Configurations that were run, and what came out.

    Attributes:
        columns: arrays of one length by name.
        parameters: names of those that were set, of which more than one value occurs.
        metrics: names of those that were found, the most important one first; numbers.
        maximise: metrics of which more is better.
        failed: configurations without a result, which are not in the columns.
    """

    columns: Columns
    parameters: list[str]
    metrics: list[str]
    maximise: frozenset[str]
    failed: int

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def cost(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column so that less is better."""
        values = self.columns[name].astype(np.float64)
        return -values if name in self.maximise else values

    def best(self, metric: str) -> npt.NDArray[np.intp]:
        """Rows from the best value of a metric to the worst; of equal ones the earlier row first; without NaN."""
        cost = self.cost(metric)
        order = np.argsort(cost, kind="stable")
        return order[~np.isnan(cost[order])]


def sweep_of(
    table: Any,
    parameters: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    maximise: Collection[str] = (),
) -> Sweep:
    """Take a table apart.

    Args:
        table: what `sweep` returned, a data frame, a mapping of columns, a structured array, or a list of rows.
        parameters: names of columns; by default what the sweep says, else all that are no metric.
        metrics: names of columns with numbers; by default those that end in "_ns", `total_ns` first; at most six that
            differ between configurations.
        maximise: metrics of which more is better.

    Raises:
        ConfigError: a column is missing or has no numbers, or nothing says what the metrics are.
    """
    columns, axes = _columns(table)
    known = axes if parameters is None else list(parameters)
    found = _metrics(columns, known) if metrics is None else list(metrics)
    given = [name for name in columns if name not in (*found, _ERROR)] if known is None else known
    for name in (*given, *found, *maximise):
        if name not in columns:
            raise ConfigError(f"the table has no column {name!r}; there are {', '.join(columns)}")
    for name in found:
        if not np.issubdtype(columns[name].dtype, np.number):
            raise ConfigError(f"column {name!r} is a metric and has no numbers, but {columns[name][:1].tolist()}")
    if not found:
        raise ConfigError(f"nothing says which columns are metrics: name them; there are {', '.join(columns)}")
    good = _succeeded(columns, found)
    kept = {name: column[good] for name, column in columns.items()}
    if not good.any():
        raise ConfigError("the table has no configuration with a result")
    varied = [name for name in given if len(set(kept[name].tolist())) > 1]
    differing = [name for name in found if len(np.unique(kept[name])) > 1]
    shown = found if metrics is not None else (differing or found)[:_MOST_METRICS]
    return Sweep(kept, varied, shown, frozenset(maximise), int(np.count_nonzero(~good)))


def _columns(table: Any) -> tuple[Columns, list[str] | None]:
    """Columns of any kind of table, and the parameters if it knows them."""
    axes = list(table.axes) if isinstance(getattr(table, "axes", None), list) and hasattr(table, "failures") else None
    source = table.columns if axes is not None else table
    if isinstance(source, list | tuple):
        keys = dict.fromkeys(name for row in source for name in row)
        source = {name: [row.get(name) for row in source] for name in keys}
    elif isinstance(source, np.ndarray):
        if source.dtype.names is None:
            raise ConfigError("an array needs names of columns: a structured array, or a mapping of arrays")
        source = {name: source[name] for name in source.dtype.names}
    names = list(source) if isinstance(source, Mapping) else [str(name) for name in source.columns]
    columns = {name: np.asarray(source[name]) for name in names}
    if not columns:
        raise ConfigError("the table is empty")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ConfigError(f"columns have no common length: {lengths}")
    return columns, axes


def _metrics(columns: Columns, parameters: Sequence[str] | None) -> list[str]:
    numeric = [name for name, column in columns.items() if np.issubdtype(column.dtype, np.number)]
    if parameters is not None:
        numeric = [name for name in numeric if name not in parameters]
        times = numeric
    else:
        times = [name for name in numeric if name.endswith("_ns")]
    # Largest before mean, because the slowest rank decides.
    return sorted(times, key=lambda name: (name != "total_ns", not name.startswith("max_"), not name.endswith("_ns")))


def _succeeded(columns: Columns, metrics: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Rows without an error and with a value of the first metric."""
    good = ~np.isnan(columns[metrics[0]].astype(np.float64))
    if _ERROR in columns and _ERROR not in metrics:
        good &= np.array([text in ("", None) or text != text for text in columns[_ERROR].tolist()], dtype=bool)
    return good


@dataclass(frozen=True)
class Levels:
    """Values of a parameter: a label of each, and which one each row has."""

    labels: list[str]
    place: npt.NDArray[np.int64]


def levels_of(column: npt.NDArray[Any]) -> Levels:
    """Numbers in ascending order, and if there are very many in steps of equal share; text in order of appearance."""
    if np.issubdtype(column.dtype, np.number) and column.dtype != np.bool_:
        values, place = np.unique(column, return_inverse=True)
        if len(values) <= _MOST_LEVELS:
            return Levels([_text(value) for value in values.tolist()], place.reshape(-1).astype(np.int64))
        edges = np.unique(np.quantile(column, np.linspace(0, 1, _BINS + 1)))
        place = np.clip(np.searchsorted(edges, column, side="right") - 1, 0, len(edges) - 2)
        labels = [f"{_text(low)} to {_text(high)}" for low, high in pairwise(edges.tolist())]
        return Levels(labels, place.astype(np.int64))
    texts = [_text(value) for value in column.tolist()]
    labels = list(dict.fromkeys(texts))
    number = {text: at for at, text in enumerate(labels)}
    return Levels(labels, np.array([number[text] for text in texts], dtype=np.int64))


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class HeatMap:
    """The best value of a metric for each pair of values of two parameters, over all others.

    Attributes:
        columns: labels of the first parameter's values.
        rows: labels of the second one's.
        row_of: the configuration that is best, shape (rows, columns); -1 where there is none.
    """

    columns: list[str]
    rows: list[str]
    row_of: npt.NDArray[np.int64]


def heat_map(sweep: Sweep, across: str, down: str, metric: str) -> HeatMap:
    """Find the best configuration of each pair of values of two parameters."""
    first, second = levels_of(sweep.columns[across]), levels_of(sweep.columns[down])
    best = np.full((len(second.labels), len(first.labels)), -1, dtype=np.int64)
    # From the worst to the best: the last one written stays.
    order = sweep.best(metric)[::-1]
    best[second.place[order], first.place[order]] = order
    return HeatMap(first.labels, second.labels, best)


def pareto_front(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Points that no other is at least as good as in both and better in one, less being better; by the first value.

    Equal points are all in it, or none. NaN is never. O(n log n).
    """
    there = np.flatnonzero(~(np.isnan(first) | np.isnan(second)))
    order = there[np.lexsort((second[there], first[there]))]
    x, y = first[order], second[order]
    if len(order) == 0:
        return order
    # Of the points with one x only the lowest can be in it, and it must be below all before.
    begins = np.append(True, x[1:] != x[:-1])
    lowest = y[begins]
    beaten = np.append(False, np.minimum.accumulate(lowest)[:-1] <= lowest[1:])
    group = np.cumsum(begins) - 1
    front: npt.NDArray[np.intp] = order[(y == lowest[group]) & ~beaten[group]]
    return front


def quartiles(sweep: Sweep, parameter: str, metric: str) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Labels of a parameter's values; least, lower quartile, median, upper quartile, most of a metric; shape (n, 5)."""
    levels = levels_of(sweep.columns[parameter])
    value = sweep.columns[metric].astype(np.float64)
    known = ~np.isnan(value)
    parts = [value[known & (levels.place == place)] for place in range(len(levels.labels))]
    filled = [(label, part) for label, part in zip(levels.labels, parts, strict=True) if len(part)]
    return [label for label, _ in filled], np.array([np.quantile(part, (0, 0.25, 0.5, 0.75, 1)) for _, part in filled])
