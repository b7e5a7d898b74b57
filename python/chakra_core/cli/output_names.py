# SPDX-License-Identifier: MIT
"""Names of the files that a command writes for a whole run."""

from __future__ import annotations

from pathlib import Path


def rank_paths(output: Path, ranks: int) -> list[Path]:
    """Put each rank in the place of %d."""
    return [Path(str(output).replace("%d", str(rank))) for rank in range(ranks)]


def beside(output: Path, what: str) -> Path:
    """Name a JSON file for a whole run: run.groups.json for run.%d.et."""
    name = output.name.replace(".%d", "").replace("%d", "")
    stem = name.removesuffix(".gz").removesuffix(".zst").removesuffix(".et").removesuffix(".json")
    return output.with_name(f"{stem or 'run'}.{what}.json")
