# SPDX-License-Identifier: MIT
"""Simulating one workload on every configuration of a grid."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chakra_core import _core
from chakra_core._core import Cancelled, ChakraError, Progress, Trace, __version__
from chakra_core.batch.engine import Observer, Silent, available_cores
from chakra_core.batch.journal import Journal, Record
from chakra_core.batch.places import content_hash
from chakra_core.config import CommGroups, Memory, Network, System
from chakra_core.config.model import ConfigModel
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.simulation import simulate
from chakra_core.sweeps.grid import Configuration, Grid, Point, parse_grid, points
from chakra_core.sweeps.table import SweepResult, measures_of

_SECONDS_BETWEEN_LOOKS = 0.05


def sweep(
    traces: RankTraces,
    grid: Grid,
    *,
    network: Network | Mapping[str, Any] | str | os.PathLike[str],
    system: System | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    comm_groups: CommGroups | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    memory: Memory | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    threads: int = 0,
    output: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    observer: Observer | None = None,
    **options: Any,
) -> SweepResult:
    """Simulate the traces of all ranks on every configuration of a grid.

    The traces are loaded once and shared by all threads.

    Args:
        traces: one a rank, as in `chakra_core.simulate`.
        grid: lists of values by what they are for: "network.bandwidth[0]" (an entry), "network.topology" (all of
            them), "system.active-chunks-per-dimension", "memory.remote-mem-bw", or any argument of `simulate` and what
            is in it, such as "congestion". Paths with commas between them take the same value. The product of all
            lists is simulated.
        network: what the grid says nothing of, as are all up to `memory`; see `chakra_core.simulate`.
        system: algorithms, chunking and speeds.
        comm_groups: communicator groups.
        memory: remote memory.
        threads: configurations at a time; 0 means as many as there are cores.
        output: file for the table: .parquet, .csv or .json.
        report: file of JSON lines from which a later sweep takes what is done; by default that of `output`, with the
            ending .jsonl, and none without an output. Traces and configurations that differ are told apart by their
            content.
        observer: is told how it goes, as in `chakra_core.batch`.
        options: further arguments of `simulate`.

    Returns:
        A table with a row a configuration. One that cannot be simulated has an `error`; it does not stop the others.

    Raises:
        ConfigError: a path or a value of the grid is wrong, or ranks are missing.
        FormatError, DependencyError, OSError: a trace cannot be read.
    """
    begin = time.perf_counter()
    axes = parse_grid(grid)
    base = Configuration(
        Network.coerce(network),
        System() if system is None else System.coerce(system),
        None if memory is None else Memory.coerce(memory),
        None if comm_groups is None else CommGroups.coerce(comm_groups),
        options,
    )
    all_points = list(points(axes, base))
    loaded = load_ranks(traces, threads=threads)
    path = Path(report) if report is not None else None if output is None else Path(output).with_suffix(".jsonl")
    work = _Sweep(loaded, observer or Silent())
    with ExitStack() as stack:
        journal = None if path is None else stack.enter_context(Journal(path))
        records = work.run(all_points, journal, threads or available_cores())
        if journal is not None:
            journal.finish(records.values(), {"summary": {"configurations": len(records)}})
    table = SweepResult([axis.name for axis in axes], [point.values for point in all_points], work.in_order(records))
    table.seconds, table.resumed = time.perf_counter() - begin, work.resumed
    if output is not None:
        table.save(output)
    return table


class _Sweep:
    """A sweep that is being run."""

    def __init__(self, traces: list[Trace], observer: Observer) -> None:
        self._traces = traces
        self._observer = observer
        self._keys: list[str] = []
        self.resumed = 0

    def in_order(self, records: Mapping[str, Record]) -> list[Record]:
        """Return the records of all points, in their order."""
        return [records[key] for key in self._keys]

    def run(self, all_points: list[Point], journal: Journal | None, threads: int) -> dict[str, Record]:
        """Simulate the points that the journal does not have, and return records by key."""
        content = "" if journal is None else _content_of(self._traces)
        self._keys = [_key(content, point, place, journal) for place, point in enumerate(all_points)]
        self._observer.began(len(all_points), 0)
        known = {} if journal is None else journal.records
        records: dict[str, Record] = {}
        waiting: dict[str, Point] = {}
        for key, point in zip(self._keys, all_points, strict=True):
            if known.get(key, {}).get("status") == "done":
                records[key] = known[key]
                self.resumed += 1
                self._observer.ended({**known[key], "status": "skipped"}, 0)
            else:
                waiting[key] = point
        progress = Progress()
        with ThreadPoolExecutor(threads, thread_name_prefix="chakra-sweep") as pool:
            ended: queue.SimpleQueue[Future[Record]] = queue.SimpleQueue()
            for key, point in waiting.items():
                pool.submit(self._simulate, key, point, progress).add_done_callback(ended.put)
            try:
                for left in range(len(waiting), 0, -1):
                    record = self._wait(ended, min(left, threads))
                    records[record["key"]] = record
                    if journal is not None:
                        journal.append(record)
                    self._observer.ended(record, 0)
            except BaseException:
                progress.cancel()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return records

    def _wait(self, ended: queue.SimpleQueue[Future[Record]], in_flight: int) -> Record:
        while True:
            try:
                return ended.get(timeout=_SECONDS_BETWEEN_LOOKS).result()
            except queue.Empty:
                self._observer.looked(in_flight, 0)

    def _simulate(self, key: str, point: Point, progress: Progress) -> Record:
        record: Record = {"key": key, "name": _shown(point), "status": "failed", "measures": {}}
        try:
            result = simulate(self._traces, **point.arguments, record_nodes=False, progress=progress)
        except Cancelled:
            raise
        except (ChakraError, TypeError, ValueError) as error:
            return {**record, "error": {"type": type(error).__name__, "message": str(error)}}
        return {**record, "status": "done", "measures": measures_of(result)}


def _shown(point: Point) -> str:
    return ", ".join(map(str, point.values))


def _key(content: str, point: Point, place: int, journal: Journal | None) -> str:
    """Name a point by all that its result depends on; without a journal by its place."""
    if journal is None:
        return str(place)
    plain = {
        name: value.model_dump(mode="json") if isinstance(value, ConfigModel) else value
        for name, value in point.arguments.items()
    }
    text = json.dumps([content, plain, __version__], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _content_of(traces: Iterable[Trace]) -> str:
    """Digest the traces of all ranks."""
    digests: dict[int, str] = {}
    whole = hashlib.sha256()
    with tempfile.TemporaryDirectory(prefix="chakra-sweep-") as folder:
        for trace in traces:
            if id(trace) not in digests:
                path = Path(folder) / "trace.et"
                _core.save_path(trace, path)
                digests[id(trace)] = content_hash(path)
            whole.update(digests[id(trace)].encode())
    return whole.hexdigest()
