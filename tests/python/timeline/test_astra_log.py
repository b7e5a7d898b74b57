# SPDX-License-Identifier: MIT
"""Timelines of logs that ASTRA-sim wrote, and of Chakra's CSV of issues and callbacks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from timeline_files import read_chrome_json, read_perfetto

LOG = """\
[2026-03-01 10:00:00.123] [system::topology] [info] Ring of 2
[2026-03-01 10:00:00.124] [workload] [debug] issue,sys->id=0, tick=0, node->id=1, node->name=mm, a, b=c, node->type=4
[2026-03-01 10:00:00.124] [workload] [debug] issue,sys->id=1, tick=0, node->id=1, node->name=mm, node->type=4
[2026-03-01 10:00:00.124] [workload] [debug] callback,sys->id=1, tick=10, node->id=1, node->name=mm, node->type=4
[2026-03-01 10:00:00.124] [workload] [debug] issue,sys->id=1, tick=10, node->id=7, node->name=ar, node->type=7
[2026-03-01 10:00:00.124] [workload] [debug] callback,sys->id=0, tick=30, node->id=1, node->name=mm, node->type=4
[2026-03-01 10:00:00.124] [workload] [debug] issue,sys->id=0, tick=30, node->id=9, node->name=zero, node->type=4
[2026-03-01 10:00:00.124] [workload] [debug] callback,sys->id=0, tick=30, node->id=9, node->name=zero, node->type=4
[2026-03-01 10:00:00.124] [workload] [info] sys[0] finished, 30 cycles, exposed communication 0 cycles.
[2026-03-01 10:00:00.124] [workload] [debug] issue,sys->id=0, tick=40, node->id=11, node->name=never, node->type=4
[2026-03-01 10:00:00.124] [workload] [debug] callback,sys->id=1, tick=90, node->id=7, node->name=ar, node->type=7
[2026-03-01 10:00:00.124] [workload] [debug] callback,sys->id=1, tick=90, node->id=8, node->name=before, node->type=4
"""

CSV = """\
issue,npu=0,cycle=15,id=3,name=first
issue,npu=2,cycle=0,id=3,name=other
callback,npu=2,cycle=3,id=3,name=other
callback,npu=0,cycle=45,id=3,name=first
"""


def test_log(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text(LOG)
    log = cc.read_astra_log(path)
    assert (log.unfinished, log.unissued) == (1, 1)
    assert [trace.names.to_list() for trace in log.traces] == [["mm, a, b=c", "zero"], ["mm", "ar"]]
    assert log.traces[1].start_ns.tolist() == [0, 10]
    assert log.traces[1].duration_ns.tolist() == [10, 80]
    assert log.traces[1].types.tolist() == [cc.NodeType.COMP_NODE, cc.NodeType.COMM_COLL_NODE]
    for name, read in (("t.json", read_chrome_json), ("t.pftrace", read_perfetto)):
        cc.timeline(path, tmp_path / name)
        slices = {(one.process, one.track, one.name, one.start_ns, one.end_ns) for one in read(tmp_path / name)}
        assert slices == {
            ("rank 0", "COMP_NODE", "mm, a, b=c", 0, 30),
            ("rank 0", "COMP_NODE", "zero", 30, 30),
            ("rank 1", "COMP_NODE", "mm", 0, 10),
            ("rank 1", "COMM_COLL_NODE", "ar", 10, 90),
        }


def test_csv_and_frequency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.csv").write_text(CSV.replace("\n", "\r\n"))
    log = cc.read_astra_log("run.csv", frequency_ghz=1.5)
    assert [len(trace) for trace in log.traces] == [1, 0, 1]
    assert (log.traces[0].start_ns[0], log.traces[0].duration_ns[0], log.traces[2].duration_ns[0]) == (10, 20, 2)
    assert log.traces[0].names[0] == "first"
    assert main(["timeline", "run.csv", "-o", "run.json", "--frequency", "1.5"]) == 0
    assert "3 ranks" in capsys.readouterr().out
    assert len(read_chrome_json(Path("run.json"))) == 2


def test_what_is_left_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.log").write_text(LOG)
    assert main(["timeline", "run.log", "-o", "run.pftrace"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "run.log: 1 issues without a callback left out",
        "run.log: 1 callbacks without an issue left out",
    ]


def test_no_log(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("issue of something else, and callback too\n")
    with pytest.raises(cc.ChakraError, match="trace-enabled"):
        cc.read_astra_log(path)
    path.write_text(CSV)
    with pytest.raises(cc.ChakraError, match="above 0"):
        cc.read_astra_log(path, frequency_ghz=0)
    with pytest.raises(OSError, match="none"):
        cc.read_astra_log(tmp_path / "none.log")


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 50), st.integers(0, 50), st.text("ab,= c", max_size=6)), max_size=12
    ),
    st.randoms(use_true_random=False),
)
def test_random_logs(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[tuple[int, int, int, str]], order: random.Random
) -> None:
    lines = [(0, 0, "issue", 0, 99, "x"), (0, 1, "callback", 0, 99, "x")]
    for number, (rank, start, length, name) in enumerate(nodes):
        lines.append((start, 2 * number, "issue", rank, number, name))
        lines.append((start + length, 2 * number + 1, "callback", rank, number, name))
    order.shuffle(lines)
    lines.sort(key=lambda line: (line[0], line[1]))
    path = tmp_path_factory.mktemp("log") / "run.log"
    path.write_text(
        "".join(
            f"{what},sys->id={rank}, tick={tick}, node->id={node}, node->name={name}, node->type=4\n"
            for tick, _, what, rank, node, name in lines
        )
    )
    log = cc.read_astra_log(path)
    assert (log.unfinished, log.unissued) == (0, 0)
    found = {
        (rank, int(node), int(start), int(length))
        for rank, trace in enumerate(log.traces)
        for node, start, length in zip(trace.ids, trace.start_ns, trace.duration_ns, strict=True)
    }
    expected = {(rank, number, start, length) for number, (rank, start, length, _) in enumerate(nodes)}
    assert found == expected | {(0, 99, 0, 0)}
    names = {int(node): name for trace in log.traces for node, name in zip(trace.ids, trace.names, strict=True)}
    assert {number: names[number] for number in range(len(nodes))} == {
        number: name.strip(" ") if name.strip(" ") == name else names[number] for number, (*_, name) in enumerate(nodes)
    }
