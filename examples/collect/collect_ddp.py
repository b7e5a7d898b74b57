"""Collect a host trace and a device trace of a small distributed training run.

A small classifier is trained with DistributedDataParallel over gloo,
on CPU, with one process a rank.  After a few warm-up steps the PyTorch profiler
records some steps; its ``execution_trace_observer`` argument makes the host trace
start and stop together with the device trace, so that the two share the
record-function ids (host attribute ``rf_id`` = device ``args."Record function id"``).

Each rank N writes two files into the output directory:

* ``rankN.host.json.gz``: the host trace (``ExecutionTraceObserver``)
* ``rankN.kineto.json.gz``: the device trace (Kineto, Chrome trace format)

By default :func:`scrub` first takes out what describes the machine rather than
the program: paths, host and user names, addresses, unknown metadata.

Usage::

    python collect_ddp.py --ranks 2 --output traces
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import getpass
import gzip
import json
import os
import re
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

# torch is imported inside the functions that need it: scrub() and the readers
# below can then be used (and tested) where torch is not installed.

FEATURES, WIDTH, CLASSES = 64, 128, 8
GRACE = 10.0  # seconds to start and stop processes, on top of --timeout

#: Top-level keys of a Kineto trace that describe the run; all others are dropped.
KINETO_KEYS = frozenset(
    {
        "schemaVersion",
        "deviceProperties",
        "trace_id",
        "record_shapes",
        "with_stack",
        "with_flops",
        "with_modules",
        "profile_memory",
        "cupti_version",
        "cuda_runtime_version",
        "cuda_driver_version",
        "hip_runtime_version",
        "hip_driver_version",
        "distributedInfo",
        "host_name",
        "displayTimeUnit",
        "baseTimeNanoseconds",
        "traceName",
        "traceEvents",
    }
)

_PATH = re.compile(
    r"""(?<![\w:/\\.])                 # not inside a word, a namespace, a relative path
        (?:file://)?
        (?:[A-Za-z]:[\\/]+|~[\w-]*[\\/]+|\\\\|\.{0,2}/)   # C:\  ~/  \\server  /  ./  ../
        (?:[\w.+@%=-]+[\\/]+)+         # at least one directory
        ([\w.+@%=-]*)                  # the last part
    """,
    re.VERBOSE,
)
_FILE_NAME = re.compile(r"[\w+-]+\.(?:py|pyc|pyx|c|cc|cpp|cu|cuh|h|hpp|so|json|gz|pt|ptx)")
_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_RAW = "\ue000"  # marks a number that is kept as the text it was read from


@dataclass(frozen=True)
class Settings:
    """What the ranks have to know; see ``--help`` for the meaning."""

    ranks: int
    warmup: int
    steps: int
    batch: int
    bucket_mb: float
    seed: int
    timeout: float
    output: Path
    scrub: bool


def identity() -> list[str]:
    """Return the names of this machine and its user, longest first."""
    names = {socket.gethostname(), socket.gethostname().partition(".")[0], str(Path.home())}
    with contextlib.suppress(KeyError, OSError):  # a user id without an entry
        names.add(getpass.getuser())
    return sorted((name for name in names if len(name) > 1), key=lambda name: (-len(name), name))


def _clean_path(match: re.Match[str]) -> str:
    """Keep the name of a source or trace file, drop the directories around it."""
    return match[1] if _FILE_NAME.fullmatch(match[1]) else "<path>"


def scrub_text(text: str, names: Iterable[str] = ()) -> str:
    """Take paths, IPv4 addresses and the given names out of one string."""
    if "/" in text or "\\" in text:
        text = _PATH.sub(_clean_path, text)
    text = _ADDRESS.sub("<address>", text)
    for name in names:
        if name in text:
            # A name that is part of an identifier (aten::root) is not the user's.
            text = re.sub(rf"(?<![\w.-])(?<!::){re.escape(name)}(?![\w-]|:[\w:])", "<name>", text)
    return text


def _scrub_value(value: Any, names: Sequence[str]) -> Any:
    """Apply :func:`scrub_text` to all strings in a JSON value, keys excepted."""
    if isinstance(value, str):
        return value if value.startswith(_RAW) else scrub_text(value, names)
    if isinstance(value, list):
        return [_scrub_value(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _scrub_value(item, names) for key, item in value.items()}
    return value


def scrub(trace: dict[str, Any], names: Sequence[str] = (), trace_name: str = "trace.json") -> dict[str, Any]:
    """Return a copy of a host or Kineto trace that says nothing about the machine.

    Changed: absolute paths (only the name of a source file stays), IPv4 addresses,
    ``names`` wherever they stand alone, ``host_name`` ("host"), ``traceName``
    (``trace_name``), and Kineto metadata outside :data:`KINETO_KEYS` (dropped: it can
    hold environment variables).  Not changed: number, order, ids and times of the
    nodes and events, op names, shapes, ``distributedInfo`` and process ids.
    """
    is_kineto = "traceEvents" in trace
    result: dict[str, Any] = {}
    for key, value in trace.items():
        if is_kineto and key not in KINETO_KEYS:
            continue
        if key == "host_name":
            result[key] = "host"
        elif key == "traceName":
            result[key] = trace_name
        elif key == "distributedInfo":
            result[key] = value
        else:
            result[key] = _scrub_value(value, names)
    return result


def parse_trace(text: str) -> dict[str, Any]:
    """Parse a trace; numbers with a fraction stay text, so no digit of a time is lost."""
    trace = json.loads(text.replace(_RAW, ""), parse_float=_RAW.__add__, strict=False)
    if not isinstance(trace, dict):
        raise ValueError("a trace must be a JSON object")
    return trace


def format_trace(trace: dict[str, Any]) -> str:
    """Write a parsed trace as JSON with one node or event a line."""

    def dump(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    members = []
    for key, value in trace.items():
        if key in ("nodes", "traceEvents"):
            members.append(f"{dump(key)}:[\n" + ",\n".join(map(dump, value)) + "\n]")
        else:
            members.append(f"{dump(key)}:{dump(value)}")
    return re.sub(f'"{_RAW}([^"]*)"', r"\1", "{\n" + ",\n".join(members) + "\n}\n")


def write_gzip(path: Path, text: str) -> None:
    """Write a gzip file whose bytes depend on the text alone (no time, no name)."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(text.encode(errors="replace"))


def build_model() -> Any:
    """Return a small classifier of feature vectors.

    The batch norm is there for its buffers: DDP broadcasts them in every forward.
    """
    from torch import nn

    return nn.Sequential(
        nn.Linear(FEATURES, WIDTH),
        nn.GELU(),
        nn.Linear(WIDTH, WIDTH),
        nn.BatchNorm1d(WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )


def train(settings: Settings, rank: int, host_file: Path, kineto_file: Path) -> None:
    """Train for the warm-up and the profiled steps; write the two raw traces."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, schedule

    torch.manual_seed(settings.seed)  # the same parameters everywhere
    model = DistributedDataParallel(build_model(), bucket_cap_mb=settings.bucket_mb, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, foreach=True)
    loss_of = torch.nn.CrossEntropyLoss()
    data = torch.Generator().manual_seed(settings.seed + 1 + rank)
    last_step = settings.warmup + settings.steps - 1
    accuracies = [torch.zeros(1) for _ in range(settings.ranks)]

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=settings.warmup, active=settings.steps, repeat=1),
        record_shapes=True,
        # The profiler starts and stops the observer together with itself.
        execution_trace_observer=ExecutionTraceObserver().register_callback(str(host_file)),
        on_trace_ready=lambda done: done.export_chrome_trace(str(kineto_file)),
    ) as profiler:
        for step in range(last_step + 1):
            features = torch.randn(settings.batch, FEATURES, generator=data)
            labels = features[:, :CLASSES].argmax(dim=1)
            optimizer.zero_grad()
            scores = model(features)
            loss = loss_of(scores, labels)
            loss.backward()
            optimizer.step()
            mean_loss = loss.detach() / settings.ranks
            dist.all_reduce(mean_loss)
            if step == last_step:
                accuracy = (scores.argmax(dim=1) == labels).float().mean().reshape(1)
                dist.all_gather(accuracies, accuracy)
            if step in (settings.warmup - 1, last_step):
                dist.barrier()  # so that the ranks enter and leave the profiled steps together
            profiler.step()


def run_rank(rank: int, settings: Settings, rendezvous: str) -> None:
    """Run one rank: join the process group, train, write the traces."""
    faulthandler.dump_traceback_later(settings.timeout, exit=True)  # never hang
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{rendezvous}",
        rank=rank,
        world_size=settings.ranks,
        timeout=timedelta(seconds=settings.timeout),
    )
    names = identity()
    with tempfile.TemporaryDirectory() as work:
        raw = {kind: Path(work, f"rank{rank}.{kind}.json") for kind in ("host", "kineto")}
        train(settings, rank, raw["host"], raw["kineto"])
        for path in raw.values():
            trace = parse_trace(path.read_text(encoding="utf-8", errors="replace"))
            if settings.scrub:
                trace = scrub(trace, names, trace_name=path.name)
            write_gzip(settings.output / f"{path.name}.gz", format_trace(trace))
    dist.destroy_process_group()
    faulthandler.cancel_dump_traceback_later()


def parse_arguments(arguments: Sequence[str] | None = None) -> Settings:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Collect host and device traces of a small DDP run on CPU.")
    parser.add_argument("--ranks", type=int, default=2, help="number of processes (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=3, help="steps before recording (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=2, help="recorded steps (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=32, help="samples a rank and step (default: %(default)s)")
    parser.add_argument("--bucket-mb", type=float, default=0.04, help="DDP bucket size, MiB (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=120.0, help="give up after SECONDS (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=Path("traces"), help="directory (default: %(default)s)")
    parser.add_argument("--no-scrub", dest="scrub", action="store_false", help="keep paths, host and user names")
    options = parser.parse_args(arguments)
    for name in ("ranks", "warmup", "steps", "batch", "timeout"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be positive")
    return Settings(**vars(options))


def run(settings: Settings) -> bool:
    """Start the ranks and wait for them; False if they did not end in time."""
    from torch.multiprocessing.spawn import start_processes

    start: Any = start_processes  # it has no types
    deadline = time.monotonic() + settings.timeout + GRACE
    with tempfile.TemporaryDirectory() as work:
        rendezvous = str(Path(work, "rendezvous"))
        context = start(
            run_rank, (settings, rendezvous), nprocs=settings.ranks, join=False, daemon=True, start_method="spawn"
        )
        while not context.join(timeout=1.0):
            if time.monotonic() > deadline:
                for process in context.processes:
                    process.kill()
                return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect the traces and list the files; return the exit status."""
    settings = parse_arguments(arguments)
    settings.output.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    faulthandler.dump_traceback_later(settings.timeout + 2 * GRACE, exit=True)
    try:
        finished = run(settings)
    finally:
        faulthandler.cancel_dump_traceback_later()
    if not finished:
        print(f"collect_ddp: no result after {settings.timeout:g} s", file=sys.stderr)
        return 1
    for rank in range(settings.ranks):
        for kind in ("host", "kineto"):
            path = settings.output / f"rank{rank}.{kind}.json.gz"
            print(f"{path}  {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
