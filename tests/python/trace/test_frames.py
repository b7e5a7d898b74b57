# SPDX-License-Identifier: MIT
"""Traces as data frames, Arrow, Parquet and networkx."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import chakra_core as cc
from et_records import INTEGER_COLUMNS, file_of
from et_strategies import traces


def columns_of(trace: cc.Trace) -> dict[str, list[Any]]:
    """What every table must hold, by way of the columns that other tests check."""
    expected: dict[str, list[Any]] = {
        "id": trace.ids.tolist(),
        "name": trace.names.to_list(),
        "type": trace.types.tolist(),
        "start_ns": trace.start_ns.tolist(),
        "duration_ns": trace.duration_ns.tolist(),
        "data_deps": [trace.at(row).data_deps.tolist() for row in range(len(trace))],
        "ctrl_deps": [trace.at(row).ctrl_deps.tolist() for row in range(len(trace))],
        "is_cpu_op": trace.attr("is_cpu_op").tolist(),
        "pg_name": trace.attr("pg_name").tolist(),
    }
    for name in INTEGER_COLUMNS:
        expected[name] = trace.attr(name).tolist()
    return expected


@given(traces())
def test_arrow(whole: tuple[Any, list[Any]]) -> None:
    pa = pytest.importorskip("pyarrow")
    trace = cc.load(file_of([whole[0], *whole[1]]))
    expected = columns_of(trace)
    table = trace.to_arrow()
    table.validate(full=True)
    batch = pa.record_batch(trace)
    del trace
    for made in (table, pa.Table.from_batches([batch])):
        assert {name: made.column(name).to_pylist() for name in expected} == expected
    dims = [node_dims(message) for message in whole[1]]
    assert table.column("involved_dim").to_pylist() == dims
    assert table.schema.field("id").type == pa.uint64()
    assert table.schema.field("name").type == pa.dictionary(pa.int32(), pa.large_utf8())
    assert table.schema.field("data_deps").type == pa.large_list(pa.field("item", pa.uint64(), nullable=False))


def node_dims(message: Any) -> str | None:
    """The first involved_dim with a value, one character a dimension."""
    for attribute in message.attr:
        if attribute.name == "involved_dim" and attribute.WhichOneof("value"):
            return "".join("01"[flag] for flag in attribute.bool_list.values)
    return None


def sample() -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=5, name="mm", duration_ns=7, attrs={"is_cpu_op": True})
    builder.add_node(
        id=9, name="ar", type="COMM_COLL_NODE", data_deps=[5], ctrl_deps=[5], attrs={"comm_size": 4, "pg_name": "tp"}
    )
    return builder.build()


def test_arrow_shares_memory_and_keeps_it() -> None:
    pytest.importorskip("pyarrow")
    trace = sample()
    address = trace.ids.__array_interface__["data"][0]
    table = trace.to_arrow()
    del trace
    chunk = table.column("id").chunk(0)
    assert chunk.buffers()[1].address == address
    assert chunk.to_pylist() == [5, 9]


def test_capsules_that_nobody_takes_are_released() -> None:
    trace = sample()
    before = sys.getrefcount(trace)
    for _ in range(3):
        assert trace.__arrow_c_stream__() is not None
        assert len(trace.__arrow_c_array__(requested_schema=None)) == 2
        assert trace.__arrow_c_schema__() is not None
    assert sys.getrefcount(trace) == before


def test_nanoarrow_reads_a_trace() -> None:
    na = pytest.importorskip("nanoarrow")
    rows = list(na.ArrayStream(sample()).iter_tuples())
    assert [row[0] for row in rows] == [5, 9]


@given(traces())
def test_pandas(whole: tuple[Any, list[Any]]) -> None:
    trace = cc.load(file_of([whole[0], *whole[1]]))
    frame = trace.to_pandas()
    expected = columns_of(trace)
    assert set(frame.columns) == set(expected) - {"data_deps", "ctrl_deps"}
    for name in frame.columns:
        values = [None if missing else value for value, missing in zip(frame[name], frame[name].isna(), strict=True)]
        assert values == expected[name]
    del trace
    assert frame["id"].tolist() == expected["id"]
    assert len(frame["name"].cat.categories) == len(set(expected["name"]))


@given(traces())
def test_networkx(whole: tuple[Any, list[Any]]) -> None:
    graph = cc.load(file_of([whole[0], *whole[1]])).to_networkx()
    expected = nx.MultiDiGraph()
    expected.add_nodes_from(message.id for message in whole[1])
    for kind, field in (("data", "data_deps"), ("control", "ctrl_deps")):
        expected.add_edges_from(
            (parent, message.id, kind) for message in whole[1] for parent in getattr(message, field)
        )
    assert set(graph) == set(expected)
    assert set(graph.edges(keys=True)) == set(expected.edges(keys=True))
    for message in whole[1]:
        assert graph.nodes[message.id]["name"] == message.name
        assert graph.nodes[message.id]["type"] == message.type
    assert all(kind == key for _, _, key, kind in graph.edges(keys=True, data="kind"))


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "nodes.parquet"
    sample().to_parquet(path, compression="gzip")
    assert parquet.read_table(path).column("id").to_pylist() == [5, 9]
    sample().to_parquet(path, columns=["name", "comm_size"])
    assert parquet.read_table(path).to_pydict() == {"name": ["mm", "ar"], "comm_size": [None, 4]}
    with pytest.raises(cc.ChakraError, match="no column 'x'"):
        sample().to_parquet(path, columns=["x"])
    assert [found.name for found in tmp_path.iterdir()] == ["nodes.parquet"]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, method in (("pandas", "to_pandas"), ("networkx", "to_networkx"), ("pyarrow", "to_arrow")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=rf"needs {module}: pip install chakra-core\["):
            getattr(sample(), method)()


def test_strings_and_their_positions() -> None:
    trace = sample()
    assert [trace.strings[position] for position in trace.name_ids] == ["mm", "ar"]
    assert np.ma.getmaskarray(trace.pg_ids).tolist() == [True, False]
    assert trace.strings[trace.pg_ids[1]] == "tp"
