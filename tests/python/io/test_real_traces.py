# SPDX-License-Identifier: MIT
"""All real traces beside the tree, against Python protobuf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import chakra_core as cc
from et_records import INTEGER_ARMS, INTEGER_COLUMNS, check_column, check_node, parse, read_bytes
from shared_data import SHARED, needs

ET_FILES = sorted([*(SHARED / "data" / "et").rglob("*.et"), *(SHARED / "data" / "et").rglob("*.et.gz")])
WORKLOADS = SHARED / "reference" / "wl"


def is_sound(messages: list[Any]) -> bool:
    """Ids are unique, integers stand where integers belong, and involved dimensions are booleans."""
    integers = {f"{arm}_val" for arm in (*INTEGER_ARMS, "bool")} | {None}
    arms = {a.WhichOneof("value") for message in messages for a in message.attr if a.name in INTEGER_COLUMNS}
    dims = {a.WhichOneof("value") for message in messages for a in message.attr if a.name == "involved_dim"}
    if not dims <= {"bool_list", None}:
        return False
    return len({message.id for message in messages}) == len(messages) and arms <= integers


def load_as_far_as_possible(path: Path, messages: list[Any]) -> cc.Trace:
    """The trace; from a file with missing parents what recovery keeps, after the strict load named some of them."""
    ids = {message.id for message in messages}
    missing = sum(parent not in ids for message in messages for parent in (*message.data_deps, *message.ctrl_deps))
    if not missing:
        return cc.load(path)
    with pytest.raises(cc.DependencyError) as caught:
        cc.load(path)
    assert ids.isdisjoint(caught.value.nodes)
    for message in messages:
        for parents in (message.data_deps, message.ctrl_deps):
            parents[:] = [parent for parent in parents if parent in ids]
    trace = cc.load(path, on_error="recover")
    assert trace.load_report.counts == {"missing_parent": missing}
    return trace


def check_written(trace: cc.Trace, path: Path, data: bytes, messages: list[Any]) -> None:
    cc.save(trace, path)
    written = path.read_bytes()
    if len(trace.load_report) == 0:
        assert written == data
    else:
        assert parse(written)[1] == messages


@needs(SHARED / "data" / "et")
@pytest.mark.parametrize("path", ET_FILES, ids=lambda path: path.name)
def test_read_as_protobuf_reads_them(path: Path, tmp_path: Path) -> None:
    data = read_bytes(path)
    metadata, messages = parse(data)
    trace = load_as_far_as_possible(path, messages)
    assert trace.ids.tolist() == [message.id for message in messages]
    assert trace.metadata.version == metadata.version
    for row, message in enumerate(messages):
        check_node(trace.at(row), message)
    for name in (*INTEGER_COLUMNS, "is_cpu_op"):
        check_column(trace, name, messages)
    check_written(trace, tmp_path / "again.et", data, messages)


@needs(WORKLOADS)
def test_reference_workloads_are_read_and_written_alike(tmp_path: Path) -> None:
    paths = sorted(WORKLOADS.rglob("*.et"))
    assert len(paths) > 1000
    for path in paths[::7]:
        data = path.read_bytes()
        _, messages = parse(data)
        if not is_sound(messages):
            with pytest.raises(cc.FormatError):
                cc.load(path)
            assert not cc.load(path, on_error="recover").load_report.ok
            continue
        trace = load_as_far_as_possible(path, messages)
        assert np.array_equal(trace.ids, np.array([message.id for message in messages], np.uint64))
        for row, message in enumerate(messages):
            check_node(trace.at(row), message)
        check_written(trace, tmp_path / "again.et", data, messages)


@needs(SHARED / "data" / "et")
@pytest.mark.parametrize("deps", ["data", "control", "both"])
@pytest.mark.parametrize("path", ET_FILES, ids=lambda path: path.name)
def test_fed_to_the_end_or_to_a_true_cycle(path: Path, deps: str) -> None:
    _, messages = parse(read_bytes(path))
    trace = load_as_far_as_possible(path, messages)
    graph = nx.DiGraph()
    for message in messages:
        graph.add_node(message.id)
        parents = {"data": message.data_deps, "control": message.ctrl_deps}.get(deps)
        both = [*message.data_deps, *message.ctrl_deps]
        graph.add_edges_from((parent, message.id) for parent in (both if parents is None else parents))
    feeder = cc.Feeder(trace, deps=deps)
    order = []
    try:
        while (node := feeder.pop()) is not None:
            order.append(node.id)
            feeder.complete(node)
    except cc.DependencyError as error:
        cycle = error.nodes
        assert all(graph.has_edge(parent, node) for node, parent in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        knots = nx.strongly_connected_components(graph)
        on_cycles = (c for c in knots if len(c) > 1 or any(graph.has_edge(n, n) for n in c))
        stuck = set().union(*(c.union(*(nx.descendants(graph, n) for n in c)) for c in on_cycles))
        assert set(order) == set(graph) - stuck
    else:
        assert order == list(nx.lexicographical_topological_sort(graph))
