# SPDX-License-Identifier: MIT
"""The network: one building block a dimension, as ASTRA-sim's network YAML describes it."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core.config.model import ConfigModel
from chakra_core.config.quantities import LinkBandwidth, Nanoseconds

Topology = Literal["Ring", "FullyConnected", "Switch"]
_Count = Annotated[int, Field(strict=True, ge=1, le=1 << 31)]


class Network(ConfigModel):
    """Dimensions of the network, the fastest-changing NPU coordinate first. All lists have one entry a dimension.

    `Network(topology=["Ring", "Switch"], npus=[4, 8], bandwidth=["400 Gbit/s", "25 GB/s"], latency=[500, "1.5 us"])`

    Attributes:
        topology: "Ring", "FullyConnected" or "Switch".
        npus: NPUs along the dimension (`npus_count` in a file).
        bandwidth: of a link; a bare number is ASTRA-sim's GB/s, which are 2**30 bytes a second. "400 Gbit/s" and
            "50 GB/s" (10**9) are converted.
        latency: of a link in ns, or with a unit ("1.5 us").
    """

    topology: tuple[Topology, ...]
    npus: tuple[_Count, ...] = Field(alias="npus_count")
    bandwidth: tuple[LinkBandwidth, ...]
    latency: tuple[Nanoseconds, ...]

    @model_validator(mode="after")
    def _one_entry_a_dimension(self) -> Self:
        lengths: dict[str, int] = {
            "topology": len(self.topology),
            "npus_count": len(self.npus),
            "bandwidth": len(self.bandwidth),
            "latency": len(self.latency),
        }
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"'{key}' has {length}" for key, length in lengths.items())
            raise PydanticCustomError("config", "all lists need one entry a dimension; {found}", {"found": found})
        if not self.topology:
            raise PydanticCustomError("config", "'topology' is empty; a network has at least one dimension")
        return self

    @property
    def num_dims(self) -> int:
        """Number of dimensions."""
        return len(self.topology)

    @property
    def num_npus(self) -> int:
        """Number of NPUs: the product over the dimensions."""
        return math.prod(self.npus)
