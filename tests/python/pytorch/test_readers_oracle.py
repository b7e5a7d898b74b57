# SPDX-License-Identifier: MIT
"""The readers of host and device traces against json.load and plain Python, on every real trace at hand."""

from __future__ import annotations

import gzip
import json
import os
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from chakra_core import _core

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("CHAKRA_CORE_SHARED", ROOT.parent / "shared")) / "data"
PAIRS = sorted(SHARED.glob("pairs/*"))
HOST_FILES = [pair / "host.json.gz" for pair in PAIRS] + sorted(SHARED.glob("host/*.json.gz"))
DEVICE_FILES = [pair / "kineto.json.gz" for pair in PAIRS] + sorted(SHARED.glob("kineto/*.json.gz"))
NO_STREAM = -(2**63)
NO_HOST_ID = 2**64 - 1
ABSENT = 0xFFFFFFFF
KINDS = ["cpu_op", "user_annotation", "runtime_call", "kernel", "memcpy", "memset", "sync"]

pytestmark = pytest.mark.skipif(not PAIRS, reason=f"no real traces in {SHARED}")


class ExactFloat(float):
    """A float that remembers its decimal text."""

    text: str

    def __new__(cls, text: str) -> ExactFloat:
        number = super().__new__(cls, text)
        number.text = text
        return number


def load(path: Path) -> Any:
    with gzip.open(path) as file:
        return json.loads(file.read(), parse_float=ExactFloat)


def name_of(path: Path) -> str:
    return str(path.relative_to(SHARED))


def nanoseconds(value: Any) -> int:
    text = value.text if isinstance(value, ExactFloat) else str(value)
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_UP))


def strings_of(trace: Any) -> list[str | None]:
    return list(trace.strings)


def resolve(strings: list[str | None], column: Any) -> list[str | None]:
    return [None if index == ABSENT else strings[index] for index in column.tolist()]


# ---- host


def host_io(node: dict[str, Any], side: str) -> list[str | None]:
    value = node.get(side + "s")
    if isinstance(value, dict):
        return [str(value[key]) if key in value else None for key in ("values", "shapes", "types")]
    rest = [node.get(f"{side}_{key}") for key in ("shapes", "types")]
    return [None if each is None else str(each) for each in [value, *rest]]


FIELDS = ("rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid", "op_schema")


def host_fields(node: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str, str]]]:
    fields = {key: node[key] for key in FIELDS if key in node}
    others = []
    for attribute in node.get("attrs", []):
        if attribute["name"] in FIELDS:
            fields[attribute["name"]] = attribute["value"]
        else:
            value = attribute["value"]
            others.append(
                (attribute["name"], attribute["type"], value if isinstance(value, str) else json.dumps(value))
            )
    return fields, others


@pytest.mark.parametrize("path", HOST_FILES, ids=name_of)
def test_host_trace_equals_json_load(path: Path) -> None:
    expected = load(path)
    for on_error in ("strict", "recover"):
        check_host_trace(_core.read_host_trace(path, on_error=on_error), expected)


def check_host_trace(trace: Any, expected: dict[str, Any]) -> None:
    assert trace.schema == expected["schema"]
    assert trace.pid == expected["pid"]
    assert trace.time == expected["time"]
    assert trace.start_ts == expected["start_ts"]
    assert trace.finish_ts == expected.get("finish_ts", -1)
    assert trace.report == []
    nodes = expected["nodes"]
    assert len(trace) == len(nodes)

    strings = strings_of(trace)
    columns = trace.nodes()
    assert columns["id"].tolist() == [node["id"] for node in nodes]
    assert columns["parent"].tolist() == [node.get("ctrl_deps", node.get("parent", NO_HOST_ID)) for node in nodes]
    assert resolve(strings, columns["name"]) == [node["name"] for node in nodes]
    fields = [host_fields(node) for node in nodes]
    for key in FIELDS[:-1]:
        assert columns[key].tolist() == [each[key] for each, _ in fields], key
    assert resolve(strings, columns["op_schema"]) == [each.get("op_schema") for each, _ in fields]
    for side in ("input", "output"):
        wanted = [host_io(node, side) for node in nodes]
        for position, key in enumerate(("values", "shapes", "types")):
            assert resolve(strings, columns[f"{side}_{key}"]) == [each[position] for each in wanted], (side, key)

    attributes = trace.attributes()
    flat = list(zip(*(resolve(strings, attributes[key]) for key in ("name", "type", "value")), strict=True))
    for first, count, (_, others) in zip(
        columns["first_attribute"].tolist(), columns["attribute_count"].tolist(), fields, strict=True
    ):
        assert flat[first : first + count] == others


# ---- device


def kind_of(event: dict[str, Any]) -> str | None:
    if event.get("ph") != "X":
        return None
    category = event.get("cat", "").lower()
    if category in ("runtime",) or category.endswith(("_runtime", "_driver")):
        return "runtime_call"
    return {
        "operator": "cpu_op",
        "cpu_op": "cpu_op",
        "user_annotation": "user_annotation",
        "kernel": "kernel",
        "gpu_memcpy": "memcpy",
        "memcpy": "memcpy",
        "gpu_memset": "memset",
        "memset": "memset",
        "cuda_sync": "sync",
    }.get(category)


def arguments_of(event: dict[str, Any]) -> dict[str, Any]:
    return {key.lower(): value for key, value in (event.get("args") or {}).items()}


def stream_of(value: Any) -> int:
    if value is None:
        return NO_STREAM
    try:
        stream = int(value)
    except ValueError:
        return NO_STREAM
    return -1 if stream == 4294967295 else stream


def text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


OP_KEYS = {
    "input_dims": "input dims",
    "input_types": "input type",
    "concrete_inputs": "concrete inputs",
    "sequence_number": "sequence number",
    "forward_thread": "fwd thread id",
}
COMM_KEYS = {
    "collective_name": "collective name",
    "dtype": "dtype",
    "in_elements": "in msg nelems",
    "out_elements": "out msg nelems",
    "in_split": "in split size",
    "out_split": "out split size",
    "group_size": "group size",
    "group_name": "process group name",
    "group_description": "process group description",
    "group_ranks": "process group ranks",
    "global_rank_start": "global rank start",
    "global_rank_stride": "global rank stride",
    "sequence": "seq",
    "rank": "rank",
    "source_rank": "src rank",
    "destination_rank": "dst rank",
}
TEXT_COLUMNS = {
    "input_dims",
    "input_types",
    "concrete_inputs",
    "collective_name",
    "dtype",
    "in_split",
    "out_split",
    "group_name",
    "group_description",
    "group_ranks",
}


def rows_of(columns: dict[str, Any], strings: list[str | None]) -> list[dict[str, Any]]:
    """Turn columns into one dictionary a row, strings resolved."""
    lists = {
        key: resolve(strings, column) if key in TEXT_COLUMNS else column.tolist() for key, column in columns.items()
    }
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def expected_row(arguments: dict[str, Any], keys: dict[str, str]) -> dict[str, Any] | None:
    """Return what the reader should make of the arguments, or None if it has none of them."""
    known = {**arguments}
    if "process group id" in known:
        known.setdefault("process group name", str(known["process group id"]))
    if not any(key in known for key in keys.values()):
        return None
    row: dict[str, Any] = {}
    for column, key in keys.items():
        if column in TEXT_COLUMNS:
            row[column] = text_or_none(known.get(key))
        else:
            row[column] = known.get(key, -1)
    return row


def expected_sync(arguments: dict[str, Any]) -> dict[str, Any]:
    event = arguments.get("wait_on_cuda_event_id", -1)
    record = arguments.get("wait_on_cuda_event_record_corr_id", 0)
    return {
        "kind": arguments.get("cuda_sync_kind"),
        "wait_on_stream": stream_of(arguments.get("wait_on_stream")),
        "wait_on_record": 0 if record in (-1, 4294967295) else record,
        "wait_on_event": -1 if event == 4294967295 else event,
    }


@pytest.mark.parametrize("path", DEVICE_FILES, ids=name_of)
def test_device_trace_equals_json_load(path: Path) -> None:
    expected = load(path)
    trace = _core.read_device_trace(path)
    strings = strings_of(trace)
    columns = trace.events()

    kept = [(kind, event) for event in expected["traceEvents"] if (kind := kind_of(event)) is not None]
    assert [KINDS[kind] for kind in columns["kind"].tolist()] == [kind for kind, _ in kept]
    events = [event for _, event in kept]
    assert columns["start_ns"].tolist() == [nanoseconds(event["ts"]) for event in events]
    assert columns["duration_ns"].tolist() == [nanoseconds(event.get("dur", 0)) for event in events]
    assert resolve(strings, columns["name"]) == [event["name"] for event in events]

    threads = trace.threads()
    pids, tids = resolve(strings, threads["pid"]), resolve(strings, threads["tid"])
    assert [(pids[row], tids[row]) for row in columns["thread"].tolist()] == [
        (str(event["pid"]), str(event["tid"])) for event in events
    ]

    arguments = [arguments_of(event) for event in events]
    for column, key in (
        ("external_id", "external id"),
        ("record_function_id", "record function id"),
        ("correlation", "correlation"),
    ):
        assert columns[column].tolist() == [each.get(key, 0) for each in arguments], column
    assert columns["stream"].tolist() == [stream_of(each.get("stream")) for each in arguments]
    assert columns["device"].tolist() == [
        -1 if each.get("device", -1) == 4294967295 else each.get("device", -1) for each in arguments
    ]

    ops = rows_of(trace.ops(), strings)
    for row, kind, each in zip(columns["op"].tolist(), columns["kind"].tolist(), arguments, strict=True):
        wanted = expected_row(each, OP_KEYS) if KINDS[kind] in ("cpu_op", "user_annotation") else None
        assert (None if row == ABSENT else ops[row]) == wanted
    communications = rows_of(trace.communications(), strings)
    for row, each in zip(columns["comm"].tolist(), arguments, strict=True):
        assert (None if row == ABSENT else communications[row]) == expected_row(each, COMM_KEYS)
    sync_columns = trace.syncs()
    sync_kinds = resolve(strings, sync_columns.pop("kind"))
    syncs = [{"kind": kind, **row} for kind, row in zip(sync_kinds, rows_of(sync_columns, strings), strict=True)]
    for row, (kind, _), each in zip(columns["sync"].tolist(), kept, arguments, strict=True):
        assert (None if row == ABSENT else syncs[row]) == (expected_sync(each) if kind == "sync" else None)


@pytest.mark.parametrize("path", DEVICE_FILES, ids=name_of)
def test_what_surrounds_the_device_events_equals_json_load(path: Path) -> None:
    expected = load(path)
    trace = _core.read_device_trace(path, on_error="recover")
    strings = strings_of(trace)
    assert len(trace) == sum(kind_of(event) is not None for event in expected["traceEvents"])
    assert {what for what, _, _ in trace.report} <= {"kernel with timestamp 0"}
    assert trace.trace_name == expected.get("traceName", "")
    assert trace.base_time_ns == expected.get("baseTimeNanoseconds", -1)
    info = expected.get("distributedInfo", {})
    assert trace.backend == info.get("backend", "")
    assert trace.rank == info.get("rank", -1)
    assert trace.world_size == info.get("world_size", -1)
    assert trace.groups == [
        (
            group["pg_name"],
            group.get("pg_desc", ""),
            group.get("backend_config", ""),
            group.get("pg_size", -1),
            group.get("ranks", []),
        )
        for group in info.get("pg_config", [])
    ]

    flows = trace.flows()
    threads = trace.threads()
    pids, tids = resolve(strings, threads["pid"]), resolve(strings, threads["tid"])
    found = [
        (time, identity, pids[thread], tids[thread], bool(finish))
        for time, identity, thread, finish in zip(
            *(flows[key].tolist() for key in ("time_ns", "id", "thread", "finish")), strict=True
        )
    ]
    assert found == [
        (nanoseconds(event["ts"]), event["id"], str(event["pid"]), str(event["tid"]), event["ph"] == "f")
        for event in expected["traceEvents"]
        if event.get("cat") == "fwdbwd" and event["ph"] in "sf"
    ]


@pytest.mark.parametrize("pair", PAIRS, ids=name_of)
def test_the_wrong_kind_of_trace_is_named(pair: Path) -> None:
    with pytest.raises(_core.FormatError, match=r"this is a device trace \(Kineto"):
        _core.read_host_trace(pair / "kineto.json.gz")
    with pytest.raises(_core.FormatError, match=r"this is a host trace \(ExecutionTraceObserver"):
        _core.read_device_trace(pair / "host.json.gz")
