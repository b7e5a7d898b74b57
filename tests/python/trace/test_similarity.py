# SPDX-License-Identifier: MIT
"""Distances are 0 for what is alike, the same both ways round, and right where they can be worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from chakra_core.distribution_distances import (
    Sample,
    earth_movers_distance,
    maximum_mean_discrepancy,
    total_variation,
)
from chakra_core.node_classes import NODE_CLASSES, node_classes
from random_runs import build, random_run
from shared_data import SHARED, needs

VALUES = st.lists(st.one_of(st.integers(0, 4), st.floats(0, 64)), min_size=1, max_size=12)
SAMPLES = VALUES.flatmap(
    lambda values: st.lists(st.integers(1, 5), min_size=len(values), max_size=len(values)).map(
        lambda weights: Sample.of(values, weights)
    )
)
DISTANCES = (earth_movers_distance, maximum_mean_discrepancy)


@given(SAMPLES, SAMPLES, SAMPLES)
def test_both_are_metrics(one: Sample, other: Sample, third: Sample) -> None:
    for distance in DISTANCES:
        assert distance(one, one) == 0
        assert distance(one, other) == pytest.approx(distance(other, one), abs=1e-12)
        detour = distance(one, third) + distance(third, other)
        # The root of a rounding error of 1e-16 is 1e-8.
        assert distance(one, other) <= detour + 1e-6
    assert maximum_mean_discrepancy(one, other) <= math.sqrt(2) + 1e-9


@given(SAMPLES, SAMPLES)
def test_weights_stand_for_repetition(one: Sample, other: Sample) -> None:
    spelt_out = Sample.of(np.repeat(one.values, one.weights.astype(int)))
    for distance in DISTANCES:
        assert distance(one, other) == pytest.approx(distance(spelt_out, other), abs=1e-7)


@given(SAMPLES, SAMPLES)
def test_earth_movers_distance_by_scipy(one: Sample, other: Sample) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.wasserstein_distance(one.values, other.values, one.weights, other.weights)
    assert earth_movers_distance(one, other) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_earth_movers_distance_pairs_what_is_sorted(values: list[int], random: Random) -> None:
    others = [random.randint(0, 50) for _ in values]
    pairs = zip(sorted(values), sorted(others), strict=True)
    expected = sum(abs(one - other) for one, other in pairs) / len(values)
    assert earth_movers_distance(Sample.of(values), Sample.of(others)) == pytest.approx(expected)


@given(SAMPLES, SAMPLES)
def test_maximum_mean_discrepancy_by_pairs(one: Sample, other: Sample) -> None:
    def mean_kernel(first: Sample, second: Sample) -> float:
        total = 0.0
        for x, weight_x in zip(first.values, first.weights, strict=True):
            for y, weight_y in zip(second.values, second.weights, strict=True):
                total += weight_x * weight_y * math.exp(-((x - y) ** 2) / 2)
        return total / float(first.weights.sum() * second.weights.sum())

    squared = mean_kernel(one, one) + mean_kernel(other, other) - 2 * mean_kernel(one, other)
    assert maximum_mean_discrepancy(one, other) ** 2 == pytest.approx(max(squared, 0), abs=1e-9)


def test_values_worked_out_by_hand() -> None:
    assert earth_movers_distance(Sample.of([0, 1, 3]), Sample.of([5, 6, 8])) == pytest.approx(5)
    assert earth_movers_distance(Sample.of([0, 1], [3, 1]), Sample.of([0, 1], [2, 2])) == pytest.approx(0.25)
    assert maximum_mean_discrepancy(Sample.of([0]), Sample.of([1])) == pytest.approx(
        math.sqrt(2 - 2 / math.sqrt(math.e))
    )
    assert total_variation(np.array([3.0, 1.0]), np.array([1.0, 3.0])) == pytest.approx(0.5)
    assert total_variation(np.zeros(2), np.array([1.0, 3.0])) == 1
    assert total_variation(np.zeros(2), np.zeros(2)) == 0


def chain(*, size: int = 1 << 20, duration: int = 1023, width: int = 1, steps: int = 3) -> cc.Trace:
    """Steps of `width` nodes each, every one of which waits for all of the step before, and a last collective."""
    builder = cc.TraceBuilder()
    before: list[int] = []
    for step in range(steps):
        now = [step * width + place for place in range(width)]
        for node in now:
            builder.add_node(
                id=node, name=f"n{node}", data_deps=before, duration_ns=duration, attrs={"is_cpu_op": False}
            )
        before = now
    attrs = {"comm_type": 0, "comm_size": size}
    builder.add_node(id=steps * width, name="ar", type="COMM_COLL_NODE", data_deps=before, attrs=attrs)
    return builder.build()


def test_metrics_worked_out_by_hand() -> None:
    longer = cc.similarity(chain(), chain(duration=2047)).metrics
    assert longer["durations"] == pytest.approx(1)
    assert longer["critical path"] == pytest.approx(math.log2(2047 / 1023))
    assert longer["compute : communication"] == pytest.approx(math.log2((1 + 3 * 2047) / (1 + 3 * 1023)))
    assert longer["sizes"] == longer["type mix"] == longer["parents"] == longer["level widths"] == 0
    larger = cc.similarity(chain(), chain(size=(1 << 22) + 3))
    assert larger.metrics["sizes"] == pytest.approx(2, abs=1e-5)
    assert larger.metrics["durations"] == 0
    assert larger.classes["all-reduce"].shares == (0.25, 0.25)
    wider = cc.similarity(chain(), chain(width=3)).metrics
    assert wider["type mix"] == pytest.approx(0.25 - 0.1)
    # Widths 1 1 1 1 and 3 3 3 1, logarithms of one more.
    widths = maximum_mean_discrepancy(Sample.of([1]), Sample.of([2, 1], [3, 1]))
    assert wider["level widths"] == pytest.approx(widths)
    # Parents 0 1 1 1 and three times 0, six times 3, once 3; children 1 1 1 0 and 3 (six times), 1 (three times), 0.
    parents = maximum_mean_discrepancy(Sample.of([0, 1], [1, 3]), Sample.of([0, 2], [3, 7]))
    assert wider["parents"] == pytest.approx(parents)
    children = maximum_mean_discrepancy(Sample.of([0, 1], [1, 3]), Sample.of([2, 1, 0], [6, 3, 1]))
    assert wider["children"] == pytest.approx(children)


def test_step_times_of_runs() -> None:
    found = cc.similarity(chain(), chain(size=1 << 21), ranks=4)
    for both in found.step_times.values():
        assert all(one is not None and one.communication == "simulated" for one in both)
    network = found.step_times["ring"]
    assert network[0] is not None
    expected = cc.simulate(
        [chain()] * 4, network=cc.Network(topology=["Ring"], npus=[4], bandwidth=["50 GB/s"], latency=["500 ns"])
    )
    assert network[0].total_ns == expected.total_ns
    ratios = [
        abs(math.log2(one.total_ns / other.total_ns)) for one, other in found.step_times.values() if one and other
    ]
    assert found.metrics["step time"] == pytest.approx(sum(ratios) / 3)
    assert 0 < (found.metrics["communication share"] or 0) < 1
    different = cc.similarity([chain()] * 2, [chain()] * 8).metrics
    assert different["type mix"] == 0
    assert (different["step time"] or 0) > 0


def test_what_cannot_be_compared() -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, data_deps=[2])
    builder.add_node(id=2, data_deps=[1])
    found = cc.similarity(builder.build(), chain())
    missing = {name for name, value in found.metrics.items() if value is None}
    assert missing == {"sizes", "durations", "level widths", "critical path", "step time", "communication share"}
    assert "level widths             not comparable" in found.text
    empty = cc.TraceBuilder().build()
    assert cc.similarity(empty, empty).metrics["type mix"] == 0
    assert cc.similarity(empty, chain()).metrics["type mix"] == 1


@given(st.randoms(use_true_random=False), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_any_two_runs(first: Random, second: Random) -> None:
    one, other = (random_run(random.choice, parity=False) for random in (first, second))
    assume(one.ranks <= 6 and other.ranks <= 6)
    runs = [[build(nodes) for nodes in run.nodes] for run in (one, other)]
    itself = cc.similarity(runs[0], runs[0], comm_groups=one.groups)
    assert all(value is None or value == 0 for value in itself.metrics.values())
    there = cc.similarity(runs[0], runs[1], comm_groups=one.groups, other_comm_groups=other.groups).metrics
    back = cc.similarity(runs[1], runs[0], comm_groups=other.groups, other_comm_groups=one.groups).metrics
    for name, value in there.items():
        assert back[name] == (None if value is None else pytest.approx(value, abs=1e-7))
        assert value is None or value >= 0


def test_classes_by_an_oracle() -> None:
    builder = cc.TraceBuilder()
    cases: list[tuple[int, dict[str, Any], str]] = [
        (4, {"is_cpu_op": True}, "host compute"),
        (4, {"is_cpu_op": False}, "compute"),
        (4, {}, "compute"),
        (7, {"comm_type": 0}, "all-reduce"),
        (7, {"comm_type": 9}, "barrier"),
        (7, {"comm_type": 77}, "collective"),
        (7, {}, "collective"),
        (5, {}, "send"),
        (6, {"is_cpu_op": True}, "receive"),
        (2, {}, "memory load"),
        (1, {}, "metadata"),
        (0, {}, "invalid"),
        (12, {}, "other"),
        (-3, {}, "other"),
    ]
    for node, (kind, attrs, _) in enumerate(cases):
        builder.add_node(id=node, type=kind, attrs=attrs)
    assert [NODE_CLASSES[one] for one in node_classes(builder.build())] == [name for _, _, name in cases]


PAIRS = SHARED / "data" / "pairs"


@needs(PAIRS)
def test_real_traces() -> None:
    def load(name: str) -> cc.Trace:
        return cc.convert(host=PAIRS / name / "host.json.gz", device=PAIRS / name / "kineto.json.gz")

    mlp, ddp, other_rank = load("torch213_mlp"), load("torch213_ddp2_rank0"), load("torch213_ddp2_rank1")
    itself = cc.similarity(mlp, mlp).metrics
    assert all(value == 0 for value in itself.values() if value is not None)
    near, far = cc.similarity(ddp, other_rank).metrics, cc.similarity(ddp, mlp).metrics
    for name in ("type mix", "parents", "children"):
        assert (near[name] or 0) < (far[name] or 0)
    anonymous = cc.anonymise(ddp).traces[0]
    assert all(value == 0 for value in cc.similarity(ddp, anonymous).metrics.values() if value is not None)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    cc.save(chain(), "a.et")
    for rank in range(2):
        cc.save(chain(width=2), f"b.{rank}.et")
    Path("net.yml").write_text("topology: [Ring]\nnpus_count: [2]\nbandwidth: [50]\nlatency: [500]\n")
    assert main(["similarity", "a.et", "b.%d.et", "--ranks", "2", "--network", "net.yml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(
        json.dumps(cc.similarity(chain(), [chain(width=2)] * 2, ranks=2, networks={"net.yml": "net.yml"}).to_dict())
    )
    assert main(["similarity", "a.et", "b.%d.et"]) == 0
    assert "type mix" in capsys.readouterr().out
    assert main(["similarity", "a.et", "b.%d.et", "--network", "net.yml"]) == 1
    assert "error: " in capsys.readouterr().err
