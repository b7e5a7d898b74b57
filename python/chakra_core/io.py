"""Reading and writing execution trace files."""

from __future__ import annotations

import os
from typing import IO, Literal, TypeAlias

from chakra_core import _core

PathLike: TypeAlias = "str | os.PathLike[str]"
OnError: TypeAlias = Literal["strict", "recover"]


def load(
    source: PathLike | IO[bytes] | bytes | bytearray | memoryview,
    *,
    on_error: OnError = "strict",
    progress: _core.Progress | None = None,
) -> _core.Trace:
    """Read an execution trace (ET).

    Args:
        source: a path, an open binary file, or the bytes themselves. Plain and gzip-compressed ETs are told apart by
            their first bytes. A plain file on disk is mapped, not copied, and stays mapped as long as the trace lives.
        on_error: "strict" raises at the first problem; "recover" keeps every whole record, drops what cannot be used
            and says so in `trace.load_report`.
        progress: counts the bytes read, for whoever watches from another thread.

    Returns:
        The trace, with one row a node in the order of the file.

    Raises:
        FormatError: malformed or truncated bytes, a duplicate id, a string or float where an integer belongs.
        DependencyError: a node depends on one that is not there.
        OSError: the file cannot be read.
    """
    if isinstance(source, (str, os.PathLike)):
        return _core.load_path(source, on_error=on_error, progress=progress)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _core.load_bytes(source, on_error=on_error, progress=progress)
    if not hasattr(source, "read"):
        raise TypeError(f"source must be a path, a binary file or bytes, not {type(source).__name__}")
    name = str(getattr(source, "name", "<file>"))
    return _core.load_bytes(source.read(), name=name, on_error=on_error, progress=progress)


def save(
    trace: _core.Trace,
    path: PathLike,
    *,
    compression: Literal["gzip", "none"] | None = None,
    level: int = 6,
    progress: _core.Progress | None = None,
) -> None:
    """Write a trace as an ET file.

    The file appears under its name only when it is complete. Nodes that were read from a file and not changed are
    written byte for byte.

    Args:
        trace: what to write.
        path: where to; ".gz" at the end means gzip unless `compression` says otherwise.
        compression: "gzip", "none", or None to go by the name.
        level: gzip level, 1 (fast) to 9 (small).
        progress: counts the nodes written.

    Raises:
        OSError: the file cannot be written.
        ValueError: an unknown compression.
    """
    if compression not in (None, "gzip", "none"):
        raise ValueError(f'compression must be "gzip", "none" or None, not {compression!r}')
    gzip = None if compression is None else compression == "gzip"
    _core.save_path(trace, path, gzip=gzip, level=level, progress=progress)


def validate(source: _core.Trace | PathLike | bytes) -> _core.Report:
    """Every problem of a trace, or of a file with whatever had to be dropped to read it.

    Raises:
        FormatError: the input is no execution trace at all.
        OSError: the file cannot be read.
    """
    trace = source if isinstance(source, _core.Trace) else load(source, on_error="recover")
    return trace.validate()
