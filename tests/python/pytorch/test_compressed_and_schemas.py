# SPDX-License-Identifier: MIT
"""Host and device traces however they are compressed, and of every schema that is known."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import chakra_core as cc
from chakra_core import _core

SAMPLE = Path(__file__).parents[3] / "examples" / "sample"
SCHEMAS = [
    "1.0.1",
    "1.0.2-chakra.0.0.4",
    "1.0.3-chakra.0.0.4",
    "1.1.0-chakra.0.0.4",
    "1.1.1-chakra.0.0.4",
    "1.1.1-chakra.1.0.0",
]


def plain(side: str, folder: Path) -> Path:
    path = folder / f"{side}.json"
    path.write_bytes(gzip.decompress((SAMPLE / f"rank0.{side}.json.gz").read_bytes()))
    return path


@pytest.mark.skipif(not _core.has_zstd(), reason="built without zstd")
def test_zstd_is_told_by_content(tmp_path: Path) -> None:
    zstd = pytest.importorskip("zstandard")
    expected = cc.convert(host=plain("host", tmp_path), device=plain("kineto", tmp_path))
    packed = {}
    for side in ("host", "kineto"):
        packed[side] = tmp_path / f"{side}.dat"
        packed[side].write_bytes(zstd.ZstdCompressor().compress(plain(side, tmp_path).read_bytes()))
    assert not cc.diff(cc.convert(host=packed["host"], device=packed["kineto"]), expected)
    assert [one.kind for one in cc.diagnose(*packed.values())] == ["host", "device", "pair"]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_known_schemas_are_read_without_a_word(schema: str, tmp_path: Path) -> None:
    document = json.loads(plain("host", tmp_path).read_text())
    document["schema"] = schema
    if schema == "1.0.1":
        # Attributes are keys of the node, and the caller is `parent`.
        for node in document["nodes"]:
            node["parent"] = node.pop("ctrl_deps")
            node |= {attr["name"]: attr["value"] for attr in node.pop("attrs")}
            for side in ("input", "output"):
                lists = node.pop(f"{side}s")
                node |= {f"{side}_{part}": lists[part] for part in ("shapes", "types")}
                node[f"{side}s"] = lists["values"]
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(document))
    linked = cc.link(path, plain("kineto", tmp_path))
    assert linked.report.counts.get("readers", {}) == {}
    expected = cc.convert(host=plain("host", tmp_path), device=plain("kineto", tmp_path))
    found = cc.diff(cc.convert(linked), expected)
    assert (found.changed, found.only_in_first, found.only_in_second) == (0, 0, 0)
    assert cc.convert(linked).metadata.attrs["schema"] == schema


def test_an_unknown_schema_is_counted(tmp_path: Path) -> None:
    document = json.loads(plain("host", tmp_path).read_text())
    document["schema"] = "9.9"
    (tmp_path / "changed.json").write_text(json.dumps(document))
    readers = cc.link(tmp_path / "changed.json", plain("kineto", tmp_path)).report.counts["readers"]
    assert readers == {'host: unknown schema "9.9", read like the known ones': 1}
