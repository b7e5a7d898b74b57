# SPDX-License-Identifier: MIT
"""The loop of a batch, with workers that end in any order, or never come back."""

from __future__ import annotations

import json
import random
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from batch_files import chain
from chakra_core.batch.engine import Batch, Silent
from chakra_core.batch.journal import Record
from chakra_core.batch.memory_budget import MemoryBudget
from chakra_core.batch.operations import Stats
from chakra_core.batch.task import Task, carry_out
from chakra_core.batch.work_item import WorkItem


class DisorderlyWorkers:
    """Carry tasks out when all slots are full or nothing more comes, in any order; some are lost."""

    threads_each = 1
    are_here = True

    def __init__(self, slots: int, order: random.Random, lost: set[int]) -> None:
        self.slots = slots
        self.order = order
        self.lost = lost
        self.begun: list[int] = []
        self.most = 0
        self.closed = False
        self._waiting: list[tuple[Task, Future[Record]]] = []
        self._timer: threading.Timer | None = None

    def submit(self, task: Task, progress: cc.Progress) -> Future[Record]:
        future: Future[Record] = Future()
        self.begun.append(task.item.rank or 0)
        self._waiting.append((task, future))
        self.most = max(self.most, len(self._waiting))
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(0.001, self._end_all)
        self._timer.start()
        return future

    def close(self) -> None:
        self.closed = True

    def _end_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        self.order.shuffle(waiting)
        for task, future in waiting:
            if task.item.rank in self.lost:
                future.set_exception(RuntimeError("it is gone"))
            else:
                future.set_result(carry_out(task))


@given(
    items=st.integers(0, 12),
    slots=st.integers(1, 5),
    lost=st.sets(st.integers(0, 11), max_size=3),
    seed=st.integers(0, 999),
)
def test_any_order(tmp_path_factory: pytest.TempPathFactory, items: int, slots: int, lost: set[int], seed: int) -> None:
    folder = tmp_path_factory.mktemp("engine")
    for rank in range(items):
        cc.save(chain(rank + 1), folder / f"{rank}.et")
    work = [WorkItem({"trace": str(folder / f"{rank}.et")}, rank=rank) for rank in range(items)]
    workers = DisorderlyWorkers(slots, random.Random(seed), lost)
    report = Batch(Stats(), work, workers, MemoryBudget(0), True, Silent()).run(folder / "report.jsonl")
    assert [record["rank"] for record in report.records] == list(range(items))
    assert workers.begun == list(range(items))
    assert workers.most <= slots
    assert workers.closed
    for rank, record in enumerate(report.records):
        if rank in lost:
            assert record["error"]["message"] == "the worker was lost: it is gone"
        else:
            assert record["facts"]["nodes"] == rank + 1
    lines = [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]
    assert [line["rank"] for line in lines[:-1]] == list(range(items))
    assert lines[-1]["summary"] == report.counts
    # What was lost is tried again, and nothing else.
    again = DisorderlyWorkers(slots, random.Random(seed), set())
    second = Batch(Stats(), work, again, MemoryBudget(0), True, Silent()).run(folder / "report.jsonl")
    assert second.ok
    assert {rank for rank in lost if rank < items} <= set(again.begun)


def test_error_of_the_engine_itself_stops_and_closes(tmp_path: Path) -> None:
    class Broken(Silent):
        def ended(self, record: Record, num_bytes: int) -> None:
            raise OSError("the terminal went away")

    cc.save(chain(1), tmp_path / "0.et")
    workers = DisorderlyWorkers(1, random.Random(0), set())
    batch = Batch(
        Stats(), [WorkItem({"trace": str(tmp_path / "0.et")}, rank=0)], workers, MemoryBudget(0), observer=Broken()
    )
    with pytest.raises(OSError, match="the terminal went away"):
        batch.run(tmp_path / "report.jsonl")
    assert workers.closed
    # What was done is noted all the same.
    assert json.loads((tmp_path / "report.jsonl").read_text().splitlines()[0])["status"] == "done"
