# SPDX-License-Identifier: MIT
"""Results as pages for a browser and as figures for papers."""

from __future__ import annotations

from chakra_core.reports.run_report import report

__all__ = ["report"]
