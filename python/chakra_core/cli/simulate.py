# SPDX-License-Identifier: MIT
"""The command `simulate`: run traces of many ranks on a simulated network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from chakra_core._core import ConfigError, SimulationError, Trace
from chakra_core.bundle import Bundle, is_bundle
from chakra_core.cli.loading import load_named
from chakra_core.cli.parameters import JsonOption, OnErrorOption
from chakra_core.cli.printing import print_json, print_table
from chakra_core.cli.progress import watch
from chakra_core.config import CommGroups, Memory, Network, Stragglers, System
from chakra_core.result import RANK_COLUMNS, Result, format_time
from chakra_core.run_check import check as compare
from chakra_core.simulation import simulate as run

_File = Path | None
_Ignored = str | None
_OptionalTraces = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TRACES", show_default=False, help="Trace files, globs, or a name with %d for the rank (run.%d.et)."
    ),
]
_SHOWN_PROBLEMS = 20
# What ASTRA-sim takes for no file.
_NO_FILE = "empty"


def simulate(
    traces: _OptionalTraces = None,
    *,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload-configuration", show_default=False, help="TRACES, as ASTRA-sim names them: run for run.%d.et."
        ),
    ] = None,
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
    parity: Annotated[
        Literal["astra-sim", "none"],
        typer.Option("--parity", help="astra-sim (also without a value): behave as it does, its defects included."),
    ] = "none",
    num_queues_per_dim: Annotated[int, typer.Option(min=1, help="Chunk queues of each network dimension.")] = 1,
    rendezvous_protocol: Annotated[
        bool, typer.Option("--rendezvous-protocol", help="A sender waits until its receiver is ready.")
    ] = False,
    injection_scale: Annotated[float, typer.Option(help="Factor on the endpoint delay.")] = 1.0,
    comm_scale: Annotated[float, typer.Option(help="Without influence, as in ASTRA-sim.")] = 1.0,
    compute_scale: Annotated[float, typer.Option(help="Without influence, as in ASTRA-sim.")] = 1.0,
    logging_configuration: Annotated[_Ignored, typer.Option(help="Without influence: for ASTRA-sim's scripts.")] = None,
    logging_folder: Annotated[_Ignored, typer.Option(help="Without influence: for ASTRA-sim's scripts.")] = None,
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
    stragglers: Annotated[
        _File,
        typer.Option("--stragglers", help="Ranks that are slower or later, and jitter (YAML or JSON)."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="First compare what the ranks communicate, and stop if they disagree.")
    ] = False,
    timeline: Annotated[
        _File, typer.Option("--timeline", help="Write a Perfetto timeline (.json, .pftrace; .gz and .zst compress).")
    ] = None,
    csv: Annotated[_File, typer.Option("--csv", help="Write start and end of every node.")] = None,
    tables: Annotated[
        _File,
        typer.Option(
            "--tables", help="Write every table as CSV into a folder: ranks, nodes, collectives, groups, network."
        ),
    ] = None,
    report: Annotated[
        _File, typer.Option("--report", help="Write a page (.html) with timeline, bandwidths and where the time went.")
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Simulate the traces of all ranks and show when each finished, and what it spent its time on."""
    # Before the traces are loaded, so that a wrong key is told at once.
    network_model = Network.load(network)
    system_model = System() if system is None else System.load(system)
    groups_model = _groups(_named(traces, workload), comm_groups)
    stragglers_model = None if stragglers is None else Stragglers.load(stragglers)
    memory_model = None if memory is None else Memory.load(memory)
    loaded = load_named(_named(traces, workload), num_ranks=network_model.num_npus, on_error=on_error)
    if check:
        _check(loaded, network_model, groups_model)
    result = watch(
        "simulating",
        lambda progress: run(
            loaded,
            network=network_model,
            system=system_model,
            comm_groups=groups_model,
            memory=memory_model,
            congestion=congestion,
            parity=parity == "astra-sim",
            num_queues_per_dim=num_queues_per_dim,
            rendezvous_protocol=rendezvous_protocol,
            injection_scale=injection_scale,
            comm_scale=comm_scale,
            compute_scale=compute_scale,
            resources=resources,
            communication=communication,
            fidelity=fidelity,
            fold=fold,
            stragglers=stragglers_model,
            record_nodes=any((timeline, csv, tables, report)),
            progress=progress,
        ),
    )
    _write_files(result, timeline, csv, tables, report)
    if json:
        print_json(result.to_dict())
    else:
        _print(result)


def _named(traces: list[str] | None, workload: str | None) -> list[str]:
    if bool(traces) == (workload is not None):
        found = "both" if traces else "neither"
        raise ConfigError(f"name the traces as TRACES or by --workload-configuration; found {found}")
    return traces or [workload or ""]


def _check(traces: list[Trace], network: Network, groups: CommGroups | None) -> None:
    found = watch("comparing ranks", lambda _: compare(traces, network, groups))
    if found.ok:
        return
    shown = [problem.message for problem in found.problems[:_SHOWN_PROBLEMS]]
    hidden = len(found.problems) - len(shown)
    more = [f"and {hidden} more"] if hidden else []
    raise SimulationError("\n".join(["the ranks do not fit together", *shown, *more]))


def _groups(traces: list[str], comm_groups: Path | None) -> CommGroups | None:
    if comm_groups is not None and str(comm_groups) != _NO_FILE:
        return CommGroups.load(comm_groups)
    return Bundle.load(traces[0]).groups if len(traces) == 1 and is_bundle(traces[0]) else None


def _write_files(result: Result, timeline: _File, csv: _File, tables: _File, report: _File) -> None:
    if timeline is not None:
        watch(f"writing {timeline.name}", lambda progress: result.to_perfetto(timeline, progress=progress))
    if csv is not None:
        watch(f"writing {csv.name}", lambda _: result.to_csv(csv))
    if tables is not None:
        watch(f"writing {tables.name}", lambda _: result.save_tables(tables))
    if report is not None:
        watch(f"writing {report.name}", lambda _: result.report(report))


def _print(result: Result) -> None:
    columns = ["rank", *(name.removesuffix("_ns").replace("_", " ") for name in RANK_COLUMNS)]
    print_table("", columns, result.summary_rows(), numeric_from=0)
    typer.echo(f"{result.num_ranks} ranks finished at {format_time(result.total_ns)} ({result.total_ns} ns)")
    for line in [*result.communication(), *result.how_simulated()]:
        typer.echo(line)
    for warning in result.warnings:
        typer.echo(f"warning: {warning}")
