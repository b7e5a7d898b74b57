# SPDX-License-Identifier: MIT
"""Process groups that PyTorch recorded stand in for a file of groups."""

import json
from typing import Any

import pytest

import chakra_core as cc
from chakra_core.recorded_groups import recorded_groups

NETWORK = {"topology": ["Ring"], "npus": [4], "bandwidth": [50], "latency": [500]}


def make_trace(groups: list[dict[str, Any]] | str, uses: str = "tp") -> cc.Trace:
    builder = cc.TraceBuilder()
    values = groups if isinstance(groups, str) else f"['{json.dumps(groups)}']"
    builder.add_node(
        id=1, name="## process_group:init ##", type="METADATA_NODE", inputs=cc.IoInfo(values, "[[]]", "['String']")
    )
    attrs = {"is_cpu_op": False, "comm_type": 0, "comm_size": 1 << 20, "pg_name": uses}
    builder.add_node(id=2, name="ar", type="COMM_COLL_NODE", attrs=attrs)
    return builder.build()


LOW = [{"pg_name": "0", "ranks": []}, {"pg_name": "tp", "pg_desc": "x", "ranks": [0, 1]}]
HIGH = [{"pg_name": "pp", "ranks": [2, 3]}]


def test_groups_of_all_traces_are_joined() -> None:
    groups = recorded_groups([make_trace(LOW), make_trace(HIGH), make_trace(HIGH)])
    assert groups.groups == {"tp": (0, 1), "pp": (2, 3)}
    assert recorded_groups([cc.TraceBuilder().build()]).groups == {}


@pytest.mark.parametrize("text", ["", "[]", json.dumps(json.dumps(LOW)), json.dumps(LOW)])
def test_ways_of_quoting(text: str) -> None:
    assert recorded_groups([make_trace(text)]).groups == ({"tp": (0, 1)} if "tp" in text else {})


def test_simulation_uses_them() -> None:
    traces = [make_trace(LOW, "tp")] * 2 + [make_trace(HIGH, "pp")] * 2
    found = cc.simulate(traces, network=NETWORK)
    given = cc.simulate(traces, network=NETWORK, comm_groups={"tp": [0, 1], "pp": [2, 3]})
    assert found.finish_ns.tolist() == given.finish_ns.tolist()
    assert found.total_ns > 0


def test_given_groups_win_and_unused_ones_do_no_harm() -> None:
    far = [{"pg_name": "tp", "ranks": [100, 101]}]
    assert cc.simulate([make_trace(far)] * 4, network=NETWORK, comm_groups={"tp": [0, 1, 2, 3]}).total_ns > 0
    assert cc.simulate([make_trace(far, "0")] * 4, network=NETWORK).total_ns > 0
    with pytest.raises(cc.ConfigError, match="group 'tp' has rank 101"):
        cc.simulate([make_trace(far)] * 4, network=NETWORK)


def test_contradictions_and_damage_are_told() -> None:
    other = [{"pg_name": "tp", "ranks": [2, 3]}]
    with pytest.raises(cc.ConfigError, match=r"group 'tp' has ranks \[2, 3\] here and \[0, 1\] in another trace"):
        recorded_groups([make_trace(LOW), make_trace(other)])
    for damaged in ('[{"pg_name": "tp"}]', '[{"pg_name": "tp", "ranks": ["x"]}]', '[{"pg_name"}]', "[{}]"):
        with pytest.raises(cc.ConfigError, match="cannot read the process groups"):
            recorded_groups([make_trace(damaged)])
