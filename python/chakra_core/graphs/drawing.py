# SPDX-License-Identifier: MIT
"""What is drawn of a trace: boxes, each for one node or several alike, and arrows between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from chakra_core._core import Trace

Collapse: TypeAlias = Literal["none", "repeats", "names"]
_Ints: TypeAlias = "npt.NDArray[np.int64]"

_LONE_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])")


@dataclass(frozen=True)
class Drawing:
    """Boxes and arrows, as columns.

    Attributes:
        first_row: of each box the first row of the trace that it stands for.
        count: of each box how many nodes it stands for.
        duration_ns: of each box the sum of the durations of its nodes.
        source: of each arrow the box of the parents.
        target: of each arrow the box of the children.
        is_data: of each arrow whether it stands for data dependencies, else for control dependencies.
        arrows: of each arrow how many dependencies it stands for.
    """

    first_row: _Ints
    count: _Ints
    duration_ns: _Ints
    source: _Ints
    target: _Ints
    is_data: npt.NDArray[np.bool_]
    arrows: _Ints

    def __len__(self) -> int:
        return len(self.first_row)


@dataclass(frozen=True)
class _Edges:
    """Dependencies of some rows on each other, rows numbered by their place among them."""

    parent: _Ints
    child: _Ints
    is_data: npt.NDArray[np.bool_]


def draw(trace: Trace, rows: _Ints, collapse: Collapse = "repeats", *, radius: int = 1) -> Drawing:
    """Make a drawing of some rows.

    Args:
        trace: any trace.
        rows: those to draw, ascending; dependencies on others are left out.
        collapse: "none" has a box for each node. "names" has one for each name and type, where numbers that stand by
            themselves in names do not count ("layers.0.mlp", "layers.1.mlp"). "repeats" has one for nodes that are
            alike in that sense, and whose parents and children are, and theirs, and so on `radius` times.
        radius: see there; the larger, the more boxes.
    """
    edges = _edges_among(trace, rows)
    if collapse == "none":
        box = np.arange(len(rows), dtype=np.int64)
    else:
        box = _refined(_labels(trace, rows), edges, radius if collapse == "repeats" else 0)
    return _drawing(trace, rows, box, edges)


def _labels(trace: Trace, rows: _Ints) -> _Ints:
    """Give rows of one name, but for its numbers, and one type the same number."""
    plain = [_LONE_NUMBER.sub("#", name) for name in trace.strings]
    known = {name: number for number, name in enumerate(dict.fromkeys(plain))}
    of_string = np.array([known[name] for name in plain], np.int64)
    names = of_string[np.asarray(trace.name_ids)[rows]]
    types = np.asarray(trace.types)[rows].astype(np.int64)
    _, numbers = np.unique(np.stack([names, types]), axis=1, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64)


def _edges_among(trace: Trace, rows: _Ints) -> _Edges:
    place = np.full(len(trace), -1, np.int64)
    place[rows] = np.arange(len(rows))
    parents, children, kinds = [], [], []
    for deps, is_data in ((trace.data_deps, True), (trace.ctrl_deps, False)):
        offsets = deps.offsets.astype(np.int64)
        counts = offsets[1:] - offsets[:-1]
        child = place[np.repeat(np.arange(len(trace)), counts)]
        parent = place[deps.indices.astype(np.int64)]
        inside = (child >= 0) & (parent >= 0)
        parents.append(parent[inside])
        children.append(child[inside])
        kinds.append(np.full(int(inside.sum()), is_data))
    return _Edges(np.concatenate(parents), np.concatenate(children), np.concatenate(kinds))


def _drawing(trace: Trace, rows: _Ints, box: _Ints, edges: _Edges) -> Drawing:
    # Boxes in the order of their first rows.
    _, first, number = np.unique(box, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    box = rank[number.reshape(-1)]
    durations = np.zeros(len(order), np.int64)
    np.add.at(durations, box, np.asarray(trace.duration_ns)[rows].astype(np.int64))
    source, target = box[edges.parent], box[edges.child]
    # An arrow of a box to itself says no more than its count, but for nodes that wait for themselves.
    shown = (source != target) | (edges.parent == edges.child)
    keys = np.stack([source[shown], target[shown], edges.is_data[shown].astype(np.int64)])
    arrows, counts = np.unique(keys, axis=1, return_counts=True)
    return Drawing(
        first_row=rows[first[order]],
        count=np.bincount(box, minlength=len(order)).astype(np.int64),
        duration_ns=durations,
        source=arrows[0],
        target=arrows[1],
        is_data=arrows[2].astype(bool),
        arrows=counts.astype(np.int64),
    )


def _refined(label: _Ints, edges: _Edges, radius: int) -> _Ints:
    """Tell rows apart by their labels and those of what is near: colour refinement after Weisfeiler and Leman."""
    for _ in range(radius):
        number = int(label.max(initial=-1)) + 1
        columns: list[npt.NDArray[Any]] = [label.astype(np.uint64)]
        for is_data in (True, False):
            kind = edges.is_data == is_data
            columns.append(_sums_of_neighbours(edges.child[kind], edges.parent[kind], label, number))
            columns.append(_sums_of_neighbours(edges.parent[kind], edges.child[kind], label, number))
        _, refined = np.unique(np.stack(columns), axis=1, return_inverse=True)
        label = refined.reshape(-1).astype(np.int64)
    return label


def _sums_of_neighbours(at: _Ints, neighbour: _Ints, label: _Ints, number: int) -> npt.NDArray[np.uint64]:
    """Of each row a number that stands for the set of its neighbours' labels: other sets do not meet it by chance."""
    random = np.random.default_rng(number).integers(0, 1 << 63, size=number, dtype=np.uint64)
    pairs = np.unique(np.stack([at, label[neighbour]]), axis=1)
    sums = np.zeros(len(label), np.uint64)
    np.add.at(sums, pairs[0], random[pairs[1]])
    return sums
