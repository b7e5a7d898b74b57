# SPDX-License-Identifier: MIT
"""Traces as graphs that can be looked at: parts of them, with repeats drawn once."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from chakra_core._core import ChakraError, Trace
from chakra_core.conditions import rows_meeting
from chakra_core.graphs.drawing import Collapse, Drawing, draw
from chakra_core.graphs.neighbourhood import Direction, rows_around
from chakra_core.graphs.writing import PICTURES, SUFFIXES, write_drawing

__all__ = ["Collapse", "Direction", "Drawing", "graph"]


def graph(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    around: int | None = None,
    depth: int = 3,
    direction: Direction = "both",
    where: str | None = None,
    collapse: Collapse = "repeats",
    radius: int = 1,
    max_boxes: int = 500,
) -> Drawing:
    """Write a trace, or a part of it, as a graph.

    Args:
        trace: any trace.
        path: .dot or .gv (Graphviz), .graphml (yEd, Gephi, networkx), or a picture through Graphviz: .svg, .pdf, .png.
        around: id of the node whose neighbourhood is drawn; None draws all.
        depth: most dependencies on the way from that node.
        direction: from there to "parents", "children", or "both".
        where: a condition that nodes must meet, as for `chakra-core dump`.
        collapse: what is drawn as one box: "none" (each node), "repeats" (nodes of one name and type, but for numbers
            in names, whose parents and children are alike, too), or "names" (all of one name and type).
        radius: for "repeats": how far parents of parents and children of children must be alike; more gives more boxes.
        max_boxes: the most that a picture may have; Graphviz takes very long for more.

    Returns:
        What was drawn.

    Raises:
        ChakraError: there is no such node, nothing meets the condition, there are too many boxes for a picture, the
            ending is unknown, or Graphviz is not installed.
        OSError: the file cannot be written.
    """
    target = Path(path)
    if target.suffix not in SUFFIXES:
        raise ChakraError(f"{target}: a graph is written as {', '.join(SUFFIXES)}")
    rows = np.arange(len(trace)) if around is None else rows_around(trace, around, depth, direction)
    if where is not None:
        rows = rows[np.asarray(rows_meeting(trace, where))[rows]]
    if rows.size == 0:
        raise ChakraError(f"{target}: no node is left to draw")
    drawing = draw(trace, rows, collapse, radius=radius)
    if target.suffix in PICTURES and len(drawing) > max_boxes:
        raise ChakraError(
            f"{target}: {len(drawing):,} boxes are too many for a picture (max-boxes {max_boxes:,}); draw a part "
            "(around a node, or where a condition holds), collapse names, or write .dot or .graphml"
        )
    write_drawing(drawing, trace, target)
    return drawing
