# SPDX-License-Identifier: MIT
"""The items of a batch: from globs, names with %d, folders, and manifests."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from chakra_core._core import ConfigError
from chakra_core.batch.manifest import Manifest, ManifestRow, read_manifest
from chakra_core.batch.naming import stem_of
from chakra_core.batch.operations import RUN_FILES, Takes
from chakra_core.batch.pairing import Pair, pair_files
from chakra_core.batch.places import StorageOptions, local_path
from chakra_core.batch.trace_files import TraceFile, look_at, rank_in_name
from chakra_core.batch.work_item import WorkItem
from chakra_core.file_kind import KIND_NAMES
from chakra_core.rank_traces import expand_paths, files_by_rank
from chakra_core.trace_source import remote_files, remote_folder_or_file, remote_system

Inputs: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
Unpaired: TypeAlias = Literal["fail", "use", "skip"]

_TRACE_SUFFIXES = tuple(form + packed for form in (".et", ".json") for packed in ("", ".gz", ".zst", ".zstd"))
_LOOKING_THREADS = 8
_PLACE = re.compile(r"%(0\d+)?d")


@dataclass(frozen=True)
class Sources:
    """Where the items of a batch come from; at least one of these must say something.

    Attributes:
        inputs: files, globs ("**" goes into folders), folders, names with %d; URLs of the same.
        host: host traces, as `inputs`.
        device: device traces, as `inputs`.
        manifest: a file that lists the items, or rows; see `read_manifest`.
        unpaired: what becomes of a host or device trace without the other: an item that failed ("fail"), an item of
            its own ("use"), or none ("skip").
        options: for fsspec.
        outputs: matches what earlier runs wrote; such files in a folder are no inputs, unless all are like that.
    """

    inputs: Inputs = ()
    host: Inputs = ()
    device: Inputs = ()
    manifest: Manifest | None = None
    unpaired: Unpaired = "fail"
    options: StorageOptions = field(default_factory=dict)
    outputs: re.Pattern[str] | None = None

    def items(self, takes: Takes) -> list[WorkItem]:
        """Find the items for an operation.

        Raises:
            ConfigError: something stands for no file, or there is nothing to do.
        """
        rows = [] if self.manifest is None else read_manifest(self.manifest)
        items = [_item_of_row(row, takes, self.options) for row in rows]
        if takes == "runs":
            items += [item for text in _listed(self.inputs) for item in _runs(text, self.options)]
        else:
            items += self._items_of_files(takes)
        if not items:
            raise ConfigError("nothing to do: give files, globs, folders or a manifest")
        return items

    def _items_of_files(self, takes: Takes) -> list[WorkItem]:
        hosts, devices = _expand(self.host, self.options), _expand(self.device, self.options)
        if (hosts or devices) and takes == "traces":
            raise ConfigError("host and device traces are for link and convert only")
        folders = [text for text in _listed(self.inputs) if _is_folder(text, self.options)]
        named = _expand([text for text in _listed(self.inputs) if text not in folders], self.options)
        found = self._without_outputs(_expand(folders, self.options))
        if takes == "traces" and not folders:
            return [_single(TraceFile(place, "et", rank_in_name(place))) for place in named]
        files = _look_at_all([*named, *found, *hosts, *devices], self.options)
        sides: dict[str, list[TraceFile]] = {"host": [], "device": []}
        singles: list[WorkItem] = []
        for place in dict.fromkeys([*named, *found, *hosts, *devices]):
            file = files[place]
            side = "host" if place in hosts else "device" if place in devices else file.kind
            if side in sides and takes != "traces":
                sides[side].append(file)
            elif item := _item_of_file(file, takes, was_named=place in named):
                singles.append(item)
        pairs = pair_files(sides["host"], sides["device"])
        return [item for pair in pairs if (item := self._item_of_pair(pair)) is not None] + singles

    def _without_outputs(self, places: list[str]) -> list[str]:
        outputs = self.outputs
        return [place for place in places if outputs is None or not outputs.fullmatch(place)] or places

    def _item_of_pair(self, pair: Pair) -> WorkItem | None:
        sides = {"host": pair.host, "device": pair.device}
        files = {side: file for side, file in sides.items() if file is not None}
        if pair.problem is not None and self.unpaired == "skip":
            return None
        problems = [f"{file.place}: {file.problem}" for file in files.values() if file.problem]
        if pair.problem is not None and self.unpaired == "fail":
            problems.append(f"{pair.problem} (--unpaired use takes it alone)")
        places = {side: file.place for side, file in files.items()}
        first = next(iter(places.values()))
        return WorkItem(
            places,
            rank=pair.rank,
            stem=_common_stem(list(places.values())),
            folder=PurePosixPath(first).parent.name,
            problem="; ".join(problems) or None,
        )


def _listed(inputs: Inputs) -> list[str]:
    return [os.fspath(inputs)] if isinstance(inputs, str | os.PathLike) else [os.fspath(one) for one in inputs]


def _is_folder(text: str, options: StorageOptions) -> bool:
    path = local_path(text)
    if path is not None:
        return path.is_dir()
    return not glob.has_magic(text) and not _PLACE.search(text) and remote_folder_or_file(text, options) == "folder"


def _expand(inputs: Inputs, options: StorageOptions) -> list[str]:
    """Places that inputs stand for, each once, in rank order within a name with %d and sorted within a glob."""
    return list(dict.fromkeys(place for text in _listed(inputs) for place in _expand_one(text, options)))


def _expand_one(text: str, options: StorageOptions) -> list[str]:
    path = local_path(text)
    if path is None:
        return _expand_remote(text, options)
    if path.is_dir():
        return sorted(str(one) for one in path.rglob("*") if one.name.endswith(_TRACE_SUFFIXES) and one.is_file())
    if path.is_file():
        return [str(path)]
    if glob.has_magic(str(path)) and not _PLACE.search(str(path)):
        matches = sorted(one for one in glob.glob(str(path), recursive=True) if Path(one).is_file())  # noqa: PTH207
        if not matches:
            raise ConfigError(f"{text}: no file matches")
        return matches
    return [str(one) for one in expand_paths([str(path)])]


def _expand_remote(text: str, options: StorageOptions) -> list[str]:
    if _PLACE.search(text):
        return [place for _, run in _runs_of_pattern(text, options) for _, place in sorted(run.items())]
    if glob.has_magic(text):
        if found := remote_files(text, options):
            return found
        raise ConfigError(f"{text}: no file matches")
    system, name = remote_system(text, options)
    what = remote_folder_or_file(text, options)
    if what == "absent":
        raise ConfigError(f"{text}: no such file")
    if what == "file":
        return [text]
    return sorted(system.unstrip_protocol(one) for one in system.find(name) if one.endswith(_TRACE_SUFFIXES))


def _look_at_all(places: Iterable[str], options: StorageOptions) -> dict[str, TraceFile]:
    distinct = list(dict.fromkeys(places))
    with ThreadPoolExecutor(max_workers=_LOOKING_THREADS) as pool:
        return dict(zip(distinct, pool.map(lambda place: look_at(place, options), distinct), strict=True))


def _item_of_file(file: TraceFile, takes: Takes, *, was_named: bool) -> WorkItem | None:
    """Make an item of a file; none of one that only lies in the same folder as traces do."""
    if file.kind in ("et", "et-json") or (file.kind == "linked" and takes == "pairs or traces"):
        return _single(file)
    # What should be a trace and is none must not go by unseen.
    if file.problem is not None or was_named or ".et" in PurePosixPath(file.place).suffixes:
        problem = file.problem or f"{KIND_NAMES[file.kind]}; expected {_EXPECTED[takes]}"
        return _single(file, None if takes == "traces" else problem)
    return None


_EXPECTED: dict[Takes, str] = {
    "pairs": "host and device traces",
    "pairs or traces": "host and device traces, linked traces or execution traces",
    "traces": "execution traces",
}


def _single(file: TraceFile, problem: str | None = None) -> WorkItem:
    return WorkItem(
        {"trace": file.place},
        rank=file.rank,
        stem=stem_of(file.place),
        folder=PurePosixPath(file.place).parent.name,
        problem=problem,
    )


def _common_stem(places: list[str]) -> str:
    """Return what the names of files of a rank begin with, or their folder's name if that is nothing."""
    stems = [stem_of(place) for place in places]
    if len(stems) == 1:
        return stems[0]
    common = os.path.commonprefix(stems).rstrip("._-")  # noqa: RUF071  (stems, not paths)
    return common or PurePosixPath(places[0]).parent.name or stems[0]


def _item_of_row(row: ManifestRow, takes: Takes, options: StorageOptions) -> WorkItem:
    places = {role: place for role in ("host", "device", "trace") if (place := getattr(row, role)) is not None}
    if takes == "runs":
        run = _run_of_row(row, options)
        inputs = dict(run.inputs)
        inputs |= {name: place for name in RUN_FILES if (place := getattr(row, name)) is not None}
        return WorkItem(inputs, row.rank, run.stem, run.folder, row.columns, row.output, run.problem)
    allowed = {"pairs": {"host", "device"}, "traces": {"trace"}}.get(takes, {"host", "device", "trace"})
    if not places or not places.keys() <= allowed or ("trace" in places and len(places) > 1):
        raise ConfigError(
            f"{row.source}: found {', '.join(places) or 'no input'}; give {' or '.join(sorted(allowed))} "
            "(host and device together or alone)"
        )
    paths = list(places.values())
    rank = row.rank if row.rank is not None else rank_in_name(paths[0])
    return WorkItem(places, rank, _common_stem(paths), PurePosixPath(paths[0]).parent.name, row.columns, row.output)


def _run_of_row(row: ManifestRow, options: StorageOptions) -> WorkItem:
    if row.traces is None:
        raise ConfigError(f"{row.source}: missing key 'traces'")
    if isinstance(row.traces, tuple):
        return _run(row.traces[0], dict(enumerate(row.traces)))
    found = _runs(row.traces, options)
    if len(found) != 1:
        raise ConfigError(f"{row.source}: 'traces' stands for {len(found)} runs; a row is one")
    return found[0]


def _runs(text: str, options: StorageOptions) -> list[WorkItem]:
    """Find the runs that a text stands for: a folder, a name with %d, or a glob of either."""
    if _PLACE.search(text):
        return [_run(pattern, run) for pattern, run in _runs_of_pattern(text, options)]
    if not glob.has_magic(text):
        return [_run_of_place(text, options)]
    path = local_path(text)
    if path is None:
        return [_run(text, _by_rank(remote_files(text, options), text))]
    matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207
    if not matches:
        raise ConfigError(f"{text}: no file matches")
    if all(Path(one).is_file() for one in matches):
        return [_run(text, _by_rank(matches, text))]
    return [_run_of_place(one, options) for one in matches if Path(one).is_dir()]


def _run_of_place(text: str, options: StorageOptions) -> WorkItem:
    """Make a run of a folder, of ASTRA-sim's prefix, or of a single trace."""
    path = local_path(text)
    try:
        if path is not None:
            return _run(text, {rank: str(one) for rank, one in files_by_rank([str(path)]).items()})
        return _run(text, _by_rank([one for one in _expand(text, options) if ".et" in one], text))
    except ConfigError as error:
        return WorkItem({"0": text}, stem=stem_of(text), folder=PurePosixPath(text).parent.name, problem=str(error))


def _runs_of_pattern(text: str, options: StorageOptions) -> list[tuple[str, dict[int, str]]]:
    """Files of a name with %d, which may also be a glob: for each run its name with %d and its files by rank."""
    place = _PLACE.search(text)
    if place is None or _PLACE.search(text, place.end()):
        raise ConfigError(f"{text}: expected one %d for the rank")
    path = local_path(text)
    plain = text if path is None else str(path)
    before, after = _PLACE.sub("%d", plain, count=1).split("%d")
    whole = re.compile(f"({_as_regex(before)})(\\d+)({_as_regex(after)})")
    pattern = f"{before}*{after}"
    matches = remote_files(pattern, options) if path is None else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    runs: dict[str, dict[int, str]] = {}
    for one in matches:
        if match := whole.fullmatch(one):
            runs.setdefault(f"{match[1]}%d{match[3]}", {})[int(match[2])] = one
    if not runs:
        raise ConfigError(f"{text}: no file matches")
    return [(name, dict(sorted(run.items()))) for name, run in sorted(runs.items())]


def _as_regex(part: str) -> str:
    """Turn a part of a glob into a regular expression that takes as little as it can."""
    return fnmatch.translate(part)[len("(?s:") : -len(")\\Z")].replace(".*", ".*?")


def _by_rank(places: Sequence[str], name: str) -> dict[int, str]:
    """Files of a run by the rank in their names, or in their order if names tell none."""
    ranks = [rank_in_name(place) for place in places]
    if len(places) > 1 and (None in ranks or len(set(ranks)) < len(ranks)):
        raise ConfigError(f"{name}: holds files of several runs or of unknown ranks; name one run, e.g. 'run.%d.et'")
    if len(places) == 1:
        return {0: places[0]}
    return {rank: place for rank, place in sorted(zip(ranks, places, strict=True)) if rank is not None}


def _run(name: str, files: Mapping[int, str]) -> WorkItem:
    if not files:
        raise ConfigError(f"{name}: no traces there")
    path = PurePosixPath(next(iter(files.values())))
    stem = stem_of(name.replace("%d", "").rstrip("/")).rstrip("._-*") if "%d" in name else stem_of(name.rstrip("/"))
    return WorkItem({str(rank): place for rank, place in files.items()}, stem=stem or "run", folder=path.parent.name)
