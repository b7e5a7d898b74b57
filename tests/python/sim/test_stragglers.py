# SPDX-License-Identifier: MIT
"""Slow, late and jittery ranks against traces in which the same is spelt out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from random_runs import Node, Run, build, random_run

RING = {"topology": ["Ring"], "npus": [4], "bandwidth": [50], "latency": [500]}
MASK = (1 << 64) - 1
SPEEDS = st.sampled_from([0.25, 0.5, 0.9, 1.0, 3.0])
DELAYS = st.sampled_from([0, 1, 500, 20_000])


def mixed(value: int) -> int:
    """splitmix64."""
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def factor(jitter: float, seed: int, rank: int, node: int) -> float:
    uniform = (mixed(mixed(mixed(seed) ^ rank) ^ node) >> 11) / 2**53
    return 1 + jitter * (2 * uniform - 1)


def spelt_out(run: Run, stragglers: dict[str, Any]) -> Run:
    """The run in which computations last as long as they do on such ranks, and all waits for a first host node."""
    speeds, jitter = stragglers.get("compute_speed", {}), stragglers.get("jitter", 0)
    late = {(one["rank"], one["node"]): one["delay"] for one in stragglers.get("node_delays", [])}
    nodes = []
    for rank, mine in enumerate(run.nodes):
        first = len(mine)
        changed = []
        for number, node in enumerate(mine):
            duration: float = node.duration
            if node.kind == "COMP_NODE":
                duration = duration / speeds.get(rank, 1.0)
                if jitter:
                    duration *= factor(jitter, stragglers["seed"], rank, number)
            duration = int(duration) + late.get((rank, number), 0)
            changed.append(Node(node.kind, node.parents or [first], node.attrs, duration))
        begin = stragglers.get("start_delay", {}).get(rank, 0)
        nodes.append([*changed, Node("COMP_NODE", [], {"is_cpu_op": True}, begin)])
    return replace(run, nodes=nodes)


def ends(result: cc.Result, run: Run) -> list[int]:
    """Ends of all nodes but those that the test added."""
    nodes = result.nodes()
    return [
        end
        for rank, number, end in zip(*(nodes[name].tolist() for name in ("rank", "id", "end_ns")), strict=True)
        if number < len(run.nodes[rank])
    ]


@settings(max_examples=120)
@given(st.data())
def test_stragglers_are_what_their_traces_would_be(data: st.DataObject) -> None:
    run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=False)
    ranks = st.integers(0, run.ranks - 1)
    computations = [
        (rank, number)
        for rank, mine in enumerate(run.nodes)
        for number, node in enumerate(mine)
        if node.kind == "COMP_NODE"
    ]
    delayed = data.draw(st.lists(st.sampled_from(computations), unique=True, max_size=2)) if computations else []
    stragglers = {
        "compute_speed": data.draw(st.dictionaries(ranks, SPEEDS, max_size=3)),
        "start_delay": data.draw(st.dictionaries(ranks, DELAYS, max_size=3)),
        "jitter": data.draw(st.sampled_from([0.0, 0.25, 1.0])),
        "seed": data.draw(st.integers(0, MASK)),
        "node_delays": [{"rank": rank, "node": node, "delay": data.draw(DELAYS)} for rank, node in delayed],
    }
    try:
        expected = spelt_out(run, stragglers).simulate(fidelity="message")
    except cc.SimulationError:
        with pytest.raises(cc.SimulationError):
            run.simulate(stragglers=stragglers)
        return
    for options in ({"fidelity": "auto"}, {"fidelity": "auto", "fold": False}, {"fidelity": "message"}):
        found = run.simulate(stragglers=stragglers, **options)
        assert ends(found, run) == ends(expected, run)


def step(size: int = 1 << 20) -> cc.Trace:
    return build([Node("COMP_NODE", [], {}, 10_000), Node("COMM_COLL_NODE", [0], {"comm_type": 0, "comm_size": size})])


def test_one_slow_rank_holds_all_up() -> None:
    alone = cc.simulate([step()] * 4, network=RING)
    slow = cc.simulate([step()] * 4, network=RING, stragglers={"compute_speed": {2: 0.5}})
    assert slow.compute_ns.tolist() == [10_000, 10_000, 20_000, 10_000]
    assert slow.total_ns == alone.total_ns + 10_000
    assert (alone.folded_ranks, slow.folded_ranks) == (3, 0)
    table = slow.collectives()
    assert (table["start_ns"].tolist(), table["joined_ns"].tolist()) == ([10_000], [20_000])


def test_what_all_ranks_share_is_still_folded() -> None:
    stragglers = {"compute_speed": [0.5] * 4, "start_delay": ["1 us"] * 4}
    folded = cc.simulate([step()] * 4, network=RING, stragglers=stragglers)
    unfolded = cc.simulate([step()] * 4, network=RING, stragglers=stragglers, fold=False)
    assert (folded.folded_ranks, unfolded.folded_ranks) == (3, 0)
    assert folded.finish_ns.tolist() == unfolded.finish_ns.tolist()
    assert folded.nodes()["start_ns"].tolist() == [1000, 21_000] * 4
    jittery = cc.simulate([step()] * 4, network=RING, stragglers={"jitter": 0.1})
    assert jittery.folded_ranks == 0


def test_a_delayed_collective_comes_late_and_holds_its_lane() -> None:
    nodes = [Node("COMM_COLL_NODE", [], {"comm_type": 0, "comm_size": 1 << 20}) for _ in range(2)]
    delay = {"node_delays": [{"rank": 1, "node": 0, "delay": "5 us"}]}
    result = cc.simulate([build(nodes)] * 4, network=RING, stragglers=delay)
    starts = result.nodes()["start_ns"].reshape(4, 2)
    assert starts[:, 0].tolist() == [0, 5000, 0, 0]
    assert result.nodes()["wait_ns"].reshape(4, 2)[1, 0] == 5000
    assert (starts[:, 1] > 5000).all()
    assert result.collectives()["joined_ns"][0] == 5000


def test_jitter_is_the_same_for_a_seed_and_centred() -> None:
    trace = build([Node("COMP_NODE", [], {"stream": number}, 1_000_000) for number in range(2000)])
    network = {"topology": ["Ring"], "npus": [1], "bandwidth": [50], "latency": [500]}

    def durations(seed: int) -> Any:
        nodes = cc.simulate([trace], network=network, stragglers={"jitter": 0.1, "seed": seed}).nodes()
        return nodes["end_ns"] - nodes["start_ns"]

    one = durations(1)
    assert one.tolist() == durations(1).tolist() != durations(2).tolist()
    assert one.min() >= 900_000
    assert one.max() < 1_100_000
    # Standard deviation of the mean of 2000 uniform values: 1 291.
    assert abs(one.mean() - 1_000_000) < 5 * 1291


def test_a_file_of_stragglers(tmp_path: Path) -> None:
    path = tmp_path / "stragglers.yml"
    path.write_text(
        "compute-speed: {2: 0.5}\nstart-delay: {0: 2 us}\nnode-delays:\n  - {rank: 1, node: 0, delay: 7}\njitter: 0.0\n"
    )
    result = cc.simulate([step()] * 4, network=RING, stragglers=path)
    assert result.nodes()["start_ns"].reshape(4, 2)[:, 0].tolist() == [2000, 7, 0, 0]
    path = tmp_path / "stragglers.json"
    path.write_text('{"compute-speed": {"2": 0.5}, "start-delay": [2000]}')
    assert cc.Stragglers.load(path).compute_speed == {2: 0.5}
    assert cc.Stragglers.load(path).start_delay == {0: 2000}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"compute_speed": {4: 0.5}}, "'compute-speed' names rank 4, but there are 4 ranks"),
        ({"compute_speed": {1: 0.0}}, "compute-speed"),
        ({"jitter": 1.5}, "'jitter': found 1.5"),
        ({"node_delays": [{"rank": 0, "node": 9, "delay": 1}]}, "rank 0 has no node 9"),
        ({"slow": 1}, "'slow'"),
    ],
)
def test_wrong_stragglers_are_config_errors(given: dict[str, Any], message: str) -> None:
    with pytest.raises(cc.ConfigError, match=message):
        cc.simulate([step()] * 4, network=RING, stragglers=given)
