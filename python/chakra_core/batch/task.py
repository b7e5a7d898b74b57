# SPDX-License-Identifier: MIT
"""An item carried out where it happens to run: a thread here, or a worker of a cluster."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from chakra_core._core import Cancelled, ChakraError, Progress, __version__
from chakra_core.batch.journal import Record
from chakra_core.batch.operations import Facts, ItemError, Job, Operation
from chakra_core.batch.places import (
    Stamp,
    StorageOptions,
    content_hash,
    local_inputs,
    local_output,
    stamp,
    stamp_or_none,
)
from chakra_core.batch.work_item import WorkItem

Status: TypeAlias = Literal["done", "skipped", "failed"]

#: A file changed so shortly before it was looked at may change again and keep its time.
_RACY_NS = 2_000_000_000


@dataclass(frozen=True)
class Task:
    """An item, what is to be done with it, and what an earlier run said of it."""

    item: WorkItem
    operation: Operation
    storage_options: StorageOptions
    earlier: Record | None
    threads: int
    key: str
    """Names the item in reports, whatever the options."""
    options_key: str
    """Stands for everything but the inputs that the output depends on."""


def key_of(operation: Operation, item: WorkItem) -> str:
    """Name an item in reports by its operation and its files."""
    return json.dumps([operation.title, dict(item.inputs), item.output], ensure_ascii=False)


def options_key(operation: Operation) -> str:
    """Digest everything but the inputs that an output depends on: options and the version of this package."""
    options = operation.model_dump(mode="json")
    text = json.dumps([operation.title, options, __version__], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def is_up_to_date(task: Task) -> bool:
    """Whether an earlier run did this very work: nothing is read, so that a doubt says no."""
    earlier = task.earlier
    if earlier is None or not _same_work(task, earlier) or not _output_is_there(task, earlier):
        return False
    for role, place in task.item.inputs.items():
        known = earlier["inputs"].get(role)
        now = stamp_or_none(place, task.storage_options)
        if known is None or now is None or [*now] != [known["size"], known["version"]]:
            return False
        if earlier["looked_ns"] - now.written_ns < _RACY_NS:
            return False
    return True


def carry_out(task: Task, progress: Progress | None = None) -> Record:
    """Work on an item, and return its line of the report; whatever is wrong with it is said there.

    Raises:
        Cancelled: it was told to stop.
    """
    begin, looked_ns = time.perf_counter(), time.time_ns()
    record: Record = {
        "key": task.key,
        "operation": task.operation.title,
        "rank": task.item.rank,
        "name": task.item.name,
        "status": "failed",
        "output": None,
        "looked_ns": looked_ns,
        "options": task.options_key,
        "version": __version__,
    }
    try:
        if task.item.problem is not None:
            raise ChakraError(task.item.problem)
        record |= _work(task, progress or Progress())
    except (Cancelled, KeyboardInterrupt):
        raise
    except Exception as error:  # one bad file must not stop the others, whatever is bad about it
        facts: Facts = error.facts if isinstance(error, ItemError) else {}
        record |= {"error": {"type": type(error).__name__, "message": _message(error)}, "facts": facts}
    record["seconds"] = round(time.perf_counter() - begin, 6)
    return record


def _work(task: Task, progress: Progress) -> Record:
    item, options = task.item, task.storage_options
    before = {role: stamp(place, options) for role, place in item.inputs.items()}
    with local_inputs(item.inputs, options) as paths:
        hashes = {role: content_hash(path) for role, path in paths.items()}
        inputs = {
            role: {"path": item.inputs[role], "size": one.size, "version": one.version, "sha256": hashes[role]}
            for role, one in before.items()
        }
        if _only_touched(task, hashes):
            assert task.earlier is not None
            kept = {name: task.earlier[name] for name in ("output", "facts")}
            return {"status": "skipped", "inputs": inputs, **kept}
        facts, output = _make(task, paths, progress)
    if {role: stamp(place, options) for role, place in item.inputs.items()} != before:
        raise ChakraError(f"{item.name}: changed while it was read; run the batch again")
    return {"status": "done", "inputs": inputs, "output": output, "facts": facts}


def _make(task: Task, paths: Mapping[str, Path], progress: Progress) -> tuple[Facts, Record | None]:
    item, place = task.item, task.item.output
    if place is None:
        return task.operation.carry_out(Job(paths, None, item.rank, task.threads, progress)), None
    with local_output(place, task.storage_options) as path:
        facts = task.operation.carry_out(Job(paths, path, item.rank, task.threads, progress))
    made: Stamp = stamp(place, task.storage_options)
    return facts, {"path": place, "size": made.size, "version": made.version}


def _same_work(task: Task, earlier: Record) -> bool:
    try:
        return (
            earlier["status"] in ("done", "skipped")
            and earlier["options"] == task.options_key
            and isinstance(earlier["inputs"], dict)
            and isinstance(earlier["looked_ns"], int)
        )
    except KeyError:
        return False


def _output_is_there(task: Task, earlier: Record) -> bool:
    if task.item.output is None:
        return True
    known = earlier.get("output")
    now = stamp_or_none(task.item.output, task.storage_options)
    return known is not None and now is not None and [*now] == [known["size"], known["version"]]


def _only_touched(task: Task, hashes: dict[str, str]) -> bool:
    """Whether an earlier run did this very work on the same bytes."""
    earlier = task.earlier
    if earlier is None or not _same_work(task, earlier) or not _output_is_there(task, earlier):
        return False
    return {role: known.get("sha256") for role, known in earlier["inputs"].items()} == hashes


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__
