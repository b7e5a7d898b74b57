# SPDX-License-Identifier: MIT
"""Logs of ASTRA-sim: when each node was issued, and when it called back."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from chakra_core import _core
from chakra_core._core import ChakraError, NodeType, Trace, TraceBuilder

_Column: TypeAlias = "npt.NDArray[np.int64]"

#: issue,sys->id=0, tick=10, node->id=3, node->name=mm, node->type=4, with whatever a logger writes before it. The names
#: before "=" are free in Chakra's format, the type may be missing, and a name may hold commas.
_EVENT = re.compile(
    r"^.*?\b(issue|callback),[^=\n]*=\s*(\d{1,18})\s*,[^=\n]*=\s*(\d{1,18})\s*,[^=\n]*=\s*(\d{1,18})\s*,"
    r"[^=\n]*=[ \t]?([^\n]*?)(?:,[^=\n,]*\btype=(\d{1,9}))?[ \t]*\r?$",
    re.MULTILINE,
)
_HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class AstraLog:
    """What a log of ASTRA-sim says of a run.

    Attributes:
        traces: for each rank the nodes that were issued and called back, with start and duration in ns.
        unfinished: nodes that were issued and did not call back.
        unissued: callbacks of nodes that were not issued, such as those of a log that begins in the middle.
    """

    traces: list[Trace]
    unfinished: int
    unissued: int


def is_astra_log(path: str | os.PathLike[str]) -> bool:
    """Whether the first MiB of a file has a line of an issue or callback."""
    try:
        head = _core.read_head(path, _HEAD_BYTES)
    except (OSError, ChakraError):
        return False
    return _EVENT.search(head.decode("utf-8", "replace")) is not None


def read_astra_log(path: str | os.PathLike[str], *, frequency_ghz: float = 1.0) -> AstraLog:
    """Read the lines of issues and callbacks that ASTRA-sim writes with `trace-enabled`, or Chakra's CSV of them.

    Args:
        path: plain text; other lines are passed over.
        frequency_ghz: ticks in a ns. In ASTRA-sim's analytical backend a tick is a ns.

    Raises:
        ChakraError: the file has no such line, or the frequency is not above 0.
        OSError: the file cannot be read.
    """
    if not frequency_ghz > 0:
        raise ChakraError(f"frequency: found {frequency_ghz}; it must be above 0 (GHz)")
    events = _EVENT.findall(Path(path).read_text(encoding="utf-8", errors="replace"))
    if not events:
        raise ChakraError(
            f"{path}: no line like 'issue,sys->id=0, tick=0, node->id=1, node->name=...'; run ASTRA-sim with "
            '"trace-enabled": 1 in its system file and the level debug for the logger "workload"'
        )
    what, ranks, ticks, ids, names, types = zip(*events, strict=True)
    is_issue = np.array(what) == "issue"
    rank, tick, node = (np.array(column, dtype=np.int64) for column in (ranks, ticks, ids))
    kind = np.array([number or NodeType.COMP_NODE for number in types], dtype=np.int64)
    begin, end = _matched(is_issue, rank, node)
    traces = []
    for number in range(int(rank.max()) + 1):
        mine = rank[begin] == number
        traces.append(_trace_of(begin[mine], end[mine], tick, node, kind, names, frequency_ghz))
    matched = len(begin)
    return AstraLog(traces, int(is_issue.sum()) - matched, int((~is_issue).sum()) - matched)


def _matched(is_issue: npt.NDArray[np.bool_], rank: _Column, node: _Column) -> tuple[_Column, _Column]:
    """Lines of issues that have a callback after them, and those callbacks, in the order of the issues."""
    lines = np.arange(len(rank))
    order = np.lexsort((lines, node, rank))
    first, second = order[:-1], order[1:]
    same = (rank[first] == rank[second]) & (node[first] == node[second])
    pairs = same & is_issue[first] & ~is_issue[second]
    begin, end = first[pairs], second[pairs]
    by_line = np.argsort(begin)
    return begin[by_line], end[by_line]


def _trace_of(
    begin: _Column,
    end: _Column,
    tick: _Column,
    node: _Column,
    kind: _Column,
    names: tuple[Any, ...],
    frequency_ghz: float,
) -> Trace:
    # A node that was issued twice is drawn twice, and ids must differ.
    ids = node[begin]
    if len(np.unique(ids)) < len(ids):
        ids = np.arange(len(ids))
    start, stop = (np.floor(tick[lines] / frequency_ghz).astype(np.int64) for lines in (begin, end))
    builder = TraceBuilder()
    if len(ids):
        builder.add_nodes(
            ids=ids,
            types=kind[begin],
            names=[names[line] for line in begin.tolist()],
            start_ns=start,
            duration_ns=np.maximum(stop - start, 0),
            attrs={"logged": np.ones(len(ids), bool)},
        )
    return builder.build()
