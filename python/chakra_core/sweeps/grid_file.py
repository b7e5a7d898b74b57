# SPDX-License-Identifier: MIT
"""A sweep in a file: traces, what is the same for all, and the grid."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field
from typing_extensions import Self

from chakra_core.config.model import ConfigModel
from chakra_core.sweeps.runner import sweep
from chakra_core.sweeps.table import SweepResult
from chakra_core.trace_source import is_remote


class GridFile(ConfigModel):
    """A sweep as YAML or JSON; paths are relative to the file.

    Attributes:
        traces: a name with %d, a glob, a folder, or a list in rank order.
        network: a path, or the network itself; so are all up to `memory`.
        system: algorithms, chunking and speeds.
        comm_groups: communicator groups.
        memory: remote memory.
        options: further arguments of `chakra_core.simulate`.
        grid: lists of values by paths; see `chakra_core.sweep`.
        output: file for the table (.parquet, .csv, .json).
    """

    traces: str | tuple[str, ...]
    network: str | Mapping[str, Any]
    system: str | Mapping[str, Any] | None = None
    comm_groups: str | Mapping[str, Any] | None = None
    memory: str | Mapping[str, Any] | None = None
    options: Mapping[str, Any] = Field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]]
    output: str | None = None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file, and take its paths from its folder on.

        Raises:
            ConfigError: names the file, the key, what was found, and what is allowed.
        """
        read = super().load(path)
        folder = Path(path).parent
        names = ("traces", "network", "system", "comm_groups", "memory", "output")
        moved = read.model_copy(update={name: _from(folder, getattr(read, name)) for name in names})
        moved._source = read.source
        return moved

    def run(self, **options: Any) -> SweepResult:
        """Carry out the sweep; `options` (threads, output, report, observer) as for `chakra_core.sweep`."""
        given = {"output": self.output, **{name: value for name, value in options.items() if value is not None}}
        names = {name.replace("-", "_"): value for name, value in self.options.items()}
        return sweep(
            self.traces,
            self.grid,
            network=self.network,
            system=self.system,
            comm_groups=self.comm_groups,
            memory=self.memory,
            **names,
            **given,
        )


def _from(folder: Path, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_from(folder, one) for one in value)
    return str(folder / value) if isinstance(value, str) and not is_remote(value) else value
