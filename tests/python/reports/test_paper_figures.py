# SPDX-License-Identifier: MIT
"""Figures for papers: what matplotlib was told to draw, against the columns of the result."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chakra_core as cc
from chakra_core.reports.categories import CATEGORIES, colour
from chakra_core.reports.paper_figures import _DRAWERS
from random_runs import Node, build

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")

NETWORK = {"topology": ["Ring", "Switch"], "npus": [2, 2], "bandwidth": [50, 25], "latency": [500, 1000]}


@pytest.fixture(scope="module")
def result() -> cc.Result:
    def nodes(rank: int) -> list[Node]:
        return [
            Node("COMP_NODE", [], {"stream": 7}, 40_000 + 5000 * rank),
            Node("COMP_NODE", [], {"is_cpu_op": True, "tid": 1}, 90_000),
            Node("COMM_COLL_NODE", [0], {"comm_type": 0, "comm_size": 1 << 20}),
            Node("COMM_COLL_NODE", [2], {"comm_type": 0, "comm_size": 1 << 20}),
            Node("COMM_COLL_NODE", [3], {"comm_type": 2, "comm_size": 1 << 18, "pg_name": str(1 + rank % 2)}),
            Node("COMP_NODE", [4], {"stream": 7}, 20_000),
        ]

    groups = {"1": [0, 2], "2": [1, 3]}
    return cc.simulate([build(nodes(rank)) for rank in range(4)], network=NETWORK, comm_groups=groups)


def axes_of(figure: Any) -> Any:
    (axes,) = figure.axes
    return axes


def bars_by_label(axes: Any) -> dict[str, list[Any]]:
    return {bars.get_label(): list(bars) for bars in axes.containers if hasattr(bars, "patches")}


def test_time(result: cc.Result) -> None:
    axes = axes_of(result.plot("time"))
    bars = bars_by_label(axes)
    widths = {name: np.array([bar.get_width() for bar in of_name]) for name, of_name in bars.items()}
    unit = {"time (ms)": 1e6, "time (\u00b5s)": 1e3}[axes.get_xlabel()]
    assert widths["compute"] * unit == pytest.approx(result.compute_ns)
    assert sum(widths.values()) * unit == pytest.approx(result.finish_ns)
    exposed = widths["all-reduce"] + widths["all-gather"]
    assert exposed * unit == pytest.approx(result.exposed_comm_ns)
    for name, of_name in bars.items():
        assert matplotlib.colors.to_hex(of_name[0].get_facecolor()) == colour(name)
    # Bars follow each other without a gap.
    ends = np.zeros(4)
    for of_name in bars.values():
        assert [bar.get_x() for bar in of_name] == pytest.approx(ends)
        ends += [bar.get_width() for bar in of_name]
    two = bars_by_label(axes_of(result.plot("time", ranks=[3, 1])))
    assert [bar.get_width() * unit for bar in two["compute"]] == pytest.approx(result.compute_ns[[3, 1]])


def test_exposed(result: cc.Result) -> None:
    axes = axes_of(result.plot("exposed"))
    unit = 1e6 if "(ms)" in axes.get_xlabel() else 1e3
    total = sum(bar.get_width() for of_name in bars_by_label(axes).values() for bar in of_name)
    assert total * unit == pytest.approx(result.exposed_comm_ns.mean())
    assert [label.get_text() for label in axes.get_yticklabels()] == ["all ranks", "2 groups of 2, step 2 (1, 2)"]


def test_bandwidth(result: cc.Result) -> None:
    axes = axes_of(result.plot("bandwidth"))
    table = result.collectives()
    expected: dict[str, set[int]] = defaultdict(set)
    for kind, ranks, size in zip(table["type"], table["ranks"], table["bytes"].tolist(), strict=True):
        expected[f"{kind.lower().replace('_', '-')}, {ranks} ranks"].add(size)
    lines = {bars.get_label(): bars.lines[0] for bars in axes.containers}
    assert {name: set(line.get_xdata()) for name, line in lines.items()} == expected
    of_reduce = table["busbw"][table["type"] == "ALL_REDUCE"]
    assert lines["all-reduce, 4 ranks"].get_ydata().tolist() == pytest.approx([np.median(of_reduce)])


def test_dimensions(result: cc.Result) -> None:
    axes = axes_of(result.plot("dimensions"))
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == pytest.approx(result.dimensions()["utilisation"] * 100)


def test_timeline(result: cc.Result) -> None:
    axes = axes_of(result.plot("timeline", ranks=[0, 2]))
    unit = 1e6 if "(ms)" in axes.get_xlabel() else 1e3
    names = [label.get_text() for label in axes.get_yticklabels()]
    found = []
    for collection in axes.collections:
        for path in collection.get_paths():
            (left, low), (right, high) = path.get_extents().get_points().tolist()
            found.append((names[round((low + high) / 2)], round(left * unit), round(right * unit)))
    nodes = result.nodes()
    rows = zip(*(nodes[name].tolist() for name in ("rank", "lane", "start_ns", "end_ns")), strict=True)
    assert sorted(found) == sorted(
        (f"rank {rank}, {lane}", start, end) for rank, lane, start, end in rows if rank in (0, 2)
    )


@pytest.mark.parametrize("kind", _DRAWERS)
@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_files(result: cc.Result, tmp_path: Path, kind: Any, ending: str) -> None:
    for name in ("one", "two"):
        result.plot(kind, path=tmp_path / f"{name}.{ending}", dpi=60)
    one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert one.startswith({"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[ending])


@pytest.mark.parametrize("kind", _DRAWERS)
def test_without_nodes_and_communication(kind: Any, tmp_path: Path) -> None:
    trace = build([Node("COMP_NODE", [], {"is_cpu_op": False}, 1000)])
    result = cc.simulate([trace] * 4, network=NETWORK, record_nodes=False)
    result.plot(kind, path=tmp_path / "figure.png", dpi=60)


def test_given_axes_and_size(result: cc.Result) -> None:
    figure = matplotlib.figure.Figure()
    left, right = figure.subplots(1, 2)
    assert result.plot("dimensions", axes=left) is figure
    assert len(left.patches) == 2
    assert len(right.patches) == 0
    assert result.plot("time", width=3.4, height=2.4).get_size_inches().tolist() == [3.4, 2.4]
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_errors(result: cc.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"kind must be one of 'timeline', .*, not 'pie'"):
        result.plot("pie")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"written as .*\.pdf"):
        result.plot("time", path=tmp_path / "figure.doc")
    for kind in ("time", "timeline"):
        for rank in (-1, 4):
            with pytest.raises(IndexError, match=f"rank {rank} of 4"):
                result.plot(kind, ranks=[rank])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install chakra-core\[plot\]"):
        result.plot("time", path=tmp_path / "figure.pdf")
    assert list(tmp_path.iterdir()) == []


def test_every_category_has_a_colour_of_its_own() -> None:
    assert len({colour(name) for name in CATEGORIES}) == len(CATEGORIES)
