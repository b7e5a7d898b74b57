# SPDX-License-Identifier: MIT
"""Graphs: the right nodes in the right boxes, in files that other programs read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from chakra_core.graphs.drawing import draw
from chakra_core.graphs.neighbourhood import rows_around

needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


@st.composite
def traces(draw_value: Any) -> cc.Trace:
    """Small graphs of few names, with both kinds of dependencies, cycles and loops included."""
    number = draw_value(st.integers(1, 14))
    pairs = st.tuples(st.integers(0, number - 1), st.integers(0, number - 1))
    edges = draw_value(st.lists(st.tuples(pairs, st.booleans()), max_size=25, unique=True))
    names = draw_value(st.lists(st.sampled_from(["a", "b.0", "b.1", "c"]), min_size=number, max_size=number))
    types = draw_value(st.lists(st.sampled_from([4, 7]), min_size=number, max_size=number))
    builder = cc.TraceBuilder()
    for node in range(number):
        deps = {kind: [10 + p for (p, c), is_data in edges if c == node and is_data == kind] for kind in (True, False)}
        builder.add_node(
            id=10 + node,
            name=names[node],
            type=cc.NodeType(types[node]),
            duration_ns=100 + node,
            data_deps=deps[True],
            ctrl_deps=deps[False],
        )
    return builder.build()


def dependencies(trace: cc.Trace) -> list[tuple[int, int, bool]]:
    """Parent's row, child's row, whether data."""
    row = {int(node): place for place, node in enumerate(trace.ids)}
    found = []
    for place in range(len(trace)):
        node = trace.at(place)
        found += [(row[int(parent)], place, True) for parent in node.data_deps]
        found += [(row[int(parent)], place, False) for parent in node.ctrl_deps]
    return found


def boxes_by_definition(trace: cc.Trace, radius: int) -> list[Any]:
    """Colour of each node, by the words of the documentation."""
    colour: list[Any] = [
        (re.sub(r"(?<=\.)\d+", "#", name), int(kind)) for name, kind in zip(trace.names, trace.types, strict=True)
    ]
    edges = dependencies(trace)
    for _ in range(radius):
        colour = [
            (
                colour[row],
                frozenset((colour[p], is_data) for p, c, is_data in edges if c == row),
                frozenset((colour[c], is_data) for p, c, is_data in edges if p == row),
            )
            for row in range(len(trace))
        ]
    return colour


@given(traces(), st.integers(0, 3))
def test_boxes(trace: cc.Trace, radius: int) -> None:
    drawing = draw(trace, np.arange(len(trace)), "repeats", radius=radius)
    colour = boxes_by_definition(trace, radius)
    box = {one: place for place, one in enumerate(dict.fromkeys(colour))}
    assert drawing.first_row.tolist() == [colour.index(one) for one in box]
    assert drawing.count.tolist() == [colour.count(one) for one in box]
    durations = Counter()
    for one, duration in zip(colour, trace.duration_ns.tolist(), strict=True):
        durations[one] += duration
    assert drawing.duration_ns.tolist() == [durations[one] for one in box]
    arrows: Counter[tuple[int, int, bool]] = Counter()
    for parent, child, is_data in dependencies(trace):
        if colour[parent] != colour[child] or parent == child:
            arrows[box[colour[parent]], box[colour[child]], is_data] += 1
    found = zip(*(column.tolist() for column in (drawing.source, drawing.target, drawing.is_data)), strict=True)
    assert dict(zip(found, drawing.arrows.tolist(), strict=True)) == arrows


@given(traces())
def test_names_are_radius_0_and_none_is_all(trace: cc.Trace) -> None:
    rows = np.arange(len(trace))
    names, zero, none = draw(trace, rows, "names"), draw(trace, rows, "repeats", radius=0), draw(trace, rows, "none")
    assert names.first_row.tolist() == zero.first_row.tolist()
    assert none.first_row.tolist() == rows.tolist()
    assert set(zip(none.source.tolist(), none.target.tolist(), none.is_data.tolist(), strict=True)) == set(
        dependencies(trace)
    )


@given(traces(), st.integers(0, 4), st.sampled_from(["parents", "children", "both"]), st.data())
def test_neighbourhood(trace: cc.Trace, depth: int, direction: Any, data: st.DataObject) -> None:
    middle = data.draw(st.integers(0, len(trace) - 1))
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(trace)))
    graph.add_edges_from((parent, child) for parent, child, _ in dependencies(trace))
    expected: set[int] = set()
    if direction != "parents":
        expected |= set(networkx.single_source_shortest_path_length(graph, middle, cutoff=depth))
    if direction != "children":
        expected |= set(networkx.single_source_shortest_path_length(graph.reverse(), middle, cutoff=depth))
    assert rows_around(trace, 10 + middle, depth, direction).tolist() == sorted(expected)


@given(traces(), st.sampled_from(["repeats", "none"]))
def test_graphml_reads_back(tmp_path_factory: pytest.TempPathFactory, trace: cc.Trace, collapse: Any) -> None:
    path = tmp_path_factory.mktemp("graph") / "t.graphml"
    drawing = cc.graph(trace, path, collapse=collapse)
    read = networkx.read_graphml(path, force_multigraph=True)
    assert len(read) == len(drawing)
    for place in range(len(drawing)):
        row = int(drawing.first_row[place])
        node = trace.at(row)
        values = read.nodes[f"n{place}"]
        assert (values["id"], values["name"], values["type"]) == (node.id, node.name, node.type.name)
        assert (values["count"], values["duration_ns"]) == (drawing.count[place], drawing.duration_ns[place])
    kinds = Counter((source, target, values["kind"]) for source, target, values in read.edges(data=True))
    assert sum(kinds.values()) == len(drawing.source)
    assert max(kinds.values(), default=1) == 1


def layers(number: int = 40) -> cc.Trace:
    builder = cc.TraceBuilder()
    for layer in range(number):
        first = 3 * layer
        builder.add_node(id=first, name=f"layers.{layer}.mm", data_deps=[first - 1] if layer else [], duration_ns=1500)
        builder.add_node(id=first + 1, name='odd "name" <&> \\ \x01 \U0001f600', ctrl_deps=[first])
        attrs = {"comm_type": 0, "comm_size": 4}
        builder.add_node(id=first + 2, name="ar", type="COMM_COLL_NODE", data_deps=[first, first + 1], attrs=attrs)
    return builder.build()


def test_layers_are_drawn_once(tmp_path: Path) -> None:
    drawing = cc.graph(layers(), tmp_path / "t.dot")
    assert drawing.count.tolist() == [1, 40, 39, 39, 1]
    text = (tmp_path / "t.dot").read_text()
    assert "layers.1.mm \u00d739\\nid 3, 58.500 us" in text
    assert '[style=dashed, label="39"]' in text
    assert cc.graph(layers(), tmp_path / "t.dot", collapse="names").count.tolist() == [40, 40, 40]
    assert len(cc.graph(layers(), tmp_path / "t.dot", around=60, depth=2, collapse="none")) == 7


def test_names_that_files_cannot_hold(tmp_path: Path) -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name='odd "name" <&> \\ \x01\n' + "x" * 100)
    trace = builder.build()
    cc.graph(trace, tmp_path / "t.graphml")
    assert ElementTree.parse(tmp_path / "t.graphml").getroot().tag.endswith("graphml")
    cc.graph(trace, tmp_path / "t.dot")
    assert 'label="odd \\"name\\" <&> \\\\' in (tmp_path / "t.dot").read_text()


@needs_graphviz
def test_pictures(tmp_path: Path) -> None:
    for name in ("t.svg", "t.pdf", "t.png"):
        cc.graph(layers(), tmp_path / name)
    assert "layers.1.mm" in (tmp_path / "t.svg").read_text()
    assert (tmp_path / "t.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    cc.graph(layers(), tmp_path / "t.dot")
    plain = subprocess.run(["dot", "-Tplain", str(tmp_path / "t.dot")], capture_output=True, text=True, check=True)
    assert plain.stdout.count("\nnode ") == 5
    with pytest.raises(cc.ChakraError, match="120 boxes are too many for a picture"):
        cc.graph(layers(), tmp_path / "big.svg", collapse="none", max_boxes=100)
    assert not (tmp_path / "big.svg").exists()


def test_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(cc.ChakraError, match="pictures need Graphviz"):
        cc.graph(layers(), tmp_path / "t.svg")


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    cc.save(layers(), "t.et")
    assert main(["graph", "t.et", "-o", "t.dot"]) == 0
    assert capsys.readouterr().out.startswith("t.dot: 120 of 120 nodes in 5 boxes, ")
    near = ["--around", "60", "--depth", "1", "--direction", "parents", "--collapse", "none"]
    assert main(["graph", "t.et", "-o", "t.graphml", *near, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["boxes"] == 2
    assert main(["graph", "t.et", "-o", "c.dot", "--where", "type == COMM_COLL_NODE", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) | {"file_bytes": 0} == {
        "path": "c.dot",
        "nodes": 40,
        "boxes": 1,
        "arrows": 0,
        "file_bytes": 0,
    }
    for arguments, says in (
        (["-o", "t.txt"], "t.txt: a graph is written as .dot"),
        (["-o", "t.dot", "--around", "999"], "there is no node 999"),
        (["-o", "t.dot", "--where", "id > 999"], "no node is left to draw"),
    ):
        assert main(["graph", "t.et", *arguments]) == 1
        assert says in capsys.readouterr().err
