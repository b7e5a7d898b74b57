# SPDX-License-Identifier: MIT
"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

TracePaths: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="TRACES", show_default=False, help="Trace files, globs, or a name with %d for the rank (run.%d.et)."
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
OnErrorOption: TypeAlias = Annotated[
    Literal["strict", "recover"],
    typer.Option("--on-error", help="strict stops at the first problem; recover keeps what can be used."),
]
HostOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--host", show_default=False, help="Host trace (JSON), or a name with %d for the rank."),
]
DeviceOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--device", show_default=False, help="Kineto device trace (JSON), or a name with %d for the rank."),
]
RankOption: TypeAlias = Annotated[
    int | None, typer.Option("--rank", min=0, help="Rank; by default what the names or the device trace say.")
]
OutputOption: TypeAlias = Annotated[Path, typer.Option("--output", "-o", show_default=False, help="File to write.")]
