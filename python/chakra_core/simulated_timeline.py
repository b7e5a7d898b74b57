# SPDX-License-Identifier: MIT
"""A simulation as a picture: nodes on lanes, arrows from sends to receives, and how busy the network was."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from chakra_core import _core
from chakra_core._core import NodeType, Progress, Trace
from chakra_core.config import Network

_Rows: TypeAlias = npt.NDArray[np.intp]

# Far below what a picture shows; the sums of rates that cancel out leave less.
_DECIMALS = 6


def write_simulated_timeline(
    native: _core.SimulationResult,
    traces: list[Trace],
    network: Network,
    path: str | os.PathLike[str],
    progress: Progress | None,
) -> None:
    """Write what the core found; see `Result.to_perfetto`."""
    nothing = native.RESOURCES.index("none")
    drawn = []
    processes = []
    for rank, (trace, completed) in enumerate(zip(traces, completed_rows(native), strict=True)):
        # Without recorded nodes nothing says where they ran.
        rows = completed[native.resources_of(rank)[completed] != nothing] if len(completed) else completed
        lanes, track = np.unique(native.lanes_of(rank)[rows] if len(rows) else rows, return_inverse=True)
        places = rows + int(native.first_node[rank])
        names = [native.lanes[lane] for lane in lanes]
        start, end = native.node_start_ns[places], native.node_end_ns[places]
        processes.append(
            _core.TimelineProcess(f"rank {rank}", names, trace, rows=rows, track=track, start_ns=start, end_ns=end)
        )
        drawn.append(rows)
    flows = _flows(native, traces, drawn)
    _core.write_timeline(processes, path, flows=flows, counters=_counters(native, network), progress=progress)


def completed_rows(native: _core.SimulationResult) -> list[_Rows]:
    """Rows of each rank's nodes that ended and were recorded."""
    ends = native.node_end_ns
    bounds = pairwise(native.first_node.tolist())
    return [np.flatnonzero(ends[low:high] != native.NEVER_ENDED) for low, high in bounds]


def node_places(native: _core.SimulationResult, rows: list[_Rows]) -> _Rows:
    """Where these rows of each rank are in the node columns."""
    firsts = native.first_node.astype(np.intp)
    parts = [first + mine for first, mine in zip(firsts[:-1], rows, strict=True)]
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])


def _flows(native: _core.SimulationResult, traces: list[Trace], drawn: list[_Rows]) -> npt.NDArray[np.uint32]:
    """Arrows: rank and slice of each send, rank and slice of its receive; shape (messages, 4)."""
    sends = _messages(native, traces, drawn, NodeType.COMM_SEND_NODE)
    receives = _messages(native, traces, drawn, NodeType.COMM_RECV_NODE)
    # Of one source, destination, tag and size the k-th that began belongs to the k-th.
    at_send, at_receive = _matches(_numbered(sends[:, :4]), _numbered(receives[:, :4]))
    return np.concatenate([sends[at_send, 4:], receives[at_receive, 4:]], axis=1).astype(np.uint32)


def _messages(
    native: _core.SimulationResult, traces: list[Trace], drawn: list[_Rows], kind: NodeType
) -> npt.NDArray[np.int64]:
    """Source, destination, tag, size, rank and slice of each message node, by its start."""
    parts, starts = [np.empty((0, 6), dtype=np.int64)], [np.empty(0, dtype=np.uint64)]
    for rank, (trace, drawn_rows) in enumerate(zip(traces, drawn, strict=True)):
        slices = np.flatnonzero(trace.types[drawn_rows] == kind)
        if len(slices) == 0:
            continue
        rows = drawn_rows[slices]
        own = np.full(len(rows), rank, dtype=np.int64)
        peer = (
            trace.attr("comm_dst" if kind == NodeType.COMM_SEND_NODE else "comm_src")[rows].filled(0).astype(np.int64)
        )
        ends = [own, peer] if kind == NodeType.COMM_SEND_NODE else [peer, own]
        values = [trace.attr(name)[rows].filled(0).astype(np.int64) for name in ("comm_tag", "comm_size")]
        parts.append(np.stack([*ends, *values, own, slices], axis=1))
        starts.append(native.node_start_ns[rows + int(native.first_node[rank])])
    return np.concatenate(parts)[np.argsort(np.concatenate(starts), kind="stable")]


def _numbered(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Keys with the number of equal ones before each as another column."""
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], group[order])
    number = np.empty(len(keys), dtype=np.int64)
    number[order] = np.arange(len(keys)) - first
    return np.column_stack([keys, number])


def _matches(ours: npt.NDArray[np.int64], theirs: npt.NDArray[np.int64]) -> tuple[_Rows, _Rows]:
    """Places of the rows, unique in each table, that both tables have."""
    both = np.concatenate([ours, theirs])
    order = np.lexsort(both.T[::-1])
    same = np.flatnonzero((both[order[1:]] == both[order[:-1]]).all(axis=1))
    # Sorting is stable: the row of the first table comes first.
    return order[same], order[same + 1] - len(ours)


def _counters(native: _core.SimulationResult, network: Network) -> list[_core.TimelineCounter]:
    """How much of each dimension's links was in use, in %."""
    counters = []
    for number, (times, percent) in dimension_use(native).items():
        name = f"dimension {number}, {network.topology[number]} of {network.npus[number]}"
        counters.append(_core.TimelineCounter("network", name, "%", time_ns=times, value=percent))
    return counters


def dimension_use(
    native: _core.SimulationResult,
) -> dict[int, tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]]:
    """Find when the use of each dimension's links changes, and how much it is from then on, in %.

    Dimensions that nothing used are not there. What a collective or a message put on a dimension is spread evenly over
    the time in which it used it.
    """
    activity, dimensions = native.activity, native.dimensions
    lasts = activity["end_ns"] > activity["start_ns"]
    found = {}
    for number in np.unique(activity["dimension"][lasts]).tolist():
        here = lasts & (activity["dimension"] == number)
        start, end = activity["start_ns"][here], activity["end_ns"][here]
        ns_per_byte = dimensions["busy_ns"][number] / dimensions["link_bytes"][number]
        percent = 100 * activity["link_bytes"][here] * ns_per_byte / (end - start) / dimensions["links"][number]
        found[number] = _sum_of_steps(start, end, percent)
    return found


def _sum_of_steps(
    start: npt.NDArray[np.uint64], end: npt.NDArray[np.uint64], height: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]:
    """Return the times at which the sum of values, each of which lasts from start to end, changes, and the sums."""
    times, place = np.unique(np.concatenate([start, end]), return_inverse=True)
    change = np.bincount(place.reshape(-1), weights=np.concatenate([height, -height]), minlength=len(times))
    sums = np.round(np.maximum(np.cumsum(change), 0), _DECIMALS)
    return times.astype(np.uint64), sums.astype(np.float64)
