# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc

RING = cc.Network(topology=["Ring", "Switch"], npus=[4, 2], bandwidth=[50, 25], latency=[500, 300])


@given(
    st.sampled_from(sorted(cc.CollectiveType.__members__)),
    st.integers(0, 1 << 24),
    st.lists(st.integers(0, 7), unique=True),
    st.booleans(),
    st.sampled_from(["auto", "message"]),
)
def test_what_simulate_gives(name: str, size: int, group: list[int], congestion: bool, fidelity: Any) -> None:
    kind = cc.CollectiveType.__members__[name]
    traces = []
    for rank in range(8):
        builder = cc.TraceBuilder()
        if not group or rank in group:
            attrs = {"comm_type": int(kind), "comm_size": size} | ({"pg_name": "g"} if group else {})
            builder.add_node(id=0, name="collective", type="COMM_COLL_NODE", attrs=attrs)
        traces.append(builder.build())
    options: dict[str, Any] = {
        "network": RING,
        "system": {"preferred-dataset-splits": 2, "all-reduce-implementation": ["direct", "ring"]},
        "congestion": congestion,
        "damage": [{"src": 1, "latency": 2}],
        "fidelity": fidelity,
    }
    expected = cc.simulate(traces, comm_groups={"g": group} if group else None, **options)
    assert cc.collective_time(name, size, group=group, **options) == expected.finish_ns.max()


def test_bad_arguments() -> None:
    with pytest.raises(cc.ConfigError, match="found collective 'ALLREDUCE', allowed: ALL_REDUCE, REDUCE"):
        cc.collective_time("ALLREDUCE", 1, network=RING)
    with pytest.raises(cc.ConfigError, match="found a size of -1 bytes"):
        cc.collective_time("ALL_REDUCE", -1, network=RING)
    with pytest.raises(cc.ConfigError, match=r"found rank 8, but the network \(Network\) has 8 NPUs"):
        cc.collective_time("ALL_REDUCE", 1, network=RING, group=[0, 8])
    with pytest.raises(cc.ConfigError, match="lists rank 1 twice"):
        cc.collective_time("ALL_REDUCE", 1, network=RING, group=[1, 1])
    with pytest.raises(cc.ConfigError, match="fidelity"):
        cc.collective_time("ALL_REDUCE", 1, network=RING, fidelity="exact")  # type: ignore[arg-type]
