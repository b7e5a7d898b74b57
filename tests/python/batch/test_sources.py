# SPDX-License-Identifier: MIT
"""Items from globs, folders, names with %d and manifests; names of outputs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from batch_files import chain, write_device, write_host
from chakra_core import ConfigError
from chakra_core.batch.naming import fixed_folder, name_outputs, stem_of
from chakra_core.batch.sources import Sources
from chakra_core.batch.work_item import WorkItem


def traces(*inputs: str) -> list[str]:
    return [one.inputs["trace"] for one in Sources(inputs).items("traces")]


EIGHT = [f"in/run.{rank}.et" for rank in range(8)]


@pytest.mark.parametrize("text", ["in/run.%d.et", "in/run.*.et", "in", "in/run", "**/run.*.et"])
def test_forms(run_folder: Path, text: str) -> None:
    found = Sources(text).items("traces")
    assert sorted(one.inputs["trace"] for one in found) == EIGHT
    assert sorted((one.rank, one.stem, one.folder) for one in found) == [
        (rank, f"run.{rank}", "in") for rank in range(8)
    ]


def test_each_file_once(run_folder: Path) -> None:
    assert traces("in/run.3.et", "in", "in/run.*.et", str(run_folder / "in" / "run.3.et")) == [
        "in/run.3.et",
        *(name for name in EIGHT if name != "in/run.3.et"),
        str(run_folder / "in" / "run.3.et"),
    ]
    assert traces("file://" + str(run_folder / "in" / "run.3.et")) == [str(run_folder / "in" / "run.3.et")]


def test_nothing_there(run_folder: Path) -> None:
    for text in ("none.et", "none/*.et", "none.%d.et"):
        with pytest.raises(ConfigError, match=r"none.*: no"):
            traces(text)
    (run_folder / "empty").mkdir()
    with pytest.raises(ConfigError, match="nothing to do"):
        traces("empty")


def test_folder_takes_what_is_a_trace(run_folder: Path) -> None:
    write_host(run_folder / "in/host.json")
    (run_folder / "in/notes.json").write_text("{}")
    (run_folder / "in/broken.et").write_bytes(b"\xff" * 9)
    assert sorted(traces("in")) == ["in/broken.et", *EIGHT]
    found = {one.name: one.problem for one in Sources("in").items("pairs or traces")}
    assert "in/notes.json" not in found
    assert found["in/broken.et"]
    assert found["in/run.0.et"] is None


def test_runs(folder: Path) -> None:
    for run in ("a", "b"):
        for rank in range(2):
            (folder / "runs" / run).mkdir(parents=True, exist_ok=True)
            cc.save(chain(3), folder / "runs" / run / f"trace.{rank}.et")
    for text in ("runs/*", "runs/*/trace.%d.et"):
        found = Sources(text).items("runs")
        assert [(one.folder, dict(one.inputs)) for one in found] == [
            (run, {str(rank): f"runs/{run}/trace.{rank}.et" for rank in range(2)}) for run in ("a", "b")
        ]
    assert len(Sources(["runs/a", "runs/b/trace.%d.et", "runs/b/trace"]).items("runs")) == 3
    (one,) = Sources("runs/a/*.et").items("runs")
    assert len(one.inputs) == 2
    (folder / "runs" / "c").mkdir()
    assert [bool(one.problem) for one in Sources("runs/*").items("runs")] == [False, False, True]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "items", "rows"])
def test_manifest(folder: Path, form: str) -> None:
    rows = [
        {"rank": rank, "host": f"h{rank}.json", "device": f"d{rank}.json", "site": f"s{rank % 2}"} for rank in range(3)
    ]
    (folder / "m").mkdir()
    for row in rows:
        write_host(folder / "m" / row["host"])
        write_device(folder / "m" / row["device"])
    manifest: Any = folder / "m" / f"list.{form}"
    if form == "csv":
        with manifest.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif form == "rows":
        manifest = [{**row, "host": f"m/{row['host']}", "device": f"m/{row['device']}"} for row in rows]
    elif form == "jsonl":
        manifest.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    else:
        manifest.write_text(json.dumps({"items": rows} if form == "items" else rows))
    report = cc.batch.convert(manifest=manifest, output="out/{site}/{rank:03d}.et")
    assert report.ok, report
    assert [record["output"]["path"] for record in report.records] == [
        f"out/s{rank % 2}/{rank:03d}.et" for rank in range(3)
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rank,host\n0,\n", r"row 1: found no input"),
        ("rank,trace\n-1,x\n", r"row 1: 'rank': found '-1'"),
        ("rank,trace\none,x\n", r"row 1: 'rank': found 'one'"),
        ("trace,host\na,b\n", r"row 1: found host, trace"),
        ("trace\na,b,c\n", r"row 1: more cells than columns"),
        ("trace\n", r"no rows"),
    ],
)
def test_bad_manifests(folder: Path, text: str, says: str) -> None:
    (folder / "m.csv").write_text(text)
    with pytest.raises(ConfigError, match=f"m.csv.*{says}"):
        cc.batch.convert(manifest="m.csv", output="out/{rank}.et")
    (folder / "m.json").write_text('{"a": 1}')
    with pytest.raises(ConfigError, match="expected a list of objects"):
        cc.batch.convert(manifest="m.json", output="out/{rank}.et")


def test_outputs_that_clash(run_folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"would both be written to out/x\.et"):
        cc.batch.convert("in", "out/x.et")
    with pytest.raises(ConfigError, match=r"is an input of"):
        cc.batch.convert("in", "in/{name}")
    with pytest.raises(ConfigError, match=r"no field \{wrong\}; there are folder, index, name, rank, stem"):
        cc.batch.convert("in", "out/{wrong}.et")
    with pytest.raises(ConfigError, match=r"output out/\{rank\.et: "):
        cc.batch.convert("in", "out/{rank.et")
    with pytest.raises(ConfigError, match="convert needs an output"):
        cc.batch.convert("in")


@pytest.mark.parametrize("output", ["in/out/{rank}.et", "in/{stem}.small.et", "in/%d/"])
def test_outputs_among_the_inputs_are_no_inputs(run_folder: Path, output: str) -> None:
    for status in ("done", "skipped"):
        assert cc.batch.convert("in", output).counts[status] == 8
    assert len(list(Path("in").rglob("*.et"))) == 16


def test_rank_that_is_not_known_fails_alone(run_folder: Path) -> None:
    cc.save(chain(2), run_folder / "in" / "plain.et")
    report = cc.batch.convert("in", "out/%d.et")
    assert (report.counts["done"], report.counts["failed"]) == (8, 1)
    assert "its rank is not known" in report.failures[0]["error"]["message"]


def test_folder_as_output(run_folder: Path) -> None:
    (run_folder / "there").mkdir()
    for output in ("new/", "there"):
        assert cc.batch.convert("in", output).ok
        assert sorted(path.name for path in Path(output).glob("*.et")) == [f"run.{rank}.et" for rank in range(8)]
        assert (run_folder / output / "batch-report.jsonl").is_file()


@given(
    ranks=st.lists(st.integers(0, 10**6), unique=True, max_size=20),
    template=st.sampled_from(["{rank}.et", "out/{rank:08d}", "%d/{stem}.et", "{folder}/{stem}-{rank}", "{index}.x"]),
)
def test_names_differ_where_ranks_do(ranks: list[int], template: str) -> None:
    items = [WorkItem({"trace": f"in/{rank}.et"}, rank=rank, stem=f"{rank}", folder="in") for rank in ranks]
    outputs = [one.output for one in name_outputs(items, template, "{stem}")]
    assert len(set(outputs)) == len(ranks)
    assert all(output and output.startswith(fixed_folder(template)) for output in outputs)


def test_stems() -> None:
    assert [stem_of(name) for name in ("a.et.gz", "b.pt.trace.json.gz", "c", ".et", "d.1.json.zst")] == [
        "a",
        "b",
        "c",
        ".et",
        "d.1",
    ]
