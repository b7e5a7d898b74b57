# SPDX-License-Identifier: MIT
"""How alike two runs are, in figures that are 0 for the same run. `docs/similarity.md` has the formulas."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from chakra_core._core import NodeType, Trace
from chakra_core.config import CommGroups, Network
from chakra_core.distribution_distances import (
    Sample,
    earth_movers_distance,
    maximum_mean_discrepancy,
    total_variation,
)
from chakra_core.node_classes import NODE_CLASSES, node_classes
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.recorded_groups import used_recorded_groups
from chakra_core.step_times import StepTime, reference_networks, reference_system, step_time
from chakra_core.trace_source import PathLike

_Groups: TypeAlias = "CommGroups | Mapping[str, Any] | PathLike | None"
_Networks: TypeAlias = "Mapping[str, Network | Mapping[str, Any] | PathLike] | None"
_Distance: TypeAlias = Callable[[Sample, Sample], float]


@dataclass(frozen=True)
class ClassDistance:
    """How one class of nodes differs.

    Attributes:
        shares: of the class among the nodes of each run.
        sizes: earth mover's distance of sizes, in factors of two; None if one of the runs has no sizes there.
        durations: the same of durations above 0.
    """

    shares: tuple[float, float]
    sizes: float | None
    durations: float | None


@dataclass(frozen=True)
class Similarity:
    """How two runs differ; every figure is 0 or more, 0 for a run and itself, and the same both ways round.

    Attributes:
        metrics: by name; None where one of the runs has nothing to compare. Names and formulas: `docs/similarity.md`.
        classes: by the class of nodes.
        step_times: both step times on each network, None where a run cannot be simulated.
    """

    metrics: Mapping[str, float | None]
    classes: Mapping[str, ClassDistance]
    step_times: Mapping[str, tuple[StepTime | None, StepTime | None]]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values for JSON."""
        return {
            "metrics": dict(self.metrics),
            "classes": {name: dict(distance.__dict__) for name, distance in self.classes.items()},
            "step_times": {
                name: [None if one is None else one._asdict() for one in both] for name, both in self.step_times.items()
            },
        }

    @property
    def text(self) -> str:
        """All metrics for people, one a line."""
        width = max(map(len, self.metrics))
        return "\n".join(
            f"{name:<{width}}  {'not comparable' if value is None else f'{value:.4f}'}"
            for name, value in self.metrics.items()
        )

    def __str__(self) -> str:
        return self.text


def similarity(
    a: RankTraces,
    b: RankTraces,
    *,
    comm_groups: _Groups = None,
    other_comm_groups: _Groups = None,
    ranks: int | None = None,
    networks: _Networks = None,
) -> Similarity:
    """Compare two runs by the distributions of what they consist of, and by their simulated step times.

    Neither names nor ids matter. The nodes of all ranks of a run are taken together.

    Args:
        a: a run, as `simulate` takes it, or a single trace.
        b: the other; it may have another number of ranks.
        comm_groups: ranks of the groups of `a`; by default those that PyTorch recorded in the traces.
        other_comm_groups: the same of `b`; by default `comm_groups`.
        ranks: if given, a run of one trace stands for so many ranks that are alike.
        networks: where step times are compared, by name; by default `reference_networks` of each run's ranks.

    Raises:
        ConfigError: ranks are missing, or a network does not fit the number of ranks of a run.
        FormatError, OSError: a trace cannot be read.
    """
    one = _Run.load(a, comm_groups, ranks)
    other = _Run.load(b, comm_groups if other_comm_groups is None else other_comm_groups, ranks)
    classes = _class_distances(one, other)
    times = _step_times(one, other, networks)
    metrics = {
        "type mix": total_variation(one.class_weights(), other.class_weights()),
        "sizes": _mean_over_classes(classes, lambda distance: distance.sizes),
        "durations": _mean_over_classes(classes, lambda distance: distance.durations),
        "parents": _compared(maximum_mean_discrepancy, one.parents(), other.parents()),
        "children": _compared(maximum_mean_discrepancy, one.children(), other.children()),
        "level widths": _compared(maximum_mean_discrepancy, one.level_widths(), other.level_widths()),
        "critical path": _factors_of_two(one.critical_path_ns(), other.critical_path_ns()),
        "compute : communication": _factors_of_two(one.compute_by_communication(), other.compute_by_communication()),
        "step time": _mean(
            _factors_of_two(float(mine.total_ns), float(theirs.total_ns)) if mine and theirs else None
            for mine, theirs in times.values()
        ),
        "communication share": _mean(
            abs(mine.communication_share - theirs.communication_share) if mine and theirs else None
            for mine, theirs in times.values()
        ),
    }
    return Similarity(metrics, classes, times)


class _Weighted(NamedTuple):
    trace: Trace
    ranks: int


class _Run:
    """The different traces of a run, and the figures of all its nodes together."""

    def __init__(self, traces: list[Trace], groups: CommGroups) -> None:
        self.traces = traces
        self.groups = groups
        distinct = {id(trace): trace for trace in traces}
        counts = Counter(map(id, traces))
        self._parts = [_Weighted(trace, counts[key]) for key, trace in distinct.items()]
        self._classes = [node_classes(part.trace) for part in self._parts]
        self._stats = [part.trace.stats() for part in self._parts]

    @classmethod
    def load(cls, traces: RankTraces, comm_groups: _Groups, ranks: int | None) -> _Run:
        loaded = load_ranks(traces)
        if ranks is not None and len(loaded) == 1:
            loaded = loaded * ranks
        groups = used_recorded_groups(loaded) if comm_groups is None else CommGroups.coerce(comm_groups)
        return cls(loaded, groups)

    def class_weights(self) -> Any:
        weights = np.zeros(len(NODE_CLASSES))
        for part, classes in zip(self._parts, self._classes, strict=True):
            weights += part.ranks * np.bincount(classes, minlength=len(NODE_CLASSES))
        return weights

    def sizes(self, number: int) -> Sample:
        """Logarithms of `comm_size` of communication and of `tensor_size` of all else, where nodes have it."""
        return self._logarithms(number, _size_of_rows)

    def durations(self, number: int) -> Sample:
        """Logarithms of durations, where nodes have one."""
        return self._logarithms(number, lambda trace: (trace.duration_ns, trace.duration_ns > 0))

    def _logarithms(self, number: int, column: Callable[[Trace], tuple[Any, Any]]) -> Sample:
        def of_part(trace: Trace, classes: Any) -> Any:
            values, present = column(trace)
            return values[present & (classes == number)]

        return self._pooled([of_part(part.trace, one) for part, one in zip(self._parts, self._classes, strict=True)])

    def _pooled(self, values: Sequence[Any]) -> Sample:
        """Logarithms (base 2, of one more) of the parts' numbers, each as often as ranks share the part."""
        weights = [np.full(len(one), part.ranks) for part, one in zip(self._parts, values, strict=True)]
        return Sample.of(np.log2(1 + np.concatenate(values).astype(np.float64)), np.concatenate(weights))

    def parents(self) -> Sample:
        return self._pooled(
            [np.diff(part.trace.data_deps.offsets) + np.diff(part.trace.ctrl_deps.offsets) for part in self._parts]
        )

    def children(self) -> Sample:
        return self._pooled([np.diff(part.trace.children.offsets) for part in self._parts])

    def level_widths(self) -> Sample | None:
        if not all(stats.acyclic for stats in self._stats):
            return None
        return self._pooled([np.bincount(stats.levels) for stats in self._stats])

    def critical_path_ns(self) -> float | None:
        paths = [stats.critical_path_ns for stats in self._stats]
        return None if None in paths else float(max(path for path in paths if path is not None))

    def compute_by_communication(self) -> float:
        """Time of computation in ns for each byte communicated, of all ranks; both with 1 added."""
        computed = communicated = 0.0
        for part in self._parts:
            types = part.trace.types
            computed += part.ranks * float(part.trace.duration_ns[types == NodeType.COMP_NODE].sum(dtype=np.float64))
            sizes = part.trace.attr("comm_size").filled(0)[_communicates(types)]
            communicated += part.ranks * float(sizes.sum(dtype=np.float64))
        return (1 + computed) / (1 + communicated)


def _communicates(types: Any) -> Any:
    return (types >= NodeType.COMM_SEND_NODE) & (types <= NodeType.COMM_COLL_NODE)


def _size_of_rows(trace: Trace) -> tuple[Any, Any]:
    communication, tensor = trace.attr("comm_size"), trace.attr("tensor_size")
    communicates = _communicates(trace.types)
    sizes = np.where(communicates, communication.filled(0), tensor.filled(0))
    absent = np.where(communicates, np.ma.getmaskarray(communication), np.ma.getmaskarray(tensor))
    return np.maximum(sizes, 0), ~absent


def _compared(distance: _Distance, one: Sample | None, other: Sample | None) -> float | None:
    if one is None or other is None or len(one.values) == 0 or len(other.values) == 0:
        return None
    return distance(one, other)


def _class_distances(one: _Run, other: _Run) -> dict[str, ClassDistance]:
    weights = one.class_weights(), other.class_weights()
    mine, theirs = (of_run / max(of_run.sum(), 1.0) for of_run in weights)
    return {
        NODE_CLASSES[number]: ClassDistance(
            (float(mine[number]), float(theirs[number])),
            _compared(earth_movers_distance, one.sizes(number), other.sizes(number)),
            _compared(earth_movers_distance, one.durations(number), other.durations(number)),
        )
        for number in np.flatnonzero(weights[0] + weights[1]).tolist()
    }


def _mean_over_classes(
    classes: Mapping[str, ClassDistance], figure: Callable[[ClassDistance], float | None]
) -> float | None:
    """Mean of what both runs have, weighted by the shares of the classes in both."""
    known = [(sum(one.shares), value) for one in classes.values() if (value := figure(one)) is not None]
    if not known:
        return None
    return sum(weight * value for weight, value in known) / sum(weight for weight, _ in known)


def _factors_of_two(one: float | None, other: float | None) -> float | None:
    """How often one must be doubled to be the other; times of 0 count as 1 ns."""
    if one is None or other is None:
        return None
    # A ratio may be far below 1; only what is exactly 0 has no logarithm.
    return abs(math.log2(one or 1.0) - math.log2(other or 1.0))


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _step_times(one: _Run, other: _Run, networks: _Networks) -> dict[str, tuple[StepTime | None, StepTime | None]]:
    system = reference_system([*one.traces, *other.traces])
    mine, theirs = (
        reference_networks(len(run.traces))
        if networks is None
        else {name: Network.coerce(network) for name, network in networks.items()}
        for run in (one, other)
    )
    return {
        name: (
            step_time(one.traces, mine[name], system=system, comm_groups=one.groups),
            step_time(other.traces, theirs[name], system=system, comm_groups=other.groups),
        )
        for name in mine
    }
