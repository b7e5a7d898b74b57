# SPDX-License-Identifier: MIT
"""Options that choose nodes of a trace."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
import typer

from chakra_core._core import ChakraError, Trace
from chakra_core.conditions import rows_meeting

WhereOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--where",
        show_default=False,
        help="Only nodes that meet a condition, e.g. 'type == COMM_COLL_NODE and comm_size > 1e6', "
        '\'"mm" in name\', \'pg_name in ("0", "1")\'.',
    ),
]


def rows_where(trace: Trace, where: str | None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows that meet the condition, ascending; all without one."""
    return np.arange(len(trace)) if where is None else np.flatnonzero(rows_meeting(trace, where))


def split_list(texts: list[str] | None) -> list[str]:
    """Values of an option that may be repeated and may hold several, separated by commas."""
    return [part.strip() for text in texts or [] for part in text.split(",") if part.strip()]


def ids_mask(trace: Trace, texts: list[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mask of the nodes with these ids, or in these ranges of ids (5-9, both ends in)."""
    mask = np.zeros(len(trace), bool)
    for text in split_list(texts):
        first, dash, last = text.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ChakraError(f"--ids {text}: write ids or ranges, e.g. 3,7,10-19")
        bounds = [min(int(bound), 2**64 - 1) for bound in (first, last or first)]
        mask |= (trace.ids >= np.uint64(bounds[0])) & (trace.ids <= np.uint64(bounds[1]))
    return mask
