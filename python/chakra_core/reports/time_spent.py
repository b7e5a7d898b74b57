# SPDX-License-Identifier: MIT
"""Where the time of each rank went: parts that do not overlap and add up to its finish."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from chakra_core.reports.categories import ALL_RANKS, CATEGORIES, COMMUNICATION, categories_of, groups_of
from chakra_core.reports.interval_coverage import Ints, newly_covered, united
from chakra_core.result import Result, Table

_COMMUNICATION = np.array([name in COMMUNICATION for name in CATEGORIES])
POINT_TO_POINT = "point to point"
_UNKNOWN = "other communication"


@dataclass
class TimeSpent:
    """Time of each rank by what it went to, ns. What overlaps counts once.

    Attributes:
        parts: by category, shape (ranks,): `compute`; each kind of communication while nothing was computed; `memory`
            while neither; `host` while none of these; `idle`. They add up to `finish_ns` of each rank.
        exposed: the communication among these by (group, kind), shape (ranks,). Where several communicate at a time,
            the one that began first has the time.
    """

    parts: dict[str, Ints] = field(default_factory=dict)
    exposed: dict[tuple[str, str], Ints] = field(default_factory=dict)

    def shares(self) -> dict[str, float]:
        """Part of all ranks' time together that went to each category."""
        total = sum(int(column.sum()) for column in self.parts.values())
        return {name: int(column.sum()) / max(total, 1) for name, column in self.parts.items()}


def time_spent(result: Result) -> TimeSpent:
    """Take a result apart; from its ranks' sums alone where it has no nodes, and then communication has no kinds."""
    if result.has_nodes:
        return _from_nodes(result)
    finish, compute, idle = (_signed(column) for column in (result.finish_ns, result.compute_ns, result.idle_ns))
    exposed = np.minimum(_signed(result.exposed_comm_ns), finish - compute - idle)
    parts = {"compute": compute, _UNKNOWN: exposed, "host": finish - compute - exposed - idle, "idle": idle}
    return TimeSpent(_used(parts), {(ALL_RANKS, _UNKNOWN): exposed} if exposed.any() else {})


def _from_nodes(result: Result) -> TimeSpent:
    parts = {name: np.zeros(result.num_ranks, dtype=np.int64) for name in CATEGORIES}
    exposed: dict[tuple[str, str], Ints] = {}
    groups = {id(trace): groups_of(trace) for trace in result.traces}
    for rank, trace in enumerate(result.traces):
        nodes = result.nodes_of(rank)
        rows = nodes["row"]
        names, group = groups[id(trace)]
        spent = _Exclusive(nodes, categories_of(trace, rows, nodes["resource"]))
        parts["compute"][rank], parts["memory"][rank], parts["host"][rank] = spent.compute, spent.memory, spent.host
        parts["idle"][rank] = int(result.finish_ns[rank]) - spent.busy
        for (place, kind), time in spent.communication(group[rows]).items():
            key = (_group_name(names[place], CATEGORIES[kind]), CATEGORIES[kind])
            exposed.setdefault(key, np.zeros(result.num_ranks, dtype=np.int64))[rank] += time
            parts[CATEGORIES[kind]][rank] += time
    return TimeSpent(_used(parts), exposed)


def _group_name(name: str, kind: str) -> str:
    """Two ranks are no group: a message that names none is not of all ranks."""
    return POINT_TO_POINT if name == ALL_RANKS and kind in ("send", "receive") else name


class _Exclusive:
    """One rank's time; each moment counts for the first under way of compute, communication, memory, host."""

    def __init__(self, nodes: Table, category: Ints) -> None:
        self._category = category
        self._start, self._end = _signed(nodes["start_ns"]), _signed(nodes["end_ns"])
        compute, memory, host = (self._of(category == CATEGORIES.index(name)) for name in ("compute", "memory", "host"))
        communication = self._of(_COMMUNICATION[category])
        self._computed = united([compute])
        upon_communication = united([compute, communication])
        upon_memory = united([compute, communication, memory])
        self.busy = united([compute, communication, memory, host]).total
        self.compute = self._computed.total
        self.memory = upon_memory.total - upon_communication.total
        self.host = self.busy - upon_memory.total

    def _of(self, chosen: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
        return self._start[chosen], self._end[chosen]

    def communication(self, group: Ints) -> dict[tuple[int, int], int]:
        """Time of communication without computation, by the nodes' group and category."""
        chosen = _COMMUNICATION[self._category]
        start, end = newly_covered(*self._of(chosen))
        exposed = (end - start) - self._computed.within(start, end)
        keys, place = np.unique(group[chosen] * len(CATEGORIES) + self._category[chosen], return_inverse=True)
        sums = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sums, place, exposed)
        return {
            divmod(key, len(CATEGORIES)): time for key, time in zip(keys.tolist(), sums.tolist(), strict=True) if time
        }


def _signed(times: npt.NDArray[np.uint64]) -> Ints:
    """Take times as signed numbers, whose differences cannot wrap around."""
    return times.astype(np.int64)


def _used(parts: dict[str, Ints]) -> dict[str, Ints]:
    return {name: column for name, column in parts.items() if column.any()}
