# SPDX-License-Identifier: MIT
"""How far apart two weighted samples of numbers are. `docs/similarity.md` has the formulas and where they are from."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

_Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


class Sample(NamedTuple):
    """Numbers and how often each stands there; weights are above 0."""

    values: _Floats
    weights: _Floats

    @classmethod
    def of(cls, values: Any, weights: Any = None) -> Sample:
        """Take numbers of any kind, each once unless there are weights."""
        array = np.asarray(values, np.float64)
        return cls(array, np.ones(len(array)) if weights is None else np.asarray(weights, np.float64))


def earth_movers_distance(one: Sample, other: Sample) -> float:
    """Least mean distance over which one distribution must be moved to become the other; in the unit of the values.

    Both must have values. O(n log n).
    """
    points = np.unique(np.concatenate((one.values, other.values)))
    apart = np.abs(_cumulative(one, points) - _cumulative(other, points))
    return float(np.sum(apart[:-1] * np.diff(points)))


def _cumulative(sample: Sample, points: _Floats) -> Any:
    """Share of the sample at or below each point."""
    weights = np.zeros(len(points))
    np.add.at(weights, np.searchsorted(points, sample.values), sample.weights)
    return np.cumsum(weights) / weights.sum()


def maximum_mean_discrepancy(one: Sample, other: Sample) -> float:
    """Distance of two distributions in the space of the kernel exp(-(x - y)**2 / 2): from 0 to the root of 2.

    Both must have values. O(n log n + u**2) for u different values.
    """
    points = np.unique(np.concatenate((one.values, other.values)))
    apart = _shares(one, points) - _shares(other, points)
    kernel = np.exp(-((points[:, None] - points[None, :]) ** 2) / 2)
    # Rounding may bring what is 0 below it.
    return float(np.sqrt(max(apart @ kernel @ apart, 0.0)))


def _shares(sample: Sample, points: _Floats) -> Any:
    weights = np.zeros(len(points))
    np.add.at(weights, np.searchsorted(points, sample.values), sample.weights)
    return weights / weights.sum()


def total_variation(one: _Floats, other: _Floats) -> float:
    """Half of the summed differences of the shares of the same categories: 0 if equal, 1 if nothing is shared."""
    if one.sum() == 0 or other.sum() == 0:
        return float(one.sum() != other.sum())
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)
