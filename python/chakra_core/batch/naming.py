# SPDX-License-Identifier: MIT
"""Names of outputs, made from a template: "out/{rank}.et", "out/{folder}/{stem}.json.gz"."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from chakra_core._core import ConfigError
from chakra_core.batch.work_item import WorkItem

_SUFFIXES = (".json", ".et", ".pt", ".trace", ".gz", ".zst", ".zstd")


def name_outputs(items: Sequence[WorkItem], template: str, default_name: str) -> list[WorkItem]:
    """Give each item the output that a template makes for it.

    Args:
        items: those with an output already, from a manifest, keep it.
        template: text with {rank}, {stem}, {name}, {folder}, {index} or a column of a manifest in braces, also with a
            format ({rank:04d}), or %d for the rank. A name that ends with "/" is a folder for `default_name`.
        default_name: template of the name in such a folder.

    Raises:
        ConfigError: the template is malformed or has an unknown field, or two items get the same output, or one an
            input of another.
    """
    full = _full(template, default_name)
    used = _fields_of(full)
    named = [
        item if item.output is not None else _name_one(item, index, full, used) for index, item in enumerate(items)
    ]
    _refuse_clashes(named, template)
    return named


def looks_like_output(template: str, default_name: str) -> re.Pattern[str]:
    """Return what matches the outputs that a template makes, as earlier runs may have left them among the inputs."""
    parts = _parse(_full(template, default_name))
    return re.compile("".join(re.escape(text) + ("" if name is None else ".+") for text, name in parts))


def _full(template: str, default_name: str) -> str:
    return (template + default_name if template.endswith("/") else template).replace("%d", "{rank}")


def fixed_folder(template: str) -> str:
    """Return the part of a template before the first folder that differs from item to item, "" for the current one."""
    fixed = template.split("{", 1)[0].split("%d", 1)[0]
    return fixed.rpartition("/")[0] if "/" in fixed else ""


def stem_of(name: str) -> str:
    """Return a file's name without the endings that traces have.

    >>> stem_of("runs/rank0.pt.trace.json.gz")
    'rank0'
    """
    stem = PurePosixPath(name).name
    while (suffix := next((one for one in _SUFFIXES if stem.lower().endswith(one)), None)) and len(stem) > len(suffix):
        stem = stem[: -len(suffix)]
    return stem


def _fields_of(template: str) -> list[str]:
    return [name for _, name in _parse(template) if name is not None]


def _parse(template: str) -> list[tuple[str, str | None]]:
    """Return texts, and the fields that follow them."""
    try:
        return [(text, name) for text, name, _, _ in string.Formatter().parse(template)]
    except ValueError as error:
        raise ConfigError(f"output {template}: {error}; write {{rank}}, {{stem}} or {{folder}}") from None


def _name_one(item: WorkItem, index: int, template: str, used: Iterable[str]) -> WorkItem:
    if item.problem is not None:
        return item
    first = next(iter(item.inputs.values()))
    values: dict[str, Any] = {
        **item.fields,
        "rank": item.rank,
        "stem": item.stem,
        "name": PurePosixPath(first).name,
        "folder": item.folder,
        "index": index,
    }
    unknown = [name for name in used if name not in values]
    if unknown:
        raise ConfigError(f"output {template}: no field {{{unknown[0]}}}; there are {', '.join(sorted(values))}")
    if "rank" in used and item.rank is None:
        return replace(item, problem="its rank is not known; name outputs by {stem} or {folder}, or give a manifest")
    try:
        return replace(item, output=template.format_map(values))
    except ValueError as error:
        raise ConfigError(f"output {template}: {error}") from None


def _refuse_clashes(items: Sequence[WorkItem], template: str) -> None:
    inputs = {path: item for item in items for path in item.inputs.values()}
    seen: dict[str, WorkItem] = {}
    for item in items:
        if item.output is None:
            continue
        other = seen.setdefault(item.output, item)
        if other is not item:
            raise ConfigError(
                f"output {template}: {other.name} and {item.name} would both be written to {item.output}; "
                "name outputs by {folder}, {stem} or {rank}"
            )
        if item.output in inputs:
            raise ConfigError(f"output {template}: {item.output} is an input of {inputs[item.output].name}")
