# SPDX-License-Identifier: MIT
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from timeline_files import Slice, read_chrome_json, read_perfetto

READERS = {"run.json": read_chrome_json, "run.json.gz": read_chrome_json, "run.pftrace": read_perfetto}
READERS["run.pftrace.gz"] = read_perfetto

each_format = pytest.mark.parametrize(("name", "read"), READERS.items())


@pytest.fixture
def trace() -> cc.Trace:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="step", start_ns=5_000, duration_ns=9_000, attrs={"tid": 7, "is_cpu_op": True})
    builder.add_node(id=2, name="mm", start_ns=6_000, duration_ns=1_001, attrs={"tid": 7, "is_cpu_op": True})
    builder.add_node(id=3, name="gemm", start_ns=7_500, duration_ns=4_000, attrs={"tid": 7, "stream": 20})
    builder.add_node(
        id=4,
        name='all"reduce\nä',
        type="COMM_COLL_NODE",
        start_ns=8_000,
        duration_ns=6_000,
        attrs={"stream": 22, "comm_size": 1 << 40, "comm_type": 0, "pg_name": "tp"},
    )
    builder.add_node(id=5, name="note", type="METADATA_NODE")
    builder.add_node(id=6, name="load", type="MEM_LOAD_NODE", start_ns=9_000, duration_ns=0)
    return builder.build()


@each_format
def test_tracks_names_and_times(
    trace: cc.Trace, tmp_path: Path, name: str, read: Callable[[Path], list[Slice]]
) -> None:
    cc.timeline(trace, tmp_path / name)
    comm = {"node": 4, "comm_size": 1 << 40, "comm_type": "ALL_REDUCE", "pg_name": "tp"}
    assert sorted(read(tmp_path / name), key=lambda one: one.arguments["node"]) == [
        Slice("rank 0", "thread 7", "step", "COMP_NODE", 0, 9_000, 0, {"node": 1}),
        Slice("rank 0", "thread 7", "mm", "COMP_NODE", 1_000, 2_001, 1, {"node": 2}),
        Slice("rank 0", "stream 20", "gemm", "COMP_NODE", 2_500, 6_500, 0, {"node": 3}),
        Slice("rank 0", "stream 22", 'all"reduce\nä', "COMM_COLL_NODE", 3_000, 9_000, 0, comm),
        Slice("rank 0", "MEM_LOAD_NODE", "load", "MEM_LOAD_NODE", 4_000, 4_000, 0, {"node": 6}),
    ]


@each_format
def test_several_ranks_share_time_zero(
    trace: cc.Trace, tmp_path: Path, name: str, read: Callable[[Path], list[Slice]]
) -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="late", start_ns=1_669_783_687_464_181_123, duration_ns=77, attrs={"tid": 1})
    cc.timeline([trace, builder.build()], tmp_path / name)
    last = next(one for one in read(tmp_path / name) if one.process == "rank 1")
    assert (last.track, last.start_ns, last.end_ns) == (
        "thread 1",
        1_669_783_687_464_176_123,
        1_669_783_687_464_176_200,
    )


@each_format
@settings(max_examples=30)
@given(spans=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20), st.integers(0, 2)), min_size=1, max_size=40))
def test_any_overlap_is_kept_in_full(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    read: Callable[[Path], list[Slice]],
    spans: list[tuple[int, int, int]],
) -> None:
    builder = cc.TraceBuilder()
    for number, (start, duration, stream) in enumerate(spans):
        builder.add_node(id=number, start_ns=start, duration_ns=duration, attrs={"stream": stream})
    path = tmp_path_factory.mktemp("overlap") / name
    cc.timeline(builder.build(), path)
    origin = min(start for start, _, _ in spans)
    drawn = {one.arguments["node"]: (one.start_ns, one.end_ns - one.start_ns, one.track) for one in read(path)}
    expected = [(start - origin, duration, f"stream {stream}") for start, duration, stream in spans]
    assert [drawn[number] for number in range(len(spans))] == expected


def test_formats_agree(trace: cc.Trace, tmp_path: Path) -> None:
    slices = []
    for name, read in READERS.items():
        cc.timeline(trace, tmp_path / name)
        slices.append(sorted(read(tmp_path / name), key=lambda one: one.arguments["node"]))
    assert all(one == slices[0] for one in slices)


def test_a_trace_without_times_is_refused(tmp_path: Path) -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="a")
    with pytest.raises(cc.ChakraError, match="no node has a recorded time"):
        cc.timeline(builder.build(), tmp_path / "run.json")
    assert not list(tmp_path.iterdir())


def test_progress_counts_slices(trace: cc.Trace, tmp_path: Path) -> None:
    progress = cc.Progress()
    cc.timeline(trace, tmp_path / "run.json", progress=progress)
    assert (progress.done, progress.total) == (5, 5)
    progress.cancel()
    with pytest.raises(cc.Cancelled):
        cc.timeline(trace, tmp_path / "other.json", progress=progress)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_unwritable_target_is_an_os_error(trace: cc.Trace, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cc.timeline(trace, tmp_path / "none" / "run.json")
