# SPDX-License-Identifier: MIT
"""The report of a batch, a JSON line an item: what machines read afterwards, and what a later run resumes from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeAlias

from typing_extensions import Self

from chakra_core._core import ConfigError
from chakra_core.output import complete_file

try:
    import fcntl
except ImportError:  # not on this system: nothing stops two runs with one report
    fcntl = None  # type: ignore[assignment]

Record: TypeAlias = dict[str, Any]


class Journal:
    """A file of JSON lines that only grows while a batch runs, so that whoever is killed loses at most a line.

    Of several lines with one `key` the last counts. Lines that cannot be read are passed over: such a one is what a
    kill in the middle of writing leaves. Use as a context manager; only one process has a journal open at a time.

    Attributes:
        path: the file.
        records: what it said when it was opened, by key.
        unreadable: number of lines that were passed over.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.records: dict[str, Record] = {}
        self.unreadable = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._open_alone()
        self._file.seek(0)
        text = self._file.read()
        for line in text.split(b"\n"):
            self._read(line)
        if text and not text.endswith(b"\n"):
            self._file.write(b"\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a line, which the operating system has when this returns."""
        assert self._file is not None
        self._file.write(_encode(record) + b"\n")
        self._file.flush()

    def finish(self, records: Iterable[Mapping[str, Any]], summary: Mapping[str, Any]) -> None:
        """Write the file anew: lines of items that this run did not have, `records` in their order, and `summary`.

        The summary is the last line and has no `key`.
        """
        mine = list(records)
        keys = {record["key"] for record in mine}
        others = [record for key, record in self.records.items() if key not in keys]
        with complete_file(self.path) as file:
            for record in [*others, *mine, summary]:
                file.write(_encode(record).decode() + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _open_alone(self) -> IO[bytes]:
        """Open the file for one process; again if another one put a finished report in its place meanwhile."""
        while True:
            file = self.path.open("a+b")
            if fcntl is None:
                return file
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise ConfigError(
                    f"{self.path}: another batch with this report is running; wait for it, or give --report"
                ) from None
            if self.path.exists() and os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                return file
            file.close()

    def _read(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            record = json.loads(line)
            if "key" in record:
                self.records[str(record["key"])] = record
            elif "summary" not in record:
                self.unreadable += 1
        except (ValueError, TypeError, RecursionError):
            self.unreadable += 1


def _encode(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
