# SPDX-License-Identifier: MIT
"""Columns and views: what they hold, that they cannot be written, and that they outlive the trace."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import numpy as np
import pytest

import chakra_core as cc
from chakra_core import proto
from et_records import node_file


def small_trace() -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=5, name="a", attrs={"comm_size": 3, "pg_name": "dp", "note": "x"}, inputs=cc.IoInfo("[1]"))
    builder.add_node(id=9, name="b", data_deps=[5, 7], ctrl_deps=[5], start_ns=1500, attrs={"note": None})
    builder.add_node(id=7, name="a", data_deps=[5], attrs={"is_cpu_op": True, "note": "y"})
    return builder.build()


def test_columns_have_their_types_and_values() -> None:
    trace = small_trace()
    assert (trace.ids.dtype, trace.ids.tolist()) == (np.uint64, [5, 9, 7])
    assert (trace.types.dtype, trace.types.tolist()) == (np.int32, [4, 4, 4])
    assert (trace.start_ns.dtype, trace.start_ns.tolist()) == (np.uint64, [0, 1500, 0])
    assert trace.duration_ns.tolist() == [0, 0, 0]
    assert trace.data_deps.offsets.tolist() == [0, 0, 2, 3]
    assert trace.data_deps.indices.tolist() == [0, 2, 0]
    assert trace.ctrl_deps[1].tolist() == [0]
    assert [row.tolist() for row in trace.children] == [[1, 2], [], [1]]
    assert trace.names[-1] == "a"
    assert trace.names[1:] == ["b", "a"]
    assert list(trace.names) == trace.names.to_list() == ["a", "b", "a"]


def test_attributes_are_masked_where_absent() -> None:
    trace = small_trace()
    assert trace.attr("comm_size").tolist() == [3, None, None]
    assert trace.attr("comm_size").dtype == np.int64
    assert trace.attr("pg_name").tolist() == ["dp", None, None]
    assert trace.attr("is_cpu_op").tolist() == [None, None, True]
    assert trace.attr("is_cpu_op").dtype == bool
    assert trace.attr("note").tolist() == ["x", None, "y"]
    assert trace.attr("nowhere").mask.all()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, -2], np.int64),
        ([2**64 - 1, 2**63], np.uint64),
        ([0.5, 1.5], np.float64),
        ([True, False], np.bool_),
        (["a", "b"], object),
        ([b"a", b"b"], object),
        ([[1, 2], [3]], object),
        ([1, "a"], object),
    ],
)
def test_any_attribute_becomes_the_type_that_holds_it(values: list[object], dtype: type) -> None:
    builder = cc.TraceBuilder()
    for node_id, value in enumerate(values):
        builder.add_node(id=node_id, attrs={"x": value})
    column = builder.build().attr("x")
    assert column.dtype == dtype
    assert column.tolist() == values


def test_views_cannot_be_written() -> None:
    trace = small_trace()
    views = [trace.ids, trace.types, trace.start_ns, trace.duration_ns, trace.data_deps.offsets, trace.children[0]]
    for view in views:
        assert not view.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True


def test_views_are_no_copies() -> None:
    trace = small_trace()
    assert np.shares_memory(trace.ids, trace.ids)
    assert np.shares_memory(trace.children.indices, trace.children[0])


@pytest.mark.parametrize("mapped", [True, False])
def test_everything_outlives_the_trace(tmp_path: Path, mapped: bool) -> None:
    nodes = [proto.Node(id=row, name=f"n{row}", data_deps=[row - 1] if row else []) for row in range(1000)]
    nodes[1].attr.add(name="x").string_val = "text"
    (tmp_path / "a.et").write_bytes(node_file(*nodes) + b"\x7f")
    source = tmp_path / "a.et" if mapped else (tmp_path / "a.et").read_bytes()
    trace = cc.load(source, on_error="recover")
    held = (trace.ids, trace.children, trace.data_deps[5], trace.names, trace.node(1), trace.attr("x"))
    problem = trace.load_report.problems[0]
    metadata = trace.metadata
    feeder = cc.Feeder(trace)
    del trace, source
    (tmp_path / "a.et").unlink()
    gc.collect()
    _ = [np.full(1000, 255, np.uint64) for _ in range(50)]
    ids, children, parents, names, node, column = held
    assert ids.sum() == 999 * 500
    assert children[3].tolist() == [4]
    assert parents.tolist() == [4]
    assert names[7] == "n7"
    assert node.attrs == {"x": "text"}
    assert node.record == nodes[1].SerializeToString()
    assert column.tolist()[1] == "text"
    assert problem.kind == "truncated_file"
    assert metadata.version == "0.0.4"
    assert feeder.pop().name == "n0"
    assert feeder.trace.num_nodes == 1000


def test_problems_outlive_their_report() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, data_deps=[1])
    problems = builder.build().validate().problems
    gc.collect()
    assert problems[0].nodes == [1]
    assert problems[0].severity == "error"
    assert "1 -> 1" in problems[0].message


def test_rows_and_ids_that_are_not_there() -> None:
    trace = small_trace()
    assert 5 in trace
    assert 6 not in trace
    for call in (trace.row, trace.node):
        with pytest.raises(KeyError, match="6"):
            call(6)
    for index in (3, -4):
        with pytest.raises(IndexError):
            trace.at(index)
        with pytest.raises(IndexError):
            trace.names[index]
        with pytest.raises(IndexError):
            trace.data_deps[index]
    assert trace.at(-1).id == 7


def test_empty_trace_has_empty_views() -> None:
    trace = cc.TraceBuilder().build()
    assert trace.ids.tolist() == []
    assert trace.children.offsets.tolist() == [0]
    assert trace.children.indices.tolist() == []
    assert trace.attr("comm_size").tolist() == trace.attr("x").tolist() == trace.attr("pg_name").tolist() == []
    assert trace.names.to_list() == []
    assert trace.validate().ok


def test_threads_read_one_trace() -> None:
    builder = cc.TraceBuilder()
    for node_id in range(2000):
        builder.add_node(
            id=node_id, name=f"n{node_id % 7}", data_deps=range(max(0, node_id - 3), node_id), attrs={"x": node_id}
        )
    trace = builder.build()
    expected = [(node_id + 1 if node_id < 1999 else None) for node_id in range(2000)]
    failures: list[object] = []
    start = threading.Barrier(8)

    def read() -> None:
        start.wait()
        try:
            children = trace.children
            firsts = [int(children[row][0]) if len(children[row]) else None for row in range(2000)]
            assert firsts == expected
            assert trace.attr("x").tolist() == list(range(2000))
            assert trace.validate().ok
            assert trace.node(1999).attrs == {"x": 1999}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
