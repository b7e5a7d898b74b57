# SPDX-License-Identifier: MIT
"""The network: one building block a dimension, as ASTRA-sim's network YAML describes it, or any graph of links."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core.config.model import ConfigModel
from chakra_core.config.quantities import LinkBandwidth, Nanoseconds

Topology = Literal["Ring", "FullyConnected", "Switch", "Mesh", "Graph"]
_Count = Annotated[int, Field(strict=True, ge=1, le=1 << 31)]
_Ratio = Annotated[float, Field(strict=True, ge=1, allow_inf_nan=False)]
_Factor = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


def _check_node(value: object) -> object:
    is_npu = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32
    if is_npu or (isinstance(value, str) and value.strip("0123456789 ")):
        return value
    raise PydanticCustomError(
        "config",
        "found {found}, allowed: the number of an NPU, or the name of a switch, which is no number",
        {"found": repr(value)},
    )


_Node = Annotated[int | str, BeforeValidator(_check_node)]
_Name = Annotated[str, Field(strict=True), BeforeValidator(_check_node)]


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=_kebab,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
    )


class Link(_Part):
    """A link of a graph.

    Attributes:
        src: an NPU by number, or a switch by name.
        dst: the same; the link goes both ways unless it is `one_way`.
        bandwidth: of each direction; a bare number is ASTRA-sim's GB/s, which are 2**30 bytes a second.
        latency: in ns, or with a unit.
        one_way: only from `src` to `dst`.
    """

    src: _Node
    dst: _Node
    bandwidth: LinkBandwidth
    latency: Nanoseconds
    one_way: bool = False


class LinkDamage(_Part):
    """Links that are slower (or faster) than they should be: all that fit everything that is given.

    Attributes:
        dimension: only links of this dimension.
        src: only links that lead from this node: an NPU by number, or in a graph a switch by name.
        dst: only links that lead to this node. A link between an NPU and the switch of a dimension has just one NPU:
            `src=3` is the way from NPU 3 to its switch, `dst=3` the way back.
        bandwidth: factor on the bandwidth, above 0: 0.5 is half of it.
        latency: factor on the latency, 0 or more.
    """

    dimension: Annotated[int, Field(strict=True, ge=0, lt=64)] | None = None
    src: _Node | None = None
    dst: _Node | None = None
    bandwidth: Annotated[_Factor, Field(gt=0)] = 1.0
    latency: _Factor = 1.0


class Network(ConfigModel):
    """Dimensions of the network, the fastest-changing NPU coordinate first. All lists have one entry a dimension.

    `Network(topology=["Ring", "Switch"], npus=[4, 8], bandwidth=["400 Gbit/s", "25 GB/s"], latency=[500, "1.5 us"])`

    Or any graph of links between NPUs and switches:

    `Network(topology=["Graph"], npus=[2], switches=["leaf"], links=[`
    `{"src": 0, "dst": "leaf", "bandwidth": 50, "latency": 500}, {"src": 1, "dst": "leaf", ...}])`

    Attributes:
        topology: "Ring", "FullyConnected", "Switch", "Mesh" (a ring without the link between the last and the first),
            or just "Graph".
        npus: NPUs along the dimension (`npus_count` in a file).
        bandwidth: of a link; a bare number is ASTRA-sim's GB/s, which are 2**30 bytes a second. "400 Gbit/s" and
            "50 GB/s" (10**9) are converted. Not for a graph.
        latency: of a link in ns, or with a unit ("1.5 us"). Not for a graph.
        oversubscription: of a switch: what its NPUs can send together, over what it can pass on; 1 for other
            dimensions. Absent: 1 everywhere.
        switches: names of a graph's switches.
        links: of a graph.
        damage: factors on the bandwidth and latency of some links.
    """

    topology: tuple[Topology, ...]
    npus: tuple[_Count, ...] = Field(alias="npus_count")
    bandwidth: tuple[LinkBandwidth, ...] = ()
    latency: tuple[Nanoseconds, ...] = ()
    oversubscription: tuple[_Ratio, ...] = ()
    switches: tuple[_Name, ...] = ()
    links: tuple[Link, ...] = ()
    damage: tuple[LinkDamage, ...] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if "Graph" in self.topology:
            self._check_graph()
        else:
            self._check_dimensions()
        self._check_damage()
        return self

    def _check_dimensions(self) -> None:
        for key in ("bandwidth", "latency"):
            if key not in self.model_fields_set:
                raise _problem(f"missing key '{key}'")
        for key in ("switches", "links"):
            if getattr(self, key):
                raise _problem(f"'{key}' belongs to a graph; give it with topology [Graph]")
        lengths: dict[str, int] = {
            "topology": len(self.topology),
            "npus_count": len(self.npus),
            "bandwidth": len(self.bandwidth),
            "latency": len(self.latency),
        }
        if self.oversubscription:
            lengths["oversubscription"] = len(self.oversubscription)
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"'{key}' has {length}" for key, length in lengths.items())
            raise _problem(f"all lists need one entry a dimension; {found}")
        if not self.topology:
            raise _problem("'topology' is empty; a network has at least one dimension")
        for kind, ratio in zip(self.topology, self.oversubscription, strict=False):
            if kind != "Switch" and ratio != 1:
                raise _problem(f"'oversubscription': found {ratio} for a {kind}, allowed: 1; only a Switch has more")

    def _check_graph(self) -> None:
        if len(self.topology) != 1 or len(self.npus) != 1:
            raise _problem("a Graph is all of the network: 'topology' is [Graph], 'npus_count' has one entry")
        for key in ("bandwidth", "latency", "oversubscription"):
            if getattr(self, key):
                raise _problem(f"'{key}': the links of a Graph have their own; remove the key")
        numbers = self.switch_numbers()
        if len(numbers) < len(self.switches):
            twice = next(name for place, name in enumerate(self.switches) if name in self.switches[:place])
            raise _problem(f"'switches': '{twice}' is listed more than once")
        ways: set[tuple[int | str, int | str]] = set()
        for number, link in enumerate(self.links):
            place = f"'links'[{number}]"
            for node in (link.src, link.dst):
                self._check_node(node, numbers, place)
            if link.src == link.dst:
                raise _problem(f"{place}: both ends are {link.src!r}")
            for way in [(link.src, link.dst)] if link.one_way else [(link.src, link.dst), (link.dst, link.src)]:
                if way in ways:
                    raise _problem(
                        f"{place}: a link from {way[0]!r} to {way[1]!r} is there already; "
                        "one that is not one-way counts in both directions"
                    )
                ways.add(way)

    def _check_node(self, node: int | str, numbers: Mapping[str, int], place: str) -> None:
        known = node in numbers if isinstance(node, str) else node < self.num_npus
        if not known:
            shown = ", ".join(self.switches[:20]) + ("..." if len(self.switches) > 20 else "")
            switches = f" and the switches {shown}" if self.switches else ""
            raise _problem(f"{place}: found {node!r}, allowed: the NPUs 0 to {self.num_npus - 1}{switches}")

    def _check_damage(self) -> None:
        numbers = self.switch_numbers()
        for number, damage in enumerate(self.damage):
            place = f"'damage'[{number}]"
            if damage.dimension is not None and damage.dimension >= self.num_dims:
                raise _problem(f"{place}: found dimension {damage.dimension}, allowed: 0 to {self.num_dims - 1}")
            for node in (damage.src, damage.dst):
                if node is not None:
                    self._check_node(node, numbers, place)

    @property
    def num_dims(self) -> int:
        """Number of dimensions."""
        return len(self.topology)

    @property
    def num_npus(self) -> int:
        """Number of NPUs: the product over the dimensions."""
        return math.prod(self.npus)

    def switch_numbers(self) -> dict[str, int]:
        """Numbers of a graph's switches, which are counted on from the NPUs, by name."""
        return {name: self.num_npus + place for place, name in enumerate(self.switches)}

    def with_damage(self, damage: Iterable[LinkDamage | Mapping[str, Any]]) -> Self:
        """Give the same network with more damage.

        Raises:
            ConfigError: it fits no node or dimension, or its factors are not possible.
        """
        values = {name: getattr(self, name) for name in self.model_fields_set | {"damage"}}
        damaged = type(self).__new__(type(self))
        damaged._fill({**values, "damage": (*self.damage, *damage)}, self.source)
        damaged._source = self._source
        return damaged


def _problem(text: str) -> PydanticCustomError:
    return PydanticCustomError("config", "{text}", {"text": text})
