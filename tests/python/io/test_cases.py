# SPDX-License-Identifier: MIT
"""Cases that users of today's tools ran into: T03, T04, T06, T07, T09 and their siblings."""

from __future__ import annotations

from pathlib import Path

import pytest

import chakra_core as cc
from chakra_core import proto
from et_records import INTEGER_ARMS, INTEGER_COLUMNS, file_of, node_file


def with_value(arm: str, value: object, name: str = "comm_size", node_id: int = 7) -> proto.Node:
    node = proto.Node(id=node_id, type=proto.COMM_COLL_NODE)
    setattr(node.attr.add(name=name), arm, value)
    return node


class TestT03IntegersFromAnyArm:
    def test_five_arms_in_one_file(self) -> None:
        arms = ("int64_val", "uint64_val", "int32_val", "uint32_val", "sint64_val")
        trace = cc.load(node_file(*(with_value(arm, 212480, node_id=row) for row, arm in enumerate(arms))))
        assert trace.attr("comm_size").tolist() == [212480] * 5

    @pytest.mark.parametrize("name", INTEGER_COLUMNS)
    @pytest.mark.parametrize("arm", INTEGER_ARMS)
    def test_every_column_from_every_arm(self, arm: str, name: str) -> None:
        assert cc.load(node_file(with_value(f"{arm}_val", 5, name))).attr(name).tolist() == [5]

    @pytest.mark.parametrize("arm", ["int32", "int64", "sint32", "sint64", "sfixed32", "sfixed64"])
    def test_negative_values(self, arm: str) -> None:
        assert cc.load(node_file(with_value(f"{arm}_val", -3, "comm_tag"))).attr("comm_tag").tolist() == [-3]

    def test_bool_is_an_integer(self) -> None:
        assert cc.load(node_file(with_value("bool_val", True, "comm_type"))).attr("comm_type").tolist() == [1]

    @pytest.mark.parametrize("name", [*INTEGER_COLUMNS, "is_cpu_op", "start_ns", "duration_ns"])
    @pytest.mark.parametrize(("arm", "value"), [("string_val", "212480"), ("double_val", 1.0), ("bytes_val", b"1")])
    def test_anything_else_names_node_and_attribute(self, name: str, arm: str, value: object) -> None:
        with pytest.raises(cc.FormatError, match=f"record 1, byte offset .*node 7: attribute {name} ") as caught:
            cc.load(node_file(with_value(arm, value, name)))
        assert caught.value.record == 1

    def test_beyond_int64(self) -> None:
        with pytest.raises(cc.FormatError, match="beyond 9223372036854775807"):
            cc.load(node_file(with_value("uint64_val", 2**63)))

    def test_recovery_drops_the_attribute_and_says_so(self) -> None:
        trace = cc.load(node_file(with_value("string_val", "8")), on_error="recover")
        assert trace.attr("comm_size").mask.tolist() == [True]
        assert trace.load_report.counts == {"attribute_type": 1}


class TestT04MissingParents:
    data = node_file(proto.Node(id=1), proto.Node(id=2, data_deps=[99]))
    ctrl = node_file(proto.Node(id=1), proto.Node(id=2, ctrl_deps=[0]))

    @pytest.mark.parametrize(("file", "missing"), [(data, 99), (ctrl, 0)])
    def test_strict_names_both(self, file: bytes, missing: int) -> None:
        with pytest.raises(cc.DependencyError, match=f"node 2 depends on missing node {missing}") as caught:
            cc.load(file)
        assert caught.value.nodes == [missing]

    @pytest.mark.parametrize("file", [data, ctrl])
    def test_recovery_drops_counts_and_the_feeder_ends(self, file: bytes) -> None:
        trace = cc.load(file, on_error="recover")
        assert trace.load_report.counts == {"missing_parent": 1}
        feeder = cc.Feeder(trace)
        while (node := feeder.pop()) is not None:
            feeder.complete(node)
        assert feeder.done

    def test_many_missing_are_listed_briefly(self) -> None:
        with pytest.raises(cc.DependencyError, match="and 995 more") as caught:
            cc.load(node_file(proto.Node(id=2, data_deps=range(1000, 2000))))
        assert caught.value.nodes == list(range(1000, 2000))

    def test_builder(self) -> None:
        builder = cc.TraceBuilder()
        builder.add_node(id=2, data_deps=[99])
        with pytest.raises(cc.DependencyError, match="node 2 depends on missing node 99"):
            builder.build()


class TestT06Cycles:
    nodes = (
        proto.Node(id=1, data_deps=[3]),
        proto.Node(id=2, data_deps=[1]),
        proto.Node(id=3, data_deps=[2]),
        proto.Node(id=4),
        proto.Node(id=5, ctrl_deps=[5]),
    )

    def test_validate_lists_each_cycle_and_not_the_free_node(self) -> None:
        report = cc.load(node_file(*self.nodes)).validate()
        cycles = [problem.nodes for problem in report.problems if problem.kind == "dependency_cycle"]
        assert [sorted(cycle) for cycle in cycles] == [[1, 2, 3], [5]]
        assert not report.ok

    def test_feeder_gives_the_free_node_and_then_an_error(self) -> None:
        feeder = cc.Feeder(cc.load(node_file(*self.nodes)))
        node = feeder.pop()
        assert node.id == 4
        assert feeder.pop() is None
        feeder.complete(node)
        with pytest.raises(cc.DependencyError, match="4 of 5 nodes can never become ready") as caught:
            feeder.pop()
        assert sorted(caught.value.nodes) in ([1, 2, 3], [5])


class TestT07DuplicateIds:
    file = node_file(proto.Node(id=3, name="first"), proto.Node(id=4), proto.Node(id=3, name="second"))

    def test_strict_names_both_records(self) -> None:
        with pytest.raises(cc.FormatError, match=r"record 3.*node id 3 .*record 1 ") as caught:
            cc.load(self.file)
        assert caught.value.record == 3

    def test_recovery_keeps_the_first(self) -> None:
        trace = cc.load(self.file, on_error="recover")
        assert trace.names.to_list() == ["first", ""]
        assert trace.load_report.counts == {"duplicate_id": 1}


class TestT09UnknownTypeAndField:
    record = proto.Node(id=1, name="n").SerializeToString() + b"\x18\x08" + b"\x5a\x03\x61\x62\x63"

    def test_record_is_byte_identical_and_the_type_stays(self, tmp_path: Path) -> None:
        trace = cc.load(node_file(self.record))
        assert trace.types.tolist() == [8]
        assert trace.node(1).type == 8
        cc.save(trace, tmp_path / "a.et")
        assert (tmp_path / "a.et").read_bytes() == node_file(self.record)

    def test_it_is_a_warning_only(self) -> None:
        report = cc.load(node_file(self.record)).validate()
        assert report.ok
        assert report.counts == {"unknown_node_type": 1}


def test_forward_references_and_sparse_ids() -> None:
    """STAGE's node 2 depends on a node that comes much later."""
    trace = cc.load(node_file(proto.Node(id=2, data_deps=[2**63 + 7]), proto.Node(id=2**63 + 7)))
    assert trace.data_deps[0].tolist() == [1]
    assert trace.node(2).data_deps.tolist() == [2**63 + 7]


def test_empty_record_is_a_node_of_defaults() -> None:
    trace = cc.load(file_of([b"", b""]))
    assert trace.ids.tolist() == [0]
    assert trace.metadata.version == ""


def test_a_hundred_thousand_forward_references_take_no_quadratic_time() -> None:
    count = 100_000
    chain = (proto.Node(id=row, data_deps=[row + 1] if row + 1 < count else []) for row in range(count))
    feeder = cc.Feeder(cc.load(node_file(*chain)))
    assert feeder.pop().id == count - 1
