# SPDX-License-Identifier: MIT
"""Reading configuration files: YAML and JSON into plain mappings, with errors that say where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from chakra_core._core import ConfigError

if TYPE_CHECKING:
    import os

_YAML_ENDINGS = {".yml", ".yaml"}


def read_mapping(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file whose top level is a mapping; `.yml` and `.yaml` as YAML, anything else as JSON.

    Raises:
        ConfigError: the file cannot be read, is malformed (with its line), has a key twice, or is no mapping.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file: byte {error.start} is not UTF-8") from None
    data = _read_yaml(text, path) if path.suffix.lower() in _YAML_ENDINGS else _read_json(text, path)
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {type(data).__name__}"
        raise ConfigError(f"{path}: expected keys with values, found {found}")
    for key in data:
        if not isinstance(key, str):
            raise ConfigError(f"{path}: expected names as keys, found {key!r}")
    return data


def _read_json(text: str, path: Path) -> object:
    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise ConfigError(f"{path}: key '{twice}' stands there more than once")
        return mapping

    def no_constant(name: str) -> NoReturn:
        raise ConfigError(f"{path}: found {name}, which is no JSON number")

    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}: line {error.lineno}, column {error.colno}: malformed JSON: {error.msg}") from None
    except RecursionError:
        raise ConfigError(f"{path}: malformed JSON: nested too deeply") from None


def _read_yaml(text: str, path: Path) -> object:
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        _refuse_repeated_keys(root, path)
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ConfigError(f"{path}: {where}malformed YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: malformed YAML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: malformed YAML: nested too deeply") from None


def _refuse_repeated_keys(root: object, path: Path) -> None:
    import yaml

    if not isinstance(root, yaml.MappingNode):
        return
    seen: set[str] = set()
    for key, _ in root.value:
        if isinstance(key, yaml.ScalarNode) and key.value in seen:
            raise ConfigError(f"{path}: line {key.start_mark.line + 1}: key '{key.value}' stands there more than once")
        seen.add(key.value if isinstance(key, yaml.ScalarNode) else "")
