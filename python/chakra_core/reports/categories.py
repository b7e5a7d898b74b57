# SPDX-License-Identifier: MIT
"""What a node spends time on, in the words and colours of all pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from chakra_core._core import CollectiveType, NodeType, Trace

_COLLECTIVES = {int(kind): kind.name.lower().replace("_", "-") for kind in CollectiveType}
COMMUNICATION = (*_COLLECTIVES.values(), "send", "receive", "other communication")
CATEGORIES = ("compute", *COMMUNICATION, "memory", "host", "idle")
"""All categories, in the order in which they are stacked."""

_BY_RESOURCE = {"compute": "compute", "memory": "memory", "cpu": "host", "none": "idle"}

ALL_RANKS = "all ranks"
_ALL_RANKS_IN_TRACES = ("", "0")

_COLOURS = {
    "compute": "#3f7fd6",
    "all-reduce": "#ef8136",
    "all-gather": "#f2b632",
    "reduce-scatter": "#d9503f",
    "all-to-all": "#c2478d",
    "broadcast": "#b98a5a",
    "send": "#8f63cf",
    "receive": "#b79be6",
    "barrier": "#8d5b4c",
    "memory": "#1f9e89",
    "host": "#7d93ad",
    "idle": "#c9ced6",
}
_OTHER_COLOURS = ("#a5673f", "#d98aa8", "#9c4f96", "#c7a24a", "#7a5195", "#b5533c", "#e3a587")


def colour(category: str) -> str:
    """Colour of a category, the same in every picture."""
    if category in _COLOURS:
        return _COLOURS[category]
    others = [name for name in COMMUNICATION if name not in _COLOURS]
    place = others.index(category) if category in others else len(others)
    return _OTHER_COLOURS[place % len(_OTHER_COLOURS)]


def categories_of(trace: Trace, rows: npt.NDArray[np.intp], resource: npt.NDArray[np.object_]) -> npt.NDArray[np.int64]:
    """Place in `CATEGORIES` of these nodes, which used these resources ("compute", "comm", "memory", "cpu", "none")."""
    types = trace.types[rows]
    kind = trace.attr("comm_type")[rows].filled(-1)
    found = np.full(len(rows), CATEGORIES.index("other communication"), dtype=np.int64)
    for number, name in _COLLECTIVES.items():
        found[(types == NodeType.COMM_COLL_NODE) & (kind == number)] = CATEGORIES.index(name)
    found[types == NodeType.COMM_SEND_NODE] = CATEGORIES.index("send")
    found[types == NodeType.COMM_RECV_NODE] = CATEGORIES.index("receive")
    for name, category in _BY_RESOURCE.items():
        found[resource == name] = CATEGORIES.index(category)
    return found


def groups_of(trace: Trace) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Name the process groups of a trace, and find each node's place among them; without a name it is of all ranks."""
    strings, places = np.unique(trace.pg_ids.astype(np.int64).filled(-1), return_inverse=True)
    texts = ["" if place < 0 else trace.strings[place] for place in strings.tolist()]
    return [ALL_RANKS if text in _ALL_RANKS_IN_TRACES else text for text in texts], places.reshape(-1)
