# SPDX-License-Identifier: MIT
"""Timelines of simulations, read with Perfetto's own message classes: arrows and counters."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from random_runs import Node, Run, build, random_run
from timeline_files import Arrow, read_arrows, read_chrome_json, read_counters, read_perfetto

RING = {"topology": ["Ring"], "npus": [4], "bandwidth": [50], "latency": [500]}


def test_an_arrow_leads_from_a_send_to_its_receive(tmp_path: Path) -> None:
    def send(dst: int, size: int) -> Node:
        return Node("COMM_SEND_NODE", [], {"comm_dst": dst, "comm_size": size, "comm_tag": 3})

    def receive(src: int, size: int) -> Node:
        return Node("COMM_RECV_NODE", [], {"comm_src": src, "comm_size": size, "comm_tag": 3})

    nodes = [[send(1, 512), send(1, 1024), send(1, 512)], [receive(0, 512), receive(0, 512), receive(0, 1024)], [], []]
    result = cc.simulate([build(mine) for mine in nodes], network=RING)
    result.to_perfetto(tmp_path / "run.pftrace")
    starts = result.nodes()["start_ns"].tolist()
    ends = result.nodes()["end_ns"].tolist()
    # The second message of 512 bytes is the third of the sender, and the second of the receiver.
    pairs = [(0, 0), (1, 2), (2, 1)]
    expected = {
        Arrow("rank 0", f"node{one}", starts[one], "rank 1", f"node{other}", ends[3 + other]) for one, other in pairs
    }
    assert set(read_arrows(tmp_path / "run.pftrace")) == expected
    result.to_perfetto(tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    kinds = Counter(event["ph"] for event in events)
    assert kinds["s"] == kinds["f"] == 3
    assert len(read_chrome_json(tmp_path / "run.json")) == len(read_perfetto(tmp_path / "run.pftrace")) == 6


@settings(max_examples=30)
@given(data=st.data())
def test_every_message_has_an_arrow(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    run = random_run(lambda choices: data.draw(st.sampled_from(choices)), parity=False)
    try:
        result = run.simulate()
    except cc.SimulationError:
        return
    path = tmp_path_factory.mktemp("run") / "run.pftrace"
    result.to_perfetto(path)
    arrows = read_arrows(path)
    sends = [
        (rank, number) for rank, mine in enumerate(run.nodes) for number, node in enumerate(mine) if "SEND" in node.kind
    ]
    assert {(one.from_process, one.from_name) for one in arrows} == {(f"rank {r}", f"node{n}") for r, n in sends}
    for one in arrows:
        source = run.nodes[int(one.from_process[5:])][int(one.from_name[4:])].attrs
        target = run.nodes[int(one.to_process[5:])][int(one.to_name[4:])].attrs
        assert one.to_process == f"rank {source['comm_dst']}"
        assert one.from_process == f"rank {target['comm_src']}"
        assert (source["comm_size"], source["comm_tag"]) == (target["comm_size"], target["comm_tag"])
        # It arrives when it was received; no message takes less than it takes alone.
        assert one.to_end_ns >= one.from_start_ns
    again = path.with_name("again.pftrace")
    run.simulate().to_perfetto(again)
    assert again.read_bytes() == path.read_bytes()
    counted = counted_bytes(read_counters(path), run, result)
    for found, expected in zip(counted, result.dimensions()["link_bytes"].tolist(), strict=True):
        if takes_time(result):
            assert found == pytest.approx(expected, rel=1e-4, abs=1)
        else:
            assert found <= expected * (1 + 1e-4) + 1


def takes_time(result: cc.Result) -> bool:
    """Whether all communication does, so that a picture can show it."""
    nodes = result.nodes()
    return bool((nodes["end_ns"] > nodes["start_ns"])[nodes["resource"] == "comm"].all())


def counted_bytes(
    counters: dict[tuple[str, str, str], list[tuple[int, float]]], run: Run, result: cc.Result
) -> list[float]:
    """Integrals of the curves, in bytes on links."""
    dimensions = result.dimensions()
    found = defaultdict(float)
    for (process, name, unit), values in counters.items():
        assert (process, unit) == ("network", "%")
        assert values[-1][1] == 0
        number = int(name.removeprefix("dimension ").partition(",")[0])
        capacity = int(dimensions["links"][number]) * dimensions["link_bytes"][number] / dimensions["busy_ns"][number]
        for (time, percent), (until, _) in pairwise(values):
            assert until > time
            found[number] += percent / 100 * capacity * (until - time)
    return [found[number] for number in range(len(run.npus))]


def test_a_collective_fills_its_dimension_while_it_lasts(tmp_path: Path) -> None:
    trace = build(
        [Node("COMP_NODE", [], {}, 1000), Node("COMM_COLL_NODE", [0], {"comm_type": 0, "comm_size": 1 << 20})]
    )
    result = cc.simulate([trace] * 4, network=RING)
    result.to_perfetto(tmp_path / "run.pftrace")
    ((key, values),) = read_counters(tmp_path / "run.pftrace").items()
    assert key == ("network", "dimension 0, Ring of 4", "%")
    duration = result.total_ns - 1000
    # 6 MiB on 8 directed links of 50 GB/s.
    percent = 100 * 6 * 2**20 / duration / (8 * 50 * 2**30 / 1e9)
    assert values == [(1000, pytest.approx(percent, abs=1e-6)), (result.total_ns, 0.0)]
