# SPDX-License-Identifier: MIT
"""Figures of a run as Plotly's plain data and layout. Fonts and colours of the page are its own business."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from chakra_core.reports.bandwidth import BandwidthPoints
from chakra_core.reports.categories import CATEGORIES, colour
from chakra_core.reports.interval_coverage import Ints
from chakra_core.reports.quantities import TimeScale, plain, size_ticks
from chakra_core.reports.time_spent import TimeSpent
from chakra_core.reports.timeline_levels import Slices, Timeline
from chakra_core.result import Table, format_bytes

Figure: TypeAlias = dict[str, Any]
"""`data` and `layout` of a figure; `timeline` besides where the page chooses what is drawn."""

_MOST_BARS = 256
# More ranks than this that are all alike are one bar.
_LISTED_RANKS = 16
_MOST_GROUPS = 20
_MOST_LINKS = 20
_MOST_PARTS = 800
_LINE_COLOURS = ("#3f7fd6", "#ef8136", "#1f9e89", "#c2478d", "#8f63cf", "#b98a5a", "#d9503f", "#7d93ad")
_LONGEST_NAME = 96
_ROW = 22
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "x")


def time_spent_figure(spent: TimeSpent, scale: TimeScale) -> Figure:
    """Stack the parts of each rank's time, or of very many of each block of consecutive ranks, their means."""
    ranks = len(next(iter(spent.parts.values()), []))
    alike = ranks > _LISTED_RANKS and all((column == column[0]).all() for column in spent.parts.values())
    bounds = [(0, ranks)] if alike else _blocks(ranks)
    labels = [str(low) if high == low + 1 else f"{low}-{high - 1}" for low, high in bounds]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": labels,
            "x": [round(scale.of(value), 6) for value in _means(column, bounds)],
            "marker": {"color": colour(name)},
            "hovertemplate": f"rank %{{y}}<br>{name}: %{{x:.4~g}} {scale.unit}<extra></extra>",
        }
        for name, column in spent.parts.items()
    ]
    layout = {
        "barmode": "stack",
        "height": 130 + max(_ROW * min(len(bounds), 36), 60),
        "xaxis": {"title": {"text": f"time, {scale.unit}"}},
        "yaxis": {
            "title": {"text": "rank"},
            "type": "category",
            "autorange": "reversed",
            "nticks": 36,
        },
        "legend": {"traceorder": "normal"},
        "showlegend": True,
        "bargap": 0.22 if len(bounds) <= 64 else 0,
    }
    return {"data": data, "layout": layout}


def exposed_figure(spent: TimeSpent, groups: dict[str, list[int]], scale: TimeScale) -> Figure:
    """Exposed communication by groups and kind, the mean over all ranks; groups of one form are one bar."""
    bars = exposed_by_form(spent, groups)
    order = sorted({label: sum(kinds.values()) for label, kinds in bars.items()}.items(), key=lambda item: -item[1])
    shown = [label for label, _ in order[:_MOST_GROUPS]]
    kinds = [name for name in CATEGORIES if any(name in bars[label] for label in shown)]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": [plain(label) for label in shown],
            "x": [round(scale.of(bars[label].get(name, 0.0)), 6) for label in shown],
            "marker": {"color": colour(name)},
            "hovertemplate": f"%{{y}}<br>{name}: %{{x:.4~g}} {scale.unit} a rank<extra></extra>",
        }
        for name in kinds
    ]
    layout = {
        "barmode": "stack",
        "height": 130 + max(30 * len(shown), 60),
        "xaxis": {"title": {"text": f"exposed, mean of all ranks, {scale.unit}"}},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True},
        "legend": {"traceorder": "normal"},
        "showlegend": True,
    }
    return {"data": data, "layout": layout}


def exposed_by_form(spent: TimeSpent, groups: dict[str, list[int]]) -> dict[str, dict[str, float]]:
    """Mean exposed time over all ranks, ns, by a label of the groups and by kind."""
    forms: dict[tuple[int, int] | str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(group for group, _ in spent.exposed):
        members = groups.get(name, [])
        form = (len(members), members[1] - members[0]) if len(members) > 1 and name != "all ranks" else name
        forms[form].append(name)
    label_of = {name: _form_label(form, names) for form, names in forms.items() for name in names}
    bars: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (group, kind), times in spent.exposed.items():
        bars[label_of[group]][kind] += float(times.mean())
    return {label: dict(kinds) for label, kinds in bars.items()}


def _form_label(form: tuple[int, int] | str, names: list[str]) -> str:
    if isinstance(form, str):
        return form
    size, step = form
    if len(names) == 1:
        return f"group {names[0]} ({size} ranks)"
    listed = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    return f"{len(names)} groups of {size}, step {step} ({listed})"


def bandwidth_figure(points: BandwidthPoints) -> Figure:
    """Bus bandwidth against size: a point for each type, number of ranks and size, from the least to the largest."""
    data = []
    for kind, ranks in points.series():
        chosen = points.of(kind, ranks)
        middle = chosen["busbw"]
        size = chosen["bytes"]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"{kind}, {ranks} ranks",
                "x": size.tolist(),
                "y": _short(middle),
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": _short(chosen["most"] - middle),
                    "arrayminus": _short(middle - chosen["least"]),
                    "thickness": 1,
                    "width": 3,
                },
                "customdata": [
                    [format_bytes(int(one)), int(number)] for one, number in zip(size, chosen["count"], strict=True)
                ],
                "marker": {"color": colour(kind), "size": 8, "symbol": _SYMBOLS[points.rank_place(ranks)]},
                "line": {"color": colour(kind), "width": 1, "dash": "dot"},
                "hovertemplate": "%{customdata[0]}, %{customdata[1]} of them<br>median %{y:.4~g} GB/s"
                f"<extra>{kind}, {ranks} ranks</extra>",
            }
        )
    values, texts = size_ticks(int(points.table["bytes"].min()), int(points.table["bytes"].max()))
    layout = {
        "height": 420,
        "xaxis": {
            "title": {"text": "size (as NCCL-tests counts it)"},
            "type": "log",
            "tickvals": values,
            "ticktext": texts,
            "range": [float(np.log10(values[0])) - 0.05, float(np.log10(values[-1])) + 0.05],
        },
        "yaxis": {"title": {"text": "bus bandwidth, GB/s"}, "rangemode": "tozero"},
        "hovermode": "closest",
        "showlegend": True,
    }
    return {"data": data, "layout": layout}


def dimensions_figure(dimensions: Table) -> Figure:
    """How much of the links of each dimension was used, in %."""
    names = [
        f"dimension {number}<br>{topology} of {npus}"
        for number, topology, npus in zip(
            dimensions["dimension"].tolist(), dimensions["topology"].tolist(), dimensions["npus"].tolist(), strict=True
        )
    ]
    percent = dimensions["utilisation"] * 100
    moved = [format_bytes(int(size)) for size in dimensions["bytes"]]
    bars = {
        "type": "bar",
        "x": names,
        "y": _short(percent),
        "marker": {"color": colour("compute")},
        "width": 0.5,
        "text": [f"{share:.3g} %<br>{size}" for share, size in zip(percent.tolist(), moved, strict=True)],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{x}<br>%{y:.4~g} % of the time of its links<extra></extra>",
    }
    layout = {
        "height": 360,
        "showlegend": False,
        "yaxis": {"title": {"text": "links in use, %"}, "range": [0, max(1.25 * float(percent.max(initial=0)), 1)]},
        "xaxis": {"type": "category"},
    }
    return {"data": [bars], "layout": layout}


def network_use_figure(use: Table, dimensions: Table, total_ns: int, scale: TimeScale) -> Figure:
    """Show how much of each dimension's links was used over time, in %."""
    data = []
    for number in np.unique(use["dimension"]).tolist():
        here = use["dimension"] == number
        edges, means = means_over_time(use["time_ns"][here].astype(np.int64), use["percent"][here], total_ns)
        name = f"dimension {number}, {dimensions['topology'][number]} of {dimensions['npus'][number]}"
        looks = {"color": _LINE_COLOURS[number % len(_LINE_COLOURS)], "width": 1.3, "shape": "hv"}
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": _short(edges / scale.unit_ns),
                "y": _short(np.append(means, means[-1:])),
                "line": looks,
                "hovertemplate": f"%{{y:.3~g}} % at %{{x:.5~g}} {scale.unit}<extra>{name}</extra>",
            }
        )
    layout = {
        "height": 320,
        "showlegend": True,
        "xaxis": {"title": {"text": f"time, {scale.unit}"}, "range": [0, scale.of(max(total_ns, 1))]},
        "yaxis": {"title": {"text": "links in use, %"}, "rangemode": "tozero"},
        "hovermode": "closest",
    }
    return {"data": data, "layout": layout}


def means_over_time(
    time: Ints, value: npt.NDArray[np.float64], total_ns: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Edges of equal parts of the run, and the mean in each of a value that changes at these times; 0 before the first.

    The value is 0 from the last time on.
    """
    edges = np.linspace(0, max(total_ns, 1), _MOST_PARTS + 1)
    before = np.concatenate([[0.0], np.cumsum(value[:-1] * np.diff(time))])
    # The sum up to any time is linear between changes.
    return edges, np.diff(np.interp(edges, time, before)) / np.diff(edges)


def links_figure(links: Table) -> Figure:
    """Show the links that were held longest."""
    order = np.argsort(-links["busy_ns"].astype(np.int64), kind="stable")[:_MOST_LINKS]
    names = [
        f"{source} to {destination}"
        for source, destination in zip(links["source"][order], links["destination"][order], strict=True)
    ]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": names,
        "x": _short(links["utilisation"][order] * 100),
        "marker": {"color": colour("memory")},
        "customdata": [[format_bytes(int(links["bytes"][place])), int(links["messages"][place])] for place in order],
        "hovertemplate": "%{y}<br>%{x:.4~g} % of the run<br>%{customdata[0]} in %{customdata[1]} messages"
        "<extra></extra>",
    }
    layout = {
        "height": 130 + max(_ROW * len(order), 60),
        "showlegend": False,
        "xaxis": {"title": {"text": "held by messages, % of the run"}, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True},
    }
    return {"data": [bars], "layout": layout}


def timeline_figure(timeline: Timeline, scale: TimeScale) -> Figure:
    """Lanes of each rank; the page draws the finest level that has few enough slices in view."""
    used = sorted({int(one) for _, level in timeline.levels for one in np.unique(level.category)})
    several = len(timeline.ranks) > 1
    names, levels = _embedded(timeline)
    lanes = [f"rank {rank} \u00b7 {plain(name)}" if several else plain(name) for rank, name in timeline.lanes]
    legend = [
        {
            "type": "bar",
            "orientation": "h",
            "name": CATEGORIES[category],
            "x": [None],
            "y": [0],
            "marker": {"color": colour(CATEGORIES[category])},
        }
        for category in used
    ]
    edges = [place - 0.5 for place in range(1, len(lanes)) if timeline.lanes[place][0] != timeline.lanes[place - 1][0]]
    layout = {
        "barmode": "overlay",
        "bargap": 0.15,
        "height": 150 + max(20 * len(lanes), 60),
        "xaxis": {"title": {"text": f"time, {scale.unit}"}, "range": [0, scale.of(max(timeline.total_ns, 1))]},
        "yaxis": {
            "tickvals": list(range(len(lanes))),
            "ticktext": lanes,
            "range": [len(lanes) - 0.5, -0.5],
            "fixedrange": True,
            "showgrid": False,
            "automargin": True,
        },
        "shapes": [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": edge, "y1": edge, "line": {"width": 1}}
            for edge in edges
        ],
        "dragmode": "zoom",
        "hovermode": "closest",
    }
    content = {
        "unit": scale.unit,
        "unit_ns": scale.unit_ns,
        "total_ns": timeline.total_ns,
        "categories": used,
        "category_names": [CATEGORIES[category] for category in used],
        "names": names,
        "levels": levels,
    }
    return {"data": legend, "layout": layout, "timeline": content}


def _embedded(timeline: Timeline) -> tuple[list[str], list[dict[str, Any]]]:
    """Names, each once, and the levels' columns, starts as differences: small numbers compress well."""
    single = [level.node[level.count == 1] for _, level in timeline.levels]
    wanted = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *single]))
    texts: dict[str, int] = {}
    place = np.full(len(timeline.names), -1, dtype=np.int64)
    place[wanted] = [texts.setdefault(name, len(texts)) for name in timeline.names[wanted].tolist()]
    levels = []
    for resolution, level in timeline.levels:
        name = np.where(level.count == 1, place[level.node], -1)
        levels.append(
            {
                "resolution_ns": resolution,
                "lane": level.lane.tolist(),
                "category": level.category.tolist(),
                "start_step_ns": np.diff(level.start, prepend=0).tolist(),
                "length_ns": (level.end - level.start).tolist(),
                **_only_joined(level),
                "name": name.tolist(),
            }
        )
    return [plain(_shortened(text)) for text in texts], levels


def _only_joined(level: Slices) -> dict[str, list[int]]:
    """Numbers of nodes and their time, which say nothing new of single nodes."""
    joined = level.count > 1
    return {
        "joined": np.flatnonzero(joined).tolist(),
        "count": level.count[joined].tolist(),
        "busy_ns": level.busy[joined].tolist(),
    }


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "\u2026"


def _blocks(ranks: int) -> list[tuple[int, int]]:
    """Bounds of at most `_MOST_BARS` blocks of consecutive ranks."""
    size = -(-ranks // _MOST_BARS) if ranks else 1
    return [(low, min(low + size, ranks)) for low in range(0, ranks, size)]


def _means(column: Ints, bounds: list[tuple[int, int]]) -> list[float]:
    return [float(column[low:high].mean()) for low, high in bounds]


def _short(values: npt.NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]
