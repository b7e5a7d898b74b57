# SPDX-License-Identifier: MIT
"""Figures of a result for papers, drawn by matplotlib: the same numbers and colours as in reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from chakra_core.frames import needed
from chakra_core.output import complete_path
from chakra_core.reports.bandwidth import bandwidth_points
from chakra_core.reports.categories import CATEGORIES, colour
from chakra_core.reports.quantities import TimeScale, size_ticks
from chakra_core.reports.run_figures import exposed_by_form
from chakra_core.reports.time_spent import time_spent
from chakra_core.reports.timeline_levels import timeline_of
from chakra_core.result import Result, format_bytes

Kind: TypeAlias = Literal["timeline", "time", "exposed", "bandwidth", "dimensions"]

_MOST_SLICES = 20_000
_MARKERS = "osD^vPX*"
# Text of the size that papers have in two columns, as text that stays text in PDF and SVG.
_STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.axisbelow": True,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "chakra_core",
}


def plot(
    result: Result,
    kind: Kind = "time",
    *,
    path: str | os.PathLike[str] | None = None,
    axes: Any = None,
    ranks: Sequence[int] | None = None,
    width: float = 5.0,
    height: float | None = None,
    dpi: int = 300,
) -> Any:
    """Draw a result with matplotlib; see `Result.plot`."""
    if kind not in _DRAWERS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, _DRAWERS))}, not {kind!r}")
    for rank in ranks or ():
        if not 0 <= rank < result.num_ranks:
            raise IndexError(f"rank {rank} of {result.num_ranks}")
    matplotlib = needed("matplotlib", "plot")
    with matplotlib.rc_context(_STYLE):
        if axes is None:
            # No pyplot: no window, and no figure that somebody must close.
            figure = needed("matplotlib.figure", "plot").Figure(layout="constrained")
            axes = figure.add_subplot()
            wanted = _DRAWERS[kind](result, axes, ranks)
            figure.set_size_inches(width, height or wanted)
        else:
            _DRAWERS[kind](result, axes, ranks)
            figure = axes.get_figure()
        axes.spines[["top", "right"]].set_visible(False)
        if path is not None:
            _save(figure, Path(path), dpi)
    return figure


def _save(figure: Any, path: Path, dpi: int) -> None:
    form = path.suffix.removeprefix(".").lower()
    if form not in (known := figure.canvas.get_supported_filetypes()):
        raise ValueError(f"{path}: a figure is written as {', '.join(f'.{name}' for name in sorted(known))}")
    # A date would make equal figures differ.
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form)
    with complete_path(path) as temporary:
        figure.savefig(temporary, format=form, dpi=dpi, metadata=metadata)


def _draw_time(result: Result, axes: Any, ranks: Sequence[int] | None) -> float:
    spent = time_spent(result)
    shown = list(range(result.num_ranks)) if ranks is None else list(ranks)
    scale = TimeScale.for_times_up_to(result.total_ns)
    places = np.arange(len(shown))
    left = np.zeros(len(shown))
    for name, column in spent.parts.items():
        width = column[shown] / scale.unit_ns
        # Very many bars have no room for gaps.
        axes.barh(places, width, height=0.8 if len(shown) <= 64 else 1.0, left=left, color=colour(name), label=name)
        left += width
    if len(shown) <= 32:
        axes.set_yticks(places, [str(rank) for rank in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel(f"time ({_unit(scale)})")
    axes.set_ylabel("rank")
    _legend(axes)
    return 1.1 + min(0.16 * len(shown), 5.0)


def _draw_exposed(result: Result, axes: Any, _: Sequence[int] | None) -> float:
    bars = exposed_by_form(time_spent(result), result.group_ranks())
    labels = sorted(bars, key=lambda label: -sum(bars[label].values()))
    scale = TimeScale.for_times_up_to(int(max((sum(bars[label].values()) for label in labels), default=0)))
    left = np.zeros(len(labels))
    for name in CATEGORIES:
        width = np.array([bars[label].get(name, 0.0) for label in labels]) / scale.unit_ns
        if width.any():
            axes.barh(np.arange(len(labels)), width, height=0.7, left=left, color=colour(name), label=name)
            left += width
    axes.set_yticks(np.arange(len(labels)), labels)
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    axes.set_xlabel(f"exposed communication, mean of all ranks ({_unit(scale)})")
    _legend(axes)
    return 1.1 + 0.25 * len(labels)


def _draw_bandwidth(result: Result, axes: Any, _: Sequence[int] | None) -> float:
    points = bandwidth_points(result.collectives())
    for kind, ranks in points.series():
        of_line = points.of(kind, ranks)
        middle = of_line["busbw"]
        axes.errorbar(
            of_line["bytes"],
            middle,
            yerr=[middle - of_line["least"], of_line["most"] - middle],
            label=f"{kind}, {ranks} ranks",
            color=colour(kind),
            marker=_MARKERS[points.rank_place(ranks)],
            markersize=3.5,
            linewidth=0.8,
            capsize=1.5,
        )
    axes.set_xscale("log", base=2)
    size = points.table["bytes"]
    if len(size):
        axes.set_xticks(*size_ticks(int(size.min()), int(size.max())))
        _legend(axes)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("size")
    axes.set_ylabel("bus bandwidth (GB/s)")
    axes.grid(linewidth=0.3)
    return 2.8


def _draw_dimensions(result: Result, axes: Any, _: Sequence[int] | None) -> float:
    table = result.dimensions()
    percent = table["utilisation"] * 100
    places = np.arange(len(percent))
    bars = axes.bar(places, percent, width=0.5, color=colour("compute"))
    axes.bar_label(bars, [format_bytes(int(size)) for size in table["bytes"]], padding=2, fontsize=7)
    names = [f"{topology} of {npus}" for topology, npus in zip(table["topology"], table["npus"].tolist(), strict=True)]
    axes.set_xticks(places, [f"dimension {place}\n{name}" for place, name in zip(places, names, strict=True)])
    axes.set_xlim(-0.6, len(percent) - 0.4)
    axes.set_ylabel("links in use (%)")
    axes.margins(y=0.15)
    return 2.4


def _draw_timeline(result: Result, axes: Any, ranks: Sequence[int] | None) -> float:
    timeline = timeline_of(result, ranks)
    scale = TimeScale.for_times_up_to(result.total_ns)
    fitting = [level for _, level in timeline.levels if len(level) <= _MOST_SLICES] or [timeline.levels[0][1]]
    level = fitting[-1]
    for category in np.unique(level.category).tolist():
        for lane in np.unique(level.lane[level.category == category]).tolist():
            chosen = (level.category == category) & (level.lane == lane)
            start, length = level.start[chosen], (level.end - level.start)[chosen]
            spans = np.stack([start, length], axis=1) / scale.unit_ns
            axes.broken_barh(spans.tolist(), (lane - 0.4, 0.8), facecolors=colour(CATEGORIES[category]), linewidth=0)
        # Of many collections of one category the legend has one.
        axes.barh([0], [0], color=colour(CATEGORIES[category]), label=CATEGORIES[category])
    several = len(timeline.ranks) > 1
    names = [f"rank {rank}, {name}" if several else name for rank, name in timeline.lanes]
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axes.set_xlim(0, scale.of(max(result.total_ns, 1)))
    axes.set_xlabel(f"time ({_unit(scale)})")
    if names:
        _legend(axes)
    return 1.1 + 0.15 * len(names)


def _legend(axes: Any) -> None:
    """Above the axes, where it hides nothing."""
    if axes.get_legend_handles_labels()[1]:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.3, handlelength=1.2, columnspacing=1.2
        )


def _unit(scale: TimeScale) -> str:
    return "\u00b5s" if scale.unit == "us" else scale.unit


_DRAWERS: dict[str, Callable[[Result, Any, Sequence[int] | None], float]] = {
    "timeline": _draw_timeline,
    "time": _draw_time,
    "exposed": _draw_exposed,
    "bandwidth": _draw_bandwidth,
    "dimensions": _draw_dimensions,
}
