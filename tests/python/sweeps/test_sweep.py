# SPDX-License-Identifier: MIT
"""Sweeps: every row is what simulating its configuration by itself gives."""

from __future__ import annotations

import csv
import itertools
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from chakra_core.sweeps.grid import Axis, Configuration, Place, parse_grid, points

NETWORK = {"topology": ["Ring", "Switch"], "npus": [2, 2], "bandwidth": [50, 25], "latency": [500, 700]}
SYSTEM = {"endpoint-delay": 10, "active-chunks-per-dimension": 2}
GRID = {
    "network.bandwidth[0]": [25, "100 GB/s"],
    "network.latency[0], network.latency[1]": [0.0, 900.5],
    "system.preferred-dataset-splits": [1, 3],
    "fold": [True, False],
}


def traces() -> list[cc.Trace]:
    made = []
    for rank in range(4):
        builder = cc.TraceBuilder()
        for number in range(12):
            after = [number - 1] if number else []
            if number % 3:
                builder.add_node(id=number, data_deps=after, duration_ns=1000 * (rank + number), name="mm")
            else:
                attrs = {"comm_type": number % 2, "comm_size": 1 << 16}
                builder.add_node(id=number, type="COMM_COLL_NODE", data_deps=after, attrs=attrs)
        made.append(builder.build())
    return made


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_single_simulations(threads: int) -> None:
    loaded = traces()
    table = cc.sweep(loaded, GRID, network=NETWORK, system=SYSTEM, threads=threads)
    assert len(table) == 16
    assert table.failures == 0
    for place, values in enumerate(itertools.product(*GRID.values())):
        bandwidth, latency, splits, fold = values
        result = cc.simulate(
            loaded,
            network={**NETWORK, "bandwidth": [bandwidth, 25], "latency": [latency, latency]},
            system={**SYSTEM, "preferred-dataset-splits": splits},
            fold=fold,
        )
        row = table.row(place)
        assert [str(row[axis]) for axis in table.axes] == [str(value) for value in values]
        assert row["total_ns"] == result.total_ns
        assert row["mean_exposed_comm_ns"] == result.exposed_comm_ns.mean()
        assert row["max_idle_ns"] == result.idle_ns.max()
    best = table.best(3)
    assert [row["total_ns"] for row in best] == sorted(table["total_ns"].tolist())[:3]


def test_whole_models_and_options(tmp_path: Path) -> None:
    (tmp_path / "other.yml").write_text("topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n")
    grid = {"network": [NETWORK, str(tmp_path / "other.yml")], "options.congestion": [False, True]}
    table = cc.sweep(traces(), grid, network=NETWORK)
    expected = [
        cc.simulate(traces(), network=one, congestion=on).total_ns for one in grid["network"] for on in (0 > 1, True)
    ]
    assert table["total_ns"].tolist() == expected
    assert table["options.congestion"].tolist() == [False, True] * 2


def test_resources_by_name() -> None:
    grid = {"resources.compute": [1, 2], "resources.comm": [1, 2]}
    table = cc.sweep(traces(), grid, network=NETWORK)
    counts = itertools.product([1, 2], [1, 2])
    expected = [
        cc.simulate(traces(), network=NETWORK, resources={"compute": one, "comm": two}).total_ns for one, two in counts
    ]
    assert table["total_ns"].tolist() == expected


def test_configuration_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    grid = {"network.npus[0]": [2, 3, 2]}
    table = cc.sweep(traces(), grid, network=NETWORK, output=tmp_path / "t.csv")
    assert table.failures == 1
    assert "found 4 of 6 ranks" in table["error"][1]
    assert (table["total_ns"][1], np.isnan(table["mean_comm_ns"][1])) == (-1, True)
    assert table["total_ns"][0] == table["total_ns"][2] > 0
    assert len(table.best(5)) == 2


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        ({"network.bandwith[0]": [1]}, "network has no 'bandwith'"),
        ({"network.bandwidth[2]": [1]}, "there is no entry 2, found 2 entries"),
        ({"network.bandwidth[0]": [-1]}, r"network\.bandwidth\[0\]=-1: .*greater than 0"),
        ({"network.bandwidth[0]": 5}, "needs a list of values"),
        ({"network.bandwidth[0]": []}, "needs a list of values"),
        ({"memory.remote-mem-bw": [5]}, "no memory is given"),
        ({"wrong.thing": [5]}, "begins with none of network, system"),
        ({"network..bandwidth": [5]}, "is no path"),
        ({"fold": [True], "options.fold": [False]}, "more than once"),
        ({"system.preferred-dataset-splits": [0]}, "preferred-dataset-splits"),
    ],
)
def test_wrong_grids_are_told_at_once(grid: dict[str, Any], says: str) -> None:
    with pytest.raises(cc.ConfigError, match=says):
        cc.sweep(traces(), grid, network=NETWORK)


def test_system_from_a_file_stays_one(tmp_path: Path) -> None:
    """What a file leaves out is an error; a sweep over the file must not hide that."""
    path = tmp_path / "system.json"
    path.write_text('{"preferred-dataset-splits": 1, "collective-optimization": "baseline"}')
    with pytest.raises(cc.ConfigError, match="missing key 'all-reduce-implementation'"):
        cc.simulate(traces(), network=NETWORK, system=path)
    table = cc.sweep(traces(), {"system.preferred-dataset-splits": [1, 2]}, network=NETWORK, system=path)
    assert all("missing key 'all-reduce-implementation'" in error for error in table["error"])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["bandwidth", "latency"]),
            st.integers(0, 1),
            st.lists(st.integers(1, 99), min_size=1, max_size=3),
        ),
        max_size=3,
        unique_by=lambda one: one[:2],
    )
)
def test_points_are_the_product(axes: list[tuple[str, int, list[int]]]) -> None:
    grid = {f"network.{name}[{index}]": values for name, index, values in axes}
    base = Configuration(cc.Network(**NETWORK), cc.System())
    found = list(points(parse_grid(grid), base))
    assert [point.values for point in found] == list(itertools.product(*grid.values()))
    for point in found:
        expected = {name: list(NETWORK[name]) for name in ("bandwidth", "latency")}
        for (name, index, _), value in zip(axes, point.values, strict=True):
            expected[name][index] = value
        network = point.arguments["network"]
        assert {name: list(getattr(network, name)) for name in expected} == expected


def test_slow_ranks_and_damaged_links() -> None:
    damage = [{"dimension": 0, "bandwidth": 0.5}]
    grid = {"stragglers.compute_speed[3]": [1.0, 0.5], "network.damage": [[], damage]}
    table = cc.sweep(traces(), grid, network=NETWORK)
    expected = [
        cc.simulate(traces(), network={**NETWORK, "damage": some}, stragglers={"compute_speed": {3: speed}}).total_ns
        for speed in (1.0, 0.5)
        for some in ([], damage)
    ]
    assert table["total_ns"].tolist() == expected
    assert len(set(expected)) == 4


def test_values_by_rank() -> None:
    """What was not given becomes a mapping by rank, a list keeps its other entries."""
    base = Configuration(cc.Network(**NETWORK), cc.System(), options={"given": {"delay": [1, 2]}})
    texts = {
        "new.compute_speed[2]": "new",
        "new.compute_speed[3]": "new",
        "given.delay[0]": "given",
        "deep.a.b": "deep",
    }
    places = tuple(
        Place(text, argument, tuple(int(step) if step.isdigit() else step for step in re.findall(r"\w+", text)[1:]))
        for text, argument in texts.items()
    )
    (point,) = points([Axis("x", places, (0.5,))], base)
    assert point.arguments["new"] == {"compute_speed": {2: 0.5, 3: 0.5}}
    assert point.arguments["given"] == {"delay": [0.5, 2]}
    assert point.arguments["deep"] == {"a": {"b": 0.5}}


def test_paths() -> None:
    assert Place.parse("system.active-chunks-per-dimension").steps == ("active_chunks_per_dimension",)
    assert Place.parse("options.resources.cpu") == Place("options.resources.cpu", "resources", ("cpu",))
    assert Place.parse("network.bandwidth[1]").steps == ("bandwidth", 1)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.json"])
def test_files(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    table = cc.sweep(traces(), GRID, network=NETWORK, output=tmp_path / name)
    if name == "t.csv":
        with (tmp_path / name).open(newline="") as file:
            totals = [int(row["total_ns"]) for row in csv.DictReader(file)]
    elif name == "t.json":
        totals = [row["total_ns"] for row in json.loads((tmp_path / name).read_text())]
    else:
        import pyarrow.parquet as parquet

        read = parquet.read_table(tmp_path / name)
        totals = read["total_ns"].to_pylist()
        assert read.column_names == list(table.columns)
        assert read["fold"].to_pylist() == table["fold"].tolist()
        assert table.to_pandas()["total_ns"].tolist() == totals
    assert totals == table["total_ns"].tolist()
    with pytest.raises(ValueError, match=r"\.parquet, \.csv or \.json"):
        table.save(tmp_path / "t.txt")


def test_resume(tmp_path: Path) -> None:
    options: dict[str, Any] = {"network": NETWORK, "report": tmp_path / "r.jsonl"}
    first = cc.sweep(traces(), GRID, **options)
    again = cc.sweep(traces(), GRID, **options)
    assert (first.resumed, again.resumed) == (0, 16)
    assert all(np.array_equal(first[name], again[name]) for name in first.columns)
    # A longer list, other traces, another system.
    assert cc.sweep(traces(), {**GRID, "system.preferred-dataset-splits": [3, 1, 5]}, **options).resumed == 16
    assert cc.sweep(list(reversed(traces())), GRID, **options).resumed == 0
    assert cc.sweep(traces(), GRID, system={"endpoint-delay": 99}, **options).resumed == 0
    # The same value twice is one piece of work.
    table = cc.sweep(traces(), {"fold": [True, True]}, **options)
    assert table["total_ns"][0] == table["total_ns"][1]
    lines = (tmp_path / "r.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "r.jsonl").write_bytes(b"".join(lines[:5]) + lines[5][:10])
    assert cc.sweep(traces(), GRID, **options).resumed == 5


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from test_sweep import GRID, NETWORK, traces
import chakra_core as cc
print("begins", flush=True)
grid = {**GRID, "injection_scale": [1 + n / 100 for n in range(100)]}
cc.sweep(traces(), grid, network=NETWORK, threads=2, report="r.jsonl")
"""


def test_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        report = tmp_path / "r.jsonl"
        while not report.exists() or report.read_bytes().count(b"\n") < 20:
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    written = report.read_bytes().count(b"\n")
    grid = {**GRID, "injection_scale": [1 + n / 100 for n in range(100)]}
    table = cc.sweep(traces(), grid, network=NETWORK, threads=2, report=report)
    assert (table.resumed, table.failures) == (written, 0)
    assert len(report.read_text().splitlines()) == 1600 + 1


@pytest.fixture
def grid_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "study" / "traces").mkdir(parents=True)
    for rank, trace in enumerate(traces()):
        cc.save(trace, tmp_path / "study" / "traces" / f"run.{rank}.et")
    path = tmp_path / "study" / "grid.yml"
    path.write_text(
        "traces: traces/run.%d.et\n"
        "network: {topology: [Ring], npus_count: [4], bandwidth: [50], latency: [500]}\n"
        "system: system.json\n"
        "options: {congestion: true}\n"
        "grid:\n  network.bandwidth[0]: [25, 50 GB/s]\n  system.endpoint-delay: [0, 10, 1 us]\n"
        "output: table.csv\n"
    )
    algorithms = {f"{name}-implementation": ["ring"] for name in ("all-reduce", "all-gather", "reduce-scatter")}
    system = {"preferred-dataset-splits": 1, "collective-optimization": "baseline", **algorithms}
    (tmp_path / "study" / "system.json").write_text(json.dumps(system))
    monkeypatch.chdir(tmp_path)
    return Path("study/grid.yml")


def test_command_line(grid_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(grid_file), "--best", "2"]) == 0
    captured = capsys.readouterr()
    assert "6 configurations in" in captured.out
    assert "study/table.csv: 6 rows" in captured.out
    assert captured.err == "sweep: 6 items, 0 B\n"
    assert main(["sweep", str(grid_file), "--json", "-o", "other.json", "--report", "study/table.jsonl"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["configurations"], result["resumed"], result["path"]) == (6, 6, "other.json")
    assert len(json.loads(Path("other.json").read_text())) == 6
    network = {"topology": ["Ring"], "npus": [4], "bandwidth": ["50 GB/s"], "latency": [500]}
    one = cc.simulate("study/traces", network=network, system={"endpoint-delay": 0}, congestion=True)
    assert next(row for row in result["best"] if row["system.endpoint-delay"] == "0")["total_ns"] >= one.total_ns


def test_wrong_files(grid_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid_file.write_text(grid_file.read_text().replace("grid:", "gird:"))
    assert main(["sweep", str(grid_file)]) == 1
    assert "unknown key 'gird'; did you mean 'grid'?" in capsys.readouterr().err
