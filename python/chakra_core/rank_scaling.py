# SPDX-License-Identifier: MIT
"""A recorded run on more or fewer ranks, along data parallelism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from chakra_core._core import ChakraError, CollectiveType, ConfigError, NodeType, Trace
from chakra_core.config import CommGroups
from chakra_core.rank_agreement import check_ranks
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.recorded_groups import GROUPS_NODE, group_names, used_recorded_groups
from chakra_core.trace_source import PathLike

Gathered = Literal["shards", "batch"]

_ALL_RANKS = ("", "0")
_WORLD = ""
#: What a rank contributes does not depend on how many there are.
_SAME_SIZE = (
    CollectiveType.ALL_REDUCE,
    CollectiveType.REDUCE,
    CollectiveType.BROADCAST,
    CollectiveType.BARRIER,
    CollectiveType.REDUCE_SCATTER,
    CollectiveType.REDUCE_SCATTER_BLOCK,
)
_REDUCE_SCATTERS = (CollectiveType.REDUCE_SCATTER, CollectiveType.REDUCE_SCATTER_BLOCK)
_GATHERS = (CollectiveType.ALL_GATHER, CollectiveType.GATHER)
_Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


class Rescaled(NamedTuple):
    """What `rescale` gives.

    Attributes:
        traces: one a rank; ranks that do the same share one where they shared one before.
        comm_groups: ranks of all groups; to be given to simulators.
    """

    traces: list[Trace]
    comm_groups: CommGroups


def rescale(
    traces: RankTraces,
    num_ranks: int,
    *,
    comm_groups: CommGroups | Mapping[str, Any] | PathLike | None = None,
    data_parallel: Iterable[str] | None = None,
    gathered: Gathered | None = None,
) -> Rescaled:
    """Replicate a run along data parallelism, so that it has more ranks or fewer.

    A replica is what holds the model once: one rank of each data-parallel group. New replicas do what replica
    `d % (number of old ones)` does; what each rank computes, and so the batch of a rank, stays as it is. Ranks are
    counted as before: neighbours within a replica stay neighbours, and what lies outside of data parallelism stays
    outside. Process groups and peers within a replica become those of the new replica. `docs/rescale.md` has the rules
    for sizes. Nodes in which PyTorch recorded the groups are left out, as they would be wrong.

    Args:
        traces: one a rank, as `simulate` takes them.
        num_ranks: of the new run: a multiple of the ranks of a replica.
        comm_groups: ranks of each group; by default the groups that PyTorch recorded in the traces.
        data_parallel: names of the data-parallel groups, which together have each rank once. May be left out where all
            groups have all ranks.
        gathered: what all-gathers between replicas collect: "shards" of something whose size stays (FSDP, ZeRO), or a
            part of the "batch" of each rank, so that the whole grows. By default shards are recognised by a
            reduce-scatter of the same whole in the same group, and other all-gathers are refused.

    Raises:
        ConfigError: there is no sound rule, with the reason; groups or ranks are missing; ranks disagree.
        FormatError, OSError: a trace cannot be read.
    """
    if num_ranks < 1:
        raise ConfigError(f"num_ranks: found {num_ranks}, allowed: 1 or more")
    if gathered not in (None, "shards", "batch"):
        raise ConfigError(f"gathered: found {gathered!r}, allowed: 'shards', 'batch', None")
    loaded = load_ranks(traces)
    groups = used_recorded_groups(loaded) if comm_groups is None else CommGroups.coerce(comm_groups)
    _check_known(loaded, groups)
    agreement = check_ranks(loaded, comm_groups=groups)
    if not agreement.ok:
        raise ConfigError(
            f"the ranks of the run disagree, so that it cannot be replicated: {agreement.problems[0].message}"
        )
    layout = _find_layout(len(loaded), num_ranks, groups, data_parallel)
    plan = _Groups(layout, groups)
    prepared = {id(trace): _Prepared(trace, layout, plan, gathered) for trace in loaded}
    made = [prepared[id(loaded[layout.source(rank)])].for_rank(rank) for rank in range(num_ranks)]
    result = Rescaled(made, CommGroups(groups=plan.new))
    after = check_ranks(result.traces, comm_groups=result.comm_groups)
    if not after.ok:
        raise ChakraError(f"the rescaled ranks disagree; please report this: {after.problems[0].message}")
    return result


def _check_known(traces: list[Trace], groups: CommGroups) -> None:
    for trace in {id(trace): trace for trace in traces}.values():
        for name in group_names(trace):
            if name not in groups.groups and name not in _ALL_RANKS:
                raise ConfigError(
                    f"process group '{name}' is in a trace and not in comm_groups, so its ranks are not known"
                )


class _Layout(NamedTuple):
    """Where ranks lie: rank = (outside * replicas + replica) * stride + inside.

    Attributes:
        old: ranks of the old run.
        replicas: of the old run.
        new_replicas: of the new run.
        stride: from a rank to the same one of the next replica.
        data_parallel: names of the groups between replicas.
        world: names of groups of all ranks, which are data parallel if a replica is one rank.
    """

    old: int
    replicas: int
    new_replicas: int
    stride: int
    data_parallel: frozenset[str]
    world: frozenset[str]

    def replica(self, rank: int) -> int:
        """Replica of a rank of the old run."""
        return rank // self.stride % self.replicas

    def new_replica(self, rank: int) -> int:
        """Replica of a rank of the new run."""
        return rank // self.stride % self.new_replicas

    def source(self, rank: int) -> int:
        """Rank of the old run that a rank of the new one does the same as."""
        outside, inside = rank // (self.stride * self.new_replicas), rank % self.stride
        return (outside * self.replicas + self.new_replica(rank) % self.replicas) * self.stride + inside

    def placed(self, rank: Any, replica: int) -> Any:
        """Rank of the new run for one, or many, of the old: the same place in another replica."""
        outside, inside = rank // (self.stride * self.replicas), rank % self.stride
        return (outside * self.new_replicas + replica) * self.stride + inside


def _find_layout(ranks: int, new_ranks: int, groups: CommGroups, data_parallel: Iterable[str] | None) -> _Layout:
    of_all = {name for name, members in groups.groups.items() if len(members) == ranks}
    chosen = set(data_parallel) if data_parallel is not None else _only_of_all(groups, of_all)
    members = []
    for name in sorted(chosen):
        if name not in groups.groups and name not in _ALL_RANKS:
            raise ConfigError(
                f"data_parallel: there is no group '{name}'; there are {', '.join(groups.groups) or 'none'}"
            )
        members.append(sorted(groups.groups.get(name, range(ranks))))
    replicas, stride = _replicas(members, ranks)
    in_replica = ranks // replicas
    if new_ranks % in_replica:
        raise ConfigError(
            f"num_ranks: found {new_ranks}, which is no multiple of the {in_replica} ranks that hold the model once"
        )
    # In a single replica a group of all ranks, if it is not said to be data parallel, is one of the model's.
    world = {*_ALL_RANKS, *(of_all if replicas > 1 or data_parallel is None else ())}
    return _Layout(ranks, replicas, new_ranks // in_replica, stride, frozenset(chosen - world), frozenset(world))


def _only_of_all(groups: CommGroups, of_all: set[str]) -> set[str]:
    others = [name for name in groups.groups if name not in of_all]
    if others:
        raise ConfigError(
            f"there are process groups of some of the ranks ({', '.join(others[:5])}): "
            "which of them are data parallel cannot be told from a trace; name them in data_parallel"
        )
    return {_WORLD}


def _replicas(members: list[list[int]], ranks: int) -> tuple[int, int]:
    """Find the number of replicas, and from a rank to the same one of the next replica."""
    if {rank for group in members for rank in group} != set(range(ranks)):
        raise ConfigError("data_parallel: the groups do not have every rank of the run; name all of them")
    distinct = sorted({tuple(group) for group in members})
    replicas = len(distinct[0])
    if any(len(group) != replicas for group in distinct) or replicas * len(distinct) != ranks:
        raise ConfigError("data_parallel: the groups must have the same number of ranks each, and no rank twice")
    stride = distinct[0][1] - distinct[0][0] if replicas > 1 else ranks
    layout = _Layout(ranks, replicas, replicas, stride, frozenset(), frozenset())
    if any([layout.replica(rank) for rank in group] != list(range(replicas)) for group in distinct) or any(
        np.any(np.diff(group) != stride) for group in distinct
    ):
        raise ConfigError(
            "data_parallel: the ranks of the groups are not at equal distances in all of them, "
            "so that there is no place for more replicas between them"
        )
    return replicas, stride


class _Groups:
    """Groups of the new run, and what a group of an old replica is called in a new one."""

    def __init__(self, layout: _Layout, groups: CommGroups) -> None:
        self.new: dict[str, tuple[int, ...]] = {}
        self._layout = layout
        self._renamed: dict[tuple[str, int], str] = {}
        self._taken = set(groups.groups) | set(_ALL_RANKS)
        inside: dict[int, list[tuple[str, tuple[int, ...]]]] = {}
        for name, ranks in groups.groups.items():
            if name in layout.world:
                self.new[name] = tuple(range(layout.old // layout.replicas * layout.new_replicas))
            elif name in layout.data_parallel:
                first = min(ranks)
                self.new[name] = tuple(int(layout.placed(first, one)) for one in range(layout.new_replicas))
            else:
                inside.setdefault(self._replica_of(name, ranks), []).append((name, ranks))
        for replica in range(layout.new_replicas):
            for name, ranks in inside.get(replica % layout.replicas, ()):
                renamed = name if replica < layout.replicas else self._fresh(name, replica)
                self._renamed[name, replica] = renamed
                self.new[renamed] = tuple(int(layout.placed(rank, replica)) for rank in ranks)

    def name(self, old: str, replica: int) -> str:
        """Name of the group in a new replica."""
        return self._renamed.get((old, replica), old)

    def _replica_of(self, name: str, ranks: tuple[int, ...]) -> int:
        found = {self._layout.replica(rank) for rank in ranks if rank < self._layout.old}
        if len(found) != 1 or max(ranks) >= self._layout.old:
            raise ConfigError(
                f"process group '{name}' has ranks of several replicas and is not data parallel: "
                "what it becomes with more replicas cannot be told"
            )
        return found.pop()

    def _fresh(self, name: str, replica: int) -> str:
        """Give a number where names are numbers, as ASTRA-sim takes them."""
        if all(one.isascii() and one.isdigit() for one in self._taken - {""}):
            fresh = str(max(int(one) for one in self._taken - {""}) + 1)
        else:
            fresh = f"{name} of replica {replica}"
            while fresh in self._taken:
                fresh += "'"
        self._taken.add(fresh)
        return fresh


class _Prepared:
    """A trace of the old run with the sizes of the new one, and what it becomes for each rank that does the same."""

    def __init__(self, trace: Trace, layout: _Layout, groups: _Groups, gathered: Gathered | None) -> None:
        self._layout = layout
        self._groups = groups
        self._trace = _without_groups(trace)
        self._made: dict[tuple[Any, ...], Trace] = {}
        types = self._trace.types
        self._communicates = (types >= NodeType.COMM_SEND_NODE) & (types <= NodeType.COMM_COLL_NODE)
        self._collective = types == NodeType.COMM_COLL_NODE
        self._names = np.array([*self._trace.strings, _WORLD], object)
        self._name_of_row = self._names[self._trace.pg_ids.filled(len(self._names) - 1)]
        self._spans = self._collective & np.isin(
            self._name_of_row.astype(str), sorted(layout.world | layout.data_parallel)
        )
        self._sizes = self._new_sizes(gathered)
        self._used = group_names(self._trace)
        self._peers = [name for name in ("comm_src", "comm_dst") if self._trace.attr(name).count()]

    def for_rank(self, rank: int) -> Trace:
        """Make the trace of a rank of the new run."""
        replica, source = self._layout.new_replica(rank), self._layout.replica(self._layout.source(rank))
        new_names = {name: self._groups.name(name, replica) for name in self._used}
        renamed = tuple(sorted((old, new) for old, new in new_names.items() if old != new))
        peers = {name: self._new_peers(name, source, replica) for name in self._peers}
        key = (renamed, *(values.compressed().tobytes() for values in peers.values()))
        if key not in self._made:
            self._made[key] = self._changed(dict(renamed), peers)
        return self._made[key]

    def _changed(self, renamed: dict[str, str], peers: dict[str, Any]) -> Trace:
        changes: dict[str, Any] = {**peers, "comm_size": self._sizes}
        if renamed:
            new = np.array([renamed.get(name, name) for name in self._names.tolist()], object)
            changed = self._name_of_row != new[self._trace.pg_ids.filled(len(new) - 1)]
            changes["pg_name"] = np.ma.array(new[self._trace.pg_ids.filled(len(new) - 1)], mask=~changed)
        changes = {name: values for name, values in changes.items() if not np.ma.getmaskarray(values).all()}
        return self._trace.with_attrs(changes) if changes else self._trace

    def _new_peers(self, name: str, source: int, replica: int) -> Any:
        """Peers of messages, and roots of collectives, in the new run; masked where they stay the same."""
        layout = self._layout
        values = self._trace.attr(name)
        old: _Integers = values.filled(-1).astype(np.int64)
        known = ~np.ma.getmaskarray(values) & self._communicates & (old >= 0)
        if np.any(old[known] >= layout.old):
            raise ConfigError(f"{name}: found rank {int(old[known].max())} in a run of {layout.old} ranks")
        replicas = old // layout.stride % layout.replicas
        elsewhere = known & ~self._spans & (replicas != source)
        if np.any(elsewhere):
            row = int(np.flatnonzero(elsewhere)[0])
            raise ConfigError(
                f"node {int(self._trace.ids[row])} of replica {source} has its peer in replica {int(replicas[row])} "
                f"({name} {int(old[row])}): with other replicas its partner cannot be told"
            )
        if np.any(known & self._spans & (replicas >= layout.new_replicas)):
            raise ConfigError("a collective between replicas has its root in a replica that the new run does not have")
        in_replica = np.where(self._spans, replicas, replica)
        outside, inside = old // (layout.stride * layout.replicas), old % layout.stride
        new = (outside * layout.new_replicas + in_replica) * layout.stride + inside
        return np.ma.array(new, mask=~(known & (new != old)))

    def _new_sizes(self, gathered: Gathered | None) -> Any:
        """Sizes of collectives between replicas; masked where they stay the same."""
        trace, layout = self._trace, self._layout
        kind = np.where(self._spans, trace.attr("comm_type").filled(-1), -2)
        self._refuse_unsound(kind, gathered)
        old: _Integers = trace.attr("comm_size").filled(0).astype(np.int64)
        new = old.copy()
        if gathered != "batch":
            for name in sorted(layout.world | layout.data_parallel):
                of_group = self._name_of_row == name
                gathers = of_group & (kind == CollectiveType.ALL_GATHER) & (old > 0)
                if not gathers.any():
                    continue
                wholes = np.unique(old[of_group & np.isin(kind, _REDUCE_SCATTERS)])
                members = layout.old if name in layout.world else layout.replicas
                new[gathers] = self._new_shards(old[gathers], wholes, members, name, gathered)
        return np.ma.array(new, mask=new == old)

    def _new_shards(
        self, shards: _Integers, wholes: _Integers, members: int, name: str, gathered: Gathered | None
    ) -> _Integers:
        """Cut the whole in so many shards as the group has members; the last may be padded, as FSDP does."""
        layout = self._layout
        whole = shards * members
        # A whole that the members do not divide was padded: the largest reduce-scatter up to the padded one.
        place = np.searchsorted(wholes, whole, side="right") - 1
        nearest = wholes[np.maximum(place, 0)] if len(wholes) else np.zeros(len(shards), np.int64)
        recognised = (place >= 0) & (nearest > whole - members)
        if gathered is None and not recognised.all():
            size = int(shards[~recognised][0])
            raise ConfigError(
                f"an all-gather of {size} B between replicas (group '{name}') has no reduce-scatter of the same whole: "
                'say whether it collects "shards" of something whose size stays, or parts of the "batch" (gathered)'
            )
        whole = np.where(recognised, nearest, whole)
        new_members = members // layout.replicas * layout.new_replicas
        return -(-whole // new_members)

    def _refuse_unsound(self, kind: Any, gathered: Gathered | None) -> None:
        sound = np.isin(kind, [-2, *_SAME_SIZE, CollectiveType.ALL_GATHER])
        if gathered == "batch":
            sound |= kind == CollectiveType.GATHER
        if not sound.all():
            row = int(np.flatnonzero(~sound)[0])
            known = [one.name for one in CollectiveType if one == kind[row]]
            raise ConfigError(
                f"node {int(self._trace.ids[row])} is a collective between replicas of the kind "
                f"{known[0] if known else int(kind[row])}: how its size depends on their number cannot be told"
                + (' (a gather of parts of the batch can be: gathered="batch")' if known == ["GATHER"] else "")
            )
        dimensions = self._trace.attr("involved_dim")[self._spans]
        if any(not all(one) for one in dimensions.compressed().tolist()):
            raise ConfigError(
                "a collective between replicas leaves out dimensions of the network (involved_dim), "
                "and which those are in a larger network cannot be told"
            )


def _without_groups(trace: Trace) -> Trace:
    """Leave out the nodes in which PyTorch recorded the groups."""
    recorded = np.isin(trace.name_ids, [place for place, text in enumerate(trace.strings) if text == GROUPS_NODE])
    recorded &= trace.types == NodeType.METADATA_NODE
    return trace.contract(~recorded) if recorded.any() else trace
