# SPDX-License-Identifier: MIT
"""Making traces smaller without losing what waits for what."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from chakra_core._core import ChakraError, NodeType, Trace

_Mask: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"

#: Operators that only give another view of a tensor's memory, or only tell the profiler something.
VIEW_OPS = (
    "aten::alias",
    "aten::as_strided",
    "aten::chunk",
    "aten::detach",
    "aten::expand",
    "aten::expand_as",
    "aten::flatten",
    "aten::movedim",
    "aten::narrow",
    "aten::permute",
    "aten::reshape",
    "aten::_reshape_alias",
    "aten::select",
    "aten::slice",
    "aten::split",
    "aten::squeeze",
    "aten::swapaxes",
    "aten::t",
    "aten::transpose",
    "aten::unbind",
    "aten::unflatten",
    "aten::unsqueeze",
    "aten::view",
    "aten::view_as",
    "aten::_unsafe_view",
)

_STEP = re.compile(r"ProfilerStep#(\d+)")


def simplify(
    trace: Trace,
    *,
    drop: Iterable[str] = (),
    drop_views: bool = False,
    collapse_cpu: bool = False,
    device_only: bool = False,
    steps: int | range | tuple[int, int] | None = None,
    window: tuple[int, int] | None = None,
) -> Trace:
    """Leave out nodes and keep the order of the rest.

    Whoever waited for a node that is left out waits for what that one waited for: a kept node is reached from another
    by data dependencies exactly if it was before, and so it is by data and control dependencies together. Times of
    nodes are not changed, so what a node that is left out took is missing when the result is played without the record.
    Nodes whose dependencies do not change stay byte for byte. METADATA nodes always stay.

    Args:
        trace: any acyclic trace; `collapse_cpu` and `device_only` need its attribute `is_cpu_op`.
        drop: names, with * and ? as wildcards, of nodes to leave out, such as "record_param_comms".
        drop_views: leave out operators that only give another view of a tensor (`VIEW_OPS`).
        collapse_cpu: leave out CPU nodes that nothing but CPU nodes depends on directly and that wait for nothing but
            CPU nodes: what remains launches device work or communication, or waits for it.
        device_only: keep only device work and communication.
        steps: keep what begins within these ProfilerStep annotations: a number, a range, or the first and the last.
        window: keep what begins at or after the first and before the second, ns since the start of the trace.

    Returns:
        A new trace, which shares the record bytes of the old one.

    Raises:
        ChakraError: there is no such step, or no node has `is_cpu_op`.
        DependencyError: nodes wait for each other in a cycle.
    """
    keep = np.ones(len(trace), bool)
    if window is not None:
        keep &= _begins_within(trace, [window])
    if steps is not None:
        keep &= _begins_within(trace, _step_windows(trace, steps))
    patterns = [*drop, *(VIEW_OPS if drop_views else ())]
    if patterns:
        keep &= ~_named(trace, patterns)
    if collapse_cpu or device_only:
        on_cpu = _on_cpu(trace)
        keep &= ~on_cpu if device_only else ~(on_cpu & ~_touches_device(trace, on_cpu))
    keep |= np.asarray(trace.types) == NodeType.METADATA_NODE
    return trace.contract(keep)


def _begins_within(trace: Trace, windows: list[tuple[int, int]]) -> _Mask:
    start = trace.start_ns
    within = np.zeros(len(trace), bool)
    for first, end in windows:
        within |= (start >= first) & (start < end)
    return within


def _step_windows(trace: Trace, steps: int | range | tuple[int, int]) -> list[tuple[int, int]]:
    if isinstance(steps, int):
        wanted = {steps}
    else:
        wanted = set(steps if isinstance(steps, range) else range(steps[0], steps[1] + 1))
    found: dict[int, tuple[int, int]] = {}
    for position, name in enumerate(trace.strings):
        match = _STEP.fullmatch(name)
        if match:
            _note_step(trace, position, int(match[1]), found)
    missing = sorted(wanted - found.keys())
    if missing:
        there = ", ".join(map(str, sorted(found))) or "none"
        raise ChakraError(f"ProfilerStep#{missing[0]} is not in the trace; there are: {there}")
    return [found[step] for step in sorted(wanted)]


def _note_step(trace: Trace, position: int, step: int, found: dict[int, tuple[int, int]]) -> None:
    for row in np.flatnonzero(trace.name_ids == position).tolist():
        node = trace.at(row)
        if not node.attrs.get("is_cpu_op", True) or "piece" in node.attrs:
            continue
        length = int(node.attrs.get("inclusive_ns", node.duration_ns))
        first, end = found.get(step, (node.start_ns, 0))
        found[step] = (min(first, node.start_ns), max(end, node.start_ns + length))


def _named(trace: Trace, patterns: list[str]) -> _Mask:
    matches = re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns)).match
    of_string = np.fromiter((matches(name) is not None for name in trace.strings), bool, len(trace.strings))
    return np.asarray(of_string[trace.name_ids] if len(of_string) else np.zeros(len(trace), bool))


def _on_cpu(trace: Trace) -> _Mask:
    is_cpu_op = trace.attr("is_cpu_op")
    if len(trace) > 0 and np.ma.getmaskarray(is_cpu_op).all():
        raise ChakraError("no node has the attribute is_cpu_op, so it is not known what runs on the CPU")
    types = np.asarray(trace.types)
    communicates = (types >= NodeType.COMM_SEND_NODE) & (types <= NodeType.COMM_COLL_NODE)
    return np.asarray((is_cpu_op.filled(1) != 0) & ~communicates)


def _touches_device(trace: Trace, on_cpu: _Mask) -> _Mask:
    """CPU nodes with a dependency from or to something off the CPU."""
    touches = np.zeros(len(trace), bool)
    for deps in (trace.data_deps, trace.ctrl_deps):
        counts: np.ndarray[Any, np.dtype[np.int64]] = deps.offsets[1:].astype(np.int64) - deps.offsets[:-1].astype(
            np.int64
        )
        children = np.repeat(np.arange(len(trace)), counts)
        parents = deps.indices
        touches[parents[~on_cpu[children]]] = True
        touches[children[~on_cpu[parents]]] = True
    return touches
