# SPDX-License-Identifier: MIT
"""Times of computations from the caller, against traces with these durations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from random_runs import Node, build, random_run

RING = {"topology": ["Ring"], "npus": [2], "bandwidth": [50], "latency": [500]}
SHAPES = ["[[2, 3]]", "[[4, 5]]", "[[2, 3]]"]


def kernels() -> cc.Trace:
    """mm, mm, add one after the other, each of 10 ns; then an all-reduce."""
    builder = cc.TraceBuilder()
    for number, (name, shapes) in enumerate(zip(["mm", "mm", "add"], SHAPES, strict=True)):
        builder.add_node(
            id=number,
            name=name,
            data_deps=[number - 1] if number else [],
            duration_ns=10,
            attrs={"is_cpu_op": number == 2, "num_ops": 100 * (number + 1), "tensor_size": 7},
            inputs=cc.IoInfo(values="[]", shapes=shapes, types="[]"),
        )
    builder.add_node(id=9, name="all", type="COMM_COLL_NODE", data_deps=[2], attrs={"comm_type": 0, "comm_size": 64})
    return builder.build()


def durations(times: Any, **options: Any) -> list[int]:
    nodes = cc.simulate([kernels()] * 2, network=RING, compute_times=times, **options).nodes()
    return (nodes["end_ns"] - nodes["start_ns"])[:3].tolist()


def test_a_function_is_asked_once_for_each_trace_with_all_columns() -> None:
    asked: list[cc.ComputeNodes] = []

    def times(nodes: cc.ComputeNodes) -> Any:
        asked.append(nodes)
        return nodes.num_ops * 2 + nodes.tensor_size

    assert durations(times) == [207, 407, 607]
    (nodes,) = asked
    assert nodes.ranks == [0, 1]
    assert len(nodes) == 3
    assert nodes.ids.tolist() == [0, 1, 2]
    assert nodes.names.tolist() == ["mm", "mm", "add"]
    assert nodes.types.tolist() == [4, 4, 4]
    assert nodes.is_cpu_op.tolist() == [False, False, True]
    assert nodes.duration_ns.tolist() == [10, 10, 10]
    assert nodes.shapes.tolist() == SHAPES


def test_nan_and_masked_are_what_they_are_otherwise() -> None:
    assert durations(lambda nodes: np.array([1.9, np.nan, 0])) == [1, 10, 0]
    assert durations(lambda nodes: np.ma.masked_equal([5, 0, 7], 0)) == [5, 10, 7]
    roofline = {"roofline_enabled": True, "peak_perf": 0.001, "local_mem_bw": 1000}
    assert durations(lambda nodes: [np.nan, 3, np.nan], system=roofline) == [100, 3, 10]


def test_tables_by_name_and_by_shapes() -> None:
    assert durations({"mm": 50}) == [50, 50, 10]
    assert durations({"mm": 50, ("mm", "[[4, 5]]"): 70, ("add", "[[9]]"): 1}) == [50, 70, 10]
    table = {"name": ["mm", "mm"], "shapes": ["[[2, 3]]", None], "duration_ns": [20, 30]}
    assert durations(table) == [20, 30, 10]
    pandas = pytest.importorskip("pandas")
    assert durations(pandas.DataFrame(table)) == [20, 30, 10]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (lambda nodes: [1, 2], r"found shape \(2,\), expected \(3,\), one time for each COMP node"),
        (lambda nodes: [1, -2, 3], "node 1 takes -2.0 ns"),
        (lambda nodes: [1, 2, np.inf], "node 2 takes inf ns"),
        (lambda nodes: ["a", "b", "c"], "expected numbers"),
        ({"mm": "slow"}, "expected numbers"),
        ({3: 4}, r"found the key 3, expected a name or \(name, shapes\)"),
        ([1, 2, 3], "a table needs the columns"),
    ],
)
def test_wrong_times_are_config_errors(times: Any, message: str) -> None:
    with pytest.raises(cc.ConfigError, match=message):
        durations(times)


@settings(max_examples=60)
@given(st.data(), st.booleans())
def test_given_times_are_what_durations_would_be(data: st.DataObject, parity: bool) -> None:
    run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=parity, alike=data.draw(st.booleans()))
    extra = data.draw(st.sampled_from([0, 3, 1000]))
    longer = [
        [Node(n.kind, n.parents, n.attrs, n.duration + extra if n.kind == "COMP_NODE" else 0) for n in mine]
        for mine in run.nodes
    ]
    spelt_out = replace(run, nodes=longer)
    try:
        expected = spelt_out.simulate(fidelity="message").nodes()["end_ns"].tolist()
    except cc.SimulationError:
        return
    found = run.simulate(compute_times=lambda nodes: nodes.duration_ns + extra)
    assert found.nodes()["end_ns"].tolist() == expected


def test_ranks_with_equal_times_are_folded() -> None:
    trace = build([Node("COMP_NODE", [], {}, 100)])
    other = build([Node("COMP_NODE", [], {}, 100)])
    same = cc.simulate([trace, other], network=RING, compute_times={"node0": 7})
    assert (same.folded_ranks, same.finish_ns.tolist()) == (1, [7, 7])
    apart = cc.simulate([trace, other], network=RING, compute_times=lambda nodes: [7 + nodes.ranks[0]])
    assert (apart.folded_ranks, apart.finish_ns.tolist()) == (0, [7, 8])
