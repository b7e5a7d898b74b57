# SPDX-License-Identifier: MIT
"""Units of axes, and text as Plotly takes it."""

from __future__ import annotations

from dataclasses import dataclass

from chakra_core.result import format_bytes

_MOST_TICKS = 10


@dataclass(frozen=True)
class TimeScale:
    """The unit of a time axis."""

    unit: str
    unit_ns: int

    def of(self, nanoseconds: float) -> float:
        """Return a time in this unit."""
        return nanoseconds / self.unit_ns

    @classmethod
    def for_times_up_to(cls, nanoseconds: int) -> TimeScale:
        """Choose the largest unit of which the time is at least one."""
        for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
            if nanoseconds >= size:
                return cls(unit, size)
        return cls("ns", 1)


def plain(text: str) -> str:
    """Text that Plotly shows as it is, although it takes some HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def size_ticks(smallest: int, largest: int) -> tuple[list[int], list[str]]:
    """Places and labels of powers of two on a logarithmic axis of bytes that spans these sizes, of at least 1 byte."""
    low, high = smallest.bit_length() - 1, largest.bit_length()
    step = max(1, -(-(high - low) // _MOST_TICKS))
    # The last one is not below the largest size.
    values = [2**power for power in range(low, high + step, step)]
    return values, [format_bytes(value).replace(".00", "") for value in values]
