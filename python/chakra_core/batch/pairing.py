# SPDX-License-Identifier: MIT
"""Which host trace belongs to which device trace."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from chakra_core.batch.trace_files import TraceFile


@dataclass(frozen=True)
class Pair:
    """Traces of one rank; one side may be missing, for the reason in `problem`."""

    host: TraceFile | None
    device: TraceFile | None
    problem: str | None = None

    @property
    def rank(self) -> int | None:
        """The rank: the device trace knows it better."""
        known = [file.rank for file in (self.device, self.host) if file is not None and file.rank is not None]
        return known[0] if known else None


_Files: TypeAlias = "list[TraceFile]"
_Match: TypeAlias = "tuple[TraceFile, TraceFile]"


def pair_files(hosts: Sequence[TraceFile], devices: Sequence[TraceFile]) -> list[Pair]:
    """Pair host and device traces, first within each folder and then across folders.

    Two belong together if they are the only ones with their rank (by the file, else by its name), if they are the only
    ones of their process, or if they are alone in their folder and nothing speaks against it.

    Returns:
        Pairs in the order of their ranks, and of names where ranks are not known; then what has no partner.
    """
    by_folder: dict[str, tuple[_Files, _Files]] = defaultdict(lambda: ([], []))
    for side, files in enumerate((hosts, devices)):
        for file in files:
            by_folder[str(PurePosixPath(file.place).parent)][side].append(file)
    matches: list[_Match] = []
    left: tuple[_Files, _Files] = ([], [])
    for folder in sorted(by_folder):
        found, *rest = _match(*by_folder[folder])
        matches += found
        for all_left, of_folder in zip(left, rest, strict=True):
            all_left += of_folder
    across, left_hosts, left_devices = _match(*left)
    pairs = [Pair(host, device) for host, device in [*matches, *across]]
    alone = [Pair(host, None, _why_alone(host, left_hosts, left_devices, "device")) for host in left_hosts]
    alone += [Pair(None, device, _why_alone(device, left_devices, left_hosts, "host")) for device in left_devices]
    return sorted(pairs, key=_order) + sorted(alone, key=_order)


def _order(pair: Pair) -> tuple[int, str]:
    first = pair.host or pair.device
    return (-1 if pair.rank is None else pair.rank, first.place if first else "")


def _match(hosts: _Files, devices: _Files) -> tuple[list[_Match], _Files, _Files]:
    """Pair some files, and return those that are left of both sides."""
    found = _of_one_rank(hosts, devices)
    hosts, devices = _without(hosts, devices, found)
    of_process = _of_one_process(hosts, devices)
    hosts, devices = _without(hosts, devices, of_process)
    found += of_process
    if len(hosts) == len(devices) == 1 and any(file.rank is None or file.rank_is_weak for file in hosts + devices):
        found.append((hosts.pop(), devices.pop()))
    return found, hosts, devices


def _without(hosts: _Files, devices: _Files, matches: list[_Match]) -> tuple[_Files, _Files]:
    taken = {file.place for match in matches for file in match}
    return [file for file in hosts if file.place not in taken], [file for file in devices if file.place not in taken]


def _of_one_rank(hosts: _Files, devices: _Files) -> list[_Match]:
    """Pairs of files that are the only ones of their side with a rank."""
    mine, others = _only_of_their_rank(hosts), _only_of_their_rank(devices)
    return [(host, others[rank]) for rank, host in mine.items() if rank in others]


def _only_of_their_rank(files: _Files) -> dict[int, TraceFile]:
    counts = Counter(file.rank for file in files)
    return {file.rank: file for file in files if file.rank is not None and counts[file.rank] == 1}


def _of_one_process(hosts: _Files, devices: _Files) -> list[_Match]:
    """Pairs of which each is the only one that names the other's process, and whose ranks do not differ."""
    candidates = [
        (host, device)
        for host, device in _sharing_pids(hosts, devices)
        if None in (host.rank, device.rank) or host.rank == device.rank
    ]
    uses = Counter(file.place for pair in candidates for file in pair)
    return [pair for pair in candidates if all(uses[file.place] == 1 for file in pair)]


def _sharing_pids(hosts: _Files, devices: _Files) -> Iterable[_Match]:
    by_pid: dict[int, _Files] = defaultdict(list)
    for device in devices:
        for pid in device.pids:
            by_pid[pid].append(device)
    for host in hosts:
        partners = {device.place: device for pid in host.pids for device in by_pid[pid]}
        yield from ((host, device) for device in partners.values())


def _why_alone(file: TraceFile, mine: _Files, other: _Files, missing: str) -> str:
    if file.rank is None:
        return f"no {missing} trace belongs to it: neither its name nor its content tells its rank; give a manifest"
    alike = [one.place for one in mine if one.rank == file.rank]
    if len(alike) > 1:
        return f"rank {file.rank} has several files of one kind: {', '.join(alike[:3])}; give a manifest"
    there = [one.place for one in other if one.rank == file.rank]
    if there:
        return f"rank {file.rank} has several {missing} traces: {', '.join(there[:3])}; give a manifest"
    return f"rank {file.rank} has no {missing} trace"
