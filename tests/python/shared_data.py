# SPDX-License-Identifier: MIT
"""Real traces and reference runs that lie beside the tree; tests that use them skip visibly where they are absent."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("CHAKRA_CORE_SHARED", Path(__file__).parents[3] / "shared"))


def needs(path: Path) -> pytest.MarkDecorator:
    """Skip a test unless `path` is there."""
    return pytest.mark.skipif(not path.exists(), reason=f"{path} is not there (set CHAKRA_CORE_SHARED)")
