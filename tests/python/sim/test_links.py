# SPDX-License-Identifier: MIT
"""Graphs of links, and damage: networks written in two ways, and networkx as the judge of ways."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core import _core


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(0, 40))
def test_messages_take_the_shortest_way(seed: int, npus: int, switches: int) -> None:
    choose = random.Random(seed)
    nodes = npus + switches
    graph = networkx.DiGraph()
    links = []
    pairs = [(node, choose.randrange(node), False) for node in range(1, nodes)]
    pairs += [(choose.randrange(nodes), choose.randrange(nodes), choose.random() < 0.5) for _ in range(nodes)]
    for src, dst, one_way in pairs:
        ways = [(src, dst)] if one_way else [(src, dst), (dst, src)]
        if src == dst or any(graph.has_edge(*way) for way in ways):
            continue
        latency, bandwidth = choose.randrange(5) / 2, choose.randint(1, 9)
        links.append((src, dst, float(bandwidth), latency, one_way))
        graph.add_edges_from(ways, latency=latency, bandwidth=bandwidth)
    network = _core.Network.of_links(npus, switches, links)
    for _ in range(10):
        src, dst = choose.randrange(npus), choose.randrange(npus)
        ways = networkx.all_shortest_paths(graph, src, dst, weight="latency")
        way = min(ways, key=lambda way: (len(way), way))
        size = choose.randrange(1 << 40)
        slowest = min((graph[a][b]["bandwidth"] for a, b in pairwise(way)), default=1)
        latency = sum(graph[a][b]["latency"] for a, b in pairwise(way))
        expected = 0 if src == dst else int(latency + size / (slowest * 2**30 / 1e9))
        assert network.delay(src, dst, size) == expected


def all_reduce(size: int = 1 << 20) -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=0, name="all-reduce", type="COMM_COLL_NODE", attrs={"comm_type": 0, "comm_size": size})
    return builder.build()


def both(a: int | str, b: int | str) -> dict[str, Any]:
    return {"src": a, "dst": b, "bandwidth": 25, "latency": 300}


@pytest.mark.parametrize("congestion", [False, True])
@pytest.mark.parametrize(
    ("topology", "links", "algorithm"),
    [
        ("Ring", [both(i, (i + 1) % 5) for i in range(5)], "ring"),
        ("Ring", [both(i, (i + 1) % 5) for i in range(5)], "direct"),
        ("Mesh", [both(i, i + 1) for i in range(4)], "ring"),
        ("Mesh", [both(i, i + 1) for i in range(4)], "direct2"),
        ("Switch", [both(i, "hub") for i in range(5)], "direct"),
        ("FullyConnected", [both(i, j) for i in range(5) for j in range(i)], "direct3"),
    ],
)
def test_a_building_block_written_as_links(
    topology: str, links: list[dict[str, Any]], algorithm: str, congestion: bool
) -> None:
    block = cc.Network(topology=[topology], npus=[5], bandwidth=[25], latency=[300])
    graph = cc.Network(topology=["Graph"], npus=[5], switches=["hub"] if topology == "Switch" else [], links=links)
    system = {"all-reduce-implementation": [algorithm], "preferred-dataset-splits": 2, "endpoint-delay": 3}
    options: dict[str, Any] = {"system": system, "congestion": congestion}
    expected = cc.simulate([all_reduce()] * 5, network=block, **options)
    for fidelity in ("auto", "message", "phase"):
        found = cc.simulate([all_reduce()] * 5, network=graph, fidelity=fidelity, **options)
        assert found.finish_ns.tolist() == expected.finish_ns.tolist()


def test_a_slow_link_slows_the_ring_that_it_is_in() -> None:
    network = cc.Network(topology=["Ring", "Switch"], npus=[4, 2], bandwidth=[50, 50], latency=[0, 0])
    groups = {"a": [0, 1, 2, 3], "b": [4, 5, 6, 7]}
    traces = []
    for rank in range(8):
        builder = cc.TraceBuilder()
        attrs = {"comm_type": 0, "comm_size": 4 << 20, "pg_name": "a" if rank < 4 else "b"}
        builder.add_node(id=0, name="all-reduce", type="COMM_COLL_NODE", attrs=attrs)
        traces.append(builder.build())
    system = {"all-reduce-implementation": ["ring", "ring"], "endpoint-delay": 0}
    options: dict[str, Any] = {"network": network, "system": system, "comm_groups": groups}
    whole = cc.simulate(traces, **options).finish_ns.tolist()
    step = whole[0] // 6
    for congestion in (False, True):
        for fidelity in ("auto", "closed", "phase", "message"):
            damage = [{"src": 1, "dst": 2, "bandwidth": 0.25}]
            result = cc.simulate(traces, damage=damage, congestion=congestion, fidelity=fidelity, **options)
            # Six messages go over the slow link one after the other; if they do not hold each other up, what comes last
            # to rank 2 has been round the ring, over it twice.
            steps = 6 * 4 if congestion else 2 * 4 + 4
            assert abs(int(result.finish_ns[2]) - steps * step) < 30
            assert result.finish_ns.tolist()[4:] == whole[4:]


def test_damage_is_given_to_the_network_or_to_simulate() -> None:
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[50], latency=[500])
    damage = [cc.LinkDamage(dimension=0, bandwidth=0.5), {"src": 2, "latency": 3.0}]
    given = cc.simulate([all_reduce()] * 4, network=network, damage=damage)
    within = cc.simulate([all_reduce()] * 4, network=network.with_damage(damage))
    assert given.finish_ns.tolist() == within.finish_ns.tolist()
    assert given.finish_ns.max() > cc.simulate([all_reduce()] * 4, network=network).finish_ns.max()
    of_dimension = cc.simulate([all_reduce()] * 4, network=network, damage=damage[:1])
    assert of_dimension.folded_ranks == 3, "all links are alike"
    assert given.folded_ranks == 0


def test_what_astra_sim_does_not_have_is_refused_in_parity() -> None:
    line = {"npus": [2], "bandwidth": [50], "latency": [500]}
    for network in (
        cc.Network(topology=["Mesh"], **line),
        cc.Network(topology=["Switch"], oversubscription=[2], **line),
        cc.Network(topology=["Ring"], damage=[{"latency": 2}], **line),
        cc.Network(topology=["Graph"], npus=[2], links=[both(0, 1)]),
    ):
        with pytest.raises(cc.ConfigError, match="run without parity"):
            cc.simulate([all_reduce()] * 2, network=network, parity=True)


def test_graphs_in_pieces_are_refused() -> None:
    network = cc.Network(topology=["Graph"], npus=[3], switches=["s"], links=[both(0, 1), both(2, "s")])
    with pytest.raises(cc.ConfigError, match="no way leads from NPU 0 to NPU 2"):
        cc.simulate([all_reduce()] * 3, network=network)
    whole = cc.Network(topology=["Graph"], npus=[3], links=[both(0, 1), both(1, 2)])
    with pytest.raises(cc.ConfigError, match="no link from node 0 to node 2 is there"):
        cc.simulate([all_reduce()] * 3, network=whole, damage=[{"src": 0, "dst": 2}])


def test_absurd_bandwidths_end_in_an_error() -> None:
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[1e-300], latency=[500])
    for fidelity in ("auto", "message", "phase"):
        for congestion in (False, True):
            with pytest.raises(cc.SimulationError, match="exceeds 2"):
                cc.simulate([all_reduce()] * 4, network=network, fidelity=fidelity, congestion=congestion)
