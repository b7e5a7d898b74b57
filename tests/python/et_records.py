# SPDX-License-Identifier: MIT
"""ET files by way of Python protobuf: the oracle of the reader and the writer."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.internal import decoder, encoder
from google.protobuf.message import DecodeError

import chakra_core as cc
from chakra_core import proto

INTEGER_ARMS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64")
INTEGER_COLUMNS = (
    "num_ops",
    "tensor_size",
    "comm_type",
    "comm_size",
    "comm_priority",
    "comm_src",
    "comm_dst",
    "comm_tag",
    "stream",
    "tid",
)


def frame(message: bytes) -> bytes:
    """A record: the length and the message."""
    return bytes(encoder._VarintBytes(len(message))) + message


def file_of(messages: Iterable[Any]) -> bytes:
    """A file of messages, the first of them the metadata."""
    return b"".join(
        frame(message if isinstance(message, bytes) else message.SerializeToString()) for message in messages
    )


def node_file(*nodes: Any) -> bytes:
    return file_of([proto.GlobalMetadata(version="0.0.4"), *nodes])


def split(data: bytes) -> list[bytes]:
    """The records of a file; ValueError if it ends inside one."""
    records = []
    at = 0
    while at < len(data):
        try:
            size, at = decoder._DecodeVarint(data, at)
        except (IndexError, DecodeError):
            raise ValueError("the file ends inside a length, or the length is none") from None
        if at + size > len(data):
            raise ValueError("the file ends inside a record")
        records.append(data[at : at + size])
        at += size
    return records


def parse(data: bytes) -> tuple[Any, list[Any]]:
    """Metadata and nodes; ValueError or DecodeError for what is no ET file."""
    records = split(data)
    if not records:
        raise ValueError("the file is empty")
    return proto.GlobalMetadata.FromString(records[0]), [proto.Node.FromString(record) for record in records[1:]]


def read_bytes(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def value_of(attribute: Any) -> Any:
    """The value of an AttributeProto as Python spells it; None without one."""
    arm = attribute.WhichOneof("value")
    if arm is None:
        return None
    value = getattr(attribute, arm)
    return list(value.values) if arm.endswith("_list") else value


def same(one: Any, other: Any) -> bool:
    """Equal, where NaN equals itself and 1 is neither 1.0 nor True."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and (one == other or (one != one and other != other))


def attributes_agree(ours: list[Any], theirs: Iterable[Any]) -> bool:
    expected = [(a.name, a.doc_string, a.WhichOneof("value") or "", value_of(a)) for a in theirs]
    given = [(a.name, a.doc_string, a.kind, a.value) for a in ours]
    return len(given) == len(expected) and all(
        one[:3] == other[:3] and same(one[3], other[3]) for one, other in zip(given, expected, strict=True)
    )


def first_value(message: Any, name: str) -> Any:
    """The first value of the attributes with this name; None if there is none."""
    return next((value_of(a) for a in message.attr if a.name == name and a.WhichOneof("value")), None)


def time_ns(message: Any, exact: str, micros: int) -> int:
    value = first_value(message, exact)
    return micros * 1000 if value is None else int(value)


def check_node(node: cc.Node, message: Any) -> None:
    """Everything that a node says against its protobuf message."""
    assert node.id == message.id
    assert node.name == message.name
    assert int(node.type) == message.type
    assert node.start_ns == time_ns(message, "start_ns", message.start_time_micros)
    assert node.duration_ns == time_ns(message, "duration_ns", message.duration_micros)
    assert list(node.data_deps) == list(message.data_deps)
    assert list(node.ctrl_deps) == list(message.ctrl_deps)
    for ours, theirs in ((node.inputs, message.inputs), (node.outputs, message.outputs)):
        assert (ours.values, ours.shapes, ours.types) == (theirs.values, theirs.shapes, theirs.types)
    assert attributes_agree(node.attributes, message.attr)


def check_column(trace: cc.Trace, name: str, messages: list[Any]) -> None:
    column = trace.attr(name)
    expected = [first_value(message, name) for message in messages]
    if name in INTEGER_COLUMNS or name == "is_cpu_op":
        convert = bool if name == "is_cpu_op" else int
        expected = [None if value is None else convert(value) for value in expected]
    assert np.ma.getmaskarray(column).tolist() == [value is None for value in expected]
    for ours, theirs in zip(column.tolist(), expected, strict=True):
        assert theirs is None or same(ours, theirs), name


def check_trace(trace: cc.Trace, metadata: Any, messages: list[Any]) -> None:
    """A whole trace against its protobuf messages: nodes, columns, dependencies, metadata."""
    assert trace.num_nodes == len(trace) == len(messages)
    assert trace.ids.tolist() == [message.id for message in messages]
    assert trace.types.tolist() == [message.type for message in messages]
    assert trace.names.to_list() == [message.name for message in messages]
    assert trace.metadata.version == metadata.version
    assert attributes_agree(trace.metadata.attributes, metadata.attr)
    for row, message in enumerate(messages):
        assert trace.row(message.id) == row
        check_node(trace.at(row), message)
    for name in (*INTEGER_COLUMNS, "is_cpu_op", "pg_name"):
        check_column(trace, name, messages)
