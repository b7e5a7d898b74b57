# SPDX-License-Identifier: MIT
"""Pages of runs: what is in them, and how a browser shows them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chakra_core as cc
from chakra_core.cli import main
from chakra_core.reports.run_report import as_recorded, run_page
from chakra_core.result import format_time
from random_runs import Node, build

go = pytest.importorskip("plotly.graph_objects", reason="plotly is not installed")

NETWORK = {"topology": ["Ring", "Switch"], "npus": [2, 2], "bandwidth": [50, 25], "latency": [500, 1000]}
NASTY = "</script><b>k<int>&"


def workload(rank: int) -> cc.Trace:
    """Computation, host work, memory, collectives of two groups, messages."""
    builder = cc.TraceBuilder()

    def add(name: str, kind: str, parents: list[int], duration: int = 0, **attrs: Any) -> None:
        attrs = {"is_cpu_op": False, **attrs}
        builder.add_node(id=len(builder), name=name, type=kind, data_deps=parents, duration_ns=duration, attrs=attrs)

    add(NASTY, "COMP_NODE", [], 40_000, stream=7)
    add("host", "COMP_NODE", [], 30_000, is_cpu_op=True, tid=1)
    add("all", "COMM_COLL_NODE", [0], comm_type=0, comm_size=1 << 22)
    add("half", "COMM_COLL_NODE", [0], comm_type=2, comm_size=1 << 20, pg_name=str(1 + rank % 2))
    add("kernel", "COMP_NODE", [2], 50_000 + 1000 * rank, stream=7)
    add("load", "MEM_LOAD_NODE", [4], tensor_size=1 << 16)
    add("send", "COMM_SEND_NODE", [5], comm_dst=rank ^ 1, comm_size=1 << 18, comm_tag=1)
    add("receive", "COMM_RECV_NODE", [5], comm_src=rank ^ 1, comm_size=1 << 18, comm_tag=1)
    return builder.build()


@pytest.fixture(scope="module")
def result() -> cc.Result:
    memory = {"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 100, "remote-mem-bw": 50}
    groups = {"1": [0, 2], "2": [1, 3]}
    traces = [workload(rank) for rank in range(4)]
    return cc.simulate(traces, network=NETWORK, comm_groups=groups, memory=memory, congestion=True)


def figures_of(result: cc.Result, **options: Any) -> dict[str, Any]:
    return {name: figure for one in run_page(result, **options).sections for name, figure in one.figures.items()}


def test_figures_are_what_plotly_takes(result: cc.Result) -> None:
    figures = figures_of(result)
    assert set(figures) == {"timeline", "time-spent", "exposed", "bandwidth", "dimensions", "network-use", "links"}
    for figure in figures.values():
        go.Figure({"data": figure["data"], "layout": figure["layout"]})  # raises at an unknown property


def test_figures_show_the_columns_of_the_result(result: cc.Result) -> None:
    figures = figures_of(result)
    bars = {bar["name"]: np.array(bar["x"]) for bar in figures["time-spent"]["data"]}
    scale = 1000 if "us" in figures["time-spent"]["layout"]["xaxis"]["title"]["text"] else 1
    assert bars["compute"] * scale == pytest.approx(result.compute_ns)
    assert sum(bars.values()) * scale == pytest.approx(result.finish_ns)
    exposed = sum(sum(bar["x"]) for bar in figures["exposed"]["data"])
    assert exposed * scale == pytest.approx(result.exposed_comm_ns.mean())
    dimensions = result.dimensions()
    assert figures["dimensions"]["data"][0]["y"] == pytest.approx(dimensions["utilisation"] * 100, rel=1e-4)
    links = result.links()
    assert figures["links"]["data"][0]["x"] == pytest.approx(np.sort(links["utilisation"])[::-1][:20] * 100, rel=1e-4)
    points = {
        (line["name"], x, y) for line in figures["bandwidth"]["data"] for x, y in zip(line["x"], line["y"], strict=True)
    }
    table = result.collectives()
    assert {(name, x) for name, x, _ in points} == {
        (f"{kind.lower().replace('_', '-')}, {ranks} ranks", int(size))
        for kind, ranks, size in zip(table["type"], table["ranks"], table["bytes"], strict=True)
    }


def embedded_slices(figure: dict[str, Any]) -> list[tuple[str, str, int, int]]:
    content = figure["timeline"]
    (level,) = content["levels"]
    starts = np.cumsum(level["start_step_ns"]).tolist()
    lanes = figure["layout"]["yaxis"]["ticktext"]
    return [
        (lanes[lane], content["names"][name], start, start + length)
        for lane, name, start, length in zip(level["lane"], level["name"], starts, level["length_ns"], strict=True)
    ]


def test_the_timeline_in_the_file_has_all_nodes(result: cc.Result) -> None:
    nodes = result.nodes()
    escaped = NASTY.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    expected = sorted(
        (f"rank {rank} \u00b7 {lane}", escaped if name == NASTY else name, start, end)
        for rank, lane, name, start, end in zip(
            *(nodes[name].tolist() for name in ("rank", "lane", "name", "start_ns", "end_ns")), strict=True
        )
    )
    assert sorted(embedded_slices(figures_of(result)["timeline"])) == expected


def test_key_numbers_on_top(result: cc.Result) -> None:
    tiles = {tile.label: tile.value for tile in run_page(result).tiles}
    total = int(result.finish_ns.sum())
    assert tiles["Finished after"] == format_time(result.total_ns)
    assert tiles["Ranks"] == "4"
    assert tiles["Computing"] == f"{int(result.compute_ns.sum()) / total:.1%}"
    assert tiles["Exposed comm"] == f"{int(result.exposed_comm_ns.sum()) / total:.1%}"
    assert tiles["Idle"] == f"{int(result.idle_ns.sum()) / total:.1%}"


def test_configuration_and_warnings_are_there() -> None:
    trace = build([Node("COMP_NODE", [], {"is_cpu_op": False, "num_ops": 7}, 0)])
    result = cc.simulate([trace], network={**NETWORK, "npus": [1, 1]}, system={"endpoint-delay": 17})
    page = run_page(result, title="a < b")
    assert page.title == "a < b"
    assert "<h1>a &lt; b</h1>" in page.html()
    (warning,) = page.warnings
    assert "num_ops" in warning
    rows = {tuple(row) for table in page.sections[-1].tables for row in table.rows}
    assert {("topology", "Ring, Switch"), ("endpoint-delay", "17"), ("congestion", "false")} <= rows


def test_configuration_of_a_graph_stays_short() -> None:
    links = [{"src": rank, "dst": "leaf", "bandwidth": 50, "latency": 500} for rank in range(20)]
    network = {"topology": ["Graph"], "npus": [20], "switches": ["leaf"], "links": links}
    traces = [build([Node("COMM_COLL_NODE", [], {"comm_type": 0, "comm_size": 1 << 20})])] * 20
    result = cc.simulate(traces, network=network)
    page = run_page(result)
    (rows,) = (dict(table.rows) for table in page.sections[-1].tables if table.title == "network")
    assert rows["switches"] == "leaf"
    assert rows["links"].startswith("src=0 dst=leaf bandwidth=50 latency=500")
    assert rows["links"].endswith("... (20 in all)")
    assert "damage" not in rows
    assert {"bandwidth", "dimensions"} <= set(figures_of(result))


def test_the_same_result_gives_the_same_bytes(result: cc.Result, tmp_path: Path) -> None:
    result.report(tmp_path / "one.html")
    cc.report(result, tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert [path.name for path in tmp_path.iterdir() if ".tmp" in path.name] == []


def recorded(rank: int) -> cc.Trace:
    builder = cc.TraceBuilder()
    attrs = {"is_cpu_op": False, "stream": 7}
    builder.add_node(id=1, name="mm", start_ns=1000, duration_ns=4000 + rank, attrs=attrs)
    ar = {"is_cpu_op": False, "stream": 20, "comm_type": 0, "comm_size": 1 << 20}
    builder.add_node(id=2, name="ar", type="COMM_COLL_NODE", data_deps=[1], start_ns=5000, duration_ns=2000, attrs=ar)
    return builder.build()


def test_recorded_traces_are_played_with_their_times(tmp_path: Path) -> None:
    result = as_recorded([recorded(0), recorded(1)])
    assert result.exposed_comm_ns.tolist() == [2000, 2000]
    assert result.compute_ns.tolist() == [4000, 4001]
    assert set(figures_of(result)) == {"timeline", "time-spent", "exposed"}
    cc.report([recorded(0), recorded(1)], tmp_path / "run.html")
    with pytest.raises(cc.ChakraError, match="no node has a recorded time"):
        cc.report([build([Node("COMP_NODE", [])])], tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_link_and_replay_are_shown_when_known(shared: Path) -> None:
    pair = shared / "data" / "pairs" / "torch213_mlp"
    linked = cc.link(pair / "host.json.gz", pair / "kineto.json.gz")
    trace = cc.convert(linked)
    replayed = cc.replay(trace)
    page = run_page(as_recorded([trace]), link={3: linked}, replay=replayed)
    sections = {section.title: section for section in page.sections}
    coverage = linked.report.counts["coverage"]
    tables = {table.title: table for table in sections["Coverage of the link"].tables}
    assert tables["coverage"].columns == ["", "rank 3"]
    assert ["host ops", f"{coverage['host ops']:,}"] in tables["coverage"].rows
    share = f"{coverage['host ops matched'] / coverage['host ops']:.2%}"
    assert ["host ops matched of host ops", share] in tables["matched"].rows
    (row,) = sections["Replay check"].tables[0].rows
    assert row[1:4] == [f"{len(trace):,}", format_time(replayed.recorded_ns), format_time(replayed.replayed_ns)]
    assert run_page(as_recorded([trace]), link=[linked.report]).sections[-2].title == "Coverage of the link"


def test_without_plotly_it_says_what_to_install(
    result: cc.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"pip install chakra-core\[report\]"):
        result.report(tmp_path / "run.html")
    assert list(tmp_path.iterdir()) == []
    cc.save(recorded(0), tmp_path / "run.0.et")
    assert main(["report", str(tmp_path / "run.0.et"), "-o", str(tmp_path / "run.html")]) == 1
    assert capsys.readouterr().err == "error: a report needs plotly: pip install chakra-core[report]\n"


def drawn_bars(page: Any, name: str) -> int:
    return int(
        page.evaluate(
            f"document.querySelectorAll('#{name} .trace path, #{name} .trace .point, #{name} path.js-line').length"
        )
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_draws_every_plot(browser: Any, result: cc.Result, tmp_path: Path, scheme: str) -> None:
    result.report(tmp_path / "run.html")
    page = browser.open(tmp_path / "run.html", scheme=scheme)
    for name in ("timeline", "time-spent", "exposed", "bandwidth", "dimensions", "network-use", "links"):
        assert drawn_bars(page, name) > 0, name
    assert drawn_bars(page, "timeline") >= len(result.nodes()["id"])
    # Legible: nothing wider than the window, no text below 12 pixels, names are shown as they are.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sizes = "[...document.querySelectorAll('svg text, p, td, .tile *')].filter(e => e.textContent.trim())"
    assert page.evaluate(f"Math.min(...{sizes}.map(e => parseFloat(getComputedStyle(e).fontSize)))") >= 12
    text, back = page.evaluate(
        "[getComputedStyle(document.querySelector('#timeline .xtick text')).fill,"
        " getComputedStyle(document.querySelector('section')).backgroundColor]"
    )
    assert _contrast(text, back) > 7
    page.click("#theme")
    page.wait_for_timeout(300)
    text = page.evaluate("getComputedStyle(document.querySelector('#timeline .xtick text')).fill")
    back = page.evaluate("getComputedStyle(document.querySelector('section')).backgroundColor")
    assert _contrast(text, back) > 7
    assert page.problems == []
    page.close()


def _contrast(one: str, other: str) -> float:
    """WCAG's ratio of two colours "rgb(r, g, b)"."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_names_are_shown_as_they_are(browser: Any, result: cc.Result, tmp_path: Path) -> None:
    result.report(tmp_path / "run.html", title=NASTY)
    page = browser.open(tmp_path / "run.html")
    assert page.evaluate("document.querySelector('h1').textContent") == NASTY
    bar = page.evaluate(
        "(() => { const d = document.getElementById('timeline').data;"
        " for (const t of d) for (const h of t.hovertext) if (h.includes('script')) return h; })()"
    )
    assert "</script>" not in bar
    page.close()


def test_zooming_shows_more_detail(browser: Any, tmp_path: Path) -> None:
    def kernel(number: int) -> Node:
        return Node("COMP_NODE", [number - 1] if number else [], {"is_cpu_op": False}, 500 + 7 * (number % 100))

    result = cc.simulate([build([kernel(number) for number in range(12_000)])], network={**NETWORK, "npus": [1, 1]})
    result.report(tmp_path / "run.html")
    page = browser.open(tmp_path / "run.html")
    shown = "document.getElementById('timeline').data.map(one => one.hovertext)"
    assert any("nodes</b>" in text for text in page.evaluate(shown)[0])
    total = page.evaluate("document.getElementById('timeline').layout.xaxis.range[1]")
    page.evaluate(f"Plotly.relayout('timeline', {{'xaxis.range': [{total * 0.5}, {total * 0.505}]}})")
    page.wait_for_timeout(500)
    (texts,) = page.evaluate(shown)
    assert 40 <= len(texts) <= 120
    assert all(text.startswith("<b>node") for text in texts)
    # Back to everything, as a double click does.
    box = page.locator("#timeline .nsewdrag").bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(800)
    assert page.evaluate("document.getElementById('timeline').layout.xaxis.range") == [0, total]
    page.close()


def test_large_runs_stay_small(tmp_path: Path) -> None:
    def kernel(number: int) -> Node:
        return Node("COMP_NODE", [], {"is_cpu_op": False}, 500 + number * number % 977)

    traces = [build([kernel(number) for number in range(30_000 + rank)]) for rank in range(8)]
    result = cc.simulate(traces, network={**NETWORK, "npus": [4, 2]})
    result.report(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size < 4 << 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for rank in range(2):
        cc.save(recorded(rank), tmp_path / f"run.{rank}.et")
    (tmp_path / "network.yml").write_text("topology: [Ring]\nnpus_count: [2]\nbandwidth: [50]\nlatency: [500]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "run.%d.et", "-o", "run.html", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["total_ns"] == as_recorded("run.%d.et").total_ns
    assert facts["file_bytes"] == Path("run.html").stat().st_size
    assert main(["report", "run.%d.et", "-o", "sim.html", "--network=network.yml", "--title=mine", "--ranks=1"]) == 0
    assert "sim.html: 2 ranks" in capsys.readouterr().out
    assert "<title>mine</title>" in Path("sim.html").read_text()
    assert main(["simulate", "run.%d.et", "--network=network.yml", "--report=too.html"]) == 0
    cc.simulate("run.%d.et", network="network.yml").report("api.html")
    assert Path("too.html").read_text() == Path("api.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run.%d.et", "--congestion"], "--congestion needs --network"),
        (["run.%d.et", "--system=a.json", "--congestion"], "--system, --congestion needs --network"),
        (["run.%d.et", "--ranks=a"], "found no list of numbers"),
        (["run.%d.et", "--ranks=0,2"], "found rank 2, allowed: 0 to 1"),
        (["run.%d.et", "--host=h.json"], "give either execution traces or"),
        ([], "nothing to read"),
    ],
)
def test_command_says_what_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["report", *arguments, "-o", "run.html"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert message in captured.err
    assert not Path("run.html").exists()


def test_command_with_pytorch_traces(shared: Path, tmp_path: Path) -> None:
    pair = shared / "data" / "pairs" / "torch213_mlp"
    files = [f"--host={pair / 'host.json.gz'}", f"--device={pair / 'kineto.json.gz'}"]
    assert main(["report", *files, "-o", str(tmp_path / "run.html")]) == 0
    text = (tmp_path / "run.html").read_text()
    assert "Coverage of the link" in text
    assert "Replay check" in text
