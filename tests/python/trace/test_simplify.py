# SPDX-License-Identifier: MIT
"""Leaving out nodes keeps which of the others reach which."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from shared_data import SHARED, needs

SAMPLE = Path(__file__).parents[3] / "examples" / "sample"


def graph_of(trace: cc.Trace, *kinds: str) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(int(node) for node in trace.ids)
    for row in range(len(trace)):
        node = trace.at(row)
        for kind in kinds:
            graph.add_edges_from((int(parent), node.id) for parent in getattr(node, kind))
    return graph


def reached(trace: cc.Trace, *kinds: str) -> dict[int, set[int]]:
    graph = graph_of(trace, *kinds)
    return {node: nx.descendants(graph, node) for node in graph}


KINDS = [("data_deps",), ("data_deps", "ctrl_deps")]


@st.composite
def traces(draw: st.DrawFn) -> tuple[cc.Trace, list[bool]]:
    """An acyclic trace whose rows are in any order, and which of them to keep."""
    size = draw(st.integers(1, 14))
    order = draw(st.permutations(range(size)))
    edges = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1), st.booleans()), max_size=40))
    parents: dict[tuple[int, bool], list[int]] = {}
    for one, other, is_data in edges:
        if one != other:
            known = parents.setdefault((max(one, other), is_data), [])
            if min(one, other) not in known:
                known.append(min(one, other))
    builder = cc.TraceBuilder()
    for node in order:
        builder.add_node(
            id=node * 3,
            name=f"n{node}",
            type="COMP_NODE",
            duration_ns=node,
            data_deps=[parent * 3 for parent in parents.get((node, True), [])],
            ctrl_deps=[parent * 3 for parent in parents.get((node, False), [])],
            attrs={"is_cpu_op": node % 2 == 0},
        )
    return builder.build(), draw(st.lists(st.booleans(), min_size=size, max_size=size))


@given(traces())
def test_reachability_between_kept_nodes_is_the_same(case: tuple[cc.Trace, list[bool]]) -> None:
    trace, keep = case
    small = trace.contract(np.array(keep))
    kept = {int(node) for node, wanted in zip(trace.ids, keep, strict=True) if wanted}
    assert {int(node) for node in small.ids} == kept
    for kinds in KINDS:
        expected = {node: others & kept for node, others in reached(trace, *kinds).items() if node in kept}
        assert reached(small, *kinds) == expected
    for row in range(len(small)):
        node, old = small.at(row), trace.node(small.at(row).id)
        assert (node.name, node.duration_ns, node.attrs) == (old.name, old.duration_ns, old.attrs)
        if set(map(int, old.data_deps)) | set(map(int, old.ctrl_deps)) <= kept:
            assert (list(node.data_deps), list(node.ctrl_deps)) == (list(old.data_deps), list(old.ctrl_deps))


@given(traces())
def test_it_survives_a_file(case: tuple[cc.Trace, list[bool]]) -> None:
    trace, keep = case
    small = trace.contract(np.array(keep))
    builder = cc.TraceBuilder()
    for row in range(len(small)):
        builder.add_proto(small.at(row).to_proto())
    assert not cc.diff(small, builder.build())


def chain(*names: str, cpu: bool = True) -> cc.Trace:
    builder = cc.TraceBuilder()
    for row, name in enumerate(names):
        deps = [row - 1] if row else []
        builder.add_node(id=row, name=name, type="COMP_NODE", data_deps=deps, attrs={"is_cpu_op": cpu})
    return builder.build()


def test_names_and_views() -> None:
    trace = chain("aten::mm", "aten::view", "record_param_comms", "aten::t", "aten::add")
    small = cc.simplify(trace, drop=["record_*"], drop_views=True)
    assert list(small.names) == ["aten::mm", "aten::add"]
    assert list(small.node(4).data_deps) == [0]
    assert len(cc.simplify(trace)) == 5
    assert list(cc.simplify(trace, drop=["aten::?*"]).names) == ["record_param_comms"]


def test_a_cycle_is_an_error() -> None:
    builder = cc.TraceBuilder()
    for node, parent in ((1, 2), (2, 1), (3, 1)):
        builder.add_node(id=node, name="n", type="COMP_NODE", data_deps=[parent])
    with pytest.raises(cc.DependencyError, match="cycle"):
        cc.simplify(builder.build(), drop=["x"])
    with pytest.raises(cc.ChakraError, match="is_cpu_op"):
        cc.simplify(_without_place(), device_only=True)


def _without_place() -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="n", type="COMP_NODE")
    return builder.build()


PAIR = SHARED / "data" / "pairs" / "resnet_1gpu_1.0.3"


@needs(PAIR)
def test_a_real_trace() -> None:
    trace = cc.convert(host=PAIR / "host.json.gz", device=PAIR / "kineto.json.gz")
    on_device = trace.attr("is_cpu_op").filled(1) == 0
    small = cc.simplify(trace, device_only=True)
    assert len(small) == int(on_device.sum()) + 1, "and the process groups"
    assert cc.validate(small).ok
    # Streams stay chains; the only other edges are between streams or around the CPU.
    assert len(small.data_deps.indices) < 1.2 * len(small)
    busy = cc.simplify(trace, collapse_cpu=True)
    assert len(small) < len(busy) < len(trace)
    for one in (small, busy):
        assert one.stats().acyclic
    steps = sorted(name for name in set(trace.names) if name.startswith("ProfilerStep#"))
    first = int(steps[0].split("#")[1])
    one_step = cc.simplify(trace, steps=first)
    all_steps = cc.simplify(trace, steps=(first, first + len(steps) - 1))
    assert 0 < len(one_step) < len(all_steps) <= len(trace)
    assert len(cc.simplify(trace, window=(0, 1 << 60))) == len(trace)
    with pytest.raises(cc.ChakraError, match=rf"ProfilerStep#99 is not in the trace; there are: {first}"):
        cc.simplify(trace, steps=99)
    # Reachability by an oracle that walks: from some kernels to others, the CPU left out.
    graph = graph_of(trace, "data_deps", "ctrl_deps")
    kept = {int(node) for node in small.ids}
    new = graph_of(small, "data_deps", "ctrl_deps")
    for node in sorted(kept)[:: len(kept) // 12]:
        assert nx.descendants(new, node) == nx.descendants(graph, node) & kept


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    trace = cc.convert(host=SAMPLE / "rank0.host.json.gz", device=SAMPLE / "rank0.kineto.json.gz")
    cc.save(trace, "run.et")
    options = ["--drop", "record_param_comms", "--drop-views", "--collapse-cpu", "--start", "0"]
    assert main(["simplify", "run.et", "-o", "small.et", *options, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    expected = cc.simplify(trace, drop=["record_param_comms"], drop_views=True, collapse_cpu=True)
    assert facts["nodes"] == len(expected) < len(trace) == facts["nodes"] + facts["nodes_left_out"]
    assert not cc.diff(cc.load("small.et"), expected)
    assert main(["simplify", "run.et", "-o", "small.et", "--steps", "x"]) == 1
    assert "--steps x" in capsys.readouterr().err
