# SPDX-License-Identifier: MIT
"""Grids: values for places in configurations, and the product of them all."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from chakra_core._core import ConfigError
from chakra_core.config import CommGroups, Memory, Network, System
from chakra_core.config.model import ConfigModel
from chakra_core.simulation import simulate

Grid: TypeAlias = "Mapping[str, Sequence[Any]]"
_Model = TypeVar("_Model", bound=ConfigModel)

_PART = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)((?:\[\d+\])*)")
_MODELS = ("network", "system", "memory", "comm_groups")


@dataclass(frozen=True)
class Place:
    """A place in the arguments of `simulate`: "network.bandwidth[0]", "congestion".

    Attributes:
        text: as it was written.
        argument: of `simulate`.
        steps: names and numbers that lead on from there.
    """

    text: str
    argument: str
    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> Place:
        """Read a dotted path.

        Raises:
            ConfigError: it is none, or `simulate` has no such argument.
        """
        steps: list[str | int] = []
        for part in text.strip().split("."):
            match = _PART.fullmatch(part)
            if match is None:
                raise ConfigError(f"grid: '{text}' is no path; write e.g. network.bandwidth[0]")
            steps.append(match[1].replace("-", "_"))
            steps.extend(int(number) for number in re.findall(r"\d+", match[2]))
        if steps[0] == "options":
            steps.pop(0)
        known = arguments()
        if not steps or steps[0] not in known:
            raise ConfigError(f"grid: '{text}' begins with none of {', '.join(known)}")
        return cls(text.strip(), str(steps[0]), tuple(steps[1:]))


def arguments() -> list[str]:
    """Arguments of `simulate` that a grid may set."""
    own = ("traces", "record_nodes", "progress")
    return [name for name in inspect.signature(simulate).parameters if name not in own]


@dataclass(frozen=True)
class Axis:
    """Values that some places take together."""

    name: str
    places: tuple[Place, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Configuration:
    """What all points of a grid begin with.

    Attributes:
        network: as for `simulate`; so are all up to `options`.
        options: further arguments of `simulate`.
    """

    network: Network
    system: System
    memory: Memory | None = None
    comm_groups: CommGroups | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """Arguments of `simulate`."""
        models = {name: getattr(self, name) for name in _MODELS}
        return {**self.options, **models}


@dataclass(frozen=True)
class Point:
    """One element of the product.

    Attributes:
        values: of each axis.
        arguments: of `simulate`.
    """

    values: tuple[Any, ...]
    arguments: Mapping[str, Any]


def parse_grid(grid: Grid) -> list[Axis]:
    """Read a grid: lists of values by paths; several paths, separated by commas, take the same value.

    Raises:
        ConfigError: a path is wrong or stands twice, or something else than a list of values is given.
    """
    axes = []
    seen: set[tuple[str, tuple[str | int, ...]]] = set()
    for name, values in grid.items():
        places = tuple(Place.parse(text) for text in str(name).split(","))
        for place in places:
            if (place.argument, place.steps) in seen:
                raise ConfigError(f"grid: '{place.text}' stands there more than once")
            seen.add((place.argument, place.steps))
        if isinstance(values, str | Mapping) or not isinstance(values, Sequence) or len(values) == 0:
            raise ConfigError(f"grid: '{name}' needs a list of values, found {values!r}")
        axes.append(Axis(str(name).strip(), places, tuple(values)))
    return axes


def points(axes: Sequence[Axis], base: Configuration) -> Iterator[Point]:
    """Go through the product of all axes, the last axis fastest.

    Raises:
        ConfigError: a place is not there, or a value is not allowed there.
    """
    for values in itertools.product(*(axis.values for axis in axes)):
        settings = [(place, value) for axis, value in zip(axes, values, strict=True) for place in axis.places]
        yield Point(values, _arguments(settings, base))


def _arguments(settings: Sequence[tuple[Place, Any]], base: Configuration) -> dict[str, Any]:
    found = base.arguments()
    changed: dict[str, list[tuple[Place, Any]]] = {}
    for place, value in settings:
        changed.setdefault(place.argument, []).append((place, value))
    for name, changes in changed.items():
        current = found.get(name)
        if name in _MODELS and all(place.steps for place, _ in changes):
            found[name] = _changed_model(name, current, changes)
        else:
            found[name] = _changed_value(current, changes)
    for name, kind in (("network", Network), ("system", System), ("memory", Memory), ("comm_groups", CommGroups)):
        # A whole model may be given as a value: a mapping or a path.
        if found[name] is not None:
            found[name] = kind.coerce(found[name])
    return found


def _changed_model(name: str, current: ConfigModel | None, changes: Sequence[tuple[Place, Any]]) -> ConfigModel:
    if current is None:
        raise ConfigError(f"grid: '{changes[0][0].text}' has nothing to change: no {name} is given")
    kind = type(current)
    data = current.model_dump(by_alias=False, exclude_unset=True)
    for place, value in changes:
        field_name = str(place.steps[0])
        field_name = next((own for own, one in kind.model_fields.items() if one.alias == field_name), field_name)
        if field_name not in kind.model_fields:
            raise ConfigError(
                f"grid: '{place.text}': {name} has no '{field_name}'; it has {', '.join(kind.model_fields)}"
            )
        start = data.get(field_name, getattr(current, field_name))
        data[field_name] = _set(start, place.steps[1:], value, place)
    try:
        return _remade(current, data)
    except ConfigError as error:
        given = ", ".join(f"{place.text}={value!r}" for place, value in changes)
        raise ConfigError(f"grid: {given}: {error}") from None


def _remade(current: _Model, data: dict[str, Any]) -> _Model:
    """Make the model anew, with the file that it is from: what a file leaves out is not what Python leaves out."""
    by_alias = {type(current).model_fields[name].alias or name: value for name, value in data.items()}
    return current._from_file_data(by_alias, current.source) if current.is_from_file else type(current)(**data)


def _changed_value(current: Any, changes: Sequence[tuple[Place, Any]]) -> Any:
    for place, value in changes:
        current = _set(current, place.steps, value, place)
    return current


def _set(current: Any, steps: tuple[str | int, ...], value: Any, place: Place) -> Any:
    """Return a copy of `current` with `value` at the place. What is not there becomes a mapping."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(current, ConfigModel):
        current = current.model_dump(by_alias=False, exclude_unset=True)
    if isinstance(current, list | tuple):
        if not isinstance(step, int) or step >= len(current):
            raise ConfigError(f"grid: '{place.text}': there is no entry {step}, found {len(current)} entries")
        copy = list(current)
        copy[step] = _set(copy[step], rest, value, place)
        return copy
    if current is None or isinstance(current, Mapping):
        mapping = current or {}
        return {**mapping, step: _set(mapping.get(step), rest, value, place)}
    raise ConfigError(f"grid: '{place.text}': there is no '{step}' in {current!r}")
