# SPDX-License-Identifier: MIT
"""The command line `chakra-core`: one module a command."""

from __future__ import annotations

from chakra_core.cli.app import main

__all__ = ["main"]
