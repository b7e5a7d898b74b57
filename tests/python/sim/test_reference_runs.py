# SPDX-License-Identifier: MIT
"""ASTRA-sim's own configuration files through the public face, in parity: every integer of its runs is found again."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import chakra_core as cc
from chakra_core.config import SimulationOptions
from shared_data import SHARED, needs

REFERENCE = SHARED / "reference"

# Rows that ASTRA-sim finishes and this project refuses, by description, with the reason.
REFUSED = {
    "model-shared-bus=1 with L,o,g,G": "the shared-bus model is not offered",
    "memory node, remote-mem-bw missing (0)": "'remote-mem-bw': found 0",
    "duplicate node id": "ids must be unique",
}


def run(row: dict[str, Any], folder: Path) -> cc.Result:
    texts = {
        "network.yml": row["network_yml"],
        "system.json": row["system_json"],
        "memory.json": row["memory_json"],
        "groups.json": row["comm_group_json"] or "{}",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    options = SimulationOptions.from_arguments(row["extra_args"], parity=True, congestion=row["backend"] == "aware")
    return cc.simulate(
        REFERENCE / row["workload_dir"] / f"{row['workload_prefix']}.%d.et",
        network=folder / "network.yml",
        system=folder / "system.json",
        memory=folder / "memory.json",
        comm_groups=folder / "groups.json",
        record_nodes=False,
        **options.model_dump(by_alias=False),
    )


@needs(REFERENCE / "astra_grid.jsonl")
def test_every_finished_row_is_equal(tmp_path: Path) -> None:
    rows = map(json.loads, (REFERENCE / "astra_grid.jsonl").read_text(encoding="utf-8").splitlines())
    counts: Counter[str] = Counter()
    refused = {}
    different = []
    for row in rows:
        if row["expect"] != "finish":
            continue
        counts["edge" if row["category"] == "edge" else "ordinary"] += 1
        try:
            result = run(row, tmp_path)
        except cc.ChakraError as error:
            refused[row["description"]] = str(error)
            continue
        found = (result.finish_ns.tolist(), result.exposed_comm_ns.tolist())
        if found != (row["finish_ns"], row["exposed_comm_ns"]):
            different.append((row["id"], row["description"], found))
    assert different == []
    assert refused.keys() == REFUSED.keys()
    assert all(part in refused[description] for description, part in REFUSED.items())
    assert counts == {"ordinary": 462, "edge": 56}


@needs(SHARED / "data" / "et" / "stage_llama_dp2_tp2_pp2")
def test_stage_llama_runs_through(tmp_path: Path) -> None:
    folder = SHARED / "data" / "et" / "stage_llama_dp2_tp2_pp2"
    result = cc.simulate(
        folder / "workload",
        network=cc.Network(topology=["Ring", "Switch"], npus=[4, 2], bandwidth=[50, 25], latency=[500, 1000]),
        system=cc.System(roofline_enabled=True, peak_perf="312 TFLOPS", local_mem_bw="1.5 TB/s"),
        comm_groups=folder / "workload.json",
    )
    assert result.num_ranks == 8
    assert (result.compute_ns > 0).all()
    assert len(result.nodes()["id"]) == sum(len(trace) for trace in result.traces)
    result.to_perfetto(tmp_path / "run.pftrace")
    assert (tmp_path / "run.pftrace").stat().st_size > 1000
