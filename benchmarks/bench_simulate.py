"""Simulating collectives: message by message beside a plain event loop in Python, and without messages beside with."""

from __future__ import annotations

import heapq
import random
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

from measure import Ratio, compare, cpu_seconds

import chakra_core as cc


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on ring all-reduces, and on ranks of many nodes read from files."""
    return [
        by_message(16 if smoke else 128),
        *(without_messages(ranks) for ranks in ((64,) if smoke else (1024,))),
        *(large_ring(ranks) for ranks in ((256,) if smoke else (4096, 32768))),
        many_nodes(folder, 2_000 if smoke else 100_000),
    ]


def all_reduce(size: int) -> cc.Trace:
    """Trace of one all-reduce."""
    builder = cc.TraceBuilder()
    builder.add_node(id=0, name="all-reduce", type="COMM_COLL_NODE", attrs={"comm_type": 0, "comm_size": size})
    return builder.build()


def by_message(ranks: int) -> Ratio:
    """Message by message, beside a heapq event loop."""
    size = 64 << 20
    network = cc.Network(topology=["Ring"], npus=[ranks], bandwidth=[50], latency=[500])
    simulate = partial(cc.simulate, [all_reduce(size)] * ranks, network=network, fidelity="message")
    result = simulate(system={"endpoint-delay": 10})
    ends = ring_all_reduce(ranks, size, 50 * 2**30 / 1e9, 500, 10)
    if result.finish_ns.tolist() != ends:
        raise RuntimeError(f"the two disagree: {result.finish_ns[0]} and {ends[0]} ns")
    return compare(
        f"ring all-reduce of {ranks} ranks, by message",
        lambda: simulate(record_nodes=False),
        "heapq event loop in Python",
        lambda: ring_all_reduce(ranks, size, 50 * 2**30 / 1e9, 500, 10),
        note=f"{result.messages:,} messages, {result.events:,} events",
    )


def ring_of(ranks: int) -> partial[cc.Result]:
    """Prepare an all-reduce of 1 GiB in 4 chunks on a ring."""
    network = cc.Network(topology=["Ring"], npus=[ranks], bandwidth=[50], latency=[500])
    system = {"endpoint-delay": 10, "preferred-dataset-splits": 4}
    return partial(cc.simulate, [all_reduce(1 << 30)] * ranks, network=network, system=system, record_nodes=False)


def without_messages(ranks: int) -> Ratio:
    """Fidelity auto beside all messages."""
    simulate = ring_of(ranks)
    messages = simulate(fidelity="message")
    if simulate().finish_ns.tolist() != messages.finish_ns.tolist():
        raise RuntimeError("auto and message disagree")
    one = cpu_seconds(lambda: simulate(fidelity="message"))
    return compare(
        f"1 GiB ring all-reduce of {ranks} ranks, auto",
        simulate,
        "message by message",
        lambda: simulate(fidelity="message"),
        note=f"{messages.messages:,} messages, {1e9 * one / messages.messages:.0f} ns each",
    )


def large_ring(ranks: int) -> Ratio:
    """One rank for all beside all ranks, where all messages would take too long."""
    simulate = ring_of(ranks)
    if simulate().finish_ns.tolist() != simulate(fold=False).finish_ns.tolist():
        raise RuntimeError("folded and unfolded disagree")
    seconds = cpu_seconds(simulate)
    return compare(
        f"1 GiB ring all-reduce of {ranks} ranks, folded",
        simulate,
        "the same unfolded",
        lambda: simulate(fold=False),
        note=f"{1e3 * seconds:.0f} ms, peak of the process {peak_mb():.0f} MB",
    )


def many_nodes(folder: Path, nodes: int) -> Ratio:
    """Eight ranks with all-reduces and different computations in between, from files to the result."""
    paths = [folder / f"run.{rank}.et" for rank in range(8)]
    for rank, path in enumerate(paths):
        cc.save(chain(nodes, random.Random(rank)), path)
    network = cc.Network(topology=["Ring"], npus=[8], bandwidth=[50], latency=[500])
    simulate = partial(cc.simulate, paths, network=network, record_nodes=False)
    if simulate().finish_ns.tolist() != simulate(fidelity="message").finish_ns.tolist():
        raise RuntimeError("auto and message disagree")
    seconds = cpu_seconds(simulate)
    memory = [f"{peak_mb_of(folder, record_nodes=recorded):.0f} MB" for recorded in (False, True)]
    return compare(
        f"8 ranks of {nodes:,} nodes from files, auto",
        simulate,
        "message by message",
        lambda: simulate(fidelity="message"),
        repeats=2,
        note=f"{seconds:.2f} s; peak of a process {memory[0]}, with node times {memory[1]}",
    )


def chain(nodes: int, choose: random.Random) -> cc.Trace:
    """Nodes one after the other, every third an all-reduce."""
    builder = cc.TraceBuilder()
    for number in range(nodes):
        after = [number - 1] if number else []
        if number % 3 == 2:
            attrs = {"comm_type": 0, "comm_size": 1 << 20}
            builder.add_node(id=number, name="all-reduce", type="COMM_COLL_NODE", data_deps=after, attrs=attrs)
        else:
            time = 1000 * choose.randrange(1, 50)
            builder.add_node(id=number, name="kernel", type="COMP_NODE", data_deps=after, duration_ns=time)
    return builder.build()


def peak_mb_of(folder: Path, *, record_nodes: bool) -> float:
    """Largest resident size of a process that does nothing but simulate these files, in 4 chunks."""
    program = f"""
import resource
import chakra_core as cc
network = cc.Network(topology=["Ring"], npus=[8], bandwidth=[50], latency=[500])
system = {{"preferred-dataset-splits": 4}}
result = cc.simulate({str(folder / "run.%d.et")!r}, network=network, system=system, record_nodes={record_nodes})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
"""
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


def peak_mb() -> float:
    """Largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def ring_all_reduce(ranks: int, size: int, bytes_per_ns: float, latency: float, endpoint_delay: int) -> list[int]:
    """End of each rank of a ring all-reduce, by sending every message."""
    steps = 2 * (ranks - 1)
    delay = int(latency + size // ranks / bytes_per_ns)
    sent = [0] * ranks  # messages that each rank has sent
    landed = [0] * ranks  # messages that have reached each rank
    ends = [0] * ranks
    events = [(endpoint_delay, rank, "send") for rank in range(ranks)]
    heapq.heapify(events)

    def proceed(now: int, rank: int) -> None:
        """Go on with a rank that has sent message k and received message k, after the endpoint delay."""
        if landed[rank] >= sent[rank] > 0:
            heapq.heappush(events, (now + endpoint_delay, rank, "send" if sent[rank] < steps else "end"))

    while events:
        now, rank, what = heapq.heappop(events)
        if what == "end":
            ends[rank] = now
        elif what == "send":
            sent[rank] += 1
            heapq.heappush(events, (now + delay, (rank + 1) % ranks, "land"))
            proceed(now, rank)
        else:
            landed[rank] += 1
            if landed[rank] <= sent[rank]:
                proceed(now, rank)
    return ends
