# SPDX-License-Identifier: MIT
"""Slices of a timeline at several resolutions, so that a picture of any part of it has few of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from chakra_core.reports.categories import CATEGORIES, categories_of
from chakra_core.reports.interval_coverage import Ints
from chakra_core.result import Result

_FINER = 2
_COARSEST_STEPS = 64
# Lanes, categories and steps are packed into 64 bits.
_MOST_STEPS = 1 << 48
_FEW_SLICES = 4000
MOST_SLICES = 120_000
"""Slices of all levels together, which bounds the size of a report."""
MOST_LANES = 96
MOST_RANKS = 16


@dataclass(frozen=True)
class Slices:
    """Columns of slices by start. Each stands for `count` nodes of one lane and category.

    Attributes:
        lane: place among the lanes.
        category: place in `CATEGORIES`.
        start: when the first of its nodes begins, ns.
        end: when the last of them ends, ns.
        busy: sum of their durations, ns.
        count: how many they are.
        node: the first of them, its place in what was drawn.
    """

    lane: Ints
    category: Ints
    start: Ints
    end: Ints
    busy: Ints
    count: Ints
    node: Ints

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class Timeline:
    """What is drawn of a run.

    Attributes:
        ranks: numbers of the ranks drawn.
        lanes: (rank, name) of each lane, from the top.
        levels: (resolution in ns, slices), coarse ones first. At resolution 0 each slice is a node.
        names: of each node in what was drawn.
        total_ns: when the last rank of the run finished.
    """

    ranks: list[int]
    lanes: list[tuple[int, str]]
    levels: list[tuple[int, Slices]]
    names: npt.NDArray[np.object_]
    total_ns: int

    @property
    def is_complete(self) -> bool:
        """Whether the finest level has each node by itself."""
        return bool(self.levels) and self.levels[-1][0] == 0


def merged(slices: Slices, resolution: int) -> Slices:
    """Join what is shorter than the resolution with what is as short beside it, of the same lane and category.

    Slices of at least the resolution stay. The sums of `busy` and `count` of each lane and category stay, too.
    """
    if resolution == 0 or len(slices) == 0:
        return slices
    short = slices.end - slices.start < resolution
    joined = _joined(_taken(slices, np.flatnonzero(short)), resolution)
    return _by_start([_taken(slices, np.flatnonzero(~short)), joined])


def _joined(slices: Slices, resolution: int) -> Slices:
    """Join all slices of a lane and category that begin in the same step of the resolution."""
    lane_and_category = slices.lane * len(CATEGORIES) + slices.category
    step = slices.start // resolution
    key = lane_and_category * (int(step.max(initial=0)) + 1) + step
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    if len(first) == 0:
        return slices
    earliest = _taken(slices, order[first])
    return replace(
        earliest,
        end=np.maximum.reduceat(slices.end[order], first),
        busy=np.add.reduceat(slices.busy[order], first),
        count=np.add.reduceat(slices.count[order], first),
    )


def _taken(slices: Slices, places: npt.NDArray[np.intp]) -> Slices:
    return Slices(**{name: getattr(slices, name)[places] for name in Slices.__dataclass_fields__})


def levels_of(slices: Slices, total_ns: int, most: int = MOST_SLICES) -> list[tuple[int, Slices]]:
    """Levels from a coarse one to single nodes, or as far as `most` slices go, but at least one."""
    levels: list[tuple[int, Slices]] = []
    left = most
    for resolution in _resolutions(total_ns) if len(slices) > _FEW_SLICES else [0]:
        level = merged(slices, resolution)
        if 4 * len(level) > 3 * len(slices):
            # Joining saves little here.
            resolution, level = 0, slices
        if levels and len(level) > left:
            break
        levels.append((resolution, level))
        left -= len(level)
        if resolution == 0:
            break
    return levels


def _resolutions(total_ns: int) -> list[int]:
    found = [max(total_ns // _COARSEST_STEPS, 1)]
    while found[-1] > max(total_ns // _MOST_STEPS, 1):
        found.append(found[-1] // _FINER)
    return [*found, 0]


def timeline_of(result: Result, ranks: Sequence[int] | None = None, *, most: int = MOST_SLICES) -> Timeline:
    """Take what is drawn of a result: some ranks, without recorded pauses and metadata.

    Args:
        result: with nodes, or the timeline is empty.
        ranks: which; by default `drawn_ranks`. Ranks that would make it more than `MOST_LANES` lanes are left out.
        most: slices of all levels together.
    """
    lanes: list[tuple[int, str]] = []
    drawn: list[int] = []
    parts: list[Slices] = []
    names = [np.empty(0, dtype=object)]
    for rank in drawn_ranks(result) if ranks is None else ranks:
        nodes = result.nodes_of(rank)
        category = categories_of(result.traces[rank], nodes["row"], nodes["resource"])
        shown = np.flatnonzero(category != CATEGORIES.index("idle"))
        own, lane = np.unique(nodes["lane"][shown].astype(str), return_inverse=True)
        order = np.array(sorted(range(len(own)), key=lambda place: _by_number(str(own[place]))), dtype=np.int64)
        if lanes and len(lanes) + len(own) > MOST_LANES:
            break
        start, end = (nodes[name][shown].astype(np.int64) for name in ("start_ns", "end_ns"))
        place = len(lanes) + np.argsort(order)[lane.reshape(-1)]
        first = sum(map(len, names))
        count = np.ones(len(shown), dtype=np.int64)
        node = first + np.arange(len(shown), dtype=np.int64)
        parts.append(Slices(place, category[shown], start, end, end - start, count, node))
        names.append(result.names_of(rank)[nodes["row"][shown]])
        lanes += [(rank, str(own[one])) for one in order]
        drawn.append(rank)
    slices = _by_start(parts)
    return Timeline(drawn, lanes, levels_of(slices, result.total_ns, most), np.concatenate(names), result.total_ns)


def drawn_ranks(result: Result, most: int = MOST_RANKS) -> list[int]:
    """Choose ranks: all of a few, one if all are alike, else from the first to the last to finish in even steps."""
    if not result.has_nodes:
        return []
    if result.folded_ranks:
        return [0]
    order = np.argsort(result.finish_ns, kind="stable")
    steps = np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(np.intp)
    return sorted(order[steps].tolist())


def _by_start(parts: list[Slices]) -> Slices:
    columns = {
        name: np.concatenate([np.empty(0, dtype=np.int64), *(getattr(part, name) for part in parts)])
        for name in Slices.__dataclass_fields__
    }
    order = np.argsort(columns["start"], kind="stable")
    return Slices(**{name: column[order] for name, column in columns.items()})


def _by_number(lane: str) -> tuple[str, int, str]:
    """Order "stream 7" before "stream 20"."""
    words = re.split(r"(\d+)$", lane)
    return words[0], int(words[1]) if len(words) > 1 else 0, lane
