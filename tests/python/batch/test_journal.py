# SPDX-License-Identifier: MIT
"""The report of a batch survives whatever a kill leaves of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chakra_core import ConfigError
from chakra_core.batch.journal import Journal

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
records = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from("abcdef"), "status": st.sampled_from(["done", "failed"]), "x": values}
    ),
    max_size=8,
)


def last_of_each(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {line["key"]: line for line in lines}


@given(lines=records, more=records, cut=st.integers(0, 10_000), garbage=st.binary(max_size=20))
def test_cut_anywhere(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any], more: list[Any], cut: int, garbage: bytes
) -> None:
    path = tmp_path_factory.mktemp("journal") / "report.jsonl"
    with Journal(path) as journal:
        for line in lines:
            journal.append(line)
    whole = path.read_bytes()
    cut = min(cut, len(whole))
    path.write_bytes(whole[:cut] + garbage.replace(b"\n", b""))
    complete = lines[: whole[:cut].count(b"\n")]
    with Journal(path) as journal:
        kept = dict(journal.records)
        # What was cut may by chance still be a whole line.
        assert kept in (last_of_each(complete), last_of_each(lines[: len(complete) + 1]))
        for line in more:
            journal.append(line)
    with Journal(path) as journal:
        assert journal.records == {**kept, **last_of_each(more)}


def test_finished_report_keeps_what_other_runs_did(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.jsonl"
    with Journal(path) as journal:
        journal.append({"key": "a", "run": 1})
        journal.append({"key": "b", "run": 1})
    with Journal(path) as journal:
        journal.append({"key": "c", "run": 2})
        journal.append({"key": "b", "run": 2})
        journal.finish([{"key": "b", "run": 2}, {"key": "c", "run": 2}], {"summary": {"done": 2}})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [{"key": "a", "run": 1}, {"key": "b", "run": 2}, {"key": "c", "run": 2}, {"summary": {"done": 2}}]
    with Journal(path) as journal:
        assert sorted(journal.records) == ["a", "b", "c"]
        assert journal.unreadable == 0


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    with Journal(path), pytest.raises(ConfigError, match=r"another batch with this report is running"), Journal(path):
        pass
    with Journal(path):
        pass
