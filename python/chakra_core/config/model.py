# SPDX-License-Identifier: MIT
"""Base of the configuration models: where they come from, and how their errors read."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import Self

from chakra_core._core import ConfigError
from chakra_core.config.files import read_mapping


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class ConfigModel(BaseModel):
    """An immutable configuration; every way to make one raises ConfigError on bad input.

    Keys may be written as in ASTRA-sim's files ("endpoint-delay") or as Python names ("endpoint_delay").
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=_kebab,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        # Most runs use some of the models, and building one takes longer than importing the rest.
        defer_build=True,
    )

    required_in_file: ClassVar[tuple[str, ...]] = ()
    """Keys (as in the file) that a file must have although the Python constructor has a default."""

    _source: str | None = PrivateAttr(default=None)

    def __init__(self, /, **data: Any) -> None:
        """Check the values and keep them.

        Raises:
            ConfigError: names each key, what was found, and what is allowed.
        """
        self._fill(data, type(self).__name__)

    def _fill(self, data: Mapping[str, Any], source: str) -> None:
        try:
            self.__pydantic_validator__.validate_python(dict(data), self_instance=self)
        except ValidationError as error:
            raise ConfigError(_describe(error, type(self), source)) from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file (`.yml`, `.yaml`: YAML, anything else: JSON).

        Raises:
            ConfigError: names the file, the key, what was found, and what is allowed.
        """
        source = os.fspath(path)
        return cls._from_file_data(read_mapping(path), source)

    @classmethod
    def _from_file_data(cls, data: dict[str, Any], source: str) -> Self:
        missing = [key for key in cls.required_in_file if key not in data and key.replace("-", "_") not in data]
        if missing:
            raise ConfigError(f"{source}: missing key{_plural(missing)} {', '.join(map(repr, missing))}")
        model = cls.__new__(cls)
        model._fill(data, source)
        model._source = source
        return model

    @classmethod
    def _describe_place(cls, location: tuple[int | str, ...]) -> str:
        """Where a problem is, in the words of the file: 'bandwidth'[1]."""
        if not location:
            return ""
        key = str(location[0])
        if key in cls.model_fields:
            key = cls.model_fields[key].alias or key
        return f"'{key}'" + "".join(f"[{part!r}]" for part in location[1:])

    @property
    def source(self) -> str:
        """The file it was read from, or the name of the class; errors begin with it."""
        return self._source or type(self).__name__

    @property
    def is_from_file(self) -> bool:
        """Whether it was read from a file."""
        return self._source is not None

    def __eq__(self, other: object) -> bool:
        # Equal values are equal wherever they came from.
        return isinstance(other, type(self)) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *map(repr, self.__dict__.values())))

    @classmethod
    def coerce(cls, value: Self | Mapping[str, Any] | str | os.PathLike[str]) -> Self:
        """Take an object of this class as it is, a mapping as constructor arguments, anything else as a path.

        Raises:
            ConfigError: the values are wrong, or `value` is none of these.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            return cls(**{str(key): item for key, item in value.items()})
        if isinstance(value, str | os.PathLike):
            return cls.load(value)
        raise ConfigError(f"{cls.__name__}: expected a {cls.__name__}, a dict or a path, found {_shown(value)}")


def _plural(items: list[str]) -> str:
    return "s" if len(items) > 1 else ""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _describe(error: ValidationError, model: type[ConfigModel], source: str) -> str:
    problems = [_describe_one(details, model) for details in error.errors()]
    if len(problems) == 1:
        return f"{source}: {problems[0]}"
    return f"{source}: {len(problems)} problems:\n" + "\n".join(f"  {problem}" for problem in problems)


def _describe_one(details: ErrorDetails, model: type[ConfigModel]) -> str:
    known = [field.alias or name for name, field in model.model_fields.items()]
    location = details["loc"]
    place = model._describe_place(location)
    match details["type"]:
        case "missing":
            return f"missing key {place} (keys: {', '.join(known)})"
        case "extra_forbidden":
            near = difflib.get_close_matches(str(location[0]), known, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            return f"unknown key {place}{hint} (keys: {', '.join(known)})"
        case "literal_error":
            return f"{place}: found {_shown(details['input'])}, allowed: {details['ctx']['expected']}"
        case "config":
            return f"{place}: {details['msg']}" if place else details["msg"]
    message = details["msg"].removeprefix("Input ").replace("valid tuple", "list")
    return f"{place}: found {_shown(details['input'])}, {message}"
