"""Draining a trace in dependency order: against parsing its records, networkx, a bare C++ walk, and loading whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
from bench_load import frames, parse_all
from measure import Ratio, compare, cpu_seconds
from typical_trace import write_typical

import chakra_core as cc

FOLDER = Path(__file__).resolve().parent
WINDOW = 100_000


def drain_by_node(trace: cc.Trace) -> None:
    """Complete every node as soon as it is handed out."""
    feeder = cc.Feeder(trace)
    while (node := feeder.pop()) is not None:
        feeder.complete(node)


def drain_by_batch(feeder: cc.Feeder) -> None:
    """Complete every batch as soon as it is handed out, a call for both."""
    feeder.reset()
    ids = feeder.pop_batch()
    while len(ids):
        ids = feeder.pop_batch(complete=ids)


def against_parsing(path: Path, *, smoke: bool) -> list[Ratio]:
    """Compare with what Python has: protobuf for the records, networkx for the order."""
    nodes = 10_000 if smoke else 1_000_000
    write_typical(path, nodes)
    records = frames(path)
    trace = cc.load(path)
    few = trace.select(np.arange(min(nodes, 100_000)))
    graph = few.to_networkx()

    def sort_all() -> None:
        for _ in nx.lexicographical_topological_sort(graph):
            pass

    return [
        compare(
            "load and drain, one thread",
            lambda: cc.Feeder(cc.load(path, threads=1)).drain(),
            "Node.ParseFromString, nothing kept",
            lambda: parse_all(records),
        ),
        compare("drain, node by node from Python", lambda: drain_by_node(few), "networkx, the same graph", sort_all),
    ]


def layers(nodes: int, width: int) -> cc.Trace:
    """Each node depends on one of the layer before it."""
    ids = np.arange(nodes)
    begins = np.r_[np.zeros(width, dtype=np.int64), np.arange(nodes - width + 1)]
    builder = cc.TraceBuilder()
    builder.add_nodes(ids=ids, data_deps=(begins, ids[: nodes - width]))
    return builder.build()


def narrow(nodes: int) -> cc.Trace:
    """Build a chain whose every fifth link is two nodes side by side: 1.2 are ready at once."""
    ids = np.arange(nodes)
    place = ids % 6  # 4 and 5 are side by side: both wait for 3, and the next waits for both
    parents = np.stack([ids - 1 - (place == 5), ids - 2], axis=1)
    counts = np.where(place == 0, 2, 1)
    counts[0] = 0
    picked = parents[np.arange(2) < counts[:, None]]
    builder = cc.TraceBuilder()
    builder.add_nodes(ids=ids, data_deps=(np.r_[0, np.cumsum(counts)], picked))
    return builder.build()


def in_batches(*, smoke: bool) -> list[Ratio]:
    """Compare batches with single nodes, for graphs of some widths."""
    nodes = 40_000 if smoke else 400_000
    graphs = {"1.2": narrow(nodes)} | {str(width): layers(nodes, width) for width in (4, 64, 1000)}
    ratios = []
    for width, trace in graphs.items():
        feeder = cc.Feeder(trace)
        seconds = min(cpu_seconds(lambda feeder=feeder: drain_by_batch(feeder)) for _ in range(3))  # type: ignore[misc]
        ratio = compare(
            f"drain by batches of {width} from Python",
            lambda feeder=feeder: drain_by_batch(feeder),  # type: ignore[misc]
            "node by node",
            lambda trace=trace: drain_by_node(trace),  # type: ignore[misc]
            note=f"{nodes / seconds / 1e6:.1f} million nodes a second",
        )
        ratios.append(ratio)
    return ratios


# Runs in a process of its own, so that its memory is its own. Prints seconds and bytes of anonymous memory at the most.
CHILD = f"""
import sys, threading, time
import chakra_core as cc

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

done, peak = threading.Event(), anonymous()
def watch():
    global peak
    while not done.wait(0.005):
        peak = max(peak, anonymous())
watcher = threading.Thread(target=watch)
watcher.start()
begin = time.perf_counter()
if sys.argv[2] == "load":
    trace = cc.load(sys.argv[1])
else:
    feeder = cc.Feeder(sys.argv[1], window={WINDOW})
    while len(feeder.drain(100_000)):
        pass
seconds = time.perf_counter() - begin
done.set()
watcher.join()
print(seconds, peak)
"""


def run_child(path: Path, what: str) -> tuple[float, float]:
    """Seconds and peak bytes."""
    done = subprocess.run([sys.executable, "-c", CHILD, str(path), what], capture_output=True, text=True, check=True)
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)


def write_ascending(path: Path, nodes: int) -> None:
    """Write a file of many small nodes with two parents each."""
    ids = np.arange(nodes)
    parents = np.stack([np.maximum(ids - 1 - ids % 3, 0), np.maximum(ids - 1 - ids % 7, 0)], axis=1)[1:]
    builder = cc.TraceBuilder()
    begins = np.r_[0, 0, 2 * np.arange(1, nodes)]
    builder.add_nodes(
        ids=ids, data_deps=(begins, parents.ravel()), start_ns=ids * 12_000, attrs={"tid": ids % 3, "num_ops": ids}
    )
    cc.save(builder.build(), path)


def streamed(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare a stream, drained, with loading alone."""
    nodes = 300_000 if smoke else 10_000_000
    path = folder / "large.et"
    write_ascending(path, nodes)
    loads, streams = [], []
    for _ in range(2):
        loads.append(run_child(path, "load"))
        streams.append(run_child(path, "stream"))
    seconds, peak = min(streams)
    path.unlink()
    return [
        Ratio(
            f"stream and drain {nodes:,} nodes, window {WINDOW:,}",
            "loading whole, alone",
            min(loads)[0] / seconds,
            f"{peak / 1e6:.0f} MB of anonymous memory at the most, against {min(loads)[1] / 1e6:.0f}",
        )
    ]


def drain_program(folder: Path) -> Path | None:
    """Build benchmarks/cpp over the installed package, or find it in a build tree."""
    built = sorted(FOLDER.parent.glob("build/*/benchmarks/cpp/bench_drain"))
    if built:
        return built[0]
    where = subprocess.run(
        [sys.executable, "-m", "chakra_core", "--cmake-dir"], capture_output=True, text=True, check=False
    )
    if where.returncode != 0 or shutil.which("cmake") is None or shutil.which("c++") is None:
        return None
    build = folder / "build"
    configure = ["cmake", "-S", str(FOLDER / "cpp"), "-B", str(build), f"-Dchakra_core_DIR={where.stdout.strip()}"]
    subprocess.run([*configure, "-DCMAKE_BUILD_TYPE=Release"], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(build)], check=True, capture_output=True)
    return build / "bench_drain"


def in_cpp(folder: Path, path: Path, *, smoke: bool) -> list[Ratio]:
    """Compare in C++; see benchmarks/cpp/drain.cpp."""
    program = drain_program(folder)
    if program is None:
        print("bench_feeder: no C++ compiler or package: benchmarks/cpp is left out", file=sys.stderr)
        return []
    arguments = [str(program), "20000" if smoke else "1000000", str(path)]
    lines = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.splitlines()
    ratios = []
    for line in lines:
        task, ratio, rival, note = line.split("\t")
        ratios.append(Ratio(task, rival, float(ratio), note))
    return ratios


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on a typical file, and on graphs made for the purpose."""
    path = folder / "typical.et"
    return [
        *against_parsing(path, smoke=smoke),
        *in_batches(smoke=smoke),
        *in_cpp(folder, path, smoke=smoke),
        *streamed(folder, smoke=smoke),
    ]
