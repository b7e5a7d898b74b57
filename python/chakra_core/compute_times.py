# SPDX-License-Identifier: MIT
"""Times of computations that the caller gives: by a function of whole columns, or from a table by name and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from chakra_core._core import ConfigError, NodeType, Trace

if TYPE_CHECKING:
    import pandas as pd

ELSEWHERE = (1 << 64) - 1
"""In place of a time: the node takes what it takes otherwise."""

_MOST_NS = float(1 << 62)


class ComputeNodes:
    """The computations (COMP nodes) of a trace as columns with an entry a node, in file order.

    Attributes:
        trace: the trace.
        ranks: ranks that this trace stands for.
        rows: row of each node in the trace.
    """

    def __init__(self, trace: Trace, ranks: list[int]) -> None:
        """Look at the computations of a trace."""
        self.trace = trace
        self.ranks = ranks
        self.rows: npt.NDArray[np.intp] = np.flatnonzero(trace.types == NodeType.COMP_NODE)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ids(self) -> npt.NDArray[np.uint64]:
        """Node ids."""
        return self.trace.ids[self.rows]

    @cached_property
    def names(self) -> npt.NDArray[np.object_]:
        """Names, as str."""
        return np.array(self.trace.names.to_list(), dtype=object)[self.rows]

    @property
    def types(self) -> npt.NDArray[np.int32]:
        """Types of the schema; all are COMP_NODE."""
        return self.trace.types[self.rows]

    @property
    def is_cpu_op(self) -> npt.NDArray[np.bool_]:
        """Whether the host computes it; where nothing is said it does not."""
        return np.asarray(self.trace.attr("is_cpu_op")[self.rows].filled(False)).astype(bool)

    @property
    def num_ops(self) -> Any:
        """Operations, a masked array of int64."""
        return self.trace.attr("num_ops")[self.rows]

    @property
    def tensor_size(self) -> Any:
        """Bytes, a masked array of int64."""
        return self.trace.attr("tensor_size")[self.rows]

    @property
    def duration_ns(self) -> npt.NDArray[np.uint64]:
        """Recorded durations."""
        return self.trace.duration_ns[self.rows]

    @cached_property
    def shapes(self) -> npt.NDArray[np.object_]:
        """Shapes of the inputs as the trace has them, such as "[[2, 3], [3, 4]]"; read when first asked for."""
        return self.shapes_of(np.arange(len(self)))

    def shapes_of(self, places: npt.NDArray[np.intp]) -> npt.NDArray[np.object_]:
        """Shapes of some of the nodes, by their places in the columns."""
        shapes = np.empty(len(places), dtype=object)
        for number, row in enumerate(self.rows[places].tolist()):
            shapes[number] = self.trace.at(row).inputs.shapes
        return shapes


Key: TypeAlias = Union[str, "tuple[str, str]"]
Times: TypeAlias = Union[
    Callable[[ComputeNodes], npt.ArrayLike], Mapping[Key, float], "Mapping[str, Any]", "pd.DataFrame"
]
"""A function of columns; times by name, or by name and shapes; a table of `name`, `duration_ns` and maybe `shapes`."""


def compute_times(times: Times, traces: list[Trace]) -> list[npt.NDArray[np.uint64]]:
    """Work out what each COMP node takes, once for each distinct trace.

    Returns:
        For each rank an array with an entry for each row of its trace; ELSEWHERE where nothing is given.

    Raises:
        ConfigError: there are not as many times as nodes, or one is negative, infinite or more than 2**62 ns.
    """
    ranks: dict[int, list[int]] = {}
    for rank, trace in enumerate(traces):
        ranks.setdefault(id(trace), []).append(rank)
    ask = times if callable(times) else _Table(times)
    found = {}
    for trace in {id(trace): trace for trace in traces}.values():
        nodes = ComputeNodes(trace, ranks[id(trace)])
        column = np.full(len(trace), ELSEWHERE, dtype=np.uint64)
        column[nodes.rows] = _checked(ask(nodes), nodes)
        found[id(trace)] = column
    return [found[id(trace)] for trace in traces]


def _checked(given: npt.ArrayLike, nodes: ComputeNodes) -> npt.NDArray[np.uint64]:
    """Whole ns of an answer; NaN and what is masked are ELSEWHERE."""
    where = f"compute times of rank {nodes.ranks[0]}"
    try:
        masked = np.ma.asarray(given, dtype=np.float64)
        values = np.where(np.ma.getmaskarray(masked), np.nan, masked.data)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: expected numbers ({error})") from None
    if values.shape != (len(nodes),):
        raise ConfigError(f"{where}: found shape {values.shape}, expected ({len(nodes)},), one time for each COMP node")
    absent = np.isnan(values)
    wrong = np.flatnonzero(~absent & ~((values >= 0) & (values <= _MOST_NS)))
    if len(wrong):
        raise ConfigError(
            f"{where}: node {nodes.ids[wrong[0]]} takes {values[wrong[0]]} ns; it must be 0 to 2**62 ns, or NaN for "
            "what it takes otherwise"
        )
    return np.where(absent, ELSEWHERE, np.where(absent, 0, values).astype(np.uint64))


class _Table:
    """Times by name, and by name and shapes, which come first."""

    def __init__(self, given: Any) -> None:
        self._by_name: dict[str, float] = {}
        self._by_shapes: dict[str, dict[str, float]] = {}
        for key, value in _entries(given):
            if isinstance(key, str):
                self._by_name[key] = value
            elif isinstance(key, tuple) and len(key) == 2 and all(isinstance(part, str) for part in key):
                self._by_shapes.setdefault(key[0], {})[key[1]] = value
            else:
                raise ConfigError(f"compute times: found the key {key!r}, expected a name or (name, shapes)")

    def __call__(self, nodes: ComputeNodes) -> npt.NDArray[np.float64]:
        names, kind = np.unique(nodes.names.astype(str), return_inverse=True)
        kind = kind.reshape(-1)
        try:
            times = np.array([self._by_name.get(name, np.nan) for name in names.tolist()], dtype=np.float64)[kind]
            for number, name in enumerate(names.tolist()):
                if name in self._by_shapes:
                    self._set_by_shapes(nodes, np.flatnonzero(kind == number), self._by_shapes[name], times)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"compute times: expected numbers ({error})") from None
        return times

    @staticmethod
    def _set_by_shapes(
        nodes: ComputeNodes, places: npt.NDArray[np.intp], known: dict[str, float], times: npt.NDArray[np.float64]
    ) -> None:
        for place, shapes in zip(places.tolist(), nodes.shapes_of(places).tolist(), strict=True):
            times[place] = known.get(shapes, times[place])


def _entries(given: Any) -> list[tuple[Any, Any]]:
    """Keys and times of a mapping, or of a table's columns."""
    columns = list(getattr(given, "columns", given))
    if "name" not in columns or "duration_ns" not in columns:
        if hasattr(given, "columns") or not isinstance(given, Mapping):
            raise ConfigError(f"compute times: a table needs the columns 'name' and 'duration_ns', found {columns}")
        return list(given.items())
    names, times = list(given["name"]), list(given["duration_ns"])
    keys: list[Any] = names
    if "shapes" in columns:
        keys = [
            (name, shapes) if isinstance(shapes, str) else name
            for name, shapes in zip(names, given["shapes"], strict=True)
        ]
    return list(zip(keys, times, strict=True))
