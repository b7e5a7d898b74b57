# SPDX-License-Identifier: MIT
"""Manifests: files that list the items of a batch, as CSV, JSON or JSON lines."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ConfigDict, Field
from typing_extensions import Self

from chakra_core._core import ConfigError
from chakra_core.config.model import ConfigModel
from chakra_core.trace_source import is_remote

Manifest: TypeAlias = "str | os.PathLike[str] | Iterable[Mapping[str, Any]]"


class ManifestRow(ConfigModel):
    """An item: what goes in, and where it goes.

    Attributes:
        rank: the rank.
        host: host trace.
        device: device trace (Kineto).
        trace: linked or execution trace.
        traces: those of a run: a name with %d, a glob, a folder, or a list in rank order.
        network: network of a run.
        system: system of a run.
        comm_groups: communicator groups of a run.
        memory: remote memory of a run.
        output: what is written; by default what the template says.

    Other columns are for templates of outputs.
    """

    model_config = ConfigDict(extra="allow")

    rank: int | None = Field(default=None, ge=0)
    host: str | None = None
    device: str | None = None
    trace: str | None = None
    traces: str | tuple[str, ...] | None = None
    network: str | None = None
    system: str | None = None
    comm_groups: str | None = None
    memory: str | None = None
    output: str | None = None

    @property
    def columns(self) -> dict[str, str]:
        """Values of the other columns."""
        return {name: str(value) for name, value in (self.model_extra or {}).items()}

    @classmethod
    def of(cls, values: Mapping[str, Any], source: str, folder: Path | None) -> Self:
        """Check a row, and take its paths from `folder` on."""
        given = {str(key): value for key, value in values.items() if value not in (None, "")}
        if None in values:
            raise ConfigError(f"{source}: more cells than columns")
        row = cls._from_file_data(given, source)
        if folder is None:
            return row
        paths = ("host", "device", "trace", "traces", "network", "system", "comm_groups", "memory")
        return row.model_copy(update={name: _from(folder, getattr(row, name)) for name in paths})


def read_manifest(manifest: Manifest) -> list[ManifestRow]:
    """Read a manifest: a file (.csv; .jsonl; anything else JSON, a list or {"items": [...]}), or rows as mappings.

    Paths of inputs in a file are relative to its folder, those of outputs to the current one.

    Raises:
        ConfigError: names the row, what was found and what is allowed.
    """
    if not isinstance(manifest, str | os.PathLike):
        return [ManifestRow.of(row, f"manifest, row {number}", None) for number, row in enumerate(manifest, 1)]
    path = Path(manifest)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the manifest: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file: byte {error.start} is not UTF-8") from None
    rows = _read_csv(text) if path.suffix.lower() == ".csv" else _read_json(text, path)
    if not rows:
        raise ConfigError(f"{path}: the manifest has no rows")
    return [ManifestRow.of(row, f"{path}, row {number}", path.parent) for number, row in enumerate(rows, 1)]


def _from(folder: Path, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_from(folder, one) for one in value)
    return value if value is None or is_remote(value) else str(folder / value)


def _read_csv(text: str) -> list[Mapping[str, Any]]:
    return list(csv.DictReader(text.splitlines(), skipinitialspace=True))


def _read_json(text: str, path: Path) -> list[Mapping[str, Any]]:
    try:
        if path.suffix.lower() == ".jsonl":
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: malformed JSON: {error}") from None
    rows = data.get("items") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f'{path}: expected a list of objects, or {{"items": [...]}}')
    return rows
