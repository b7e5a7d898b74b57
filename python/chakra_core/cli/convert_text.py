# SPDX-License-Identifier: MIT
"""The command `convert-text`: text workloads of ASTRA-sim 1.0."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chakra_core.cli.link import check_output
from chakra_core.cli.parameters import JsonOption, OutputOption
from chakra_core.cli.printing import format_count, print_json
from chakra_core.io import save
from chakra_core.text_workload import convert_text as convert


def convert_text(
    workload: Annotated[Path, typer.Argument(metavar="WORKLOAD", show_default=False, help="Text of a line a layer.")],
    output: OutputOption,
    ranks: Annotated[int, typer.Option("--ranks", min=1, help="Files to write, all alike; the name needs %d.")] = 1,
    passes: Annotated[int, typer.Option("--passes", min=1, help="How often the layers are run.")] = 1,
    json: JsonOption = False,
) -> None:
    """Write the execution traces of a text workload of ASTRA-sim 1.0."""
    check_output(output, ranks)
    trace = convert(workload, num_passes=passes)
    paths = list(dict.fromkeys(str(output).replace("%d", str(rank)) for rank in range(ranks)))
    for path in paths:
        save(trace, path)
    if json:
        print_json([{"path": path, "rank": rank, "nodes": len(trace)} for rank, path in enumerate(paths)])
        return
    for path in paths:
        typer.echo(f"{path}: {format_count(len(trace))} nodes")
