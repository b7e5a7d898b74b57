# SPDX-License-Identifier: MIT
"""What Python protobuf writes we read equal; whatever it rejects we do not make nodes of."""

from __future__ import annotations

import gzip
import random
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core import proto
from et_records import check_trace, file_of, frame, node_file, parse, split
from et_strategies import traces, unknown_fields


@given(traces())
def test_whole_files_read_as_protobuf_reads_them(trace: tuple[Any, list[Any]]) -> None:
    metadata, messages = trace
    loaded = cc.load(file_of([metadata, *messages]))
    assert len(loaded.load_report) == 0
    check_trace(loaded, metadata, messages)


@given(traces(max_nodes=4), st.lists(unknown_fields(), min_size=4, max_size=4))
def test_unknown_fields_change_nothing_and_stay(trace: tuple[Any, list[Any]], extra: list[bytes]) -> None:
    metadata, messages = trace
    records = [message.SerializeToString() + more for message, more in zip(messages, extra, strict=False)]
    loaded = cc.load(file_of([metadata, *records]))
    check_trace(loaded, metadata, messages)
    assert [loaded.at(row).record for row in range(len(records))] == records


@given(traces(max_nodes=4), st.randoms(use_true_random=False))
def test_fields_in_any_order_and_unpacked(trace: tuple[Any, list[Any]], shuffle: random.Random) -> None:
    """Protobuf parsers must take fields in any order; dependencies may come one by one."""
    metadata, messages = trace
    records = []
    for message in messages:
        parts = [proto.Node(data_deps=[parent]).SerializeToString() for parent in message.data_deps]
        unpacked = [b"\x28" + part[2:] for part in parts]
        rest = proto.Node()
        rest.CopyFrom(message)
        del rest.data_deps[:]
        pieces = [rest.SerializeToString(), *unpacked]
        at = shuffle.randrange(len(pieces))
        records.append(b"".join(pieces[1 : at + 1] + pieces[:1] + pieces[at + 1 :]))
    check_trace(cc.load(file_of([metadata, *records])), metadata, [proto.Node.FromString(record) for record in records])


def try_protobuf(data: bytes) -> tuple[Any, list[Any]] | None:
    try:
        return parse(data)
    except (DecodeError, ValueError, UnicodeDecodeError):
        return None


def check_never_made_up(data: bytes) -> None:
    """Strict: an error, or what protobuf reads. Recovery: only whole records of the file, or changed ones reported."""
    oracle = try_protobuf(data)
    try:
        trace = cc.load(data)
    except (cc.FormatError, cc.DependencyError):
        trace = None
    if trace is not None:
        try:
            for row in range(len(trace)):
                node = trace.at(row)
                _ = node.attributes, node.inputs, node.outputs
        except cc.FormatError:
            trace = None
    if trace is not None:
        # Strings of inputs and outputs that are not UTF-8 read as U+FFFD here, where protobuf gives up.
        if oracle is None:
            shown = [info for row in range(len(trace)) for info in (trace.at(row).inputs, trace.at(row).outputs)]
            assert any("\ufffd" in text for info in shown for text in (info.values, info.shapes, info.types))
        else:
            check_trace(trace, *oracle)
    check_recovery(data)


def check_recovery(data: bytes) -> None:
    kept = cc.load(data, on_error="recover")
    try:
        records = split(data)
    except ValueError:
        records = None
    if records is not None:
        originals = set(records[1:])
        changed = sum(kept.at(row).record not in originals for row in range(len(kept)))
        assert changed <= len(kept.load_report)
    again = cc.load(b"".join([frame(b""), *(frame(kept.at(row).record) for row in range(len(kept)))]))
    assert again.ids.tolist() == kept.ids.tolist()
    assert again.names.to_list() == kept.names.to_list()
    assert again.attr("comm_size").tolist() == kept.attr("comm_size").tolist()


def small_file() -> bytes:
    first = proto.Node(id=1, name="aten::mm", type=proto.COMP_NODE, start_time_micros=7, duration_micros=300)
    first.inputs.values = "[[2, 3]]"
    first.attr.add(name="is_cpu_op").bool_val = True
    first.attr.add(name="num_ops").int64_val = -1
    second = proto.Node(
        id=2**40, name="nccl:all_reduce", type=proto.COMM_COLL_NODE, data_deps=[1], ctrl_deps=[1, 2**40]
    )
    second.attr.add(name="comm_size").uint64_val = 212480
    second.attr.add(name="pg_name").string_val = "dp"
    second.attr.add(name="involved_dim").bool_list.values.extend([True, False])
    second.attr.add(name="weights").float_list.values.extend([0.5, 1.5])
    second.attr.add(name="tags").string_list.values.extend(["a", "b"])
    return node_file(first, b"", second)


def test_truncated_at_every_byte() -> None:
    data = small_file()
    for size in range(len(data) + 1):
        check_never_made_up(data[:size])


def test_every_bit_flipped() -> None:
    data = bytearray(small_file())
    for bit in range(len(data) * 8):
        data[bit // 8] ^= 1 << bit % 8
        check_never_made_up(bytes(data))
        data[bit // 8] ^= 1 << bit % 8


@given(st.data())
def test_random_splices(data: st.DataObject) -> None:
    """Cut pieces out of files, double them, put random bytes between."""
    base = small_file()
    pieces = []
    for _ in range(data.draw(st.integers(1, 5))):
        begin = data.draw(st.integers(0, len(base)))
        end = data.draw(st.integers(begin, len(base)))
        pieces += [base[begin:end], data.draw(st.binary(max_size=6))]
    check_never_made_up(b"".join(pieces))


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_random_records(records: list[bytes]) -> None:
    check_never_made_up(file_of(records))


@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    check_never_made_up(data)


@pytest.mark.parametrize(
    "varint",
    [
        b"\x81\x00",
        b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02",
        b"\xff" * 9 + b"\x7f",
    ],
)
@pytest.mark.parametrize("place", ["value", "key", "length", "list"])
def test_varints_of_unusual_length(varint: bytes, place: str) -> None:
    """Longer than need be, or with bits that no 64-bit number has, wherever a varint may stand."""
    message = {
        "value": b"\x08" + varint,
        "key": b"\x88" + varint[1:] + b"\x05",
        "length": b"\x12" + varint + b"x",
        "list": b"\x12\x01n\x52"
        + bytes([len(varint) + 8])
        + b"\x0a\x01a\x52"
        + bytes([len(varint) + 3])
        + b"\x0a"
        + bytes([len(varint) + 1])
        + b"\x01"
        + varint,
    }[place]
    check_never_made_up(file_of([b"", message]))


def test_gzip_of_every_part() -> None:
    data = small_file()
    whole = cc.load(data)
    for cut in range(len(data) + 1):
        members = gzip.compress(data[:cut], mtime=0) + gzip.compress(data[cut:], mtime=0)
        loaded = cc.load(members)
        assert [loaded.at(row).record for row in range(3)] == [whole.at(row).record for row in range(3)]


def test_gzip_truncated_at_every_byte() -> None:
    compressed = gzip.compress(small_file(), mtime=0)
    for size in range(2, len(compressed)):
        with pytest.raises(cc.FormatError):
            cc.load(compressed[:size])
        kept = cc.load(compressed[:size], on_error="recover")
        assert len(kept) <= 3
        assert not kept.load_report.ok
