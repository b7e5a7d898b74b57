# SPDX-License-Identifier: MIT
"""Text workloads of ASTRA-sim 1.0: their graphs, and what "NONE" means."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import pytest

import chakra_core as cc
from chakra_core.cli import main

KINDS = ("MICRO", "DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_DLRM", "HYBRID_DLRM_ENHANCED")
COLLECTIVES = ("ALLREDUCE", "ALLTOALL", "ALLGATHER", "REDUCESCATTER")

# Nodes of two layers, one pass, as ASTRA-sim's own converter makes them: letter and layer, and what each waits for.
# F forward, f what it communicates; I and i input gradient, W and w weight gradient.
GRAPHS = {
    "MICRO": "w0 w1",
    "DATA": "F0 F1<F0 W1<F1 w1<W1 I1<W1 W0<I1 w0<W0",
    "MODEL": "F0 f0<F0 F1<f0 f1<F1 I1<f1 i1<I1 W1<I1 I0<W1,i1 W0<I0",
    "HYBRID_DATA_MODEL": "F0 f0<F0 F1<f0 f1<F1 I1<f1 i1<I1 W1<I1 w1<W1 I0<W1,i1 W0<I0 w0<W0",
    "HYBRID_DLRM": "F0 f0<F0 F1<F0,f0 W1<F1 w1<W1 I1<W1 W0<I1 w0<W0",
}
MICROS = {"F": 3, "I": 5, "W": 7}
SIZES = {"f": 30, "i": 50, "w": 70}


def write(path: Path, kind: str, layers: list[list[str]], head: str = "") -> Path:
    lines = [f"{name} -1 3 {f} 30 5 {i} 50 7 {w} 70 1" for name, f, i, w in layers]
    path.write_text("\n".join([kind + head, str(len(layers)), *lines, ""]))
    return path


def labels(trace: cc.Trace) -> list[str]:
    """Letter and layer of each node, by name and size."""
    found = []
    for row in range(len(trace)):
        node = trace.at(row)
        layer = node.name.split("_")[2 if node.type == cc.NodeType.COMP_NODE else 3][1:]
        if node.type == cc.NodeType.COMP_NODE:
            letter = {"FWD": "F", "BWD_IG": "I", "BWD_WG": "W"}[node.name.split("_", 3)[3]]
            assert node.duration_ns == MICROS[letter] * 1000
        else:
            letter = next(key for key, size in SIZES.items() if size == node.attrs["comm_size"])
        found.append(letter + layer)
    return found


@pytest.mark.parametrize("kind", GRAPHS)
def test_graph_of_two_layers(tmp_path: Path, kind: str) -> None:
    head = " DLRM_LAST_BOTTOM_LAYER: 1" if "DLRM" in kind else ""
    forward = "ALLTOALL" if "DLRM" in kind else "ALLGATHER"
    layers = [["l0", forward, "ALLTOALL", "ALLREDUCE"], ["l1", "ALLGATHER", "ALLTOALL", "ALLREDUCE"]]
    trace = cc.convert_text(write(tmp_path / "w.txt", kind, layers, head))
    names = labels(trace)
    graph = []
    for row, name in enumerate(names):
        parents = ",".join(names[int(parent)] for parent in trace.at(row).data_deps)
        graph.append(f"{name}<{parents}" if parents else name)
    assert " ".join(graph) == GRAPHS[kind]
    assert trace.ids.tolist() == list(range(len(trace)))
    assert cc.validate(trace).ok


def random_layers(rng: random.Random, count: int) -> list[list[str]]:
    return [[f"l{place}", *rng.choices(COLLECTIVES, k=3)] for place in range(count)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_none_is_no_collective_and_loses_no_order(tmp_path: Path, kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    layers = random_layers(rng, rng.randrange(1, 6))
    if "DLRM" in kind:
        layers[0][1] = "ALLTOALL"
    head = f" {rng.randrange(len(layers))}" if "DLRM" in kind else ""
    passes = rng.randrange(1, 4)
    whole = cc.convert_text(write(tmp_path / "all.txt", kind, layers, head), num_passes=passes)
    fewer = [[name, *(("NONE" if rng.random() < 0.5 else one) for one in steps)] for name, *steps in layers]
    trace = cc.convert_text(write(tmp_path / "some.txt", kind, fewer, head), num_passes=passes)
    # The same graph without the nodes of those collectives.
    dropped = set()
    for before, after in zip(layers, fewer, strict=True):
        dropped |= {f"{'fiw'[at]}{before[0][1:]}" for at in range(3) if after[at + 1] == "NONE"}
    expected = whole.contract([row for row, name in enumerate(labels(whole)) if name not in dropped])
    assert labels(trace) == labels(expected)
    assert reached(trace) == reached(expected)
    assert trace.ids.tolist() == list(range(len(trace)))


def reached(trace: cc.Trace) -> list[set[int]]:
    rows = {int(node): row for row, node in enumerate(trace.ids)}
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(trace)))
    for row in range(len(trace)):
        graph.add_edges_from((rows[int(parent)], row) for parent in trace.at(row).data_deps)
    return [nx.descendants(graph, row) for row in range(len(trace))]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "found 0 lines"),
        ("SIDEWAYS\n1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n", "line 1: found parallelism 'SIDEWAYS'; expected MICRO"),
        ("DATA\n2\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n", "line 2: found 1 layers; expected 2"),
        ("DATA\nx\n", "line 2: found number of layers 'x'"),
        ("DATA\n0\n", "expected 0, at least one"),
        ("DATA\n1\n\nl -1 1 NONE 0\n", "line 4: found 5 columns; expected 12"),
        ("DATA\n1\nl -1 1 NONE 0 1 NONE 0 -1 NONE 0 0\n", "line 3: found computing time '-1'"),
        ("DATA\n1\nl -1 1 GOSSIP 0 1 NONE 0 1 NONE 0 0\n", "line 3: found collective 'GOSSIP'; expected ALLREDUCE"),
        ("HYBRID_DLRM\n1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n", "line 1: found last bottom layer 'nothing'"),
        ("HYBRID_DLRM 4\n1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n", "last bottom layer 4; expected less than 1"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "w.txt").write_text(text)
    with pytest.raises(cc.ConfigError, match=problem) as error:
        cc.convert_text(tmp_path / "w.txt")
    assert "w.txt" in str(error.value)


def test_the_command_writes_a_file_a_rank_that_simulates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("w.txt"), "DATA", [["l0", "NONE", "NONE", "ALLREDUCE"], ["l1", "NONE", "NONE", "ALLREDUCE"]])
    assert main(["convert-text", "w.txt", "-o", "run.%d.et", "--ranks", "4", "--passes", "2"]) == 0
    assert capsys.readouterr().out.count("14 nodes") == 4
    traces = cc.load_run("run.%d.et")
    assert all(trace.ids.tolist() == list(range(14)) for trace in traces)
    network = {"topology": ["Ring"], "npus_count": [4], "bandwidth": [50], "latency": [500]}
    assert cc.simulate(traces, network=network).total_ns >= 2 * 22_000
    assert main(["convert-text", "w.txt", "-o", "run.et", "--ranks", "4"]) == 1
    assert "%d" in capsys.readouterr().err
    with pytest.raises(cc.ConfigError, match="num_passes is 0"):
        cc.convert_text("w.txt", num_passes=0)
