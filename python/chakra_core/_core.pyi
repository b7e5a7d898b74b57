# mypy: disable-error-code="type-arg"
"""
Native core of chakra_core. Use the names that `chakra_core` exports.
"""

from __future__ import annotations

import collections.abc
import enum
import os
import typing

import numpy
import numpy.typing
import typing_extensions

__all__: list[str] = [
    "Adjacency",
    "Attribute",
    "BlockNode",
    "BlockProgram",
    "Blockage",
    "Cancelled",
    "ChakraError",
    "CollectiveType",
    "ConfigError",
    "DependencyError",
    "DeviceTrace",
    "Feeder",
    "FeederRun",
    "FormatError",
    "HostTrace",
    "IoInfo",
    "LinkError",
    "LinkReport",
    "LinkedTrace",
    "MemoryConfig",
    "Metadata",
    "Names",
    "Network",
    "Node",
    "NodeTotals",
    "NodeType",
    "Problem",
    "Progress",
    "ReplayReport",
    "Report",
    "SimulationError",
    "SimulationResult",
    "Stragglers",
    "StreamStatistics",
    "SystemConfig",
    "Testcase",
    "TestcaseParameter",
    "TimelineCounter",
    "TimelineProcess",
    "Trace",
    "TraceBuilder",
    "TraceDiff",
    "TraceDump",
    "TraceStats",
    "collective_time",
    "concat",
    "convert",
    "diff",
    "generate_testcase",
    "has_zstd",
    "link",
    "load_bytes",
    "load_linked",
    "load_path",
    "read_device_trace",
    "read_head",
    "read_host_trace",
    "replay",
    "save_path",
    "simulate",
    "testcases",
    "write_timeline",
]

class ChakraError(Exception):
    """Base of every error of this library."""

class Cancelled(ChakraError):
    """A long call that was told to stop."""

class SimulationError(ChakraError):
    """A simulation that cannot go on, or an input that it cannot run."""

class ConfigError(ChakraError, ValueError):
    """A configuration value that is missing, unknown or out of range."""

class DependencyError(ChakraError, ValueError):
    """Dependencies that can never be met. `nodes` are the ids of one minimal cycle in order, or of the missing parents."""

    nodes: list[int]

class FormatError(ChakraError, ValueError):
    """Bytes that the format does not allow. Has `path`, `record` and `offset` (None if unknown)."""

    path: str
    record: int | None
    offset: int | None

class LinkError(ChakraError, ValueError):
    """Host and device traces that cannot be joined."""

class Progress:
    """
    Shared between a long call and whoever watches it from another thread.
    """
    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """
        Makes the call raise Cancelled at its next look.
        """
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...

class NodeType(enum.IntEnum):
    """
    Node kinds of the schema.
    """

    COMM_COLL_NODE = 7
    COMM_RECV_NODE = 6
    COMM_SEND_NODE = 5
    COMP_NODE = 4
    INVALID_NODE = 0
    MEM_LOAD_NODE = 2
    MEM_STORE_NODE = 3
    METADATA_NODE = 1

class CollectiveType(enum.IntEnum):
    """
    Collective kinds (attribute `comm_type`).
    """

    ALL_GATHER = 2
    ALL_REDUCE = 0
    ALL_TO_ALL = 6
    BARRIER = 9
    BROADCAST = 5
    GATHER = 3
    REDUCE = 1
    REDUCE_SCATTER = 7
    REDUCE_SCATTER_BLOCK = 8
    SCATTER = 4

class Problem:
    """
    One thing that is wrong with a trace.
    """
    def __repr__(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def nodes(self) -> list[int]:
        """
        Ids of the nodes concerned; for a cycle its members in order.
        """
    @property
    def offset(self) -> int | None: ...
    @property
    def record(self) -> int | None: ...
    @property
    def severity(self) -> str: ...

class Report:
    """
    Problems of a trace, counted by kind.
    """
    def __bool__(self) -> bool: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def counts(self) -> dict:
        """
        Number of problems by kind, kinds without any left out.
        """
    @property
    def errors(self) -> int:
        """
        Number of problems that make the trace unusable for feeding.
        """
    @property
    def ok(self) -> bool:
        """
        No errors.
        """
    @property
    def problems(self) -> list[Problem]: ...
    @property
    def warnings(self) -> int:
        """
        Number of the others.
        """

class Attribute:
    """
    A named value together with the arm of the oneof that carries it.
    """
    def __eq__(self, arg0: object) -> bool: ...
    def __init__(self, name: str, value: typing.Any = None, kind: str = "", doc_string: str = "") -> None: ...
    def __repr__(self) -> str: ...
    @property
    def doc_string(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> typing.Any: ...

class IoInfo:
    """
    Values, shapes and types of inputs or outputs, as strings.
    """
    def __eq__(self, arg0: object) -> bool: ...
    def __init__(self, values: str = "", shapes: str = "", types: str = "") -> None: ...
    @property
    def shapes(self) -> str: ...
    @property
    def types(self) -> str: ...
    @property
    def values(self) -> str: ...

class Metadata:
    """
    Schema version and attributes of a whole file.
    """
    def __init__(self, version: str = "0.0.4", attrs: typing.Any = None) -> None: ...
    @property
    def attributes(self) -> list[Attribute]: ...
    @property
    def attrs(self) -> dict: ...
    @property
    def version(self) -> str: ...

class Adjacency:
    """
    Rows and their neighbours in compressed sparse row form: neighbours of row r are indices[offsets[r]:offsets[r + 1]], themselves row numbers. `adjacency[row]` is that slice.
    """
    def __getitem__(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.uint32]: ...
    def __len__(self) -> int: ...
    @property
    def indices(self) -> numpy.typing.NDArray[numpy.uint32]:
        """
        uint32 row numbers.
        """
    @property
    def offsets(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        uint64, one more than there are rows.
        """

class Names:
    """
    Names of all nodes by row: a sequence of str.
    """
    @typing.overload
    def __getitem__(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    @typing.overload
    def __getitem__(self, arg0: slice) -> typing.Any: ...
    def __iter__(self) -> collections.abc.Iterator: ...
    def __len__(self) -> int: ...
    def to_list(self) -> list:
        """
        All names as a list of str.
        """

class Node:
    """
    One node of a trace. Cold parts are decoded when asked for.
    """
    def __repr__(self) -> str: ...
    def to_proto(self) -> typing.Any:
        """
        The node as a message of the class `chakra_core.proto.Node`.
        """
    @property
    def attributes(self) -> list[Attribute]:
        """
        All attributes in the order of the record.
        """
    @property
    def attrs(self) -> dict:
        """
        Values by name; of several attributes with one name the first.
        """
    @property
    def children(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Ids of the nodes that wait for this one. A node of a stream does not know them: ChakraError.
        """
    @property
    def ctrl_deps(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Ids of the control parents, in the order of the file.
        """
    @property
    def data_deps(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Ids of the data parents, in the order of the file.
        """
    @property
    def duration_ns(self) -> int: ...
    @property
    def id(self) -> int: ...
    @property
    def inputs(self) -> IoInfo: ...
    @property
    def name(self) -> str: ...
    @property
    def outputs(self) -> IoInfo: ...
    @property
    def record(self) -> bytes:
        """
        The node as a serialised protobuf `Node` message.
        """
    @property
    def row(self) -> int:
        """
        Row in the trace; of a node of a stream, in the block that it was read in.
        """
    @property
    def start_ns(self) -> int: ...
    @property
    def type(self) -> typing.Any:
        """
        NodeType, or a plain int for a type that the schema does not name.
        """

class Trace:
    """
    An immutable execution trace in columns.
    """
    def __arrow_c_array__(self, requested_schema: typing.Any = None) -> tuple:
        """
        Arrow PyCapsule interface: the columns as one record batch, not copied where Arrow has the same layout. The consumer may cast if it wanted another schema.
        """
    def __arrow_c_schema__(self) -> typing_extensions.CapsuleType:
        """
        Arrow PyCapsule interface.
        """
    def __arrow_c_stream__(self, requested_schema: typing.Any = None) -> typing_extensions.CapsuleType:
        """
        Arrow PyCapsule interface: a stream of that one batch.
        """
    def __contains__(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def at(self, row: typing.SupportsInt | typing.SupportsIndex) -> Node:
        """
        The node of this row.
        """
    def attr(self, name: str) -> typing.Any:
        """
        Values of an attribute by row: a masked array, masked where the attribute is absent.
        """
    def contract(self, rows: typing.Any) -> Trace:
        """
        The trace of some rows, given as for `select`, in which dependencies reach through the other rows: a kept node is reached from another exactly if it was before. DependencyError for a cycle.
        """
    def filter(
        self,
        *,
        types: typing.Any = None,
        start: typing.SupportsInt | typing.SupportsIndex | None = None,
        end: typing.SupportsInt | typing.SupportsIndex | None = None,
        pg: typing.Any = None,
    ) -> Trace:
        """
        The trace of the nodes that meet all conditions. `types` is a NodeType, number or schema name, or several; `start` and `end` are ns: nodes that run within [start, end) at some time, a node without times counts as 0; `pg` is a process group name or several.
        """
    def find_cycles(self) -> list[list[int]]:
        """
        One minimal cycle of ids for each knot of nodes that wait for each other.
        """
    def mask(
        self,
        *,
        types: typing.Any = None,
        start: typing.SupportsInt | typing.SupportsIndex | None = None,
        end: typing.SupportsInt | typing.SupportsIndex | None = None,
        pg: typing.Any = None,
    ) -> typing.Any:
        """
        Bool array by row: which nodes meet all conditions. See `filter`.
        """
    def node(self, id: typing.SupportsInt | typing.SupportsIndex) -> Node:
        """
        The node with this id. KeyError if absent.
        """
    def row(self, id: typing.SupportsInt | typing.SupportsIndex) -> int:
        """
        Row of a node id. KeyError if absent.
        """
    def select(self, rows: typing.Any) -> Trace:
        """
        The trace of some rows: a bool mask of len(trace), or row numbers in the order wanted, each once. Dependencies on other rows are left out; `left_out_dependencies` of the result says how many.
        """
    def stats(self) -> TraceStats:
        """
        Counts, sums and the shape of the graph, in one pass.
        """
    def subgraph(self, ids: typing.Any) -> Trace:
        """
        The trace of the nodes with these ids, in this order. KeyError if one is absent.
        """
    def to_arrow(self) -> typing.Any:
        """
        Columns as a pyarrow Table; see `chakra_core.frames.to_arrow`.
        """
    def to_networkx(self) -> typing.Any:
        """
        The graph as a networkx MultiDiGraph; see `chakra_core.frames.to_networkx`.
        """
    def to_pandas(self) -> typing.Any:
        """
        Columns as a pandas DataFrame; see `chakra_core.frames.to_pandas`.
        """
    def to_parquet(self, path: typing.Any, **kwargs: typing.Any) -> None:
        """
        Columns as a Parquet file; see `chakra_core.frames.to_parquet`.
        """
    def validate(self) -> Report:
        """
        Every problem of the trace.
        """
    @property
    def children(self) -> Adjacency:
        """
        Rows that name a row as data or control parent, ascending, each once.
        """
    @property
    def ctrl_deps(self) -> Adjacency:
        """
        Control parents of each row, in the order of the file.
        """
    @property
    def data_deps(self) -> Adjacency:
        """
        Data parents of each row, in the order of the file.
        """
    @property
    def duration_ns(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Durations in ns by row (uint64, read-only view); 0 where the file has none.
        """
    @property
    def ids(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Node ids by row (uint64, read-only view).
        """
    @property
    def left_out_dependencies(self) -> int:
        """
        How many dependencies `select` left out when it made this trace.
        """
    @property
    def load_report(self) -> Report:
        """
        What reading had to drop; empty after a strict load.
        """
    @property
    def memory_bytes(self) -> int:
        """
        Anonymous memory held; a mapped file is not counted.
        """
    @property
    def metadata(self) -> Metadata: ...
    @property
    def name_ids(self) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Names by row as positions in `strings` (uint32, read-only view).
        """
    @property
    def names(self) -> Names:
        """
        Names by row.
        """
    @property
    def num_nodes(self) -> int:
        """
        Number of nodes.
        """
    @property
    def pg_ids(self) -> typing.Any:
        """
        Process group names by row as positions in `strings`: a masked array, masked where there is none.
        """
    @property
    def source(self) -> str:
        """
        File that the trace came from, or ''.
        """
    @property
    def start_ns(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Start times in ns by row (uint64, read-only view); 0 where the file has none.
        """
    @property
    def strings(self) -> list:
        """
        All different names, process group names and patterns of involved dimensions (list of str).
        """
    @property
    def types(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        Node types by row (int32, read-only view); compare with `NodeType`.
        """

class TraceBuilder:
    """
    Builds a Trace node by node; dependencies may name later nodes.
    """
    def __init__(self, metadata: Metadata | None = None) -> None: ...
    def __len__(self) -> int: ...
    def add_node(
        self,
        *,
        id: typing.SupportsInt | typing.SupportsIndex,
        name: str = "",
        type: typing.Any = "COMP_NODE",
        data_deps: typing.Any = (),
        ctrl_deps: typing.Any = (),
        start_ns: typing.SupportsInt | typing.SupportsIndex | None = None,
        duration_ns: typing.SupportsInt | typing.SupportsIndex | None = None,
        attrs: typing.Any = None,
        inputs: IoInfo | None = None,
        outputs: IoInfo | None = None,
    ) -> None:
        """
        Adds a node. `type` is a NodeType, its number or its schema name; times are in ns; `attrs` is a dict of name to value, or a sequence of Attribute.
        """
    def add_nodes(
        self,
        *,
        ids: typing.Any,
        types: typing.Any = None,
        names: typing.Any = None,
        data_deps: typing.Any = None,
        ctrl_deps: typing.Any = None,
        start_ns: typing.Any = None,
        duration_ns: typing.Any = None,
        attrs: dict = {},
        inputs: typing.Any = None,
        outputs: typing.Any = None,
    ) -> None:
        """
        Adds many nodes from arrays with one entry a node. `types` may be one type for all (default COMP_NODE); `names` is a sequence of str; `data_deps` and `ctrl_deps` are pairs (offsets, ids): the parents of node i are ids[offsets[i]:offsets[i + 1]]; times are in ns; `attrs` is a dict of name to an array of bool, integers, floats or str: of one dimension for a value a node, of two for a list a node, masked where a node (a whole row) does not have the attribute; or a pair (offsets, values) for lists of several lengths. `inputs` and `outputs` are triples (values, shapes, types) of sequences of str, each of which may be None; a node for which all three are empty has none.
        """
    def add_proto(self, message: typing.Any) -> None:
        """
        Adds a `Node` message of `chakra_core.proto` or of a generated et_def_pb2.
        """
    def add_record(self, message: bytes) -> None:
        """
        Adds a serialised protobuf `Node` message; its bytes are kept as they are.
        """
    def build(self) -> Trace:
        """
        The finished Trace; the builder is empty afterwards. Raises FormatError for a duplicate id, DependencyError for a missing parent.
        """

class NodeTotals:
    """
    Sums over some nodes.
    """
    def __repr__(self) -> str: ...
    @property
    def bytes(self) -> int:
        """
        Sum of comm_size.
        """
    @property
    def duration_ns(self) -> int:
        """
        Sum of durations.
        """
    @property
    def nodes(self) -> int:
        """
        How many.
        """

class TraceStats:
    """
    Counts, sums and the shape of the graph of a trace.
    """
    def __repr__(self) -> str: ...
    @property
    def acyclic(self) -> bool: ...
    @property
    def collectives(self) -> dict:
        """
        NodeTotals of the COMM_COLL_NODEs by schema name of their comm_type.
        """
    @property
    def cpu(self) -> NodeTotals:
        """
        Nodes whose is_cpu_op is true.
        """
    @property
    def critical_path(self) -> typing.Any:
        """
        Ids of a path with that sum, parents first (uint64); None if there is a cycle.
        """
    @property
    def critical_path_ns(self) -> int | None:
        """
        Largest sum of durations along a path; None if there is a cycle.
        """
    @property
    def ctrl_deps(self) -> int: ...
    @property
    def data_deps(self) -> int: ...
    @property
    def depth(self) -> int | None:
        """
        Nodes on the longest path by number of nodes; None if there is a cycle.
        """
    @property
    def device(self) -> NodeTotals:
        """
        Nodes whose is_cpu_op is false.
        """
    @property
    def groups(self) -> dict:
        """
        NodeTotals of communication by process group name (None where there is none), and in it by collective, SEND or RECV.
        """
    @property
    def nodes(self) -> int: ...
    @property
    def types(self) -> dict:
        """
        NodeTotals by schema name.
        """
    @property
    def unplaced(self) -> NodeTotals:
        """
        Nodes without is_cpu_op.
        """
    @property
    def widest_level(self) -> int | None:
        """
        The first level of that width.
        """
    @property
    def width(self) -> int | None:
        """
        Nodes on the widest level; None if there is a cycle. A node's level is the number of edges on the longest path to it.
        """

class TraceDiff:
    """
    How two traces differ, by node id. Falsy if they do not.
    """
    def __bool__(self) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def changed(self) -> int:
        """
        Number of nodes that are in both and differ.
        """
    @property
    def changed_fields(self) -> dict:
        """
        Number of nodes that differ in each field.
        """
    @property
    def changed_nodes(self) -> dict:
        """
        Of the first of them the fields that differ, by id.
        """
    @property
    def equal(self) -> int:
        """
        Number of nodes that are the same in both.
        """
    @property
    def ids_only_in_first(self) -> list[int]:
        """
        The first of them.
        """
    @property
    def ids_only_in_second(self) -> list[int]:
        """
        The first of them.
        """
    @property
    def metadata_differs(self) -> bool: ...
    @property
    def only_in_first(self) -> int:
        """
        Number of nodes.
        """
    @property
    def only_in_second(self) -> int:
        """
        Number of nodes.
        """
    @property
    def same(self) -> bool: ...

class TraceDump:
    """
    Nodes as text (UTF-8 bytes), piece by piece: iterate over it.
    """
    def __init__(
        self, trace: Trace, rows: typing.Any = None, *, form: str = "jsonl", columns: collections.abc.Sequence[str] = []
    ) -> None: ...
    def __iter__(self) -> typing.Any: ...
    def __next__(self) -> bytes: ...

class TestcaseParameter:
    """
    A number by which a test case can be varied.
    """
    def __repr__(self) -> str: ...
    @property
    def largest(self) -> int: ...
    @property
    def meaning(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def smallest(self) -> int: ...
    @property
    def usual(self) -> int:
        """
        What it is if nobody says.
        """

class Testcase:
    """
    A small workload of known shape, to test tools with.
    """
    def __repr__(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> list[TestcaseParameter]: ...

class BlockNode:
    """
    A node of a block that a BlockProgram repeats.
    """
    def __init__(
        self,
        name: str,
        type: typing.Any,
        *,
        duration_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        attrs: dict = {},
        rank_attrs: collections.abc.Sequence[tuple[str, typing.SupportsInt | typing.SupportsIndex]] = [],
        parents: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
        inputs: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
        queue: typing.SupportsInt | typing.SupportsIndex | None = None,
    ) -> None:
        """
        `rank_attrs`: pairs of a name and which of the rank's values it has; `parents`: earlier nodes of the block; `inputs`: inputs of the block; nodes of a `queue` run in the order of the program.
        """
    @property
    def name(self) -> str: ...

class BlockProgram:
    """
    The trace of a rank as blocks one after another.
    """
    def __init__(
        self,
        *,
        blocks: collections.abc.Sequence[
            tuple[collections.abc.Sequence[BlockNode], typing.SupportsInt | typing.SupportsIndex]
        ],
        block: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        label: collections.abc.Sequence[str],
        link_offsets: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        link_placement: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        link_node: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    ) -> None:
        """
        `blocks`: pairs of nodes and number of inputs; `block` and `label`: one a placement; the links: what is connected to the inputs of all placements, one input after another, as (placement, node).
        """
    def __len__(self) -> int: ...
    def build(self, values: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex | str]) -> Trace:
        """
        The trace of the rank that has these values.
        """

class Blockage:
    """
    What the nodes of a feeder that are not ready wait for; str() says it in words.
    """
    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...
    @property
    def cycle(self) -> list[int]:
        """
        Ids of a minimal cycle: each waits for the next, the last for the first. Empty if there is none.
        """
    @property
    def flying(self) -> list[int]:
        """
        Ids of the first of them.
        """
    @property
    def in_flight(self) -> int:
        """
        Number of nodes taken and not complete.
        """
    @property
    def is_deadlock(self) -> bool:
        """
        Some nodes would wait for ever.
        """
    @property
    def missing(self) -> list[int]:
        """
        Ids of parents that the file does not have; of a stream, once it was read to its end.
        """
    @property
    def nodes(self) -> list[tuple[int, list[int]]]:
        """
        The first of them by id, each with the ids of its parents that are not complete.
        """
    @property
    def ready(self) -> int:
        """
        Number of nodes that could be taken now.
        """
    @property
    def text(self) -> str: ...
    @property
    def waiting(self) -> int:
        """
        Number of nodes that wait for a parent.
        """

class StreamStatistics:
    """
    What a stream had to do; all zero for a feeder over a whole trace.
    """
    def __repr__(self) -> str: ...
    @property
    def forward_references(self) -> int:
        """
        Dependencies on nodes further on in the file.
        """
    @property
    def most_held(self) -> int:
        """
        Nodes read and not complete, at the most.
        """
    @property
    def nodes_read(self) -> int: ...
    @property
    def read_on_for_dependencies(self) -> int:
        """
        Nodes read beyond the window because none in it was ready, and nothing in flight could change that.
        """
    @property
    def read_on_for_order(self) -> int:
        """
        Nodes read beyond the window because a node further on might have to be issued first.
        """

class FeederRun:
    """
    Iterates over the nodes of a feeder; see Feeder.run().
    """
    def __iter__(self) -> FeederRun: ...
    def __next__(self) -> Node: ...

class Feeder:
    """
    Hands out the nodes of a trace in dependency order.

    A node is ready when all its parents are complete. Among the ready nodes the first in the issue order comes first;
    equal ones come by id.

    Args:
        source: a Trace, or what `load` takes; with `window`, a path.
        deps: which dependencies count, "data", "control" or "both".
        order: "id" (smallest first), "start" (earliest), "file" (as in the file), "attr:<name>" (an integer attribute,
            the largest first, nodes without it last; "attr:<name>:smallest" for the smallest first), or a numpy array of
            a key for each row, the smallest first.
        window: nodes to read ahead of a file that is streamed (plain, gzip or zstd) rather than loaded; at least 1. Memory
            is bounded by the window and what is open: nodes in flight, and nodes that wait for nodes further on.
        in_issue_order: of a stream: the file is in the issue order, which saves a pass over it; FormatError if it is
            not.
        threads: that decode; 0 means as many as the machine has cores. The order does not depend on it.

    Raises:
        ValueError, TypeError: for arguments that make no sense.
        ChakraError: an attribute that is not an integer.
        FormatError, DependencyError, OSError: as `load` does; of a stream, what is wrong later in the file is raised
            when it is reached.
    """
    def __init__(
        self,
        source: typing.Any,
        *,
        deps: str = "both",
        order: typing.Any = "id",
        window: typing.SupportsInt | typing.SupportsIndex | None = None,
        in_issue_order: bool = False,
        threads: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    def blocked(self, max: typing.SupportsInt | typing.SupportsIndex = 20) -> Blockage:
        """
        What the nodes that are not ready wait for, `max` of them named: for a person to read, not for the inner loop.
        """
    def complete(self, node: typing.Any) -> None:
        """
        Marks a taken node (a Node or an id) complete.
        """
    def complete_batch(self, ids: typing.Any) -> None:
        """
        Marks taken nodes complete: ids as an array, or any sequence of ints. Completes all, or raises and completes none.
        """
    def drain(self, max: typing.SupportsInt | typing.SupportsIndex | None = None) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Takes and completes node after node, `max` at most, in native code; their ids in issue order (uint64). Raises as pop() when there is no node to begin with.
        """
    def node(self, id: typing.SupportsInt | typing.SupportsIndex) -> Node:
        """
        The node with this id; of a stream only while it is read and not complete.
        """
    def peek(self) -> Node | None:
        """
        The node that pop() would take.
        """
    def pop(self) -> Node | None:
        """
        Takes the first ready node; None if none is ready now. Raises DependencyError when nodes remain that can never become ready.
        """
    def pop_batch(
        self, max: typing.SupportsInt | typing.SupportsIndex | None = None, complete: typing.Any = None
    ) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Takes the ready nodes in order, `max` at most; their ids (uint64), none if none is ready now. Of a stream: what is ready in the window. `complete`: ids to mark complete before, as complete_batch() does; saves a call. Raises as pop().
        """
    def push_back(self, node: typing.Any) -> None:
        """
        Returns a taken node (a Node or an id) to the ready set.
        """
    def reset(self) -> None:
        """
        Back to the start. A stream opens its file again.
        """
    def run(self) -> FeederRun:
        """
        Iterates over the nodes in order, and completes each when the next is asked for. A node that the loop is left at stays in flight. Ends when no node is ready: when all are complete, or wait for what was taken by hand.
        """
    def take(self, node: typing.Any) -> None:
        """
        Takes this ready node (a Node or an id), whatever its place in the order.
        """
    @property
    def done(self) -> bool: ...
    @property
    def in_flight(self) -> int:
        """
        Number of nodes taken and not complete.
        """
    @property
    def memory_bytes(self) -> int:
        """
        Anonymous memory of this feeder, beyond what a shared trace holds.
        """
    @property
    def ready(self) -> int:
        """
        Number of nodes that could be taken now; of a stream, in its window.
        """
    @property
    def ready_ids(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Ids of all ready nodes, in issue order (uint64).
        """
    @property
    def remaining(self) -> int:
        """
        Number of nodes not complete. A stream that made no pass over its file counts what it has read and, until it has seen the end, one more.
        """
    @property
    def statistics(self) -> StreamStatistics: ...
    @property
    def trace(self) -> Trace | None:
        """
        The whole trace; None for a stream.
        """

class HostTrace:
    """
    A PyTorch host trace (ExecutionTraceObserver) as columns; strings are ids into `strings`.
    """
    def __len__(self) -> int: ...
    def attributes(self) -> dict:
        """
        Columns of the further attributes that nodes point to.
        """
    def nodes(self) -> dict:
        """
        Columns of the nodes, by name, in file order.
        """
    @property
    def finish_ts(self) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def report(self) -> list[tuple[str, int, str]]:
        """
        What was mended or lost: (what, count, first place).
        """
    @property
    def schema(self) -> str: ...
    @property
    def start_ts(self) -> int: ...
    @property
    def strings(self) -> list[str]: ...
    @property
    def time(self) -> str: ...

class DeviceTrace:
    """
    A PyTorch device trace (Kineto) as columns; strings are ids into `strings`.
    """
    def __len__(self) -> int: ...
    def communications(self) -> dict:
        """
        Columns of the arguments of communication.
        """
    def events(self) -> dict:
        """
        Columns of the events that are kept, by name, in file order. Times in ns.
        """
    def flows(self) -> dict:
        """
        Columns of the ends of forward-backward arrows.
        """
    def ops(self) -> dict:
        """
        Columns of the arguments of CPU ops.
        """
    def syncs(self) -> dict:
        """
        Columns of the arguments of synchronisation events.
        """
    def threads(self) -> dict:
        """
        Columns pid and tid.
        """
    @property
    def backend(self) -> str: ...
    @property
    def base_time_ns(self) -> int: ...
    @property
    def groups(self) -> list[tuple[str, str, str, int, list[int]]]:
        """
        (name, description, backend, size, ranks) of each.
        """
    @property
    def path(self) -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def report(self) -> list[tuple[str, int, str]]:
        """
        What was mended or lost: (what, count, first place).
        """
    @property
    def strings(self) -> list[str]: ...
    @property
    def trace_name(self) -> str: ...
    @property
    def world_size(self) -> int: ...

class ReplayReport:
    """
    A trace played with nothing but its durations and dependencies, against its record.
    """
    def __str__(self) -> str: ...
    @property
    def inversions(self) -> int:
        """
        Neighbours on a stream that swapped places.
        """
    @property
    def nodes(self) -> int: ...
    @property
    def recorded_ns(self) -> int: ...
    @property
    def replayed_ns(self) -> int: ...
    @property
    def start_error_ns(self) -> dict:
        """
        Distance of replayed and recorded starts over all nodes, ns: max, median, p95.
        """
    @property
    def streams(self) -> dict[int, int]:
        """
        Largest start error of each stream, ns.
        """
    @property
    def text(self) -> str: ...
    @property
    def total_error(self) -> float:
        """
        (replayed - recorded) / recorded.
        """
    @property
    def unexplained_device_wait_ns(self) -> int: ...
    @property
    def unexplained_device_waits(self) -> int: ...

class LinkReport:
    """
    What linking found, dropped, and could not explain. Each part is made on first use.
    """
    def __str__(self) -> str: ...
    @property
    def advice(self) -> list[str]:
        """
        What to change in the collection.
        """
    @property
    def counts(self) -> dict:
        """
        Counts by section and name, as nested dicts.
        """
    @property
    def replay(self) -> ReplayReport | None:
        """
        What `replay` says of the trace that `convert` makes by default; None without a device trace. Takes about as long as both.
        """
    @property
    def text(self) -> str:
        """
        The figures that are not 0, the advice and the replay, for people.
        """

class LinkedTrace:
    """
    A host trace joined with the device trace of the same rank.
    """
    def save(self, path: os.PathLike[str] | str | bytes) -> None:
        """
        Writes the linked JSON that older converters read, with the cut points and the device trace beside it;
        `convert(path)` makes the same of it as of this. ".gz" and ".zst" compress. Raises OSError.
        """
    @property
    def num_device_events(self) -> int: ...
    @property
    def num_host_nodes(self) -> int: ...
    @property
    def process_groups(self) -> dict[str, list[int]]:
        """
        Ranks of each process group by its name.
        """
    @property
    def rank(self) -> int | None:
        """
        From the argument, else from the device trace; or None.
        """
    @property
    def report(self) -> LinkReport: ...
    @property
    def span_ns(self) -> int:
        """
        Length of the record in ns; 0 without a device trace.
        """

class Network:
    """
    Dimensions of a network; NPU ids count with dimension 0 fastest.
    """
    @staticmethod
    def of_links(
        npus: typing.SupportsInt | typing.SupportsIndex,
        switches: typing.SupportsInt | typing.SupportsIndex,
        links: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsFloat | typing.SupportsIndex,
                typing.SupportsFloat | typing.SupportsIndex,
                bool,
            ]
        ],
        damage: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex | None,
                typing.SupportsInt | typing.SupportsIndex | None,
                typing.SupportsInt | typing.SupportsIndex | None,
                typing.SupportsFloat | typing.SupportsIndex,
                typing.SupportsFloat | typing.SupportsIndex,
            ]
        ] = [],
    ) -> Network:
        """
        Links: src, dst, GB/s of 2**30 bytes, ns, one-way. Switches are numbered from npus on.
        """
    def __init__(
        self,
        topology: collections.abc.Sequence[str],
        npus: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        bandwidth: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        latency: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        oversubscription: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = [],
        damage: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex | None,
                typing.SupportsInt | typing.SupportsIndex | None,
                typing.SupportsInt | typing.SupportsIndex | None,
                typing.SupportsFloat | typing.SupportsIndex,
                typing.SupportsFloat | typing.SupportsIndex,
            ]
        ] = [],
    ) -> None:
        """
        One entry a dimension: "Ring", "FullyConnected", "Switch" or "Mesh"; NPUs; GB/s of 2**30 bytes; ns; ratio of a switch. Damage: dimension, src, dst (each may be None), factors on bandwidth and latency.
        """
    def coordinates(self, npu: typing.SupportsInt | typing.SupportsIndex) -> list[int]: ...
    def delay(
        self,
        src: typing.SupportsInt | typing.SupportsIndex,
        dst: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        parity: bool = False,
    ) -> int:
        """
        ns from sending to arrival when nobody else sends.
        """
    @property
    def bandwidth(self) -> list:
        """
        GB/s of 2**30 bytes.
        """
    @property
    def dimensions(self) -> int: ...
    @property
    def latency(self) -> list:
        """
        ns.
        """
    @property
    def npus(self) -> int:
        """
        NPUs of the whole network.
        """
    @property
    def npus_count(self) -> list:
        """
        NPUs of each dimension.
        """
    @property
    def oversubscription(self) -> list: ...
    @property
    def topology(self) -> list[str]: ...

class SystemConfig:
    """
    What ASTRA-sim's system file says.
    """
    def __init__(
        self,
        *,
        endpoint_delay: typing.SupportsFloat | typing.SupportsIndex | None = None,
        active_chunks_per_dimension: typing.SupportsInt | typing.SupportsIndex = 1,
        preferred_dataset_splits: typing.SupportsInt | typing.SupportsIndex = 1,
        all_reduce_implementation: collections.abc.Sequence[str] = ["ring"],
        all_gather_implementation: collections.abc.Sequence[str] = ["ring"],
        reduce_scatter_implementation: collections.abc.Sequence[str] = ["ring"],
        all_to_all_implementation: collections.abc.Sequence[str] = ["ring"],
        collective_optimization: str = "baseline",
        local_mem_bw: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        peak_perf: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        roofline_enabled: bool = False,
        replay_only: bool = False,
        all_reduce_custom: collections.abc.Sequence[Trace] = [],
        all_gather_custom: collections.abc.Sequence[Trace] = [],
        reduce_scatter_custom: collections.abc.Sequence[Trace] = [],
        all_to_all_custom: collections.abc.Sequence[Trace] = [],
    ) -> None: ...
    @property
    def active_chunks_per_dimension(self) -> int: ...
    @property
    def all_gather_implementation(self) -> list[str]: ...
    @property
    def all_reduce_implementation(self) -> list[str]: ...
    @property
    def all_to_all_implementation(self) -> list[str]: ...
    @property
    def collective_optimization(self) -> str: ...
    @property
    def endpoint_delay(self) -> float | None: ...
    @property
    def local_mem_bw(self) -> float: ...
    @property
    def peak_perf(self) -> float: ...
    @property
    def preferred_dataset_splits(self) -> int: ...
    @property
    def reduce_scatter_implementation(self) -> list[str]: ...
    @property
    def replay_only(self) -> bool: ...
    @property
    def roofline_enabled(self) -> bool: ...

class MemoryConfig:
    """
    What ASTRA-sim's remote-memory file says.
    """
    def __init__(
        self,
        *,
        memory_type: str = "NO_MEMORY_EXPANSION",
        latency_ns: typing.SupportsInt | typing.SupportsIndex = 0,
        bandwidth: typing.SupportsInt | typing.SupportsIndex = 0,
        num_nodes: typing.SupportsInt | typing.SupportsIndex = 1,
        num_npus_per_node: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> None: ...
    @property
    def bandwidth(self) -> int: ...
    @property
    def latency_ns(self) -> int: ...
    @property
    def memory_type(self) -> str: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_npus_per_node(self) -> int: ...

class SimulationResult:
    """
    Times of a simulated run, in ns, as columns.
    """

    NEVER_ENDED: typing.ClassVar[int] = 18446744073709551615
    RESOURCES: typing.ClassVar[tuple] = ("none", "cpu", "compute", "comm", "memory")
    def lanes_of(self, rank: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.uint32]:
        """
        Of each row: index into lanes.
        """
    def resources_of(self, rank: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.uint8]:
        """
        Of each row: index into RESOURCES (uint8).
        """
    @property
    def activity(self) -> dict[str, numpy.ndarray]:
        """
        A row for each collective in each dimension it used.
        """
    @property
    def collectives(self) -> dict[str, numpy.ndarray]:
        """
        A row for each collective of a group.
        """
    @property
    def comm_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def compute_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def cpu_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def dimensions(self) -> dict[str, numpy.ndarray]:
        """
        A row for each dimension of the network.
        """
    @property
    def events(self) -> int: ...
    @property
    def exposed_comm_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def finish_minus_compute_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def finish_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def first_node(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        By rank, and one more: where its nodes begin in the node columns.
        """
    @property
    def folded_ranks(self) -> int:
        """
        Ranks that another one was simulated for.
        """
    @property
    def group_totals(self) -> dict[str, numpy.ndarray]:
        """
        A row for each group and type of collective.
        """
    @property
    def groups(self) -> list[tuple[str, list[int]]]:
        """
        Name and ranks of each group; the first is all ranks.
        """
    @property
    def idle_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def lanes(self) -> list[str]:
        """
        Names of what nodes ran on.
        """
    @property
    def late_node(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        Nodes that waited for a slot.
        """
    @property
    def late_ns(self) -> numpy.typing.NDArray[numpy.uint64]:
        """
        How long each of late_node waited.
        """
    @property
    def links(self) -> dict[str, numpy.ndarray]:
        """
        A row for each directed link that was used, with congestion.
        """
    @property
    def memory_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def messages(self) -> int: ...
    @property
    def node_end_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def node_start_ns(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    @property
    def order_mattered(self) -> str:
        """
        What came in one ns and made "auto" begin again with all messages; else empty.
        """
    @property
    def phases(self) -> dict[str, int]:
        """
        Phases of chunks, counted on every member, by how they were carried out.
        """
    @property
    def warnings(self) -> list[str]: ...

class Stragglers:
    """
    What makes ranks slower, or faster, than their traces say.
    """
    def __init__(
        self,
        *,
        compute_speed: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = [],
        start_delay_ns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
        node_delays: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ]
        ] = [],
        jitter: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        seed: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None:
        """
        One entry a rank; `node_delays`: rank, node id, ns.
        """
    def jitter_factor(
        self, rank: typing.SupportsInt | typing.SupportsIndex, node: typing.SupportsInt | typing.SupportsIndex
    ) -> float:
        """
        The jitter's factor of a node.
        """

class TimelineProcess:
    """
    One group of tracks, such as a rank, and the slices on them: nodes of a trace with a begin and an end. Columns have one entry a slice, in any order.
    """
    def __init__(
        self,
        name: str,
        tracks: collections.abc.Sequence[str],
        trace: Trace,
        *,
        rows: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32],
        track: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32],
        start_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.uint64],
        end_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.uint64],
    ) -> None: ...

class TimelineCounter:
    """
    A curve of values, each of which holds from its time on.
    """
    def __init__(
        self,
        process: str,
        name: str,
        unit: str,
        *,
        time_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.uint64],
        value: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> None: ...

def collective_time(
    network: Network,
    system: SystemConfig,
    type: CollectiveType,
    bytes: typing.SupportsInt | typing.SupportsIndex,
    *,
    group: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = [],
    root: typing.SupportsInt | typing.SupportsIndex | None = None,
    congestion: bool = False,
    parity: bool = False,
    rendezvous_protocol: bool = False,
    num_queues_per_dim: typing.SupportsInt | typing.SupportsIndex = 1,
    injection_scale: typing.SupportsFloat | typing.SupportsIndex = 1.0,
    fidelity: str = "auto",
) -> int:
    """
    ns from when all members begin one collective together until the last of them is through.
    """

def concat(traces: collections.abc.Sequence[Trace], renumber: bool) -> Trace: ...
def convert(
    linked: LinkedTrace,
    layout: str = "exact",
    lag_min_ns: typing.SupportsInt | typing.SupportsIndex = 0,
    memory_nodes: bool = False,
    threads: typing.SupportsInt | typing.SupportsIndex = 0,
) -> Trace:
    """
    Makes an execution trace of a linked trace; layout "exact" or "ops". Raises ConfigError.
    """

def diff(first: Trace, second: Trace, limit: typing.SupportsInt | typing.SupportsIndex) -> TraceDiff: ...
def generate_testcase(
    name: str, parameters: collections.abc.Mapping[str, typing.SupportsInt | typing.SupportsIndex]
) -> list[Trace]:
    """
    The traces of a test case, one a rank; ranks that are alike share one trace.
    """

def has_zstd() -> bool:
    """
    Whether this build reads and writes zstd.
    """

def link(
    host: os.PathLike[str] | str | bytes | None,
    device: os.PathLike[str] | str | bytes | None,
    rank: typing.SupportsInt | typing.SupportsIndex | None = None,
    on_error: str = "strict",
    progress: Progress | None = None,
    threads: typing.SupportsInt | typing.SupportsIndex = 0,
) -> LinkedTrace:
    """
    Joins a PyTorch host trace with a Kineto trace; either may be None. Raises LinkError, FormatError.
    """

def load_bytes(
    buffer: typing_extensions.Buffer,
    *,
    name: str = "<bytes>",
    on_error: str = "strict",
    progress: Progress | None = None,
    threads: typing.SupportsInt | typing.SupportsIndex = 0,
    max_bytes: typing.SupportsInt | typing.SupportsIndex = 0,
) -> Trace: ...
def load_linked(
    path: os.PathLike[str] | str | bytes,
    rank: typing.SupportsInt | typing.SupportsIndex | None = None,
    on_error: str = "strict",
    progress: Progress | None = None,
) -> LinkedTrace:
    """
    Reads what LinkedTrace.save wrote, or the linked JSON of older linkers. Raises LinkError, FormatError.
    """

def load_path(
    path: os.PathLike[str] | str | bytes,
    *,
    on_error: str = "strict",
    progress: Progress | None = None,
    threads: typing.SupportsInt | typing.SupportsIndex = 0,
    max_bytes: typing.SupportsInt | typing.SupportsIndex = 0,
) -> Trace: ...
def read_device_trace(
    path: os.PathLike[str] | str | bytes, *, on_error: str = "strict", progress: Progress | None = None
) -> DeviceTrace:
    """
    Reads a Kineto trace, plain, gzip or zstd.
    """

def read_head(path: os.PathLike[str] | str | bytes, most_bytes: typing.SupportsInt | typing.SupportsIndex) -> bytes:
    """
    The first bytes of a plain, gzip or zstd file, inflated. Raises OSError, FormatError.
    """

def read_host_trace(
    path: os.PathLike[str] | str | bytes, *, on_error: str = "strict", progress: Progress | None = None
) -> HostTrace:
    """
    Reads a PyTorch host trace, plain, gzip or zstd.
    """

def replay(trace: Trace, deps: str = "data") -> ReplayReport:
    """
    Plays a trace against its record; deps "data" or "both". Raises DependencyError for a cycle.
    """

def save_path(
    trace: Trace,
    path: os.PathLike[str] | str | bytes,
    *,
    form: str | None = None,
    compression: str | None = None,
    level: typing.SupportsInt | typing.SupportsIndex | None = None,
    schema_version: str | None = None,
    progress: Progress | None = None,
) -> None: ...
def simulate(
    traces: collections.abc.Sequence[Trace],
    network: Network,
    system: SystemConfig,
    *,
    memory: MemoryConfig = ...,
    groups: collections.abc.Sequence[
        tuple[str, collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]]
    ] = [],
    parity: bool = False,
    congestion: bool = False,
    num_queues_per_dim: typing.SupportsInt | typing.SupportsIndex = 1,
    rendezvous_protocol: bool = False,
    injection_scale: typing.SupportsFloat | typing.SupportsIndex = 1.0,
    groups_as_listed: bool = False,
    slots: tuple[
        typing.SupportsInt | typing.SupportsIndex,
        typing.SupportsInt | typing.SupportsIndex,
        typing.SupportsInt | typing.SupportsIndex,
    ]
    | None = None,
    recorded_communication: bool = False,
    fidelity: str = "auto",
    fold: bool = True,
    stragglers: Stragglers = ...,
    compute_ns: collections.abc.Sequence[typing.Annotated[numpy.typing.ArrayLike, numpy.uint64] | None] = [],
    record_nodes: bool = True,
    progress: Progress | None = None,
) -> SimulationResult:
    """
    Runs one trace a rank to its end. `slots` counts those of CPU, compute and communication; None: a slot for each thread and stream, in parity one each. `compute_ns`: by rank, what COMP nodes take, by row; 2**64 - 1: as otherwise. Raises ConfigError, SimulationError (with what each rank waits for), DependencyError (a cycle).
    """

def testcases() -> list[Testcase]:
    """
    All test cases that can be generated, in a fixed order.
    """

def write_timeline(
    processes: collections.abc.Sequence[TimelineProcess],
    path: os.PathLike[str] | str | bytes,
    *,
    flows: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32] | None = None,
    counters: collections.abc.Sequence[TimelineCounter] = [],
    format: str | None = None,
    progress: Progress | None = None,
) -> None:
    """
    Writes a timeline file; gzip if the name ends in .gz. `flows` has the shape (flows, 4): process and slice that an arrow leaves, process and slice that it reaches. Progress counts slices.
    """

__version__: str
