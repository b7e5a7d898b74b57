# SPDX-License-Identifier: MIT
"""A rescaled run is the run that would have been made for so many ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from chakra_core.cli import main
from shared_data import SHARED, needs

ALL_REDUCE, BROADCAST, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 5, 2, 6, 7, 9


class Workload(NamedTuple):
    """An SPMD training: tensor parallel inside, data parallel around it, pipeline stages outside.

    Attributes:
        sharded: gradients are reduce-scattered and parameters all-gathered, of `whole` bytes.
        steps: layers of each stage.
    """

    tensor: int
    stages: int
    sharded: bool
    whole: int
    steps: int

    def ranks(self, replicas: int) -> int:
        return self.tensor * self.stages * replicas

    def place(self, rank: int, replicas: int) -> tuple[int, int, int]:
        """Inside, replica, stage."""
        return rank % self.tensor, rank // self.tensor % replicas, rank // (self.tensor * replicas)

    def rank(self, inside: int, replica: int, stage: int, replicas: int) -> int:
        return (stage * replicas + replica) * self.tensor + inside

    def groups(self, replicas: int) -> dict[str, list[int]]:
        groups = {}
        for stage in range(self.stages):
            for inside in range(self.tensor):
                members = [self.rank(inside, replica, stage, replicas) for replica in range(replicas)]
                groups[f"dp {inside} {stage}"] = members
            for replica in range(replicas):
                members = [self.rank(inside, replica, stage, replicas) for inside in range(self.tensor)]
                groups[f"tp {replica} {stage}"] = members
        return groups

    def trace(self, rank: int, replicas: int) -> cc.Trace:
        inside, replica, stage = self.place(rank, replicas)
        builder = cc.TraceBuilder()
        node = 0

        def add(kind: str, deps: list[int], **attrs: Any) -> int:
            nonlocal node
            node += 1
            duration = 1000 + stage if kind == "COMP_NODE" else 0
            attrs = {"is_cpu_op": False, **attrs}
            builder.add_node(id=node, name=f"n{node}", type=kind, data_deps=deps, duration_ns=duration, attrs=attrs)
            return node

        last: list[int] = []
        if stage > 0:
            peer = self.rank(inside, replica, stage - 1, replicas)
            last = [add("COMM_RECV_NODE", [], comm_src=peer, comm_dst=rank, comm_size=4096, comm_tag=stage)]
        for _ in range(self.steps):
            last = [add("COMP_NODE", last)]
            tensor = {"comm_type": ALL_REDUCE, "comm_size": 65536, "pg_name": f"tp {replica} {stage}"}
            last = [add("COMM_COLL_NODE", last, **tensor)]
            group = {"pg_name": f"dp {inside} {stage}"}
            if self.sharded:
                reduced = add("COMM_COLL_NODE", last, comm_type=REDUCE_SCATTER, comm_size=self.whole, **group)
                shard = -(-self.whole // replicas)
                add("COMM_COLL_NODE", [reduced], comm_type=ALL_GATHER, comm_size=shard, **group)
            else:
                add("COMM_COLL_NODE", last, comm_type=ALL_REDUCE, comm_size=self.whole, **group)
        if stage + 1 < self.stages:
            peer = self.rank(inside, replica, stage + 1, replicas)
            add("COMM_SEND_NODE", last, comm_src=rank, comm_dst=peer, comm_size=4096, comm_tag=stage + 1)
        add("COMM_COLL_NODE", last, comm_type=ALL_REDUCE, comm_size=8)
        return builder.build()

    def traces(self, replicas: int) -> list[cc.Trace]:
        return [self.trace(rank, replicas) for rank in range(self.ranks(replicas))]


WORKLOADS = st.builds(
    Workload,
    tensor=st.integers(1, 3),
    stages=st.integers(1, 3),
    sharded=st.booleans(),
    whole=st.integers(64, 100_000),
    steps=st.integers(1, 2),
)


def without_group_names(trace: cc.Trace, groups: Any) -> list[Any]:
    """Everything about the nodes, with the ranks of their groups in place of the names."""
    facts = []
    for row in range(len(trace)):
        node = trace.at(row)
        attrs = {name: value for name, value in node.attrs.items() if name != "pg_name"}
        members = tuple(groups[node.attrs["pg_name"]]) if "pg_name" in node.attrs else None
        deps = node.data_deps.tolist(), node.ctrl_deps.tolist()
        facts.append((node.id, node.name, node.type, deps, node.start_ns, node.duration_ns, attrs, members))
    return facts


@given(WORKLOADS, st.integers(1, 4), st.integers(1, 5))
def test_it_is_the_workload_made_for_so_many_ranks(workload: Workload, replicas: int, new: int) -> None:
    groups = workload.groups(replicas)
    data_parallel = [name for name in groups if name.startswith("dp")]
    if replicas == 1 and workload.stages > 1:
        return  # New replicas come behind, which is another order of ranks than this workload's.
    made = cc.rescale(workload.traces(replicas), workload.ranks(new), comm_groups=groups, data_parallel=data_parallel)
    expected, expected_groups = workload.traces(new), workload.groups(new)
    assert sorted(made.comm_groups.groups.values()) == sorted(map(tuple, expected_groups.values()))
    for mine, theirs in zip(made.traces, expected, strict=True):
        assert without_group_names(mine, made.comm_groups.groups) == without_group_names(theirs, expected_groups)
    assert cc.check_ranks(made.traces, comm_groups=made.comm_groups).ok
    network = {"topology": ["Ring"], "npus": [workload.ranks(new)], "bandwidth": [50], "latency": [500]}
    mine = cc.simulate(made.traces, network=network, comm_groups=made.comm_groups)
    theirs = cc.simulate(expected, network=network, comm_groups=expected_groups)
    assert mine.finish_ns.tolist() == theirs.finish_ns.tolist()


@given(WORKLOADS, st.integers(2, 3), st.integers(2, 3))
def test_there_and_back(workload: Workload, replicas: int, factor: int) -> None:
    groups = workload.groups(replicas)
    traces = workload.traces(replicas)
    data_parallel = [name for name in groups if name.startswith("dp")]
    there = cc.rescale(traces, len(traces) * factor, comm_groups=groups, data_parallel=data_parallel)
    back = cc.rescale(there.traces, len(traces), comm_groups=there.comm_groups, data_parallel=data_parallel)
    assert {name: list(ranks) for name, ranks in back.comm_groups.groups.items()} == groups
    for old, new in zip(traces, back.traces, strict=True):
        assert not cc.diff(old, new)


def collective(kind: int, size: int, **attrs: Any) -> dict[str, Any]:
    return {"type": "COMM_COLL_NODE", "attrs": {"comm_type": kind, "comm_size": size, **attrs}}


def trace_of(*nodes: dict[str, Any]) -> cc.Trace:
    builder = cc.TraceBuilder()
    for node, spec in enumerate(nodes):
        builder.add_node(id=node, name=f"n{node}", **spec)
    return builder.build()


def test_data_parallel_ranks_share_what_they_shared() -> None:
    trace = trace_of(collective(ALL_REDUCE, 1000), collective(BROADCAST, 10, comm_src=1), collective(BARRIER, 0))
    made = cc.rescale([trace] * 2, 64)
    assert len(made.traces) == 64
    assert all(one is trace for one in made.traces)
    assert cc.rescale([trace] * 2, 2, comm_groups={"all": [0, 1]}).comm_groups.groups == {"all": (0, 1)}


def test_shards_and_parts_of_the_batch() -> None:
    padded = trace_of(collective(REDUCE_SCATTER, 1001), collective(ALL_GATHER, 501))
    assert cc.rescale([padded] * 2, 4).traces[0].attr("comm_size").tolist() == [1001, 251]
    unknown = [trace_of(collective(ALL_GATHER, 500))] * 2
    with pytest.raises(cc.ConfigError, match=r"an all-gather of 500 B .* has no reduce-scatter .*gathered"):
        cc.rescale(unknown, 4)
    assert cc.rescale(unknown, 4, gathered="shards").traces[0].attr("comm_size").tolist() == [250]
    assert cc.rescale(unknown, 4, gathered="batch").traces[0].attr("comm_size").tolist() == [500]
    gather = [trace_of(collective(3, 500))] * 2
    assert cc.rescale(gather, 4, gathered="batch").traces[3].attr("comm_size").tolist() == [500]
    with pytest.raises(cc.ConfigError, match=r"kind GATHER: .*gathered=\"batch\""):
        cc.rescale(gather, 4)


GROUPS = {"a": [0, 1], "b": [2, 3], "x": [0, 2], "y": [1, 3]}


def test_what_has_no_sound_rule_is_refused() -> None:
    plain = trace_of(collective(ALL_REDUCE, 8))
    expert = trace_of(collective(ALL_TO_ALL, 8))
    with pytest.raises(cc.ConfigError, match="node 0 is a collective between replicas of the kind ALL_TO_ALL"):
        cc.rescale([expert] * 4, 8)
    with pytest.raises(cc.ConfigError, match=r"some of the ranks \(a, b, x, y\): .* name them in data_parallel"):
        cc.rescale([plain] * 4, 8, comm_groups=GROUPS)
    with pytest.raises(cc.ConfigError, match="there is no group 'z'; there are a, b, x, y"):
        cc.rescale([plain] * 4, 8, comm_groups=GROUPS, data_parallel=["z"])
    with pytest.raises(cc.ConfigError, match="do not have every rank"):
        cc.rescale([plain] * 4, 8, comm_groups=GROUPS, data_parallel=["a"])
    with pytest.raises(cc.ConfigError, match="same number of ranks each, and no rank twice"):
        cc.rescale([plain] * 4, 8, comm_groups=GROUPS, data_parallel=["a", "b", "x"])
    with pytest.raises(cc.ConfigError, match="found 7, which is no multiple of the 2 ranks"):
        cc.rescale([plain] * 4, 7, comm_groups=GROUPS, data_parallel=["a", "b"])
    with pytest.raises(cc.ConfigError, match="not at equal distances"):
        cc.rescale([plain] * 4, 8, comm_groups={"a": [0, 3], "b": [1, 2]}, data_parallel=["a", "b"])
    with pytest.raises(cc.ConfigError, match="'t' has ranks of several replicas and is not data parallel"):
        cc.rescale([plain] * 4, 8, comm_groups={**GROUPS, "t": [0, 1, 2]}, data_parallel=["a", "b"])
    with pytest.raises(cc.ConfigError, match="num_ranks: found 0"):
        cc.rescale([plain] * 4, 0)
    with pytest.raises(cc.ConfigError, match="gathered: found 'x'"):
        cc.rescale([plain] * 4, 4, gathered="x")  # type: ignore[arg-type]
    with pytest.raises(cc.ConfigError, match="the ranks of the run disagree"):
        cc.rescale([plain, expert], 4)
    with pytest.raises(cc.ConfigError, match="'q' is in a trace and not in comm_groups"):
        cc.rescale([trace_of(collective(ALL_REDUCE, 8, pg_name="q"))] * 2, 4)
    with pytest.raises(cc.ConfigError, match="leaves out dimensions"):
        cc.rescale([trace_of(collective(ALL_REDUCE, 8, involved_dim=[True, False]))] * 2, 4)
    with pytest.raises(cc.ConfigError, match="root in a replica that the new run does not have"):
        cc.rescale([trace_of(collective(BROADCAST, 8, comm_src=3))] * 4, 2)


def test_messages_between_replicas_are_refused() -> None:
    message = {"comm_size": 8, "comm_tag": 0}
    send = trace_of({"type": "COMM_SEND_NODE", "attrs": {"comm_dst": 1, **message}})
    receive = trace_of({"type": "COMM_RECV_NODE", "attrs": {"comm_src": 0, **message}})
    with pytest.raises(cc.ConfigError, match=r"node 0 of replica 0 has its peer in replica 1 \(comm_dst 1\)"):
        cc.rescale([send, receive], 4)
    far = trace_of({"type": "COMM_SEND_NODE", "attrs": {"comm_dst": 9, **message}})
    with pytest.raises(cc.ConfigError, match="comm_dst: found rank 9 in a run of 1 ranks"):
        cc.rescale([far], 4)


def test_recorded_groups_are_left_out() -> None:
    listed = json.dumps([{"pg_name": "dp", "ranks": [0, 1]}])
    builder = cc.TraceBuilder()
    values = cc.IoInfo(f"['{listed}']", "[[]]", "['String']")
    builder.add_node(id=1, name="## process_group:init ##", type="METADATA_NODE", inputs=values)
    builder.add_node(id=2, name="ar", **collective(ALL_REDUCE, 8, pg_name="dp"))
    made = cc.rescale([builder.build()] * 2, 4)
    assert made.comm_groups.groups == {"dp": (0, 1, 2, 3)}
    assert [list(trace.names) for trace in made.traces] == [["ar"]] * 4


@pytest.mark.parametrize(
    ("degrees", "same"),
    [
        ({"tp": 2, "pp": 2}, True),
        ({"zero": 3}, False),
        ({"tp": 2, "zero": 1}, False),
    ],
)
def test_a_generated_transformer(degrees: dict[str, int], *, same: bool) -> None:
    """All is as generated for so many replicas, but for the optimizer step where it works on a shard."""
    small = cc.generate.transformer("gpt2-small", dp=2, **degrees)
    large = cc.generate.transformer("gpt2-small", dp=4, **degrees)
    data_parallel = [name for name, kind in small.group_kinds.items() if kind == "dp"]
    made = cc.rescale(
        small.traces,
        large.num_ranks,
        comm_groups=small.groups,
        data_parallel=data_parallel,
        # The shared embedding is gathered by itself and reduced with others.
        gathered="shards" if "zero" in degrees else None,
    )
    assert sorted(made.comm_groups.groups.values()) == sorted(large.groups.groups.values())
    network = {"topology": ["Switch"], "npus": [large.num_ranks], "bandwidth": [50], "latency": [500]}
    mine = cc.simulate(made.traces, network=network, comm_groups=made.comm_groups)
    theirs = cc.simulate(large.traces, network=network, comm_groups=large.groups)
    assert mine.finish_ns.tolist() == theirs.finish_ns.tolist()
    for one, other in zip(made.traces, large.traces, strict=True):
        difference = cc.diff(one, other, limit=len(one))
        sharded = {"attrs.num_ops", "attrs.tensor_size"} & difference.changed_fields.keys()
        assert bool(sharded) != same
        for node, fields in difference.changed_nodes.items():
            assert set(fields) == {"attrs.pg_name"} or one.node(node).name == "optimizer"


STAGE = SHARED / "data" / "et" / "stage_llama_dp2_tp2_pp2"


@needs(STAGE)
def test_a_llama_of_stage() -> None:
    groups = STAGE / "workload.json"
    data_parallel = ["5", "6", "7", "8"]
    made = cc.rescale(cc.load_run(STAGE), 16, comm_groups=groups, data_parallel=data_parallel)
    assert made.comm_groups.groups["5"] == (0, 2, 4, 6)
    assert made.comm_groups.groups["7"] == (8, 10, 12, 14)
    assert len(made.comm_groups) == 2 * 16 - 4, "four of data parallelism; of each other one a second"
    assert cc.check_ranks(made.traces, comm_groups=made.comm_groups).ok
    network = {"topology": ["Switch"], "npus": [16], "bandwidth": [50], "latency": [500]}
    assert cc.simulate(made.traces, network=network, comm_groups=made.comm_groups).total_ns > 0
    back = cc.rescale(made.traces, 8, comm_groups=made.comm_groups, data_parallel=data_parallel)
    assert back.comm_groups == cc.CommGroups(groups=cc.CommGroups.load(groups).groups)
    assert not any(cc.diff(one, other) for one, other in zip(cc.load_run(STAGE), back.traces, strict=True))


PAIRS = SHARED / "data" / "pairs"


@needs(PAIRS)
def test_a_recorded_training() -> None:
    names = [PAIRS / f"torch213_ddp2_rank{rank}" for rank in range(2)]
    traces = [cc.convert(host=name / "host.json.gz", device=name / "kineto.json.gz") for name in names]
    made = cc.rescale(traces, 8)
    network = {"topology": ["Ring"], "npus": [8], "bandwidth": [50], "latency": [500]}
    eight = cc.simulate(made.traces, network=network, comm_groups=made.comm_groups)
    two = cc.simulate(traces, network={**network, "npus": [2]})
    assert eight.total_ns > two.total_ns
    assert len({id(trace) for trace in made.traces}) == 2


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    workload = Workload(tensor=2, stages=1, sharded=True, whole=4096, steps=1)
    for rank, trace in enumerate(workload.traces(2)):
        cc.save(trace, f"run.{rank}.et")
    Path("groups.json").write_text(json.dumps(workload.groups(2)))
    command = ["rescale", "run.%d.et", "-o", "big.%d.et", "--comm-groups", "groups.json"]
    assert main([*command, "--ranks", "8", "--data-parallel", "dp 0 0,dp 1 0", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["traces"] == [f"big.{rank}.et" for rank in range(8)]
    assert cc.check_ranks("big.%d.et", comm_groups=facts["comm_groups"]).ok
    assert main([*command, "--ranks", "8"]) == 1
    assert "name them in data_parallel" in capsys.readouterr().err
    assert main([*command, "--ranks", "4", "--data-parallel", "dp 0 0", "--data-parallel", "dp 1 0"]) == 0
    assert "4 ranks became 4" in capsys.readouterr().out
