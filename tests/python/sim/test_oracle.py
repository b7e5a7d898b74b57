# SPDX-License-Identifier: MIT
"""The plain model of ASTRA-sim against the grid, and the simulator, in every fidelity, against the plain model."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from astra_oracle import Oracle
from oracle_of_runs import oracle_of
from random_runs import Node, Run, random_run
from reference_grid import GRID, REFERENCE, nodes_of, rows, setup_of
from shared_data import needs

LARGEST = 16
"""NPUs of the largest rows that the plain model is run on; the simulator runs all of them."""


@needs(GRID)
def test_the_plain_model_gives_the_grid() -> None:
    counted = 0
    for row in rows():
        if row["npus"] > LARGEST:
            continue
        files = [
            str(REFERENCE / row["workload_dir"] / f"{row['workload_prefix']}.{npu}.et") for npu in range(row["npus"])
        ]
        oracle = Oracle(setup_of(row), [nodes_of(path) for path in files])
        assert (oracle.finish_ns, oracle.exposed_comm_ns) == (row["finish_ns"], row["exposed_comm_ns"]), row["id"]
        counted += 1
    assert counted > 350


def times_of(result: cc.Result) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    nodes = result.nodes()
    times = list(zip(nodes["start_ns"].tolist(), nodes["end_ns"].tolist(), strict=True))
    return result.finish_ns.tolist(), result.exposed_comm_ns.tolist(), times


@settings(max_examples=60)
@given(st.data(), st.booleans())
def test_every_node_has_the_times_of_the_plain_model(data: st.DataObject, congestion: bool) -> None:
    run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=True)
    if congestion and len(run.npus) == 1:
        run.options["congestion"] = True
    oracle = oracle_of(run)
    for fidelity in ("auto", "message"):
        if oracle.is_stuck:
            with pytest.raises(cc.SimulationError):
                run.simulate(fidelity=fidelity)
        else:
            found = times_of(run.simulate(fidelity=fidelity))
            assert found == (oracle.finish_ns, oracle.exposed_comm_ns, oracle.node_times)


@settings(max_examples=100)
@given(st.data(), st.booleans())
def test_the_default_mode_has_the_times_of_the_plain_model(data: st.DataObject, congestion: bool) -> None:
    run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=False, plain=True)
    run.options["congestion"] = congestion
    oracle = oracle_of(run)
    if oracle.is_stuck:
        return  # ranks that take their chunks in different orders: the simulator lets them pass
    try:
        auto = run.simulate(fidelity="auto")
    except cc.SimulationError as error:
        if "ranks disagree on collective number" not in str(error):
            raise
        return  # the plain model pairs the collectives that come first, whatever they are
    assert (auto.finish_ns.tolist(), times_of(auto)[2]) == (oracle.finish_ns, oracle.node_times)
    for fidelity in ("message",) if auto.order_mattered else ("message", "phase", "closed"):
        finish, _, nodes = times_of(run.simulate(fidelity=fidelity))
        assert (finish, nodes) == (oracle.finish_ns, oracle.node_times), fidelity


def test_chunks_that_wait_for_each_other_over_three_dimensions_go_on() -> None:
    """What never ends in ASTRA-sim: a middle dimension gets chunks on their way out and back, in any order."""
    stuck = 0
    for seed in range(60):
        choose = random.Random(seed)
        system = {
            "endpoint-delay": 10,
            "active-chunks-per-dimension": choose.choice([1, 2]),
            "preferred-dataset-splits": 8,
            "collective-optimization": "localBWAware",
            "all-reduce-implementation": ["ring"] * 3,
            "all-gather-implementation": ["ring"] * 3,
            "reduce-scatter-implementation": ["ring"] * 3,
            "all-to-all-implementation": ["ring"] * 3,
        }
        run = Run(
            topology=["Ring", "Switch", "FullyConnected"],
            npus=[2, 2, 2],
            bandwidth=[choose.choice([1, 25, 50]) for _ in range(3)],
            latency=[choose.choice([1, 500]) for _ in range(3)],
            system=system,
            groups={},
            nodes=[
                [
                    Node("COMP_NODE", [], {}, choose.randrange(1, 40_000)),
                    Node("COMM_COLL_NODE", [0], {"comm_type": 0, "comm_size": 1 << 18}),
                ]
                for _ in range(8)
            ],
            options={"parity": False, "num_queues_per_dim": 1, "rendezvous_protocol": False, "resources": "astra"},
        )
        oracle = oracle_of(run)
        stuck += oracle.is_stuck
        results = [times_of(run.simulate(fidelity=fidelity)) for fidelity in ("auto", "message")]
        assert results[0] == results[1]
        assert oracle.is_stuck or results[0][0] == oracle.finish_ns
    assert 10 < stuck < 50
