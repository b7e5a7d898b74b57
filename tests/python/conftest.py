# SPDX-License-Identifier: MIT
"""What all areas share: hypothesis profiles, the shared data."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from shared_data import SHARED

# The default is the same every time and quick; HYPOTHESIS_PROFILE=thorough looks for what nobody has seen yet.
settings.register_profile(
    "default",
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "thorough",
    max_examples=3000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def heeds_interrupts() -> Iterator[None]:
    """Processes that are started are not deaf to interrupts, as those of a shell's jobs in the background are born."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real traces beside the tree; skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there (set CHAKRA_CORE_SHARED)")
    return SHARED
