# SPDX-License-Identifier: MIT
"""How long a step takes on some networks: a yardstick for whoever changes or compares traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from chakra_core._core import ChakraError, NodeType, Trace
from chakra_core.config import CommGroups, Network, System
from chakra_core.result import Result
from chakra_core.simulation import simulate

Communication = Literal["simulated", "recorded"]

_REMOTE_MEMORY = {"memory_type": "PER_NPU_MEMORY_EXPANSION", "remote_mem_latency": "1 us", "remote_mem_bw": "50 GB/s"}


class StepTime(NamedTuple):
    """What one simulation found.

    Attributes:
        total_ns: when the last rank finished.
        communication_share: time in which ranks communicated, as a share of that and of the time in which they
            computed on the device or the host; 0 if neither took time.
        communication: "recorded" if the network could not be simulated (ranks or groups are missing) and communication
            took its recorded time.
    """

    total_ns: int
    communication_share: float
    communication: Communication


def reference_networks(num_ranks: int) -> dict[str, Network]:
    """Three networks of one dimension that differ in form, speed and latency, by name."""
    forms = {
        "ring": ("Ring", "50 GB/s", "500 ns"),
        "switch": ("Switch", "100 Gbit/s", "2 us"),
        "fully connected": ("FullyConnected", "25 GB/s", "700 ns"),
    }
    return {
        name: Network(topology=(form,), npus=(num_ranks,), bandwidth=(bandwidth,), latency=(latency,))
        for name, (form, bandwidth, latency) in forms.items()
    }


def reference_system(traces: Sequence[Trace]) -> System:
    """Ring collectives; where compute nodes have operations and no time, 100 TFLOP/s and 1 TB/s of memory."""
    untimed = any(
        bool(np.any((trace.types == NodeType.COMP_NODE) & (trace.duration_ns == 0) & (_operations(trace) > 0)))
        for trace in {id(trace): trace for trace in traces}.values()
    )
    if not untimed:
        return System()
    return System(roofline_enabled=True, peak_perf=100.0, local_mem_bw=1000.0)


def _operations(trace: Trace) -> Any:
    return trace.attr("num_ops").filled(0)


def step_time(
    traces: Sequence[Trace], network: Network, *, system: System, comm_groups: CommGroups | Mapping[str, Any] | None
) -> StepTime | None:
    """Simulate the traces of all ranks; None if they can neither be simulated nor played with recorded communication.

    Raises:
        ConfigError: the network has another number of NPUs than there are traces.
    """
    ways: tuple[Communication, ...] = ("simulated", "recorded")
    for communication in ways:
        try:
            result = simulate(
                list(traces),
                network=network,
                system=system,
                comm_groups=comm_groups,
                memory=_REMOTE_MEMORY,
                communication=communication,
                record_nodes=False,
            )
        except ChakraError:
            if network.num_npus != len(traces):
                raise
            continue
        return StepTime(result.total_ns, _communication_share(result), communication)
    return None


def _communication_share(result: Result) -> float:
    communicated = float(result.comm_ns.sum())
    busy = communicated + float(result.compute_ns.sum()) + float(result.cpu_ns.sum())
    return communicated / busy if busy > 0 else 0.0
