# SPDX-License-Identifier: MIT
"""The plain model of ASTRA-sim on random runs."""

from __future__ import annotations

from astra_oracle import Oracle, Setup, Wires, Work
from random_runs import Run


def oracle_of(run: Run, wires: type[Wires] = Wires) -> Oracle:
    """Run the plain model on it, in parity."""
    setup = Setup(
        topology=run.topology,
        npus=run.npus,
        bandwidth=run.bandwidth,
        latency=run.latency,
        system=run.system,
        groups=run.groups,
        queues=run.options["num_queues_per_dim"],
        rendezvous=run.options["rendezvous_protocol"],
        congestion=run.options.get("congestion", False),
        default=not run.options["parity"],
        oversubscription=run.oversubscription,
        links=run.links,
        damage=run.damage,
    )
    nodes = [
        [
            Work(number, node.kind, node.parents, node.duration, {"is_cpu_op": False, **node.attrs})
            for number, node in enumerate(mine)
        ]
        for mine in run.nodes
    ]
    return Oracle(setup, nodes, wires)
