# SPDX-License-Identifier: MIT
"""What `doctor` says about files of every kind, whole and broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from chakra_core import _core
from chakra_core.cli import main
from chakra_core.file_kind import kind_of_file
from shared_data import SHARED, needs

SAMPLE = Path(__file__).parents[3] / "examples" / "sample"
HOST, DEVICE = SAMPLE / "rank0.host.json.gz", SAMPLE / "rank0.kineto.json.gz"
DATA = SHARED / "data"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """One file of each kind, under names that say nothing."""
    contents: dict[str, bytes] = {
        "host": gzip.decompress(HOST.read_bytes()),
        "device": gzip.decompress(DEVICE.read_bytes()),
        "bare": b'[{"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": 0, "dur": 1}]',
        "empty": b"",
        "blank": b" \n",
        "text": b"root:x:0:0:root:/root:/bin/bash\n" * 40,
        "json": b'{"some": "thing"}',
    }
    paths = {name: tmp_path / f"{name}.bin" for name in contents}
    for name, content in contents.items():
        paths[name].write_bytes(content)
    linked = cc.link(HOST, DEVICE)
    trace = cc.convert(linked)
    for name, write in (
        ("linked", lambda path: linked.save(path)),
        ("et", lambda path: cc.save(trace, path)),
        ("et-json", lambda path: cc.save(trace, path, form="json")),
    ):
        paths[name] = tmp_path / f"{name}.bin"
        write(paths[name])
    return paths


KINDS = {"bare": "device", "blank": "empty", "text": "unknown", "json": "unknown"}


def test_kinds_are_told_by_content(files: dict[str, Path], tmp_path: Path) -> None:
    for name, path in files.items():
        assert kind_of_file(path) == KINDS.get(name, name), name
        packed = tmp_path / "packed"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert kind_of_file(packed) == KINDS.get(name, name), name


@needs(DATA)
def test_kinds_of_real_files() -> None:
    for path in sorted(DATA.rglob("*")):
        if not path.is_file():
            continue
        folder = path.relative_to(DATA).parts[0]
        expected = {"kineto": "device", "host": "host"}.get(folder)
        if folder == "pairs":
            expected = "host" if path.name.startswith("host") else "device"
        if folder == "et":
            expected = "et" if ".et" in path.name else "et-json"
        if path.name == "workload.json":
            expected = kind_of_file(path)  # communicator groups
            assert expected == "unknown"
        assert kind_of_file(path) == expected, path


def test_good_files_are_good(files: dict[str, Path]) -> None:
    for name in ("host", "device", "linked", "et", "et-json"):
        (found,) = cc.diagnose(files[name])
        assert found.ok, found.text
        assert found.kind == name
        assert found.facts
        assert str(files[name]) in found.text


def test_a_pair_is_looked_at_as_one(files: dict[str, Path]) -> None:
    host, device, pair = cc.diagnose(files["host"], files["device"])
    assert (host.kind, device.kind, pair.kind) == ("host", "device", "pair")
    assert any(fact.startswith("host operators matched") for fact in pair.facts)
    assert not any("there is no host trace" in hint for hint in device.hints)
    assert any("there is no host trace" in hint for hint in cc.diagnose(files["device"])[0].hints)


def test_a_pair_that_does_not_belong_together(files: dict[str, Path], tmp_path: Path) -> None:
    *_, pair = cc.diagnose(files["host"], files["bare"])
    assert not pair.ok
    assert any("host ops matched" in problem and "one run" in problem for problem in pair.problems)


def test_broken_files_say_where_and_what_is_left(files: dict[str, Path], tmp_path: Path) -> None:
    whole = files["host"].read_text()
    cut = tmp_path / "cut.json"
    cut.write_text(whole[: len(whole) // 2])
    (found,) = cc.diagnose(cut)
    assert not found.ok
    assert "byte" in found.problems[0]
    assert "--on-error recover" in found.problems[0]
    assert any(fact.startswith("host nodes") for fact in found.facts)
    for name in ("empty", "text", "json"):
        assert not cc.diagnose(files[name])[0].ok
    (absent,) = cc.diagnose(tmp_path / "absent")
    assert not absent.ok


def comm_trace(**node: Any) -> cc.Trace:
    builder = cc.TraceBuilder()
    attrs = {"comm_type": 0, "comm_size": 32, "is_cpu_op": False, **node.pop("attrs", {})}
    builder.add_node(id=1, name="n", type="COMM_COLL_NODE", duration_ns=1, attrs=attrs, **node)
    return builder.build()


def hints_of(trace: cc.Trace, folder: Path) -> str:
    cc.save(trace, folder / "t.et")
    return "\n".join(cc.diagnose(folder / "t.et")[0].hints)


def test_what_is_odd_in_execution_traces(tmp_path: Path) -> None:
    assert hints_of(comm_trace(), tmp_path) == ""
    in_elements = comm_trace(inputs=cc.IoInfo("[[1, 2, 0, 32, 4, 'cuda:0']]", "[[4, 8]]", "['Tensor(float)']"))
    assert "number of elements; simulators want bytes" in hints_of(in_elements, tmp_path)
    in_bytes = comm_trace(inputs=cc.IoInfo("[[1, 2, 0, 8, 4, 'cuda:0']]", "[[8]]", "['Tensor(float)']"))
    assert hints_of(in_bytes, tmp_path) == ""
    stage = comm_trace(attrs={"inputs": ["x@0Batch,Dmodel", "32.0"]})
    assert "number of elements; simulators want bytes" in hints_of(stage, tmp_path)
    assert "is_cpu_op" in hints_of(comm_trace(attrs={"is_cpu_op": True}), tmp_path)
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="n", type="COMP_NODE", duration_ns=0)
    hints = hints_of(builder.build(), tmp_path)
    assert "no communication node" in hints
    assert "no node has a duration" in hints


@needs(DATA)
def test_stage_is_recognised() -> None:
    (found,) = cc.diagnose(DATA / "et" / "stage_llama_dp2_tp2_pp2" / "workload.0.et")
    assert any("number of elements; simulators want bytes" in hint for hint in found.hints), found.text


def test_the_command(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(files["host"]), str(files["device"])]) == 0
    assert capsys.readouterr().out.count("a device trace (Kineto)") == 1
    assert main(["doctor", "--json", str(files["text"])]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["ok"]) == ("unknown", False)
    assert main(["doctor"]) == 0
    output = capsys.readouterr().out
    assert f"chakra_core {_core.__version__}" in output
    assert "torch: " in output
