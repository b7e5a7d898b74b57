# SPDX-License-Identifier: MIT
"""Communicator groups: names and their ranks, as ASTRA-sim's communicator-group JSON lists them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core.config.files import read_mapping
from chakra_core.config.model import ConfigModel
from chakra_core.output import complete_file

_Rank = Annotated[int, Field(strict=True, ge=0, lt=1 << 31)]


class CommGroups(ConfigModel):
    """Groups of ranks by name; a node joins one by its attribute `pg_name`.

    `CommGroups(groups={"tp": [0, 1], "dp": [0, 2]})`, or just the dict where groups are asked for. A name is any text;
    a node without `pg_name`, or with "" or "0", means all ranks.
    """

    groups: Mapping[str, tuple[_Rank, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ranks_are_distinct(self) -> Self:
        for name, ranks in self.groups.items():
            if not ranks:
                raise PydanticCustomError("config", "group '{name}' has no ranks", {"name": name})
            if len(set(ranks)) != len(ranks):
                twice = next(rank for rank in ranks if ranks.count(rank) > 1)
                raise PydanticCustomError(
                    "config", "group '{name}' lists rank {rank} more than once", {"name": name, "rank": twice}
                )
        return self

    @classmethod
    def _describe_place(cls, location: tuple[int | str, ...]) -> str:
        name, *rest = location[1:] or ("",)
        return f"group '{name}'" + "".join(f"[{part!r}]" for part in rest) if name else ""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a JSON object of group name to list of ranks.

        Raises:
            ConfigError: names the file, the group, what was found, and what is allowed.
        """
        return cls._from_file_data({"groups": read_mapping(path)}, os.fspath(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the groups as the JSON object that `load` and simulators read, groups in the order of their names.

        Raises:
            OSError: the file cannot be written.
        """
        ordered = {name: list(self.groups[name]) for name in sorted(self.groups, key=_natural)}
        with complete_file(path) as file:
            json.dump(ordered, file, indent=2)
            file.write("\n")

    @classmethod
    def coerce(cls, value: Self | Mapping[str, Any] | str | os.PathLike[str]) -> Self:
        """Take groups as they are, a mapping of name to ranks, or a path.

        Raises:
            ConfigError: the values are wrong, or `value` is none of these.
        """
        if isinstance(value, Mapping):
            return cls(groups={str(name): ranks for name, ranks in value.items()})
        return super().coerce(value)

    def __len__(self) -> int:
        return len(self.groups)

    def names(self) -> Iterator[str]:
        """Names of the groups, in the order given."""
        return iter(self.groups)


def _natural(name: str) -> tuple[int, int, str]:
    """Numbers by value and before other names."""
    return (0, int(name), "") if name.isascii() and name.isdigit() else (1, 0, name)
