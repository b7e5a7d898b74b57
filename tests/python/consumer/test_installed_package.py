# SPDX-License-Identifier: MIT
"""Programs that know only the installed package are built and run: C++20, C99, and C++17 against the two faces."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import chakra_core as cc
from installed_package import ROOT, run

CPU = {"is_cpu_op": True}


@pytest.fixture(scope="session")
def programs(package: Path, build: Callable[..., Path]) -> Path:
    # The headers are the same files in both packages: compiling each of them alone is for one of the two.
    everything = "site-packages" not in package.parts
    return build(ROOT / "tests" / "consumer", *([] if everything else ["programs"]))


@pytest.fixture
def rank_trace(tmp_path: Path) -> Path:
    """One rank: two chains of host work and kernels, a collective, a message; the file is not in the order of ids."""
    b = cc.TraceBuilder()
    b.add_node(id=6, name="all_reduce", type="COMM_COLL_NODE", data_deps=[4],
               attrs={"comm_type": 0, "comm_size": 1024, "pg_name": "2", "involved_dim": [True, False]})  # fmt: skip
    b.add_node(id=3, name="launch", type="COMP_NODE", data_deps=[1], duration_ns=2_000, attrs=CPU)
    b.add_node(id=4, name="kernel", type="COMP_NODE", data_deps=[3, 3], duration_ns=5_000, attrs={"num_ops": 77})
    b.add_node(id=1, name="first", type="COMP_NODE", attrs=CPU)
    b.add_node(id=2, name="second", type="COMP_NODE", attrs=CPU)
    b.add_node(id=5, name="send", type="COMM_SEND_NODE", data_deps=[2], ctrl_deps=[4],
               attrs={"comm_size": 64, "comm_dst": 1, "comm_tag": 9})  # fmt: skip
    b.add_node(id=0, name="groups", type="METADATA_NODE", inputs=cc.IoInfo(values="[g]"))
    path = tmp_path / "rank.et"
    cc.save(b.build(), path)
    return path


def test_headers_include_nothing_of_others(package: Path) -> None:
    include = package.parents[2] / "include"
    headers = [*include.rglob("*.hpp"), *include.rglob("*.h")]
    assert len(headers) > 20
    for header in headers:
        for name in re.findall(r"^ *#include +(\S+)", header.read_text(), re.MULTILINE):
            ours = name.strip('"<>').startswith("chakra_core/")
            standard = re.fullmatch(r"<(\w+|std(def|int)\.h)>", name) is not None
            by_choice = name == '"et_def.pb.h"' and header.name == "messages.hpp"
            assert ours or standard or by_choice, f"{header} includes {name}"


def test_cpp_and_c(programs: Path, tmp_path: Path) -> None:
    written = tmp_path / "written.et"
    assert run(programs / "consumer", written) == "nodes 10, sum 45, problems 0\n"
    assert run(programs / "consumer_c", written) == "nodes 10, sum 45, attributes of row 1: 1\n"


def test_a_simulator_with_an_observer(programs: Path) -> None:
    # A step moves half of 1 MiB at 50 GB/s in 500 + 9765 ns and then costs 10 ns; there are two, and 10 ns before.
    assert run(programs / "simulation").splitlines() == [
        "rank 0 computed until 1000 ns",
        "rank 1 computed until 2000 ns",
        "all-reduce of 1048576 bytes is over",
        "1 collective, 20560 ns after the last rank came",
    ]


def test_as_astra_sim_calls(programs: Path, rank_trace: Path) -> None:
    assert run(programs / "workload", rank_trace).splitlines() == [
        "0 skipped [g]",
        "1 first runtime 0 ops 0",
        "2 second runtime 0 ops 0",  # one host operator at a time
        "3 launch runtime 2000 ops 0",
        "4 kernel runtime 5000 ops 77",
        "5 send from 5 to 1 tag 9",  # waited for 4 too, a control dependency
        "6 all_reduce collective 0 size 1024 priority 0 group '2' dims 10",
        "finished",
    ]


def test_as_users_of_the_older_feeder_call(programs: Path, rank_trace: Path) -> None:
    assert run(programs / "older_loop", rank_trace).splitlines() == [
        "0 groups runtime 0 children 0 parents 0",
        "1 first runtime 0 children 1 parents 0",
        "2 second runtime 0 children 1 parents 0",
        "3 launch runtime 2 children 1 parents 1",
        "5 send runtime 0 children 0 parents 1",  # before 4: data dependencies only
        "4 kernel runtime 5 children 1 parents 2",
        "6 all_reduce runtime 0 children 0 parents 1",
        "finished",
        "wrapper 7",
    ]


@pytest.mark.skipif(shutil.which("protoc") is None, reason="protobuf's compiler is not on the PATH")
def test_the_faces_with_protobufs_own_classes(
    programs: Path, build: Callable[..., Path], package: Path, rank_trace: Path
) -> None:
    if "site-packages" in package.parts:
        pytest.skip("once is enough")
    option = "-DCHAKRA_CORE_ASTRA_SIM_PROTOBUF=ON"
    with_protobuf = build(ROOT / "tests" / "consumer", "workload", "older_loop", options=(option,))
    for program in ("workload", "older_loop"):
        assert run(with_protobuf / program, rank_trace) == run(programs / program, rank_trace)


def test_the_faces_refuse_what_cannot_run(programs: Path, tmp_path: Path) -> None:
    absent = tmp_path / "absent.et"
    for program in ("workload", "older_loop"):
        assert str(absent) in run(programs / program, absent, expect=1)
    assert not absent.exists()
