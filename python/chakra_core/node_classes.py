# SPDX-License-Identifier: MIT
"""What kind of work a node is, without its name: host or device computation, which collective, ..."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from chakra_core._core import CollectiveType, NodeType, Trace

ClassNumbers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

_OTHER = "other"
_HOST_COMPUTE = "host compute"

#: Names of the classes; a node's class is a position in here.
NODE_CLASSES = (
    "invalid",
    "metadata",
    "memory load",
    "memory store",
    "compute",
    "send",
    "receive",
    "collective",
    _OTHER,
    _HOST_COMPUTE,
    *(kind.name.lower().replace("_", "-") for kind in CollectiveType),
)
_FIRST_COLLECTIVE = NODE_CLASSES.index(_HOST_COMPUTE) + 1


def node_classes(trace: Trace) -> ClassNumbers:
    """Class of each row, as a position in `NODE_CLASSES`.

    Types that the schema does not name are "other"; a collective without a known `comm_type` is "collective".
    """
    types = np.asarray(trace.types)
    known = (types >= 0) & (types <= NodeType.COMM_COLL_NODE)
    classes = np.where(known, types, NODE_CLASSES.index(_OTHER)).astype(np.int64)
    on_host = (types == NodeType.COMP_NODE) & (trace.attr("is_cpu_op").filled(0) != 0)
    classes[on_host] = NODE_CLASSES.index(_HOST_COMPUTE)
    kind = trace.attr("comm_type").filled(-1)
    named = (types == NodeType.COMM_COLL_NODE) & (kind >= 0) & (kind < len(CollectiveType))
    classes[named] = _FIRST_COLLECTIVE + kind[named]
    return classes
