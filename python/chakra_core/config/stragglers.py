# SPDX-License-Identifier: MIT
"""Ranks that are slower, or later, than their traces say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from chakra_core._core import ConfigError
from chakra_core.config.model import ConfigModel
from chakra_core.config.quantities import Nanoseconds

_Rank = Annotated[int, Field(strict=True, ge=0, le=(1 << 32) - 1)]
_Speed = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


def _by_rank(value: object) -> object:
    """Give the entries of a list their numbers; JSON has no numbers as keys."""
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if isinstance(value, Mapping):
        return {int(key) if isinstance(key, str) and key.isdecimal() else key: one for key, one in value.items()}
    return value


class NodeDelay(ConfigModel):
    """A node that starts later than it could.

    Attributes:
        rank: its rank.
        node: its id.
        delay: how much later, in ns or with a unit ("1.5 us"). It occupies its lane meanwhile.
    """

    rank: _Rank
    node: Annotated[int, Field(strict=True, ge=0, lt=1 << 64)]
    delay: Nanoseconds


class Stragglers(ConfigModel):
    """What makes ranks slower, or faster, than their traces say.

    `Stragglers(compute_speed={3: 0.5}, start_delay={0: "2 ms"}, jitter=0.05, seed=1)`

    Computations are COMP nodes, on the host and on the device, and what else a thread spent recorded time on.

    Attributes:
        compute_speed: by rank, as a mapping or a list: a computation takes its time / speed; 1 where nothing is said.
        start_delay: by rank, as a mapping or a list: the rank begins that much later, in ns or with a unit.
        node_delays: nodes that start later than they could.
        jitter: each computation takes its time x a factor that is uniform in [1 - jitter, 1 + jitter); 0 to 1.
        seed: of the jitter. The factor of a node depends on the seed, its rank and its id, and on nothing else.
    """

    compute_speed: Annotated[dict[_Rank, _Speed], BeforeValidator(_by_rank)] = Field(default_factory=dict)
    start_delay: Annotated[dict[_Rank, Nanoseconds], BeforeValidator(_by_rank)] = Field(default_factory=dict)
    node_delays: tuple[NodeDelay, ...] = ()
    jitter: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)] = 0.0
    seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 64)] = 0

    def check_ranks(self, num_ranks: int) -> None:
        """Raise ConfigError if a rank is named that does not exist."""
        named = {
            "compute-speed": self.compute_speed.keys(),
            "start-delay": self.start_delay.keys(),
            "node-delays": {delay.rank for delay in self.node_delays},
        }
        for key, ranks in named.items():
            if ranks and max(ranks) >= num_ranks:
                raise ConfigError(f"{self.source}: '{key}' names rank {max(ranks)}, but there are {num_ranks} ranks")
