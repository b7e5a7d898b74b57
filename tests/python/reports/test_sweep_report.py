# SPDX-License-Identifier: MIT
"""Pages of sweeps: heat maps, fronts and effects against the plainest way to find them, and in a browser."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from chakra_core.reports.sweep_report import front_pairs, sweep_page
from chakra_core.reports.sweep_tables import Sweep, heat_map, levels_of, pareto_front, quartiles, sweep_of

NAN = float("nan")
VALUES = st.sampled_from([NAN, 0.0, 1.0, 2.0, 3.0, float("inf")])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "bandwidth": st.sampled_from([100, 25, 50]),
            "algorithm": st.sampled_from(["ring", "direct"]),
            "total_ns": st.integers(1, 9),
            "share": st.sampled_from([0.25, 0.5, 1.0]),
        }
    ),
    min_size=1,
    max_size=25,
)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=12))
def test_front_is_what_nothing_beats(points: list[tuple[float, float]]) -> None:
    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one != other and one[0] <= other[0] and one[1] <= other[1]

    known = [place for place, (x, y) in enumerate(points) if x == x and y == y]
    expected = {place for place in known if not any(beats(points[other], points[place]) for other in known)}
    array = np.array(points, dtype=np.float64).reshape(-1, 2)
    front = pareto_front(array[:, 0], array[:, 1]).tolist()
    assert set(front) == expected
    assert len(front) == len(expected)
    assert [points[place][0] for place in front] == sorted(points[place][0] for place in front)


@pytest.mark.parametrize("maximise", [(), ("share",)])
@given(rows=ROWS)
def test_each_cell_has_the_best_configuration(maximise: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    sweep = sweep_of(rows, ["bandwidth", "algorithm"], ["total_ns", "share"], maximise)
    for metric in ("total_ns", "share"):
        sign = -1 if metric in maximise else 1
        cells = heat_map(sweep, "bandwidth", "algorithm", metric)
        assert cells.columns == [str(value) for value in sorted({row["bandwidth"] for row in rows})]
        assert cells.rows == list(dict.fromkeys(row["algorithm"] for row in rows))
        for (down, name), (across, value) in product(enumerate(cells.rows), enumerate(cells.columns)):
            here = [
                place for place, row in enumerate(rows) if row["algorithm"] == name and str(row["bandwidth"]) == value
            ]
            best = min(here, key=lambda place: (sign * rows[place][metric], place), default=-1)
            assert cells.row_of[down, across] == best


@given(rows=ROWS)
def test_effects_are_quartiles(rows: list[dict[str, Any]]) -> None:
    sweep = sweep_of(rows, ["bandwidth", "algorithm"], ["total_ns"])
    labels, values = quartiles(sweep, "bandwidth", "total_ns")
    for label, found in zip(labels, values.tolist(), strict=True):
        here = [row["total_ns"] for row in rows if str(row["bandwidth"]) == label]
        assert [found[0], found[2], found[4]] == [min(here), median(here), max(here)]
        assert sorted(found) == found
    assert len(labels) == len({row["bandwidth"] for row in rows})


def test_many_values_become_steps_of_equal_share() -> None:
    levels = levels_of(np.arange(1000.0))
    assert len(levels.labels) == 20
    assert np.bincount(levels.place).tolist() == [50] * 20
    assert levels.labels[0] == "0 to 49.95"
    assert levels_of(np.array([True, False, True])).labels == ["True", "False"]


def test_failures_and_missing_values_are_left_out() -> None:
    table = {
        "a": [1, 1, 2, 2],
        "same": ["x", "x", "x", "x"],
        "total_ns": [5, -1, 7, 6],
        "mean_idle_ns": [1.0, NAN, 2.0, NAN],
        "error": ["", "no such topology", "", ""],
    }
    sweep = sweep_of(table)
    assert (len(sweep), sweep.failed) == (3, 1)
    assert sweep.parameters == ["a"]
    assert sweep.metrics == ["total_ns", "mean_idle_ns"]
    assert sweep.best("total_ns").tolist() == [0, 2, 1]
    assert sweep.best("mean_idle_ns").tolist() == [0, 1]
    page = sweep_page(sweep)
    assert page.warnings == ["1 configurations have no result and are left out"]
    assert {tile.label: tile.value for tile in page.tiles}["Best total"] == "5 ns"


def test_tables_of_any_kind_are_taken() -> None:
    import pandas as pd

    columns: dict[str, Any] = {"a": np.array([1, 2]), "total_ns": np.array([10, 20])}
    structured = np.zeros(2, dtype=[("a", np.int64), ("total_ns", np.int64)])
    structured["a"], structured["total_ns"] = columns["a"], columns["total_ns"]
    rows = [{"a": 1, "total_ns": 10}, {"a": 2, "total_ns": 20}]
    for table in (columns, pd.DataFrame(columns), structured, rows):
        sweep = sweep_of(table)
        assert (sweep.parameters, sweep.metrics) == (["a"], ["total_ns"])
        assert sweep.columns["total_ns"].tolist() == [10, 20]


def test_sweeps_know_their_parameters(tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed")
    builder = cc.TraceBuilder()
    attrs = {"is_cpu_op": False, "comm_type": 0, "comm_size": 1 << 20}
    builder.add_node(id=0, name="ar", type="COMM_COLL_NODE", attrs=attrs)
    network = {"topology": ["Ring"], "npus": [4], "bandwidth": [50], "latency": [500]}
    grid = {"network.latency[0]": [500, 1000], "network.bandwidth[0]": [25, 50, 100]}
    table = cc.sweep([builder.build()] * 4, grid, network=network)
    sweep = sweep_of(table)
    assert sweep.parameters == list(grid)
    assert sweep.metrics[0] == "total_ns"
    assert len(sweep.metrics) <= 6
    assert sweep.columns["total_ns"].tolist() == table["total_ns"].tolist()
    table.report(tmp_path / "sweep.html")
    cc.report_sweep(table, tmp_path / "same.html")
    assert (tmp_path / "sweep.html").read_bytes() == (tmp_path / "same.html").read_bytes()


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        ({"a": [1], "b": [2]}, {}, "nothing says which columns are metrics: name them; there are a, b"),
        ({"a": [1], "b": [2]}, {"metrics": ["c"]}, "no column 'c'; there are a, b"),
        ({"a": [1], "b": [2]}, {"parameters": ["c"]}, "no column 'c'"),
        ({"a": [1], "b": [2]}, {"metrics": ["b"], "maximise": ["c"]}, "no column 'c'"),
        ({"a": [1], "b": ["x"]}, {"metrics": ["b"]}, "column 'b' is a metric and has no numbers"),
        ({"a": [1, 2], "b": [2]}, {"metrics": ["b"]}, "no common length"),
        ({"a": [1], "b_ns": [2], "error": ["broken"]}, {}, "no configuration with a result"),
        (np.zeros((2, 2)), {}, "an array needs names"),
        ([], {}, "the table is empty"),
    ],
)
def test_wrong_tables(table: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cc.ConfigError, match=message):
        sweep_of(table, **arguments)


def grid() -> list[dict[str, Any]]:
    """A made-up cost model of which the best configuration is known."""
    return [
        {
            "bandwidth": bandwidth,
            "splits": splits,
            "algorithm <i>": algorithm,
            "total_ns": 40_000_000 // bandwidth + 10_000 * abs(splits - 4) + 50_000 * (algorithm == "direct"),
            "max_comm_ns": 10_000_000 // bandwidth + 1000 * splits,
        }
        for bandwidth, splits, algorithm in product([25, 50, 100], [1, 2, 4, 8], ["ring", "direct"])
    ]


def choices_of(sweep: Sweep) -> dict[str, dict[str, Any]]:
    figures = {name: figure for one in sweep_page(sweep).sections for name, figure in one.figures.items()}
    return {name: {choice["label"]: choice for choice in figure["choices"]} for name, figure in figures.items()}


def test_figures_show_the_table() -> None:
    go = pytest.importorskip("plotly.graph_objects", reason="plotly is not installed")
    rows = grid()
    sweep = sweep_of(rows)
    choices = choices_of(sweep)
    assert {name: len(of_name) for name, of_name in choices.items()} == {"heat-map": 6, "front": 3, "effect": 6}
    for of_name in choices.values():
        for choice in of_name.values():
            go.Figure({"data": choice["data"], "layout": choice["layout"]})
    (cells,) = choices["heat-map"]["total: splits against bandwidth"]["data"]
    for y, x in product(range(4), range(3)):
        here = [row for row in rows if str(row["bandwidth"]) == cells["x"][x] and str(row["splits"]) == cells["y"][y]]
        assert cells["z"][y][x] == pytest.approx(min(row["total_ns"] for row in here) / 1e6)
    others, front = choices["front"]["total against bandwidth"]["data"]
    assert front["x"] == [25, 50, 100]
    assert front["y"] == pytest.approx([1.6, 0.8, 0.4])
    assert len(others["x"]) + len(front["x"]) == len(rows)
    (box,) = choices["effect"]["total by splits"]["data"]
    assert box["x"] == ["1", "2", "4", "8"]
    assert box["lowerfence"] == pytest.approx([0.43, 0.42, 0.4, 0.44])
    assert front_pairs(sweep) == [("bandwidth", "total_ns"), ("splits", "total_ns"), ("total_ns", "max_comm_ns")]
    best = sweep_page(sweep).sections[-1].tables[0]
    assert list(best.rows[0]) == ["100", "4", "ring", "400.000 us", "104.000 us"]


def test_a_browser_draws_every_choice(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed")
    cc.report_sweep(grid(), tmp_path / "sweep.html")
    page = browser.open(tmp_path / "sweep.html")
    for name in ("heat-map", "front", "effect"):
        select = page.locator(f".choice:has(+ #{name}) select")
        labels = select.locator("option").all_text_contents()
        assert len(labels) >= 3
        for label in labels:
            select.select_option(label=label)
            page.wait_for_timeout(150)
            drawn = "image, .heatmaplayer image, .trace .point, .trace path.box"
            assert page.evaluate(f"document.querySelectorAll('#{name} :is({drawn})').length") > 0, (name, label)
            axes = page.evaluate(f"document.querySelector('#{name} .infolayer').textContent")
            words = label.replace(": ", " ").replace(" against ", " by ").split(" by ")
            assert words[-1].split(" ")[0] in axes
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "algorithm <i>" in page.evaluate("document.body.textContent")
    page.click("#theme")
    page.wait_for_timeout(300)
    assert page.problems == []
    page.close()


def test_command_reads_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed")
    rows = grid()
    with (tmp_path / "sweep.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "error"], restval="")
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "sweep.json").write_text(json.dumps(rows))
    pages = []
    for name in ("sweep.csv", "sweep.json"):
        assert main(["report-sweep", str(tmp_path / name), "-o", str(tmp_path / "sweep.html"), "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["configurations"] == len(rows)
        assert facts["metrics"] == ["total_ns", "max_comm_ns"]
        pages.append((tmp_path / "sweep.html").read_bytes())
    assert pages[0] == pages[1]
    options = ["--parameters=bandwidth", "--metrics=max_comm_ns,total_ns", "--maximise=total_ns", "--title=mine"]
    assert main(["report-sweep", str(tmp_path / "sweep.csv"), "-o", str(tmp_path / "two.html"), *options]) == 0
    assert "<title>mine</title>" in (tmp_path / "two.html").read_text()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "is .csv, .parquet or .json"),
        ("a.csv", "a,b\n", "found no line of names with rows"),
        ("a.csv", "a,b\n1\n", "found no line of names with rows"),
        ("a.json", "{", "is no JSON"),
        ("a.json", "[]", "found no list of rows"),
        ("a.csv", "a,b\n1,2\n", "nothing says which columns are metrics"),
    ],
)
def test_command_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    assert main(["report-sweep", str(tmp_path / name), "-o", str(tmp_path / "sweep.html")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "sweep.html").exists()
