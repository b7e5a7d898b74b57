# SPDX-License-Identifier: MIT
"""Nothing of all real traces survives anonymising but their graph and their step time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from anonymous_texts import assert_nothing_survives, assert_same_graph, texts_left
from shared_data import SHARED, needs

DATA = SHARED / "data"
SAMPLE = Path(__file__).parents[3] / "examples" / "sample"


def all_traces() -> list[Any]:
    """Every shared file and a conversion of every shared pair, each with its way to be loaded."""
    files = sorted((DATA / "et").glob("*.gz")) if DATA.is_dir() else []
    pairs = sorted((DATA / "pairs").iterdir()) if DATA.is_dir() else []
    return [
        *(pytest.param(path, id=path.name) for path in files),
        *(pytest.param(path, id=path.name) for path in pairs if (path / "host.json.gz").exists()),
        pytest.param(SAMPLE, id="sample"),
    ]


def load_any(path: Path) -> cc.Trace:
    if path.is_file():
        return cc.load(path, on_error="recover")
    host, device = path / "host.json.gz", path / "kineto.json.gz"
    if path == SAMPLE:
        host, device = path / "rank0.host.json.gz", path / "rank0.kineto.json.gz"
    return cc.convert(host=host, device=device)


@pytest.mark.parametrize("path", all_traces())
def test_no_text_of_a_real_trace_survives(path: Path, tmp_path: Path) -> None:
    trace = load_any(path)
    made = cc.anonymise(trace, names="numbered", quantise=0.02, perturb=0.02, seed=1)
    assert_same_graph(trace, made.traces[0])
    assert assert_nothing_survives([trace], made, tmp_path) > 3
    assert len(texts_left(made.traces[0])) >= 2
    exact = cc.anonymise(trace, seed=1).certificate
    assert exact.largest_change == 0
    assert all(drift.share == 0 for drift in exact.drifts.values())
    assert bool(exact.drifts) == trace.stats().acyclic


STAGE = DATA / "et" / "stage_llama_dp2_tp2_pp2"


@needs(STAGE)
def test_a_whole_run(tmp_path: Path) -> None:
    traces = cc.load_run(STAGE)
    groups = STAGE / "workload.json"
    made = cc.anonymise(traces, comm_groups=groups, quantise=0.05, perturb=0.05, seed=3)
    assert assert_nothing_survives(traces, made, tmp_path) > 100
    for old, new in zip(traces, made.traces, strict=True):
        assert_same_graph(old, new)
    agreement = cc.check_ranks(made.traces, comm_groups=made.comm_groups)
    assert agreement.ok
    before = cc.check_ranks(traces, comm_groups=groups)
    assert agreement.messages == before.messages
    assert sorted(agreement.collectives.values()) == sorted(before.collectives.values())
    old_groups = cc.CommGroups.load(groups).groups
    assert not set(made.comm_groups.groups) & set(old_groups)
    assert sorted(made.comm_groups.groups.values()) == sorted(old_groups.values())
    certificate = made.certificate
    assert 0 < certificate.largest_change <= 1.05**2 - 1
    assert set(certificate.drifts) == {"ring", "switch", "fully connected"}
    assert all(0 < drift.share <= certificate.step_time_bound for drift in certificate.drifts.values())
    assert all(drift.communication == "simulated" for drift in certificate.drifts.values())
    with pytest.raises(cc.ChakraError, match=r"'ring' moved by .*, allowed is 0.001%"):
        cc.anonymise(traces, comm_groups=groups, perturb=0.3, seed=3, step_time_bound=1e-5)
