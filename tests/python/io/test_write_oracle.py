# SPDX-License-Identifier: MIT
"""What we write Python protobuf reads equal, and unchanged records are the same bytes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core import proto
from et_records import attributes_agree, file_of, node_file, parse, split, value_of
from et_strategies import KINDS, VALUES, traces, unknown_fields


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@given(traces(), unknown_fields())
def test_unchanged_files_are_the_same_bytes(scratch: Path, trace: tuple[Any, list[Any]], extra: bytes) -> None:
    metadata, messages = trace
    data = file_of([metadata.SerializeToString() + b"\x98\x06\x01", *(m.SerializeToString() + extra for m in messages)])
    cc.save(cc.load(data), scratch / "same.et")
    assert (scratch / "same.et").read_bytes() == data
    cc.save(cc.load(scratch / "same.et"), scratch / "same.et.gz", level=1)
    assert gzip.decompress((scratch / "same.et.gz").read_bytes()) == data


def add_to(builder: cc.TraceBuilder, message: Any) -> None:
    """The node of a message, given field by field."""
    times = ("start_ns", "duration_ns")
    exact = {name: next((value_of(a) for a in message.attr if a.name == name), None) for name in times}
    micros = {"start_ns": message.start_time_micros, "duration_ns": message.duration_micros}
    builder.add_node(
        id=message.id,
        name=message.name,
        type=message.type,
        data_deps=list(message.data_deps),
        ctrl_deps=list(message.ctrl_deps),
        start_ns=micros["start_ns"] * 1000 if exact["start_ns"] is None else exact["start_ns"],
        duration_ns=micros["duration_ns"] * 1000 if exact["duration_ns"] is None else exact["duration_ns"],
        attrs=[
            cc.Attribute(a.name, value_of(a), kind=a.WhichOneof("value") or "", doc_string=a.doc_string)
            for a in message.attr
            if a.name not in times
        ],
        inputs=cc.IoInfo(message.inputs.values, message.inputs.shapes, message.inputs.types),
        outputs=cc.IoInfo(message.outputs.values, message.outputs.shapes, message.outputs.types),
    )


@given(traces())
def test_built_traces_are_read_by_protobuf(scratch: Path, trace: tuple[Any, list[Any]]) -> None:
    metadata, messages = trace
    attrs = [
        cc.Attribute(a.name, value_of(a), kind=a.WhichOneof("value") or "", doc_string=a.doc_string)
        for a in metadata.attr
    ]
    builder = cc.TraceBuilder(cc.Metadata(metadata.version, attrs))
    for message in messages:
        add_to(builder, message)
    built = builder.build()
    cc.save(built, scratch / "built.et")
    read_metadata, read = parse((scratch / "built.et").read_bytes())
    assert read_metadata.version == metadata.version
    assert attributes_agree(built.metadata.attributes, read_metadata.attr)
    for message, again in zip(messages, read, strict=True):
        node = built.node(message.id)
        for field in ("id", "name", "type", "data_deps", "ctrl_deps"):
            assert getattr(again, field) == getattr(message, field)
        for field in ("values", "shapes", "types"):
            assert getattr(again.inputs, field) == getattr(message.inputs, field)
            assert getattr(again.outputs, field) == getattr(message.outputs, field)
        assert attributes_agree(node.attributes, again.attr)
        kept = [a for a in again.attr if a.name not in ("start_ns", "duration_ns")]
        given_attributes = [a for a in message.attr if a.name not in ("start_ns", "duration_ns")]
        # Compared as bytes, where NaN is equal to itself.
        assert [a.SerializeToString() for a in kept] == [a.SerializeToString() for a in given_attributes]
        check_times(node, again)


def check_times(node: cc.Node, message: Any) -> None:
    """Microseconds are rounded half up; the exact value stands beside them where rounding loses something."""
    exact = {a.name: value_of(a) for a in message.attr if a.name in ("start_ns", "duration_ns")}
    for name, micros in (("start_ns", message.start_time_micros), ("duration_ns", message.duration_micros)):
        ns = getattr(node, name)
        assert micros == (ns + 500) // 1000
        assert exact.get(name) == (ns if ns % 1000 else None)


@given(traces(max_nodes=5))
def test_records_added_whole_are_kept(trace: tuple[Any, list[Any]]) -> None:
    _, messages = trace
    builder = cc.TraceBuilder()
    for message in messages:
        builder.add_record(message.SerializeToString())
    built = builder.build()
    assert [built.at(row).record for row in range(len(built))] == [m.SerializeToString() for m in messages]


@given(st.data(), st.sampled_from(KINDS))
def test_every_kind_by_its_name(data: st.DataObject, kind: str) -> None:
    single = data.draw(VALUES[kind])
    many = data.draw(st.lists(VALUES[kind], max_size=5))
    expected = proto.Node()
    setattr(expected.attr.add(name="one"), f"{kind}_val", single)
    values = getattr(expected.attr.add(name="many"), f"{kind}_list")
    values.SetInParent()
    values.values.extend(many)
    builder = cc.TraceBuilder()
    attrs = [cc.Attribute("one", single, kind=f"{kind}_val"), cc.Attribute("many", many, kind=f"{kind}_list")]
    builder.add_node(id=0, type=0, attrs=attrs)
    assert builder.build().at(0).record == expected.SerializeToString()


def test_recovered_file_is_written_with_what_was_kept(scratch: Path) -> None:
    bad = proto.Node(id=2, name="second", data_deps=[1, 99])
    bad.attr.add(name="comm_size").string_val = "8"
    bad.attr.add(name="note").string_val = "kept"
    data = node_file(proto.Node(id=1), bad)[:-1] + b"e"
    cc.save(cc.load(data, on_error="recover"), scratch / "mended.et")
    _, messages = parse((scratch / "mended.et").read_bytes())
    assert [list(m.data_deps) for m in messages] == [[], [1]]
    assert [a.name for a in messages[1].attr] == ["note"]
    assert len(cc.load(scratch / "mended.et")) == 2


def test_interrupted_save_leaves_the_target(scratch: Path) -> None:
    target = scratch / "kept" / "a.et"
    target.parent.mkdir()
    target.write_bytes(b"before")
    builder = cc.TraceBuilder()
    for node_id in range(3000):
        builder.add_node(id=node_id, name="x" * 1000)
    progress = cc.Progress()
    progress.cancel()
    with pytest.raises(cc.Cancelled):
        cc.save(builder.build(), target, progress=progress)
    assert target.read_bytes() == b"before"
    assert list(target.parent.iterdir()) == [target]


def test_split_is_the_inverse_of_file_of() -> None:
    records = [b"", b"a", b"x" * 300]
    assert split(file_of(records)) == records
