# SPDX-License-Identifier: MIT
"""The command `link`: how well host and device traces fit together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chakra_core._core import ConfigError, LinkedTrace, ReplayReport
from chakra_core.cli.pairs import TracePair, trace_pairs
from chakra_core.cli.parameters import DeviceOption, HostOption, JsonOption, OnErrorOption, RankOption
from chakra_core.cli.printing import format_bytes, print_json
from chakra_core.cli.progress import watch
from chakra_core.pytorch import link as link_files


def link(
    host: HostOption = None,
    device: DeviceOption = None,
    rank: RankOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", show_default=False, help="Linked trace to write (.json, .json.gz), for convert."
        ),
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Join host and device traces of PyTorch and report how much of both was matched."""
    pairs = trace_pairs(host, device, rank)
    if output is not None:
        check_output(output, len(pairs))
    described = []
    for pair in pairs:
        linked = link_pair(pair, on_error)
        written = None if output is None else _save(linked, output, rank_of(pair, linked))
        if json:
            described.append({**describe(linked), **({"path": str(written)} if written else {})})
        else:
            typer.echo(f"{_title(pair, linked)}\n{linked.report.text}")
            if written:
                typer.echo(f"{written}: {format_bytes(written.stat().st_size)}")
    if json:
        print_json(described)


def check_output(output: Path, count: int) -> None:
    """Refuse one name for the files of several ranks."""
    if count > 1 and "%d" not in str(output):
        raise ConfigError(f"--output {output}: {count} ranks need a name with %d for the rank, e.g. out.%d.et")


def rank_of(pair: TracePair, linked: LinkedTrace) -> int:
    """Take the rank that names of files give, else what the device trace says, else 0."""
    return next((rank for rank in (pair.rank, linked.rank) if rank is not None), 0)


def _save(linked: LinkedTrace, output: Path, rank: int) -> Path:
    path = Path(str(output).replace("%d", str(rank)))
    watch(f"writing {path.name}", lambda _: linked.save(path))
    return path


def link_pair(pair: TracePair, on_error: OnErrorOption) -> LinkedTrace:
    """Link one rank's files, with a sign of life if it takes long."""
    return watch(
        f"linking {pair.name}",
        lambda progress: link_files(pair.host, pair.device, rank=pair.rank, on_error=on_error, progress=progress),
    )


def describe(linked: LinkedTrace) -> dict[str, Any]:
    """Facts about a linked trace, as plain values for JSON."""
    return {
        "rank": linked.rank,
        "span_ns": linked.span_ns,
        "num_host_nodes": linked.num_host_nodes,
        "num_device_events": linked.num_device_events,
        "process_groups": linked.process_groups,
        "counts": linked.report.counts,
        "advice": linked.report.advice,
        "replay": None if linked.report.replay is None else replay_facts(linked.report.replay),
    }


def replay_facts(report: ReplayReport) -> dict[str, Any]:
    """Figures of a replay, as plain values for JSON."""
    facts = ("recorded_ns", "replayed_ns", "total_error", "start_error_ns", "inversions")
    waits = ("unexplained_device_waits", "unexplained_device_wait_ns")
    return {name: getattr(report, name) for name in (*facts, *waits)}


def _title(pair: TracePair, linked: LinkedTrace) -> str:
    return pair.name if linked.rank is None else f"rank {linked.rank}: {pair.name}"
