# SPDX-License-Identifier: MIT
"""Work is admitted while it fits, and what was measured corrects what was guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chakra_core import ConfigError
from chakra_core.batch import parse_bytes
from chakra_core.batch.memory_budget import MemoryBudget, default_limit, guess_bytes, used_bytes


@given(
    limit=st.integers(10, 1000),
    works=st.lists(st.tuples(st.integers(1, 400), st.floats(0.1, 8.0)), min_size=1, max_size=40),
    slots=st.integers(1, 6),
    base=st.integers(0, 100),
)
def test_the_limit_holds_once_factors_are_known(
    limit: int, works: list[tuple[int, float]], slots: int, base: int
) -> None:
    """Memory of a simulated process: each work takes cost times one factor, the same for all."""
    factor = works[0][1]
    budget = MemoryBudget(limit)
    waiting = list(enumerate(cost for cost, _ in works))
    running: dict[int, int] = {}
    measured = False

    def used() -> int:
        return base + int(factor * sum(running.values()))

    while waiting or running:
        while waiting and len(running) < slots and budget.fits(waiting[0][1], used()):
            number, cost = waiting.pop(0)
            budget.begin(number, cost, used())
            running[number] = cost
            budget.observe(used())
            if measured and len(running) > 1:
                assert used() <= limit + 1
        assert running, "at least one is always admitted"
        number = min(running)
        before = used()
        del running[number]
        budget.end(number, before)
        measured = measured or budget.scale >= factor * 0.99


def test_scale_is_the_largest_of_late() -> None:
    budget = MemoryBudget(1000)
    for number, peak in enumerate([300, 100, *[50] * 31]):
        assert budget.fits(100, 0)
        budget.begin(number, 100.0, 0)
        budget.observe(peak)
        budget.end(number, 0)
    assert budget.scale == 1.0
    budget.begin("a", 900.0, 0)
    assert not budget.fits(200, 0)
    assert budget.fits(50, 0)
    # Memory that others hold counts, too.
    assert not budget.fits(50, 990)


def test_no_limit_admits_all() -> None:
    budget = MemoryBudget(0)
    budget.begin("a", 1e18, 0)
    assert budget.fits(1e18, 1 << 60)


def test_guess_counts_what_is_compressed_more() -> None:
    assert guess_bytes({"a.json": 10 << 20}) < guess_bytes({"a.json.gz": 10 << 20})
    assert guess_bytes({}) > 0


def test_this_process() -> None:
    before = used_bytes()
    assert before > 0
    held = bytearray(64 << 20)
    held[::4096] = b"x" * len(held[::4096])
    assert used_bytes() - before > 32 << 20
    assert default_limit() > 0


@pytest.mark.parametrize(("text", "number"), [("8 GiB", 8 << 30), ("500MB", 500 * 10**6), (1234, 1234), ("64", 64)])
def test_amounts(text: int | str, number: int) -> None:
    assert parse_bytes(text) == number


@pytest.mark.parametrize("text", ["", "much", "-1", 0, "0 GiB", "8 parsecs"])
def test_no_amounts(text: int | str) -> None:
    with pytest.raises(ConfigError, match="max-memory"):
        parse_bytes(text)
