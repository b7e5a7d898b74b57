# SPDX-License-Identifier: MIT
"""How much time intervals cover together, in whole ns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class Coverage:
    """The union of intervals [start, end), which may overlap, nest, or be empty."""

    def __init__(self, start: Ints, end: Ints) -> None:
        """Unite the intervals, given in any order. O(n log n)."""
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
        reach = np.maximum.accumulate(end) if len(end) else end
        opens = np.ones(len(start), dtype=bool)
        opens[1:] = start[1:] > reach[:-1]
        first = np.flatnonzero(opens)
        last = np.append(first[1:], len(start)) - 1 if len(first) else first
        self.start: Ints = start[first]
        self.end: Ints = reach[last]
        self._before = np.concatenate([[0], np.cumsum(self.end - self.start)]).astype(np.int64)

    @property
    def total(self) -> int:
        """Time covered."""
        return int(self._before[-1])

    def until(self, time: Ints) -> Ints:
        """Time covered before each of these times."""
        if len(self.start) == 0:
            return np.zeros(len(time), dtype=np.int64)
        place = np.searchsorted(self.start, time, side="right") - 1
        inside = np.minimum(time, self.end[place]) - self.start[place]
        return np.where(place >= 0, self._before[place] + inside, 0)

    def within(self, start: Ints, end: Ints) -> Ints:
        """Time covered within each of these intervals."""
        return self.until(end) - self.until(start)


def newly_covered(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Cut intervals so that each keeps what no interval that began before it covers, in the order given.

    Of intervals that begin together the earlier one in the arrays counts as the first. What is left of each is in one
    piece, may be empty, and all of them together are the union.
    """
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end[order]) if len(end) else end
    begin, finish = start.copy(), end.copy()
    begin[order[1:]] = np.maximum(start[order[1:]], reach[:-1])
    return begin, np.maximum(begin, finish)


def united(parts: Sequence[tuple[Ints, Ints]]) -> Coverage:
    """Unite several sets of intervals."""
    empty = np.empty(0, dtype=np.int64)
    starts = np.concatenate([empty, *(start for start, _ in parts)])
    return Coverage(starts, np.concatenate([empty, *(end for _, end in parts)]))
