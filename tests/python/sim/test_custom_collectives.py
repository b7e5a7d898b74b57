# SPDX-License-Identifier: MIT
"""Collectives that are given as traces, against the same nodes written into the traces of the ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc

NETWORK = cc.Network(topology=["Ring", "Switch"], npus=[3, 2], bandwidth=[50, 25], latency=[500, 700])
MANY = {"comm": 10_000, "compute": 10_000}


def step(
    kind: str, parents: list[int], peer: int = 0, size: int = 0, tag: int = 0, duration: int = 0
) -> dict[str, Any]:
    return {"kind": kind, "parents": parents, "peer": peer, "size": size, "tag": tag, "duration": duration}


def add(
    builder: cc.TraceBuilder, steps: list[dict[str, Any]], first: int, after: list[int], rank_of: list[int]
) -> None:
    for number, one in enumerate(steps):
        parents = [first + parent for parent in one["parents"]] or after
        attrs: dict[str, Any] = {"is_cpu_op": False}
        if one["kind"] != "COMP_NODE":
            peer = "comm_dst" if one["kind"] == "COMM_SEND_NODE" else "comm_src"
            attrs |= {peer: rank_of[one["peer"]], "comm_size": one["size"], "comm_tag": one["tag"]}
        builder.add_node(
            id=first + number,
            name=f"step{number}",
            type=one["kind"],
            data_deps=parents,
            duration_ns=one["duration"],
            attrs=attrs,
        )


def trace_of(steps: list[dict[str, Any]]) -> cc.Trace:
    builder = cc.TraceBuilder()
    add(builder, steps, 0, [], list(range(100)))
    return builder.build()


def compute(builder: cc.TraceBuilder, duration: int) -> None:
    builder.add_node(id=0, name="before", type="COMP_NODE", duration_ns=duration, attrs={"is_cpu_op": False})


def random_steps(data: st.DataObject, members: int, *, own_tags: bool) -> list[list[dict[str, Any]]]:
    """Messages in one order, so that they can all be delivered; what each waits for is any of what came before."""
    steps: list[list[dict[str, Any]]] = [[] for _ in range(members)]

    def parents(position: int) -> list[int]:
        before = len(steps[position])
        return data.draw(st.lists(st.integers(0, before - 1), max_size=2, unique=True)) if before else []

    for number in range(data.draw(st.integers(1, 12))):
        src, dst = data.draw(st.tuples(st.integers(0, members - 1), st.integers(0, members - 1)))
        if src == dst:
            steps[src].append(step("COMP_NODE", parents(src), duration=data.draw(st.sampled_from([0, 1, 900]))))
            continue
        size, tag = data.draw(st.sampled_from([1, 4096, 1 << 20])), data.draw(st.sampled_from([0, 1, 77]))
        tag += 100 * number * own_tags
        steps[src].append(step("COMM_SEND_NODE", parents(src), dst, size, tag))
        steps[dst].append(step("COMM_RECV_NODE", parents(dst), src, size, tag))
    return steps


@settings(max_examples=60)
@given(st.data(), st.booleans(), st.booleans())
def test_the_same_as_its_nodes_in_the_traces(data: st.DataObject, congestion: bool, rendezvous: bool) -> None:
    members = data.draw(st.sampled_from([[0, 1, 2, 3, 4, 5], [1, 4, 5], [0, 2]]))
    # A rendezvous pairs the two sides by tag alone, whatever the size.
    steps = random_steps(data, len(members), own_tags=rendezvous)
    skew = data.draw(st.lists(st.sampled_from([1, 5, 3000]), min_size=6, max_size=6))
    collective, expanded = [], []
    for rank in range(6):
        short, long = cc.TraceBuilder(), cc.TraceBuilder()
        compute(short, skew[rank])
        compute(long, skew[rank])
        if rank in members:
            attrs = {"comm_type": 0, "comm_size": 1, "pg_name": "g", "is_cpu_op": False}
            short.add_node(id=1, name="all-reduce", type="COMM_COLL_NODE", data_deps=[0], attrs=attrs)
            add(long, steps[members.index(rank)], 1, [0], members)
        collective.append(short.build())
        expanded.append(long.build())
    options: dict[str, Any] = {
        "network": NETWORK,
        "congestion": congestion,
        "rendezvous_protocol": rendezvous,
        "resources": MANY,
    }
    expected = cc.simulate(expanded, **options)
    system = cc.System(all_reduce_implementation_custom=[trace_of(mine) for mine in steps])
    for fidelity in ("auto", "message", "phase", "closed"):
        found = cc.simulate(collective, system=system, comm_groups={"g": members}, fidelity=fidelity, **options)
        assert found.finish_ns.tolist() == expected.finish_ns.tolist()


def ring_all_reduce(n: int, size: int) -> list[list[dict[str, Any]]]:
    """Each step waits for what was received in the one before."""
    members = []
    for i in range(n):
        steps: list[dict[str, Any]] = []
        for k in range(2 * (n - 1)):
            parents = [2 * k - 1] if k else []
            steps.append(step("COMM_SEND_NODE", parents, (i + 1) % n, size // n, k))
            steps.append(step("COMM_RECV_NODE", parents, (i - 1) % n, size // n, k))
        members.append(steps)
    return members


def one_collective(kind: int = 0, size: int = 1 << 20) -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=0, name="collective", type="COMM_COLL_NODE", attrs={"comm_type": kind, "comm_size": size})
    return builder.build()


def test_a_ring_from_files_is_the_ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for position, steps in enumerate(ring_all_reduce(4, 1 << 20)):
        cc.save(trace_of(steps), f"ring.{position}.et")
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[50], latency=[500])
    expected = cc.simulate([one_collective()] * 4, network=network, system={"endpoint-delay": 0})
    for value in (["ring"], "ring", "ring.%d.et"):
        system = {"all-reduce-implementation-custom": value, "endpoint-delay": 10, "preferred-dataset-splits": 4}
        found = cc.simulate([one_collective()] * 4, network=network, system=system)
        assert found.finish_ns.tolist() == expected.finish_ns.tolist()
        assert found.fidelity == {"closed": 0, "phase": 0, "message": 4}
    # Other types, and types with a root, are what they were.
    for kind in (1, 2, 9):
        system = {"all-reduce-implementation-custom": "ring"}
        plain = cc.simulate([one_collective(kind)] * 4, network=network)
        assert (
            cc.simulate([one_collective(kind)] * 4, network=network, system=system).finish_ns[0] == plain.finish_ns[0]
        )


def test_a_member_with_nothing_to_do_is_through_at_once() -> None:
    network = cc.Network(topology=["Ring"], npus=[2], bandwidth=[50], latency=[500])
    system = cc.System(all_to_all_implementation_custom=[trace_of([]), trace_of([step("COMP_NODE", [], duration=7)])])
    assert cc.simulate([one_collective(6)] * 2, network=network, system=system).finish_ns.tolist() == [0, 7]


def change(**values: Any) -> Callable[[list[list[dict[str, Any]]]], None]:
    return lambda members: members[1][0].update(values)


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (
            change(peer=9),
            cc.ConfigError,
            "all-reduce-implementation-custom, member 1: node 0: comm_dst is 9, but it counts",
        ),
        (
            change(kind="COMM_COLL_NODE"),
            cc.ConfigError,
            "member 1: node 0: a collective is made of COMP, COMM_SEND and",
        ),
        (change(size=-1), cc.ConfigError, "member 1: node 0: comm_size is missing or negative"),
        (change(parents=[1], kind="COMP_NODE"), cc.ConfigError, "member 1: node 0: it waits for a cycle"),
        (
            lambda members: members.__setitem__(slice(None), ring_all_reduce(3, 9)),
            cc.SimulationError,
            "custom is for 3 members, but the group has 4",
        ),
        (change(size=5), cc.SimulationError, r'waits for group "all ranks": a message from rank 1 \(262144 bytes\)'),
    ],
)
def test_bad_custom_collectives(
    spoil: Callable[[list[list[dict[str, Any]]]], None], error: type[Exception], message: str
) -> None:
    members = ring_all_reduce(4, 1 << 20)
    members[1][1]["parents"] = [0]
    spoil(members)
    if members[1][0]["kind"] == "COMP_NODE":
        members[1][0]["duration"] = 1
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[50], latency=[500])
    system = cc.System(all_reduce_implementation_custom=[trace_of(steps) for steps in members])
    with pytest.raises(error, match=message):
        cc.simulate([one_collective()] * 4, network=network, system=system)


def test_refused_in_parity_and_without_files() -> None:
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[50], latency=[500])
    system = cc.System(all_reduce_implementation_custom=[trace_of(steps) for steps in ring_all_reduce(4, 4)])
    with pytest.raises(cc.ConfigError, match="custom collectives are not known"):
        cc.simulate([one_collective()] * 4, network=network, system=system, parity=True)
    with pytest.raises(cc.ConfigError, match=r"'all-reduce-implementation-custom': .*nowhere"):
        cc.simulate([one_collective()] * 4, network=network, system={"all-reduce-implementation-custom": "nowhere"})
