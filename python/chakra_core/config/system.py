# SPDX-License-Identifier: MIT
"""The system: collective algorithms, chunking and speeds, as ASTRA-sim's system JSON describes them."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core._core import Trace
from chakra_core.config.model import ConfigModel
from chakra_core.config.quantities import MemoryBandwidth, Nanoseconds, TeraOperations

_ALGORITHMS = (
    "ring, direct, directN, halvingDoubling, doubleBinaryTree, oneRing, oneDirect, oneDirectN, oneHalvingDoubling"
)
_ALGORITHM = re.compile(r"(?:oneR|r)ing|(?:oneD|d)irect(?:[1-9]\d{0,4})?|(?:oneH|h)alvingDoubling|doubleBinaryTree")


def _check_algorithm(name: str) -> str:
    if _ALGORITHM.fullmatch(name) is None:
        raise PydanticCustomError(
            "config", "found '{name}', allowed: {allowed}", {"name": name, "allowed": _ALGORITHMS}
        )
    return name


def _flag(value: object) -> object:
    """ASTRA-sim's files write 0 and 1 where true and false are meant."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise PydanticCustomError("config", "found {found}, allowed: 0, 1, true, false", {"found": repr(value)})


def _check_custom(value: object) -> object:
    """Take a prefix or a name with %d, alone or in a list of one as ASTRA-sim has it; or traces."""
    parts = list(value) if isinstance(value, list | tuple) else [value]
    is_name = len(parts) == 1 and isinstance(parts[0], str) and parts[0] != ""
    if is_name or (parts and all(isinstance(part, Trace) for part in parts)):
        return tuple(parts)
    raise PydanticCustomError(
        "config",
        "found {found}, allowed: the prefix of a file a member ('ring' for ring.0.et, ring.1.et, ...), or their traces",
        {"found": repr(value) if len(repr(value)) <= 80 else repr(value)[:77] + "..."},
    )


def _named(parts: tuple[Any, ...]) -> list[str]:
    """Name traces in what is written down: they have no form in JSON."""
    return [part if isinstance(part, str) else f"trace of {len(part)} nodes {part.source}".rstrip() for part in parts]


CustomCollective = Annotated[tuple[Any, ...], BeforeValidator(_check_custom), PlainSerializer(_named, when_used="json")]
"""Where a custom collective is: `("prefix",)`, or a tuple of one Trace a member."""
Algorithm = Annotated[str, Field(strict=True), AfterValidator(_check_algorithm)]
Algorithms = tuple[Algorithm, ...]
_Flag = Annotated[bool, BeforeValidator(_flag)]
_Positive = Annotated[int, Field(strict=True, ge=1, le=(1 << 31) - 1)]
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class System(ConfigModel):
    """How an NPU runs its nodes and collectives.

    An algorithm list has one entry a network dimension ("ring", "direct", "direct4" with a window, "halvingDoubling",
    "doubleBinaryTree"), or ends earlier with one that spans all NPUs ("oneRing", "oneDirect", "oneHalvingDoubling").

    Attributes:
        all_reduce_implementation: algorithm of each dimension; also tells how the other reducing collectives run.
        all_gather_implementation: algorithm of each dimension.
        reduce_scatter_implementation: algorithm of each dimension.
        all_to_all_implementation: algorithm of each dimension.
        collective_optimization: "baseline" or "localBWAware" (reduce-scatter up, all-gather down the dimensions).
        preferred_dataset_splits: chunks that a collective is cut into.
        active_chunks_per_dimension: chunks that one dimension works on at a time.
        endpoint_delay: ns an NPU needs for each message, or with a unit.
        local_mem_bw: memory bandwidth in GB/s (10**9), or with a unit; 0: reductions cost nothing.
        peak_perf: compute speed in TFLOP/s, or with a unit; only the roofline model reads it.
        roofline_enabled: compute nodes take their time from num_ops and tensor_size instead of their duration.
        replay_only: every node takes its recorded duration; nothing is communicated.
        model_shared_bus: ASTRA-sim's LogGP bus model, which is not offered: only 0 is accepted.

    `all_reduce_implementation_custom` (and so on for the other three) replaces the algorithm by one trace a member of
    the group: a prefix ("ring" for ring.0.et, ring.1.et, ...; from the working directory), a name with %d, or traces.

    The other keys (`scheduling_policy`, `boost_mode`, `local_reduction_delay`, `L`, `o`, `g`, `G`, `trace_enabled`,
    `track_local_mem`, `local_mem_trace_filename`) are checked and have no influence on the result, as in ASTRA-sim.
    """

    required_in_file: ClassVar[tuple[str, ...]] = ("preferred-dataset-splits", "collective-optimization")

    all_reduce_implementation: Algorithms | None = None
    all_gather_implementation: Algorithms | None = None
    reduce_scatter_implementation: Algorithms | None = None
    all_to_all_implementation: Algorithms | None = None
    collective_optimization: Literal["baseline", "localBWAware"] = "baseline"
    preferred_dataset_splits: _Positive = 1
    active_chunks_per_dimension: _Positive = 1
    endpoint_delay: Nanoseconds | None = None
    local_mem_bw: MemoryBandwidth = 0.0
    peak_perf: TeraOperations = 0.0
    roofline_enabled: _Flag = False
    replay_only: _Flag = False
    model_shared_bus: _Flag = False

    scheduling_policy: Literal["LIFO", "FIFO", "EXPLICIT"] = "LIFO"
    boost_mode: _Flag = False
    local_reduction_delay: _Number = 0.0
    L: _Number = 0.0
    o: _Number = 0.0
    g: _Number = 0.0
    G: _Number = 0.0
    trace_enabled: _Flag = False
    track_local_mem: _Flag = False
    local_mem_trace_filename: str = "local_mem_trace"

    all_reduce_implementation_custom: CustomCollective | None = None
    all_gather_implementation_custom: CustomCollective | None = None
    reduce_scatter_implementation_custom: CustomCollective | None = None
    all_to_all_implementation_custom: CustomCollective | None = None
    per_node_custom_implementation: Any = None

    @model_validator(mode="after")
    def _refuse_what_is_not_modelled(self) -> Self:
        if self.model_shared_bus:
            raise PydanticCustomError(
                "config", "'model-shared-bus': found 1; the shared-bus model is not offered, allowed: 0"
            )
        if self.per_node_custom_implementation is not None:
            raise PydanticCustomError(
                "config", "'per-node-custom-implementation': one for each node is not offered; remove the key"
            )
        if self.roofline_enabled and not (self.peak_perf > 0 and self.local_mem_bw > 0):
            raise PydanticCustomError(
                "config",
                "'roofline-enabled' needs 'peak-perf' and 'local-mem-bw' above 0, found {peak} and {bandwidth}",
                {"peak": self.peak_perf, "bandwidth": self.local_mem_bw},
            )
        return self
