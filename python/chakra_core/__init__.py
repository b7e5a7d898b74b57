"""MLCommons Chakra execution traces: read, link, convert, feed and simulate, at speed.

The names exported here are the public face; `chakra_core._core` is the native core behind them.
"""

from chakra_core._core import (
    Adjacency,
    Attribute,
    Blockage,
    Cancelled,
    ChakraError,
    CollectiveType,
    ConfigError,
    DependencyError,
    Feeder,
    FormatError,
    IoInfo,
    LinkedTrace,
    LinkError,
    LinkReport,
    Metadata,
    Names,
    Node,
    NodeTotals,
    NodeType,
    Problem,
    Progress,
    ReplayReport,
    Report,
    SimulationError,
    StreamStatistics,
    Trace,
    TraceBuilder,
    TraceDiff,
    TraceStats,
    __version__,
)
from chakra_core.async_feeder import AsyncFeeder
from chakra_core.collection import collect
from chakra_core.collective_time import collective_time
from chakra_core.compute_times import ComputeNodes
from chakra_core.config import CommGroups, Link, LinkDamage, Memory, Network, NodeDelay, Stragglers, System
from chakra_core.diagnosis import Diagnosis, diagnose
from chakra_core.io import load, load_run, save, validate
from chakra_core.pytorch import convert, link, load_linked, replay
from chakra_core.rank_agreement import Disagreement, RankAgreement, check_ranks
from chakra_core.recorded_groups import recorded_groups
from chakra_core.recorded_timeline import timeline
from chakra_core.reports import report, report_sweep
from chakra_core.result import Result
from chakra_core.run_check import check
from chakra_core.several import concat, diff
from chakra_core.simplification import simplify
from chakra_core.simulation import simulate
from chakra_core.text_workload import convert_text

__all__ = [
    "Adjacency",
    "AsyncFeeder",
    "Attribute",
    "Blockage",
    "Cancelled",
    "ChakraError",
    "CollectiveType",
    "CommGroups",
    "ComputeNodes",
    "ConfigError",
    "DependencyError",
    "Diagnosis",
    "Disagreement",
    "Feeder",
    "FormatError",
    "IoInfo",
    "Link",
    "LinkDamage",
    "LinkError",
    "LinkReport",
    "LinkedTrace",
    "Memory",
    "Metadata",
    "Names",
    "Network",
    "Node",
    "NodeDelay",
    "NodeTotals",
    "NodeType",
    "Problem",
    "Progress",
    "RankAgreement",
    "ReplayReport",
    "Report",
    "Result",
    "SimulationError",
    "Stragglers",
    "StreamStatistics",
    "System",
    "Trace",
    "TraceBuilder",
    "TraceDiff",
    "TraceStats",
    "__version__",
    "check",
    "check_ranks",
    "collect",
    "collective_time",
    "concat",
    "convert",
    "convert_text",
    "diagnose",
    "diff",
    "link",
    "load",
    "load_linked",
    "load_run",
    "recorded_groups",
    "replay",
    "report",
    "report_sweep",
    "save",
    "simplify",
    "simulate",
    "timeline",
    "validate",
]
