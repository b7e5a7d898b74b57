# SPDX-License-Identifier: MIT
"""TraceBuilder and Attribute: Python values to the arms of the schema."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import chakra_core as cc


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("x", True, "bool_val"),
        ("x", 1, "int64_val"),
        ("x", 2**63, "uint64_val"),
        ("x", 0.5, "double_val"),
        ("x", "s", "string_val"),
        ("x", b"s", "bytes_val"),
        ("x", None, ""),
        ("x", [], "int64_list"),
        ("x", [1, 2], "int64_list"),
        ("x", (1, 2**63), "uint64_list"),
        ("x", [1, 0.5], "double_list"),
        ("x", [0.5, 1], "double_list"),
        ("x", [True], "bool_list"),
        ("x", ["a"], "string_list"),
        ("x", [b"a"], "bytes_list"),
        ("x", np.int32(4), "int64_val"),
        ("x", np.uint64(2**64 - 1), "uint64_val"),
        ("x", np.float64(0.5), "double_val"),
        ("tensor_size", 1, "uint64_val"),
        ("tensor_size", -1, "int64_val"),
        ("comm_tag", 1, "int32_val"),
        ("comm_tag", 2**40, "int64_val"),
        ("comm_size", 1, "int64_val"),
    ],
)
def test_natural_kind(name: str, value: object, kind: str) -> None:
    attribute = cc.Attribute(name, value)
    assert attribute.kind == kind
    expected = list(value) if isinstance(value, tuple) else value
    assert attribute.value == expected


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {"a": 1},
        1j,
        [1, "a"],
        [True, 2],
        [2, True],
        ["a", b"b"],
        [0.5, "a"],
        [None],
        [[1]],
        [0.5, 2**63],
        [2**63, -1],
    ],
)
def test_values_without_a_form_are_type_errors(value: object) -> None:
    with pytest.raises(TypeError, match="attribute x"):
        cc.Attribute("x", value)


@pytest.mark.parametrize(
    ("value", "kind", "error"),
    [
        (2**31, "int32_val", ValueError),
        (-(2**31) - 1, "sint32_list", TypeError),
        (2**32, "fixed32_val", ValueError),
        (-1, "uint64_val", TypeError),
        (2**64, "uint64_val", TypeError),
        (2**64, "", TypeError),
        (0.5, "int64_val", TypeError),
        ("1", "int64_val", TypeError),
        (1e300, "float_val", ValueError),
        (b"\xff", "string_val", ValueError),
        ([1, 2**40], "int32_list", ValueError),
        (1, "int_val", ValueError),
        (1, "int64", ValueError),
        (None, "int64_list", TypeError),
    ],
)
def test_values_that_do_not_fit_a_kind(value: object, kind: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        cc.Attribute("x", value, kind=kind)


def test_errors_of_a_value_come_through() -> None:
    class Broken:
        def __index__(self) -> int:
            raise ZeroDivisionError("from __index__")

    with pytest.raises(ZeroDivisionError, match="from __index__"):
        cc.Attribute("x", Broken())


@pytest.mark.parametrize("node_type", [7, "COMM_COLL_NODE", cc.NodeType.COMM_COLL_NODE, np.int64(7)])
def test_types_by_number_name_and_enum(node_type: object) -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, type=node_type)
    node = builder.build().node(1)
    assert node.type is cc.NodeType.COMM_COLL_NODE
    assert "COMM_COLL_NODE" in repr(node)


def test_unknown_type_names_are_refused() -> None:
    with pytest.raises(ValueError, match="COMP_NODE"):
        cc.TraceBuilder().add_node(id=1, type="COMP")


def test_ids_and_times_out_of_range_are_refused() -> None:
    builder = cc.TraceBuilder()
    for wrong in (
        {"id": -1},
        {"id": 2**64},
        {"id": 1, "start_ns": -1},
        {"id": 1, "data_deps": [-1]},
        {"id": 1, "type": 2**31},
    ):
        with pytest.raises((TypeError, RuntimeError)):
            builder.add_node(**wrong)
    assert len(builder) == 0


def test_attributes_as_dict_or_sequence() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, attrs={"a": 1, "b": cc.Attribute("ignored", 2, kind="sint32_val")})
    builder.add_node(id=2, attrs=[cc.Attribute("a", 1), cc.Attribute("a", 2)])
    trace = builder.build()
    assert [(a.name, a.kind, a.value) for a in trace.node(1).attributes] == [
        ("a", "int64_val", 1),
        ("b", "sint32_val", 2),
    ]
    assert trace.node(2).attrs == {"a": 1}


def test_text_that_is_not_utf8_is_refused() -> None:
    builder = cc.TraceBuilder()
    with pytest.raises(cc.ChakraError, match="UTF-8"):
        builder.add_node(id=1, name=b"\xff")  # type: ignore[arg-type]
    with pytest.raises(cc.FormatError, match="UTF-8"):
        builder.add_record(b"\x12\x01\xff")
    with pytest.raises(TypeError):
        builder.add_node(id=1, name="\ud800")


def test_records_that_are_none_are_refused() -> None:
    with pytest.raises(cc.FormatError, match="record 1, byte offset 1"):
        cc.TraceBuilder().add_record(b"\x08")


def test_metadata() -> None:
    trace = cc.TraceBuilder(cc.Metadata("1.2", {"ranks": 8})).build()
    assert (trace.metadata.version, trace.metadata.attrs) == ("1.2", {"ranks": 8})


def test_build_empties_the_builder() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1)
    assert len(builder) == 1
    assert len(builder.build()) == 1
    assert len(builder) == 0
    assert len(builder.build()) == 0


def test_build_beside_another_thread() -> None:
    """Every node ends in exactly one of the traces, whoever is in between."""
    builder = cc.TraceBuilder()
    built: list[cc.Trace] = []
    stop = threading.Event()

    def build() -> None:
        while not stop.is_set():
            built.append(builder.build())

    thread = threading.Thread(target=build)
    thread.start()
    for node_id in range(20_000):
        builder.add_node(id=node_id)
    stop.set()
    thread.join()
    built.append(builder.build())
    assert sorted(node_id for trace in built for node_id in trace.ids.tolist()) == list(range(20_000))
