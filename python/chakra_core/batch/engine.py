# SPDX-License-Identifier: MIT
"""The loop of a batch: begins what fits, notes what ends, and survives whatever goes wrong with one item."""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Protocol

from chakra_core._core import Progress
from chakra_core.batch.journal import Journal, Record
from chakra_core.batch.memory_budget import MemoryBudget, default_limit, guess_bytes, used_bytes
from chakra_core.batch.operations import Operation
from chakra_core.batch.places import StorageOptions, remove_leftovers, stamp_or_none
from chakra_core.batch.task import Task, carry_out, is_up_to_date, key_of, options_key
from chakra_core.batch.work_item import WorkItem

_SECONDS_BETWEEN_LOOKS = 0.05


class Observer(Protocol):
    """Whoever shows how a batch goes; called from the thread that runs it."""

    def began(self, items: int, total_bytes: int) -> None:
        """All items were found."""

    def ended(self, record: Record, num_bytes: int) -> None:
        """Take note of an item that was done, skipped, or failed; it had this many bytes of input."""

    def looked(self, in_flight: int, memory_bytes: int) -> None:
        """Time has passed: this many items are under way, and the process has this much memory."""


class Silent:
    """An observer that shows nothing."""

    def began(self, items: int, total_bytes: int) -> None:
        """Do nothing."""

    def ended(self, record: Record, num_bytes: int) -> None:
        """Do nothing."""

    def looked(self, in_flight: int, memory_bytes: int) -> None:
        """Do nothing."""


class Workers(Protocol):
    """Where items are carried out."""

    @property
    def slots(self) -> int:
        """How many items may be under way at a time."""

    @property
    def threads_each(self) -> int:
        """Native threads for each item."""

    @property
    def are_here(self) -> bool:
        """Whether they share this process's memory."""

    def submit(self, task: Task, progress: Progress) -> Future[Record]:
        """Begin a task."""

    def close(self) -> None:
        """Wait for what is under way, or drop it."""


class ThreadWorkers:
    """Threads of this process; the native core does not hold the interpreter's lock."""

    are_here = True

    def __init__(self, threads: int, num_items: int) -> None:
        cores = available_cores()
        self.slots = max(1, min(threads or cores, num_items))
        self.threads_each = max(1, (threads or cores) // self.slots)
        self._pool: Executor = ThreadPoolExecutor(self.slots, thread_name_prefix="chakra-batch")

    def submit(self, task: Task, progress: Progress) -> Future[Record]:
        """Begin a task in a free thread."""
        return self._pool.submit(carry_out, task, progress)

    def close(self) -> None:
        """Wait for what is under way."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class BatchReport:
    """What became of a batch.

    Attributes:
        records: a mapping for each item, in their order: "status" ("done", "skipped" or "failed"), "name", "rank",
            "inputs", "output", "facts" (what the operation tells), "error" ("type" and "message"), "seconds".
        path: the file that has the same.
        seconds: how long all of it took.
        peak_memory_bytes: most memory that this process was seen to have; 0 where that cannot be told.
    """

    records: list[Record]
    path: Path
    seconds: float
    peak_memory_bytes: int = 0
    unreadable_lines: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Items by status."""
        return {
            status: sum(record["status"] == status for record in self.records)
            for status in ("done", "skipped", "failed")
        }

    @property
    def failures(self) -> list[Record]:
        """Records of the items that failed."""
        return [record for record in self.records if record["status"] == "failed"]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        lines = [f"{len(self.records)} items in {self.seconds:.1f} s: {counts}"]
        lines += [f"failed: {record['name']}: {record['error']['message']}" for record in self.failures]
        return "\n".join(lines)


@dataclass
class Batch:
    """A batch that is being run.

    Attributes:
        operation: what is done with each item.
        items: the items.
        workers: where.
        budget: how much of it at a time.
        resume: whether what an earlier run did is skipped.
        observer: shows how it goes.
        storage_options: for fsspec.
    """

    operation: Operation
    items: Sequence[WorkItem]
    workers: Workers
    budget: MemoryBudget
    resume: bool = True
    observer: Observer = field(default_factory=Silent)
    storage_options: StorageOptions = field(default_factory=dict)

    def run(self, report: Path) -> BatchReport:
        """Carry out what is not done yet.

        Raises:
            ConfigError: another batch with this report is running.
            KeyboardInterrupt: Ctrl-C; what is done is noted.
        """
        begin = time.perf_counter()
        started = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        with Journal(report) as journal:
            remove_leftovers(item.output for item in self.items if item.output is not None)
            self._journal = journal
            self._started = started
            self._peak = used_bytes()
            self._run_all()
            ordered = list(self._records.values())
            done = BatchReport(ordered, report, time.perf_counter() - begin, self._peak, journal.unreadable)
            summary = {"summary": done.counts, "run": started, "seconds": round(done.seconds, 3)}
            journal.finish(ordered, {**summary, "peak_memory_bytes": done.peak_memory_bytes})
        return done

    def _run_all(self) -> None:
        tasks = self._tasks()
        sizes = {task.key: self._sizes(task.item) for task in tasks}
        self._bytes = {key: sum(of_item.values()) for key, of_item in sizes.items()}
        self._records: dict[str, Record] = {task.key: {} for task in tasks}
        self.observer.began(len(tasks), sum(self._bytes.values()))
        waiting = deque(task for task in tasks if not self._skip(task))
        ended: queue.SimpleQueue[tuple[Task, Future[Record]]] = queue.SimpleQueue()
        in_flight: dict[str, Progress] = {}
        try:
            while waiting or in_flight:
                while waiting and self._admits(waiting[0], sizes[waiting[0].key], len(in_flight)):
                    task = waiting.popleft()
                    in_flight[task.key] = progress = Progress()
                    future = self.workers.submit(task, progress)
                    future.add_done_callback(lambda over, task=task: ended.put((task, over)))  # type: ignore[misc]
                self._take_ended(ended, in_flight)
        except BaseException:
            for progress in in_flight.values():
                progress.cancel()
            raise
        finally:
            self.workers.close()

    def _tasks(self) -> list[Task]:
        earlier = self._journal.records if self.resume else {}
        options, threads = options_key(self.operation), self.workers.threads_each
        keys = [key_of(self.operation, item) for item in self.items]
        return [
            Task(item, self.operation, self.storage_options, earlier.get(key), threads, key, options)
            for item, key in zip(self.items, keys, strict=True)
        ]

    def _sizes(self, item: WorkItem) -> dict[str, int]:
        stamps = {place: stamp_or_none(place, self.storage_options) for place in item.inputs.values()}
        return {place: one.size for place, one in stamps.items() if one is not None}

    def _skip(self, task: Task) -> bool:
        if not is_up_to_date(task):
            return False
        assert task.earlier is not None
        # Not written again: the line of the earlier run stands.
        self._note({**task.earlier, "status": "skipped"}, write=False)
        return True

    def _admits(self, task: Task, sizes: dict[str, int], in_flight: int) -> bool:
        if in_flight >= self.workers.slots:
            return False
        used = used_bytes() if self.workers.are_here else 0
        cost = guess_bytes(sizes)
        if not self.budget.fits(cost, used):
            return False
        self.budget.begin(task.key, cost, used)
        return True

    def _take_ended(
        self, ended: queue.SimpleQueue[tuple[Task, Future[Record]]], in_flight: dict[str, Progress]
    ) -> None:
        """Wait a little for items that end, and note all that did."""
        try:
            over = [ended.get(timeout=_SECONDS_BETWEEN_LOOKS)]
            while not ended.empty():
                over.append(ended.get_nowait())
        except queue.Empty:
            over = []
        used = used_bytes() if self.workers.are_here else 0
        self._peak = max(self._peak, used)
        self.budget.observe(used)
        for task, future in over:
            del in_flight[task.key]
            self.budget.end(task.key, used)
            self._note(_record_of(task, future))
        self.observer.looked(len(in_flight), used)

    def _note(self, record: Record, *, write: bool = True) -> None:
        record["run"] = self._started
        self._records[record["key"]] = record
        if write:
            self._journal.append(record)
        self.observer.ended(record, self._bytes[record["key"]])


def _record_of(task: Task, future: Future[Record]) -> Record:
    """Take the record of a task that ended; one whose worker was lost for good has failed."""
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, Exception):
        raise error
    return carry_out(replace(task, item=replace(task.item, problem=f"the worker was lost: {error}")))


def budget_of(max_memory: int | None, workers: Workers) -> MemoryBudget:
    """Make the budget of a batch: as given, or most of what this machine has."""
    if max_memory is not None:
        return MemoryBudget(max_memory)
    return MemoryBudget(default_limit() if workers.are_here else 0)
