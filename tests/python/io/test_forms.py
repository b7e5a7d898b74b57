# SPDX-License-Identifier: MIT
"""One trace in every form of file: records and JSON, plain and compressed, from paths, buffers and remote places."""

from __future__ import annotations

import gzip
import io
import json
import math
import mmap
import shutil
import subprocess
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core import _core, proto
from et_records import file_of, node_file, parse, read_bytes
from et_strategies import traces
from shared_data import SHARED, needs

needs_zstd = pytest.mark.skipif(not _core.has_zstd(), reason="built without zstd")
RECORD_NAMES = ["a.et", "a.et.gz", pytest.param("a.et.zst", marks=needs_zstd)]
JSON_NAMES = ["a.json", "a.json.gz", pytest.param("a.json.zst", marks=needs_zstd)]
FILE = node_file(
    proto.Node(id=1, name="a", duration_micros=3, attr=[proto.AttributeProto(name="comm_size", int64_val=7)]),
    proto.Node(id=2, name="caf\u00e9", type=7, data_deps=[1], inputs=proto.IOInfo(values="[1]")),
)


def records_of(trace: cc.Trace) -> list[bytes]:
    return [trace.at(row).record for row in range(len(trace))]


def without_nan_bits(attributes: Any) -> None:
    """JSON has one NaN only."""
    for attribute in attributes:
        arm = attribute.WhichOneof("value")
        if arm in ("double_val", "float_val") and math.isnan(getattr(attribute, arm)):
            setattr(attribute, arm, math.nan)
        elif arm in ("double_list", "float_list"):
            values = getattr(attribute, arm).values
            values[:] = [math.nan if math.isnan(value) else value for value in values]


def as_json_keeps_it(message: Any, start_ns: int, duration_ns: int) -> bytes:
    """A node but for what docs/formats.md says JSON cannot hold."""
    kept = proto.Node()
    kept.CopyFrom(message)
    kept.DiscardUnknownFields()
    for which in ("inputs", "outputs"):
        if getattr(kept, which) == proto.IOInfo():
            kept.ClearField(which)
    kept.start_time_micros = (start_ns + 500) // 1000
    kept.duration_micros = (duration_ns + 500) // 1000
    without_nan_bits(kept.attr)
    return bytes(kept.SerializeToString(deterministic=True))


@settings(max_examples=40)
@given(traces())
@pytest.mark.parametrize("name", RECORD_NAMES)
def test_records_come_back_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, name: str, trace: Any) -> None:
    path = tmp_path_factory.mktemp("forms") / name
    metadata, messages = trace
    data = file_of([metadata, *messages])
    loaded = cc.load(data)
    cc.save(loaded, path, level=1)
    again = cc.load(path)
    assert records_of(again) == records_of(loaded) == [message.SerializeToString() for message in messages]
    assert again.metadata.version == metadata.version
    assert len(again.metadata.attributes) == len(metadata.attr)


@settings(max_examples=150)
@given(traces())
@pytest.mark.parametrize("name", ["a.json"])
def test_json_keeps_all_that_the_schema_names(tmp_path_factory: pytest.TempPathFactory, name: str, trace: Any) -> None:
    path = tmp_path_factory.mktemp("forms") / name
    metadata, messages = trace
    loaded = cc.load(file_of([metadata, *messages]))
    cc.save(loaded, path)
    again = cc.load(path)
    for row, message in enumerate(messages):
        back = proto.Node.FromString(again.at(row).record)
        without_nan_bits(back.attr)
        expected = as_json_keeps_it(message, int(loaded.start_ns[row]), int(loaded.duration_ns[row]))
        assert bytes(back.SerializeToString(deterministic=True)) == expected
    assert again.start_ns.tolist() == loaded.start_ns.tolist()
    assert again.duration_ns.tolist() == loaded.duration_ns.tolist()
    assert again.metadata.version == metadata.version
    assert len(again.metadata.attributes) == len(metadata.attr)


@settings(max_examples=60)
@given(traces())
def test_json_is_what_python_reads_and_its_attributes_what_protobuf_reads(
    tmp_path_factory: pytest.TempPathFactory, trace: Any
) -> None:
    path = tmp_path_factory.mktemp("forms") / "a.json"
    metadata, messages = trace
    cc.save(cc.load(file_of([metadata, *messages])), path)
    document = json.loads(path.read_text())
    for node, message in zip(document["workload_graph"], messages, strict=True):
        assert (node["Id"], node["Name"], node["NodeType"]) == (message.id, message.name, message.type)
        assert node["data_deps"] == list(message.data_deps)
        if "attr" in node:
            parsed = json_format.ParseDict({"attr": node["attr"]}, proto.Node())
            expected = proto.Node(attr=message.attr)
            without_nan_bits(parsed.attr)
            without_nan_bits(expected.attr)
            assert parsed.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)


def chain(nodes: int) -> bytes:
    return node_file(
        *(
            proto.Node(id=i, name=f"op {i % 50}", data_deps=[i // 2] if i > 1 else [], duration_micros=i * 7919 % 1000)
            for i in range(1, nodes + 1)
        )
    )


@pytest.mark.parametrize("name", [*RECORD_NAMES, *JSON_NAMES])
def test_every_form_gives_the_same_columns(tmp_path: Path, name: str) -> None:
    whole = cc.load(chain(20_000))
    cc.save(whole, tmp_path / name)
    again = cc.load(tmp_path / name)
    for column in ("ids", "types", "start_ns", "duration_ns"):
        assert np.array_equal(getattr(again, column), getattr(whole, column))
    assert again.names.to_list() == whole.names.to_list()
    assert np.array_equal(again.data_deps.indices, whole.data_deps.indices)
    assert records_of(again) == records_of(whole)


@pytest.mark.parametrize("name", RECORD_NAMES[1:])
def test_truncated_and_damaged_compression_never_makes_a_node_up(tmp_path: Path, name: str) -> None:
    whole = records_of(cc.load(FILE))
    cc.save(cc.load(FILE), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    header = 10 if name.endswith(".gz") else 4
    for size in range(header, len(data)):
        with pytest.raises(cc.FormatError, match="truncated"):
            cc.load(data[:size])
        kept = cc.load(data[:size], on_error="recover")
        assert records_of(kept) == whole[: len(kept)]
        assert not kept.load_report.ok
    for bit in range(header * 8, len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert records_of(cc.load(bytes(damaged))) == whole
        except cc.ChakraError:
            kept = cc.load(bytes(damaged), on_error="recover")
            assert not kept.load_report.ok


@needs_zstd
def test_zstd_of_other_programs(tmp_path: Path) -> None:
    program = shutil.which("zstd")
    if program is None:
        pytest.skip("the program zstd is not installed")
    data = chain(5000)
    (tmp_path / "a.et").write_bytes(data[: len(data) // 3])
    (tmp_path / "b.et").write_bytes(data[len(data) // 3 :])
    for name in ("a", "b"):
        subprocess.run([program, "-q", "--long=27", str(tmp_path / f"{name}.et")], check=True)
    frames = (tmp_path / "a.et.zst").read_bytes() + (tmp_path / "b.et.zst").read_bytes()
    assert records_of(cc.load(frames)) == records_of(cc.load(data))
    cc.save(cc.load(data), tmp_path / "c.et.zst", level=5)
    written = subprocess.run([program, "-dcq", str(tmp_path / "c.et.zst")], check=True, capture_output=True)
    assert written.stdout == data


def test_a_limit_on_what_compressed_files_inflate_to(tmp_path: Path) -> None:
    bomb = gzip.compress(node_file(*(proto.Node(id=i, name="n" * 1000) for i in range(5000))))
    with pytest.raises(cc.FormatError, match="limit of 1000000 bytes"):
        cc.load(bomb, max_bytes=1_000_000)
    kept = cc.load(bomb, max_bytes=1_000_000, on_error="recover")
    assert 0 < len(kept) < 1000
    assert len(cc.load(bomb, max_bytes=10_000_000)) == 5000


def test_memory_of_a_compressed_trace_is_its_inflated_size_once() -> None:
    data = chain(50_000)
    plain, compressed = cc.load(data), cc.load(gzip.compress(data, 1))
    assert compressed.memory_bytes < plain.memory_bytes + 1.05 * len(data)


def test_progress_of_a_compressed_file_counts_its_own_bytes() -> None:
    compressed = gzip.compress(chain(50_000), 1)
    progress = cc.Progress()
    cc.load(compressed, progress=progress)
    assert progress.done == progress.total == len(compressed)
    progress.cancel()
    with pytest.raises(cc.Cancelled):
        cc.load(compressed, progress=progress)


class TestBuffers:
    @pytest.mark.parametrize("data", [FILE, gzip.compress(FILE)], ids=["plain", "gzip"])
    def test_any_buffer(self, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "a").write_bytes(data)
        expected = records_of(cc.load(FILE))
        with (tmp_path / "a").open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        for source in (
            data,
            bytearray(data),
            memoryview(data),
            np.frombuffer(data, np.uint8),
            mapped,
            io.BytesIO(data),
        ):
            assert records_of(cc.load(source)) == expected

    def test_a_read_only_buffer_is_used_in_place_and_kept(self) -> None:
        array = np.frombuffer(node_file(*(proto.Node(id=i, name="n" * 500) for i in range(2000))), np.uint8).copy()
        array.flags.writeable = False
        watched = weakref.ref(array)
        trace = cc.load(array)
        assert trace.memory_bytes < array.nbytes / 2
        expected = bytes(trace.at(1999).record)
        del array
        assert watched() is not None
        assert trace.at(1999).record == expected
        del trace
        assert watched() is None

    def test_other_objects_are_refused(self) -> None:
        with pytest.raises(TypeError, match="not int"):
            cc.load(3)  # type: ignore[call-overload]


class TestJson:
    def test_upstream_members(self) -> None:
        node = {"Id": 5, "Name": "x", "NodeType": 7, "runtime": 9, "data_deps": [], "is_cpu_op": False, "comm_type": 2}
        trace = cc.load(json.dumps({"workload_graph": [node | {"ctrlDeps": [1]}], "ngpus": 8}).encode())
        assert trace.ids.tolist() == [5]
        assert trace.duration_ns.tolist() == [9000]
        assert trace.attr("comm_type").tolist() == [2]
        assert trace.ctrl_deps.indices.tolist() == []
        assert [(attribute.name, attribute.value) for attribute in trace.metadata.attributes] == [("ngpus", 8)]

    def test_other_json_is_told_apart(self) -> None:
        for document, what in (
            ({"traceEvents": []}, "device traces"),
            ({"schema": "1.1.1", "nodes": []}, "host traces"),
            ({"a": 1}, "workload_graph"),
        ):
            data = json.dumps(document).encode()
            for form in (data, gzip.compress(data)):
                with pytest.raises(cc.FormatError, match=what):
                    cc.load(form)
                kept = cc.load(form, on_error="recover")
                assert (len(kept), kept.load_report.ok) == (0, False)

    def test_errors_have_line_and_offset(self) -> None:
        data = b'{"workload_graph": [\n{"Id": 1},\n{"Id": 2, "runtime": "soon"}\n]}'
        with pytest.raises(cc.FormatError, match=r"node 2: .*runtime.*line 3") as caught:
            cc.load(data)
        assert caught.value.record == 2
        assert caught.value.offset == data.index(b'"soon"')

    @needs(SHARED)
    @pytest.mark.parametrize("path", sorted((SHARED / "data" / "et").glob("*.json.gz")), ids=lambda path: path.name)
    def test_real_files(self, tmp_path: Path, path: Path) -> None:
        theirs = json.loads(gzip.decompress(path.read_bytes()))["workload_graph"]
        trace = cc.load(path)
        cc.save(trace, tmp_path / "a.et.gz")
        for ours in (trace, cc.load(tmp_path / "a.et.gz")):
            assert ours.ids.tolist() == [node["Id"] for node in theirs]
            assert ours.names.to_list() == [node["Name"] for node in theirs]
            assert ours.types.tolist() == [node["NodeType"] for node in theirs]
            assert ours.duration_ns.tolist() == [node.get("runtime", 0) * 1000 for node in theirs]
            for row, node in enumerate(theirs):
                assert ours.at(row).data_deps.tolist() == node["data_deps"]


@needs(SHARED)
@pytest.mark.parametrize(
    "path", sorted([*(SHARED / "data" / "et").rglob("*.et"), *(SHARED / "data" / "et").rglob("*.et.gz")]), ids=str
)
def test_real_traces_survive_json(tmp_path: Path, path: Path) -> None:
    _, messages = parse(read_bytes(path))
    loaded = cc.load(path, on_error="recover")
    cc.save(loaded, tmp_path / "a.json.gz", level=1)
    again = cc.load(tmp_path / "a.json.gz")
    assert len(again) == len(messages)
    for row in range(len(loaded)):
        message = proto.Node.FromString(loaded.at(row).record)
        expected = as_json_keeps_it(message, int(loaded.start_ns[row]), int(loaded.duration_ns[row]))
        back = proto.Node.FromString(again.at(row).record)
        assert bytes(back.SerializeToString(deterministic=True)) == expected


def test_schema_version_is_chosen_and_nothing_else_changes(tmp_path: Path) -> None:
    trace = cc.load(FILE)
    for name in ("a.et", "a.json"):
        cc.save(trace, tmp_path / name, schema_version="1.0.0")
        again = cc.load(tmp_path / name)
        assert again.metadata.version == "1.0.0"
        assert records_of(again) == records_of(trace)
    with pytest.raises(cc.ChakraError, match=r"0\.0\.3 cannot be written"):
        cc.save(trace, tmp_path / "b.et", schema_version="0.0.3")
    assert not (tmp_path / "b.et").exists()


def test_form_and_compression_against_the_name(tmp_path: Path) -> None:
    trace = cc.load(FILE)
    cc.save(trace, tmp_path / "a.txt", form="json", compression="gzip", level=9)
    assert json.loads(gzip.decompress((tmp_path / "a.txt").read_bytes()))["version"] == "0.0.4"
    cc.save(trace, tmp_path / "b.json", form="records", compression="none")
    assert (tmp_path / "b.json").read_bytes() == FILE
    with pytest.raises(ValueError, match="form"):
        cc.save(trace, tmp_path / "c", form="xml")  # type: ignore[arg-type]


class TestRuns:
    @pytest.fixture
    def run(self, tmp_path: Path) -> Path:
        for rank in range(4):
            name = f"run.{rank}.et.gz" if rank % 2 else f"run.{rank}.et"
            cc.save(cc.load(node_file(proto.Node(id=rank // 2 * 2))), tmp_path / name)
        return tmp_path

    def test_folder_glob_and_list(self, run: Path) -> None:
        paths = [run / "run.0.et", run / "run.1.et.gz", str(run / "run.2.et"), run / "run.3.et.gz"]
        for source in (run, str(run), str(run / "run.*"), paths, tuple(paths), dict(enumerate(paths))):
            loaded = cc.load(source)
            assert [trace.ids.tolist() for trace in loaded] == [[0], [0], [2], [2]]
        assert [trace.ids[0] for trace in cc.load_run(run, 4)] == [0, 0, 2, 2]
        with pytest.raises(cc.ConfigError, match="no traces given"):
            cc.load([])

    def test_percent_d(self, run: Path) -> None:
        with pytest.raises(cc.ConfigError, match="1 missing"):
            cc.load(str(run / "run.%d.et"))
        shutil.copy(run / "run.0.et", run / "run.1.et")
        shutil.copy(run / "run.2.et", run / "run.3.et")
        for name in ("run.%d.et", "run"):
            loaded = cc.load(str(run / name))
            assert [trace.ids[0] for trace in loaded] == [0, 0, 2, 2]

    def test_files_of_the_same_bytes_are_loaded_once(self, tmp_path: Path) -> None:
        one, other = chain(3000), chain(3001)
        same_size = bytearray(one)
        same_size[len(one) // 3] ^= 1
        for rank, data in enumerate((one, other, one, one, bytes(same_size))):
            (tmp_path / f"r.{rank}.et").write_bytes(data)
        loaded = cc.load_run(tmp_path / "r.%d.et", on_error="recover")
        assert loaded[0] is loaded[2] is loaded[3]
        assert len({id(trace) for trace in loaded}) == 3

    def test_an_existing_file_with_odd_letters_is_that_file(self, tmp_path: Path) -> None:
        path = tmp_path / "run[1].%d.et"
        path.write_bytes(FILE)
        assert cc.load(path).ids.tolist() == [1, 2]


class TestRemote:
    @pytest.fixture(autouse=True)
    def _files(self) -> Any:
        fsspec = pytest.importorskip("fsspec")
        system = fsspec.filesystem("memory")
        for rank in range(3):
            system.pipe(f"/forms/run.{rank}.et.gz", gzip.compress(node_file(proto.Node(id=rank))))
        yield system
        system.rm("/forms", recursive=True)

    def test_one_file(self) -> None:
        trace = cc.load("memory://forms/run.1.et.gz")
        assert (trace.ids.tolist(), trace.source) == ([1], "memory://forms/run.1.et.gz")
        with pytest.raises(FileNotFoundError):
            cc.load("memory://forms/absent.et")

    @pytest.mark.parametrize("name", ["run.%d.et.gz", "run.*.et.gz", ""])
    def test_a_run(self, name: str) -> None:
        loaded = cc.load(f"memory://forms/{name}")
        assert [trace.ids.tolist() for trace in loaded] == [[0], [1], [2]]

    def test_saving(self) -> None:
        cc.save(cc.load(FILE), "memory://forms/new.json.gz")
        assert cc.load("memory://forms/new.json.gz").ids.tolist() == [1, 2]


def test_remote_paths_without_fsspec_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(cc.ChakraError, match="need the package fsspec"):
        cc.load("s3://bucket/run.0.et")


@settings(max_examples=60)
@given(st.binary(max_size=60))
def test_no_bytes_after_a_brace_crash(data: bytes) -> None:
    for start in (b'{"workload_graph": [{"Id": 1', b"{"):
        try:
            cc.load(start + data)
        except cc.ChakraError:
            assert isinstance(cc.load(start + data, on_error="recover"), cc.Trace)
