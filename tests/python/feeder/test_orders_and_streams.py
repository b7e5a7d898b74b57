# SPDX-License-Identifier: MIT
"""Issue orders against networkx, over whole traces and streams, in every way of driving a feeder."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chakra_core as cc
from feeder_graphs import ORDERS, Given, acyclic_graphs, expected_order, trace_of

NAMES = ["trace.et", "trace.et.gz", "trace.et.zst"]


@given(acyclic_graphs(), st.sampled_from(ORDERS), st.sampled_from(["data", "control", "both"]))
def test_each_order_is_the_topological_order_that_it_defines(nodes: list[Given], order: str, deps: str) -> None:
    feeder = cc.Feeder(trace_of(nodes), order=order, deps=deps)
    assert feeder.drain().tolist() == expected_order(nodes, order, deps)


@settings(max_examples=25)
@given(nodes=acyclic_graphs(most=40), order=st.sampled_from(ORDERS))
def test_streams_of_every_window_and_compression_agree(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[Given], order: str
) -> None:
    trace = trace_of(nodes)
    expected = expected_order(nodes, order)
    folder = tmp_path_factory.mktemp("streams")
    for name in NAMES:
        cc.save(trace, folder / name)
        for window in (1, 2, 1000):
            feeder = cc.Feeder(folder / name, window=window, order=order)
            assert [node.id for node in feeder.run()] == expected
            assert feeder.done
            assert feeder.statistics.nodes_read == len(nodes)


@given(acyclic_graphs())
def test_keys_order_rows_with_ties_by_id(nodes: list[Given]) -> None:
    trace = trace_of(nodes)
    for kind in (np.int8, np.uint64, np.float32):
        keys = np.array([node.start // 1000 for node in nodes], dtype=kind)
        assert cc.Feeder(trace, order=keys).drain().tolist() == expected_order(nodes, "start")


@given(acyclic_graphs(), st.integers(1, 5))
def test_batches_take_all_that_is_ready(nodes: list[Given], most: int) -> None:
    one, other, third = (cc.Feeder(trace_of(nodes)) for _ in range(3))
    fused = third.pop_batch(most)
    while len(ids := one.pop_batch(most)):
        assert ids.dtype == np.uint64
        taken = []
        while len(taken) < most and (node := other.pop()) is not None:
            taken.append(node.id)
        assert ids.tolist() == fused.tolist() == taken
        one.complete_batch(ids)
        for node_id in taken:
            other.complete(node_id)
        fused = third.pop_batch(most, fused)
    assert one.done
    assert other.done
    assert third.done


def test_a_large_batch() -> None:
    builder = cc.TraceBuilder()
    ids = np.arange(100_000) * 3
    builder.add_nodes(ids=ids)
    feeder = cc.Feeder(builder.build())
    batch = feeder.pop_batch()
    assert (batch == ids).all()
    assert feeder.in_flight == len(ids)
    feeder.complete_batch(batch[::-1])
    assert feeder.done
    assert len(feeder.pop_batch()) == 0


def test_what_batches_refuse() -> None:
    feeder = cc.Feeder(trace_of([Given(1), Given(2)]))
    feeder.pop_batch()
    with pytest.raises(cc.ChakraError, match="complete"):
        feeder.complete_batch([1, 2, 1])
    with pytest.raises(KeyError, match="7"):
        feeder.complete_batch([1, 7])
    with pytest.raises(TypeError):
        feeder.complete_batch([1.0])
    with pytest.raises(TypeError):
        feeder.complete_batch([[1]])
    assert feeder.in_flight == 2
    feeder.complete_batch(range(1, 3))
    feeder.complete_batch([])
    assert feeder.done


def test_arguments_of_batches_go_by_place_or_name() -> None:
    feeder = cc.Feeder(trace_of([Given(1), Given(2), Given(3), Given(4)]))
    assert feeder.pop_batch(1, None).tolist() == [1]
    assert feeder.pop_batch(complete=[1], max=1).tolist() == [2]
    feeder.complete_batch(ids=[2])
    assert feeder.pop_batch(max=None).tolist() == [3, 4]
    wrong: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
        (feeder.pop_batch, (1, None, 2), {}, "at most 2"),
        (feeder.pop_batch, (1,), {"max": 1}, "'max' twice"),
        (feeder.pop_batch, (), {"most": 1}, "no argument 'most'"),
        (feeder.complete_batch, (), {}, "needs the argument 'ids'"),
        (cc.Feeder.pop_batch, (cc.Feeder.__new__(cc.Feeder),), {}, "__init__"),
        (cc.Feeder.pop_batch, (object(),), {}, "Feeder"),
        (feeder.pop_batch, ("many",), {}, "max must be"),
        (feeder.pop_batch, (-1,), {}, "max must be"),
    ]
    for method, arguments, named, said in wrong:
        with pytest.raises(TypeError, match=said):
            method(*arguments, **named)
    assert feeder.in_flight == 2


def test_run_completes_a_node_when_the_next_is_asked_for() -> None:
    feeder = cc.Feeder(trace_of([Given(1), Given(2, [1]), Given(3, [2])]))
    run = feeder.run()
    assert next(run).id == 1
    assert (feeder.in_flight, feeder.ready) == (1, 0)
    assert next(run).id == 2
    for node in run:
        assert node.id == 3
        break
    assert feeder.in_flight == 1
    feeder.complete(3)
    assert feeder.done
    assert list(feeder.run()) == []


def test_take_pushes_itself_forward() -> None:
    feeder = cc.Feeder(trace_of([Given(1), Given(2), Given(3, [2])]))
    feeder.take(2)
    for not_ready in (2, 3):
        with pytest.raises(cc.ChakraError, match="not ready"):
            feeder.take(not_ready)
    feeder.complete(2)
    assert feeder.ready_ids.tolist() == [1, 3]
    assert feeder.node(3).data_deps.tolist() == [2]
    with pytest.raises(KeyError):
        feeder.take(4)


def test_blocked_says_who_waits_for_whom() -> None:
    feeder = cc.Feeder(trace_of([Given(1), Given(2, [1], [1]), Given(3, [2], [1]), Given(8, [9]), Given(9, [8])]))
    feeder.pop()
    blocked = feeder.blocked()
    assert (blocked.waiting, blocked.ready, blocked.in_flight, blocked.flying) == (4, 0, 1, [1])
    assert blocked.nodes == [(2, [1]), (3, [1, 2]), (8, [9]), (9, [8])]
    assert blocked.cycle == [8, 9]
    assert blocked.missing == []
    assert blocked.is_deadlock
    assert "node 3 waits for 1, 2" in str(blocked)
    assert "8 -> 9 -> 8" in blocked.text
    assert len(feeder.blocked(max=1).nodes) == 1
    feeder.complete(1)
    assert feeder.blocked().nodes == [(3, [2]), (8, [9]), (9, [8])]


def test_a_stuck_feeder_runs_everything_else_first() -> None:
    feeder = cc.Feeder(trace_of([Given(1, [3]), Given(2, [1]), Given(3, [2]), Given(4, [3]), Given(5)]))
    ran = []
    with pytest.raises(cc.DependencyError, match="4 of 5 nodes") as caught:
        ran.extend(node.id for node in feeder.run())
    assert caught.value.nodes == [1, 3, 2]
    assert feeder.in_flight == 0
    assert feeder.remaining == 4
    feeder.reset()
    assert feeder.drain().tolist() == [5]
    with pytest.raises(cc.DependencyError):
        feeder.drain()
    assert not cc.Feeder(trace_of([Given(1)])).blocked().is_deadlock


def test_nodes_of_a_stream(tmp_path: Path) -> None:
    builder = cc.TraceBuilder()
    builder.add_node(id=5, name="five", type="COMM_COLL_NODE", attrs={"comm_size": 7, "more": "text"})
    builder.add_node(id=6, name="six", data_deps=[5], ctrl_deps=[5], duration_ns=1500)
    trace = builder.build()
    cc.save(trace, tmp_path / "t.et.gz")
    feeder = cc.Feeder(tmp_path / "t.et.gz", window=1)
    assert feeder.trace is None
    seen = list(feeder.run())
    for node in seen:  # although they ran, and the feeder has forgotten them
        whole = trace.node(node.id)
        assert (node.name, node.type, node.attrs, node.record) == (whole.name, whole.type, whole.attrs, whole.record)
        assert (node.data_deps.tolist(), node.ctrl_deps.tolist()) == (
            whole.data_deps.tolist(),
            whole.ctrl_deps.tolist(),
        )
        assert node.duration_ns == whole.duration_ns
        with pytest.raises(cc.ChakraError, match="children"):
            _ = node.children
    with pytest.raises(KeyError, match="read and not complete"):
        feeder.node(5)
    feeder.reset()
    node = feeder.pop()
    assert node is not None
    feeder.push_back(node)
    assert feeder.drain().tolist() == [5, 6]
    assert feeder.memory_bytes > 0


def test_a_path_without_window_is_loaded(tmp_path: Path) -> None:
    cc.save(trace_of([Given(1), Given(2, [1])]), tmp_path / "t.json.gz")
    feeder = cc.Feeder(str(tmp_path / "t.json.gz"))
    assert isinstance(feeder.trace, cc.Trace)
    assert feeder.drain().tolist() == [1, 2]


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    trace = trace_of([Given(1)])
    cc.save(trace, tmp_path / "t.et")
    cc.save(trace, tmp_path / "t.json")
    for error, source, arguments in [
        (ValueError, trace, {"window": 5}),
        (ValueError, tmp_path / "t.et", {"window": 0}),
        (ValueError, tmp_path / "t.et", {"window": 5, "order": np.array([1])}),
        (ValueError, trace, {"order": "attr:"}),
        (ValueError, trace, {"order": "size"}),
        (ValueError, trace, {"order": np.array([1, 2])}),
        (ValueError, trace, {"order": np.array([np.nan])}),
        (TypeError, trace, {"order": np.array(["a"])}),
        (TypeError, trace, {"order": [1]}),
        (ValueError, trace, {"deps": "none"}),
        (cc.FormatError, tmp_path / "t.json", {"window": 5}),
        (OSError, tmp_path / "absent.et", {"window": 5}),
    ]:
        with pytest.raises(error):
            cc.Feeder(source, **arguments)


def test_missing_parents_of_a_stream(tmp_path: Path) -> None:
    trace = trace_of([Given(1), Given(2, [1]), Given(3, [2])])
    cc.save(trace, tmp_path / "t.et")
    whole = (tmp_path / "t.et").read_bytes()
    record = trace.node(2).record
    (tmp_path / "t.et").write_bytes(whole.replace(bytes([len(record)]) + record, b""))
    feeder = cc.Feeder(tmp_path / "t.et", window=1)
    assert next(feeder.run()).id == 1
    feeder.complete(1)
    with pytest.raises(cc.DependencyError, match="does not have: 2") as caught:
        feeder.pop()
    assert caught.value.nodes == [2]
    assert feeder.blocked().missing == [2]
    assert feeder.blocked().nodes == [(3, [2])]


def test_threads_share_a_feeder() -> None:
    count = 20_000
    builder = cc.TraceBuilder()
    builder.add_nodes(ids=np.arange(count))
    feeder = cc.Feeder(builder.build())
    seen: list[list[int]] = [[] for _ in range(4)]

    def work(mine: list[int]) -> None:
        while len(ids := feeder.pop_batch(100)):
            mine.extend(ids.tolist())
            feeder.complete_batch(ids)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(node_id for mine in seen for node_id in mine) == list(range(count))


@pytest.mark.parametrize("window", [None, 1, 100_000])
def test_more_than_a_million_nodes_that_all_wait_for_the_first(tmp_path: Path, window: int | None) -> None:
    count = 1_050_576
    builder = cc.TraceBuilder()
    begins = np.r_[0, 0, 2 * np.arange(1, count)]  # each names node 0 twice
    builder.add_nodes(ids=np.arange(count), data_deps=(begins, np.zeros(2 * (count - 1), dtype=np.int64)))
    path = tmp_path / "star.et"
    cc.save(builder.build(), path)
    before = path.stat()
    feeder = cc.Feeder(path, window=window)
    first = feeder.pop()
    assert first is not None
    assert first.id == 0
    assert feeder.pop() is None
    feeder.complete(first)
    assert (feeder.drain() == np.arange(1, count)).all()
    assert feeder.done
    after = path.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)  # not opened for writing


def test_attributes_that_a_streamed_node_lacks_are_absent(tmp_path: Path) -> None:
    cc.save(trace_of([Given(1), Given(2, priority=3)]), tmp_path / "t.et")
    nodes = {node.id: node for node in cc.Feeder(tmp_path / "t.et", window=1).run()}
    assert "comm_priority" not in nodes[1].attrs
    assert nodes[2].attrs["comm_priority"] == 3
