# SPDX-License-Identifier: MIT
"""Sweeps: one workload simulated on every configuration of a grid."""

from chakra_core.sweeps.grid_file import GridFile
from chakra_core.sweeps.runner import sweep
from chakra_core.sweeps.table import MEASURES, SweepResult

__all__ = ["MEASURES", "GridFile", "SweepResult", "sweep"]
