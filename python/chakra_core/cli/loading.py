# SPDX-License-Identifier: MIT
"""Traces that a command line names."""

from __future__ import annotations

from chakra_core._core import Trace
from chakra_core.bundle import is_bundle
from chakra_core.cli.progress import FileCount, watch, watch_counts
from chakra_core.rank_traces import files_by_rank, load_ranks


def load_named(arguments: list[str], *, num_ranks: int | None = None, on_error: str = "strict") -> list[Trace]:
    """Load the traces of all ranks that the arguments stand for, with a bar if it takes long."""
    if len(arguments) == 1 and is_bundle(arguments[0]):
        return watch("making traces", lambda _: load_ranks(arguments[0], num_ranks))
    files = files_by_rank(arguments, num_ranks)
    counts = FileCount()
    return watch_counts(
        "loading traces", counts, lambda: load_ranks(files, num_ranks, on_error=on_error, loaded=counts.update)
    )
