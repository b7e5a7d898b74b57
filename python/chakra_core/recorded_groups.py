# SPDX-License-Identifier: MIT
"""Process groups that PyTorch recorded in a trace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chakra_core._core import ConfigError, NodeType, Trace
from chakra_core.config import CommGroups

_ALL_RANKS = {"", "0"}
#: Name of the METADATA nodes in which PyTorch lists the groups.
GROUPS_NODE = "## process_group:init ##"


def recorded_groups(traces: Iterable[Trace]) -> CommGroups:
    """Collect the groups that the traces' nodes named "## process_group:init ##" list.

    Groups without ranks are left out: PyTorch writes none where all ranks are meant.

    Raises:
        ConfigError: two traces give one name to different ranks, or a list cannot be read.
    """
    groups: dict[str, tuple[int, ...]] = {}
    for trace in {id(trace): trace for trace in traces}.values():
        for name, ranks in _groups_of(trace).items():
            if groups.setdefault(name, ranks) != ranks:
                raise ConfigError(
                    f"{_source(trace)}: process group '{name}' has ranks {list(ranks)} here and "
                    f"{list(groups[name])} in another trace; give comm_groups"
                )
    return CommGroups(groups=groups)


def used_recorded_groups(traces: Sequence[Trace]) -> CommGroups:
    """Collect those of the recorded groups that nodes name in `pg_name`; "" and "0" always mean all ranks.

    Raises:
        ConfigError: as `recorded_groups`.
    """
    recorded = recorded_groups(traces).groups
    used = {name for trace in {id(trace): trace for trace in traces}.values() for name in group_names(trace)}
    return CommGroups(groups={name: ranks for name, ranks in recorded.items() if name in used - _ALL_RANKS})


def group_names(trace: Trace) -> list[str]:
    """Names of groups that nodes of a trace have, each once."""
    strings = trace.strings
    return [strings[position] for position in np.unique(trace.pg_ids.compressed()).tolist()]


def _groups_of(trace: Trace) -> dict[str, tuple[int, ...]]:
    groups: dict[str, tuple[int, ...]] = {}
    for row in np.flatnonzero(trace.types == NodeType.METADATA_NODE).tolist():
        node = trace.at(row)
        if node.name == GROUPS_NODE:
            groups |= _parse(node.inputs.values, trace)
    return groups


def _parse(text: str, trace: Trace) -> dict[str, tuple[int, ...]]:
    """Read the JSON list of groups, which stands in quotes or in a list of one text."""
    start, end = text.find("[{"), text.rfind("}]")
    if start < 0 or end < start:
        return {}
    quoted = text[start : end + 2]
    try:
        entries: list[dict[str, Any]] = json.loads(quoted if '\\"' not in quoted else quoted.replace('\\"', '"'))
        return {str(entry["pg_name"]): tuple(map(int, entry["ranks"])) for entry in entries if entry["ranks"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(
            f"{_source(trace)}: cannot read the process groups of node '{GROUPS_NODE}' ({error}); give comm_groups"
        ) from None


def _source(trace: Trace) -> str:
    return trace.source or "trace"
