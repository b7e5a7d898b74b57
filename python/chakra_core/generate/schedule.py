# SPDX-License-Identifier: MIT
"""Pipeline schedules: in which order a stage runs its micro-batches."""

from __future__ import annotations

from typing import NamedTuple

from chakra_core._core import ConfigError
from chakra_core.generate.parallelism import Parallelism


class Pass(NamedTuple):
    """One micro-batch through one chunk of a stage's layers, forward or backward."""

    forward: bool
    micro_batch: int
    chunk: int


def schedule(parallelism: Parallelism, stage: int, micro_batches: int) -> list[Pass]:
    """Return the passes of a stage, in the order in which it runs them.

    "gpipe": all forward, then all backward, the last micro-batch first. "1f1b": as many forward as there are stages
    behind, then in turn one forward and one backward. "interleaved": the same over chunks, in rounds of `pp`
    micro-batches through each chunk.

    Raises:
        ConfigError: "interleaved" with a number of micro-batches that is no multiple of `pp`.
    """
    if parallelism.schedule == "gpipe":
        forward = [Pass(True, number, 0) for number in range(micro_batches)]
        return forward + [Pass(False, number, 0) for number in reversed(range(micro_batches))]
    stages, chunks = parallelism.pp, parallelism.virtual_stages
    if chunks > 1 and micro_batches % stages:
        raise ConfigError(
            f"schedule 'interleaved' goes in rounds of {stages} micro-batches (pp); "
            f"{micro_batches} micro-batches are no multiple of that"
        )
    forward = [_interleaved(place, stages, chunks, forward=True) for place in range(micro_batches * chunks)]
    backward = [_interleaved(place, stages, chunks, forward=False) for place in range(micro_batches * chunks)]
    behind = stages - 1 - stage
    warm_up = behind if chunks == 1 else 2 * behind + (chunks - 1) * stages
    warm_up = min(warm_up, len(forward))
    steady = [one for pair in zip(forward[warm_up:], backward, strict=False) for one in pair]
    return forward[:warm_up] + steady + backward[len(forward) - warm_up :]


def _interleaved(place: int, stages: int, chunks: int, *, forward: bool) -> Pass:
    """Return the pass at a place among all forward (or all backward) passes of a stage."""
    if chunks == 1:
        return Pass(forward, place, 0)
    round_number, within = divmod(place, stages * chunks)
    chunk, member = divmod(within, stages)
    return Pass(forward, round_number * stages + member, chunk if forward else chunks - 1 - chunk)


def most_held(passes: list[Pass]) -> int:
    """How many passes of all chunks together have gone forward and not yet backward, at most."""
    held = most = 0
    for one in passes:
        held += 1 if one.forward else -1
        most = max(most, held)
    return most
