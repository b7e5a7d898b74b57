# SPDX-License-Identifier: MIT
"""Linked traces on disk: what convert makes of a saved one is what it makes of the original, byte for byte."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from chakra_core import _core
from chakra_core.cli import main
from shared_data import SHARED, needs

SAMPLE = Path(__file__).parents[3] / "examples" / "sample"
PAIRS = SHARED / "data" / "pairs"
NAMES = sorted(path.name for path in PAIRS.iterdir()) if PAIRS.exists() else []

# What only our files have. Without it a file is what older linkers write.
OURS = ("chakra_core_linked", "traceName", "baseTimeNanoseconds", "distributedInfo", "traceEvents")


def sample(rank: int) -> _core.LinkedTrace:
    return cc.link(SAMPLE / f"rank{rank}.host.json.gz", SAMPLE / f"rank{rank}.kineto.json.gz")


def bytes_of(trace: cc.Trace, folder: Path) -> bytes:
    path = folder / "converted.et"
    cc.save(trace, path)
    return path.read_bytes()


def assert_same(linked: _core.LinkedTrace, again: _core.LinkedTrace, folder: Path) -> None:
    assert again.rank == linked.rank
    assert again.process_groups == linked.process_groups
    for layout in ("exact", "ops"):
        for memory_nodes in (False, True):
            ours, theirs = (
                bytes_of(cc.convert(one, layout=layout, memory_nodes=memory_nodes), folder) for one in (linked, again)
            )
            assert ours == theirs, (layout, memory_nodes)


@pytest.mark.parametrize("name", ["linked.json", "linked.json.gz", "linked.json.zst"])
def test_saved_and_loaded_converts_to_the_same_bytes(tmp_path: Path, name: str) -> None:
    if name.endswith(".zst") and not _core.has_zstd():
        pytest.skip("built without zstd")
    linked = sample(1)
    linked.save(tmp_path / name)
    assert_same(linked, cc.load_linked(tmp_path / name), tmp_path)
    again = bytes_of(cc.convert(tmp_path / name), tmp_path)
    assert again == bytes_of(cc.convert(linked), tmp_path)


@pytest.mark.parametrize("side", ["host", "device"])
def test_one_side_alone_is_saved_as_that(tmp_path: Path, side: str) -> None:
    paths = {"host": SAMPLE / "rank0.host.json.gz", "device": SAMPLE / "rank0.kineto.json.gz"}
    linked = _core.link(paths["host"] if side == "host" else None, paths["device"] if side == "device" else None)
    linked.save(tmp_path / "linked.json")
    again = cc.load_linked(tmp_path / "linked.json")
    assert (again.num_host_nodes > 0) == (side == "host")
    assert (again.num_device_events > 0) == (side == "device")
    assert_same(linked, again, tmp_path)


def test_a_rank_that_was_given_is_kept(tmp_path: Path) -> None:
    linked = cc.link(SAMPLE / "rank0.host.json.gz", SAMPLE / "rank0.kineto.json.gz", rank=7)
    linked.save(tmp_path / "linked.json")
    assert cc.load_linked(tmp_path / "linked.json").rank == 7
    assert cc.load_linked(tmp_path / "linked.json", rank=3).rank == 3


@needs(PAIRS)
@pytest.mark.parametrize("name", NAMES)
def test_real_pairs(name: str, tmp_path: Path) -> None:
    linked = cc.link(PAIRS / name / "host.json.gz", PAIRS / name / "kineto.json.gz")
    path = tmp_path / "linked.json"
    linked.save(path)
    again = cc.load_linked(path)
    assert again.report.counts == linked.report.counts
    assert_same(linked, again, tmp_path)


def nodes_of(path: Path) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    document = json.loads(path.read_text())
    nodes = {node["id"]: node for node in document["nodes"]}
    assert len(nodes) == len(document["nodes"])
    return document, nodes


def random_lists(seed: int) -> list[Any]:
    """JSON values as host traces have them, odd texts included."""
    rng = random.Random(seed)

    def value(depth: int) -> Any:
        kind = rng.randrange(9 if depth else 7)
        if kind >= 7:
            return [value(depth - 1) for _ in range(rng.randrange(4))]
        texts = ["", "it's", 'a "b"', "tab\there", "\\n", "naïve 😀", "\x01", "\u2028", "\x7f\x85", "'\"", "None"]
        numbers = [0, -1, 12345678901234567890, 0.1, 1e-7, 1e22, -2.5, float("nan"), float("inf"), float("-inf")]
        return [True, False, None, rng.choice(texts), rng.choice(texts), rng.choice(numbers), rng.choice(numbers)][kind]

    return [value(3) for _ in range(6)]


@pytest.mark.parametrize("seed", range(8))
def test_input_values_of_every_kind_survive(tmp_path: Path, seed: int) -> None:
    values = random_lists(seed)
    attrs = [{"name": "rf_id", "type": "uint64", "value": 5}, {"name": "x", "type": "string", "value": "12"}]
    node = {"id": 1, "name": "n", "ctrl_deps": 1, "attrs": attrs}
    node["inputs"] = {"values": values, "shapes": [], "types": ["Tensor(float)"]}
    node["outputs"] = {"values": [], "shapes": [], "types": []}
    (tmp_path / "host.json").write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "nodes": [node]}))
    linked = _core.link(tmp_path / "host.json", None)
    linked.save(tmp_path / "linked.json")
    _, nodes = nodes_of(tmp_path / "linked.json")
    assert repr(nodes[0]["inputs"]["values"]) == repr(values)
    assert cc.convert(tmp_path / "linked.json").at(0).inputs.values == repr(values)
    assert_same(linked, cc.load_linked(tmp_path / "linked.json"), tmp_path)


def test_nodes_are_what_older_converters_read(tmp_path: Path) -> None:
    """Fields and their meaning as `chakra_trace_link` writes them; the layout "ops" tells what they must be."""
    linked = sample(0)
    linked.save(tmp_path / "linked.json")
    document, nodes = nodes_of(tmp_path / "linked.json")
    assert {"schema", "pid", "time", "start_ts", "finish_ts", "nodes"} <= document.keys()
    ops = cc.convert(linked, layout="ops")
    for row in range(len(ops)):
        node = ops.at(row)
        if node.id not in nodes:
            assert node.type == cc.NodeType.METADATA_NODE, "only a node made for the groups may be missing"
            continue
        mine = nodes[node.id]
        assert mine["name"] == node.name
        assert mine["ctrl_deps"] == (int(node.ctrl_deps[0]) if len(node.ctrl_deps) else node.id)
        assert mine.keys() >= {"id", "name", "ctrl_deps", "inputs", "outputs", "attrs"}
        attrs = {attr["name"]: attr["value"] for attr in mine["attrs"]}
        assert attrs["rf_id"] == node.attrs.get("rf_id", 0)
        if "exclusive_dur" in mine:
            assert round(mine["exclusive_dur"] * 1000) == node.duration_ns
        assert ("cat" in mine) <= (node.attrs["is_cpu_op"] is False)


def as_older_linkers_write(path: Path, target: Path) -> None:
    document, nodes = nodes_of(path)
    for node in nodes.values():
        for key in ("host", "cuts", "release_ts"):
            node.pop(key, None)
        for key in ("ts", "inclusive_dur", "exclusive_dur"):
            if key in node:
                node[key] = int(node[key])  # whole microseconds
    with gzip.open(target, "wt") as file:
        json.dump({**{key: document[key] for key in document if key not in OURS}, "nodes": list(nodes.values())}, file)


@needs(PAIRS)
@pytest.mark.parametrize("name", ["resnet_1gpu_1.0.3", "derived_alexnet", "torch213_mlp"])
def test_linked_json_of_older_linkers(name: str, tmp_path: Path) -> None:
    linked = cc.link(PAIRS / name / "host.json.gz", PAIRS / name / "kineto.json.gz")
    linked.save(tmp_path / "linked.json")
    as_older_linkers_write(tmp_path / "linked.json", tmp_path / "older.json.gz")
    older = cc.load_linked(tmp_path / "older.json.gz")
    assert any("layout" in text for text in older.report.advice)
    trace, expected = cc.convert(older), cc.convert(linked, layout="ops")
    assert cc.validate(trace).ok
    by_name = sorted((node.name, int(node.type)) for node in map(expected.at, range(len(expected))))
    found = sorted((node.name, int(node.type)) for node in map(trace.at, range(len(trace))))
    extra = [one for one in found if one[1] == cc.NodeType.METADATA_NODE]
    assert found == by_name or [one for one in found if one not in extra] == [one for one in by_name if one[1] != 1]
    older.save(tmp_path / "again.json")
    assert_same(older, cc.load_linked(tmp_path / "again.json"), tmp_path)
    kernels = [row for row in range(len(trace)) if trace.at(row).attrs.get("stream") is not None]
    assert all(len(trace.at(row).data_deps) > 0 for row in kernels), "every kernel waits for its op"


def host_node(number: int, name: str, parent: int, rf_id: int, **more: Any) -> dict[str, Any]:
    attrs = [{"name": "rf_id", "type": "uint64", "value": rf_id}, {"name": "tid", "type": "uint64", "value": 1}]
    empty = {"values": [], "shapes": [], "types": []}
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": empty,
        "outputs": empty,
        "attrs": attrs,
        **more,
    }


def timed(ts: int, dur: int) -> dict[str, Any]:
    return {"ts": ts, "inclusive_dur": dur, "exclusive_dur": dur}


ON_STREAM = {"cat": "kernel", "ph": "X", "stream": 7}


def write_older(path: Path, nodes: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "", "nodes": nodes}))
    return path


def test_waits_of_older_linkers_become_dependencies(tmp_path: Path) -> None:
    """T25: a kernel, one after it on the stream, and an op that waits for the first."""
    nodes = [
        host_node(0, "[pytorch|profiler|execution_trace|process]", 0, 0),
        host_node(1, "[pytorch|profiler|execution_trace|thread]", 0, 0),
        host_node(3, "aten::mm", 1, 3, **timed(0, 5)),
        host_node(4, "aten::add", 1, 4, **timed(6, 5)),
        host_node(5, "aten::item", 1, 5, **timed(12, 20), sync_dep=[10], inter_thread_dep=None),
        host_node(10, "sgemm", 3, 3, **timed(10, 20), **ON_STREAM),
        host_node(11, "add_kernel", 4, 4, **timed(30, 20), **ON_STREAM),
    ]
    path = write_older(tmp_path / "older.json", nodes)
    trace = cc.convert(path, layout="ops")
    by_name = {trace.at(row).name: trace.at(row) for row in range(len(trace))}
    assert set(by_name["add_kernel"].data_deps) == {by_name["sgemm"].id, by_name["aten::add"].id}
    assert by_name["sgemm"].id in by_name["aten::item"].data_deps
    assert by_name["sgemm"].duration_ns == 20_000
    # Saved again as ours, it keeps what it has: times and waits, and no calls.
    linked = cc.load_linked(path)
    linked.save(tmp_path / "again.json")
    assert_same(linked, cc.load_linked(tmp_path / "again.json"), tmp_path)


def test_whatever_the_file_says_nothing_waits_for_itself(tmp_path: Path) -> None:
    """Callers that come later or are each other's, and a kernel that starts before its op."""
    nodes = [
        host_node(1, "aten::mm", 9, 3, **timed(20, 5)),
        host_node(2, "annotation", 8, 0),
        host_node(8, "annotation", 2, 0),
        host_node(9, "aten::late", 1, 7, **timed(30, 5)),
        host_node(4, "aten::add", 1, 4, **timed(10, 5), sync_dep=[10]),
        host_node(10, "sgemm", 1, 3, **timed(5, 2), **ON_STREAM),
    ]
    for layout in ("exact", "ops"):
        trace = cc.convert(write_older(tmp_path / "older.json", nodes), layout=layout)
        assert cc.replay(trace, deps="both").nodes == len(trace)
    callers = {trace.at(row).name: list(trace.at(row).ctrl_deps) for row in range(len(trace))}
    assert callers["aten::late"] == [trace.node(0).id], "aten::mm, which is earlier"


def test_what_is_no_linked_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cc.LinkError, match=r"host trace, not a linked one.*host="):
        cc.load_linked(SAMPLE / "rank0.host.json.gz")
    with pytest.raises(cc.FormatError):
        cc.load_linked(SAMPLE / "rank0.kineto.json.gz")
    linked = sample(0)
    linked.save(tmp_path / "linked.json")
    text = (tmp_path / "linked.json").read_text()
    (tmp_path / "newer.json").write_text(text.replace('"version": 1', '"version": 2', 1))
    with pytest.raises(cc.LinkError, match=r"version 2.*link the traces again"):
        cc.load_linked(tmp_path / "newer.json")
    (tmp_path / "cut.json").write_text(text[: len(text) // 2])
    with pytest.raises(cc.FormatError):
        cc.load_linked(tmp_path / "cut.json")
    with pytest.raises(OSError, match="absent"):
        cc.load_linked(tmp_path / "absent.json")
    with pytest.raises(OSError, match="absent"):
        linked.save(tmp_path / "absent" / "linked.json")


def test_link_and_convert_in_two_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    both = ["--host", str(SAMPLE / "rank%d.host.json.gz"), "--device", str(SAMPLE / "rank%d.kineto.json.gz")]
    assert main(["link", *both, "-o", "linked.json"]) == 1
    assert "%d" in capsys.readouterr().err
    assert main(["link", *both, "-o", "linked.%d.json.gz"]) == 0
    assert main(["convert", "linked.%d.json.gz", "-o", "two.%d.et", "--comm-groups", "groups.json"]) == 0
    assert main(["convert", *both, "-o", "one.%d.et"]) == 0
    for rank in (0, 1):
        assert Path(f"one.{rank}.et").read_bytes() == Path(f"two.{rank}.et").read_bytes()
    traces = [cc.load(f"two.{rank}.et") for rank in (0, 1)]
    groups = json.loads(Path("groups.json").read_text())
    assert groups == {name: list(ranks) for name, ranks in cc.recorded_groups(traces).groups.items()}
    assert [0, 1] in groups.values()
    assert cc.CommGroups.load("groups.json") == cc.CommGroups(groups=groups)
