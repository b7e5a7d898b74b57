# SPDX-License-Identifier: MIT
"""Rows of a trace that lie near a node."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from chakra_core._core import Adjacency, ChakraError, Trace

Direction: TypeAlias = Literal["parents", "children", "both"]
_Rows: TypeAlias = "npt.NDArray[np.int64]"


def rows_around(trace: Trace, node_id: int, depth: int, direction: Direction = "both") -> _Rows:
    """Rows that a number of dependencies lead to from a node, itself among them, ascending.

    Args:
        trace: any trace.
        node_id: the node in the middle.
        depth: most dependencies on the way.
        direction: "parents" goes to what the node waits for, "children" to what waits for it, "both" each of the ways
            by itself: the other children of a parent are not near.

    Raises:
        ChakraError: there is no such node.
    """
    row = np.flatnonzero(trace.ids == np.uint64(node_id)) if 0 <= node_id < 1 << 64 else np.empty(0, np.int64)
    if row.size == 0:
        raise ChakraError(f"there is no node {node_id} in the trace")
    near = np.zeros(len(trace), bool)
    if direction != "children":
        near |= _reached(row, depth, [trace.data_deps, trace.ctrl_deps], len(trace))
    if direction != "parents":
        near |= _reached(row, depth, [trace.children], len(trace))
    return np.flatnonzero(near)


def _reached(start: npt.NDArray[Any], depth: int, ways: list[Adjacency], rows: int) -> npt.NDArray[np.bool_]:
    reached = np.zeros(rows, bool)
    reached[start] = True
    frontier = start
    for _ in range(depth):
        found = np.unique(np.concatenate([_neighbours(way, frontier) for way in ways]))
        frontier = found[~reached[found]]
        if frontier.size == 0:
            break
        reached[frontier] = True
    return reached


def _neighbours(way: Adjacency, rows: npt.NDArray[Any]) -> _Rows:
    """Entries of some rows of an adjacency, one after the other."""
    offsets = way.offsets.astype(np.int64)
    first, counts = offsets[rows], offsets[rows + 1] - offsets[rows]
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    found: _Rows = way.indices[np.repeat(first, counts) + within].astype(np.int64)
    return found
