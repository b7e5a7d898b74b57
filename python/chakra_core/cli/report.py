# SPDX-License-Identifier: MIT
"""The command `report`: a run as one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chakra_core._core import ConfigError, LinkedTrace, Trace
from chakra_core.cli.link import link_pair
from chakra_core.cli.loading import load_named
from chakra_core.cli.pairs import trace_pairs
from chakra_core.cli.parameters import DeviceOption, HostOption, JsonOption, OnErrorOption, OutputOption, RankOption
from chakra_core.cli.printing import format_bytes, print_json
from chakra_core.cli.progress import watch
from chakra_core.config import CommGroups, Memory, Network, System
from chakra_core.pytorch import convert
from chakra_core.pytorch import replay as replay_trace
from chakra_core.result import Result
from chakra_core.simulation import simulate

_File = Path | None


def report(
    output: OutputOption,
    traces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TRACES", show_default=False, help="Trace files, globs, or a name with %d for the rank (run.%d.et)."
        ),
    ] = None,
    host: HostOption = None,
    device: DeviceOption = None,
    rank: RankOption = None,
    network: Annotated[
        _File,
        typer.Option(
            "--network", show_default=False, help="Network to simulate on (YAML or JSON); else recorded times."
        ),
    ] = None,
    system: Annotated[_File, typer.Option("--system", help="System (JSON); by default the ring algorithm.")] = None,
    comm_groups: Annotated[_File, typer.Option("--comm-groups", help="Communicator groups (JSON).")] = None,
    memory: Annotated[_File, typer.Option("--memory", help="Remote memory (JSON).")] = None,
    congestion: Annotated[bool, typer.Option("--congestion", help="Messages wait for busy links.")] = False,
    title: Annotated[str | None, typer.Option("--title", show_default=False, help="Above the page.")] = None,
    ranks: Annotated[
        str | None,
        typer.Option("--ranks", show_default=False, help="Whose timeline is drawn: 0,1,8; by default at most 16."),
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Write a run as one HTML page: timeline, where the time went, bandwidths, use of the network.

    Of execution traces, or of PyTorch's --host and --device traces, which are linked and checked. With --network they
    are simulated, else their recorded times are shown. simulate --report has all other options of a simulation.
    """
    # Imported here, because no other command draws.
    from chakra_core.reports.page import plotly_library
    from chakra_core.reports.run_report import as_recorded, run_page

    plotly_library()
    drawn = _numbers(ranks)
    linked, loaded = _inputs(traces, host, device, rank, on_error)
    options = {"system": system, "comm_groups": comm_groups, "memory": memory}
    if network is None:
        unused = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
        if unused or congestion:
            raise ConfigError(f"{', '.join([*unused, *(['--congestion'] if congestion else [])])} needs --network")
        result = watch("playing the record", lambda _: as_recorded(loaded))
    else:
        result = _simulated(loaded, network, system, comm_groups, memory, congestion=congestion)
    _check_ranks(drawn or [], result.num_ranks)
    replays = watch("replaying", lambda _: [replay_trace(trace) for trace in loaded if _is_converted(trace)])
    page = run_page(result, title=title, link=linked or None, replay=replays or None, ranks=drawn)
    watch(f"writing {output.name}", lambda _: page.write(output))
    size = output.stat().st_size
    if json:
        print_json({"path": str(output), "ranks": result.num_ranks, "total_ns": result.total_ns, "file_bytes": size})
    else:
        typer.echo(f"{output}: {result.num_ranks} ranks, {format_bytes(size)}; open it in a browser")


def _inputs(
    traces: list[str] | None, host: str | None, device: str | None, rank: int | None, on_error: OnErrorOption
) -> tuple[list[LinkedTrace], list[Trace]]:
    if traces:
        if host is not None or device is not None or rank is not None:
            raise ConfigError("give either execution traces or PyTorch's --host and --device")
        return [], load_named(traces, on_error=on_error)
    linked = [link_pair(pair, on_error) for pair in trace_pairs(host, device, rank)]
    return linked, watch("converting", lambda _: [convert(one) for one in linked])


def _simulated(
    traces: list[Trace], network: Path, system: _File, comm_groups: _File, memory: _File, *, congestion: bool
) -> Result:
    network_model = Network.load(network)
    system_model = System() if system is None else System.load(system)
    groups = None if comm_groups is None else CommGroups.load(comm_groups)
    memory_model = None if memory is None else Memory.load(memory)
    return watch(
        "simulating",
        lambda progress: simulate(
            traces,
            network=network_model,
            system=system_model,
            comm_groups=groups,
            memory=memory_model,
            congestion=congestion,
            progress=progress,
        ),
    )


def _is_converted(trace: Trace) -> bool:
    """Whether the trace holds a record that it can be played against."""
    return "layout" in trace.metadata.attrs and bool(trace.start_ns.any())


def _check_ranks(drawn: list[int], ranks: int) -> None:
    for rank in drawn:
        if not 0 <= rank < ranks:
            raise ConfigError(f"--ranks: found rank {rank}, allowed: 0 to {ranks - 1}")


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ConfigError(f"--ranks {text}: found no list of numbers such as 0,1,8") from None
