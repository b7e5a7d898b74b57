# SPDX-License-Identifier: MIT
"""Every fidelity that claims to be exact, and folded ranks, against all messages of all ranks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.result import TABLES
from random_runs import Run, random_run
from reference_grid import GRID, REFERENCE, rows, setup_of
from shared_data import needs


def columns(result: cc.Result) -> list[Any]:
    """Everything that a result says of what happened."""
    columns = [column for name in TABLES for column in result.table(name).values()]
    columns += result._native.activity.values()
    return [*(column.tolist() for column in columns), result.warnings]


def outcome(run: Run, **options: Any) -> list[Any] | None:
    """Columns; None where the run cannot end."""
    try:
        return columns(run.simulate(**options))
    except cc.SimulationError:
        return None


@settings(max_examples=150)
@given(st.data(), st.booleans())
def test_auto_gives_the_times_of_all_messages(data: st.DataObject, parity: bool) -> None:
    run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=parity)
    assert outcome(run, fidelity="auto") == outcome(run, fidelity="message")


@settings(max_examples=150)
@given(st.data(), st.booleans())
def test_one_rank_stands_for_all(data: st.DataObject, parity: bool) -> None:
    run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=parity, alike=True)
    expected = outcome(run, fidelity="message")
    assert outcome(run, fidelity="auto", fold=True) == expected
    assert outcome(run, fidelity="auto", fold=False) == expected
    assert outcome(run, fidelity="closed", fold=True) == outcome(run, fidelity="closed", fold=False)


@needs(GRID)
@pytest.mark.parametrize("parity", [True, False])
def test_the_grid_in_every_fidelity(parity: bool, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for row in rows():
        if row["backend"] == "aware":
            continue
        setup = setup_of(row)
        memory = tmp_path / "memory.json"
        memory.write_text(row["memory_json"])

        def simulate(row: dict[str, Any] = row, setup: Any = setup, memory: Path = memory, **options: Any) -> cc.Result:
            return cc.simulate(
                REFERENCE / row["workload_dir"] / f"{row['workload_prefix']}.%d.et",
                network=cc.Network(
                    topology=setup.topology, npus=setup.npus, bandwidth=setup.bandwidth, latency=setup.latency
                ),
                system=setup.system,
                memory=memory,
                comm_groups=setup.groups or None,
                parity=parity,
                num_queues_per_dim=setup.queues,
                rendezvous_protocol=setup.rendezvous,
                injection_scale=setup.injection_scale,
                **options,
            )

        try:
            expected = columns(simulate(fidelity="message"))
        except cc.ChakraError:
            counts["refused"] += 1
            continue
        auto = simulate(fidelity="auto")
        assert columns(auto) == expected, row["id"]
        assert columns(simulate(fidelity="auto", fold=False)) == expected, row["id"]
        counts["folded"] += auto.folded_ranks > 0
        counts["order mattered"] += auto.order_mattered != ""
        counts["without messages"] += auto.fidelity["message"] == 0
    assert counts["without messages"] > 300
    assert counts["folded"] > 200
    assert counts["order mattered"] < 15


def test_the_result_says_how_it_was_simulated() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=0, name="all-reduce", type="COMM_COLL_NODE", attrs={"comm_type": 0, "comm_size": 1 << 20})
    trace = builder.build()
    network = cc.Network(topology=["Ring"], npus=[4], bandwidth=[50], latency=[500])
    result = cc.simulate([trace] * 4, network=network)
    assert result.fidelity == {"closed": 4, "phase": 0, "message": 0}
    assert (result.folded_ranks, result.messages, result.order_mattered) == (3, 0, "")
    assert "4 phases: 4 closed" in result.summary()
    assert "1 rank simulated for 4" in result.summary()
    by_message = cc.simulate([trace] * 4, network=network, fidelity="message")
    assert by_message.fidelity == {"closed": 0, "phase": 0, "message": 4}
    assert (by_message.folded_ranks, by_message.messages) == (0, 24)
    assert by_message.to_dict()["fidelity"] == by_message.fidelity
    with pytest.raises(cc.ConfigError, match="fidelity"):
        cc.simulate([trace] * 4, network=network, fidelity="exact")  # type: ignore[arg-type]
