# SPDX-License-Identifier: MIT
"""One trace from wherever it lies: a local or remote path, an open file, or bytes in memory."""

from __future__ import annotations

import importlib
import mmap
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

from chakra_core import _core

if TYPE_CHECKING:
    from typing_extensions import Buffer

PathLike: TypeAlias = "str | os.PathLike[str]"
TraceInput: TypeAlias = "PathLike | IO[bytes] | Buffer"
OnError: TypeAlias = Literal["strict", "recover"]


def load_source(
    source: TraceInput,
    *,
    on_error: str = "strict",
    progress: _core.Progress | None = None,
    threads: int = 0,
    max_bytes: int = 0,
) -> _core.Trace:
    """Read one trace; see `chakra_core.load`."""
    options: dict[str, Any] = {
        "on_error": on_error,
        "progress": progress,
        "threads": threads,
        "max_bytes": max_bytes,
    }
    if is_remote(source):
        with _fsspec(source).open(source, "rb") as stream:
            return _core.load_bytes(stream.read(), name=source, **options)
    if isinstance(source, (str, os.PathLike)):
        return _core.load_path(source, **options)
    # A mapped file has a method `read`, too.
    if hasattr(source, "read") and not isinstance(source, mmap.mmap):
        name = str(getattr(source, "name", "<file>"))
        return _core.load_bytes(source.read(), name=name, **options)
    try:
        view = memoryview(source)
    except TypeError:
        kind = type(source).__name__
        raise TypeError(f"source must be a path, a binary file or bytes, not {kind}") from None
    return _core.load_bytes(view, **options)


def is_remote(source: object) -> TypeGuard[str]:
    """Whether a path is one for fsspec, such as "s3://bucket/run.0.et"."""
    return isinstance(source, str) and "://" in source


def remote_system(path: str, options: Mapping[str, Any] | None = None) -> tuple[Any, str]:
    """Return the fsspec file system of a remote path, and the path's name there.

    Args:
        path: such as "s3://bucket/run.0.et".
        options: for the file system, such as `endpoint_url`.

    Raises:
        ChakraError: fsspec is not installed, or not what it needs for the protocol.
    """
    try:
        system, name = _fsspec(path).core.url_to_fs(path, **(options or {}))
    except (ImportError, ValueError) as error:
        raise _core.ChakraError(f"{path}: {error}") from None
    return system, str(name)


def remote_files(pattern: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """Remote files that a glob stands for, sorted by name."""
    system, path = remote_system(pattern, options)
    return sorted(str(system.unstrip_protocol(name)) for name in system.glob(path))


def remote_folder_or_file(path: str, options: Mapping[str, Any] | None = None) -> Literal["folder", "file", "absent"]:
    """Look what a remote path is."""
    system, name = remote_system(path, options)
    if system.isfile(name):
        return "file"
    return "folder" if system.isdir(name) else "absent"


@contextmanager
def local_target(path: PathLike) -> Iterator[PathLike]:
    """Give a path to write to, whose file is brought to its remote place at the end."""
    if not is_remote(path):
        yield path
        return
    target = str(path)
    system, name = remote_system(target)
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / name.rsplit("/", 1)[-1]
        yield local
        system.put_file(str(local), name)


def _fsspec(path: Any) -> Any:
    try:
        return importlib.import_module("fsspec")
    except ImportError:
        raise _core.ChakraError(
            f"{path}: remote paths need the package fsspec (and one for the protocol, such as s3fs or gcsfs)"
        ) from None
