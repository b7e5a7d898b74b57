# SPDX-License-Identifier: MIT
"""`check` before a simulation against what the simulation then does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from random_runs import Node, Run, build, random_run

ALL_REDUCE, ALL_TO_ALL, BROADCAST = 0, 6, 5


def check(run: Run) -> cc.RankAgreement:
    return cc.check([build(nodes) for nodes in run.nodes], comm_groups=run.groups)


@settings(max_examples=60)
@given(st.data())
def test_runs_that_can_be_simulated_fit_together(data: st.DataObject) -> None:
    found = check(random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=False))
    assert found.ok, found.text
    assert found.first is None


def chained(run: Run) -> Run:
    """The run with every node after the one before, so that no order is left open."""
    nodes = [
        [Node(n.kind, [i - 1] if i else [], n.attrs, n.duration) for i, n in enumerate(mine)] for mine in run.nodes
    ]
    return replace(run, nodes=nodes)


@settings(max_examples=80)
@given(st.data())
def test_a_change_on_one_rank_is_found_and_would_have_failed(data: st.DataObject) -> None:
    run = chained(random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=False))
    alone = {name for name, ranks in run.groups.items() if len(ranks) == 1}
    spots = [
        (rank, place)
        for rank, mine in enumerate(run.nodes)
        for place, node in enumerate(mine)
        if node.kind == "COMM_COLL_NODE" and node.attrs.get("pg_name") not in alone
    ]
    if not spots:
        return
    rank, place = data.draw(st.sampled_from(spots))
    node = run.nodes[rank][place]
    key = data.draw(st.sampled_from(["comm_size", "comm_type"]))
    change = {"comm_size": node.attrs["comm_size"] + 1, "comm_type": (node.attrs["comm_type"] + 1) % 10}
    run.nodes[rank][place] = Node(node.kind, node.parents, {**node.attrs, key: change[key]}, node.duration)
    found = check(run)
    assert found.first is not None
    assert found.first.kind == ("size" if key == "comm_size" else "collective")
    assert rank in found.first.ranks
    assert f"node {place}" in found.first.message
    with pytest.raises(cc.SimulationError):
        run.simulate()


def collective(kind: int = ALL_REDUCE, size: int = 64, **attrs: Any) -> Node:
    return Node("COMM_COLL_NODE", [], {"comm_type": kind, "comm_size": size, **attrs})


def send(dst: int, size: int, tag: int = 0) -> Node:
    return Node("COMM_SEND_NODE", [], {"comm_dst": dst, "comm_size": size, "comm_tag": tag})


def receive(src: int, size: int, tag: int = 0) -> Node:
    return Node("COMM_RECV_NODE", [], {"comm_src": src, "comm_size": size, "comm_tag": tag})


def first_of(*ranks: list[Node], groups: dict[str, list[int]] | None = None) -> cc.Disagreement:
    """The first difference; the simulation of these ranks must fail."""
    traces = [build(nodes) for nodes in ranks]
    found = cc.check(traces, comm_groups=groups)
    network = cc.Network(topology=["Ring"], npus=[len(ranks)], bandwidth=[50], latency=[500])
    with pytest.raises(cc.ChakraError):
        cc.simulate(traces, network=network, comm_groups=groups)
    assert found.first is not None
    return found.first


def test_t31_both_nodes_ranks_tag_and_sizes() -> None:
    first = first_of([send(1, 1024)], [receive(0, 2048), receive(0, 5, tag=7)])
    assert first.kind == "message size"
    assert first.ranks == (0, 1)
    assert "with tag 0: rank 0 sends 1024 B (node 0) and rank 1 receives 2048 B (node 0)" in first.message


def test_a_receive_without_send_and_a_send_without_receive() -> None:
    assert (
        "rank 1 receives 5 B (node 0), but nobody sends it; there are 0 sends" in first_of([], [receive(0, 5)]).message
    )
    found = cc.check([build([send(1, 5), send(1, 9)]), build([receive(0, 9)])])
    assert found.first is not None
    assert found.first.kind == "no partner"
    assert "message 0 with tag 0: rank 0 sends 5 B (node 0), but nobody receives it" in found.first.message


def test_the_order_of_sizes_does_not_matter() -> None:
    assert cc.check([build([send(1, 5), send(1, 9)]), build([receive(0, 9), receive(0, 5)])]).messages == 2


def test_peers_and_groups_that_do_not_exist() -> None:
    assert "node 0 sends to rank 2, and there are 2 ranks" in first_of([send(2, 5)], []).message
    assert first_of([receive(7, 5)], []).kind == "no such rank"
    unknown = first_of([collective(pg_name="tp")], [collective(pg_name="tp")], groups={"dp": [0, 1]})
    assert unknown.kind == "unknown group"
    assert "ranks [0, 1] use it, but it is not in the communicator groups (dp)" in unknown.message
    outside = first_of([collective(pg_name="a")], [collective(pg_name="a")], groups={"a": [0]})
    assert outside.kind == "not a member"


def test_order_root_dimensions_and_number() -> None:
    two = [collective(size=8), collective(ALL_TO_ALL, 8)]
    assert first_of(two, two[::-1]).kind == "collective"
    assert first_of([collective(ALL_TO_ALL, 8)], [collective(ALL_TO_ALL, 16)]).kind == "size"
    root = first_of([collective(BROADCAST, comm_src=0)], [collective(BROADCAST, comm_src=1)])
    assert (root.kind, "the root is 0 and 1" in root.message) == ("root", True)
    some = first_of([collective(involved_dim=[True])], [collective(involved_dim=[False])])
    assert (some.kind, "involved_dim is [True] and [False]" in some.message) == ("dimensions", True)
    assert first_of(two, two[:1]).kind == "number"


def test_dependencies_order_what_has_no_recorded_start() -> None:
    # The same order on both ranks, though the files have the nodes in different places.
    one = cc.TraceBuilder()
    one.add_node(id=0, type="COMM_COLL_NODE", attrs={"comm_type": 0, "comm_size": 8})
    one.add_node(id=1, type="COMM_COLL_NODE", data_deps=[0], attrs={"comm_type": 6, "comm_size": 8})
    other = cc.TraceBuilder()
    other.add_node(id=1, type="COMM_COLL_NODE", data_deps=[5], attrs={"comm_type": 6, "comm_size": 8})
    other.add_node(id=5, type="COMM_COLL_NODE", attrs={"comm_type": 0, "comm_size": 8})
    assert cc.check([one.build(), other.build()]).ok


def test_a_network_says_how_many_ranks_there_are() -> None:
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[50], latency=[500])
    with pytest.raises(cc.ConfigError, match="found 2 of 4 ranks: 2-3 missing"):
        cc.check([build([]), build([])], network)
