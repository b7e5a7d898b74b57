# SPDX-License-Identifier: MIT
"""The command `simulate`: run traces of many ranks on a simulated network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from chakra_core.bundle import Bundle, is_bundle
from chakra_core.cli.loading import load_named
from chakra_core.cli.parameters import JsonOption, OnErrorOption, TracePaths
from chakra_core.cli.printing import print_json, print_table
from chakra_core.cli.progress import watch
from chakra_core.config import CommGroups, Memory, Network, System
from chakra_core.result import RANK_COLUMNS, Result, format_time
from chakra_core.simulation import simulate as run

_File = Path | None


def simulate(
    traces: TracePaths,
    network: Annotated[
        Path, typer.Option("--network", "--network-configuration", show_default=False, help="Network (YAML or JSON).")
    ],
    system: Annotated[
        _File,
        typer.Option("--system", "--system-configuration", help="System (JSON); by default the ring algorithm."),
    ] = None,
    comm_groups: Annotated[
        _File,
        typer.Option(
            "--comm-groups",
            "--comm-group-configuration",
            help="Communicator groups (JSON); by default those in the traces.",
        ),
    ] = None,
    memory: Annotated[
        _File, typer.Option("--memory", "--remote-memory-configuration", help="Remote memory (JSON).")
    ] = None,
    congestion: Annotated[bool, typer.Option("--congestion", help="Messages wait for busy links.")] = False,
    parity: Annotated[bool, typer.Option("--parity", help="Behave as ASTRA-sim does, its defects included.")] = False,
    num_queues_per_dim: Annotated[int, typer.Option(min=1, help="Chunk queues of each network dimension.")] = 1,
    rendezvous_protocol: Annotated[
        bool, typer.Option("--rendezvous-protocol", help="A sender waits until its receiver is ready.")
    ] = False,
    injection_scale: Annotated[float, typer.Option(help="Factor on the endpoint delay.")] = 1.0,
    resources: Annotated[
        str | None,
        typer.Option(
            "--resources",
            show_default=False,
            help="lanes (threads and streams of the trace; the default), astra (one each; with --parity) or counts, "
            "such as cpu=4,compute=2,comm=1.",
        ),
    ] = None,
    communication: Annotated[
        Literal["simulated", "recorded"],
        typer.Option("--communication", help="simulated, or recorded: durations of the trace."),
    ] = "simulated",
    fidelity: Annotated[
        Literal["auto", "closed", "phase", "message"],
        typer.Option("--fidelity", help="How closely collectives are simulated; auto: as cheaply as is exact."),
    ] = "auto",
    fold: Annotated[
        bool, typer.Option("--fold/--no-fold", help="Simulate one rank for all where all are alike.")
    ] = True,
    timeline: Annotated[
        _File, typer.Option("--timeline", help="Write a Perfetto timeline (.json, .pftrace; .gz and .zst compress).")
    ] = None,
    csv: Annotated[_File, typer.Option("--csv", help="Write start and end of every node.")] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Simulate the traces of all ranks and show when each finished, and what it spent its time on."""
    # Before the traces are loaded, so that a wrong key is told at once.
    network_model = Network.load(network)
    system_model = System() if system is None else System.load(system)
    groups_model = _groups(traces, comm_groups)
    memory_model = None if memory is None else Memory.load(memory)
    loaded = load_named(traces, num_ranks=network_model.num_npus, on_error=on_error)
    result = watch(
        "simulating",
        lambda progress: run(
            loaded,
            network=network_model,
            system=system_model,
            comm_groups=groups_model,
            memory=memory_model,
            congestion=congestion,
            parity=parity,
            num_queues_per_dim=num_queues_per_dim,
            rendezvous_protocol=rendezvous_protocol,
            injection_scale=injection_scale,
            resources=resources,
            communication=communication,
            fidelity=fidelity,
            fold=fold,
            record_nodes=timeline is not None or csv is not None,
            progress=progress,
        ),
    )
    _write_files(result, timeline, csv)
    if json:
        print_json(result.to_dict())
    else:
        _print(result)


def _groups(traces: list[str], comm_groups: Path | None) -> CommGroups | None:
    if comm_groups is not None:
        return CommGroups.load(comm_groups)
    return Bundle.load(traces[0]).groups if len(traces) == 1 and is_bundle(traces[0]) else None


def _write_files(result: Result, timeline: Path | None, csv: Path | None) -> None:
    if timeline is not None:
        watch(f"writing {timeline.name}", lambda progress: result.to_perfetto(timeline, progress=progress))
    if csv is not None:
        watch(f"writing {csv.name}", lambda _: result.to_csv(csv))


def _print(result: Result) -> None:
    columns = ["rank", *(name.removesuffix("_ns").replace("_", " ") for name in RANK_COLUMNS)]
    print_table("", columns, result.summary_rows(), numeric_from=0)
    typer.echo(f"{result.num_ranks} ranks finished at {format_time(result.total_ns)} ({result.total_ns} ns)")
    for line in result.how_simulated():
        typer.echo(line)
    for warning in result.warnings:
        typer.echo(f"warning: {warning}")
