# SPDX-License-Identifier: MIT
"""Traces as data frames, Arrow tables, Parquet files and graphs of other libraries, each of which is optional."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chakra_core._core import ChakraError, Trace
from chakra_core.output import complete_path

if TYPE_CHECKING:
    import pandas as pd

INTEGER_COLUMNS = (
    "num_ops",
    "tensor_size",
    "comm_type",
    "comm_size",
    "comm_priority",
    "comm_src",
    "comm_dst",
    "comm_tag",
    "stream",
    "tid",
)


def needed(module: str, extra: str) -> Any:
    """Import a module that only some functions need; the error says which extra has it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"this needs {package}: pip install chakra-core[{extra}]") from error


def to_pandas(trace: Trace) -> pd.DataFrame:
    """Columns of a trace as a data frame, a row a node.

    Args:
        trace: what to show.

    Returns:
        `id`, `name` (categorical), `type` (schema number), `start_ns`, `duration_ns`, `is_cpu_op` (boolean), the
        integer attributes (Int64) and `pg_name` (categorical). Attributes are missing where they are absent.

    Raises:
        ImportError: pandas is not installed.
    """
    pandas = needed("pandas", "frames")
    columns: dict[str, Any] = {
        "id": trace.ids,
        "name": _categorical(pandas, trace.name_ids.astype(np.int64), trace.strings),
        "type": trace.types,
        "start_ns": trace.start_ns,
        "duration_ns": trace.duration_ns,
        "is_cpu_op": _nullable(pandas.arrays.BooleanArray, trace.attr("is_cpu_op")),
    }
    for name in INTEGER_COLUMNS:
        columns[name] = _nullable(pandas.arrays.IntegerArray, trace.attr(name))
    columns["pg_name"] = _categorical(pandas, trace.pg_ids.astype(np.int64).filled(-1), trace.strings)
    frame: pd.DataFrame = pandas.DataFrame(columns)
    return frame


def _categorical(pandas: Any, positions: Any, strings: list[str]) -> Any:
    """Categories are only the strings that occur, in the order of the trace's strings."""
    used, codes = np.unique(positions, return_inverse=True)
    absent = int(used.size > 0 and used[0] < 0)
    # Different bytes that are not UTF-8 may read as the same text, of which a category must be the only one.
    texts = [strings[position] for position in used[absent:].tolist()]
    unique = list(dict.fromkeys(texts))
    number = {text: code for code, text in enumerate(unique)}
    codes_of = np.array([-1] * absent + [number[text] for text in texts], dtype=np.int64)
    return pandas.Categorical.from_codes(codes_of[codes.reshape(-1)], categories=unique)


def _nullable(kind: Any, column: Any) -> Any:
    return kind(np.ascontiguousarray(column.data), np.ma.getmaskarray(column).copy())


def to_networkx(trace: Trace) -> Any:
    """Show a trace as a graph; edges go from parent to child.

    Args:
        trace: what to show.

    Returns:
        A networkx MultiDiGraph. Nodes are ids with the attributes `name`, `type`, `start_ns`, `duration_ns`; an edge's
        key and attribute `kind` say whether it is "data" or "control".

    Raises:
        ImportError: networkx is not installed.
    """
    networkx = needed("networkx", "graph")
    graph = networkx.MultiDiGraph()
    fields = ("name", "type", "start_ns", "duration_ns")
    ids = trace.ids.tolist()
    values = zip(
        trace.names.to_list(),
        trace.types.tolist(),
        trace.start_ns.tolist(),
        trace.duration_ns.tolist(),
        strict=True,
    )
    graph.add_nodes_from(
        (node, dict(zip(fields, of_node, strict=True))) for node, of_node in zip(ids, values, strict=True)
    )
    for kind, deps in (("data", trace.data_deps), ("control", trace.ctrl_deps)):
        children = np.repeat(trace.ids, np.diff(deps.offsets).astype(np.int64))
        parents = trace.ids[deps.indices]
        pairs = zip(parents.tolist(), children.tolist(), strict=True)
        graph.add_edges_from((parent, child, kind, {"kind": kind}) for parent, child in pairs)
    return graph


def to_arrow(trace: Trace) -> Any:
    """Show the trace's columns as a `pyarrow.Table`, which shares their memory where Arrow has the same layout.

    Other libraries read a trace through the Arrow PyCapsule interface, without pyarrow: `polars.DataFrame(trace)`.

    Raises:
        ImportError: pyarrow is not installed.
    """
    return needed("pyarrow", "arrow").table(trace)


def to_parquet(trace: Trace, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the trace's columns as a Parquet file, which appears under its name only when it is complete.

    Args:
        trace: what to write.
        path: where to.
        options: `columns`, a list of names, for some of the columns only; others go to
            `pyarrow.parquet.write_table`, for example `compression="zstd"`.

    Raises:
        ImportError: pyarrow is not installed.
        ChakraError: a column of `columns` is none of the trace.
        OSError: the file cannot be written.
    """
    parquet = needed("pyarrow.parquet", "arrow")
    table = to_arrow(trace)
    columns = options.pop("columns", None)
    if columns is not None:
        if unknown := [name for name in columns if name not in table.column_names]:
            raise ChakraError(f"no column {unknown[0]!r} in Parquet; there are {', '.join(table.column_names)}")
        table = table.select(columns)
    with complete_path(Path(path)) as temporary:
        parquet.write_table(table, temporary, **options)
