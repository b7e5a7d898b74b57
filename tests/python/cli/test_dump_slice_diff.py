# SPDX-License-Identifier: MIT
"""The commands dump, slice and diff."""

from __future__ import annotations

import base64
import csv
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import chakra_core as cc
from chakra_core._core import TraceDump
from chakra_core.cli import main
from et_records import file_of, first_value
from et_strategies import traces

Capture = pytest.CaptureFixture[str]


def lines_of(capsys: Capture, *arguments: str) -> list[Any]:
    assert main(["dump", *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return [json.loads(line) for line in captured.out.splitlines()]


def plain(value: Any) -> Any:
    """A value of an attribute as JSON has it."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value


def described(node: cc.Node) -> dict[str, Any]:
    """A node as dump must show it, from what other tests check against protobuf."""
    kind = node.type.name if isinstance(node.type, cc.NodeType) else f"NODE_TYPE_{node.type}"
    shown: dict[str, Any] = {
        "id": node.id,
        "name": node.name,
        "type": kind,
        "start_ns": node.start_ns,
        "duration_ns": node.duration_ns,
        "data_deps": node.data_deps.tolist(),
        "ctrl_deps": node.ctrl_deps.tolist(),
    }
    for name, info in (("inputs", node.inputs), ("outputs", node.outputs)):
        if info != cc.IoInfo():
            shown[name] = {"values": info.values, "shapes": info.shapes, "types": info.types}
    return shown | {"attrs": {name: plain(value) for name, value in node.attrs.items()}}


@given(traces())
def test_json_has_all_of_a_node(whole: tuple[Any, list[Any]]) -> None:
    trace = cc.load(file_of([whole[0], *whole[1]]))
    expected = [described(trace.at(row)) for row in range(len(trace))]
    lines = b"".join(TraceDump(trace)).decode()
    assert [json.loads(line) for line in lines.split("\n")[:-1]] == expected
    assert json.loads(b"".join(TraceDump(trace, form="json"))) == expected


@given(traces())
def test_csv_reads_back(whole: tuple[Any, list[Any]]) -> None:
    trace = cc.load(file_of([whole[0], *whole[1]]))
    names = ["id", "name", "data_deps", "comm_size", "pg_name", "is_cpu_op", "attrs"]
    text = b"".join(TraceDump(trace, form="csv", columns=names)).decode()
    rows = list(csv.reader(text.split("\r\n")[:-1] if "\n" not in text.replace("\r\n", "") else text_lines(text)))
    assert rows[0] == names
    for row, node in zip(rows[1:], (trace.at(row) for row in range(len(trace))), strict=True):
        message = node.to_proto()
        assert row[:3] == [str(node.id), node.name, " ".join(map(str, node.data_deps))]
        size, group, is_cpu = (first_value(message, name) for name in ("comm_size", "pg_name", "is_cpu_op"))
        assert row[3] == ("" if size is None else str(int(size)))
        assert row[4] == ("" if group is None else group)
        assert row[5] == ("" if is_cpu is None else str(bool(is_cpu)).lower())
        assert json.loads(row[6]) == described(node)["attrs"]


def text_lines(text: str) -> list[str]:
    """Lines with their ends, for csv.reader, which joins those that a quoted cell spans."""
    import io

    return list(io.StringIO(text, newline=""))


def test_many_blocks_come_in_order() -> None:
    builder = cc.TraceBuilder()
    builder.add_nodes(ids=range(20_000))
    pieces = list(TraceDump(builder.build(), columns=["id"]))
    assert len(pieces) > 1
    assert [json.loads(line)["id"] for line in b"".join(pieces).splitlines()] == list(range(20_000))


def test_dump_chooses_nodes_and_columns(folder: Path, capsys: Capture) -> None:
    assert [line["id"] for line in lines_of(capsys, "run.0.et")] == [1, 2, 3]
    assert [line["id"] for line in lines_of(capsys, "run.0.et", "--jsonl", "--head", "2")] == [1, 2]
    assert lines_of(capsys, "run.0.et", "--where", "comm_size >= 1", "--columns", "name,comm_size,stream") == [
        {"name": "ar", "comm_size": 1 << 20, "stream": 20}
    ]
    assert lines_of(capsys, "run.0.et", "--columns", "id", "--columns", "no_such")[0] == {"id": 1, "no_such": None}
    assert main(["dump", "run.0.et", "--json", "--head", "0"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("id == 2", [2]),
        ("id != 2", [1, 3]),
        ("1 < id <= 3", [2, 3]),
        ("type == COMM_COLL_NODE", [2]),
        ("type == 'COMM_COLL_NODE' or id == 1", [1, 2]),
        ("type in (COMP_NODE, COMM_SEND_NODE)", [1, 3]),
        ("type not in ['COMP_NODE']", [2]),
        ("type == 7", [2]),
        ("comm_type == ALL_REDUCE", [2]),
        ("name == 'mm'", [1]),
        ("'m' in name", [1]),
        ("'m' not in name", [2, 3]),
        ("name in ('mm', 'ar')", [1, 2]),
        ("name > 'b'", [1, 3]),
        ("is_cpu_op == True", [3]),
        ("not is_cpu_op == True", [1, 2]),
        ("comm_size > 1e6", [2]),
        ("comm_size < 1e6", []),
        ("comm_size == None", [1, 3]),
        ("comm_size != None and stream == 20", [2]),
        ("start_ns > duration_ns", [2]),
        ("stream > -1", [1, 2]),
        ("start_ns >= 5_000 and (duration_ns == 2000 or False == True)", [2]),
    ],
)
def test_conditions(folder: Path, capsys: Capture, condition: str, ids: list[int]) -> None:
    assert [line["id"] for line in lines_of(capsys, "run.0.et", "--where", condition)] == ids


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "id ==",
        "id",
        "id + 1 == 2",
        "id == 'a'",
        "name == 1",
        "name < None",
        "no_such == 1",
        "type == NO_SUCH",
        "type == 'NO_SUCH'",
        "__import__('os').system('true') == 0",
        "id.real == 1",
        "id == [1][0]",
        "id is 1",
        "(lambda: id)() == 1",
        "id in 5",
        "1 in (1, 2)",
        "(" * 300 + "id == 1" + ")" * 300,
        "not " * 9_000 + "id == 1",
        "id == 1 or " * 3_000 + "id == 1",
    ],
)
def test_conditions_that_are_none(folder: Path, capsys: Capture, condition: str) -> None:
    assert main(["dump", "run.0.et", "--where", condition]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.out == ""


def test_dump_to_files(folder: Path, capsys: Capture) -> None:
    assert main(["dump", "run.0.et", "--csv", "--columns", "id,name", "-o", "nodes.csv"]) == 0
    assert Path("nodes.csv").read_bytes() == b"id,name\r\n1,mm\r\n2,ar\r\n3,host of 0\r\n"
    assert main(["dump", "run.0.et", "--csv", "--json"]) == 1
    assert "exclude each other" in capsys.readouterr().err
    assert main(["dump", "run.0.et", "--parquet"]) == 1
    assert "--output" in capsys.readouterr().err


def test_dump_parquet(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    command = ["dump", "run.0.et", "--parquet", "-o", "n.parquet", "--where", "id > 1", "--columns", "id,name"]
    assert main(command) == 0
    assert parquet.read_table("n.parquet").to_pydict() == {"id": [2, 3], "name": ["ar", "host of 0"]}


def test_a_reader_that_stops_is_no_error(folder: Path) -> None:
    builder = cc.TraceBuilder()
    builder.add_nodes(ids=range(50_000))
    cc.save(builder.build(), "many.et")
    command = [sys.executable, "-m", "chakra_core", "dump", "many.et"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["id"] == 0
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--ids", "1,3-9"], [1, 3]),
        (["--ids", "1", "--ids", "2"], [1, 2]),
        (["--types", "COMM_COLL_NODE"], [2]),
        (["--start", "5000"], [2]),
        (["--end", "5000"], [1, 3]),
        (["--pg", "none such"], []),
        (["--where", "stream != None", "--types", "COMP_NODE"], [1]),
    ],
)
def test_slice(folder: Path, capsys: Capture, options: list[str], ids: list[int]) -> None:
    assert main(["slice", "run.0.et", "-o", "part.et", "--json", *options]) == 0
    facts = json.loads(capsys.readouterr().out)
    part = cc.load("part.et")
    assert part.ids.tolist() == ids
    assert (facts["nodes"], facts["nodes_left_out"]) == (len(ids), 3 - len(ids))
    assert facts["dependencies_left_out"] == (2 in ids and 1 not in ids)
    assert facts["file_bytes"] == Path("part.et").stat().st_size


@pytest.mark.parametrize("options", [["--ids", "x"], ["--ids", "1-"], ["--types", "NO_SUCH"], ["--where", "x"]])
def test_slice_refuses(folder: Path, capsys: Capture, options: list[str]) -> None:
    assert main(["slice", "run.0.et", "-o", "part.et", *options]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    assert not Path("part.et").exists()


def test_diff(folder: Path, capsys: Capture) -> None:
    assert main(["diff", "run.0.et", "run.0.et"]) == 0
    assert capsys.readouterr().out == "3 nodes are the same\n"
    assert main(["diff", "run.0.et", "run.1.et", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["changed_nodes"] == {"3": ["name"]}
    assert (found["equal"], found["changed"], found["same"]) == (2, 1, False)
    assert main(["slice", "run.1.et", "--ids", "1,3", "-o", "part.et"]) == 0
    capsys.readouterr()
    assert main(["diff", "run.0.et", "part.et"]) == 1
    out = capsys.readouterr().out
    assert "1 only in run.0.et: 2" in out
    assert "node 3: name" in out
    assert main(["diff", "run.0.et", "absent.et"]) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(traces())
def test_slices_put_together_are_the_whole(tmp_path: Path, whole: tuple[Any, list[Any]]) -> None:
    path, part = tmp_path / "whole.et", tmp_path / "part.et"
    path.write_bytes(file_of([whole[0], *whole[1]]))
    assert main(["slice", str(path), "-o", str(part), "--ids", "0-18446744073709551615"]) == 0
    assert part.read_bytes() == path.read_bytes()
