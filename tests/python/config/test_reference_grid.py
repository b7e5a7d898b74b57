# SPDX-License-Identifier: MIT
"""Every configuration that ASTRA-sim ran is read, and each one it chokes on is refused for the right reason."""

import json
from pathlib import Path
from typing import Any

from chakra_core import CommGroups, ConfigError, Memory, Network, System
from chakra_core.config import SimulationOptions
from shared_data import SHARED, needs

GRID = SHARED / "reference" / "astra_grid.jsonl"

# What is refused on purpose, by the description of its row.
REFUSED = {
    "unknown implementation name": "'all-reduce-implementation'[0]: found 'tree'",
    "preferred-dataset-splits missing (default 0)": "missing key 'preferred-dataset-splits'",
    "collective-optimization missing, 2D": "missing key 'collective-optimization'",
    "unknown scheduling-policy": "'scheduling-policy': found 'SJF'",
    "model-shared-bus=1 with L,o,g,G": "'model-shared-bus': found 1",
    "memory node, remote-mem-bw missing (0)": "'remote-mem-bw': found 0",
    "memory-type missing": "missing key 'memory-type'",
    "bandwidth 0": "'bandwidth'[0]: found 0",
    "list length mismatch": "'topology' has 2, 'npus_count' has 1",
}


def read_all(row: dict[str, Any], folder: Path) -> Network:
    for name, model in {"system_json": System, "memory_json": Memory, "comm_group_json": CommGroups}.items():
        if row[name] is not None:
            path = folder / f"{name}.json"
            path.write_text(row[name])
            model.load(path)  # type: ignore[attr-defined]
    SimulationOptions.from_arguments(row["extra_args"])
    (folder / "network.yml").write_text(row["network_yml"])
    return Network.load(folder / "network.yml")


@needs(GRID)
def test_grid_configurations(tmp_path: Path) -> None:
    refused = {}
    with GRID.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            try:
                assert read_all(row, tmp_path).num_npus == row["npus"]
            except ConfigError as error:
                refused[row["description"]] = str(error)
    assert refused.keys() == REFUSED.keys()
    for description, part in REFUSED.items():
        assert part in refused[description]
