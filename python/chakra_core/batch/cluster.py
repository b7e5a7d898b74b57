# SPDX-License-Identifier: MIT
"""Items carried out by the workers of a Dask cluster, which see the same files or URLs."""

from __future__ import annotations

import importlib
import time
from concurrent.futures import Future
from typing import Any

from chakra_core._core import ChakraError, Progress
from chakra_core.batch.journal import Record
from chakra_core.batch.task import Task, carry_out

_SECONDS_BETWEEN_COUNTS = 1.0
#: Tasks for each thread of the cluster, so that no worker waits for the next one.
_AHEAD = 2
#: How often a task is begun again elsewhere when its worker is lost.
_RETRIES = 3


class ClusterWorkers:
    """Workers of a `distributed` cluster. A task whose worker is lost is begun again on another one.

    Outputs appear under their names only when they are complete, and are the same whoever makes them, so that a task
    that two workers carry out leaves one output; and the report, written here, has one line for it.
    """

    are_here = False
    threads_each = 1

    def __init__(self, cluster: Any) -> None:
        """Connect to a cluster.

        Args:
            cluster: the address of a scheduler ("tcp://host:8786"), or a `distributed.Client`.

        Raises:
            ChakraError: `distributed` is not installed, or nobody answers at the address.
        """
        self._owned = isinstance(cluster, str)
        self._client = _connect(cluster) if isinstance(cluster, str) else cluster
        self._executor = self._client.get_executor(pure=False, retries=_RETRIES)
        self._slots = 0
        self._counted = float("-inf")

    @property
    def slots(self) -> int:
        """Threads of all workers that are there now, and some ahead."""
        if time.monotonic() - self._counted > _SECONDS_BETWEEN_COUNTS:
            self._slots = _AHEAD * max(1, sum(self._client.nthreads().values()))
            self._counted = time.monotonic()
        return self._slots

    def submit(self, task: Task, progress: Progress) -> Future[Record]:
        """Begin a task on some worker; it cannot be stopped there."""
        future: Future[Record] = self._executor.submit(carry_out, task)
        return future

    def close(self) -> None:
        """Drop what is under way, and the connection if it was made here."""
        self._executor.shutdown(wait=False)
        if self._owned:
            self._client.close()


def _connect(address: str) -> Any:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise ChakraError(f"{address}: a cluster needs dask: pip install 'chakra-core[cluster]'") from None
    try:
        return distributed.Client(address, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ChakraError(f"{address}: no Dask scheduler answers there: {error}") from None
