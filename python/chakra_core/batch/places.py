# SPDX-License-Identifier: MIT
"""Where files of a batch lie: what tells that one has changed, and local copies of remote ones."""

from __future__ import annotations

import glob
import hashlib
import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from chakra_core.trace_source import is_remote, remote_system

StorageOptions: TypeAlias = Mapping[str, Any]
"""What fsspec is told about the place, such as {"endpoint_url": ...}."""

_HASHED_BYTES = 1 << 20
#: Where an object appears under its name only when all of it is there.
_ATOMIC_PROTOCOLS = {"s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oss", "memory"}


class Stamp(NamedTuple):
    """What a file looked like: equal stamps of files that were not just written mean equal files."""

    size: int
    version: int | str
    """Time of the last change in ns of a local file, else the entity tag or the time that the store tells."""

    @property
    def written_ns(self) -> int:
        """When a local file was last changed, 0 if that is not known."""
        return self.version if isinstance(self.version, int) else 0


def local_path(place: str) -> Path | None:
    """Return the local path of a place ("runs/a.et", "file:///runs/a.et"), None if it is remote."""
    if place.startswith("file://"):
        return Path(place.removeprefix("file://"))
    return None if is_remote(place) else Path(place)


def stamp(place: str, options: StorageOptions) -> Stamp:
    """Look at a file without reading it.

    Raises:
        OSError: there is no such file.
    """
    path = local_path(place)
    if path is not None:
        status = path.stat()
        return Stamp(status.st_size, status.st_mtime_ns)
    system, name = remote_system(place, options)
    system.invalidate_cache(system._parent(name))
    facts = system.info(name)
    version = next((facts[key] for key in ("ETag", "etag", "LastModified", "mtime", "created") if facts.get(key)), "")
    return Stamp(int(facts["size"]), str(version))


def stamp_or_none(place: str, options: StorageOptions) -> Stamp | None:
    """Look at a file that may not be there."""
    try:
        return stamp(place, options)
    except FileNotFoundError:
        return None


def content_hash(path: Path) -> str:
    """SHA-256 of the bytes of a file as they lie on disk."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(_HASHED_BYTES):
            digest.update(part)
    return digest.hexdigest()


@contextmanager
def local_inputs(places: Mapping[str, str], options: StorageOptions) -> Iterator[dict[str, Path]]:
    """Give each place a local path, for which remote files are copied until the end."""
    paths = {role: local_path(place) for role, place in places.items()}
    if all(path is not None for path in paths.values()):
        yield {role: path for role, path in paths.items() if path is not None}
        return
    with tempfile.TemporaryDirectory(prefix="chakra-batch-") as folder:
        yield {role: path or _copy(places[role], Path(folder), options) for role, path in paths.items()}


def _copy(place: str, folder: Path, options: StorageOptions) -> Path:
    system, name = remote_system(place, options)
    target = folder / f"{uuid.uuid4().hex}-{PurePosixPath(name).name}"
    system.get_file(name, str(target))
    return target


@contextmanager
def local_output(place: str, options: StorageOptions) -> Iterator[Path]:
    """Give a path to write a complete file to, which is then brought to its place; an error brings nothing there."""
    path = local_path(place)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield path
        return
    system, name = remote_system(place, options)
    with tempfile.TemporaryDirectory(prefix="chakra-batch-") as folder:
        local = Path(folder) / PurePosixPath(name).name
        yield local
        protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
        if protocols & _ATOMIC_PROTOCOLS:
            system.put_file(str(local), name)
            return
        system.makedirs(system._parent(name), exist_ok=True)
        partial = f"{name}.tmp-{uuid.uuid4().hex}"
        system.put_file(str(local), partial)
        system.mv(partial, name)


def remove_leftovers(outputs: Iterable[str]) -> int:
    """Remove temporary files that a killed run left beside its local outputs, and return how many there were."""
    names: dict[Path, set[str]] = {}
    for place in outputs:
        path = local_path(place)
        if path is not None:
            names.setdefault(path.parent, set()).add(path.name)
    removed = 0
    for folder, of_outputs in names.items():
        for leftover in glob.iglob(os.path.join(glob.escape(str(folder)), "*.tmp-*")):  # noqa: PTH118, PTH207
            if Path(leftover).name.rpartition(".tmp-")[0] in of_outputs:
                Path(leftover).unlink(missing_ok=True)
                removed += 1
    return removed
