# SPDX-License-Identifier: MIT
"""Configuration: immutable models that read ASTRA-sim's files and say clearly what is wrong with them."""

from chakra_core.config.comm_groups import CommGroups
from chakra_core.config.memory import Memory
from chakra_core.config.network import Link, LinkDamage, Network
from chakra_core.config.options import SimulationOptions
from chakra_core.config.stragglers import NodeDelay, Stragglers
from chakra_core.config.system import System

__all__ = [
    "CommGroups",
    "Link",
    "LinkDamage",
    "Memory",
    "Network",
    "NodeDelay",
    "SimulationOptions",
    "Stragglers",
    "System",
]
