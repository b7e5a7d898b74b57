# SPDX-License-Identifier: MIT
"""Which trace belongs to which rank: names such as "run.%d.et", globs, lists, and traces in memory."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias, TypeGuard

from chakra_core._core import ConfigError, Trace
from chakra_core.bundle import Bundle, is_bundle
from chakra_core.trace_source import is_remote, load_source, remote_files, remote_folder_or_file

TraceSource: TypeAlias = Trace | str | os.PathLike[str]
"""One rank's trace: an object or a file."""

RankTraces: TypeAlias = TraceSource | Sequence[TraceSource] | Mapping[int, TraceSource]
"""Traces of all ranks: see `load_ranks`."""

_RANK_PLACE = re.compile(r"%(0\d+)?d")
_RANK_NAME = re.compile(r"(?P<prefix>.*?)(?P<rank>\d+)(?P<suffix>\.(?:et|json)(?:\.gz|\.zst)?)")


_Identity: TypeAlias = tuple[str, "int | str", int]
_SAMPLE_BYTES = 4096
_COMPARED_BYTES = 1 << 20
_TRACE_SUFFIXES = (".et", ".et.gz", ".et.zst", ".json", ".json.gz", ".json.zst")


def is_run(source: object) -> TypeGuard[RankTraces]:
    """Whether `source` stands for the traces of many ranks: a list, a mapping, or a name of many files."""
    if isinstance(source, Mapping):
        return True
    if isinstance(source, list | tuple):
        return True
    if not isinstance(source, str | os.PathLike):
        return False
    text = os.fspath(source)
    if is_bundle(text):
        return True
    if is_remote(text):
        return bool(_RANK_PLACE.search(text)) or glob.has_magic(text) or remote_folder_or_file(text) == "folder"
    if Path(text).is_file():
        return False
    return _pattern(text) is not None or glob.has_magic(text) or bool(_files_in_folder(text))


def load_ranks(
    traces: RankTraces,
    num_ranks: int | None = None,
    *,
    on_error: str = "strict",
    threads: int = 0,
    max_bytes: int = 0,
    loaded: Callable[[int, int], None] | None = None,
) -> list[Trace]:
    """Load the traces of all ranks, each distinct file once, and several at a time.

    Args:
        traces: a name with %d for the rank ("run.%d.et"), a glob ("run.*.et", ranks by the number in the name), a
            folder, a path, a bundle ("run.etb"), a Trace, a sequence of paths and Traces in rank order, or a mapping
            of rank to path or Trace.
        num_ranks: how many there must be; None takes what is there.
        on_error: "strict" or "recover", as in `load`.
        threads: for all of them together; 0 means as many as the machine has cores.
        max_bytes: most bytes that each compressed file may inflate to; 0 is any number.
        loaded: called with the number of files done and their total, from any thread.

    Returns:
        One Trace a rank; ranks that share a file, or have files of the same bytes, share the object.

    Raises:
        ConfigError: ranks are missing ("found 8 of 16 ranks: 8-15 missing") or too many.
        FormatError, DependencyError, OSError: a file cannot be read.
    """
    if isinstance(traces, str | os.PathLike) and is_bundle(traces):
        return _of_bundle(traces, num_ranks, max_bytes)
    sources = _by_rank(traces, num_ranks)
    _check_ranks(sources, num_ranks, "traces")
    keys = _joined_by_content({rank: _identity(source) for rank, source in sources.items()}, sources)
    distinct = {key: sources[rank] for rank, key in reversed(keys.items())}
    cores = threads or os.cpu_count() or 1
    threads_each = max(1, cores // len(distinct))
    done = 0

    def load_one(source: TraceSource) -> Trace:
        nonlocal done
        trace = (
            source
            if isinstance(source, Trace)
            else load_source(source, on_error=on_error, threads=threads_each, max_bytes=max_bytes)
        )
        done += 1
        if loaded is not None:
            loaded(done, len(distinct))
        return trace

    with ThreadPoolExecutor(max_workers=cores) as pool:
        objects = dict(zip(distinct, pool.map(load_one, distinct.values()), strict=True))
    return [objects[keys[rank]] for rank in sorted(keys)]


def _of_bundle(path: str | os.PathLike[str], num_ranks: int | None, max_bytes: int) -> list[Trace]:
    bundle = Bundle.load(path, max_bytes=max_bytes)
    if num_ranks is not None and num_ranks != bundle.num_ranks:
        raise ConfigError(f"{os.fspath(path)}: found {bundle.num_ranks} ranks; expected {num_ranks}")
    return bundle.traces()


def expand_paths(arguments: Iterable[str | os.PathLike[str]], num_ranks: int | None = None) -> list[Path]:
    """Files that paths, globs, folders, names with %d and ASTRA-sim's prefixes ("run" for "run.%d.et") stand for.

    Files of one family (run.0.et, run.1.et, ...) come in rank order, all others in the order given.

    Raises:
        ConfigError: something stands for no file.
    """
    paths: list[Path] = []
    for argument in arguments:
        text = os.fspath(argument)
        pattern = _pattern(text)
        if pattern is not None:
            paths.extend(_files_of_pattern(pattern, num_ranks).values())
        elif files := _files_in_folder(text):
            paths.extend(files)
        elif Path(text).is_dir():
            raise ConfigError(f"{text}: is a folder; name its files, e.g. '{Path(text) / 'run.%d.et'}'")
        elif Path(text).exists():
            paths.append(Path(text))
        elif glob.has_magic(text):
            matches = sorted(glob.glob(text))  # noqa: PTH207  (Path.glob takes no absolute pattern)
            if not matches:
                raise ConfigError(f"{text}: no file matches")
            paths.extend(map(Path, matches))
        else:
            raise ConfigError(f"{text}: no such file")
    ranks = _ranks_in_names(paths)
    return paths if ranks is None else [path for _, path in sorted(zip(ranks, paths, strict=True))]


def files_by_rank(
    arguments: Sequence[str | os.PathLike[str]], num_ranks: int | None = None, *, name: str = "traces"
) -> dict[int, Path]:
    """Files of each rank: by the number in their names if they are of one family, else in the order given.

    Args:
        arguments: as for `expand_paths`.
        num_ranks: how many there must be; None takes what is there.
        name: stands in messages for several arguments.

    Raises:
        ConfigError: something stands for no file, or ranks are missing or too many.
    """
    text = os.fspath(arguments[0]) if len(arguments) == 1 else name
    pattern = _pattern(text) if len(arguments) == 1 else None
    if pattern is not None:
        found = _files_of_pattern(pattern, num_ranks)
    else:
        paths = expand_paths(arguments, num_ranks)
        ranks = _ranks_in_names(paths)
        if ranks is None and len(paths) > 1 and len(arguments) == 1 and Path(text).is_dir():
            raise ConfigError(
                f"{text}: holds files of several runs; name those of one, e.g. '{Path(text) / 'run.%d.et'}'"
            )
        found = dict(sorted(zip(ranks or range(len(paths)), paths, strict=True)))
    _check_ranks(found, num_ranks, text)
    return found


def _by_rank(traces: RankTraces, num_ranks: int | None) -> Mapping[int, TraceSource]:
    if isinstance(traces, Mapping):
        return {rank: traces[rank] for rank in sorted(traces)}
    if isinstance(traces, Trace):
        return {0: traces}
    if is_remote(traces):
        return dict(_remote_by_rank(str(traces)))
    if isinstance(traces, str | os.PathLike):
        return files_by_rank([traces], num_ranks)
    return dict(enumerate(traces))


def _pattern(text: str) -> str | None:
    """Return the name with %d that a text stands for, if it does."""
    if Path(text).is_file():
        return None
    if Path(f"{text}.0.et").is_file():
        return f"{text}.%d.et"
    return text if _RANK_PLACE.search(text) else None


def _files_of_pattern(pattern: str, num_ranks: int | None) -> dict[int, Path]:
    """Existing files of a name with %d, by rank."""
    place = _RANK_PLACE.search(pattern)
    if place is None or _RANK_PLACE.search(pattern, place.end()):
        raise ConfigError(f"{pattern}: expected one %d for the rank")
    before, after = pattern[: place.start()], pattern[place.end() :]
    width = int(place[1] or 0)
    found = {}
    for path in glob.glob(f"{glob.escape(before)}*{glob.escape(after)}"):  # noqa: PTH207  (as above)
        number = path[len(before) : len(path) - len(after)]
        if number.isascii() and number.isdigit() and number == f"{int(number):0{width}d}":
            found[int(number)] = Path(path)
    if not found and num_ranks is None:
        raise ConfigError(f"{pattern}: no file matches")
    return dict(sorted(found.items()))


def _files_in_folder(text: str) -> list[Path]:
    """Files of a folder that are named as those of a run are: prefix.RANK.et and its compressed and JSON forms."""
    if not Path(text).is_dir():
        return []
    return [path for path in sorted(Path(text).iterdir()) if _RANK_NAME.fullmatch(path.name) and path.is_file()]


def _remote_by_rank(text: str) -> dict[int, str]:
    """Remote files of a glob, a folder or a name with %d, by rank."""
    place = _RANK_PLACE.search(text)
    if place is not None:
        pattern = text[: place.start()] + "*" + text[place.end() :]
    elif not glob.has_magic(text) and remote_folder_or_file(text) == "folder":
        pattern = text.rstrip("/") + "/*"
    else:
        pattern = text
    if not glob.has_magic(pattern):
        return {0: text}
    found = [(Path(name), name) for name in remote_files(pattern) if name.endswith(_TRACE_SUFFIXES)]
    if not found:
        raise ConfigError(f"{text}: no file matches")
    ranks = _ranks_in_names([path for path, _ in found]) or range(len(found))
    return dict(sorted(zip(ranks, (name for _, name in found), strict=True)))


def _ranks_in_names(paths: list[Path]) -> list[int] | None:
    """Ranks of files named prefix.RANK.et with one prefix, as a shell puts 10 before 2; None if they are not."""
    matches = [match for path in paths if (match := _RANK_NAME.fullmatch(path.name))]
    families = {(path.parent, match["prefix"]) for path, match in zip(paths, matches, strict=False)}
    ranks = [int(match["rank"]) for match in matches]
    if len(paths) < 2 or len(matches) < len(paths) or len(families) > 1 or len(set(ranks)) < len(ranks):
        return None
    return ranks


def _check_ranks(found: Mapping[int, object], num_ranks: int | None, name: str) -> None:
    expected = num_ranks if num_ranks is not None else max(found, default=-1) + 1
    missing = [rank for rank in range(expected) if rank not in found]
    if missing:
        present = expected - len(missing)
        raise ConfigError(f"{name}: found {present} of {expected} ranks: {_ranges(missing)} missing")
    beyond = [rank for rank in found if not 0 <= rank < expected]
    if beyond:
        raise ConfigError(f"{name}: found ranks {_ranges(sorted(beyond))}, but the network has {expected} NPUs")
    if not found:
        raise ConfigError(f"{name}: no traces given")


def _ranges(numbers: list[int]) -> str:
    """Ascending numbers in short: "3, 8-15"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def _identity(source: TraceSource) -> _Identity:
    if isinstance(source, Trace):
        return ("trace", id(source), 0)
    if is_remote(source):
        return ("remote", str(source), 0)
    status = Path(source).stat()
    return ("file", status.st_dev, status.st_ino)


def _joined_by_content(keys: dict[int, _Identity], sources: Mapping[int, TraceSource]) -> dict[int, _Identity]:
    """Give files of the same bytes the same key: that of the first of them."""
    files = {key: Path(sources[rank]) for rank, key in reversed(keys.items()) if key[0] == "file"}  # type: ignore[arg-type]
    by_look: dict[tuple[int, bytes], list[_Identity]] = {}
    same_as: dict[_Identity, _Identity] = {}
    sizes = Counter(path.stat().st_size for path in files.values())
    for key, path in reversed(files.items()):
        size = path.stat().st_size
        if sizes[size] < 2:
            continue
        alike = by_look.setdefault((size, _sample(path, size)), [])
        for other in alike:
            if _same_bytes(path, files[other]):
                same_as[key] = other
                break
        else:
            alike.append(key)
    return {rank: same_as.get(key, key) for rank, key in keys.items()}


def _sample(path: Path, size: int) -> bytes:
    """Digest some bytes of a file, where files of a run are likely to differ."""
    with path.open("rb") as stream:
        parts = []
        for place in (0, size // 2, max(0, size - _SAMPLE_BYTES)):
            stream.seek(place)
            parts.append(stream.read(_SAMPLE_BYTES))
    return hashlib.sha256(b"".join(parts)).digest()


def _same_bytes(one: Path, other: Path) -> bool:
    with one.open("rb") as first, other.open("rb") as second:
        while part := first.read(_COMPARED_BYTES):
            if part != second.read(_COMPARED_BYTES):
                return False
    return True
