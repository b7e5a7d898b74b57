# SPDX-License-Identifier: MIT
"""PyTorch records: joining host and device traces, and turning them into an execution trace."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

from chakra_core import _core
from chakra_core._core import LinkedTrace, Progress, ReplayReport, Trace

Layout: TypeAlias = Literal["exact", "ops"]
_Path: TypeAlias = "str | os.PathLike[str]"


def link(
    host: _Path | None = None,
    device: _Path | None = None,
    *,
    rank: int | None = None,
    on_error: Literal["strict", "recover"] = "strict",
    progress: Progress | None = None,
    threads: int = 0,
) -> LinkedTrace:
    """Join a host trace (PyTorch's ExecutionTraceObserver) with a device trace (Kineto) of the same run.

    Args:
        host: the host trace, plain, gzip or zstd JSON; None works from the device trace alone.
        device: the device trace, plain, gzip or zstd JSON; None works from the host trace alone.
        rank: the rank; by default what the device trace says.
        on_error: "strict" raises at the first problem; "recover" keeps what can be used and counts the rest.
        progress: counts the bytes of the files as they lie on disk.
        threads: 1 reads one file after the other; 0, the default, both at the same time.

    Returns:
        The joined record; its `report` tells how much of both sides was matched.

    Raises:
        LinkError: the two do not belong together, with what to change in the collection.
        FormatError, OSError: a file cannot be read.
    """
    return _core.link(host, device, rank=rank, on_error=on_error, progress=progress, threads=threads)


def load_linked(
    path: _Path,
    *,
    rank: int | None = None,
    on_error: Literal["strict", "recover"] = "strict",
    progress: Progress | None = None,
) -> LinkedTrace:
    """Read a linked trace: what `LinkedTrace.save` wrote, or the JSON that Chakra's `chakra_trace_link` writes.

    Args:
        path: the file, plain, gzip or zstd.
        rank: the rank; by default what the file says.
        on_error: what is done with damage of the file; see `link`.
        progress: counts the bytes of the file as they lie on disk.

    Returns:
        The joined record. `convert` makes the same of it as of the one that was saved. That of another linker has times
        of nodes only, so `convert` makes the layout "ops" of it whatever was asked for.

    Raises:
        LinkError: the file is no linked trace, or one of an unknown version.
        FormatError, OSError: the file cannot be read.
    """
    return _core.load_linked(path, rank=rank, on_error=on_error, progress=progress)


def convert(
    linked: LinkedTrace | _Path | None = None,
    *,
    host: _Path | None = None,
    device: _Path | None = None,
    rank: int | None = None,
    layout: Layout = "exact",
    memory_nodes: bool = False,
    on_error: Literal["strict", "recover"] = "strict",
    threads: int = 0,
) -> Trace:
    """Turn PyTorch records into an execution trace.

    Args:
        linked: what `link` returned, or the path of a saved linked trace (see `load_linked`); or give `host`, `device`
            or both, which are linked first.
        host: see `link`.
        device: see `link`.
        rank: see `link`.
        layout: "exact" replays to the recorded times; "ops" has one node an operator or kernel. Without recorded times
            (a host trace alone) or without calls (another linker's file) there is "ops" only.
        memory_nodes: copies between host and device become MEM_LOAD_NODE (to the device) and MEM_STORE_NODE (to the
            host) with the bytes copied as `tensor_size`; by default they are COMP_NODE like all device work.
        on_error: see `link`.
        threads: to use at most; 0 means as many as the machine has cores. The result does not depend on it.

    Raises:
        ValueError: both `linked` and files are given, or neither.
        ConfigError: an unknown layout.
        LinkError, FormatError, OSError: see `link`.
    """
    files_given = host is not None or device is not None
    if (linked is not None) == files_given:
        raise ValueError("convert needs either what link returned, or host=, device= or both")
    if linked is None:
        linked = link(host, device, rank=rank, on_error=on_error, threads=threads)
    elif not isinstance(linked, LinkedTrace):
        linked = load_linked(linked, rank=rank, on_error=on_error)
    return _core.convert(linked, layout=layout, memory_nodes=memory_nodes, threads=threads)


def replay(trace: Trace, *, deps: Literal["data", "both"] = "data") -> ReplayReport:
    """Run a recorded trace by its dependencies and durations alone, and compare with the recorded times.

    Args:
        trace: a converted trace with recorded start times.
        deps: which dependencies hold a node back.

    Raises:
        DependencyError: nodes wait for each other in a cycle.
    """
    return _core.replay(trace, deps=deps)
