# SPDX-License-Identifier: MIT
"""What takes more than one trace: one of many, and how two differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from chakra_core import _core


def concat(traces: Iterable[_core.Trace], *, ids: Literal["remap", "keep"] = "remap") -> _core.Trace:
    """One trace of the nodes of all, one trace after the other, with the metadata of the first.

    Dependencies stay within their trace. Nodes that keep their id and their parents' ids keep their record byte for
    byte.

    Args:
        traces: what to put together; none gives an empty trace.
        ids: "remap" gives every node the number of its row as id, so that row r of the k-th trace has the id
            `sum(len(t) for t in traces[:k]) + r`. "keep" leaves the ids, which must then all differ.

    Returns:
        A new trace, which shares the record bytes of the old ones.

    Raises:
        ChakraError: ids="keep", and two nodes have the same id.
        ValueError: another value of `ids`.
    """
    if ids not in ("remap", "keep"):
        raise ValueError(f'ids must be "remap" or "keep", not {ids!r}')
    return _core.concat(list(traces), renumber=ids == "remap")


def diff(first: _core.Trace, second: _core.Trace, *, limit: int = 100) -> _core.TraceDiff:
    """How two traces differ, by node id.

    What nodes mean is compared, not how it is encoded: neither the order of nodes nor that of attributes with different
    names matters, nor do fields that the schema does not have.

    Args:
        first: one trace.
        second: the other.
        limit: the most nodes that each list of the result names; the counts are of all.

    Returns:
        Counts and the first differences; false if there are none.

    Raises:
        FormatError: a record is malformed where loading does not look.
    """
    return _core.diff(first, second, limit)
