# SPDX-License-Identifier: MIT
"""Whether the ranks of a run mean the same: collectives matched across ranks, sends with receives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from chakra_core._core import CollectiveType, Feeder, NodeType, Trace
from chakra_core.bundle import unpacked
from chakra_core.config import CommGroups
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.recorded_groups import recorded_groups
from chakra_core.trace_source import PathLike

_ALL_RANKS = ("", "0")
#: Of these every rank contributes the same number of bytes.
_EQUAL_SIZES = {
    CollectiveType.ALL_REDUCE,
    CollectiveType.REDUCE,
    CollectiveType.BROADCAST,
    CollectiveType.ALL_GATHER,
    CollectiveType.REDUCE_SCATTER,
    CollectiveType.REDUCE_SCATTER_BLOCK,
    CollectiveType.GATHER,
    CollectiveType.BARRIER,
}

Kind: TypeAlias = Literal[
    "not a member",
    "unknown group",
    "number",
    "sequence",
    "collective",
    "size",
    "root",
    "dimensions",
    "no such rank",
    "no partner",
    "message size",
]
_OF_MESSAGES = ("no such rank", "no partner", "message size")


@dataclass(frozen=True)
class Disagreement:
    """One thing that two ranks see differently.

    Attributes:
        kind: what differs; stable.
        group: name of the process group; for messages "source -> destination".
        ranks: the ranks that differ, the one that is compared with first.
        position: which of the group's collectives, or of the pair's messages, from 0; or None.
        message: the whole of it for people.
    """

    kind: Kind
    group: str
    ranks: tuple[int, ...]
    position: int | None
    message: str


@dataclass(frozen=True)
class RankAgreement:
    """What comparing the ranks of a run found.

    Attributes:
        problems: every difference: of a group the first between each rank and the first rank of the group.
        collectives: collectives of each process group, as its first rank has them, by name.
        messages: pairs of a send and its receive.
        unmatched: sends and receives that do not say their peer, so that nothing can be compared.
    """

    problems: tuple[Disagreement, ...] = ()
    collectives: Mapping[str, int] = field(default_factory=dict)
    messages: int = 0
    unmatched: int = 0

    @property
    def ok(self) -> bool:
        """Whether no two ranks differ."""
        return not self.problems

    @property
    def first(self) -> Disagreement | None:
        """The first difference, if there is any."""
        return self.problems[0] if self.problems else None

    @property
    def text(self) -> str:
        """All of it for people, several lines."""
        lines = [problem.message for problem in self.problems]
        for name, number in self.collectives.items():
            lines.append(f"process group '{name}': {number} collectives")
        lines.append(f"{self.messages} messages, {self.unmatched} sends and receives without a known peer")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text


def check_ranks(
    traces: RankTraces, *, comm_groups: CommGroups | Mapping[str, Any] | PathLike | None = None
) -> RankAgreement:
    """Compare the communication of all ranks of a run.

    Collectives of a process group are matched by `comm_seq` (Kineto's Seq) where all ranks of the group have it on
    every one, else by the order in which they were asked for: by the start of their caller (the first control
    dependency; without one their own start), then by their own start, then by row. Each must be the same collective on
    all ranks, of the same size where every rank contributes the same. The i-th send from one rank to another with a tag
    belongs to the i-th receive.

    Args:
        traces: one a rank, as `simulate` takes them.
        comm_groups: ranks of each group; by default the groups that PyTorch recorded in the traces. A group that is not
            known has the ranks that use it.

    Raises:
        ConfigError: ranks are missing, or the traces disagree about the members of a group.
        FormatError, OSError: a trace cannot be read.
    """
    traces, comm_groups = unpacked(traces, comm_groups)
    loaded = load_ranks(traces)
    groups = recorded_groups(loaded) if comm_groups is None else CommGroups.coerce(comm_groups)
    tables = {key: Communication(trace) for key, trace in {id(trace): trace for trace in loaded}.items()}
    return Comparison([tables[id(trace)] for trace in loaded], groups).run()


class Communication:
    """Communication nodes of a trace in the order in which they were asked for, as columns; -1 is absent."""

    def __init__(self, trace: Trace, *, as_issued: bool = False) -> None:
        """Read them; `as_issued`: where no start is recorded, in the order in which dependencies allow them."""
        types = np.asarray(trace.types)
        rows = np.flatnonzero((types >= NodeType.COMM_SEND_NODE) & (types <= NodeType.COMM_COLL_NODE))
        if as_issued and not trace.start_ns[rows].any():
            rows = rows[np.argsort(_issue_order(trace)[rows])]
        else:
            # Backends with several workers (gloo) may start what was asked for later first, on some of the ranks.
            rows = rows[np.lexsort((trace.start_ns[rows], _asked_ns(trace, rows)))]
        self.ids = trace.ids[rows]
        self.type = types[rows].astype(np.int64)
        self.group = trace.attr("pg_name")[rows].filled("").astype(object)
        self.collective = _integers(trace, "comm_type", rows)
        self.size = _integers(trace, "comm_size", rows)
        self.sequence = _integers(trace, "comm_seq", rows)
        self.source = _integers(trace, "comm_src", rows)
        self.destination = _integers(trace, "comm_dst", rows)
        self.tag = _integers(trace, "comm_tag", rows)
        self.dimensions = trace.attr("involved_dim")[rows].filled(None)

    def collectives(self, group: str) -> Any:
        """Rows of the group's collectives."""
        return np.flatnonzero((self.type == NodeType.COMM_COLL_NODE) & (self.group == group))

    def groups(self) -> list[str]:
        """Names of the groups that have collectives."""
        return sorted(set(self.group[self.type == NodeType.COMM_COLL_NODE].tolist()))

    def describe(self, row: int) -> str:
        """Name a collective for people."""
        collective = int(self.collective[row])
        name = next((kind.name for kind in CollectiveType if int(kind) == collective), f"type {collective}")
        size = "" if self.size[row] < 0 else f" of {self.size[row]} B"
        return f"{name}{size} (node {self.ids[row]})"


def _issue_order(trace: Trace) -> Any:
    """Place of each row where every node is over at once, and the smallest id that is ready goes first."""
    by_id = np.argsort(trace.ids)
    rows = by_id[np.searchsorted(trace.ids, Feeder(trace).drain(), sorter=by_id)]
    order = np.empty(len(trace), dtype=np.int64)
    order[rows] = np.arange(len(trace))
    return order


def _asked_ns(trace: Trace, rows: Any) -> Any:
    """Start of each row's caller, or its own."""
    offsets = trace.ctrl_deps.offsets.astype(np.int64)
    first = offsets[:-1][rows]
    has_caller = offsets[1:][rows] > first
    asked = trace.start_ns[rows].copy()
    asked[has_caller] = trace.start_ns[trace.ctrl_deps.indices[first[has_caller]]]
    return asked


def _integers(trace: Trace, name: str, rows: Any) -> Any:
    values = trace.attr(name)[rows]
    return np.full(len(rows), -1, np.int64) if np.ma.getmaskarray(values).all() else values.filled(-1).astype(np.int64)


class Comparison:
    """The communication of all ranks side by side; `run` it once."""

    def __init__(self, ranks: list[Communication], groups: CommGroups) -> None:
        """Compare these ranks."""
        self._ranks = ranks
        self._groups = groups.groups
        self._problems: list[Disagreement] = []

    def run(self) -> RankAgreement:
        """Compare everything."""
        users: dict[str, list[int]] = defaultdict(list)
        for rank, communication in enumerate(self._ranks):
            for group in communication.groups():
                users[group].append(rank)
        counts = {group: self._check_group(group, users[group]) for group in sorted(users)}
        messages, unmatched = self._check_messages()
        return RankAgreement(tuple(self._problems), counts, messages, unmatched)

    def _members(self, group: str, users: list[int]) -> list[int]:
        if group in self._groups:
            members = [rank for rank in self._groups[group] if rank < len(self._ranks)]
            for rank in sorted(set(users) - set(self._groups[group])):
                self._add("not a member", group, (rank,), None, f"rank {rank} uses it but is not one of its ranks")
            return members
        return list(range(len(self._ranks))) if group in _ALL_RANKS else users

    def _check_group(self, group: str, users: list[int]) -> int:
        members = self._members(group, users)
        if not members:
            return 0
        rows = {rank: self._ranks[rank].collectives(group) for rank in members}
        by_sequence = all(
            len(rows[rank]) > 0 and bool((self._ranks[rank].sequence[rows[rank]] >= 0).all()) for rank in members
        )
        first = members[0]
        for rank in members[1:]:
            if self._ranks[rank] is self._ranks[first]:
                continue
            if by_sequence:
                self._compare_by_sequence(group, first, rows[first], rank, rows[rank])
            else:
                self._compare_in_order(group, first, rows[first], rank, rows[rank])
        return len(rows[first])

    def _compare_by_sequence(self, group: str, first: int, mine: Any, rank: int, theirs: Any) -> None:
        ours, others = self._ranks[first].sequence[mine], self._ranks[rank].sequence[theirs]
        only = np.setxor1d(ours, others)
        if len(only):
            with_it, without = (first, rank) if only[0] in ours else (rank, first)
            text = f"rank {with_it} has the collective with Seq {only[0]} and rank {without} has not"
            self._add("sequence", group, (first, rank), None, text)
        _, at_mine, at_theirs = np.intersect1d(ours, others, return_indices=True)
        self._compare(group, first, mine[at_mine], rank, theirs[at_theirs])

    def _compare_in_order(self, group: str, first: int, mine: Any, rank: int, theirs: Any) -> None:
        shared = min(len(mine), len(theirs))
        if self._compare(group, first, mine[:shared], rank, theirs[:shared]) or len(mine) == len(theirs):
            return
        longer, rows = (first, mine) if len(mine) > shared else (rank, theirs)
        text = (
            f"rank {first} has {len(mine)} collectives and rank {rank} has {len(theirs)}; "
            f"the first without a partner is {self._ranks[longer].describe(int(rows[shared]))} of rank {longer}"
        )
        self._add("number", group, (first, rank), shared, text)

    def _compare(self, group: str, first: int, mine: Any, rank: int, theirs: Any) -> bool:
        """Note the first of these pairs that differ; return whether any does."""
        ours, others = self._ranks[first], self._ranks[rank]
        kind = ours.collective[mine]
        other_kind = kind != others.collective[theirs]
        sizes = ours.size[mine], others.size[theirs]
        other_size = (sizes[0] != sizes[1]) & (sizes[0] >= 0) & (sizes[1] >= 0) & self._has_equal_sizes(kind)
        different = np.flatnonzero(other_kind | other_size)
        if len(different) == 0:
            return False
        place = int(different[0])
        text = (
            f"collective {place} is {ours.describe(int(mine[place]))} on rank {first} "
            f"and {others.describe(int(theirs[place]))} on rank {rank}"
        )
        self._add("collective" if other_kind[place] else "size", group, (first, rank), place, text)
        return True

    def _has_equal_sizes(self, kind: Any) -> Any:
        return np.isin(kind, [int(one) for one in _EQUAL_SIZES])

    def _check_messages(self) -> tuple[int, int]:
        sends, unknown_sends = self._messages(NodeType.COMM_SEND_NODE)
        receives, unknown_receives = self._messages(NodeType.COMM_RECV_NODE)
        pairs = 0
        # Where a peer is not known, what is left over may well be its partner.
        complete = unknown_sends + unknown_receives == 0
        for key in sorted(sends.keys() | receives.keys()):
            sent, received = sends.get(key, []), receives.get(key, [])
            pairs += min(len(sent), len(received))
            self._check_pair(key, sent, received, complete=complete)
        return pairs, unknown_sends + unknown_receives

    def _check_pair(self, key: tuple[int, int, int], sent: list[int], received: list[int], *, complete: bool) -> None:
        source, destination, tag = key
        senders, receivers = self._ranks[source], self._ranks[destination]
        name = f"{source} -> {destination}"
        for place, (one, other) in enumerate(zip(sent, received, strict=False)):
            bytes_sent, bytes_received = int(senders.size[one]), int(receivers.size[other])
            if bytes_sent >= 0 and bytes_received >= 0 and bytes_sent != bytes_received:
                text = (
                    f"message {place} with tag {tag}: rank {source} sends {bytes_sent} B (node {senders.ids[one]}) and "
                    f"rank {destination} receives {bytes_received} B (node {receivers.ids[other]})"
                )
                self._add("message size", name, (source, destination), place, text)
                return
        if complete and len(sent) != len(received):
            place = min(len(sent), len(received))
            text = (
                f"with tag {tag} rank {source} sends {len(sent)} messages and "
                f"rank {destination} receives {len(received)}"
            )
            self._add("no partner", name, (source, destination), place, text)

    def _messages(self, kind: NodeType) -> tuple[dict[tuple[int, int, int], list[int]], int]:
        """Rows by source, destination and tag; and how many do not say their peer."""
        found: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        unknown = 0
        for rank, communication in enumerate(self._ranks):
            rows = np.flatnonzero(communication.type == kind)
            sends = kind == NodeType.COMM_SEND_NODE
            peers = (communication.destination if sends else communication.source)[rows]
            known = (peers >= 0) & (peers < len(self._ranks))
            unknown += int(np.count_nonzero(~known))
            tags = np.maximum(communication.tag[rows], 0)
            for row, peer, tag in zip(rows[known].tolist(), peers[known].tolist(), tags[known].tolist(), strict=True):
                found[(rank, peer, tag) if sends else (peer, rank, tag)].append(row)
        return found, unknown

    def _add(self, kind: Kind, group: str, ranks: Iterable[int], position: int | None, text: str) -> None:
        name = f"messages {group}" if kind in _OF_MESSAGES else f"process group '{group}'"
        self._problems.append(Disagreement(kind, group, tuple(ranks), position, f"{name}: {text}"))
