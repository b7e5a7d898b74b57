# SPDX-License-Identifier: MIT
"""Host and device traces find each other, by what stands in them and by their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batch_files import write_device, write_host
from chakra_core.batch.pairing import Pair, pair_files
from chakra_core.batch.sources import Sources
from chakra_core.batch.trace_files import TraceFile, look_at, rank_in_name


def items(*inputs: str, **options: object) -> dict[int | None, tuple[str | None, str | None, str | None]]:
    found = Sources(inputs, **options).items("pairs")  # type: ignore[arg-type]
    return {one.rank: (one.inputs.get("host"), one.inputs.get("device"), one.problem) for one in found}


def test_rank_inside_wins_over_the_name(folder: Path) -> None:
    for rank in range(4):
        write_host(folder / f"t/host.{rank}.json")
        # The names of the device traces say another rank than what stands in them.
        write_device(folder / f"t/kineto.{3 - rank}.json.gz", rank=rank)
    assert items("t") == {rank: (f"t/host.{rank}.json", f"t/kineto.{3 - rank}.json.gz", None) for rank in range(4)}


@pytest.mark.parametrize(
    ("host", "device"),
    [
        ("rank{}.host.json", "rank{}.kineto.json"),
        ("host_{}.json.gz", "kineto_{}.json"),
        ("et/rank-{}.json", "kineto/rank-{}.json"),
        ("rank{}/host.json", "rank{}/kineto.json"),
        ("pytorch_et_{}.json", "worker.{}.pt.trace.json.gz"),
        ("{}.json", "trace-{}.pt.trace.json"),
    ],
)
def test_rank_by_name(folder: Path, host: str, device: str) -> None:
    for rank in (0, 1, 2, 10, 11):
        write_host(folder / "t" / host.format(rank))
        write_device(folder / "t" / device.format(rank))
    expected = {rank: (f"t/{host.format(rank)}", f"t/{device.format(rank)}", None) for rank in (0, 1, 2, 10, 11)}
    assert items("t") == expected


def test_process_where_no_rank_is_known(folder: Path) -> None:
    for pid, letter in ((100, "a"), (200, "b")):
        write_host(folder / f"t/{letter}-host.json", pid=pid)
        write_device(folder / f"t/{letter}-device.json", pid=300 - pid)
    found = Sources("t").items("pairs")
    assert sorted((one.inputs["host"], one.inputs["device"]) for one in found) == [
        ("t/a-host.json", "t/b-device.json"),
        ("t/b-host.json", "t/a-device.json"),
    ]


def test_alone_in_a_folder(folder: Path) -> None:
    for name in ("first", "second"):
        write_host(folder / f"t/{name}/host.json")
        write_device(folder / f"t/{name}/kineto.json", rank=0)
    found = Sources("t").items("pairs")
    assert [(one.folder, one.stem, one.problem) for one in found] == [
        ("first", "first", None),
        ("second", "second", None),
    ]


def test_what_has_no_partner(folder: Path) -> None:
    write_host(folder / "t/host.0.json")
    write_device(folder / "t/kineto.1.json", rank=1)
    write_device(folder / "t/again.1.json", rank=1)
    problems = {one.name: one.problem or "" for one in Sources("t").items("pairs")}
    assert problems["t/host.0.json"].startswith("rank 0 has no device trace")
    assert problems["t/kineto.1.json"].startswith("rank 1 has several files of one kind: ")
    assert [one.problem for one in Sources("t", unpaired="use").items("pairs")] == [None] * 3
    (folder / "t/again.1.json").unlink()
    write_host(folder / "t/host.1.json")
    assert [one.rank for one in Sources("t", unpaired="skip").items("pairs")] == [1]


def test_patterns_of_both_sides(folder: Path) -> None:
    for rank in range(3):
        write_host(folder / f"a{rank}.json")
        write_device(folder / f"b{rank}.json", rank=rank)
    found = Sources(host="a%d.json", device="b*.json").items("pairs")
    # Nothing tells the rank of a0.json: the number is part of a word, but the process is the same for all, too.
    assert all(one.problem for one in found)
    for rank in range(3):
        (folder / f"a{rank}.json").rename(folder / f"a.{rank}.json")
    found = Sources(host="a.%d.json", device="b*.json").items("pairs")
    assert [(one.rank, one.problem) for one in found] == [(0, None), (1, None), (2, None)]


def test_file_that_cannot_be_read_is_a_failed_item(folder: Path) -> None:
    write_host(folder / "t/host.0.json")
    (folder / "t/kineto.0.json.gz").write_bytes(b"\x1f\x8b\x08\x00broken")
    found = {one.name: one.problem for one in Sources("t").items("pairs")}
    assert found["t/kineto.0.json.gz"]
    assert look_at("t/none.json", {}).problem


def test_names() -> None:
    assert rank_in_name("s3://bucket/rank12/host.json") == 12
    assert rank_in_name("host.1074.1695835535.pt.trace.json") is None
    assert rank_in_name("a/b/trace.json") is None
    assert rank_in_name("model7b.json") is None


@given(
    ranks=st.lists(st.integers(0, 99_999), unique=True, min_size=1, max_size=20),
    orders=st.tuples(st.randoms(use_true_random=False), st.randoms(use_true_random=False)),
    folders=st.booleans(),
)
def test_every_rank_finds_its_own(ranks: list[int], orders: tuple[object, object], folders: bool) -> None:
    hosts = [TraceFile(f"{f'h{rank}/' if folders else ''}host.{rank}.json", "host", rank) for rank in ranks]
    devices = [TraceFile(f"{f'd{rank}/' if folders else ''}k{rank}.json", "device", rank) for rank in ranks]
    for side, order in zip((hosts, devices), orders, strict=True):
        order.shuffle(side)  # type: ignore[attr-defined]
    pairs = pair_files(hosts, devices)
    assert [pair.rank for pair in pairs] == sorted(ranks)
    assert all(_belongs(pair) for pair in pairs)


@given(
    st.lists(st.tuples(st.sampled_from("hd"), st.one_of(st.none(), st.integers(0, 4)), st.integers(0, 2)), max_size=12)
)
def test_nothing_is_lost_or_used_twice(files: list[tuple[str, int | None, int]]) -> None:
    made = [
        TraceFile(f"{folder}/{number}.json", "host" if side == "h" else "device", rank)
        for number, (side, rank, folder) in enumerate(files)
    ]
    hosts = [file for file in made if file.kind == "host"]
    devices = [file for file in made if file.kind == "device"]
    pairs = pair_files(hosts, devices)
    used = [file.place for pair in pairs for file in (pair.host, pair.device) if file is not None]
    assert sorted(used) == sorted(file.place for file in made)
    for pair in pairs:
        assert (pair.problem is None) == (pair.host is not None and pair.device is not None)
        if pair.host and pair.device:
            assert None in (pair.host.rank, pair.device.rank) or pair.host.rank == pair.device.rank


def _belongs(pair: Pair) -> bool:
    return pair.host is not None and pair.device is not None and pair.host.rank == pair.device.rank
