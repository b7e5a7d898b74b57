"""MLCommons Chakra execution traces: read, link, convert, feed and simulate, at speed.

The names exported here are the public face; `chakra_core._core` is the native core behind them.
"""

import importlib
from typing import TYPE_CHECKING, Any

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
from chakra_core.bundle import Bundle
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
from chakra_core.result import Result
from chakra_core.run_check import check
from chakra_core.several import concat, diff
from chakra_core.simplification import simplify
from chakra_core.simulation import simulate
from chakra_core.text_workload import convert_text

if TYPE_CHECKING:
    from chakra_core import batch, generate
    from chakra_core.anonymisation import Anonymised, anonymise
    from chakra_core.anonymity_certificate import Certificate, Drift
    from chakra_core.astra_log import AstraLog, read_astra_log
    from chakra_core.async_feeder import AsyncFeeder
    from chakra_core.graphs import graph
    from chakra_core.rank_scaling import Rescaled, rescale
    from chakra_core.reports import report, report_sweep
    from chakra_core.similarity_metrics import ClassDistance, Similarity, similarity
    from chakra_core.sweeps import SweepResult, sweep

# Imported when they are first asked for: most programs use none of them.
_LATE = {
    "Anonymised": "chakra_core.anonymisation",
    "AstraLog": "chakra_core.astra_log",
    "AsyncFeeder": "chakra_core.async_feeder",
    "Certificate": "chakra_core.anonymity_certificate",
    "ClassDistance": "chakra_core.similarity_metrics",
    "Drift": "chakra_core.anonymity_certificate",
    "Rescaled": "chakra_core.rank_scaling",
    "Similarity": "chakra_core.similarity_metrics",
    "SweepResult": "chakra_core.sweeps",
    "anonymise": "chakra_core.anonymisation",
    "batch": "chakra_core.batch",
    "generate": "chakra_core.generate",
    "graph": "chakra_core.graphs",
    "read_astra_log": "chakra_core.astra_log",
    "report": "chakra_core.reports",
    "report_sweep": "chakra_core.reports",
    "rescale": "chakra_core.rank_scaling",
    "similarity": "chakra_core.similarity_metrics",
    "sweep": "chakra_core.sweeps",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'chakra_core' has no attribute {name!r}")
    module = importlib.import_module(_LATE[name])
    value = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})


__all__ = [
    "Adjacency",
    "Anonymised",
    "AstraLog",
    "AsyncFeeder",
    "Attribute",
    "Blockage",
    "Bundle",
    "Cancelled",
    "Certificate",
    "ChakraError",
    "ClassDistance",
    "CollectiveType",
    "CommGroups",
    "ComputeNodes",
    "ConfigError",
    "DependencyError",
    "Diagnosis",
    "Disagreement",
    "Drift",
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
    "Rescaled",
    "Result",
    "Similarity",
    "SimulationError",
    "Stragglers",
    "StreamStatistics",
    "SweepResult",
    "System",
    "Trace",
    "TraceBuilder",
    "TraceDiff",
    "TraceStats",
    "__version__",
    "anonymise",
    "batch",
    "check",
    "check_ranks",
    "collect",
    "collective_time",
    "concat",
    "convert",
    "convert_text",
    "diagnose",
    "diff",
    "generate",
    "graph",
    "link",
    "load",
    "load_linked",
    "load_run",
    "read_astra_log",
    "recorded_groups",
    "replay",
    "report",
    "report_sweep",
    "rescale",
    "save",
    "similarity",
    "simplify",
    "simulate",
    "sweep",
    "timeline",
    "validate",
]
