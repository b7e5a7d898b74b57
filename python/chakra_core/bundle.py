# SPDX-License-Identifier: MIT
"""Ranks that run the same program, in one file (`.etb`): the program once, and what each rank has for itself."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from chakra_core._core import BlockNode, BlockProgram, ChakraError, ConfigError, FormatError, Trace
from chakra_core.config import CommGroups
from chakra_core.output import complete_path

SUFFIX = ".etb"
_FORMAT = "chakra_core ranks"
_VERSION = 1
_PLACEMENT_COLUMNS = ("block", "label", "link_offsets", "link_placement", "link_node")

Value: TypeAlias = int | str
_Traces = TypeVar("_Traces")
_Groups = TypeVar("_Groups")
Plain: TypeAlias = dict[str, Any]


class RankTable(NamedTuple):
    """What ranks have for themselves.

    Attributes:
        program: which program each rank runs.
        values: a list for each value, with an entry for each rank.
    """

    program: Sequence[int]
    values: Sequence[Sequence[Value]]


class Bundle:
    """Programs, and the ranks that run them. Traces are made when they are asked for.

    Attributes:
        groups: ranks of each process group.
    """

    def __init__(self, programs: Sequence[Plain], ranks: RankTable, groups: CommGroups) -> None:
        """Take over programs in their plain form (docs/formats.md).

        Raises:
            ChakraError, TypeError, ValueError, KeyError: they are not of that form.
        """
        self.groups = groups
        self._plain = programs
        self._ranks = ranks
        self._programs = [_program(one) for one in programs]
        lengths = {len(values) for values in ranks.values}
        if lengths - {len(ranks.program)}:
            raise ValueError(f"{len(ranks.program)} ranks have {sorted(lengths)} values")
        if any(not 0 <= number < len(programs) for number in ranks.program):
            raise ValueError(f"a rank runs a program that is none of {len(programs)}")

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return len(self._ranks.program)

    @property
    def num_nodes(self) -> int:
        """Nodes of all ranks together."""
        sizes = [len(program) for program in self._programs]
        return sum(sizes[number] for number in self._ranks.program)

    def trace(self, rank: int) -> Trace:
        """Make the trace of a rank.

        Raises:
            ConfigError: there is no such rank.
            ChakraError: the program does not fit itself.
        """
        if not 0 <= rank < self.num_ranks:
            raise ConfigError(f"there is no rank {rank}; the run has {self.num_ranks}")
        values = [column[rank] for column in self._ranks.values]
        trace: Trace = self._programs[self._ranks.program[rank]].build(values)
        return trace

    def traces(self) -> list[Trace]:
        """Make the traces of all ranks, several at a time."""
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(self.trace, range(self.num_ranks)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to a file; the same run gives the same bytes.

        Raises:
            OSError: the file cannot be written; nothing is left behind.
        """
        data = {
            "format": _FORMAT,
            "version": _VERSION,
            "programs": self._plain,
            "ranks": {"program": self._ranks.program, "values": self._ranks.values},
            "groups": {name: list(ranks) for name, ranks in self.groups.groups.items()},
        }
        text = json.dumps(data, separators=(",", ":")).encode()
        with complete_path(Path(path)) as temporary:
            temporary.write_bytes(gzip.compress(text, compresslevel=6, mtime=0))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int = 0) -> Bundle:
        """Read what `save` wrote.

        Args:
            path: the file.
            max_bytes: most bytes that it may inflate to; 0 is any number.

        Raises:
            FormatError: it is no such file, or of a newer version; says what is wrong.
            OSError: the file cannot be read.
        """
        try:
            data = json.loads(_inflated(path, max_bytes))
            return cls._from_plain(data)
        except FormatError:
            raise
        except (gzip.BadGzipFile, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise FormatError(f"{os.fspath(path)}: is no bundle of ranks: {error}") from None
        except (ChakraError, TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            raise FormatError(f"{os.fspath(path)}: {_first_line(error)}") from None

    @classmethod
    def _from_plain(cls, data: Any) -> Bundle:
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            raise ValueError(f'is no bundle of ranks: expected "format": "{_FORMAT}"')
        if data.get("version") != _VERSION:
            raise ValueError(f"version {data.get('version')!r} of the format; this reads version {_VERSION}")
        ranks = data["ranks"]
        return cls(data["programs"], RankTable(ranks["program"], ranks["values"]), CommGroups(groups=data["groups"]))


def _inflated(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    with Path(path).open("rb") as file, gzip.GzipFile(fileobj=file) as inflating:
        text = inflating.read(max_bytes + 1 if max_bytes else -1)
    if max_bytes and len(text) > max_bytes:
        raise FormatError(f"{os.fspath(path)}: inflates to more than max_bytes, {max_bytes}")
    return text


def _first_line(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error).split("\n", 1)[0]


def plain_node(
    name: str,
    kind: str,
    *,
    duration_ns: int = 0,
    attrs: Mapping[str, object] | None = None,
    rank_attrs: Sequence[tuple[str, int]] = (),
    parents: Sequence[int] = (),
    inputs: Sequence[int] = (),
    queue: int | None = None,
) -> Plain:
    """Return a node in the plain form, without what it has not."""
    node: Plain = {"name": name, "type": kind}
    optional = {
        "duration_ns": duration_ns,
        "attrs": dict(attrs or {}),
        "rank_attrs": [list(pair) for pair in rank_attrs],
        "parents": list(parents),
        "inputs": list(inputs),
    }
    node |= {key: value for key, value in optional.items() if value}
    if queue is not None:
        node["queue"] = queue
    return node


def _program(plain: Plain) -> BlockProgram:
    blocks = [([_node(node) for node in block["nodes"]], block["inputs"]) for block in plain["blocks"]]
    placements = plain["placements"]
    return BlockProgram(blocks=blocks, **{column: placements[column] for column in _PLACEMENT_COLUMNS})


def _node(plain: Plain) -> BlockNode:
    return BlockNode(
        plain["name"],
        plain["type"],
        duration_ns=plain.get("duration_ns", 0),
        attrs=plain.get("attrs", {}),
        rank_attrs=[(name, value) for name, value in plain.get("rank_attrs", [])],
        parents=plain.get("parents", []),
        inputs=plain.get("inputs", []),
        queue=plain.get("queue"),
    )


def is_bundle(source: object) -> bool:
    """Whether this names a bundle of ranks."""
    return isinstance(source, str | os.PathLike) and os.fspath(source).endswith(SUFFIX)


def unpacked(traces: _Traces, comm_groups: _Groups) -> tuple[_Traces | list[Trace], _Groups | CommGroups]:
    """Take a bundle apart, where `traces` names one; groups that are given come before its own."""
    if not isinstance(traces, str | os.PathLike) or not is_bundle(traces):
        return traces, comm_groups
    bundle = Bundle.load(traces)
    return bundle.traces(), bundle.groups if comm_groups is None else comm_groups
