# SPDX-License-Identifier: MIT
"""The feeder for asyncio."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chakra_core as cc
from feeder_graphs import Given, acyclic_graphs, expected_order, graph_of, trace_of


@given(acyclic_graphs(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_parents_first_and_never_too_many(nodes: list[Given], concurrency: int, choose: object) -> None:
    graph = graph_of(nodes)
    complete: list[int] = []
    flying: set[int] = set()

    async def handle(node: cc.Node) -> None:
        assert set(graph.pred[node.id]) <= set(complete)
        flying.add(node.id)
        assert len(flying) <= concurrency
        for _ in range(choose.randrange(4)):  # type: ignore[attr-defined]
            await asyncio.sleep(0)
        flying.remove(node.id)
        complete.append(node.id)

    feeder = cc.Feeder(trace_of(nodes))
    asyncio.run(cc.AsyncFeeder(feeder).run(handle, concurrency=concurrency))
    assert feeder.done
    assert set(complete) == set(graph)
    if concurrency == 1:
        assert complete == expected_order(nodes)


def test_one_loop_and_by_hand() -> None:
    async def main() -> list[int]:
        nodes = cc.AsyncFeeder(cc.Feeder(trace_of([Given(1), Given(2, [1]), Given(3, [2])])))
        seen = []
        async for node in nodes:
            seen.append(node.id)
            nodes.complete(node)
        assert await nodes.pop() is None
        return seen

    assert asyncio.run(main()) == [1, 2, 3]


def test_a_node_pushed_back_wakes_another_task() -> None:
    async def main() -> None:
        nodes = cc.AsyncFeeder(cc.Feeder(trace_of([Given(1)])))
        first = await nodes.pop()
        assert first is not None
        waiting = asyncio.ensure_future(nodes.pop())
        await asyncio.sleep(0)
        assert not waiting.done()
        nodes.push_back(first)
        second = await waiting
        assert second is not None
        waiting = asyncio.ensure_future(nodes.pop())
        await asyncio.sleep(0)
        nodes.complete(second)
        assert await waiting is None

    asyncio.run(main())


def test_stuck_nodes_are_told_to_every_task() -> None:
    async def main() -> None:
        nodes = cc.AsyncFeeder(cc.Feeder(trace_of([Given(1), Given(2, [3]), Given(3, [2])])))
        first = await nodes.pop()
        assert first is not None
        waiting = [asyncio.ensure_future(nodes.pop()) for _ in range(3)]
        await asyncio.sleep(0)
        nodes.complete(first)
        for result in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(result, cc.DependencyError)

    asyncio.run(main())
    with pytest.raises(cc.DependencyError):
        asyncio.run(cc.AsyncFeeder(cc.Feeder(trace_of([Given(2, [2])]))).run(lambda _: asyncio.sleep(0), concurrency=4))


def test_the_first_failure_of_a_handler_ends_the_run() -> None:
    feeder = cc.Feeder(trace_of([Given(1), Given(2), Given(3)]))
    cancelled = []

    async def handle(node: cc.Node) -> None:
        if node.id == 2:
            raise RuntimeError("two")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(node.id)
            raise

    with pytest.raises(RuntimeError, match="two"):
        asyncio.run(cc.AsyncFeeder(feeder).run(handle, concurrency=3))
    assert sorted(cancelled) == [1, 3]
    assert feeder.in_flight == 3
    with pytest.raises(ValueError, match="concurrency"):
        asyncio.run(cc.AsyncFeeder(feeder).run(handle, concurrency=0))


def test_a_cancelled_task_does_not_swallow_a_wake_up() -> None:
    async def main() -> None:
        nodes = cc.AsyncFeeder(cc.Feeder(trace_of([Given(1), Given(2, [1])])))
        first = await nodes.pop()
        assert first is not None
        one, other = (asyncio.ensure_future(nodes.pop()) for _ in range(2))
        await asyncio.sleep(0)
        nodes.complete(first)  # wakes both or one, which is cancelled before it runs
        one.cancel()
        node = await asyncio.wait_for(other, 5)
        assert node is not None
        assert node.id == 2

    asyncio.run(main())


def test_a_waiting_task_may_be_cancelled() -> None:
    async def main() -> None:
        nodes = cc.AsyncFeeder(cc.Feeder(trace_of([Given(1), Given(2, [1])])))
        first = await nodes.pop()
        assert first is not None
        waiting = asyncio.ensure_future(nodes.pop())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        nodes.complete(first)
        second = await nodes.pop()
        assert second is not None
        assert second.id == 2

    asyncio.run(main())
