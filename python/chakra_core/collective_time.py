# SPDX-License-Identifier: MIT
"""What one collective takes by itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chakra_core import _core
from chakra_core._core import CollectiveType, ConfigError, TraceBuilder
from chakra_core.config import LinkDamage, Network, System
from chakra_core.config.options import Fidelity
from chakra_core.simulation import native_network, native_system


def collective_time(
    collective: CollectiveType | str,
    size: int,
    *,
    network: Network | Mapping[str, Any] | str | os.PathLike[str],
    system: System | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    group: Sequence[int] = (),
    root: int | None = None,
    damage: Iterable[LinkDamage | Mapping[str, Any]] = (),
    congestion: bool = False,
    parity: bool = False,
    rendezvous_protocol: bool = False,
    num_queues_per_dim: int = 1,
    injection_scale: float = 1.0,
    fidelity: Fidelity = "auto",
) -> int:
    """Time of one collective whose members all begin together, as `simulate` gives it.

    `collective_time("ALL_REDUCE", 1 << 30, network=network, system=system)`

    Args:
        collective: the type, or its name: "ALL_REDUCE", "ALL_GATHER", ...
        size: bytes that one member contributes (`comm_size`).
        network: the network, whose NPUs are the ranks.
        system: algorithms, chunking and speeds; by default the ring algorithm in every dimension.
        group: ranks that take part; by default all.
        root: rank of the root, where there is one; by default the first of the group.
        damage: links that are slower than the network says.
        congestion: messages wait for busy links.
        parity: behave as ASTRA-sim does.
        rendezvous_protocol: a sender waits until its receiver is ready.
        num_queues_per_dim: chunk queues of each network dimension.
        injection_scale: factor on the endpoint delay.
        fidelity: "auto", "closed", "phase" or "message", as in `simulate`.

    Returns:
        ns until the last member is through.

    Raises:
        ConfigError: the configuration, the type, the size or the group is wrong.
        SimulationError: the collective cannot be run.
    """
    if isinstance(collective, str):
        if collective not in CollectiveType.__members__:
            raise ConfigError(f"found collective {collective!r}, allowed: {', '.join(CollectiveType.__members__)}")
        collective = CollectiveType.__members__[collective]
    if not 0 <= size <= 1 << 62:
        raise ConfigError(f"found a size of {size} bytes, allowed: 0 to 2**62")
    network = Network.coerce(network).with_damage(damage)
    system = System() if system is None else System.coerce(system)
    outside = [rank for rank in (*group, *([] if root is None else [root])) if not 0 <= rank < network.num_npus]
    if outside:
        raise ConfigError(f"found rank {outside[0]}, but the network ({network.source}) has {network.num_npus} NPUs")
    builder = TraceBuilder()
    builder.add_node(id=0, name="collective", type="COMM_COLL_NODE", attrs={"comm_type": int(collective)})
    return _core.collective_time(
        native_network(network),
        native_system(system, network, [builder.build()], parity=parity),
        collective,
        size,
        group=list(group),
        root=root,
        congestion=congestion,
        parity=parity,
        rendezvous_protocol=rendezvous_protocol,
        num_queues_per_dim=num_queues_per_dim,
        injection_scale=injection_scale,
        fidelity=fidelity,
    )
