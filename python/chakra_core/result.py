# SPDX-License-Identifier: MIT
"""What a simulation found: times of each rank and node, as arrays, tables and files."""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from chakra_core import _core
from chakra_core._core import NodeType, Progress, Trace
from chakra_core.output import complete_file

if TYPE_CHECKING:
    import pandas as pd

Times = npt.NDArray[np.uint64]

RANK_COLUMNS = ("finish_ns", "compute_ns", "comm_ns", "exposed_comm_ns", "idle_ns", "cpu_ns", "memory_ns")
"""Names of the times that a result has for each rank."""
# More ranks than this are summed up instead of listed.
_LISTED_RANKS = 16


class Result:
    """Times that a simulation found. Arrays are read-only; all times are in ns.

    Attributes:
        finish_ns: when each rank finished, shape (ranks,).
        compute_ns: time each rank's device computed.
        comm_ns: time each rank communicated.
        exposed_comm_ns: time each rank communicated and did not compute. In parity ASTRA-sim's number: finish minus
            the durations of device computations.
        idle_ns: time before the finish in which a rank did nothing.
        cpu_ns: time each rank's host computed.
        memory_ns: time each rank waited for remote memory.
        warnings: what was odd in the input, one line a kind.
        messages: messages that were simulated one by one.
        events: events of the simulation.
        fidelity: phases of chunks, counted on every member, by how they were carried out: "closed", "phase", "message".
        folded_ranks: ranks that another one was simulated for, because all are alike: all but one, or none.
        order_mattered: what came in one ns and made fidelity "auto" begin again with all messages; else empty.
        traces: the traces simulated, one a rank.
    """

    def __init__(self, native: _core.SimulationResult, traces: list[Trace], warnings: list[str]) -> None:
        """Take over what the core returned for these traces, and more warnings; `simulate` calls it."""
        self._native = native
        self.traces = traces
        self.finish_ns: Times = native.finish_ns
        self.compute_ns: Times = native.compute_ns
        self.comm_ns: Times = native.comm_ns
        self.exposed_comm_ns: Times = native.exposed_comm_ns
        self.idle_ns: Times = native.idle_ns
        self.cpu_ns: Times = native.cpu_ns
        self.memory_ns: Times = native.memory_ns
        self.warnings: list[str] = [*native.warnings, *warnings]
        self.messages: int = native.messages
        self.events: int = native.events
        self.fidelity: dict[str, int] = native.phases
        self.folded_ranks: int = native.folded_ranks
        self.order_mattered: str = native.order_mattered

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return len(self.traces)

    @property
    def total_ns(self) -> int:
        """When the last rank finished."""
        return int(self.finish_ns.max())

    def __repr__(self) -> str:
        return f"<Result of {self.num_ranks} ranks, finished at {self.total_ns} ns>"

    def ranks(self) -> dict[str, npt.NDArray[Any]]:
        """Table with a row for each rank: `rank` and the times."""
        numbers = np.arange(self.num_ranks, dtype=np.uint32)
        return {"rank": numbers} | {name: getattr(self, name) for name in RANK_COLUMNS}

    def nodes(self) -> dict[str, npt.NDArray[Any]]:
        """Table with a row for each completed node, by rank and then by place in the file.

        Columns: `rank`, `id`, `name` and `type` (str), `resource` (str: "cpu", "compute", "comm", "memory" or "none"),
        `lane` (str: what it ran on, such as "thread 1" or "stream 7"), `start_ns`, `end_ns`. Empty if the simulation
        ran with `record_nodes=False`.
        """
        native = self._native
        bounds = self._rank_bounds()
        ids = [self.traces[rank].ids[native.node_row[low:high]] for rank, (low, high) in enumerate(bounds)]
        types = [self.traces[rank].types[native.node_row[low:high]] for rank, (low, high) in enumerate(bounds)]
        resources = np.array(native.RESOURCES, dtype=object)
        lanes = np.array(native.lanes, dtype=object)
        return {
            "rank": native.node_rank,
            "id": np.concatenate(ids),
            "name": self._node_names(bounds),
            "type": _type_names(np.concatenate(types)),
            "resource": resources[native.node_resource],
            "lane": lanes[native.node_lane],
            "start_ns": native.node_start_ns,
            "end_ns": native.node_end_ns,
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return `nodes()` as a data frame. Needs pandas (`pip install chakra-core[frames]`)."""
        import pandas as pd

        return pd.DataFrame(self.nodes())

    def to_csv(self, path: str | os.PathLike[str], *, table: str = "nodes") -> None:
        """Write the table "nodes" or "ranks" as CSV, with a line of column names.

        Raises:
            ValueError: there is no such table.
            OSError: the file cannot be written; nothing is left behind.
        """
        tables = {"nodes": self.nodes, "ranks": self.ranks}
        if table not in tables:
            raise ValueError(f"table must be 'nodes' or 'ranks', not {table!r}")
        columns = tables[table]()
        with complete_file(path) as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

    def to_perfetto(self, path: str | os.PathLike[str], *, progress: Progress | None = None) -> None:
        """Write a timeline that opens in Perfetto (ui.perfetto.dev): for each rank a track a lane.

        A name that ends in `.json` or `.json.gz` gives Chrome JSON, any other Perfetto's protobuf, which is smaller;
        `.gz` compresses. Nodes without a resource, such as metadata and recorded pauses, are left out.

        Args:
            path: the file to write.
            progress: counts nodes.

        Raises:
            OSError: the file cannot be written; nothing is left behind.
        """
        native = self._native
        processes = []
        for rank, (low, high) in enumerate(self._rank_bounds()):
            drawn = low + np.flatnonzero(native.node_resource[low:high] != native.RESOURCES.index("none"))
            lanes, track = np.unique(native.node_lane[drawn], return_inverse=True)
            processes.append(
                _core.TimelineProcess(
                    f"rank {rank}",
                    [native.lanes[lane] for lane in lanes],
                    self.traces[rank],
                    rows=native.node_row[drawn],
                    track=track,
                    start_ns=native.node_start_ns[drawn],
                    end_ns=native.node_end_ns[drawn],
                )
            )
        _core.write_timeline(processes, path, progress=progress)

    def to_dict(self) -> dict[str, Any]:
        """Return the times of each rank, as plain lists for JSON."""
        times = {name: getattr(self, name).tolist() for name in RANK_COLUMNS}
        how = {
            "fidelity": self.fidelity,
            "folded_ranks": self.folded_ranks,
            "order_mattered": self.order_mattered,
            "messages": self.messages,
        }
        return {"num_ranks": self.num_ranks, "total_ns": self.total_ns, **times, **how, "warnings": self.warnings}

    def summary(self) -> str:
        """Return a table for people: a line for each rank, or of many ranks the extremes and the mean."""
        header = ["rank", *(name.removesuffix("_ns").replace("_", " ") for name in RANK_COLUMNS)]
        rows = [header, *self.summary_rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        notes = [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, f"finished at {format_time(self.total_ns)}", *self.how_simulated(), *notes])

    def how_simulated(self) -> list[str]:
        """Lines for people that say how closely collectives were simulated, and for how many ranks one stands."""
        lines = []
        phases = sum(self.fidelity.values())
        if phases:
            kinds = [f"{count} {name}" for name, count in self.fidelity.items() if count]
            lines.append(f"{phases} phases: {', '.join(kinds)}")
        if self.order_mattered:
            lines.append(f"simulated message by message because of {self.order_mattered}")
        if self.folded_ranks:
            lines.append(f"1 rank simulated for {self.folded_ranks + 1} that are alike")
        return lines

    def summary_rows(self) -> list[list[str]]:
        """Cells of the table that `summary` prints, without its header."""
        columns = [getattr(self, name) for name in RANK_COLUMNS]
        if self.num_ranks <= _LISTED_RANKS:
            return [
                [str(rank), *(format_time(int(column[rank])) for column in columns)] for rank in range(self.num_ranks)
            ]
        measures = {
            "min": [column.min() for column in columns],
            "mean": [column.mean() for column in columns],
            "max": [column.max() for column in columns],
        }
        return [[name, *(format_time(int(value)) for value in values)] for name, values in measures.items()]

    def _rank_bounds(self) -> list[tuple[int, int]]:
        """Where each rank's nodes begin and end in the node columns, which are ordered by rank."""
        edges = np.searchsorted(self._native.node_rank, np.arange(self.num_ranks + 1))
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def _node_names(self, bounds: list[tuple[int, int]]) -> npt.NDArray[np.object_]:
        names: dict[int, npt.NDArray[np.object_]] = {}
        parts = []
        for trace, (low, high) in zip(self.traces, bounds, strict=True):
            if id(trace) not in names:
                names[id(trace)] = np.array(trace.names.to_list(), dtype=object)
            parts.append(names[id(trace)][self._native.node_row[low:high]])
        return np.concatenate(parts)


def _type_names(types: npt.NDArray[np.int32]) -> npt.NDArray[np.object_]:
    values, places = np.unique(types, return_inverse=True)
    known = {int(kind): kind.name for kind in NodeType}
    names = [known.get(value, f"NODE_TYPE_{value}") for value in values.tolist()]
    return np.array(names, dtype=object)[places]


def format_time(nanoseconds: int) -> str:
    """Write a time in the largest unit that leaves no leading zero.

    >>> format_time(950), format_time(1_250), format_time(3_000_000)
    ('950 ns', '1.250 us', '3.000 ms')
    """
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3f} {unit}"
    return f"{nanoseconds} ns"
