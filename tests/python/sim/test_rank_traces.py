# SPDX-License-Identifier: MIT
"""Which files and traces stand for which rank."""

import os
from pathlib import Path

import pytest

import chakra_core as cc
from chakra_core.rank_traces import expand_paths, files_by_rank, load_ranks


def save_trace(path: Path, node: int) -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=node, name=f"node {node}")
    cc.save(builder.build(), path)


@pytest.fixture
def twelve(tmp_path: Path) -> Path:
    """Make a folder with run.0.et to run.11.et, each with one node whose id is the rank."""
    for rank in range(12):
        save_trace(tmp_path / f"run.{rank}.et", rank)
    return tmp_path


def loaded_ids(traces: list[cc.Trace]) -> list[int]:
    return [int(trace.ids[0]) for trace in traces]


@pytest.mark.parametrize("name", ["run.%d.et", "run.*.et", "run.[0-9]*.et", "run"])
def test_names_that_stand_for_all_ranks(twelve: Path, name: str) -> None:
    assert loaded_ids(load_ranks(str(twelve / name), 12)) == list(range(12))
    assert loaded_ids(load_ranks(twelve / name)) == list(range(12))


def test_a_list_is_in_rank_order_as_given(twelve: Path) -> None:
    order = [3, 1, 2]
    assert loaded_ids(load_ranks([twelve / f"run.{rank}.et" for rank in order], 3)) == order
    assert loaded_ids(load_ranks({1: twelve / "run.5.et", 0: cc.load(twelve / "run.7.et")}, 2)) == [7, 5]


def test_paths_of_a_shell_are_put_in_rank_order(twelve: Path) -> None:
    paths = sorted(twelve.iterdir())
    assert paths[2].name == "run.10.et"
    assert list(files_by_rank(paths)) == list(range(12))
    assert [path.name for path in expand_paths(paths)] == [f"run.{rank}.et" for rank in range(12)]


def test_unrelated_files_keep_their_order(twelve: Path) -> None:
    save_trace(twelve / "a.1.et", 1)
    given = [twelve / "run.2.et", twelve / "a.1.et"]
    assert expand_paths(given) == given
    assert files_by_rank(given) == {0: given[0], 1: given[1]}


def test_padded_numbers(tmp_path: Path) -> None:
    for rank in range(11):
        save_trace(tmp_path / f"r{rank:03d}.et", rank)
    assert loaded_ids(load_ranks(tmp_path / "r%03d.et", 11)) == list(range(11))
    with pytest.raises(cc.ConfigError, match="no file matches"):
        load_ranks(tmp_path / "r%d.et")


def test_each_distinct_file_is_loaded_once(twelve: Path) -> None:
    os.link(twelve / "run.0.et", twelve / "hard.et")
    (twelve / "soft.et").symlink_to("run.0.et")
    counted: list[tuple[int, int]] = []
    sources = [twelve / "run.0.et", twelve / "hard.et", twelve / "soft.et", twelve / "run.1.et"]
    traces = load_ranks(sources, 4, loaded=lambda done, total: counted.append((done, total)))
    assert traces[0] is traces[1] is traces[2]
    assert sorted(counted) == [(1, 2), (2, 2)]
    one = traces[0]
    assert load_ranks([one] * 3, 3) == [one] * 3


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (range(8, 12), "found 8 of 12 ranks: 8-11 missing"),
        ([0], "found 11 of 12 ranks: 0 missing"),
        ([0, 4, 5, 6, 9, 10], "found 6 of 12 ranks: 0, 4-6, 9-10 missing"),
        (range(12), "found 0 of 12 ranks: 0-11 missing"),
    ],
)
def test_missing_ranks_are_named(twelve: Path, missing: list[int], message: str) -> None:
    for rank in missing:
        (twelve / f"run.{rank}.et").unlink()
    with pytest.raises(cc.ConfigError, match=message) as caught:
        load_ranks(twelve / "run.%d.et", 12)
    assert str(caught.value).startswith(str(twelve / "run.%d.et"))


def test_a_gap_is_found_without_a_network(twelve: Path) -> None:
    (twelve / "run.3.et").unlink()
    for name in ("run.%d.et", "run.*.et"):
        with pytest.raises(cc.ConfigError, match="found 11 of 12 ranks: 3 missing"):
            load_ranks(twelve / name)


def test_too_few_and_too_many(twelve: Path) -> None:
    trace = cc.load(twelve / "run.0.et")
    with pytest.raises(cc.ConfigError, match="traces: found 8 of 16 ranks: 8-15 missing"):
        load_ranks([trace] * 8, 16)
    with pytest.raises(cc.ConfigError, match=r"found ranks 8-11, but the network has 8 NPUs"):
        load_ranks(twelve / "run.%d.et", 8)
    with pytest.raises(cc.ConfigError, match="found 0 of 1 ranks: 0 missing"):
        load_ranks([], 1)
    with pytest.raises(cc.ConfigError, match="traces: no traces given"):
        load_ranks([])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.et", "none.et: no such file"),
        ("none.*.et", r"none\.\*\.et: no file matches"),
        ("none.%d.et", "none.%d.et: no file matches"),
        ("%d.%d.et", "expected one %d for the rank"),
        ("empty", "is a folder; name its files, e.g. "),
    ],
)
def test_names_that_stand_for_nothing(twelve: Path, name: str, message: str) -> None:
    (twelve / "empty").mkdir()
    with pytest.raises(cc.ConfigError, match=message):
        load_ranks(twelve / name)


def test_a_folder_is_the_run_in_it(twelve: Path) -> None:
    (twelve / "notes.txt").write_text("no trace")
    assert loaded_ids(load_ranks(twelve, 12)) == list(range(12))
    assert [path.name for path in expand_paths([twelve])] == [f"run.{rank}.et" for rank in range(12)]
    save_trace(twelve / "other.0.et", 0)
    with pytest.raises(cc.ConfigError, match="files of several runs"):
        load_ranks(twelve)
    assert len(expand_paths([twelve])) == 13
