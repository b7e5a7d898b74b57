# SPDX-License-Identifier: MIT
"""Numbers made less exact within a bound: rounded to few binary digits, or moved at random."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Unsigned: TypeAlias = "np.ndarray[Any, np.dtype[np.uint64]]"

_LARGEST = np.uint64((1 << 63) - 1)


class Alteration(NamedTuple):
    """By how much numbers may be changed, as a share of each.

    Attributes:
        quantise: numbers are rounded to the least number of leading binary digits that is this exact; 0 leaves them.
        perturb: numbers are then moved by a share drawn evenly from -perturb to perturb; 0 leaves them.
    """

    quantise: float
    perturb: float

    @property
    def bound(self) -> float:
        """The largest change of a number, as a share of it."""
        return (1 + self.quantise) * (1 + self.perturb) - 1

    def of(self, values: Unsigned, random: np.random.Generator) -> Unsigned:
        """Alter each number by itself. 0 stays 0, and nothing else becomes 0.

        Args:
            values: any shape.
            random: where the shares come from.
        """
        return _moved(_rounded(values, self.quantise), self.perturb, random)

    def by_value(self, values: list[Unsigned], random: np.random.Generator) -> list[Unsigned]:
        """Alter each different number once, so that what was equal stays equal in all of the arrays."""
        different = np.unique(np.concatenate(values)) if values else np.zeros(0, np.uint64)
        altered = self.of(different, random)
        return [altered[np.searchsorted(different, one)] for one in values]

    def gaps(self, values: list[Unsigned], random: np.random.Generator) -> list[Unsigned]:
        """Alter the gaps between neighbouring numbers, so that the order of all stays; the smallest becomes 0.

        A number 0 stands for an absent one: the gap behind it says nothing, and becomes 1.
        """
        different = np.unique(np.concatenate(values)) if values else np.zeros(0, np.uint64)
        gaps = np.diff(different)
        altered = self.of(gaps, random)
        if len(gaps) and different[0] == 0:
            altered[0] = 1
        places = np.concatenate(([np.uint64(0)], np.cumsum(altered, dtype=np.uint64)))
        return [places[np.searchsorted(different, one)] for one in values]


def _rounded(values: Unsigned, share: float) -> Unsigned:
    """Keep so many leading binary digits m that 2**-m <= share; the nearest such number is that near."""
    if share == 0:
        return values.copy()
    digits = math.ceil(-math.log2(share))
    # A float may round up to the next power of two.
    length = np.frexp(values.astype(np.float64))[1].astype(np.int64)
    length -= (values >> np.maximum(length - 1, 0).astype(np.uint64)) == 0
    shift = np.maximum(length - digits, 0).astype(np.uint64)
    one = np.uint64(1)
    up = (values >> (np.maximum(shift, one) - one)) & np.where(shift > 0, one, np.uint64(0))
    rounded = ((values >> shift) + up) << shift
    return np.where((rounded > _LARGEST) | (rounded == 0), values, rounded)


def _moved(values: Unsigned, share: float, random: np.random.Generator) -> Unsigned:
    if share == 0:
        return values
    wanted = values.astype(np.float64) * random.uniform(-share, share, values.shape)
    steps = np.minimum(np.rint(np.abs(wanted)), np.floor(values.astype(np.float64) * share)).astype(np.uint64)
    room = np.where(values < _LARGEST, _LARGEST - np.minimum(values, _LARGEST), np.uint64(0))
    return np.where(wanted < 0, values - steps, values + np.minimum(steps, room))
