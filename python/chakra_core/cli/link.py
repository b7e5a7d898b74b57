# SPDX-License-Identifier: MIT
"""The command `link`: how well host and device traces fit together."""

from __future__ import annotations

from typing import Any

import typer

from chakra_core._core import LinkedTrace
from chakra_core.cli.pairs import TracePair, trace_pairs
from chakra_core.cli.parameters import DeviceOption, HostOption, JsonOption, OnErrorOption, RankOption
from chakra_core.cli.printing import print_json
from chakra_core.cli.progress import watch
from chakra_core.pytorch import link as link_files


def link(
    host: HostOption = None,
    device: DeviceOption = None,
    rank: RankOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Join host and device traces of PyTorch and report how much of both was matched."""
    described = []
    for pair in trace_pairs(host, device, rank):
        linked = link_pair(pair, on_error)
        if json:
            described.append(describe(linked))
        else:
            typer.echo(f"{_title(pair, linked)}\n{linked.report.text}")
    if json:
        print_json(described)


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
    }


def _title(pair: TracePair, linked: LinkedTrace) -> str:
    return pair.name if linked.rank is None else f"rank {linked.rank}: {pair.name}"
