# SPDX-License-Identifier: MIT
"""How a model is spread over ranks: degrees, coordinates and process groups."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core.config.model import ConfigModel

_Degree = Annotated[int, Field(strict=True, ge=1, lt=1 << 20)]
Schedule: TypeAlias = Literal["gpipe", "1f1b", "interleaved"]
Recompute: TypeAlias = Literal["none", "selective", "full"]
Axis: TypeAlias = Literal["tp", "cp", "dp", "pp"]
Coordinates: TypeAlias = Mapping[Axis, int]
_AXES: tuple[Axis, ...] = ("tp", "cp", "dp", "pp")


class Parallelism(ConfigModel):
    """Degrees of parallelism; there are tp * cp * dp * pp ranks.

    Attributes:
        dp: data parallel replicas.
        tp: ranks that share each layer's matrices.
        pp: pipeline stages.
        cp: ranks that share each sequence (context parallel).
        ep: ranks that share the experts of a layer; they are replicas of the rest, so `ep` divides `dp`.
        sequence_parallel: norms and residuals are split over the tensor-parallel ranks along the sequence; all-gather
            and reduce-scatter take the place of each all-reduce.
        zero: what data-parallel ranks hold only a part of. 0: nothing; 1: optimiser state; 2: gradients too; 3:
            parameters too (FSDP).
        schedule: order of micro-batches in the pipeline.
        virtual_stages: chunks of layers a rank; more than one with "interleaved" only.
        order: axes of the rank numbers, the one that counts fastest first.
    """

    dp: _Degree = 1
    tp: _Degree = 1
    pp: _Degree = 1
    cp: _Degree = 1
    ep: _Degree = 1
    sequence_parallel: bool = False
    zero: Annotated[int, Field(strict=True, ge=0, le=3)] = 0
    schedule: Schedule = "1f1b"
    virtual_stages: _Degree = 1
    order: str = "tp-cp-dp-pp"

    @model_validator(mode="after")
    def _fits_itself(self) -> Self:
        def refuse(text: str) -> None:
            raise PydanticCustomError("config", "{text}", {"text": text})

        if sorted(self.order.split("-")) != sorted(_AXES):
            refuse(f"'order': found '{self.order}', expected tp, cp, dp and pp in any order, joined by '-'")
        if self.dp % self.ep:
            refuse(f"'ep' {self.ep} does not divide 'dp' {self.dp}")
        if (self.virtual_stages > 1) != (self.schedule == "interleaved"):
            refuse(
                f"'virtual-stages' is {self.virtual_stages} and 'schedule' '{self.schedule}'; "
                "'interleaved' needs 2 or more virtual stages, others have 1"
            )
        if self.schedule == "interleaved" and self.pp == 1:
            refuse("'schedule' is 'interleaved' and 'pp' 1; there is no pipeline")
        if self.sequence_parallel and self.tp == 1:
            refuse("'sequence-parallel' splits over tensor-parallel ranks, and 'tp' is 1")
        return self

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Axes of the rank numbers, the one that counts fastest first."""
        return tuple(axis for name in self.order.split("-") for axis in _AXES if axis == name)

    def degree(self, axis: Axis) -> int:
        """Ranks along an axis."""
        degrees: dict[Axis, int] = {"tp": self.tp, "cp": self.cp, "dp": self.dp, "pp": self.pp}
        return degrees[axis]

    def coordinates(self, rank: int) -> Coordinates:
        """Where a rank stands on each axis."""
        place: dict[Axis, int] = {}
        for axis in self.axes:
            rank, place[axis] = divmod(rank, self.degree(axis))
        return place

    def rank(self, place: Coordinates) -> int:
        """Return the rank that stands there."""
        number = 0
        for axis in reversed(self.axes):
            number = number * self.degree(axis) + place[axis]
        return number


class GroupTable:
    """Process groups of all ranks, numbered from 1 as ASTRA-sim wants them.

    Kinds: "tp", "cp", "dp" (replicas of the parameters: data and context parallel together), "ep" (ranks that share
    experts), "edp" (replicas of the experts), "embedding" (first and last stage). Groups of one rank are left out.
    """

    def __init__(self, parallelism: Parallelism, *, has_experts: bool, shares_embedding: bool) -> None:
        """Work out all groups that a model of this kind needs."""
        self._parallelism = parallelism
        self._name_of: dict[tuple[str, int], str] = {}
        self.groups: dict[str, tuple[int, ...]] = {}
        self.kinds: dict[str, str] = {}
        size, ep = parallelism.ranks, parallelism.ep
        places = [parallelism.coordinates(rank) for rank in range(size)]
        last = parallelism.pp - 1
        self._add("tp", [tuple(place[axis] for axis in ("cp", "dp", "pp")) for place in places])
        self._add("cp", [tuple(place[axis] for axis in ("tp", "dp", "pp")) for place in places])
        self._add("dp", [tuple(place[axis] for axis in ("tp", "pp")) for place in places])
        if has_experts:
            self._add("ep", [(place["tp"], place["cp"], place["pp"], place["dp"] // ep) for place in places])
            self._add("edp", [(place["tp"], place["pp"], place["dp"] % ep) for place in places])
        if shares_embedding and last > 0:
            ends = [(place["tp"], place["cp"], place["dp"]) if place["pp"] in (0, last) else None for place in places]
            self._add("embedding", ends)

    def _add(self, kind: str, keys: Sequence[tuple[int, ...] | None]) -> None:
        numbered = sorted((key, rank) for rank, key in enumerate(keys) if key is not None)
        found = (tuple(rank for _, rank in same) for _, same in itertools.groupby(numbered, lambda one: one[0]))
        for ranks in sorted(group for group in found if len(group) > 1):
            name = str(len(self.groups) + 1)
            self.groups[name] = ranks
            self.kinds[name] = kind
            self._name_of.update(((kind, rank), name) for rank in ranks)

    def name(self, kind: str, rank: int) -> str:
        """Name of a rank's group of a kind; "" if it is alone in it."""
        return self._name_of.get((kind, rank), "")
