# SPDX-License-Identifier: MIT
"""Long work in a thread, watched from the main one: a bar on a terminal, and Ctrl-C that stops the native code."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Protocol, TypeVar

from chakra_core._core import Cancelled, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_Result = TypeVar("_Result")
_SECONDS_BEFORE_BAR = 1.0
_SECONDS_BETWEEN_LOOKS = 0.05


class Watchable(Protocol):
    """What is looked at while the work goes on."""

    @property
    def done(self) -> int:
        """Units done."""

    @property
    def total(self) -> int:
        """Units in all, 0 if not known yet."""

    def cancel(self) -> None:
        """Ask the work to stop."""


class FileCount:
    """Counts files loaded, as a Watchable."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self._cancelled = False

    def cancel(self) -> None:
        """Stop before the next file."""
        self._cancelled = True

    def update(self, done: int, total: int) -> None:
        """Take over the counts.

        Raises:
            Cancelled: the work was told to stop.
        """
        self.done, self.total = done, total
        if self._cancelled:
            raise Cancelled("stopped while loading")


def watch(label: str, work: Callable[[Progress], _Result]) -> _Result:
    """Run `work`, which counts in the Progress it is given, and show a bar once it takes longer than a second."""
    progress = Progress()
    return watch_counts(label, progress, lambda: work(progress))


def watch_counts(label: str, counts: Watchable, work: Callable[[], _Result]) -> _Result:
    """Run `work`, which updates `counts`, and show a bar once it takes longer than a second.

    Raises:
        KeyboardInterrupt: Ctrl-C; the work has stopped.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        try:
            _show_until_done(label, counts, future)
        except KeyboardInterrupt:
            counts.cancel()
            raise
        return future.result()


def _show_until_done(label: str, counts: Watchable, future: Future[_Result]) -> None:
    start = time.monotonic()
    while not future.done() and (not sys.stderr.isatty() or time.monotonic() - start < _SECONDS_BEFORE_BAR):
        wait([future], timeout=_SECONDS_BETWEEN_LOOKS)
    if future.done():
        return
    with _make_bar() as bar:
        task = bar.add_task(label, total=None)
        while not future.done():
            wait([future], timeout=_SECONDS_BETWEEN_LOOKS)
            bar.update(task, completed=counts.done, total=counts.total or None)


def _make_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Bar(*columns, console=Console(stderr=True), transient=True)
