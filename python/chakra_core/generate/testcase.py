# SPDX-License-Identifier: MIT
"""Test cases: small workloads of known shape, to test tools with."""

from __future__ import annotations

from collections.abc import Mapping

from chakra_core._core import ConfigError, Testcase, Trace, generate_testcase
from chakra_core._core import testcases as _testcases

_LARGEST = (1 << 64) - 1


def testcase(name: str, **parameters: int) -> list[Trace]:
    """Generate a test case.

    Args:
        name: one of those that `testcases()` lists.
        parameters: what the test case can be varied by; `ranks` is the number of traces.

    Returns:
        One trace a rank. Ranks that are alike share one trace. The same parameters give the same bytes.

    Raises:
        ConfigError: there is no such test case or parameter, or a value is out of range; it lists those there are.
    """
    for parameter, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
            raise ConfigError(f"test case {name}: {parameter} is {value!r}; expected an integer of 0 or more")
    traces: list[Trace] = generate_testcase(name, parameters)
    return traces


def testcases() -> Mapping[str, Testcase]:
    """Return all test cases by name: what each shows, and its parameters with their usual values and bounds."""
    return {one.name: one for one in _testcases()}
