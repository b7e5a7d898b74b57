# SPDX-License-Identifier: MIT
"""A feeder for asyncio: taking a node waits until one is ready."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable

from chakra_core._core import Feeder, Node

__all__ = ["AsyncFeeder"]


class AsyncFeeder:
    """Hands out the nodes of a feeder to tasks of one event loop.

    Any number of tasks may take nodes at the same time; each gets another node, and waits while none is ready:

        nodes = cc.AsyncFeeder(cc.Feeder(trace))
        async for node in nodes:      # in one task or in several
            await handle(node)
            nodes.complete(node)

    or, with the tasks made and the nodes completed for you, `await nodes.run(handle, concurrency=8)`.

    Args:
        feeder: to be driven through this object only, as long as tasks wait.
    """

    def __init__(self, feeder: Feeder) -> None:
        self._feeder = feeder
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def feeder(self) -> Feeder:
        """The feeder behind, to ask it for its state."""
        return self._feeder

    async def pop(self) -> Node | None:
        """Take the first ready node; wait while none is ready; None once all are complete.

        Raises:
            DependencyError: nodes remain that can never become ready. Every waiting task gets it.
        """
        while (node := self._feeder.pop()) is None:
            if self._feeder.done:
                return None
            woken = asyncio.get_running_loop().create_future()
            self._waiting.append(woken)
            try:
                await woken
            except asyncio.CancelledError:
                if woken.done() and not woken.cancelled():
                    self._wake()  # what this task was woken for is another's now
                else:
                    self._waiting.remove(woken)
                raise
        return node

    def complete(self, node: Node | int) -> None:
        """Mark a taken node complete, and wake who can go on."""
        self._feeder.complete(node)
        self._wake()

    def push_back(self, node: Node | int) -> None:
        """Return a taken node to the ready set, for another task to take."""
        self._feeder.push_back(node)
        self._wake()

    def _wake(self) -> None:
        # When nothing is in flight, no one else would ever wake those who wait: all is done, or nodes are stuck.
        count = self._feeder.ready if self._feeder.in_flight else len(self._waiting)
        for _ in range(min(count, len(self._waiting))):
            woken = self._waiting.popleft()
            if not woken.done():
                woken.set_result(None)

    async def __aiter__(self) -> AsyncIterator[Node]:
        """Take node after node, until all are complete."""
        while (node := await self.pop()) is not None:
            yield node

    async def run(self, handle: Callable[[Node], Awaitable[object]], *, concurrency: int = 1) -> None:
        """Await `handle(node)` for every node, each as soon as its parents are complete, and complete it after that.

        Args:
            handle: called with each node. Its result is not used.
            concurrency: nodes in flight at a time, at most.

        Raises:
            ValueError: concurrency is less than 1.
            DependencyError: nodes remain that can never become ready.
            Exception: the first that a handler raises. Other handlers are cancelled; nodes under way stay in flight.
        """
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")

        async def work() -> None:
            async for node in self:
                await handle(node)
                self.complete(node)

        workers = [asyncio.ensure_future(work()) for _ in range(concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
