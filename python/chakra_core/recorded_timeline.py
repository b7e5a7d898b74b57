# SPDX-License-Identifier: MIT
"""Timeline of recorded traces, without simulating them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chakra_core import _core
from chakra_core._core import ChakraError, NodeType, Progress, Trace
from chakra_core.astra_log import is_astra_log, read_astra_log
from chakra_core.rank_traces import RankTraces, load_ranks

# Kinds of track, in the order drawn.
_THREAD, _STREAM, _OTHER = 0, 1, 2


def timeline(
    traces: RankTraces,
    path: str | os.PathLike[str],
    *,
    frequency_ghz: float = 1.0,
    progress: Progress | None = None,
) -> None:
    """Write recorded start times and durations as a timeline that opens in Perfetto (ui.perfetto.dev).

    Each trace becomes a group with a track for each thread (`tid`) and device stream (`stream`); nodes with neither get
    one for their type. Nodes without a recorded time are left out. Time 0 is the earliest start of all traces.

    Args:
        traces: a path, a Trace, a name with %d ("run.%d.et"), a glob, or several in rank order; or the path of a log
            of ASTRA-sim, see `chakra_core.read_astra_log`.
        path: a name ending in `.json` or `.json.gz` gives Chrome JSON, any other Perfetto's protobuf; `.gz` compresses.
        frequency_ghz: ticks in a ns, for logs.
        progress: counts nodes.

    Raises:
        ChakraError: no node has a recorded time.
        ConfigError, FormatError, DependencyError, OSError: a trace cannot be found or read, or the file not written.
    """
    if isinstance(traces, str | os.PathLike) and Path(traces).is_file() and is_astra_log(traces):
        loaded = read_astra_log(traces, frequency_ghz=frequency_ghz).traces
    else:
        loaded = load_ranks(traces)
    rows = [_recorded_rows(trace) for trace in loaded]
    starts = [trace.start_ns[drawn] for trace, drawn in zip(loaded, rows, strict=True)]
    recorded = [start.min() for start in starts if start.size]
    if not recorded:
        raise ChakraError(f"{loaded[0].source or 'trace'}: no node has a recorded time; simulate it to get a timeline")
    origin = min(recorded)
    processes = []
    for rank, (trace, drawn, start) in enumerate(zip(loaded, rows, starts, strict=True)):
        tracks, track = _tracks(trace, drawn)
        begin = start - origin
        processes.append(
            _core.TimelineProcess(
                f"rank {rank}",
                tracks,
                trace,
                rows=drawn,
                track=track,
                start_ns=begin,
                end_ns=begin + trace.duration_ns[drawn],
            )
        )
    _core.write_timeline(processes, path, progress=progress)


def _recorded_rows(trace: Trace) -> npt.NDArray[np.intp]:
    """Rows with a recorded time; in a log that is all, for a node may begin and end at 0."""
    logged = ~np.ma.getmaskarray(trace.attr("logged"))
    return np.flatnonzero((trace.start_ns > 0) | (trace.duration_ns > 0) | logged)


def _tracks(trace: Trace, rows: npt.NDArray[np.intp]) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Names of the tracks of these rows, and each row's track."""
    stream, tid = trace.attr("stream")[rows], trace.attr("tid")[rows]
    on_host = trace.attr("is_cpu_op")[rows].filled(False).astype(bool)
    has_stream = ~np.ma.getmaskarray(stream) & ~on_host
    has_thread = ~np.ma.getmaskarray(tid) & ~has_stream
    kind = np.select([has_thread, has_stream], [_THREAD, _STREAM], _OTHER)
    number = np.select([has_thread, has_stream], [tid.filled(0), stream.filled(0)], trace.types[rows].astype(np.int64))
    keys, track = np.unique(np.stack([kind, number], axis=1), axis=0, return_inverse=True)
    return [_track_name(key[0], key[1]) for key in keys.tolist()], track.reshape(-1)


def _track_name(kind: int, number: int) -> str:
    if kind == _THREAD:
        return f"thread {number}"
    if kind == _STREAM:
        return f"stream {number}"
    known = {int(node_type): node_type.name for node_type in NodeType}
    return known.get(number, f"NODE_TYPE_{number}")
