# SPDX-License-Identifier: MIT
"""Rows of the reference grid, as the plain model of ASTRA-sim takes them."""

from __future__ import annotations

import functools
import json
from typing import Any

import yaml

import chakra_core as cc
from astra_oracle import Setup, Work
from chakra_core.config import SimulationOptions
from shared_data import SHARED

REFERENCE = SHARED / "reference"
GRID = REFERENCE / "astra_grid.jsonl"


@functools.cache
def nodes_of(path: str) -> list[Work]:
    trace = cc.load(path)
    return [
        Work(
            id=id_,
            kind=cc.NodeType(int(trace.types[row])).name,
            parents=trace.ids[[*trace.data_deps[row], *trace.ctrl_deps[row]]].tolist(),
            duration=int(trace.duration_ns[row]),
            attrs=dict(trace.node(id_).attrs),
        )
        for row, id_ in enumerate(trace.ids.tolist())
    ]


def setup_of(row: dict[str, Any]) -> Setup:
    network = yaml.safe_load(row["network_yml"])
    options = SimulationOptions.from_arguments(row["extra_args"])
    return Setup(
        topology=network["topology"],
        npus=network["npus_count"],
        bandwidth=network["bandwidth"],
        latency=network["latency"],
        system=json.loads(row["system_json"]),
        groups=json.loads(row["comm_group_json"] or "{}"),
        memory=json.loads(row["memory_json"]),
        queues=options.num_queues_per_dim,
        rendezvous=options.rendezvous_protocol,
        injection_scale=options.injection_scale,
        congestion=row["backend"] == "aware",
    )


def rows() -> list[dict[str, Any]]:
    if not GRID.exists():
        return []
    every = map(json.loads, GRID.read_text(encoding="utf-8").splitlines())
    return [row for row in every if row["expect"] == "finish" and row["category"] != "edge"]
