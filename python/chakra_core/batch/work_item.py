# SPDX-License-Identifier: MIT
"""One piece of a batch: files that go in together, and the file that comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class WorkItem:
    """One piece of a batch.

    Attributes:
        inputs: paths or URLs by what they are: "host" and "device", "trace", "linked", or the ranks of a run.
        rank: the rank, where it is known.
        stem: the name of the inputs without what they share with all others: "rank0" of rank0.host.json.gz.
        folder: name of the folder in which they lie.
        fields: further values for names of outputs: columns of a manifest.
        output: path or URL of the file that is written; None if there is none.
        problem: why this piece cannot be worked on, found before it began.
    """

    inputs: Mapping[str, str]
    rank: int | None = None
    stem: str = ""
    folder: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    output: str | None = None
    problem: str | None = None

    @property
    def name(self) -> str:
        """Its inputs, for people."""
        paths = list(self.inputs.values())
        return " + ".join(paths) if len(paths) <= 2 else f"{paths[0]} and {len(paths) - 1} more"
