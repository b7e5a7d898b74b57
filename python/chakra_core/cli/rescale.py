# SPDX-License-Identifier: MIT
"""The command `rescale`: a run on more or fewer ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from chakra_core.cli.link import check_output
from chakra_core.cli.loading import load_named
from chakra_core.cli.output_names import beside, rank_paths
from chakra_core.cli.parameters import JsonOption, OnErrorOption, OutputOption, TracePaths
from chakra_core.cli.printing import format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.cli.selecting import split_list
from chakra_core.io import save
from chakra_core.rank_scaling import rescale as rescale_run


def rescale(
    traces: TracePaths,
    output: OutputOption,
    ranks: Annotated[int, typer.Option("--ranks", min=1, show_default=False, help="Ranks of the new run.")],
    comm_groups: Annotated[
        Path | None, typer.Option("--comm-groups", help="Communicator groups (JSON); by default those in the traces.")
    ] = None,
    data_parallel: Annotated[
        list[str] | None,
        typer.Option(
            "--data-parallel",
            show_default=False,
            help="Names of the data-parallel groups, separated by commas; needed if there are others.",
        ),
    ] = None,
    gathered: Annotated[
        Literal["shards", "batch"] | None,
        typer.Option("--gathered", show_default=False, help="What all-gathers between replicas collect."),
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Replicate a run along data parallelism. Beside OUT.%d.et comes OUT.groups.json with the groups of the new run."""
    loaded = load_named(traces, on_error=on_error)
    check_output(output, ranks)
    made = watch(
        "rescaling",
        lambda _: rescale_run(
            loaded,
            ranks,
            comm_groups=comm_groups,
            data_parallel=split_list(data_parallel) or None,
            gathered=gathered,
        ),
    )
    paths = rank_paths(output, ranks)
    for path, trace in zip(paths, made.traces, strict=True):
        save(trace, path)
    groups = beside(output, "groups")
    made.comm_groups.save(groups)
    if json:
        nodes = [len(trace) for trace in made.traces]
        print_json({"traces": [str(path) for path in paths], "nodes": nodes, "comm_groups": str(groups)})
        return
    typer.echo(
        f"{output}: {len(loaded)} ranks became {ranks}, {format_count(sum(map(len, made.traces)))} nodes; "
        f"{len(made.comm_groups)} process groups in {groups}"
    )
