# SPDX-License-Identifier: MIT
"""How a batch goes: a live display on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from typing_extensions import Self

from chakra_core.cli.printing import format_bytes

if TYPE_CHECKING:
    from rich.progress import Progress

    from chakra_core.batch.journal import Record

_SECONDS_BETWEEN_LINES = 10.0


class BatchDisplay:
    """Shows how many items are done, how fast, and how long it will still take, on the error output.

    Failures are told as they come. Use as a context manager.
    """

    def __init__(self, title: str, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._title = title
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._bar: Progress | None = None
        self._begin = self._told = time.monotonic()
        self._items = self._bytes = 0
        self._done = self._skipped = self._failed = self._bytes_done = self._bytes_skipped = 0
        self._in_flight = self._memory = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def began(self, items: int, total_bytes: int) -> None:
        """Show how much there is to do."""
        self._items, self._bytes = items, total_bytes
        self._begin = self._told = time.monotonic()
        if self._quiet:
            return
        if self._stream.isatty():
            self._start_bar()
        else:
            self._tell(f"{items} items, {format_bytes(total_bytes)}")

    def ended(self, record: Record, num_bytes: int) -> None:
        """Count an item, and tell of a failure."""
        self._bytes_done += num_bytes
        if record["status"] == "skipped":
            self._skipped += 1
            self._bytes_skipped += num_bytes
        elif record["status"] == "failed":
            self._failed += 1
            self._tell(f"failed: {record['name']}: {record['error']['message']}")
        else:
            self._done += 1
        self._refresh()

    def looked(self, in_flight: int, memory_bytes: int) -> None:
        """Show what is under way, and now and then a line where there is no terminal."""
        self._in_flight, self._memory = in_flight, memory_bytes
        self._refresh()
        if self._bar is None and time.monotonic() - self._told >= _SECONDS_BETWEEN_LINES:
            self._tell(self.line())

    def line(self) -> str:
        """How it goes, in a line."""
        ended = self._done + self._skipped + self._failed
        parts = [f"{ended} of {self._items}", f"{format_bytes(self._bytes_done)} of {format_bytes(self._bytes)}"]
        if self._skipped:
            parts.append(f"{self._skipped} skipped")
        if self._failed:
            parts.append(f"{self._failed} failed")
        seconds = time.monotonic() - self._begin
        worked = self._done + self._failed
        if worked and seconds > 0:
            parts.append(f"{worked / seconds:.1f} items/s")
            parts.append(f"{format_bytes(int((self._bytes_done - self._bytes_skipped) / seconds))}/s")
            parts.append(f"{format_seconds(self._seconds_left(seconds))} left")
        if self._in_flight:
            parts.append(f"{self._in_flight} under way")
        if self._memory:
            parts.append(f"memory {format_bytes(self._memory)}")
        return ", ".join(parts)

    def _seconds_left(self, seconds: float) -> float:
        """By bytes, which tell more than numbers of files, unless there are none."""
        worked = self._bytes_done - self._bytes_skipped
        if worked > 0:
            return seconds * (self._bytes - self._bytes_done) / worked
        ended = self._done + self._failed
        return seconds * (self._items - ended - self._skipped) / max(1, ended)

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        console = Console(file=self._stream)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[line]}"))
        self._bar = Progress(*columns, console=console, transient=True, refresh_per_second=8)
        self._task = self._bar.add_task(self._title, total=max(1, self._items), line="")
        self._bar.start()

    def _refresh(self) -> None:
        if self._bar is not None:
            ended = self._done + self._skipped + self._failed
            self._bar.update(self._task, completed=ended, line=self.line())

    def _tell(self, text: str) -> None:
        self._told = time.monotonic()
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(f"{self._title}: {text}", file=self._stream, flush=True)


def format_seconds(seconds: float) -> str:
    """Write a time for people.

    >>> format_seconds(7.2), format_seconds(75), format_seconds(7320)
    ('7 s', '1:15 min', '2:02 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"
