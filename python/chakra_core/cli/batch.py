# SPDX-License-Identifier: MIT
"""The commands `batch link`, `convert`, `validate`, `stats`, `simplify`, `simulate`: work on files of many ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import typer

from chakra_core._core import ConfigError
from chakra_core.cli.batch_display import BatchDisplay
from chakra_core.cli.parameters import JsonOption, OnErrorOption
from chakra_core.cli.printing import print_json
from chakra_core.cli.selecting import split_list
from chakra_core.cli.simplify import parse_steps
from chakra_core.pytorch import Layout

app = typer.Typer(
    help="The same for the files of many ranks: in threads or on a cluster, resumable, with a report.",
    no_args_is_help=True,
)

_Inputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[INPUTS]",
        show_default=False,
        help="Files, globs, folders, names with %d for the rank, or URLs of such.",
    ),
]
_Output: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        show_default=False,
        help="Names with {rank}, {stem}, {folder}, {name}, {index} or a column of the manifest; or a folder.",
    ),
]
_Host: TypeAlias = Annotated[
    list[str] | None, typer.Option("--host", show_default=False, help="Host traces, as INPUTS.")
]
_Device: TypeAlias = Annotated[
    list[str] | None, typer.Option("--device", show_default=False, help="Kineto device traces, as INPUTS.")
]
_Unpaired: TypeAlias = Annotated[
    Literal["fail", "use", "skip"],
    typer.Option("--unpaired", help="What becomes of a host or device trace without the other."),
]
_Manifest: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--manifest", show_default=False, help="CSV or JSON with a row an item: host, device, trace, rank, ..."
    ),
]
_Threads: TypeAlias = Annotated[
    int, typer.Option("--threads", "-j", min=0, help="Items at a time; 0: as many as there are cores.")
]
_MaxMemory: TypeAlias = Annotated[
    str | None,
    typer.Option("--max-memory", show_default=False, help="Such as 8GiB; by default most of what is free."),
]
_Report: TypeAlias = Annotated[
    Path | None,
    typer.Option("--report", show_default=False, help="By default batch-report.jsonl in the folder of the outputs."),
]
_Resume: TypeAlias = Annotated[
    bool, typer.Option("--resume/--again", help="Skip what an earlier run did and nothing has changed of.")
]
_Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster", show_default=False, help="Scheduler of a Dask cluster that does the work: tcp://HOST:8786."
    ),
]
_StorageOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--storage-option", show_default=False, help="For URLs: endpoint_url=http://localhost:9000."),
]


class Places(NamedTuple):
    """Options that say what a batch works on, where, and how."""

    inputs: list[str] | None
    output: str | None
    manifest: Path | None
    threads: int
    max_memory: str | None
    report: Path | None
    resume: bool
    cluster: str | None
    storage_option: list[str] | None
    json: bool

    def run(self, title: str, **options: Any) -> None:
        """Run the batch of this title, show how it goes, and end with status 1 if something failed."""
        # Imported here, because no other command needs it.
        from chakra_core import batch

        function: Callable[..., batch.BatchReport] = getattr(batch, title)
        with BatchDisplay(title, quiet=self.json) as display:
            report = function(
                self.inputs or (),
                self.output,
                manifest=self.manifest,
                threads=self.threads,
                max_memory=self.max_memory,
                report=self.report,
                resume=self.resume,
                cluster=self.cluster,
                storage_options=_storage_options(self.storage_option or []),
                observer=display,
                **options,
            )
        if self.json:
            print_json(
                {**report.counts, "seconds": report.seconds, "report": str(report.path), "items": report.records}
            )
        else:
            typer.echo(str(report))
            typer.echo(f"report: {report.path}")
        if not report.ok:
            raise typer.Exit(1)


def _storage_options(texts: list[str]) -> dict[str, str]:
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--storage-option {text}: write NAME=VALUE, e.g. endpoint_url=http://localhost:9000")
        options[name] = value
    return options


@app.command()
def link(
    inputs: _Inputs = None,
    output: _Output = None,
    host: _Host = None,
    device: _Device = None,
    unpaired: _Unpaired = "fail",
    manifest: _Manifest = None,
    threads: _Threads = 0,
    max_memory: _MaxMemory = None,
    report: _Report = None,
    resume: _Resume = True,
    cluster: _Cluster = None,
    storage_option: _StorageOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Join the host and device traces of many ranks, and write linked traces."""
    places = Places(inputs, output, manifest, threads, max_memory, report, resume, cluster, storage_option, json)
    places.run("link", host=host or (), device=device or (), unpaired=unpaired, on_error=on_error)


@app.command()
def convert(
    inputs: _Inputs = None,
    output: _Output = None,
    host: _Host = None,
    device: _Device = None,
    unpaired: _Unpaired = "fail",
    layout: Annotated[
        Layout, typer.Option("--layout", help="exact replays to the recorded times; ops has one node an operator.")
    ] = "exact",
    memory_nodes: Annotated[
        bool, typer.Option("--memory-nodes", help="Copies between host and device become MEM nodes.")
    ] = False,
    replay: Annotated[bool, typer.Option("--replay", help="Check each against its recorded times.")] = False,
    level: Annotated[
        int | None, typer.Option("--level", show_default=False, help="Of gzip (1 to 9) or zstd (1 to 19).")
    ] = None,
    schema_version: Annotated[
        str | None, typer.Option("--schema-version", show_default=False, help="To be said in the metadata.")
    ] = None,
    manifest: _Manifest = None,
    threads: _Threads = 0,
    max_memory: _MaxMemory = None,
    report: _Report = None,
    resume: _Resume = True,
    cluster: _Cluster = None,
    storage_option: _StorageOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Turn the PyTorch traces of many ranks into execution traces, or execution traces into another form."""
    places = Places(inputs, output, manifest, threads, max_memory, report, resume, cluster, storage_option, json)
    places.run(
        "convert",
        host=host or (),
        device=device or (),
        unpaired=unpaired,
        layout=layout,
        memory_nodes=memory_nodes,
        replay=replay,
        level=level,
        schema_version=schema_version,
        on_error=on_error,
    )


@app.command()
def validate(
    inputs: _Inputs = None,
    output: _Output = None,
    manifest: _Manifest = None,
    threads: _Threads = 0,
    max_memory: _MaxMemory = None,
    report: _Report = None,
    resume: _Resume = True,
    cluster: _Cluster = None,
    storage_option: _StorageOption = None,
    json: JsonOption = False,
) -> None:
    """Check many traces; one with errors has failed."""
    places = Places(inputs, output, manifest, threads, max_memory, report, resume, cluster, storage_option, json)
    places.run("validate")


@app.command()
def stats(
    inputs: _Inputs = None,
    output: _Output = None,
    manifest: _Manifest = None,
    threads: _Threads = 0,
    max_memory: _MaxMemory = None,
    report: _Report = None,
    resume: _Resume = True,
    cluster: _Cluster = None,
    storage_option: _StorageOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Count and sum what is in many traces, into the report."""
    places = Places(inputs, output, manifest, threads, max_memory, report, resume, cluster, storage_option, json)
    places.run("stats", on_error=on_error)


@app.command()
def simplify(
    inputs: _Inputs = None,
    output: _Output = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop", show_default=False, help="Names with * and ?, separated by commas, of nodes to leave out."
        ),
    ] = None,
    drop_views: Annotated[
        bool, typer.Option("--drop-views", help="Leave out operators that only give another view of a tensor.")
    ] = False,
    collapse_cpu: Annotated[
        bool, typer.Option("--collapse-cpu", help="Leave out CPU nodes that neither launch nor wait for device work.")
    ] = False,
    device_only: Annotated[
        bool, typer.Option("--device-only", help="Keep only device work and communication.")
    ] = False,
    steps: Annotated[
        str | None, typer.Option("--steps", show_default=False, help="Profiler steps to keep: 5 or 5-9.")
    ] = None,
    manifest: _Manifest = None,
    threads: _Threads = 0,
    max_memory: _MaxMemory = None,
    report: _Report = None,
    resume: _Resume = True,
    cluster: _Cluster = None,
    storage_option: _StorageOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Leave out nodes of many traces so that whoever waited for them waits for what they waited for."""
    places = Places(inputs, output, manifest, threads, max_memory, report, resume, cluster, storage_option, json)
    places.run(
        "simplify",
        drop=split_list(drop),
        drop_views=drop_views,
        collapse_cpu=collapse_cpu,
        device_only=device_only,
        steps=None if steps is None else parse_steps(steps),
        on_error=on_error,
    )


@app.command()
def simulate(
    inputs: _Inputs = None,
    output: _Output = None,
    network: Annotated[
        Path | None,
        typer.Option(
            "--network", "--network-configuration", show_default=False, help="For runs that the manifest gives none."
        ),
    ] = None,
    system: Annotated[
        Path | None,
        typer.Option("--system", "--system-configuration", show_default=False, help="System (JSON)."),
    ] = None,
    comm_groups: Annotated[
        Path | None,
        typer.Option(
            "--comm-groups", "--comm-group-configuration", show_default=False, help="Communicator groups (JSON)."
        ),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option("--memory", "--remote-memory-configuration", show_default=False, help="Remote memory (JSON)."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", show_default=False, help="Of simulate, NAME=VALUE: congestion=true, fidelity=phase."),
    ] = None,
    manifest: _Manifest = None,
    threads: _Threads = 0,
    max_memory: _MaxMemory = None,
    report: _Report = None,
    resume: _Resume = True,
    cluster: _Cluster = None,
    storage_option: _StorageOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Simulate many runs: folders, globs of folders, or names with %d (runs/*/trace.%d.et)."""
    places = Places(inputs, output, manifest, threads, max_memory, report, resume, cluster, storage_option, json)
    places.run(
        "simulate",
        network=network,
        system=system,
        comm_groups=comm_groups,
        memory=memory,
        simulation=_simulation_options(option or []),
        on_error=on_error,
    )


def _simulation_options(texts: list[str]) -> dict[str, Any]:
    import yaml

    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--option {text}: write NAME=VALUE, e.g. congestion=true")
        # "cpu=4,comm=2" is a text, true a truth value, 4 a number.
        options[name.replace("-", "_")] = yaml.safe_load(value)
    return options
