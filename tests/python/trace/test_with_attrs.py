# SPDX-License-Identifier: MIT
"""Other values of some attributes, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from et_strategies import traces


def as_array(values: list[Any], dtype: Any) -> Any:
    """Masked where a value is None."""
    mask = [value is None for value in values]
    fill = "" if dtype is object else 0
    return np.ma.array(np.array([fill if value is None else value for value in values], dtype), mask=mask)


@given(traces(), st.data())
def test_only_these_values_change(messages: tuple[Any, list[Any]], data: st.DataObject) -> None:
    builder = cc.TraceBuilder()
    for message in messages[1]:
        builder.add_proto(message)
    trace = builder.build()
    size = len(trace)
    integers = data.draw(st.lists(st.none() | st.integers(0, 2**31 - 1), min_size=size, max_size=size))
    texts = data.draw(st.lists(st.none() | st.sampled_from(["a", "b"]), min_size=size, max_size=size))
    changes = {"comm_size": as_array(integers, np.int64), "pg_name": as_array(texts, object)}
    made = trace.with_attrs(changes)
    assert made.ids.tolist() == trace.ids.tolist()
    for row in range(size):
        old, new = trace.at(row), made.at(row)
        wanted = {"comm_size": integers[row], "pg_name": texts[row]}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        if not wanted:
            assert new.record == old.record
            continue
        assert (new.name, new.type, new.start_ns, new.duration_ns) == (
            old.name,
            old.type,
            old.start_ns,
            old.duration_ns,
        )
        assert (new.inputs, new.outputs) == (old.inputs, old.outputs)
        assert new.data_deps.tolist() == old.data_deps.tolist()
        assert new.ctrl_deps.tolist() == old.ctrl_deps.tolist()
        for name, value in wanted.items():
            assert new.attrs[name] == value
            assert changes[name][row] == trace.with_attrs(changes).attr(name)[row]
        apart = {*wanted, "start_ns", "duration_ns"}
        others = [[one for one in node.attributes if one.name not in apart] for node in (old, new)]
        assert repr(others[0]) == repr(others[1])


def test_places_in_the_record() -> None:
    builder = cc.TraceBuilder(cc.Metadata(attrs={"who": "me"}))
    builder.add_node(id=1, attrs={"a": 1, "comm_size": 2, "b": 3})
    builder.add_node(id=2, attrs={"a": 1})
    made = builder.build().with_attrs({"comm_size": [7, 8]})
    assert [list(made.at(row).attrs.items()) for row in range(2)] == [
        [("a", 1), ("comm_size", 7), ("b", 3)],
        [("a", 1), ("comm_size", 8)],
    ]
    assert made.metadata.attrs == {"who": "me"}
    lists = np.ma.array([[True, False], [True, True]], mask=[[True, True], [False, False]])
    assert made.with_attrs({"involved_dim": lists}).at(1).attrs["involved_dim"] == [True, True]


def test_a_value_keeps_its_arm_where_that_can_carry_it() -> None:
    arms = ["int32", "uint32", "uint64", "sint64", "int64", "bool", ""]
    builder = cc.TraceBuilder()
    for node, arm in enumerate(arms):
        value = None if not arm else arm == "bool" or 7
        builder.add_node(id=node, attrs=[cc.Attribute("comm_size", value, f"{arm}_val" if arm else "", "why")])
    trace = builder.build()

    def kinds(value: int) -> list[str]:
        made = trace.with_attrs({"comm_size": np.full(len(arms), value)})
        assert made.attr("comm_size").tolist() == [value] * len(arms)
        return [made.at(row).attributes[0].kind.removesuffix("_val") for row in range(len(arms))]

    assert kinds(5)[:5] == ["int32", "uint32", "uint64", "sint64", "int64"]
    assert kinds(1 << 40)[2:5] == ["uint64", "sint64", "int64"]
    assert "int32" not in kinds(1 << 40)
    assert "uint32" not in kinds(1 << 40)


def test_arrays_that_do_not_fit() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1)
    trace = builder.build()
    with pytest.raises(cc.ChakraError, match="attribute x has 2 entries for 1 nodes"):
        trace.with_attrs({"x": [1, 2]})
    with pytest.raises(cc.ChakraError, match="comm_size"):
        trace.with_attrs({"comm_size": ["a"]})
