# SPDX-License-Identifier: MIT
"""Remote memory, as ASTRA-sim's memory JSON describes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core.config.model import ConfigModel
from chakra_core.config.quantities import MemoryBandwidth, Nanoseconds

MemoryType = Literal["NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION", "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL"]
_Count = Annotated[int, Field(strict=True, ge=1, le=(1 << 31) - 1)]


class Memory(ConfigModel):
    """The memory that MEM_LOAD and MEM_STORE nodes go to.

    Attributes:
        memory_type: "NO_MEMORY_EXPANSION" (memory nodes are an error), "PER_NPU_MEMORY_EXPANSION" (one server for each
            NPU), "PER_NODE_MEMORY_EXPANSION" (one for each `num_npus_per_node` NPUs), or "MEMORY_POOL" (one for all).
        remote_mem_latency: ns of each access, or with a unit. Fractions of a ns are cut.
        remote_mem_bw: GB/s (10**9) of a server, or with a unit. Fractions are cut.
        num_nodes: nodes that share a memory (PER_NODE only).
        num_npus_per_node: NPUs of a node (PER_NODE only).
    """

    memory_type: MemoryType
    remote_mem_latency: Nanoseconds = 0.0
    remote_mem_bw: MemoryBandwidth = 0.0
    num_nodes: _Count | None = None
    num_npus_per_node: _Count | None = None

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> Self:
        if self.memory_type != "NO_MEMORY_EXPANSION" and self.remote_mem_bw < 1:
            raise PydanticCustomError(
                "config",
                "'remote-mem-bw': found {found}; '{type}' needs at least 1 (GB/s)",
                {"found": self.remote_mem_bw, "type": self.memory_type},
            )
        if self.memory_type == "PER_NODE_MEMORY_EXPANSION" and self.num_npus_per_node is None:
            raise PydanticCustomError("config", "missing key 'num-npus-per-node', needed for PER_NODE_MEMORY_EXPANSION")
        return self
