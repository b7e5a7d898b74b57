# SPDX-License-Identifier: MIT
"""Bandwidth of collectives against their size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chakra_core.result import Table

_STEPS_AN_OCTAVE = 8
_MOST_SIZES = 400


@dataclass(frozen=True)
class BandwidthPoints:
    """Collectives of one type, number of ranks and size together.

    Attributes:
        table: columns `kind` (str, as in `CATEGORIES`), `ranks`, `bytes`, `count`, and `least`, `busbw` (the
            median) and `most` in GB/s, ordered by the first three. Where a run has very many sizes, `bytes` is the
            geometric middle of an eighth of an octave.
    """

    table: Table

    def series(self) -> list[tuple[str, int]]:
        """Kind and number of ranks of each line, in order."""
        return list(dict.fromkeys(zip(self.table["kind"].tolist(), self.table["ranks"].tolist(), strict=True)))

    def of(self, kind: str, ranks: int) -> Table:
        """Rows of one line."""
        chosen = (self.table["kind"] == kind) & (self.table["ranks"] == ranks)
        return {name: column[chosen] for name, column in self.table.items()}

    def rank_place(self, ranks: int) -> int:
        """Place of a number of ranks among those that occur; the last of eight for all further ones."""
        return min(sorted(set(self.table["ranks"].tolist())).index(ranks), 7)


def bandwidth_points(collectives: Table) -> BandwidthPoints:
    """Sum up the table `collectives` of a result; what moved no byte or took no time has no bandwidth."""
    counted = (collectives["bytes"] > 0) & (collectives["duration_ns"] > 0) & (collectives["busbw"] > 0)
    size = collectives["bytes"][counted].astype(np.int64)
    if len(np.unique(size)) > _MOST_SIZES:
        size = np.round(2 ** (np.round(np.log2(size) * _STEPS_AN_OCTAVE) / _STEPS_AN_OCTAVE)).astype(np.int64)
    kinds, kind = np.unique(collectives["type"][counted].astype(str), return_inverse=True)
    keys = np.stack([kind.reshape(-1), collectives["ranks"][counted].astype(np.int64), size], axis=1)
    unique, place = np.unique(keys, axis=0, return_inverse=True)
    order = np.lexsort((collectives["busbw"][counted], place.reshape(-1)))
    value = collectives["busbw"][counted][order]
    count = np.bincount(place.reshape(-1), minlength=len(unique))
    last = np.cumsum(count) - 1
    first = last - count + 1
    names = np.array([name.lower().replace("_", "-") for name in kinds.tolist()], dtype=object)
    return BandwidthPoints(
        {
            "kind": names[unique[:, 0]],
            "ranks": unique[:, 1],
            "bytes": unique[:, 2],
            "count": count,
            "least": value[first],
            "busbw": (value[first + (count - 1) // 2] + value[first + count // 2]) / 2,
            "most": value[last],
        }
    )
