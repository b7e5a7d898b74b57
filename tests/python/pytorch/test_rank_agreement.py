# SPDX-License-Identifier: MIT
"""Ranks that agree, and every way in which they may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from shared_data import SHARED, needs

PAIRS = SHARED / "data" / "pairs"
ALL_REDUCE, ALL_GATHER, ALL_TO_ALL = 0, 2, 6


def collective(kind: int, size: int = 8, group: str = "g", **attrs: Any) -> dict[str, Any]:
    return {"type": "COMM_COLL_NODE", "attrs": {"comm_type": kind, "comm_size": size, "pg_name": group, **attrs}}


def message(kind: str, size: int, **attrs: Any) -> dict[str, Any]:
    return {"type": f"COMM_{kind}_NODE", "attrs": {"comm_size": size, **attrs}}


def trace(*nodes: dict[str, Any]) -> cc.Trace:
    builder = cc.TraceBuilder()
    for row, node in enumerate(nodes):
        builder.add_node(**{"id": 10 + row, "name": "n", "start_ns": row * 10, **node})
    return builder.build()


def only_problem(found: cc.RankAgreement) -> cc.Disagreement:
    assert len(found.problems) == 1, found.text
    assert not found.ok
    assert found.problems[0].message in found.text
    return found.problems[0]


def test_ranks_that_agree() -> None:
    mine = [collective(ALL_REDUCE), collective(ALL_GATHER, 4)]
    found = cc.check_ranks([trace(*mine), trace(collective(ALL_REDUCE), {"type": "COMP_NODE"}, mine[1])])
    assert found.ok
    assert found.collectives == {"g": 2}


def test_another_collective() -> None:
    found = cc.check_ranks(
        [trace(collective(ALL_REDUCE), collective(ALL_GATHER)), trace(collective(ALL_REDUCE), collective(ALL_REDUCE))]
    )
    problem = only_problem(found)
    assert (problem.kind, problem.group, problem.ranks, problem.position) == ("collective", "g", (0, 1), 1)
    assert "ALL_GATHER of 8 B (node 11) on rank 0 and ALL_REDUCE of 8 B (node 11) on rank 1" in problem.message


def test_another_size() -> None:
    sizes = [trace(collective(ALL_REDUCE, 8)), trace(collective(ALL_REDUCE, 16))]
    problem = only_problem(cc.check_ranks(sizes))
    assert (problem.kind, problem.position) == ("size", 0)
    uneven = [trace(collective(ALL_TO_ALL, 8)), trace(collective(ALL_TO_ALL, 16))]
    assert cc.check_ranks(uneven).ok, "all-to-all may be uneven"


def test_another_number() -> None:
    problem = only_problem(cc.check_ranks([trace(collective(ALL_REDUCE)), trace(*[collective(ALL_REDUCE)] * 3)]))
    assert (problem.kind, problem.position) == ("number", 1)
    assert "rank 0 has 1 collectives and rank 1 has 3" in problem.message
    assert "(node 11) of rank 1" in problem.message


def test_seq_wins_over_order() -> None:
    one = [collective(ALL_REDUCE, comm_seq=1), collective(ALL_GATHER, comm_seq=2)]
    assert cc.check_ranks([trace(*one), trace(*reversed(one))]).ok
    late = trace(collective(ALL_GATHER, comm_seq=2), collective(ALL_REDUCE, comm_seq=3))
    problem = only_problem(cc.check_ranks([trace(*one), late]))
    assert problem.kind == "sequence"
    assert "rank 0 has the collective with Seq 1 and rank 1 has not" in problem.message
    # Without Seq on one of them the order decides.
    mixed = [collective(ALL_GATHER), collective(ALL_REDUCE, comm_seq=1)]
    assert only_problem(cc.check_ranks([trace(*one), trace(*mixed)])).kind == "collective"


def test_groups_say_who_takes_part() -> None:
    traces = [trace(collective(ALL_REDUCE)), trace(collective(ALL_REDUCE)), trace({"type": "COMP_NODE"})]
    assert cc.check_ranks(traces).ok, "an unknown group has the ranks that use it"
    assert cc.check_ranks(traces, comm_groups={"g": [0, 1]}).ok
    missing = only_problem(cc.check_ranks(traces, comm_groups={"g": [0, 1, 2]}))
    assert (missing.kind, missing.ranks) == ("number", (0, 2))
    stranger = only_problem(cc.check_ranks(traces, comm_groups={"g": [0]}))
    assert (stranger.kind, stranger.ranks) == ("not a member", (1,))
    everyone = [trace(collective(ALL_REDUCE, group="")), trace({"type": "COMP_NODE"})]
    assert only_problem(cc.check_ranks(everyone)).kind == "number"


def test_what_was_asked_for_first_is_first() -> None:
    """Two workers of gloo may start two collectives in either order."""

    def rank(first: int, second: int) -> cc.Trace:
        one, other = collective(ALL_REDUCE, 8), collective(ALL_REDUCE, 16)
        asks = {"type": "COMP_NODE", "start_ns": 0}, {"type": "COMP_NODE", "start_ns": 1}
        first_node = {**one, "start_ns": first, "ctrl_deps": [10]}
        return trace(*asks, first_node, {**other, "start_ns": second, "ctrl_deps": [11]})

    assert cc.check_ranks([rank(5, 6), rank(6, 5)]).ok


def test_messages() -> None:
    sender = trace(message("SEND", 8, comm_dst=1), message("SEND", 16, comm_dst=1, comm_tag=4))
    receiver = trace(message("RECV", 16, comm_src=0, comm_tag=4), message("RECV", 8, comm_src=0))
    found = cc.check_ranks([sender, receiver])
    assert found.ok
    assert found.messages == 2
    wrong = only_problem(
        cc.check_ranks([sender, trace(message("RECV", 8, comm_src=0), message("RECV", 9, comm_src=0, comm_tag=4))])
    )
    assert (wrong.kind, wrong.ranks) == ("message size", (0, 1))
    assert "rank 0 sends 16 B (node 11) and rank 1 receives 9 B (node 11)" in wrong.message
    lonely = only_problem(cc.check_ranks([sender, trace(message("RECV", 8, comm_src=0))]))
    assert lonely.kind == "no partner"
    assert "with tag 4 rank 0 sends 1 messages and rank 1 receives 0" in lonely.message
    unknown = cc.check_ranks([sender, trace(message("RECV", 8))])
    assert unknown.ok
    assert unknown.unmatched == 1


COLLECTIVES = st.lists(
    st.tuples(st.sampled_from([ALL_REDUCE, ALL_GATHER]), st.integers(1, 3), st.sampled_from("ab")), max_size=6
)


@given(COLLECTIVES, COLLECTIVES)
def test_agrees_exactly_if_every_group_has_equal_lists(one: list[Any], other: list[Any]) -> None:
    groups = {"a": [0, 1], "b": [0, 1]}
    found = cc.check_ranks([trace(*(collective(*c) for c in side)) for side in (one, other)], comm_groups=groups)
    lists = [{g: [c[:2] for c in side if c[2] == g] for g in "ab"} for side in (one, other)]
    assert {problem.group for problem in found.problems} == {g for g in "ab" if lists[0][g] != lists[1][g]}
    for problem in found.problems:
        mine, theirs = lists[0][problem.group], lists[1][problem.group]
        assert problem.position is not None
        assert mine[: problem.position] == theirs[: problem.position]
        assert mine[problem.position :][:1] != theirs[problem.position :][:1]


@needs(PAIRS)
@pytest.mark.parametrize(("run", "ranks"), [("torch213_ddp2", 2), ("torch213_ddp4", 4), ("torch213_p2p2", 2)])
@pytest.mark.parametrize("layout", ["exact", "ops"])
def test_real_runs_agree(run: str, ranks: int, layout: Any) -> None:
    folders = [PAIRS / f"{run}_rank{rank}" for rank in range(ranks)]
    traces = [cc.convert(host=one / "host.json.gz", device=one / "kineto.json.gz", layout=layout) for one in folders]
    found = cc.check_ranks(traces)
    assert found.ok, found.text
    if run == "torch213_p2p2":
        assert found.messages == 18
        assert found.unmatched == 0
    else:
        assert sum(found.collectives.values()) == 12
    # One rank that lacks its last collective or message is told.
    last = max(row for row in range(len(traces[1])) if traces[1].types[row] >= cc.NodeType.COMM_SEND_NODE)
    less = traces[1].select([row for row in range(len(traces[1])) if row != last])
    assert not cc.check_ranks([traces[0], less, *traces[2:]]).ok


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for rank in (0, 1):
        cc.save(trace(collective(ALL_REDUCE)), f"run.{rank}.et")
    assert main(["validate", "run.%d.et", "--ranks"]) == 0
    assert "all ranks: ok" in capsys.readouterr().out
    cc.save(trace(collective(ALL_GATHER)), "run.1.et")
    assert main(["validate", "run.%d.et", "--ranks", "--json"]) == 1
    last = json.loads(capsys.readouterr().out)[-1]
    assert (last["ok"], last["problems"][0]["kind"], last["problems"][0]["ranks"]) == (False, "collective", [0, 1])
