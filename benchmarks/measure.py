"""Timing two ways of doing one task in turn, so that a noisy machine disturbs both alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Ratio:
    """How much sooner ours is than a rival at one task."""

    task: str
    rival: str
    ratio: float
    note: str = ""

    def __str__(self) -> str:
        """One line for the report."""
        return f"{self.task:<58} {self.ratio:>9.1f}x  {self.rival}{'  (' + self.note + ')' if self.note else ''}"


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one run, of all threads of this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def wall_seconds(work: Callable[[], object]) -> float:
    """Elapsed time of one run."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compare(
    task: str,
    ours: Callable[[], object],
    rival_name: str,
    rival: Callable[[], object],
    *,
    repeats: int = 3,
    clock: Callable[[Callable[[], object]], float] = cpu_seconds,
    note: str = "",
) -> Ratio:
    """Ratio of the best times of `repeats` alternating runs."""
    best_ours = best_rival = float("inf")
    for _ in range(repeats):
        best_ours = min(best_ours, clock(ours))
        best_rival = min(best_rival, clock(rival))
    return Ratio(task, rival_name, best_rival / max(best_ours, 1e-9), note)
