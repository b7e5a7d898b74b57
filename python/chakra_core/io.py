# SPDX-License-Identifier: MIT
"""Reading and writing execution trace files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast, overload

from chakra_core import _core
from chakra_core.rank_traces import TraceSource, is_run, load_ranks
from chakra_core.trace_source import OnError, PathLike, TraceInput, load_source, local_target

__all__ = ["OnError", "PathLike", "load", "load_run", "save", "validate"]


@overload
def load(  # type: ignore[overload-overlap]  # a str is a Sequence of them; it gets what a path gets
    source: TraceInput,
    *,
    on_error: OnError = ...,
    progress: _core.Progress | None = ...,
    threads: int = ...,
    max_bytes: int | None = ...,
) -> _core.Trace: ...
@overload
def load(
    source: Sequence[TraceSource] | Mapping[int, TraceSource],
    *,
    on_error: OnError = ...,
    progress: _core.Progress | None = ...,
    threads: int = ...,
    max_bytes: int | None = ...,
) -> list[_core.Trace]: ...
def load(
    source: TraceInput | Sequence[TraceSource] | Mapping[int, TraceSource],
    *,
    on_error: OnError = "strict",
    progress: _core.Progress | None = None,
    threads: int = 0,
    max_bytes: int | None = None,
) -> _core.Trace | list[_core.Trace]:
    """Read an execution trace (ET), or those of a whole run.

    Args:
        source: a path, an open binary file, or the bytes themselves. Records and JSON, plain, gzip and zstd are told
            apart by the first bytes. A plain file on disk is mapped, not copied, and stays mapped as long as the trace
            lives; a buffer that is read-only (bytes, a mapped file) is used in place and kept, others are copied.
            Remote paths ("s3://bucket/run.0.et") go through fsspec, where that is installed.
            A list of paths, a mapping of rank to path, or a name that stands for many files (a glob, a folder,
            "run.%d.et") gives a list: see `load_run`, which type checkers know to return one.
        on_error: "strict" raises at the first problem; "recover" keeps every whole record, drops what cannot be used
            and says so in `trace.load_report`.
        progress: counts the bytes of the file read, for whoever watches from another thread. Not for a list.
        threads: that decode; 0 means as many as the machine has cores. The result does not depend on it.
        max_bytes: most bytes that compressed input may inflate to, against files made to fill memory; None is any.

    Returns:
        The trace, with one row a node in the order of the file; or a list of traces in rank order.

    Raises:
        FormatError: malformed or truncated bytes, a duplicate id, a string or float where an integer belongs, more
            than `max_bytes`.
        DependencyError: a node depends on one that is not there.
        OSError: the file cannot be read.
        ConfigError: ranks of a run are missing.
    """
    limit = 0 if max_bytes is None else max_bytes
    if is_run(source):
        return load_ranks(source, on_error=on_error, threads=threads, max_bytes=limit)
    one = cast(TraceInput, source)
    return load_source(one, on_error=on_error, progress=progress, threads=threads, max_bytes=limit)


def load_run(
    traces: PathLike | Sequence[TraceSource] | Mapping[int, TraceSource],
    num_ranks: int | None = None,
    *,
    on_error: OnError = "strict",
    threads: int = 0,
    max_bytes: int | None = None,
) -> list[_core.Trace]:
    """Read the traces of all ranks of a run, each distinct file once, and several at a time.

    Args:
        traces: a folder, a glob ("run.*.et", ranks by the number in the name), a name with %d for the rank
            ("run.%d.et"), a sequence of paths and Traces in rank order, or a mapping of rank to path or Trace.
        num_ranks: how many there must be; None takes what is there.
        on_error: "strict" or "recover", as in `load`.
        threads: for all of them together; 0 means as many as the machine has cores.
        max_bytes: of each file, as in `load`.

    Returns:
        One Trace a rank. Ranks whose files are the same, or hold the same bytes, share the object.

    Raises:
        ConfigError: ranks are missing ("found 8 of 16 ranks: 8-15 missing") or too many.
        FormatError, DependencyError, OSError: a file cannot be read.
    """
    limit = 0 if max_bytes is None else max_bytes
    return load_ranks(traces, num_ranks, on_error=on_error, threads=threads, max_bytes=limit)


def save(
    trace: _core.Trace,
    path: PathLike,
    *,
    form: Literal["records", "json"] | None = None,
    compression: Literal["gzip", "zstd", "none"] | None = None,
    level: int | None = None,
    schema_version: str | None = None,
    progress: _core.Progress | None = None,
) -> None:
    """Write a trace as an ET file.

    The file appears under its name only when it is complete. Nodes that were read from a file of records and not
    changed are written to one byte for byte.

    Args:
        trace: what to write.
        path: where to; ".json" means JSON, ".gz" and ".zst" at the end compression, unless the options say otherwise.
            A remote path ("s3://bucket/run.0.et") is written through fsspec, where that is installed.
        form: "records" (length-delimited protobuf), "json", or None to go by the name.
        compression: "gzip", "zstd", "none", or None to go by the name.
        level: of gzip 1 (fast) to 9 (small), by default 6; of zstd 1 to 19, by default 3.
        schema_version: to be said in the metadata ("0.0.4"), or None for that of the trace.
        progress: counts the nodes written.

    Raises:
        OSError: the file cannot be written.
        ValueError: an unknown form or compression.
        ChakraError: a level that there is not, a schema older than 0.0.4, zstd in a build without it.
    """
    with local_target(path) as target:
        _core.save_path(
            trace,
            target,
            form=form,
            compression=compression,
            level=level,
            schema_version=schema_version,
            progress=progress,
        )


def validate(source: _core.Trace | TraceInput) -> _core.Report:
    """Every problem of a trace, or of a file with whatever had to be dropped to read it.

    Raises:
        OSError: the file cannot be read.
    """
    trace = source if isinstance(source, _core.Trace) else load_source(source, on_error="recover")
    return trace.validate()
