# SPDX-License-Identifier: MIT
"""The command `anonymise`: traces without what is proprietary in them, and a certificate of what was removed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from chakra_core.anonymisation import anonymise as anonymise_run
from chakra_core.cli.link import check_output
from chakra_core.cli.loading import load_named
from chakra_core.cli.output_names import beside, rank_paths
from chakra_core.cli.parameters import JsonOption, OnErrorOption, OutputOption, TracePaths
from chakra_core.cli.printing import print_json
from chakra_core.cli.progress import watch
from chakra_core.config import Network
from chakra_core.io import save


def anonymise(
    traces: TracePaths,
    output: OutputOption,
    comm_groups: Annotated[
        Path | None,
        typer.Option("--comm-groups", help="Communicator groups (JSON); by default those in the traces."),
    ] = None,
    names: Annotated[
        Literal["class", "numbered"],
        typer.Option("--names", help="class: what a node is; numbered: and a number for each different name."),
    ] = "class",
    quantise: Annotated[
        float, typer.Option("--quantise", help="Round sizes and times by at most this share, e.g. 0.05.")
    ] = 0.0,
    perturb: Annotated[float, typer.Option("--perturb", help="Then move them at random by at most this share.")] = 0.0,
    seed: Annotated[
        int | None, typer.Option("--seed", show_default=False, help="Of the random numbers, to be kept secret.")
    ] = None,
    network: Annotated[
        list[Path] | None,
        typer.Option("--network", show_default=False, help="Networks to compare step times on; by default three."),
    ] = None,
    step_time_bound: Annotated[
        float | None,
        typer.Option("--step-time-bound", show_default=False, help="The most that a step time may move, as a share."),
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Write traces that keep the graph and what simulation reads, and nothing that tells of the program.

    Beside OUT.%d.et come OUT.groups.json with the groups under their new names, for simulators, and
    OUT.certificate.json and .txt, which say what was removed and by how much the step time moved.
    """
    networks = (
        None if network is None else {f"network {place}": Network.load(path) for place, path in enumerate(network)}
    )
    loaded = load_named(traces, on_error=on_error)
    check_output(output, len(loaded))
    made = watch(
        "anonymising",
        lambda _: anonymise_run(
            loaded,
            comm_groups=comm_groups,
            names=names,
            quantise=quantise,
            perturb=perturb,
            seed=seed,
            networks=networks or None,
            step_time_bound=step_time_bound,
        ),
    )
    paths = rank_paths(output, len(loaded))
    for path, trace in zip(paths, made.traces, strict=True):
        save(trace, path)
    certificate, groups = beside(output, "certificate"), beside(output, "groups")
    made.certificate.save(certificate)
    made.comm_groups.save(groups)
    files = {
        "traces": [str(path) for path in paths],
        "comm_groups": str(groups),
        "certificate": str(certificate),
    }
    if json:
        print_json({**files, **made.certificate.to_dict()})
        return
    typer.echo(made.certificate.text)
    typer.echo(f"{output}, {groups}, {certificate}")
