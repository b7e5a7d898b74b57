# SPDX-License-Identifier: MIT
"""The command `convert`: PyTorch records to execution traces, and execution traces from one form to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import typer

from chakra_core._core import ConfigError, LinkedTrace, Trace
from chakra_core.bundle import Bundle, is_bundle
from chakra_core.cli.link import check_output, describe, link_pair, rank_of, replay_facts
from chakra_core.cli.pairs import TracePair, trace_pairs
from chakra_core.cli.parameters import (
    DeviceOption,
    HostOption,
    JsonOption,
    OnErrorOption,
    OutputOption,
    RankOption,
)
from chakra_core.cli.printing import format_bytes, format_count, print_json
from chakra_core.cli.progress import watch
from chakra_core.file_kind import kind_of_file
from chakra_core.io import save
from chakra_core.pytorch import Layout, load_linked
from chakra_core.pytorch import convert as convert_linked
from chakra_core.pytorch import replay as replay_trace
from chakra_core.rank_traces import files_by_rank
from chakra_core.recorded_groups import recorded_groups
from chakra_core.trace_source import is_remote, load_source


def convert(
    output: OutputOption,
    traces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TRACES]",
            show_default=False,
            help="Linked traces to convert, or execution traces to write in another form (.et, .json, .gz).",
        ),
    ] = None,
    host: HostOption = None,
    device: DeviceOption = None,
    rank: RankOption = None,
    layout: Annotated[
        Layout, typer.Option("--layout", help="exact replays to the recorded times; ops has one node an operator.")
    ] = "exact",
    memory_nodes: Annotated[
        bool, typer.Option("--memory-nodes", help="Copies between host and device become MEM_LOAD and MEM_STORE nodes.")
    ] = False,
    comm_groups: Annotated[
        Path | None,
        typer.Option(
            "--comm-groups", show_default=False, help="JSON file to write with the communicator groups, for simulators."
        ),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Check what was made of PyTorch traces against the recorded times.")
    ] = False,
    level: Annotated[
        int | None, typer.Option("--level", show_default=False, help="Of gzip (1 to 9) or zstd (1 to 19).")
    ] = None,
    schema_version: Annotated[
        str | None, typer.Option("--schema-version", show_default=False, help="To be said in the metadata.")
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Turn PyTorch traces into execution traces, or execution traces into another form.

    The name of the output says which form: .et or .json, each also with .gz or .zst.
    """
    options = SaveOptions(level, schema_version)
    choices = ConvertChoices(layout, memory_nodes, replay, on_error)
    if traces:
        if host is not None or device is not None or rank is not None:
            raise ConfigError("give either execution traces or PyTorch's --host and --device")
        converted = _convert_traces(traces, output, options, choices)
        if comm_groups is not None and is_bundle(traces[0]):
            Bundle.load(traces[0]).groups.save(comm_groups)
            comm_groups = None
    else:
        pairs = trace_pairs(host, device, rank)
        check_output(output, len(pairs))
        converted = [_convert_pair(pair, output, options, choices) for pair in pairs]
    written = [one for _, one in converted]
    if comm_groups is not None:
        recorded_groups(trace for trace, _ in converted).save(comm_groups)
    if json:
        print_json([{key: value for key, value in one.items() if key != "replay_text"} for one in written])
        return
    for one in written:
        typer.echo(f"{one['path']}: {format_count(one['nodes'])} nodes, {format_bytes(one['file_bytes'])}")
        for advice in one.get("link", {}).get("advice", ()):
            typer.echo(f"  advice: {advice}")
        for line in one.get("replay_text", "").splitlines():
            typer.echo(f"  {line}")


class SaveOptions(NamedTuple):
    """How a trace is written."""

    level: int | None
    schema_version: str | None


class ConvertChoices(NamedTuple):
    """How PyTorch's records become an execution trace."""

    layout: Layout
    memory_nodes: bool
    replay: bool
    on_error: OnErrorOption

    def convert(self, linked: LinkedTrace, name: str) -> Trace:
        """Make the execution trace, with a sign of life if it takes long."""
        return watch(
            f"converting {name}",
            lambda _: convert_linked(linked, layout=self.layout, memory_nodes=self.memory_nodes),
        )

    def check(self, trace: Trace) -> dict[str, Any]:
        """Play the trace against its record, if that is wanted."""
        if not self.replay:
            return {}
        report = watch("replaying", lambda _: replay_trace(trace))
        return {"replay": replay_facts(report), "replay_text": report.text}


_Converted: TypeAlias = "tuple[Trace, dict[str, Any]]"


def _convert_traces(traces: list[str], output: Path, options: SaveOptions, choices: ConvertChoices) -> list[_Converted]:
    if len(traces) == 1 and is_bundle(traces[0]):
        return _expand(traces[0], output, options)
    files = files_by_rank(traces)
    check_output(output, len(files))
    written = []
    for rank, file in files.items():
        if not is_remote(str(file)) and kind_of_file(file) == "linked":
            written.append(_convert_linked(file, rank, output, options, choices))
            continue
        trace = _load(file, choices.on_error)
        written.append((trace, {**_write(trace, output, rank, options), "source": str(file)}))
        for kind, number in trace.load_report.counts.items():
            typer.echo(f"{file}: {format_count(number)} {kind.replace('_', ' ')}", err=True)
    return written


def _expand(path: str, output: Path, options: SaveOptions) -> list[_Converted]:
    """Write the traces of a bundle, a file a rank."""
    bundle = Bundle.load(path)
    check_output(output, bundle.num_ranks)
    traces = ((rank, bundle.trace(rank)) for rank in range(bundle.num_ranks))
    return [(trace, {**_write(trace, output, rank, options), "source": path}) for rank, trace in traces]


def _load(path: Path, on_error: OnErrorOption) -> Trace:
    return watch(f"reading {path.name}", lambda progress: load_source(path, on_error=on_error, progress=progress))


def _write(trace: Trace, output: Path, rank: int, options: SaveOptions) -> dict[str, Any]:
    path = Path(str(output).replace("%d", str(rank)))
    watch(f"writing {path.name}", lambda progress: save(trace, path, progress=progress, **options._asdict()))
    return {"path": str(path), "rank": rank, "nodes": len(trace), "file_bytes": path.stat().st_size}


def _convert_linked(file: Path, rank: int, output: Path, options: SaveOptions, choices: ConvertChoices) -> _Converted:
    linked = watch(
        f"reading {file.name}", lambda progress: load_linked(file, on_error=choices.on_error, progress=progress)
    )
    trace = choices.convert(linked, file.name)
    facts = _write(trace, output, rank if linked.rank is None else linked.rank, options)
    more = {"rank": linked.rank, "source": str(file), "link": describe(linked)}
    return trace, {**facts, **more, **choices.check(trace)}


def _convert_pair(pair: TracePair, output: Path, options: SaveOptions, choices: ConvertChoices) -> _Converted:
    linked = link_pair(pair, choices.on_error)
    rank = rank_of(pair, linked)
    trace = choices.convert(linked, f"rank {rank}")
    known = pair.rank if pair.rank is not None else linked.rank
    facts = _write(trace, output, rank, options)
    return trace, {**facts, "rank": known, "link": describe(linked), **choices.check(trace)}
