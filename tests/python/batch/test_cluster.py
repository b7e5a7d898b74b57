# SPDX-License-Identifier: MIT
"""Batches on a real Dask cluster of two worker processes, with files on a real S3-compatible server."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chakra_core as cc
from batch_files import chain, write_device, write_host
from chakra_core.batch.engine import Silent
from chakra_core.batch.journal import Record
from chakra_core.cli import main

missing = [name for name in ("distributed", "moto", "s3fs") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed (chakra-core[test])"),
    pytest.mark.filterwarnings("default"),
]


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.environment = os.environ | {"PYTHONPATH": str(Path(cc.__file__).parents[1])}
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1")
        self._wait(self.file.exists)
        self.address: str = json.loads(self.file.read_text())["address"]

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one thread that nobody starts again when it is lost."""
        self.workers.append(
            self._start("worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder))
        )
        return self.workers[-1]

    def wait_for_workers(self, number: int) -> None:
        """Wait until so many workers are there."""
        import distributed

        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=60)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{what}"
        command = [sys.executable, "-m", module, "--scheduler-file", str(self.file), "--no-dashboard", *options]
        log = (self.folder / f"{what}-{len(self.workers)}.log").open("wb")
        with log:
            return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)

    @staticmethod
    def _wait(condition: Any) -> None:
        for _ in range(1200):
            if condition():
                return
            time.sleep(0.05)
        raise TimeoutError("the scheduler did not come up")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        started.add_worker()
        started.add_worker()
        started.wait_for_workers(2)
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, Any]]:
    """Start an S3-compatible server and return what fsspec needs to know of it."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield {"key": "key", "secret": "secret", "endpoint_url": f"http://{host}:{port}"}
    server.stop()


@pytest.fixture
def bucket(store: dict[str, Any], request: pytest.FixtureRequest) -> tuple[Any, str]:
    """Return a file system, and the address of an empty bucket in it."""
    import fsspec

    name = f"s3://{request.node.name.replace('_', '-').replace('[', '-').rstrip(']').lower()}"
    system = fsspec.filesystem("s3", skip_instance_cache=True, **store)
    system.mkdir(name)
    return system, name


class KillAfter(Silent):
    """Kills a worker when so many items are done."""

    def __init__(self, items: int, worker: subprocess.Popen[bytes]) -> None:
        self.items = items
        self.worker = worker
        self.records: list[Record] = []

    def ended(self, record: Record, num_bytes: int) -> None:
        self.records.append(record)
        if len(self.records) == self.items:
            self.worker.send_signal(signal.SIGKILL)
            self.worker.wait()


def lines_of(report: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in report.read_text().splitlines()][:-1]


def test_traces_on_a_store(folder: Path, cluster: Cluster, store: dict[str, Any], bucket: tuple[Any, str]) -> None:
    system, name = bucket
    for rank in range(12):
        cc.save(chain(5 + rank), f"{rank}.et")
        system.put_file(f"{rank}.et", f"{name}/in/run.{rank}.et")
    options: dict[str, Any] = {"cluster": cluster.address, "storage_options": store}
    report = cc.batch.convert(f"{name}/in/run.%d.et", f"{name}/out/{{rank}}.json.gz", **options)
    assert report.ok, report
    assert report.path == Path("batch-report.jsonl")
    assert sorted(Path(one).name for one in system.find(f"{name}/out")) == sorted(
        f"{rank}.json.gz" for rank in range(12)
    )
    for rank in range(12):
        system.get_file(f"{name}/out/{rank}.json.gz", "back.json.gz")
        cc.save(cc.load(f"{rank}.et"), "expected.json.gz")
        assert Path("back.json.gz").read_bytes() == Path("expected.json.gz").read_bytes()
    # The same in threads here has nothing left to do, until something changes.
    time.sleep(2.1)
    options = {"storage_options": store}
    again = cc.batch.convert(f"{name}/in/run.%d.et", f"{name}/out/{{rank}}.json.gz", **options)
    assert again.counts == {"done": 0, "skipped": 12, "failed": 0}
    cc.save(chain(99), "3.et")
    system.put_file("3.et", f"{name}/in/run.3.et")
    system.rm(f"{name}/out/7.json.gz")
    again = cc.batch.convert(f"{name}/in/*.et", f"{name}/out/{{rank}}.json.gz", **options)
    assert [record["rank"] for record in again.records if record["status"] == "done"] == [3, 7]


def test_pairs_on_a_store(folder: Path, store: dict[str, Any], bucket: tuple[Any, str]) -> None:
    system, name = bucket
    for rank in range(3):
        write_host(folder / f"h.{rank}.json.gz")
        write_device(folder / f"other-{5 - rank}.json.gz", rank=rank)
        for path in (f"h.{rank}.json.gz", f"other-{5 - rank}.json.gz"):
            system.put_file(path, f"{name}/traces/{path}")
    report = cc.batch.convert(f"{name}/traces", "file://" + str(folder / "out") + "/{rank}.et", storage_options=store)
    assert report.ok, report
    assert [record["rank"] for record in report.records] == [0, 1, 2]
    expected = cc.convert(host="h.1.json.gz", device="other-4.json.gz")
    assert not cc.diff(cc.load("out/1.et"), expected)
    missing = cc.batch.validate(f"{name}/traces/h.0.json.gz", storage_options=store)
    assert missing.counts["failed"] == 1
    with pytest.raises(cc.ConfigError, match="no such file"):
        cc.batch.validate(f"{name}/nothing.et", storage_options=store)


def test_runs_on_a_store(folder: Path, cluster: Cluster, store: dict[str, Any], bucket: tuple[Any, str]) -> None:
    system, name = bucket
    for run, nodes in (("a", 3), ("b", 8)):
        for rank in range(2):
            cc.save(chain(nodes), "one.et")
            system.put_file("one.et", f"{name}/runs/{run}/t.{rank}.et")
    network = {"topology": ["Ring"], "npus": [2], "bandwidth": [50], "latency": [500]}
    for inputs in (f"{name}/runs/*/t.%d.et", [f"{name}/runs/a", f"{name}/runs/b"]):
        report = cc.batch.simulate(
            inputs, network=network, cluster=cluster.address, storage_options=store, resume=False
        )
        assert report.ok, report
        assert [record["facts"]["total_ns"] for record in report.records] == [3000, 8000]


@pytest.mark.parametrize("after", [1, 20])
def test_worker_killed_in_the_middle(
    folder: Path, cluster: Cluster, store: dict[str, Any], bucket: tuple[Any, str], after: int
) -> None:
    _, name = bucket
    (folder / "in").mkdir()
    for rank in range(40):
        cc.save(chain(3000 + rank), folder / "in" / f"run.{rank}.et")
    victim = cluster.add_worker()
    cluster.wait_for_workers(3)
    observer = KillAfter(after, victim)
    report = cc.batch.convert(
        str(folder / "in"),
        f"{name}/{{rank}}.json.gz",
        level=9,
        cluster=cluster.address,
        storage_options=store,
        observer=observer,
    )
    assert victim.returncode == -signal.SIGKILL
    assert report.counts == {"done": 40, "skipped": 0, "failed": 0}, report
    # Nothing lost and nothing double: one record, one line and one right output an item.
    assert sorted(record["rank"] for record in observer.records) == list(range(40))
    assert sorted(line["rank"] for line in lines_of(report.path)) == list(range(40))
    system, _ = bucket
    assert len(system.find(name)) == 40
    for rank in range(40):
        system.get_file(f"{name}/{rank}.json.gz", "back.json.gz")
        assert len(cc.load("back.json.gz")) == 3000 + rank


def test_client_and_failures(run_folder: Path, cluster: Cluster) -> None:
    import distributed

    Path("in/run.3.et").write_bytes(Path("in/run.3.et").read_bytes()[:-2])
    with distributed.Client(cluster.address, set_as_default=False) as client:
        report = cc.batch.convert(str(run_folder / "in"), str(run_folder / "out" / "{rank}.et"), cluster=client)
        assert report.counts == {"done": 7, "skipped": 0, "failed": 1}
        assert client.nthreads(), "a client that was given stays open"
    assert report.failures[0]["error"]["type"] == "FormatError"


def test_command_line(run_folder: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    inputs, output = str(run_folder / "in"), str(run_folder / "out") + "/"
    assert main(["batch", "convert", inputs, "-o", output, "--cluster", cluster.address]) == 0
    assert "8 done, 0 skipped, 0 failed" in capsys.readouterr().out


def test_nobody_there(run_folder: Path) -> None:
    import dask

    soon = dask.config.set({"distributed.comm.timeouts.connect": "500ms"})
    with soon, pytest.raises(cc.ChakraError, match=r"tcp://127\.0\.0\.1:1: no Dask scheduler answers"):
        cc.batch.convert("in", "out/", cluster="tcp://127.0.0.1:1")
