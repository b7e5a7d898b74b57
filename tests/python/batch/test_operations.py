# SPDX-License-Identifier: MIT
"""Each operation gives what the function of its name gives for each file by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from batch_files import chain, write_device, write_host
from chakra_core.batch.operations import facts_of_stats

NETWORK = {"topology": ["Ring"], "npus": [2], "bandwidth": [50], "latency": [500]}


@pytest.fixture
def pairs(folder: Path) -> Path:
    for rank in range(3):
        write_host(folder / f"t/host.{rank}.json.gz", ops=3 + rank)
        write_device(folder / f"t/kineto.{rank}.json.gz", rank=rank, ops=3 + rank)
    return folder


@pytest.mark.parametrize("threads", [1, 4])
def test_convert_pairs(pairs: Path, threads: int) -> None:
    report = cc.batch.convert("t", "out/{rank}.et", replay=True, threads=threads)
    assert report.counts == {"done": 3, "skipped": 0, "failed": 0}
    for rank, record in enumerate(report.records):
        expected = cc.convert(host=f"t/host.{rank}.json.gz", device=f"t/kineto.{rank}.json.gz")
        cc.save(expected, "expected.et")
        assert Path(f"out/{rank}.et").read_bytes() == Path("expected.et").read_bytes()
        assert record["rank"] == rank
        assert record["facts"]["nodes"] == len(expected)
        assert record["facts"]["link"]["coverage"]["host ops matched"] == 3 + rank
        assert record["facts"]["replay"]["total_error"] == cc.replay(expected).total_error


def test_link_then_convert_linked(pairs: Path) -> None:
    assert cc.batch.link("t", "linked/{rank}.json.gz").ok
    assert cc.batch.convert("linked", "a/{rank}.et").ok
    assert cc.batch.convert("t", "b/{rank}.et").ok
    for rank in range(3):
        assert not cc.diff(cc.load(f"a/{rank}.et"), cc.load(f"b/{rank}.et"))


def test_convert_forms(run_folder: Path) -> None:
    assert cc.batch.convert("in/run.%d.et", "out/{rank}.json.zst", level=5, schema_version="0.0.4").ok
    trace = cc.load("out/7.json.zst")
    assert len(trace) == 17
    assert trace.metadata.version == "0.0.4"


def test_validate(run_folder: Path) -> None:
    Path("in/run.3.et").write_bytes(Path("in/run.3.et").read_bytes()[:-2])
    report = cc.batch.validate("in", "problems/")
    assert report.counts == {"done": 7, "skipped": 0, "failed": 1}
    (failure,) = report.failures
    assert failure["name"] == "in/run.3.et"
    assert failure["error"]["type"] == "ItemError"
    assert failure["facts"]["counts"] == {"truncated_file": 1}
    assert json.loads(Path("problems/run.3.problems.json").read_text())["errors"] == 1


def test_stats(run_folder: Path) -> None:
    report = cc.batch.stats("in/run.%d.et", "out/{rank}.json")
    for rank, record in enumerate(report.records):
        expected = facts_of_stats(cc.load(f"in/run.{rank}.et").stats())
        assert record["facts"] == json.loads(Path(f"out/{rank}.json").read_text()) == json.loads(json.dumps(expected))
        assert record["facts"]["critical_path_ns"] == 1000 * (10 + rank)


def test_simplify(run_folder: Path) -> None:
    report = cc.batch.simplify("in/run.%d.et", "out/{rank}.et", drop=["kernel 1*"])
    assert [record["facts"]["nodes_left_out"] for record in report.records] == [1 + rank for rank in range(8)]
    expected = cc.simplify(cc.load("in/run.5.et"), drop=["kernel 1*"])
    assert not cc.diff(expected, cc.load("out/5.et"))


@pytest.fixture
def runs(folder: Path) -> Path:
    for run, nodes in (("short", 3), ("long", 9)):
        (folder / "runs" / run).mkdir(parents=True)
        for rank in range(2):
            cc.save(chain(nodes), folder / "runs" / run / f"trace.{rank}.et")
    return folder


def test_simulate(runs: Path) -> None:
    report = cc.batch.simulate("runs/*", "out/{folder}.json", network=NETWORK)
    assert report.ok, report
    for record, nodes in zip(report.records, (9, 3), strict=True):
        assert record["facts"]["total_ns"] == 1000 * nodes
    assert json.loads(Path("out/short.json").read_text())["finish_ns"] == [3000, 3000]
    assert cc.batch.simulate("runs/*", "out/{folder}.csv", network=NETWORK).ok
    assert len(Path("out/long.csv").read_text().splitlines()) == 1 + 2 * 9
    assert cc.batch.simulate("runs/*", "out/{folder}.pftrace", network=NETWORK, simulation={"fold": False}).ok


def test_simulate_with_a_network_each(runs: Path) -> None:
    for name, npus in (("short", 2), ("long", 3)):
        text = f"topology: [Ring]\nnpus_count: [{npus}]\nbandwidth: [50]\nlatency: [500]\n"
        Path(f"runs/{name}.yml").write_text(text)
    Path("runs/list.csv").write_text("traces,network\nshort/trace.%d.et,short.yml\nlong,long.yml\n")
    report = cc.batch.simulate(manifest="runs/list.csv")
    assert report.counts == {"done": 1, "skipped": 0, "failed": 1}
    assert "found 2 of 3 ranks: 2 missing" in report.failures[0]["error"]["message"]
    # The network is an input of the run, so that a change of it counts.
    Path("runs/long.yml").write_text("topology: [Ring]\nnpus_count: [2]\nbandwidth: [50]\nlatency: [500]\n")
    assert cc.batch.simulate(manifest="runs/list.csv").counts["failed"] == 0


@pytest.mark.parametrize("wrong", [{"level": "x"}, {"layout": "none"}, {"on_error": "ignore"}])
def test_wrong_options_are_told_at_once(run_folder: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(cc.ConfigError, match=next(iter(wrong)).replace("_", "-")):
        cc.batch.convert("in", "out/", **wrong)


def test_host_and_device_are_for_link_and_convert(run_folder: Path) -> None:
    with pytest.raises(cc.ConfigError, match="link and convert only"):
        cc.batch.validate("in", host="in")
