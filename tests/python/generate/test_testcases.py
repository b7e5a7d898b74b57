# SPDX-License-Identifier: MIT
"""Test cases against plain definitions of their graphs, protobuf, the simulator and each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core import proto

NOT_TO_RUN = {"cycle", "one_comm_send_node", "one_comm_recv_node"}


def parents(trace: cc.Trace) -> dict[int, list[int]]:
    return {int(node): trace.node(int(node)).data_deps.tolist() for node in trace.ids}


@pytest.mark.parametrize("name", [name for name in cc.generate.testcases() if name != "cycle"])
def test_each_survives_a_file(name: str, tmp_path: Path) -> None:
    traces = cc.generate.testcase(name, ranks=3)
    assert len(traces) == 3
    for rank, trace in enumerate(traces):
        assert trace.validate().ok == (name not in NOT_TO_RUN)
        cc.save(trace, tmp_path / f"run.{rank}.et")
    again = cc.load_run(str(tmp_path / "run.%d.et"))
    assert not any(cc.diff(one, other) for one, other in zip(traces, again, strict=True))


@pytest.mark.parametrize("name", [name for name in cc.generate.testcases() if name not in NOT_TO_RUN])
def test_each_can_be_simulated(name: str) -> None:
    traces = cc.generate.testcase(name, ranks=4)
    assert cc.check_ranks(traces).ok
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[50.0], latency=[100.0])
    memory = cc.Memory(memory_type="PER_NPU_MEMORY_EXPANSION", remote_mem_bw=10)
    result = cc.simulate(traces, network=network, memory=memory)
    nodes = sum(len(trace) for trace in traces)
    assert len(result.nodes()["id"]) == nodes


def test_cycle_is_found() -> None:
    (trace,) = cc.generate.testcase("cycle", ranks=1, nodes=5)
    report = trace.validate()
    assert not report.ok
    with pytest.raises(cc.DependencyError):
        cc.simulate([trace], network=cc.Network(topology=["Ring"], npus=[1], bandwidth=[50.0], latency=[1.0]))


def test_metadata_has_every_arm_of_the_schema() -> None:
    (trace,) = cc.generate.testcase("one_metadata_node_all_types", ranks=1)
    node = trace.node(0).to_proto()
    arms = [attribute.WhichOneof("value") for attribute in node.attr]
    described = proto.AttributeProto.DESCRIPTOR.oneofs_by_name["value"].fields
    assert arms == [field.name for field in described]
    assert [attribute.name for attribute in node.attr] == [arm.removesuffix("_val") for arm in arms]
    assert list(node.attr[13].sint32_list.values) == [12345, -23456]


def test_collectives_are_those_of_the_schema() -> None:
    names = [name for name in cc.generate.testcases() if name.startswith("one_comm_coll_node_")]
    kinds = set()
    for name in names:
        (trace,) = cc.generate.testcase(name, ranks=1)
        node = trace.node(0)
        assert node.name == cc.CollectiveType(node.attrs["comm_type"]).name
        assert node.attrs["comm_size"] == (0 if name.endswith("barrier") else 65536)
        kinds.add(node.attrs["comm_type"])
    assert kinds == {int(kind) for kind in cc.CollectiveType}


def test_send_receive_is_a_circle() -> None:
    traces = cc.generate.testcase("send_receive", ranks=3, messages=2, comm_size=10)
    agreement = cc.check_ranks(traces)
    assert agreement.ok
    assert agreement.messages == 6
    assert [trace.node(0).attrs["comm_dst"] for trace in traces] == [1, 2, 0]


@given(nodes=st.integers(1, 60))
@settings(max_examples=20, deadline=None)
def test_chains_by_their_definition(nodes: int) -> None:
    def one(name: str) -> cc.Trace:
        return cc.generate.testcase(name, ranks=1, nodes=nodes)[0]

    assert parents(one("chain")) == {node: [node - 1] if node else [] for node in range(nodes)}
    forward = one("forward_references")
    assert parents(forward) == {node: [node + 1] if node + 1 < nodes else [] for node in range(nodes)}
    assert forward.ids.tolist() == list(range(nodes))
    backward = one("reverse_order")
    assert parents(backward) == parents(one("chain"))
    assert backward.ids.tolist() == list(range(nodes))[::-1]
    ids = one("sparse_ids").ids.tolist()
    assert len(set(ids)) == nodes
    assert list(parents(one("sparse_ids")).values()) == [[], *([parent] for parent in ids[:-1])]


@given(seed=st.integers(0, 2**64 - 1), levels=st.integers(1, 20), width=st.integers(1, 8), most=st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_layered_random_depth_is_its_levels(seed: int, levels: int, width: int, most: int) -> None:
    (trace,) = cc.generate.testcase("layered_random", ranks=1, seed=seed, levels=levels, width=width, most_parents=most)
    assert len(trace) == levels * width
    assert trace.stats().depth == levels
    assert int(np.diff(trace.data_deps.offsets.astype(np.int64)).max()) <= most


def test_errors_say_what_there_is() -> None:
    with pytest.raises(cc.ConfigError, match=r"no test case chian, only .*chain"):
        cc.generate.testcase("chian")
    with pytest.raises(cc.ConfigError, match="no parameter length, only nodes, duration_ns, ranks"):
        cc.generate.testcase("chain", length=3)
    with pytest.raises(cc.ConfigError, match="nodes is 0, expected 1 to"):
        cc.generate.testcase("chain", nodes=0)
    with pytest.raises(cc.ConfigError, match="expected an integer"):
        cc.generate.testcase("chain", nodes=-1)
