# SPDX-License-Identifier: MIT
"""What a simulation found: times of each rank and node, as arrays, tables and files."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from chakra_core import _core
from chakra_core._core import CollectiveType, NodeType, Progress, Trace
from chakra_core.config import Network
from chakra_core.frames import needed
from chakra_core.output import complete_file
from chakra_core.simulated_timeline import completed_rows, dimension_use, node_places, write_simulated_timeline

if TYPE_CHECKING:
    import pandas as pd

    from chakra_core.reports.paper_figures import Kind
    from chakra_core.reports.run_report import Links, Replays

Times: TypeAlias = npt.NDArray[np.uint64]
Texts: TypeAlias = npt.NDArray[np.object_]
Table: TypeAlias = dict[str, npt.NDArray[Any]]
"""Columns of one length by name; read-only where they are the core's own."""

TABLES = ("ranks", "nodes", "collectives", "groups", "dimensions", "links")
"""Names of the tables of a result."""

RANK_COLUMNS = ("finish_ns", "compute_ns", "comm_ns", "exposed_comm_ns", "idle_ns", "cpu_ns", "memory_ns")
"""Names of the times that a result has for each rank."""
# More ranks than this are summed up instead of listed.
_LISTED_RANKS = 16
_LISTED_GROUPS = 12


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
        configuration: network, system, memory and options that it ran with, as plain values by section and key.
    """

    def __init__(
        self,
        native: _core.SimulationResult,
        traces: list[Trace],
        network: Network,
        warnings: list[str],
        configuration: dict[str, dict[str, Any]],
    ) -> None:
        """Take over what the core returned for these traces, and more warnings; `simulate` calls it."""
        self._native = native
        self._network = network
        self.configuration = configuration
        self.traces = traces
        self._names: dict[int, Texts] = {}
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

    def ranks(self) -> Table:
        """Table with a row for each rank: `rank` and the times."""
        numbers = np.arange(self.num_ranks, dtype=np.uint32)
        return {"rank": numbers} | {name: getattr(self, name) for name in RANK_COLUMNS}

    def nodes(self) -> Table:
        """Table with a row for each completed node, by rank and then by place in the file.

        Columns: `rank`, `id`, `name` and `type` (str), `resource` (str: "cpu", "compute", "comm", "memory" or "none"),
        `lane` (str: what it ran on, such as "thread 1" or "stream 7"), `start_ns`, `end_ns`, `wait_ns` (from when its
        parents were complete to its start). Empty if the simulation ran with `record_nodes=False`.
        """
        native = self._native
        rows = completed_rows(native)
        counts = [len(of_rank) for of_rank in rows]
        places = node_places(native, rows)
        resources = np.array(native.RESOURCES, dtype=object)
        lanes = np.array(native.lanes, dtype=object)
        of_ranks = [(rank, mine) for rank, mine in enumerate(rows) if len(mine)]
        ran_on = [(native.resources_of(rank)[mine], native.lanes_of(rank)[mine]) for rank, mine in of_ranks]
        types = _joined([self.traces[rank].types[mine] for rank, mine in of_ranks], np.int32)
        wait = np.zeros(len(native.node_start_ns), dtype=np.uint64)
        wait[native.late_node] = native.late_ns
        return {
            "rank": np.repeat(np.arange(self.num_ranks, dtype=np.uint32), counts),
            "id": _joined([self.traces[rank].ids[mine] for rank, mine in of_ranks], np.uint64),
            "name": _joined([self._names_of(self.traces[rank])[mine] for rank, mine in of_ranks], np.object_),
            "type": _type_names(types, NodeType, "NODE_TYPE"),
            "resource": resources[_joined([one for one, _ in ran_on], np.uint8)],
            "lane": lanes[_joined([one for _, one in ran_on], np.uint32)],
            "start_ns": native.node_start_ns[places],
            "end_ns": native.node_end_ns[places],
            "wait_ns": wait[places],
        }

    @property
    def has_nodes(self) -> bool:
        """Whether start and end of every node were recorded."""
        return len(self._native.node_start_ns) > 0

    def nodes_of(self, rank: int) -> Table:
        """Table of one rank's completed nodes without their names, by place in the file.

        Columns: `row` (place in `traces[rank]`), `resource` and `lane` (str), `start_ns`, `end_ns`, as in `nodes()`.

        Raises:
            IndexError: there is no such rank.
        """
        if not 0 <= rank < self.num_ranks:
            raise IndexError(f"rank {rank} of {self.num_ranks}")
        native = self._native
        first, last = (int(bound) for bound in native.first_node[rank : rank + 2])
        rows = np.flatnonzero(native.node_end_ns[first:last] != native.NEVER_ENDED)
        # Without recorded nodes nothing says where they ran.
        resource = native.resources_of(rank)[rows] if len(rows) else np.empty(0, dtype=np.uint8)
        lane = native.lanes_of(rank)[rows] if len(rows) else np.empty(0, dtype=np.uint32)
        return {
            "row": rows,
            "resource": np.array(native.RESOURCES, dtype=object)[resource],
            "lane": np.array(native.lanes, dtype=object)[lane],
            "start_ns": native.node_start_ns[first:last][rows],
            "end_ns": native.node_end_ns[first:last][rows],
        }

    def names_of(self, rank: int) -> Texts:
        """Names of all nodes of a rank's trace, by row; they are read once for ranks that share a trace."""
        return self._names_of(self.traces[rank])

    def collectives(self) -> Table:
        """Table with a row for each collective that a group ran through the network, by start, group and number.

        Columns: `group` (str; "all ranks" where the nodes name none), `number` (how many the group ran before it),
        `type` (str), `name` (str) and `id` of its node on the group's smallest rank, `ranks` (how many), `size`
        (`comm_size`, what one rank contributes), `start_ns` (the first member begins), `joined_ns` (the last one
        begins), `end_ns` (the last one is through), `duration_ns` (from the first begin to the last end), `bytes`,
        `algbw` and `busbw` (float, bytes per ns, which are GB/s of 10^9 bytes; as NCCL-tests defines them:
        docs/simulation.md). Empty with `record_nodes=False`, and where communication takes its recorded time.
        """
        columns = self._native.collectives
        duration = columns["end_ns"] - columns["start_ns"]
        names, ids = self._collective_names(columns["first_rank"], columns["row"])
        return {
            "group": self._group_names(columns["group"]),
            "number": columns["number"],
            "type": _type_names(columns["type"], CollectiveType, "COLLECTIVE_TYPE"),
            "name": names,
            "id": ids,
            "ranks": columns["ranks"],
            "size": columns["size"],
            "start_ns": columns["start_ns"],
            "joined_ns": columns["joined_ns"],
            "end_ns": columns["end_ns"],
            "duration_ns": duration,
            "bytes": columns["bytes"],
            **_bandwidths(columns["bytes"], duration, columns["bus_factor"]),
        }

    def groups(self) -> Table:
        """Table with a row for each type of collective in each process group, by group and type.

        Columns: `group` and `type` (str), `ranks`, `collectives` (how many), `bytes` and `duration_ns` (sums over these
        collectives), `algbw` and `busbw` (of the sums). There with `record_nodes=False`, too.
        """
        columns = self._native.group_totals
        return {
            "group": self._group_names(columns["group"]),
            "type": _type_names(columns["type"], CollectiveType, "COLLECTIVE_TYPE"),
            "ranks": columns["ranks"],
            "collectives": columns["collectives"],
            "bytes": columns["bytes"],
            "duration_ns": columns["duration_ns"],
            **_bandwidths(columns["bytes"], columns["duration_ns"], columns["bus_factor"]),
        }

    def dimensions(self) -> Table:
        """Table with a row for each dimension of the network.

        Columns: `dimension`, `topology` (str), `npus`, `links` (directed links that messages can take), `messages` and
        `bytes` (of the messages that went some way in the dimension), `link_bytes` (the same, counted on each link that
        they passed), `busy_ns` (float: what all links together needed for that), `utilisation` (float: `busy_ns` as a
        part of `links` times `total_ns`). The same in every fidelity.
        """
        columns = self._native.dimensions
        return {
            "dimension": np.arange(self._network.num_dims, dtype=np.uint32),
            "topology": np.array(self._network.topology, dtype=object),
            "npus": np.array(self._network.npus, dtype=np.uint32),
            **columns,
        }

    def dimension_use(self) -> Table:
        """Table with a row for each change of how much of a dimension's links is used, by dimension and time.

        Columns: `dimension`, `time_ns`, `percent` (float: of its links, from then to the next row; what a collective or
        a message put on the dimension is spread evenly over the time in which it used it). Empty with
        `record_nodes=False`.
        """
        use = dimension_use(self._native)
        counts = [len(times) for times, _ in use.values()]
        return {
            "dimension": np.repeat(np.array(list(use), dtype=np.uint32), counts),
            "time_ns": _joined([times for times, _ in use.values()], np.uint64),
            "percent": _joined([percent for _, percent in use.values()], np.float64),
        }

    def links(self) -> Table:
        """Table with a row for each directed link that carried something, by dimension; only with `congestion`.

        Columns: `dimension`, `source` and `destination` (str: "npu 3", or "switch 0"), `messages`, `bytes`, `busy_ns`
        (held by messages), `utilisation` (float: the part of `total_ns` that is).
        """
        columns = self._native.links
        return {
            "dimension": columns["dimension"],
            "source": self._place_names(columns["source"]),
            "destination": self._place_names(columns["destination"]),
            "messages": columns["messages"],
            "bytes": columns["bytes"],
            "busy_ns": columns["busy_ns"],
            "utilisation": columns["busy_ns"] / max(self.total_ns, 1),
        }

    def group_ranks(self) -> dict[str, list[int]]:
        """Ranks of each process group in ring order, by name."""
        return dict(self._native.groups)

    def table(self, name: str) -> Table:
        """Return one of the tables by its name: "ranks", "nodes", "collectives", "groups", "dimensions" or "links".

        Raises:
            ValueError: there is no such table.
        """
        if name not in TABLES:
            raise ValueError(f"table must be one of {', '.join(TABLES)}, not {name!r}")
        table: Table = getattr(self, name)()
        return table

    def to_pandas(self, table: str = "nodes") -> pd.DataFrame:
        """Return a table as a data frame. Needs pandas (`pip install chakra-core[frames]`).

        Raises:
            ValueError: there is no such table.
            ImportError: pandas is not installed.
        """
        frame: pd.DataFrame = needed("pandas", "frames").DataFrame(self.table(table))
        return frame

    def to_arrow(self, table: str = "nodes") -> Any:
        """Return a table as a `pyarrow.Table`. Needs pyarrow (`pip install chakra-core[arrow]`).

        Raises:
            ValueError: there is no such table.
            ImportError: pyarrow is not installed.
        """
        return needed("pyarrow", "arrow").table(self.table(table))

    def to_csv(self, path: str | os.PathLike[str], *, table: str = "nodes") -> None:
        """Write a table as CSV, with a line of column names.

        Raises:
            ValueError: there is no such table.
            OSError: the file cannot be written; nothing is left behind.
        """
        columns = self.table(table)
        with complete_file(path) as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))

    def save_tables(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every table as a CSV file of its name into a folder, which is made if need be; return the files.

        Raises:
            OSError: a file cannot be written.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        paths = [Path(folder) / f"{name}.csv" for name in TABLES]
        for name, path in zip(TABLES, paths, strict=True):
            self.to_csv(path, table=name)
        return paths

    def to_perfetto(self, path: str | os.PathLike[str], *, progress: Progress | None = None) -> None:
        """Write a timeline that opens in Perfetto (ui.perfetto.dev): for each rank a track a lane.

        Arrows lead from sends to their receives. A counter for each dimension of the network shows how much of its
        links was in use, in %: what a collective put on the dimension, spread over the time in which it used it.
        Without `congestion` it may exceed 100. Nodes without a resource, such as metadata and recorded pauses, are left
        out. A name that ends in `.json` or `.json.gz` gives Chrome JSON, any other Perfetto's protobuf, which is
        smaller; `.gz` and `.zst` compress.

        Args:
            path: the file to write.
            progress: counts nodes.

        Raises:
            OSError: the file cannot be written; nothing is left behind.
        """
        write_simulated_timeline(self._native, self.traces, self._network, path, progress)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        link: Links | None = None,
        replay: Replays | None = None,
        ranks: Sequence[int] | None = None,
    ) -> None:
        """Write the run as one HTML file: timeline, where the time went, bandwidths; see `chakra_core.report`.

        Raises:
            ImportError: plotly is not installed (`pip install chakra-core[report]`).
            IndexError: there is no such rank.
            OSError: the file cannot be written; nothing is left behind.
        """
        # What shows results knows them, and not the other way round.
        from chakra_core.reports import report

        report(self, path, title=title, link=link, replay=replay, ranks=ranks)

    def plot(
        self,
        kind: Kind = "time",
        *,
        path: str | os.PathLike[str] | None = None,
        axes: Any = None,
        ranks: Sequence[int] | None = None,
        width: float = 5.0,
        height: float | None = None,
        dpi: int = 300,
    ) -> Any:
        """Draw a figure for a paper with matplotlib.

        Args:
            kind: "time", where each rank's time went; "exposed" communication by group and collective; "timeline";
                "bandwidth" against size; "dimensions", how much of the network was used.
            path: write it to this file too, in the form that its ending says (.pdf, .svg, .png ...).
            axes: draw into these; by default into a figure of its own.
            ranks: which ranks "time" and "timeline" show; by default all, and those of a report.
            width: of a figure of its own, inches.
            height: of it, inches; by default what its content needs.
            dpi: dots an inch, if the file has any.

        Returns:
            The `matplotlib.figure.Figure`. pyplot, and with it any window, is not involved.

        Raises:
            ImportError: matplotlib is not installed (`pip install chakra-core[plot]`).
            ValueError: there is no such kind, or no such form of file.
            IndexError: there is no such rank.
            OSError: the file cannot be written; nothing is left behind.
        """
        from chakra_core.reports.paper_figures import plot

        return plot(self, kind, path=path, axes=axes, ranks=ranks, width=width, height=height, dpi=dpi)

    def to_dict(self) -> dict[str, Any]:
        """Return the times of each rank, and the rows of `groups()` and `dimensions()`, as plain lists for JSON."""
        times = {name: getattr(self, name).tolist() for name in RANK_COLUMNS}
        how = {
            "fidelity": self.fidelity,
            "folded_ranks": self.folded_ranks,
            "order_mattered": self.order_mattered,
            "messages": self.messages,
        }
        tables = {name: _rows(self.table(name)) for name in ("groups", "dimensions")}
        return {
            "num_ranks": self.num_ranks,
            "total_ns": self.total_ns,
            **times,
            **tables,
            **how,
            "warnings": self.warnings,
        }

    def summary(self) -> str:
        """Return a table for people: a line for each rank, or of many ranks the extremes and the mean."""
        header = ["rank", *(name.removesuffix("_ns").replace("_", " ") for name in RANK_COLUMNS)]
        rows = [header, *self.summary_rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        notes = [f"warning: {warning}" for warning in self.warnings]
        finished = f"finished at {format_time(self.total_ns)}"
        return "\n".join([*lines, finished, *self.communication(), *self.how_simulated(), *notes])

    def communication(self) -> list[str]:
        """Lines for people about the collectives of each group, and about each dimension of the network."""
        lines = []
        groups = _rows(self.groups())
        for row in groups[:_LISTED_GROUPS]:
            name = "" if row["group"] == "all ranks" else "group "
            lines.append(
                f"{name}{row['group']}, {row['ranks']} ranks: {row['collectives']} {row['type']}, "
                f"{format_bytes(row['bytes'])}, algbw {row['algbw']:.2f} GB/s, busbw {row['busbw']:.2f} GB/s"
            )
        if len(groups) > _LISTED_GROUPS:
            lines.append(f"and {len(groups) - _LISTED_GROUPS} more kinds of collectives in groups")
        for row in _rows(self.dimensions()):
            lines.append(
                f"dimension {row['dimension']}, {row['topology']} of {row['npus']}: {format_bytes(row['bytes'])} in "
                f"{row['messages']} messages, links used {row['utilisation']:.1%}"
            )
        return lines

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

    def _group_names(self, groups: npt.NDArray[np.uint32]) -> Texts:
        return np.array([name for name, _ in self._native.groups], dtype=object)[groups]

    def _place_names(self, places: npt.NDArray[np.uint32]) -> Texts:
        """Name NPUs, and switches, which are numbered behind them."""
        npus = self.num_ranks
        names = [f"npu {place}" if place < npus else f"switch {place - npus}" for place in places.tolist()]
        return np.array(names, dtype=object)

    def _collective_names(
        self, ranks: npt.NDArray[np.uint32], rows: npt.NDArray[np.uint32]
    ) -> tuple[Texts, npt.NDArray[np.uint64]]:
        names = np.empty(len(rows), dtype=object)
        ids = np.empty(len(rows), dtype=np.uint64)
        for rank in np.unique(ranks).tolist():
            here = ranks == rank
            names[here] = self._names_of(self.traces[rank])[rows[here]]
            ids[here] = self.traces[rank].ids[rows[here]]
        return names, ids

    def _names_of(self, trace: Trace) -> Texts:
        if id(trace) not in self._names:
            self._names[id(trace)] = np.array(trace.names.to_list(), dtype=object)
        return self._names[id(trace)]


def _joined(parts: list[npt.NDArray[Any]], kind: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts])


def _type_names(types: npt.NDArray[np.int32], known: type[NodeType] | type[CollectiveType], other: str) -> Texts:
    values, places = np.unique(types, return_inverse=True)
    by_number = {int(kind): kind.name for kind in known}
    names = [by_number.get(value, f"{other}_{value}") for value in values.tolist()]
    return np.array(names, dtype=object)[places.reshape(-1)]


def _rows(table: Table) -> list[dict[str, Any]]:
    """Rows of a table, as JSON has them."""
    return [dict(zip(table, row, strict=True)) for row in zip(*(c.tolist() for c in table.values()), strict=True)]


def _bandwidths(sizes: Times, duration: Times, factor: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[np.float64]]:
    """Bytes per ns; 0 where nothing took any time."""
    algorithmic = np.divide(sizes, duration, out=np.zeros(len(sizes)), where=duration > 0)
    return {"algbw": algorithmic, "busbw": algorithmic * factor}


def format_time(nanoseconds: int) -> str:
    """Write a time in the largest unit that leaves no leading zero.

    >>> format_time(950), format_time(1_250), format_time(3_000_000)
    ('950 ns', '1.250 us', '3.000 ms')
    """
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3f} {unit}"
    return f"{nanoseconds} ns"


def format_bytes(number: int) -> str:
    """Write an amount of bytes in the largest binary unit that leaves no leading zero: "1.50 MiB"."""
    size = float(number)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024 or unit == "PiB":
            break
        size /= 1024
    return f"{number} B" if unit == "B" else f"{size:.2f} {unit}"
