# SPDX-License-Identifier: MIT
"""How many files may be worked on at a time: as many as memory holds."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from pathlib import Path

_REMEMBERED = 32
#: Memory for a byte of input before anything was measured.
_PLAIN_FACTOR = 2.0
_COMPRESSED_FACTOR = 20.0
_SMALLEST_COST = 1 << 20
_SHARE_OF_AVAILABLE = 0.8


@dataclass
class _InFlight:
    cost: float
    used_at_start: int
    peak_growth: int = 0
    cost_of_all: float = 0.0


class MemoryBudget:
    """Admits work while the memory that it will take fits.

    What a file will take is first guessed from its size, and then corrected by how much memory this process really
    took, for each guessed byte, while the last 32 files were worked on; the largest of these counts. At least one file
    is always admitted, however large.

    Attributes:
        limit: bytes of memory for the whole process; 0 is no limit.
        scale: bytes measured for each guessed byte; 1 before anything was measured.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.scale = 1.0
        self._in_flight: dict[object, _InFlight] = {}
        self._ratios: deque[float] = deque(maxlen=_REMEMBERED)

    def fits(self, cost: float, used: int) -> bool:
        """Whether work may begin.

        Args:
            cost: what `guess_bytes` gave for it.
            used: bytes of memory that the process has now.
        """
        if not self._in_flight or self.limit == 0:
            return True
        # What is under way may have taken little so far, and what is over may not have been given back.
        first = min(work.used_at_start for work in self._in_flight.values())
        promised = first + self.scale * sum(work.cost for work in self._in_flight.values())
        return max(promised, used) + self.scale * cost <= self.limit

    def begin(self, work: object, cost: float, used: int) -> None:
        """Count work as under way."""
        self._in_flight[work] = _InFlight(cost, used)

    def observe(self, used: int) -> None:
        """Take over how many bytes the process has now."""
        total = sum(work.cost for work in self._in_flight.values())
        for work in self._in_flight.values():
            growth = used - work.used_at_start
            if growth > work.peak_growth:
                work.peak_growth, work.cost_of_all = growth, total

    def end(self, work: object, used: int) -> None:
        """Count work as over, and learn from it."""
        self.observe(used)
        over = self._in_flight.pop(work)
        if over.cost_of_all > 0:
            self._ratios.append(over.peak_growth / over.cost_of_all)
            self.scale = max(self._ratios)


def guess_bytes(sizes: dict[str, int]) -> float:
    """Guess the memory that files take, by their names and sizes in bytes."""
    total = sum(
        size * (_COMPRESSED_FACTOR if name.endswith((".gz", ".zst")) else _PLAIN_FACTOR) for name, size in sizes.items()
    )
    return max(float(total), float(_SMALLEST_COST))


def used_bytes() -> int:
    """Memory of this process that is no file's, in bytes; 0 where that cannot be told."""
    try:
        _, resident, shared, *_ = Path("/proc/self/statm").read_bytes().split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * _page_bytes()


def default_limit() -> int:
    """Most of the memory that is available now, in bytes; 0 where that cannot be told."""
    available = [value for value in (_available_of_machine(), _available_of_group()) if value is not None]
    return int(_SHARE_OF_AVAILABLE * min(available)) + used_bytes() if available else 0


def _page_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def _available_of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def _available_of_group() -> int | None:
    """Memory that the control group of this process may still take, if it has a limit."""
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        taken = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - taken)
