# SPDX-License-Identifier: MIT
"""Host and device traces that belong together, rank by rank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chakra_core._core import ConfigError
from chakra_core.rank_traces import files_by_rank


@dataclass(frozen=True)
class TracePair:
    """The records of one rank; the rank is None if no name tells it."""

    rank: int | None
    host: Path | None
    device: Path | None

    @property
    def name(self) -> str:
        """Its files, for people."""
        return " + ".join(str(path) for path in (self.host, self.device) if path is not None)


def trace_pairs(host: str | None, device: str | None, rank: int | None) -> list[TracePair]:
    """Pair host and device files: one pair of paths, or names with %d.

    Raises:
        ConfigError: nothing is given, or a rank has only one of both.
    """
    if host is None and device is None:
        raise ConfigError("nothing to read: give --host, --device or both")
    hosts = {} if host is None else files_by_rank([host])
    devices = {} if device is None else files_by_rank([device])
    for name, mine, other in (("--host", hosts, devices), ("--device", devices, hosts)):
        alone = sorted(set(mine) - set(other))
        if alone and other:
            raise ConfigError(f"{name} {mine[alone[0]]}: rank {alone[0]} has no file on the other side")
    ranks = sorted(hosts or devices)
    if len(ranks) == 1:
        return [TracePair(rank, hosts.get(ranks[0]), devices.get(ranks[0]))]
    if rank is not None:
        raise ConfigError(f"--rank {rank} is for one pair of files, and there are {len(ranks)}")
    return [TracePair(number, hosts.get(number), devices.get(number)) for number in ranks]
