# SPDX-License-Identifier: MIT
"""What is anonymised keeps its graph and its step time, and no text."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import chakra_core as cc
from anonymous_texts import ANY_TEXT, ATTRIBUTES, assert_same_graph, texts_left, texts_of
from chakra_core.altered_numbers import Alteration
from chakra_core.anonymisation import TEXTS
from chakra_core.cli import main
from et_strategies import traces as trace_messages
from random_runs import random_run


@given(trace_messages(), st.sampled_from([0.0, 0.1]), st.sampled_from(["class", "numbered"]))
def test_any_trace(messages: tuple[Any, list[Any]], share: float, names: Any) -> None:
    metadata, nodes = messages
    builder = cc.TraceBuilder(cc.Metadata(metadata.version))
    for node in nodes:
        builder.add_proto(node)
    trace = builder.build()
    made = cc.anonymise(trace, names=names, quantise=share, perturb=share, seed=5, step_time_bound=10)
    new = made.traces[0]
    assert_same_graph(trace, new)
    assert all(ANY_TEXT.fullmatch(text) for text in texts_left(new))
    assert texts_of(new) - texts_left(new) <= {*ATTRIBUTES, "layout"}
    assert not (set(new.names) & set(trace.names)) - TEXTS
    for old_node, new_node in ((trace.at(row), new.at(row)) for row in range(len(trace))):
        assert new_node.inputs == new_node.outputs == cc.IoInfo()
        for name in ("is_cpu_op", "comm_type", "comm_src", "comm_dst", "involved_dim"):
            old_value, new_value = trace.attr(name)[old_node.row], new.attr(name)[new_node.row]
            assert (old_value is np.ma.masked) == (new_value is np.ma.masked)
            assert old_value is np.ma.masked or old_value == new_value


@given(st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_a_run_is_simulated_as_before(random: Random) -> None:
    run = random_run(random.choice, parity=False)
    try:
        before = run.simulate()
    except cc.SimulationError:
        reject()
    network = run.network
    made = cc.anonymise(before.traces, comm_groups=run.groups, networks={"own": network}, seed=2)
    after = cc.simulate(made.traces, network=network, system=run.system, comm_groups=made.comm_groups, **run.options)
    assert after.finish_ns.tolist() == before.finish_ns.tolist()
    assert after.exposed_comm_ns.tolist() == before.exposed_comm_ns.tolist()
    assert made.certificate.drifts["own"].share == 0


UINT = st.lists(st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1)), max_size=8).map(
    lambda values: np.array(values, np.uint64)
)


@given(UINT, st.floats(0, 0.5), st.floats(0, 0.5))
def test_no_number_moves_beyond_the_bound(values: Any, quantise: float, perturb: float) -> None:
    alteration = Alteration(quantise, perturb)
    altered = alteration.of(values, np.random.default_rng(0))
    for old, new in zip(values.tolist(), altered.tolist(), strict=True):
        assert abs(new - old) <= alteration.bound * old * (1 + 1e-9)
        assert (new == 0) == (old == 0)
        assert new < 1 << 63 or old >= 1 << 63


@given(UINT, st.integers(1, 8))
def test_rounding_by_an_oracle(values: Any, digits: int) -> None:
    rounded = Alteration(2.0**-digits, 0.0).of(values, np.random.default_rng(0))
    for old, new in zip(values.tolist(), rounded.tolist(), strict=True):
        unit = 1 << max(old.bit_length() - digits, 0)
        nearest = (old + unit // 2) // unit * unit
        assert new == (nearest if nearest < 1 << 63 else old)


@given(st.lists(UINT, max_size=3), st.sampled_from([0.0, 0.3]))
def test_gaps_keep_the_order(values: list[Any], share: float) -> None:
    small = [one >> np.uint64(3) for one in values]
    altered = Alteration(share, share).gaps(small, np.random.default_rng(0))
    old = [number for one in small for number in one.tolist()]
    new = [number for one in altered for number in one.tolist()]
    pairs = sorted(zip(old, new, strict=True))
    for (old_one, new_one), (old_next, new_next) in itertools.pairwise(pairs):
        assert (old_one == old_next) == (new_one == new_next)
        assert new_one <= new_next
        if old_one > 0:
            assert abs((new_next - new_one) - (old_next - old_one)) <= (1.3**2 - 1) * (old_next - old_one) + 1e-6
    assert not new or min(new) == 0


def test_what_is_equal_stays_equal() -> None:
    sizes = [np.array([1000, 2000, 1000], np.uint64), np.array([2000], np.uint64)]
    one, other = Alteration(0.0, 0.2).by_value(sizes, np.random.default_rng(4))
    assert one[0] == one[2]
    assert one[1] == other[0]
    assert set(one.tolist()) != {1000, 2000}


def test_a_number_for_each_name() -> None:
    builder = cc.TraceBuilder()
    for node, name in enumerate(["secret_a", "secret_b", "secret_a"]):
        builder.add_node(id=node * 7, name=name, type="COMP_NODE", attrs={"tid": 900 - node, "mine": "secret"})
    builder.add_node(id=50, name="secret_a", type="COMM_COLL_NODE", attrs={"comm_type": 0, "comm_size": 8})
    trace = builder.build()
    plain = cc.anonymise(trace).traces[0]
    assert list(plain.names) == ["compute", "compute", "compute", "all-reduce"]
    first, second, third, last = cc.anonymise(trace, names="numbered", seed=0).traces[0].names
    assert {first, second} == {"compute 1", "compute 2"}
    assert first == third
    assert last == "all-reduce 1"
    assert plain.attr("tid").compressed().tolist() == [3, 2, 1]
    assert "mine" not in plain.at(0).attrs
    changed = cc.anonymise(trace).certificate.changed
    assert changed == {"name": 4, "tid": 3}
    assert cc.anonymise(trace).certificate.other_attributes == 3


def test_wrong_shares_are_told() -> None:
    trace = cc.TraceBuilder().build()
    with pytest.raises(cc.ConfigError, match=r"quantise: found 0.7, allowed: a share from 0 to 0.5"):
        cc.anonymise(trace, quantise=0.7)
    with pytest.raises(cc.ConfigError, match=r"perturb: found -1, allowed"):
        cc.anonymise(trace, perturb=-1)
    with pytest.raises(cc.ConfigError, match="names: found 'x'"):
        cc.anonymise(trace, names="x")  # type: ignore[arg-type]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for rank in range(2):
        builder = cc.TraceBuilder()
        builder.add_node(id=1, name="secret", duration_ns=1000, attrs={"is_cpu_op": False})
        attrs = {"comm_type": 0, "comm_size": 1 << 20, "pg_name": "secret group"}
        builder.add_node(id=2, name=f"secret {rank}", type="COMM_COLL_NODE", data_deps=[1], attrs=attrs)
        cc.save(builder.build(), f"run.{rank}.et")
    Path("groups.json").write_text('{"secret group": [0, 1]}')
    Path("net.yml").write_text("topology: [Ring]\nnpus_count: [2]\nbandwidth: [50]\nlatency: [500]\n")
    options = ["--comm-groups", "groups.json", "--perturb", "0.1", "--network", "net.yml", "--seed", "1"]
    assert main(["anonymise", "run.%d.et", "-o", "out.%d.et", *options, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["traces"] == ["out.0.et", "out.1.et"]
    assert list(facts["drifts"]) == ["network 0"]
    assert json.loads(Path("out.certificate.json").read_text())["changed"] == facts["changed"]
    assert "moved by at most" in Path("out.certificate.txt").read_text()
    assert cc.simulate("out.%d.et", network="net.yml", comm_groups="out.groups.json").total_ns > 0
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.glob("out*"))
    assert main(["anonymise", "run.%d.et", "-o", "out.et"]) == 1
    assert "need a name with %d" in capsys.readouterr().err
    assert main(["anonymise", "run.%d.et", "-o", "out.%d.et", "--comm-groups", "groups.json"]) == 0
    assert "step time on ring" in capsys.readouterr().out
