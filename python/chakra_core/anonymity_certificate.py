# SPDX-License-Identifier: MIT
"""What anonymising a run took away, and what it did to the time of a step."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chakra_core._core import ChakraError, Trace
from chakra_core.altered_numbers import Alteration
from chakra_core.config import CommGroups, Network, System
from chakra_core.output import complete_file
from chakra_core.several import concat, diff
from chakra_core.step_times import Communication, reference_networks, reference_system, step_time
from chakra_core.trace_source import PathLike

#: Attributes of public tools, which a certificate may name; others are only counted.
_PUBLIC_ATTRIBUTES = frozenset(
    {
        *("is_cpu_op", "num_ops", "tensor_size", "comm_type", "comm_size", "comm_priority", "comm_src", "comm_dst"),
        *("comm_tag", "comm_seq", "pg_name", "involved_dim", "stream", "tid", "device", "piece", "op", "rf_id"),
        *("fw_parent", "seq_id", "scope", "fw_tid", "op_schema", "exclusive_ns", "inclusive_ns", "host_id"),
    }
)
_GRAPH = ("type", "data_deps", "ctrl_deps")
#: Counted as times of the node.
_TIMES = ("start_ns", "duration_ns")
_OTHER = "other attributes"
#: Drifts are told in steps of this, upwards: an exact one beside the new time would give the old time away.
_DRIFT_STEP = 1e-4


@dataclass(frozen=True)
class Drift:
    """By how much the step time on one network moved.

    Attributes:
        total_ns: of the anonymised run.
        share: at most this share of the original's time, in steps of 0.0001.
        communication: "recorded" where the network cannot be simulated, because ranks or groups are missing.
    """

    total_ns: int
    share: float
    communication: Communication


@dataclass(frozen=True)
class Certificate:
    """What anonymising a run took away; nothing in it is a text of the input.

    Attributes:
        ranks: of the run.
        nodes: of all different traces, as the following counts.
        changed: nodes that have something removed or changed, by field.
        other_attributes: values removed of attributes that no public tool is known to write.
        different_names: different names of nodes before.
        different_groups: groups that got another name.
        metadata_attributes: attributes of files that were removed.
        quantise: largest share by which numbers were rounded.
        perturb: largest share by which they were then moved.
        largest_change: the largest change of any size or duration that there was, as a share of it.
        step_time_bound: the most that a step time was allowed to move.
        drifts: how much it moved, by network; empty if nothing can be simulated, not even with recorded communication.
    """

    ranks: int
    nodes: int
    changed: Mapping[str, int]
    other_attributes: int
    different_names: int
    different_groups: int
    metadata_attributes: int
    quantise: float
    perturb: float
    largest_change: float
    step_time_bound: float
    drifts: Mapping[str, Drift]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values for JSON."""
        facts = dict(self.__dict__)
        facts["changed"] = dict(self.changed)
        facts["drifts"] = {name: dict(drift.__dict__) for name, drift in self.drifts.items()}
        return facts

    @property
    def text(self) -> str:
        """All of it for people, several lines."""
        lines = [
            f"{self.ranks} ranks, {self.nodes:,} nodes in different traces; types and dependencies are the same",
            f"names: {self.different_names:,} different ones replaced by classes",
            f"process groups: {self.different_groups:,} renamed",
            f"metadata: {self.metadata_attributes:,} attributes removed",
            *(f"{field}: removed or changed in {count:,} nodes" for field, count in self.changed.items()),
            f"{_OTHER}: {self.other_attributes:,} values removed",
            f"sizes and times: rounded by at most {self.quantise:.2%}, then moved by at most {self.perturb:.2%}; "
            f"the largest change is {self.largest_change:.2%}",
        ]
        lines += [
            f"step time on {name}: {drift.total_ns:,} ns, moved by at most {drift.share:.2%} "
            f"(allowed: {self.step_time_bound:.2%}; communication {drift.communication})"
            for name, drift in self.drifts.items()
        ]
        if not self.drifts:
            lines.append("step time: not compared, because the original cannot be simulated")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def save(self, path: PathLike) -> None:
        """Write it as JSON to `path`, and as text beside it, with the ending .txt.

        Raises:
            OSError: a file cannot be written.
        """
        with complete_file(path) as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")
        with complete_file(Path(path).with_suffix(".txt")) as file:
            file.write(self.text + "\n")


def certify(
    before: Sequence[Trace],
    groups_before: CommGroups,
    after: Sequence[Trace],
    groups_after: CommGroups,
    alteration: Alteration,
    networks: Mapping[str, Network | Mapping[str, Any] | PathLike] | None,
    step_time_bound: float,
) -> Certificate:
    """Compare a run with what was made of it.

    Raises:
        ChakraError: the graph is not the same, or a step time moved by more than the bound.
        ConfigError: a network does not fit the number of ranks.
    """
    pairs = list({id(old): (old, new) for old, new in zip(before, after, strict=True)}.values())
    changed: Counter[str] = Counter()
    for old, new in pairs:
        changed += _changes(old, new)
    others = changed.pop(_OTHER, 0)
    return Certificate(
        ranks=len(before),
        nodes=sum(len(old) for old, _ in pairs),
        changed=dict(sorted(changed.items())),
        other_attributes=others,
        different_names=len({text for old, _ in pairs for text in _names(old)}),
        different_groups=len(groups_before.groups.keys() - groups_after.groups.keys()),
        metadata_attributes=sum(len(old.metadata.attributes) - len(new.metadata.attributes) for old, new in pairs),
        quantise=alteration.quantise,
        perturb=alteration.perturb,
        largest_change=max((_largest_change(old, new) for old, new in pairs), default=0.0),
        step_time_bound=step_time_bound,
        drifts=_drifts(before, groups_before, after, groups_after, networks, step_time_bound),
    )


def _names(trace: Trace) -> list[str]:
    strings = trace.strings
    return [strings[position] for position in np.unique(trace.name_ids).tolist()]


def _changes(old: Trace, new: Trace) -> Counter[str]:
    """Count the nodes that differ by field, with ids matched by their order."""
    renumbered = concat([old.select(np.argsort(old.ids))])
    difference = diff(renumbered, new, limit=0)
    fields = difference.changed_fields
    if difference.only_in_first or difference.only_in_second or any(field in fields for field in _GRAPH):
        raise ChakraError("anonymising changed the graph, which it must not; please report this")
    changed: Counter[str] = Counter()
    for field, count in fields.items():
        name = field.removeprefix("attrs.")
        if name == field or name in _PUBLIC_ATTRIBUTES:
            changed[name] += count
        elif name not in _TIMES:
            changed[_OTHER] += count
    return changed


def _largest_change(old: Trace, new: Trace) -> float:
    largest = _largest_share(old.duration_ns, new.duration_ns)
    for name in ("num_ops", "tensor_size", "comm_size"):
        largest = max(largest, _largest_share(old.attr(name).compressed(), new.attr(name).compressed()))
    return largest


def _largest_share(old: Any, new: Any) -> float:
    moved = np.flatnonzero(old != new)
    if len(moved) == 0:
        return 0.0
    before, now = old[moved], new[moved]
    # The difference of integers, because that of two floats may be 0 or far too large.
    steps = np.where(now > before, now - before, before - now).astype(np.float64)
    return float(np.max(steps / np.abs(before.astype(np.float64))))


def _drifts(
    before: Sequence[Trace],
    groups_before: CommGroups,
    after: Sequence[Trace],
    groups_after: CommGroups,
    networks: Mapping[str, Network | Mapping[str, Any] | PathLike] | None,
    bound: float,
) -> dict[str, Drift]:
    chosen = reference_networks(len(before)) if networks is None else networks
    system = reference_system(before)
    drifts = {}
    for name, network in chosen.items():
        drift = _drift(before, groups_before, after, groups_after, Network.coerce(network), system)
        if drift is None:
            continue
        total_ns, share, communication = drift
        if share > bound:
            raise ChakraError(
                f"the simulated step time on the network '{name}' moved by {share:.3%}, allowed is {bound:.3%}; "
                "change numbers by less, draw again, or allow more with step_time_bound"
            )
        # Not beyond the bound, which it is known not to exceed.
        told = min(math.ceil(share / _DRIFT_STEP) * _DRIFT_STEP, max(bound, share))
        drifts[name] = Drift(total_ns, round(told, 6), communication)
    return drifts


def _drift(
    before: Sequence[Trace],
    groups_before: CommGroups,
    after: Sequence[Trace],
    groups_after: CommGroups,
    network: Network,
    system: System,
) -> tuple[int, float, Communication] | None:
    old = step_time(before, network, system=system, comm_groups=groups_before)
    if old is None:
        return None
    new = step_time(after, network, system=system, comm_groups=groups_after)
    if new is None or new.communication != old.communication:
        raise ChakraError("the anonymised run cannot be simulated as the original can; please report this")
    share = abs(new.total_ns - old.total_ns) / max(old.total_ns, 1)
    return new.total_ns, share, old.communication
