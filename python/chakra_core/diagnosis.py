# SPDX-License-Identifier: MIT
"""What a file is, what is wrong with it, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from chakra_core import _core
from chakra_core._core import ChakraError, LinkedTrace, NodeType, Trace
from chakra_core.file_kind import KIND_NAMES, FileKind, kind_of_file
from chakra_core.pytorch import link, load_linked
from chakra_core.trace_source import OnError, load_source

_PathLike: TypeAlias = "str | os.PathLike[str]"

#: How the advice begins that is of no use where the other side is there.
_OTHER_SIDE_MISSING = ("there is no host trace", "there is no device trace")
#: A replay further off than this is worth a word.
_TOLERATED_ERROR = 0.01


@dataclass
class Diagnosis:
    """What was found out about a file, or about a pair of host and device trace.

    Attributes:
        path: the file or files.
        kind: what it is, by its content; "pair" for a host and a device trace together.
        facts: what it holds.
        problems: what is wrong with it.
        hints: what looks odd, and what to do to get a better trace.
    """

    path: str
    kind: FileKind | Literal["pair"]
    facts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; hints may be there."""
        return not self.problems

    @property
    def text(self) -> str:
        """All of it for people, several lines."""
        name = "a host and a device trace" if self.kind == "pair" else KIND_NAMES[self.kind]
        lines = [f"{self.path}: {name}"]
        lines += [f"  {fact}" for fact in self.facts]
        lines += [f"  problem: {problem}" for problem in self.problems]
        lines += [f"  hint: {hint}" for hint in self.hints]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text


def diagnose(*paths: _PathLike) -> list[Diagnosis]:
    """Look at files of any kind that this package reads.

    A host and a device trace given as two files are looked at as a pair, too.

    Args:
        paths: files; their content tells what they are.

    Returns:
        One diagnosis a file, in their order, then that of the pair. What cannot be read is a problem, not an error.
    """
    found = [_diagnose_file(path) for path in paths]
    kinds = [one.kind for one in found]
    if sorted(kinds) == ["device", "host"]:
        host, device = paths[kinds.index("host")], paths[kinds.index("device")]
        pair = _diagnose_pair(host, device)
        for one in found:
            one.hints = [hint for hint in one.hints if not hint.startswith(_OTHER_SIDE_MISSING)]
        found.append(pair)
    return found


def _diagnose_file(path: _PathLike) -> Diagnosis:
    diagnosis = Diagnosis(os.fspath(path), "unknown")
    try:
        diagnosis.kind = kind_of_file(path)
        _EXAMINERS[diagnosis.kind](path, diagnosis)
    except (OSError, ChakraError) as error:
        diagnosis.problems.append(str(error))
    return diagnosis


def _diagnose_pair(host: _PathLike, device: _PathLike) -> Diagnosis:
    diagnosis = Diagnosis(f"{os.fspath(host)} + {os.fspath(device)}", "pair")
    try:
        _examine_linked(_read_either_way(lambda on_error: link(host, device, on_error=on_error), diagnosis), diagnosis)
    except (OSError, ChakraError) as error:
        diagnosis.problems.append(str(error))
    return diagnosis


def _read_either_way(read: Callable[[OnError], LinkedTrace], diagnosis: Diagnosis) -> LinkedTrace:
    """Read strictly; if that fails say why, and read what can be read."""
    try:
        return read("strict")
    except ChakraError as error:
        diagnosis.problems.append(f"{error} (what follows was read with --on-error recover)")
        return read("recover")


def _examine_linked(linked: LinkedTrace, diagnosis: Diagnosis) -> None:
    counts = linked.report.counts
    coverage = counts.get("coverage", {})
    if linked.num_host_nodes:
        diagnosis.facts.append(f"host nodes: {linked.num_host_nodes:,}")
    if linked.num_device_events:
        diagnosis.facts.append(f"device events: {linked.num_device_events:,} over {linked.span_ns / 1e6:,.3f} ms")
    if linked.num_host_nodes and linked.num_device_events:
        matched, ops = coverage.get("host ops matched", 0), coverage.get("host ops", 0)
        diagnosis.facts.append(f"host operators matched: {matched:,} of {ops:,}")
    if work := coverage.get("device work", 0):
        to_launch = coverage.get("device work linked to its launch", 0)
        diagnosis.facts.append(f"device work linked to its launch: {to_launch:,} of {work:,}")
    communication = counts.get("communication", {})
    total = communication.get("collectives", 0) + communication.get("sends and receives", 0)
    if linked.num_device_events:
        diagnosis.facts.append(f"communication: {total:,}, process groups: {len(linked.process_groups):,}")
    for what, number in counts.get("readers", {}).items():
        diagnosis.problems.append(f"{what}: {number:,}")
    diagnosis.hints += linked.report.advice
    if linked.num_device_events and total == 0:
        diagnosis.hints.append("there is no communication; a trace of one rank alone simulates one rank only")
    if linked.num_device_events:
        error = _core.replay(_core.convert(linked)).total_error
        if abs(error) > _TOLERATED_ERROR:
            diagnosis.problems.append(f"converted and replayed it takes {100 * error:+.2f}% of the recorded time")


def _examine_host(path: _PathLike, diagnosis: Diagnosis) -> None:
    _examine_linked(_read_either_way(lambda on_error: link(path, None, on_error=on_error), diagnosis), diagnosis)


def _examine_device(path: _PathLike, diagnosis: Diagnosis) -> None:
    _examine_linked(_read_either_way(lambda on_error: link(None, path, on_error=on_error), diagnosis), diagnosis)


def _examine_linked_file(path: _PathLike, diagnosis: Diagnosis) -> None:
    _examine_linked(_read_either_way(lambda on_error: load_linked(path, on_error=on_error), diagnosis), diagnosis)


def _examine_et(path: _PathLike, diagnosis: Diagnosis) -> None:
    trace = load_source(path, on_error="recover")
    report = trace.validate()
    diagnosis.facts.append(f"nodes: {len(trace):,}, schema {trace.metadata.version or 'unknown'}")
    for kind, number in report.counts.items():
        first = next((problem for problem in report.problems if problem.kind == kind), None)
        message = kind.replace("_", " ") if first is None else first.message
        text = message if number == 1 else f"{message} ({number:,} of this kind)"
        wrong = first is None or first.severity == "error"
        (diagnosis.problems if wrong else diagnosis.hints).append(text)
    diagnosis.hints += _oddities(trace)


def _oddities(trace: Trace) -> list[str]:
    """Tell what simulators accept and few people mean."""
    hints = []
    types = np.asarray(trace.types)
    communicates = (types >= NodeType.COMM_SEND_NODE) & (types <= NodeType.COMM_COLL_NODE)
    if not communicates.any():
        hints.append("there is no communication node: ranks will run side by side and never wait for each other")
    if elements := _sizes_in_elements(trace, communicates):
        hints.append(
            f"comm_size of {elements:,} communication nodes seems to be their number of elements; simulators want bytes"
        )
    if len(trace) and not trace.duration_ns.any() and not trace.attr("num_ops").count():
        hints.append("no node has a duration or num_ops: computation will take no time")
    return hints


def _sizes_in_elements(trace: Trace, communicates: np.ndarray[Any, Any]) -> int:
    """How many communication nodes have the bytes of their input divided by the size of an element."""
    found = 0
    sizes = trace.attr("comm_size")
    for row in np.flatnonzero(communicates & ~np.ma.getmaskarray(sizes)).tolist()[:1000]:
        node = trace.at(row)
        elements = _elements(node.inputs.shapes) or _stage_elements(node.attrs.get("inputs"))
        if elements > 1 and int(sizes[row]) == elements:
            found += 1
    return found


def _elements(shapes: str) -> int:
    """Count the elements of one tensor, "[[4, 8]]"; 0 for anything else."""
    text = shapes.strip()
    if not (text.startswith("[[") and text.endswith("]]")) or "], [" in text:
        return 0
    parts = text.strip("[]").split(",")
    return int(np.prod([int(part) for part in parts])) if all(part.strip().isdigit() for part in parts) else 0


def _stage_elements(inputs: Any) -> int:
    """Count elements as STAGE writes them: a list of a tensor's name and its number of elements, in turns."""
    if not isinstance(inputs, list) or len(inputs) % 2:
        return 0
    try:
        return int(sum(float(number) for number in inputs[1::2]))
    except (TypeError, ValueError, OverflowError):
        return 0


def _examine_empty(path: _PathLike, diagnosis: Diagnosis) -> None:
    diagnosis.problems.append("the file is empty: whatever wrote it was stopped before it wrote anything")


def _examine_unknown(path: _PathLike, diagnosis: Diagnosis) -> None:
    known = [KIND_NAMES[kind] for kind in ("host", "device", "linked", "et", "et-json")]
    diagnosis.problems.append(f"the content is none of: {', '.join(known)}")


_EXAMINERS: dict[str, Callable[[_PathLike, Diagnosis], None]] = {
    "host": _examine_host,
    "device": _examine_device,
    "linked": _examine_linked_file,
    "et": _examine_et,
    "et-json": _examine_et,
    "empty": _examine_empty,
    "unknown": _examine_unknown,
}


def installation() -> Sequence[str]:
    """Tell what this installation can do, a line each."""
    lines = [f"chakra_core {_core.__version__}, zstd {'built in' if _core.has_zstd() else 'not built in'}"]
    for package, purpose in (
        ("torch", "collect"),
        ("pandas", "to_pandas"),
        ("pyarrow", "to_arrow, to_parquet, dump --parquet"),
        ("networkx", "to_networkx"),
        ("fsspec", "remote paths"),
    ):
        lines.append(f"{package}: {_version(package) or 'not installed'} ({purpose})")
    return lines


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
