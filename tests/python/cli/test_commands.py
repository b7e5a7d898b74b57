# SPDX-License-Identifier: MIT
"""Each command on real files: what it prints, what it writes, how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from chakra_core.cli import main
from chakra_core.result import TABLES
from timeline_files import read_chrome_json, read_perfetto

Capture = pytest.CaptureFixture[str]


def json_of(capsys: Capture, *arguments: str) -> Any:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


@pytest.mark.parametrize("names", [["run.%d.et"], ["run.*.et"], ["run"], [f"run.{rank}.et" for rank in range(4)]])
def test_info_for_machines(folder: Path, capsys: Capture, names: list[str]) -> None:
    described = json_of(capsys, "info", "--json", *names)
    assert [one["path"] for one in described] == [f"run.{rank}.et" for rank in range(4)]
    first = described[0]
    assert first["file_bytes"] == Path("run.0.et").stat().st_size
    assert (first["nodes"], first["data_deps"], first["ctrl_deps"]) == (3, 1, 0)
    assert (first["span_ns"], first["duration_ns"], first["comm_bytes"]) == (7_000, 6_500, 1 << 20)
    assert first["types"] == {"COMP_NODE": 2, "COMM_COLL_NODE": 1}
    assert first["communication"] == {"ALL_REDUCE": 1}


def test_info_for_people(folder: Path, capsys: Capture) -> None:
    assert main(["info", "run.%d.et"]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["COMP_NODE", "8"] in rows
    assert ["ALL_REDUCE", "4"] in rows
    assert next(row for row in rows if row[:1] == ["run.2.et"])[3:5] == ["3", "1"]


def test_info_names_types_beyond_the_schema(folder: Path, capsys: Capture) -> None:
    builder = cc.TraceBuilder()
    builder.add_record(b"\x08\x01\x18\x09")
    builder.add_node(id=2, type="COMM_COLL_NODE")
    cc.save(builder.build(), "odd.et")
    (described,) = json_of(capsys, "info", "--json", "odd.et")
    assert described["types"] == {"COMM_COLL_NODE": 1, "NODE_TYPE_9": 1}
    assert described["communication"] == {"no comm_type": 1}


def test_validate_good_and_bad(folder: Path, capsys: Capture) -> None:
    assert main(["validate", "run.%d.et"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("run.0.et: ok, 0 errors")
    Path("bad.et").write_bytes(Path("run.0.et").read_bytes()[:-3])
    assert main(["validate", "run.0.et", "bad.et"]) == 1
    out = capsys.readouterr().out
    assert "bad.et: NOT ok, 1 errors" in out
    assert "  error: " in out
    assert main(["validate", "--json", "bad.et"]) == 1
    (checked,) = json.loads(capsys.readouterr().out)
    assert (checked["ok"], checked["errors"], checked["counts"]) == (False, 1, {"truncated_file": 1})
    assert checked["problems"][0]["record"] == 3


def test_validate_shows_as_many_problems_as_asked_for(folder: Path, capsys: Capture) -> None:
    builder = cc.TraceBuilder()
    for number in range(1, 30):
        builder.add_node(id=number, data_deps=[number])
    cc.save(builder.build(), "loops.et")
    assert main(["validate", "--show", "2", "loops.et"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[3].startswith("  and 27 more: ")


def test_simulate_for_machines(folder: Path, capsys: Capture) -> None:
    data = json_of(capsys, "simulate", "run.%d.et", "--network", "network.yml", "--json")
    expected = cc.simulate("run.%d.et", network="network.yml")
    assert data == expected.to_dict()


def test_simulate_for_people_and_files(folder: Path, capsys: Capture) -> None:
    files = ["--timeline", "run.json", "--csv", "nodes.csv", "--tables", "tables"]
    assert main(["simulate", "run", "--network", "network.yml", *files]) == 0
    out = capsys.readouterr().out
    assert "exposed comm" in out
    assert "4 ranks finished at " in out
    assert len(read_chrome_json(Path("run.json"))) == 12
    assert "dimension 0, Ring of 4" in out
    assert len(Path("nodes.csv").read_text().splitlines()) == 13
    assert {path.stem for path in Path("tables").iterdir()} == set(TABLES)
    assert Path("tables/nodes.csv").read_text() == Path("nodes.csv").read_text()


@pytest.mark.parametrize(
    "spelling",
    [
        ["run", "--rendezvous-protocol", "--congestion", "--parity"],
        ["--parity", "run", "--rendezvous-protocol=true", "--congestion=true"],
        ["--workload-configuration=run", "--rendezvous-protocol", "true", "--congestion", "--parity", "astra-sim"],
        ["--workload-configuration", "run", "--rendezvous-protocol=TRUE", "--congestion", "--parity=astra-sim"],
    ],
)
def test_simulate_takes_astra_sims_names(folder: Path, capsys: Capture, spelling: list[str]) -> None:
    Path("system.json").write_text(
        json.dumps(
            {
                "endpoint-delay": 100,
                "preferred-dataset-splits": 4,
                "collective-optimization": "baseline",
                "all-reduce-implementation": ["direct"],
            }
        )
    )
    Path("memory.json").write_text('{"memory-type": "NO_MEMORY_EXPANSION"}')
    Path("groups.json").write_text('{"1": [0, 1, 2, 3]}')
    data = json_of(
        capsys,
        "simulate",
        *spelling,
        "--network-configuration=network.yml",
        "--system-configuration=system.json",
        "--remote-memory-configuration=memory.json",
        "--comm-group-configuration=groups.json",
        "--num-queues-per-dim=2",
        "--injection-scale=0.5",
        "--comm-scale=2",
        "--compute-scale=0.5",
        "--logging-configuration=empty",
        "--logging-folder=log",
        "--json",
    )
    expected = cc.simulate(
        "run",
        network="network.yml",
        system="system.json",
        num_queues_per_dim=2,
        injection_scale=0.5,
        rendezvous_protocol=True,
        congestion=True,
        parity=True,
    )
    assert data["finish_ns"] == expected.finish_ns.tolist()


def test_simulate_with_other_resources(folder: Path, capsys: Capture) -> None:
    command = ("simulate", "run", "--network=network.yml", "--json")
    counted = json_of(capsys, *command, "--resources=cpu=1,comm=1", "--communication=recorded")
    expected = cc.simulate("run", network="network.yml", resources="astra", communication="recorded")
    assert counted["finish_ns"] == expected.finish_ns.tolist()
    lanes = json_of(capsys, *command, "--resources", "lanes")
    assert lanes["finish_ns"] == json_of(capsys, *command)["finish_ns"] != counted["finish_ns"]
    assert "'resources': found 'all', allowed: 'lanes'" in one_error(capsys, *command, "--resources=all")
    assert "run without parity" in one_error(capsys, *command, "--parity", "--resources=lanes")


def test_simulate_without_what_astra_sim_leaves_out(folder: Path, capsys: Capture) -> None:
    command = ("simulate", "run", "--network=network.yml", "--json")
    plain = ["--rendezvous-protocol=false", "--parity=none", "--fold=true", "--comm-group-configuration=empty"]
    assert json_of(capsys, *command, *plain) == json_of(capsys, *command)
    assert json_of(capsys, *command, "--fold", "false") == json_of(capsys, *command, "--no-fold")
    assert "TRACES or by --workload-configuration; found both" in one_error(
        capsys, *command, "--workload-configuration=run"
    )
    assert "found neither" in one_error(capsys, "simulate", "--network=network.yml")


def test_simulate_checks_first(folder: Path, capsys: Capture) -> None:
    command = ("simulate", "run", "--network=network.yml", "--check")
    assert json_of(capsys, *command, "--json") == cc.simulate("run", network="network.yml").to_dict()
    builder = cc.TraceBuilder()
    builder.add_node(id=7, type="COMM_RECV_NODE", attrs={"comm_src": 1, "comm_size": 64, "comm_tag": 3})
    cc.save(builder.build(), "run.0.et")
    assert main(command) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: the ranks do not fit together\nprocess group '': rank 0 has 0 collectives")
    assert "with tag 3: rank 0 receives 64 B (node 7), but nobody sends it" in error


def test_simulate_with_stragglers(folder: Path, capsys: Capture) -> None:
    Path("slow.yml").write_text("compute-speed: {1: 0.5}\nstart-delay: {0: 3 us}\n")
    data = json_of(capsys, "simulate", "run", "--network=network.yml", "--stragglers=slow.yml", "--json")
    assert data == cc.simulate("run", network="network.yml", stragglers="slow.yml").to_dict()
    Path("slow.yml").write_text("compute-speed: {9: 0.5}\n")
    command = ("simulate", "run", "--network=network.yml", "--stragglers=slow.yml")
    assert "slow.yml: 'compute-speed' names rank 9, but there are 4 ranks" in one_error(capsys, *command)


def test_timeline(folder: Path, capsys: Capture) -> None:
    data = json_of(capsys, "timeline", "run.%d.et", "-o", "run.pftrace.gz", "--json")
    assert data == {"path": "run.pftrace.gz", "ranks": 4, "file_bytes": Path("run.pftrace.gz").stat().st_size}
    slices = read_perfetto(Path("run.pftrace.gz"))
    assert {one.process for one in slices} == {f"rank {rank}" for rank in range(4)}
    assert {one.track for one in slices} == {"stream 7", "stream 20", "thread 1"}
    assert main(["timeline", "run.0.et", "-o", "one.json"]) == 0
    assert "one.json: 1 ranks, " in capsys.readouterr().out


def one_error(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_errors_are_one_line(folder: Path, capsys: Capture) -> None:
    Path("bad.yml").write_text("topology: [Torus]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n")
    Path("bad.et").write_bytes(b"\xff" * 20)
    assert "none.et: no such file" in one_error(capsys, "info", "none.et")
    assert "bad.et: " in one_error(capsys, "info", "bad.et")
    assert "found 'Torus', allowed: " in one_error(capsys, "simulate", "run", "--network", "bad.yml")
    assert "none.yml: cannot read" in one_error(capsys, "simulate", "run", "--network", "none.yml")
    assert "found 2 of 4 ranks: 2-3 missing" in one_error(
        capsys, "simulate", "run.0.et", "run.1.et", "--network", "network.yml"
    )
    assert "none" in one_error(capsys, "timeline", "run.0.et", "-o", "none/run.json")
    assert "give --host, --device or both" in one_error(capsys, "link")
    assert "run.et: no such file" in one_error(capsys, "convert", "--host", "run.et", "-o", "out.et")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["bad.et", "bad.yml", "network.yml", *(f"run.{rank}.et" for rank in range(4))]
    )


@pytest.mark.parametrize("arguments", [["simulate", "run"], ["info"], ["nonsense"], ["info", "run", "--on-error", "x"]])
def test_wrong_usage_has_its_own_status(folder: Path, capsys: Capture, arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert "Usage: " in capsys.readouterr().err


def test_help_and_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == cc.__version__
    for command in ("info", "validate", "link", "convert", "simulate", "timeline"):
        assert main([command, "-h"]) == 0
        assert "Usage: " in capsys.readouterr().out


@pytest.mark.parametrize("error", [KeyboardInterrupt(), cc.Cancelled("stopped")])
def test_interruption_has_its_own_status(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, error: BaseException
) -> None:
    def interrupted(_: object) -> None:
        raise error

    monkeypatch.setattr("chakra_core.cli.info.expand_paths", interrupted)
    assert main(["info", "run.0.et"]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["out.json", "out.json.gz", "out.et.gz", "out.et"])
def test_convert_between_forms(folder: Path, capsys: Capture, name: str) -> None:
    (written,) = json_of(capsys, "convert", "run.0.et", "-o", name, "--json", "--schema-version", "1.0.0")
    assert written == {
        "path": name,
        "rank": 0,
        "nodes": 3,
        "file_bytes": Path(name).stat().st_size,
        "source": "run.0.et",
    }
    assert main(["convert", name, "-o", "back.et", "--schema-version", "0.0.4"]) == 0
    assert Path("back.et").read_bytes() == Path("run.0.et").read_bytes()
    capsys.readouterr()
    (described,) = json_of(capsys, "info", "--json", name)
    assert (described["nodes"], described["version"]) == (3, "1.0.0")


def test_convert_a_whole_run(folder: Path, capsys: Capture) -> None:
    assert main(["convert", "run.%d.et", "-o", "all.%d.et.gz", "--level", "9"]) == 0
    assert capsys.readouterr().out.startswith("all.0.et.gz: 3 nodes")
    assert [trace.names[2] for trace in cc.load("all.*.et.gz")] == [f"host of {rank}" for rank in range(4)]
    assert main(["convert", "run.%d.et", "-o", "one.et"]) == 1
    assert "4 ranks need a name with %d" in capsys.readouterr().err
    assert main(["convert", "run.0.et", "--host", "x", "-o", "one.et"]) == 1
    assert "either execution traces or" in capsys.readouterr().err


def test_convert_what_recovery_keeps(folder: Path, capsys: Capture) -> None:
    Path("cut.et").write_bytes(Path("run.0.et").read_bytes()[:-3])
    assert main(["convert", "cut.et", "-o", "kept.json"]) == 1
    capsys.readouterr()
    assert main(["convert", "cut.et", "-o", "kept.json", "--on-error", "recover"]) == 0
    assert "1 truncated file" in capsys.readouterr().err
    assert len(cc.load("kept.json")) == 2


def test_validate_says_what_json_is(folder: Path, capsys: Capture) -> None:
    Path("host.json").write_text('{"schema": "1.1.1", "nodes": []}')
    Path("good.json").write_text('{"workload_graph": [{"Id": 1, "NodeType": 4}]}')
    assert main(["validate", "host.json", "good.json"]) == 1
    out = capsys.readouterr().out
    assert "PyTorch's host traces" in out
    assert "good.json: ok" in out


def test_info_on_a_folder(folder: Path, capsys: Capture) -> None:
    assert [one["path"] for one in json_of(capsys, "info", "--json", ".")] == [f"run.{rank}.et" for rank in range(4)]
