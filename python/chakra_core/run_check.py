# SPDX-License-Identifier: MIT
"""Whether the traces of a run can be simulated together, looked at before simulating them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from chakra_core._core import NodeType
from chakra_core.config import CommGroups, Network
from chakra_core.rank_agreement import Communication, Comparison, Kind, RankAgreement
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.recorded_groups import recorded_groups
from chakra_core.trace_source import PathLike

_WORLD = ("", "0")


def check(
    traces: RankTraces,
    network: Network | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    comm_groups: CommGroups | Mapping[str, Any] | PathLike | None = None,
) -> RankAgreement:
    """Find what would make a simulation of these traces fail or never end, without simulating them.

    Collectives of a group must be the same on all of its ranks: type, size, root and dimensions of the k-th one, and
    how many there are. Every send needs a receive of the same tag and size on a rank that exists, every receive a send.

    The order of a rank's collectives is that in which they were recorded (see `check_ranks`). Where no start is
    recorded it is the one in which dependencies allow them, the smallest id first; a simulation may issue collectives
    that do not depend on each other in another order.

    Args:
        traces: one a rank, as `simulate` takes them.
        network: the network, if its NPUs are to be the ranks.
        comm_groups: ranks of each group; by default the groups that PyTorch recorded in the traces.

    Returns:
        All differences; `first` is the first one, or None. Of each group and each pair of ranks only the first is told.

    Raises:
        ConfigError: ranks are missing, or the traces disagree about the members of a group.
        DependencyError: nodes of a trace wait for each other.
        FormatError, OSError: a trace cannot be read.
    """
    loaded = load_ranks(traces, None if network is None else Network.coerce(network).num_npus)
    groups = recorded_groups(loaded) if comm_groups is None else CommGroups.coerce(comm_groups)
    tables = {
        key: Communication(trace, as_issued=True) for key, trace in {id(trace): trace for trace in loaded}.items()
    }
    return _SimulatedComparison([tables[id(trace)] for trace in loaded], groups).run()


class _SimulatedComparison(Comparison):
    """Compares what the simulator compares."""

    def _members(self, group: str, users: list[int]) -> list[int]:
        if group not in self._groups and group not in _WORLD:
            known = ", ".join(sorted(self._groups)[:20]) or "none"
            text = f"ranks {users[:8]} use it, but it is not in the communicator groups ({known})"
            self._add("unknown group", group, users, None, text)
            return []
        return super()._members(group, users)

    def _has_equal_sizes(self, kind: Any) -> Any:
        return np.ones(len(kind), dtype=bool)

    def _compare(self, group: str, first: int, mine: Any, rank: int, theirs: Any) -> bool:
        if super()._compare(group, first, mine, rank, theirs):
            return True
        ours, others = self._ranks[first], self._ranks[rank]
        roots = ours.source[mine], others.source[theirs]
        dimensions = ours.dimensions[mine], others.dimensions[theirs]
        for kind, what, (one, other) in (("root", "the root", roots), ("dimensions", "involved_dim", dimensions)):
            different = (
                [place for place in range(len(one)) if one[place] != other[place]] if (one != other).any() else []
            )
            if different:
                place = different[0]
                text = (
                    f"collective {place} is {ours.describe(int(mine[place]))} on rank {first} and "
                    f"{others.describe(int(theirs[place]))} on rank {rank}; {what} is {one[place]} and {other[place]}"
                )
                self._add(cast(Kind, kind), group, (first, rank), place, text)
                return True
        return False

    def _check_messages(self) -> tuple[int, int]:
        """Match as the simulator does: by source, destination, tag and size, whatever the order."""
        unknown = self._check_peers()
        sends, _ = self._messages(NodeType.COMM_SEND_NODE)
        receives, _ = self._messages(NodeType.COMM_RECV_NODE)
        pairs = 0
        for key in sorted(sends.keys() | receives.keys()):
            sent, received = sends.get(key, []), receives.get(key, [])
            unsent, unreceived = self._left_over(key, sent, received)
            pairs += len(sent) - len(unreceived)
            self._check_left_over(key, sent, received, unsent, unreceived)
        return pairs, unknown

    def _check_peers(self) -> int:
        """Note the first message of each rank whose peer does not exist; return how many there are."""
        unknown = 0
        for rank, mine in enumerate(self._ranks):
            sends, receives = mine.type == NodeType.COMM_SEND_NODE, mine.type == NodeType.COMM_RECV_NODE
            peer = np.where(sends, mine.destination, mine.source)
            wrong = np.flatnonzero((sends | receives) & ((peer < 0) | (peer >= len(self._ranks))))
            unknown += len(wrong)
            if len(wrong) == 0:
                continue
            row = int(wrong[0])
            verb = "sends to" if sends[row] else "receives from"
            whom = f"rank {peer[row]}, and there are {len(self._ranks)} ranks" if peer[row] >= 0 else "nobody"
            self._add("no such rank", f"of rank {rank}", (rank,), row, f"node {mine.ids[row]} {verb} {whom}")
        return unknown

    def _left_over(
        self, key: tuple[int, int, int], sent: list[int], received: list[int]
    ) -> tuple[list[int], list[int]]:
        """Receives that nothing is sent to, and sends that nobody receives: of each size those that come last."""
        waiting: dict[int, list[int]] = defaultdict(list)
        for row in reversed(received):
            waiting[int(self._ranks[key[1]].size[row])].append(row)
        unreceived = []
        for row in sent:
            of_size = waiting[int(self._ranks[key[0]].size[row])]
            if of_size:
                of_size.pop()
            else:
                unreceived.append(row)
        return sorted(row for rows in waiting.values() for row in rows), unreceived

    def _check_left_over(
        self, key: tuple[int, int, int], sent: list[int], received: list[int], unsent: list[int], unreceived: list[int]
    ) -> None:
        source, destination, tag = key
        name = f"{source} -> {destination}"
        sides = []
        if unreceived:
            senders, row = self._ranks[source], unreceived[0]
            sides.append(f"rank {source} sends {senders.size[row]} B (node {senders.ids[row]})")
        if unsent:
            receivers, row = self._ranks[destination], unsent[0]
            sides.append(f"rank {destination} receives {receivers.size[row]} B (node {receivers.ids[row]})")
        if not sides:
            return
        place = sent.index(unreceived[0]) if unreceived else received.index(unsent[0])
        text = f"message {place} with tag {tag}: {' and '.join(sides)}"
        if len(sides) == 2:
            self._add("message size", name, (source, destination), place, text)
            return
        missing = "nobody receives it" if unreceived else "nobody sends it"
        text += f", but {missing}; there are {len(sent)} sends and {len(received)} receives"
        self._add("no partner", name, (source, destination), place, text)
