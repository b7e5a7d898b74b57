"""Simulating a collective message by message, against a plain event loop over a heap in Python."""

from __future__ import annotations

import heapq
from pathlib import Path

from measure import Ratio, compare

import chakra_core as cc


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Compare on one ring all-reduce."""
    ranks = 16 if smoke else 128
    size = 64 << 20
    builder = cc.TraceBuilder()
    builder.add_node(id=0, name="all-reduce", type="COMM_COLL_NODE", attrs={"comm_type": 0, "comm_size": size})
    trace = builder.build()
    network = cc.Network(topology=["Ring"], npus=[ranks], bandwidth=[50], latency=[500])
    system = cc.System.coerce({"endpoint-delay": 10})
    result = cc.simulate([trace] * ranks, network=network, system=system)
    ends = ring_all_reduce(ranks, size, 50 * 2**30 / 1e9, 500, 10)
    if result.finish_ns.tolist() != ends:
        raise RuntimeError(f"the two disagree: {result.finish_ns[0]} and {ends[0]} ns")
    note = f"{result.messages:,} messages, {result.events:,} events"
    return [
        compare(
            f"ring all-reduce of {ranks} ranks",
            lambda: cc.simulate([trace] * ranks, network=network, system=system, record_nodes=False),
            "heapq event loop in Python",
            lambda: ring_all_reduce(ranks, size, 50 * 2**30 / 1e9, 500, 10),
            note=note,
        )
    ]


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
