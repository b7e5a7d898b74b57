# SPDX-License-Identifier: MIT
"""What a batch learns of a file before it works on it: its kind, its rank, and the process that wrote it."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from chakra_core import _core
from chakra_core.batch.naming import stem_of
from chakra_core.batch.places import StorageOptions, local_path
from chakra_core.file_kind import FileKind, kind_of_head
from chakra_core.trace_source import remote_system

# What is looked for stands near the beginning; the second look is for files whose heads say nothing.
_FIRST_LOOK, _SECOND_LOOK = 64 << 10, 1 << 20
_REMOTE_BYTES = 256 << 10

_RANK_OF_DEVICE = re.compile(rb'"distributedInfo"\s*:\s*\{.*?"rank"\s*:\s*"?(\d{1,9})\b', re.S)
_RANK_OF_HOST = re.compile(rb'"rank"\s*:\s*"?(\d{1,9})\b')
_PID = re.compile(rb'"pid"\s*:\s*"?(\d{1,10})\b')
_RANK_IN_NAME = re.compile(r"rank[-_.=]?(\d{1,6})(?!\d)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?:^|[._-])(\d{1,6})$")
_NUMBER_IN_STEM = re.compile(r"(?<![0-9A-Za-z])(\d+)(?![0-9A-Za-z])")
_MOST_DIGITS = 6


@dataclass(frozen=True)
class TraceFile:
    """A file and what its first bytes and its name tell.

    Attributes:
        place: path or URL.
        kind: of the file; "unknown" if it cannot be read.
        rank: the rank, by what stands in the file, else by its name, else by its folders' names.
        rank_is_weak: whether only the name of a folder tells the rank.
        pids: processes that the head names.
        problem: why it cannot be read.
    """

    place: str
    kind: FileKind
    rank: int | None = None
    rank_is_weak: bool = False
    pids: frozenset[int] = frozenset()
    problem: str | None = None


def look_at(place: str, options: StorageOptions) -> TraceFile:
    """Look at the first bytes of a file; one that cannot be read has a `problem`."""
    try:
        head, kind = _head_and_kind(place, options)
    except (OSError, _core.ChakraError) as error:
        return TraceFile(place, "unknown", rank_in_name(place), problem=str(error))
    inside = _rank_inside(head, kind)
    pids = frozenset(int(pid) for pid in _PID.findall(head)) if kind in ("host", "device") else frozenset()
    if inside is not None:
        return TraceFile(place, kind, inside, pids=pids)
    name = rank_in_name(PurePosixPath(place).name)
    return TraceFile(place, kind, rank_in_name(place), rank_is_weak=name is None, pids=pids)


def rank_in_name(place: str) -> int | None:
    """Return the rank that a path names: rank3, rank-3, trace.3, 3, also of a folder; None if there is none.

    >>> [rank_in_name(name) for name in ("run.12.et", "rank-34.Jul_15.1074.pt.trace.json.gz", "rank7/a.json", "a.et")]
    [12, 34, 7, None]
    """
    path = PurePosixPath(place)
    stem = stem_of(path.name)
    for pattern in (_RANK_IN_NAME, _LAST_NUMBER):
        if match := pattern.search(stem):
            return int(match[1])
    # A number in the middle (et_3_host) is a rank if it is the only one.
    numbers = _NUMBER_IN_STEM.findall(stem)
    if len(numbers) == 1 and len(numbers[0]) <= _MOST_DIGITS:
        return int(numbers[0])
    for folder in reversed(path.parts[:-1]):
        if match := _RANK_IN_NAME.search(folder):
            return int(match[1])
    return None


def _head_and_kind(place: str, options: StorageOptions) -> tuple[bytes, FileKind]:
    path = local_path(place)
    if path is None:
        with tempfile.TemporaryDirectory(prefix="chakra-batch-") as folder:
            system, name = remote_system(place, options)
            start = Path(folder) / PurePosixPath(name).name
            start.write_bytes(system.cat_file(name, start=0, end=_REMOTE_BYTES))
            return _look(start)
    return _look(path)


def _look(path: Path) -> tuple[bytes, FileKind]:
    head, kind = b"", "unknown"
    for most in (_FIRST_LOOK, _SECOND_LOOK):
        head = _core.read_head(path, most)
        kind = kind_of_head(head, whole_file_bytes=most)
        if kind not in ("unknown", "device") or (kind == "device" and b'"distributedInfo"' in head):
            break
        if len(head) < most:
            break
    return head, kind  # type: ignore[return-value]


def _rank_inside(head: bytes, kind: FileKind) -> int | None:
    if kind == "device":
        match = _RANK_OF_DEVICE.search(head)
    elif kind == "host":
        match = _RANK_OF_HOST.search(head.split(b'"nodes"', 1)[0])
    else:
        return None
    return int(match[1]) if match else None
