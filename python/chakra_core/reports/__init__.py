# SPDX-License-Identifier: MIT
"""Results as pages for a browser and as figures for papers."""

from __future__ import annotations

from chakra_core.reports.run_report import report
from chakra_core.reports.sweep_report import report_sweep

__all__ = ["report", "report_sweep"]
