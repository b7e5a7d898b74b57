# SPDX-License-Identifier: MIT
"""The report of a sweep: what a page shows of a table of configurations."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from chakra_core.reports.categories import colour
from chakra_core.reports.page import HtmlTable, Page, Section, Tile
from chakra_core.reports.quantities import TimeScale, plain
from chakra_core.reports.run_figures import Figure
from chakra_core.reports.sweep_tables import HeatMap, Sweep, heat_map, pareto_front, quartiles, sweep_of
from chakra_core.result import format_time

_MOST_CHOICES = 90
_MOST_POINTS = 4000
_MOST_LABELLED = 14
_LISTED = 10
_CELL = 34


def report_sweep(
    table: Any,
    path: str | os.PathLike[str],
    *,
    parameters: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    maximise: Collection[str] = (),
    title: str | None = None,
) -> None:
    """Write a table of configurations as one HTML file, which opens in a browser without a network.

    It shows the best value for each pair of values of two parameters (heat maps), the Pareto front of each pair of
    metrics and of a metric and a numeric parameter, how a metric depends on each parameter, and the best rows.

    Args:
        table: a row a configuration: what `sweep` returned, a data frame, a mapping of columns, a structured array, or
            a list of rows. Rows whose column `error` has a text are left out and counted.
        path: the file to write.
        parameters: columns that were set; by default what the sweep says, else all columns that are no metric.
        metrics: columns that were found, the most important one first; by default those that end in "_ns".
        maximise: columns of which more is better; of all others less is.
        title: above it all.

    Raises:
        ImportError: plotly is not installed (`pip install chakra-core[report]`).
        ConfigError: a column is missing or has no numbers, or nothing says what the metrics are.
        OSError: the file cannot be written; nothing is left behind.
    """
    sweep_page(sweep_of(table, parameters, metrics, maximise), title=title).write(path)


def sweep_page(sweep: Sweep, *, title: str | None = None) -> Page:
    """Lay out the report of a sweep; see `report_sweep`."""
    sections = [*_heat_map_sections(sweep), *_front_sections(sweep), *_effect_sections(sweep), _best_section(sweep)]
    count = len(sweep) + sweep.failed
    subtitle = f"Parameters: {', '.join(sweep.parameters) or 'none that differ'}"
    warnings = [f"{sweep.failed:,} configurations have no result and are left out"] if sweep.failed else []
    return Page(title or f"Sweep of {count:,} configurations", subtitle, _tiles(sweep), warnings, sections)


class _Measure:
    """A column as people read it: its unit, and its values in it."""

    def __init__(self, sweep: Sweep, name: str) -> None:
        values = sweep.columns[name].astype(np.float64)
        is_time = name.endswith("_ns")
        largest = int(np.max(np.abs(values), initial=0, where=np.isfinite(values)))
        self.scale = TimeScale.for_times_up_to(largest) if is_time else TimeScale("", 1)
        self.name = name.removesuffix("_ns").replace("_", " ") if is_time else name
        self.label = plain(f"{self.name}, {self.scale.unit}" if is_time else name)
        self.values: npt.NDArray[np.float64] = values / self.scale.unit_ns

    def text(self, row: int) -> str:
        """Write one value with its unit."""
        return f"{self.values[row]:.5g} {self.scale.unit}".rstrip()


def _tiles(sweep: Sweep) -> list[Tile]:
    metric = sweep.metrics[0]
    order = sweep.best(metric)
    measure = _Measure(sweep, metric)
    worst, best = sweep.columns[metric][order[-1]], sweep.columns[metric][order[0]]
    ratio = max(worst, best) / min(worst, best) if min(worst, best) > 0 else None
    tiles = [
        Tile("Configurations", f"{len(sweep):,}", f"{sweep.failed:,} failed"),
        Tile(f"Best {measure.name}", measure.text(int(order[0])), "", colour("compute")),
        Tile(f"Worst {measure.name}", measure.text(int(order[-1])), "", colour("all-reduce")),
    ]
    if ratio is not None:
        tiles.append(Tile("Worst to best", f"{ratio:.2f}x", measure.name))
    return [*tiles, Tile("Parameters", str(len(sweep.parameters)), f"and {len(sweep.metrics)} metrics")]


def _setting(sweep: Sweep, row: int) -> str:
    """Write a configuration for a label under the pointer."""
    return "<br>".join(plain(f"{name} = {_shown(sweep.columns[name][row])}") for name in sweep.parameters)


def _shown(value: Any) -> str:
    return f"{float(value):.6g}" if isinstance(value, float | np.floating) else str(value)


def _heat_map_sections(sweep: Sweep) -> list[Section]:
    pairs = list(combinations(sweep.parameters, 2))
    choices = [
        _heat_map_choice(sweep, heat_map(sweep, across, down, metric), across, down, metric)
        for metric in sweep.metrics
        for across, down in pairs
    ][:_MOST_CHOICES]
    if not choices:
        return []
    note = "Each cell has the best value over all other parameters; the pointer shows the configuration that has it."
    return [Section("Pairs of parameters", note, {"heat-map": {"choices": choices}})]


def _heat_map_choice(sweep: Sweep, cells: HeatMap, across: str, down: str, metric: str) -> Figure:
    measure = _Measure(sweep, metric)
    values = [[None if row < 0 else _rounded(measure.values[row]) for row in line] for line in cells.row_of.tolist()]
    texts = [["" if row < 0 else _setting(sweep, row) for row in line] for line in cells.row_of.tolist()]
    labelled = max(cells.row_of.shape) <= _MOST_LABELLED
    data = {
        "type": "heatmap",
        "x": [plain(label) for label in cells.columns],
        "y": [plain(label) for label in cells.rows],
        "z": values,
        "text": texts,
        "colorscale": "Viridis",
        "reversescale": metric not in sweep.maximise,
        "xgap": 2,
        "ygap": 2,
        "colorbar": {"title": {"text": measure.label, "side": "right"}, "thickness": 14, "outlinewidth": 0},
        "hovertemplate": f"%{{z:.5~g}} ({measure.label})<br>%{{text}}<extra></extra>",
        "hoverongaps": False,
        **({"texttemplate": "%{z:.3~g}"} if labelled else {}),
    }
    layout = {
        "height": 150 + max(_CELL * len(cells.rows), 240),
        "xaxis": {"title": {"text": plain(across)}, "type": "category", "showgrid": False},
        "yaxis": {"title": {"text": plain(down)}, "type": "category", "showgrid": False},
    }
    return {"label": f"{measure.name}: {down} against {across}", "data": [data], "layout": layout}


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.6g}")


def front_pairs(sweep: Sweep) -> list[tuple[str, str]]:
    """Pairs of columns whose front is shown: metrics, and the first metric with parameters that are numbers."""
    numbers = [name for name in sweep.parameters if np.issubdtype(sweep.columns[name].dtype, np.number)]
    return [*((name, sweep.metrics[0]) for name in numbers), *combinations(sweep.metrics, 2)]


def _front_sections(sweep: Sweep) -> list[Section]:
    choices = [_front_choice(sweep, first, second) for first, second in front_pairs(sweep)][:_MOST_CHOICES]
    if not choices:
        return []
    note = (
        "On the line are the configurations that no other beats in one without being worse in the other. Less is better"
        + (f", but for {', '.join(sorted(sweep.maximise))}." if sweep.maximise else ".")
    )
    return [Section("Pareto front", note, {"front": {"choices": choices}})]


def _front_choice(sweep: Sweep, first: str, second: str) -> Figure:
    front = pareto_front(sweep.cost(first), sweep.cost(second))
    x, y = _Measure(sweep, first), _Measure(sweep, second)
    others = np.setdiff1d(np.arange(len(sweep)), front)
    others = others[:: max(1, -(-len(others) // _MOST_POINTS))]
    data = [
        _points(sweep, others, x, y, {"name": "other configurations", "marker": {"size": 6, "color": colour("host")}}),
        _points(
            sweep,
            front,
            x,
            y,
            {
                "name": f"Pareto front ({len(front):,})",
                "mode": "lines+markers",
                "line": {"shape": "hv" if not {first, second} & sweep.maximise else "linear", "width": 2},
                "marker": {"size": 10, "color": colour("all-reduce")},
            },
        ),
    ]
    layout = {
        "height": 460,
        "xaxis": {"title": {"text": x.label}},
        "yaxis": {"title": {"text": y.label}},
        "hovermode": "closest",
        "showlegend": True,
    }
    return {"label": f"{y.name} against {x.name}", "data": data, "layout": layout}


def _points(sweep: Sweep, rows: npt.NDArray[np.intp], x: _Measure, y: _Measure, looks: dict[str, Any]) -> Figure:
    line = {"line": {**looks["line"], "color": looks["marker"]["color"]}} if "line" in looks else {}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [_rounded(value) for value in x.values[rows]],
        "y": [_rounded(value) for value in y.values[rows]],
        "text": [_setting(sweep, row) for row in rows.tolist()],
        "hovertemplate": f"{y.label}: %{{y:.5~g}}<br>{x.label}: %{{x:.5~g}}<br>%{{text}}<extra></extra>",
        **looks,
        **line,
    }


def _effect_sections(sweep: Sweep) -> list[Section]:
    choices = [_effect_choice(sweep, parameter, metric) for metric in sweep.metrics for parameter in sweep.parameters][
        :_MOST_CHOICES
    ]
    if not choices:
        return []
    note = "Over all configurations with a value: the least and the most, and the box that half of them are in."
    return [Section("Effect of one parameter", note, {"effect": {"choices": choices}})]


def _effect_choice(sweep: Sweep, parameter: str, metric: str) -> Figure:
    labels, values = quartiles(sweep, parameter, metric)
    measure = _Measure(sweep, metric)
    columns = [[_rounded(value) for value in column] for column in (values / measure.scale.unit_ns).T]
    data = {
        "type": "box",
        "x": [plain(label) for label in labels],
        **dict(zip(("lowerfence", "q1", "median", "q3", "upperfence"), columns, strict=True)),
        "marker": {"color": colour("compute")},
        "name": measure.name,
        "boxpoints": False,
    }
    layout = {
        "height": 400,
        "xaxis": {"title": {"text": plain(parameter)}, "type": "category"},
        "yaxis": {"title": {"text": measure.label}},
        "showlegend": False,
    }
    return {"label": f"{measure.name} by {parameter}", "data": [data], "layout": layout}


def _best_section(sweep: Sweep) -> Section:
    metric = sweep.metrics[0]
    rows = [
        [
            *(_shown(sweep.columns[name][row]) for name in sweep.parameters),
            *(_value_text(sweep, name, row) for name in sweep.metrics),
        ]
        for row in sweep.best(metric)[:_LISTED].tolist()
    ]
    names = [_Measure(sweep, name).name for name in sweep.metrics]
    table = HtmlTable([*sweep.parameters, *names], rows, numeric_from=len(sweep.parameters))
    return Section("Best configurations", f"By {_Measure(sweep, metric).name}.", tables=[table])


def _value_text(sweep: Sweep, name: str, row: int) -> str:
    value = float(sweep.columns[name][row])
    if np.isnan(value):
        return ""
    return format_time(round(value)) if name.endswith("_ns") else f"{value:.6g}"
