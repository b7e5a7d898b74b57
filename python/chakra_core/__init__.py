"""MLCommons Chakra execution traces: read, link, convert, feed and simulate, at speed.

The names exported here are the public face; `chakra_core._core` is the native core behind them.
"""

from chakra_core._core import (
    Adjacency,
    Attribute,
    Cancelled,
    ChakraError,
    CollectiveType,
    ConfigError,
    DependencyError,
    Feeder,
    FormatError,
    IoInfo,
    LinkError,
    Metadata,
    Names,
    Node,
    NodeType,
    Problem,
    Progress,
    Report,
    SimulationError,
    Trace,
    TraceBuilder,
    __version__,
)
from chakra_core.config import CommGroups, Memory, Network, System
from chakra_core.io import load, save, validate
from chakra_core.recorded_timeline import timeline
from chakra_core.result import Result
from chakra_core.simulation import simulate

__all__ = [
    "Adjacency",
    "Attribute",
    "Cancelled",
    "ChakraError",
    "CollectiveType",
    "CommGroups",
    "ConfigError",
    "DependencyError",
    "Feeder",
    "FormatError",
    "IoInfo",
    "LinkError",
    "Memory",
    "Metadata",
    "Names",
    "Network",
    "Node",
    "NodeType",
    "Problem",
    "Progress",
    "Report",
    "Result",
    "SimulationError",
    "System",
    "Trace",
    "TraceBuilder",
    "__version__",
    "load",
    "save",
    "simulate",
    "timeline",
    "validate",
]
