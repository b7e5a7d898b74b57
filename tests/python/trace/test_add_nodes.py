# SPDX-License-Identifier: MIT
"""TraceBuilder.add_nodes and add_proto against add_node and protobuf."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core import proto
from et_records import check_trace
from et_strategies import traces

ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "comm_size": st.integers(-(2**63), 2**63 - 1),
    "comm_tag": st.integers(-(2**31), 2**31 - 1),
    "num_ops": st.integers(0, 2**40),
    "is_cpu_op": st.booleans(),
    "weight": st.floats(allow_nan=False),
    "pg_name": st.text(max_size=4),
    "note": st.text(max_size=4),
    "involved_dim": st.lists(st.booleans(), min_size=2, max_size=2),
    "steps": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3),
}
TEXT = st.text(max_size=3)
IO = st.tuples(TEXT, TEXT, TEXT).map(lambda texts: cc.IoInfo(*texts) if any(texts) else None)


@st.composite
def specs(draw: st.DrawFn) -> list[dict[str, Any]]:
    ids = draw(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=8))
    times = st.integers(0, 2**64 - 1)
    return [
        {
            "id": node_id,
            "name": draw(st.text(max_size=4)),
            "type": draw(st.integers(0, 9)),
            "data_deps": draw(st.lists(st.sampled_from(ids), max_size=3)),
            "ctrl_deps": draw(st.lists(st.sampled_from(ids), max_size=3)),
            "start_ns": draw(times),
            "duration_ns": draw(times),
            "attrs": {
                name: draw(value) for name, value in ATTRIBUTES.items() if name == "steps" or draw(st.booleans())
            },
            "inputs": draw(IO),
            "outputs": draw(IO),
        }
        for node_id in ids
    ]


def parent_lists(nodes: list[dict[str, Any]], kind: str) -> tuple[Any, Any]:
    offsets = np.cumsum([0, *(len(node[kind]) for node in nodes)])
    return offsets, np.array([parent for node in nodes for parent in node[kind]], dtype=np.uint64)


def masked(nodes: list[dict[str, Any]], name: str, dtype: Any, fill: Any) -> Any:
    values = [node["attrs"].get(name, fill) for node in nodes]
    array = np.array(values, dtype=dtype)
    return np.ma.MaskedArray(array, [name not in node["attrs"] for node in nodes])


def flags(nodes: list[dict[str, Any]], name: str) -> Any:
    rows = np.array([node["attrs"].get(name, [False, False]) for node in nodes], dtype=bool).reshape(-1, 2)
    absent = np.array([name not in node["attrs"] for node in nodes], dtype=bool)
    return np.ma.MaskedArray(rows, np.stack([absent, absent], axis=1))


def ragged(nodes: list[dict[str, Any]], name: str) -> tuple[Any, Any]:
    offsets = np.cumsum([0, *(len(node["attrs"][name]) for node in nodes)])
    return offsets, np.array([value for node in nodes for value in node["attrs"][name]], dtype=np.int64)


def io(nodes: list[dict[str, Any]], name: str) -> tuple[Any, Any, Any]:
    values, shapes, types = (
        [getattr(node[name], part, "") for node in nodes] for part in ("values", "shapes", "types")
    )
    return values, shapes, types


@given(specs())
def test_arrays_add_what_single_calls_add(nodes: list[dict[str, Any]]) -> None:
    single = cc.TraceBuilder()
    for node in nodes:
        single.add_node(**node)
    many = cc.TraceBuilder()
    many.add_nodes(
        ids=np.array([node["id"] for node in nodes], dtype=np.uint64),
        types=np.array([node["type"] for node in nodes], dtype=np.int32),
        names=[node["name"] for node in nodes],
        data_deps=parent_lists(nodes, "data_deps"),
        ctrl_deps=parent_lists(nodes, "ctrl_deps"),
        start_ns=np.array([node["start_ns"] for node in nodes], dtype=np.uint64),
        duration_ns=np.array([node["duration_ns"] for node in nodes], dtype=np.uint64),
        attrs={
            "comm_size": masked(nodes, "comm_size", np.int64, 0),
            "comm_tag": masked(nodes, "comm_tag", np.int32, 0),
            "num_ops": masked(nodes, "num_ops", np.uint64, 0),
            "is_cpu_op": masked(nodes, "is_cpu_op", bool, False),
            "weight": masked(nodes, "weight", np.float64, 0.0),
            "pg_name": masked(nodes, "pg_name", object, None),
            "note": masked(nodes, "note", object, None),
            "involved_dim": flags(nodes, "involved_dim"),
            "steps": ragged(nodes, "steps"),
        },
        inputs=io(nodes, "inputs"),
        outputs=io(nodes, "outputs"),
    )
    one, other = single.build(), many.build()
    order = {name: place for place, name in enumerate(ATTRIBUTES)}
    for node, again in zip((one.at(row) for row in range(len(one))), nodes, strict=True):
        assert sorted(again["attrs"], key=order.__getitem__) == list(again["attrs"])
        assert node.record == other.node(node.id).record
    assert not cc.diff(one, other)


def test_the_rest_has_defaults() -> None:
    builder = cc.TraceBuilder()
    builder.add_nodes(ids=range(3))
    builder.add_nodes(ids=[7, 8], types="COMM_COLL_NODE", names=np.array(["a", "b"]), attrs={"x": [1, 2]})
    builder.add_nodes(ids=[9, 10], types=["COMP_NODE", cc.NodeType.COMM_SEND_NODE])
    builder.add_nodes(ids=[])
    trace = builder.build()
    assert trace.ids.tolist() == [0, 1, 2, 7, 8, 9, 10]
    assert trace.types.tolist() == [4, 4, 4, 7, 7, 4, 5]
    assert trace.names.to_list() == ["", "", "", "a", "b", "", ""]
    assert trace.node(8).attrs == {"x": 2}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"names": ["a"]}, cc.ChakraError),
        ({"names": "ab"}, TypeError),
        ({"names": [1, 2]}, TypeError),
        ({"types": [1]}, cc.ChakraError),
        ({"types": ["NO_SUCH", "COMP_NODE"]}, ValueError),
        ({"start_ns": [1, -1]}, ValueError),
        ({"start_ns": [0.5, 1.0]}, TypeError),
        ({"data_deps": [[0], [1]]}, TypeError),
        ({"data_deps": ([0, 1], [1])}, cc.ChakraError),
        ({"data_deps": ([0, 2, 1], [1])}, cc.ChakraError),
        ({"ctrl_deps": ([0, 1, 3], [1])}, cc.ChakraError),
        ({"attrs": {"x": [1]}}, cc.ChakraError),
        ({"attrs": {"x": [[[1]], [[2]]]}}, ValueError),
        ({"attrs": {"x": [[1], [2], [3]]}}, cc.ChakraError),
        ({"attrs": {"x": ([0, 1], [1])}}, cc.ChakraError),
        ({"attrs": {"x": ([0, 2, 1], [1])}}, cc.ChakraError),
        ({"inputs": (["a"], None, None)}, cc.ChakraError),
        ({"inputs": ["a", "b"]}, TypeError),
        ({"outputs": (None, [1, 2], None)}, TypeError),
        ({"attrs": {"x": [1j, 2j]}}, TypeError),
        ({"attrs": {"x": [object(), object()]}}, TypeError),
        ({"attrs": {"comm_size": ["a", "b"]}}, cc.ChakraError),
    ],
)
def test_arrays_that_do_not_fit(arguments: dict[str, Any], error: type[Exception]) -> None:
    builder = cc.TraceBuilder()
    with pytest.raises(error):
        builder.add_nodes(ids=[1, 2], **arguments)
    assert len(builder) == 0


@given(traces())
def test_protobuf_messages_in_and_out(whole: tuple[Any, list[Any]]) -> None:
    metadata, messages = whole
    builder = cc.TraceBuilder()
    for message in messages:
        builder.add_proto(message)
    trace = builder.build()
    check_trace(trace, proto.GlobalMetadata(version="0.0.4"), messages)
    for message in messages:
        again = trace.node(message.id).to_proto()
        assert type(again) is proto.Node
        assert again.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)
    assert metadata is not None
