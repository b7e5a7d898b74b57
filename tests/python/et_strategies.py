# SPDX-License-Identifier: MIT
"""Hypothesis strategies of whole ET files."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chakra_core import proto
from et_records import INTEGER_ARMS, INTEGER_COLUMNS

UINT64 = st.integers(0, 2**64 - 1)
# Strings as real names are, and any other text that protobuf takes (no lone surrogates).
TEXT = st.one_of(st.sampled_from(["", "aten::mm", "comm_size", "caf\u00e9", "\U0001f600"]), st.text(max_size=12))

RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "sint32": (-(2**31), 2**31 - 1),
    "sfixed32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "sint64": (-(2**63), 2**63 - 1),
    "sfixed64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "fixed32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "fixed64": (0, 2**64 - 1),
}

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "double": st.floats(),
    "float": st.floats(width=32),
    **{kind: st.integers(*RANGES[kind]) for kind in INTEGER_ARMS},
    "bool": st.booleans(),
    "string": TEXT,
    "bytes": st.binary(max_size=12),
}
KINDS = tuple(VALUES)

KNOWN_NAMES = frozenset({*INTEGER_COLUMNS, "is_cpu_op", "pg_name", "involved_dim", "start_ns", "duration_ns"})


@st.composite
def attributes(draw: st.DrawFn) -> Any:
    """Any name, any arm, any list kind, or no value."""
    name = draw(TEXT.filter(lambda text: text not in KNOWN_NAMES))
    attribute = proto.AttributeProto(name=name, doc_string=draw(TEXT))
    kind = draw(st.sampled_from((*KINDS, "")))
    if kind and draw(st.booleans()):
        values = getattr(attribute, f"{kind}_list")
        values.SetInParent()
        values.values.extend(draw(st.lists(VALUES[kind], max_size=4)))
    elif kind:
        setattr(attribute, f"{kind}_val", draw(VALUES[kind]))
    return attribute


@st.composite
def known_attributes(draw: st.DrawFn) -> Any:
    """An attribute that is a column, from any arm that it accepts, or without a value."""
    name = draw(st.sampled_from(sorted(KNOWN_NAMES)))
    attribute = proto.AttributeProto(name=name)
    if draw(st.integers(0, 9)) == 0:
        return attribute
    if name == "pg_name":
        attribute.string_val = draw(TEXT)
    elif name == "involved_dim":
        attribute.bool_list.SetInParent()
        attribute.bool_list.values.extend(draw(st.lists(st.booleans(), max_size=4)))
    else:
        arm = draw(st.sampled_from((*INTEGER_ARMS, "bool")))
        low, high = RANGES.get(arm, (0, 1))
        is_time = name.endswith("_ns")
        low, high = (max(low, 0), high) if is_time else (low, min(high, 2**63 - 1))
        setattr(attribute, f"{arm}_val", draw(st.integers(low, high)))
    return attribute


def info() -> st.SearchStrategy[Any]:
    return st.builds(proto.IOInfo, values=TEXT, shapes=TEXT, types=TEXT)


@st.composite
def nodes(draw: st.DrawFn, ids: list[int], node_id: int) -> Any:
    """A node that depends on any of the others: before, behind, itself, twice."""
    parents = st.lists(st.sampled_from(ids), max_size=4)
    node = proto.Node(
        id=node_id,
        name=draw(TEXT),
        type=draw(st.one_of(st.integers(0, 8), st.integers(-(2**31), 2**31 - 1))),
        ctrl_deps=draw(parents),
        data_deps=draw(parents),
        start_time_micros=draw(st.integers(0, (2**64 - 1) // 1000)),
        duration_micros=draw(st.integers(0, (2**64 - 1) // 1000)),
        attr=draw(st.lists(st.one_of(attributes(), known_attributes()), max_size=6)),
    )
    if draw(st.booleans()):
        node.inputs.CopyFrom(draw(info()))
    if draw(st.booleans()):
        node.outputs.CopyFrom(draw(info()))
    return node


@st.composite
def traces(draw: st.DrawFn, max_nodes: int = 8) -> tuple[Any, list[Any]]:
    """Metadata and nodes of a whole file: sparse ids up to 2**64 - 1, in any order."""
    dense = st.integers(0, 20)
    ids = draw(st.lists(st.one_of(dense, UINT64), max_size=max_nodes, unique=True))
    metadata = proto.GlobalMetadata(version=draw(TEXT), attr=draw(st.lists(attributes(), max_size=2)))
    return metadata, [draw(nodes(ids, node_id)) for node_id in ids]


def unknown_fields() -> st.SearchStrategy[bytes]:
    """Fields that a newer writer may add to a Node, of every wire type."""
    return st.sampled_from(
        [
            b"",
            b"\x5a\x03abc",
            b"\x58\x96\x01",
            b"\x5d\x01\x02\x03\x04",
            b"\x59\x01\x02\x03\x04\x05\x06\x07\x08",
            b"\x5b\x08\x05\x5c",
        ]
    )
