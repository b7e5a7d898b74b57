# SPDX-License-Identifier: MIT
"""Recording a training with PyTorch so that host and device trace fit together."""

from __future__ import annotations

import atexit
import functools
import gzip
import importlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from chakra_core._core import ChakraError
from chakra_core.output import complete_path

#: Names of the files that `collect` writes, for `link` and the command line: %d is the rank.
HOST_NAME = "host.%d.json.gz"
DEVICE_NAME = "device.%d.json.gz"


class Collection:
    """What is being collected; call it at the end of every training step.

    Attributes:
        rank: of this process.
        host_path: the host trace, which is there when the `with` block has ended.
        device_path: the device trace, likewise.
        calls: how often it was called.
        needed: how often it must be called for the whole recording.
    """

    def __init__(self, folder: Path, rank: int, profiler: Any, needed: int) -> None:
        self.rank = rank
        self.host_path = folder / HOST_NAME.replace("%d", str(rank))
        self.device_path = folder / DEVICE_NAME.replace("%d", str(rank))
        self.calls = 0
        self.needed = needed
        self._profiler = profiler

    def __call__(self) -> None:
        """Say that a training step has ended."""
        self.calls += 1
        self._profiler.step()

    @property
    def done(self) -> bool:
        """Whether all steps are recorded; what is trained after that costs nothing more."""
        return self.calls >= self.needed


@contextmanager
def collect(
    folder: str | os.PathLike[str], *, steps: int = 3, warmup: int = 1, wait: int = 0, rank: int | None = None
) -> Iterator[Collection]:
    """Record some steps of a training: one host and one device trace a rank, which link with every id matched.

        with cc.collect("traces/", steps=3) as step:
            for batch in batches:
                train(batch)
                step()

    The profiler and the ExecutionTraceObserver are started and stopped together, with shapes and, on CUDA, with
    synchronisation events. What was recorded is also written when the block raises.

    Args:
        folder: where the files go; made if it is not there. See `HOST_NAME` and `DEVICE_NAME`.
        steps: training steps to record.
        warmup: steps before them in which the profiler already runs and nothing is kept.
        wait: steps before that in which nothing runs.
        rank: of this process; by default that of torch.distributed, else of the environment (RANK), else 0.

    Raises:
        ChakraError: torch is not installed or too old, another observer is at work, or the block ended before a step
            was recorded.
        ValueError: `steps` is less than 1, or another number less than 0.
    """
    if steps < 1 or warmup < 0 or wait < 0:
        raise ValueError(f"steps={steps} must be 1 or more, warmup={warmup} and wait={wait} 0 or more")
    torch = _torch()
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    number = _rank(torch) if rank is None else rank
    with ExitStack() as files:
        host_file = files.enter_context(_temporary(path, HOST_NAME.replace("%d", str(number))))
        observer = _observer(torch, host_file)
        files.callback(observer.unregister_callback)
        collection: Collection

        def write(profiler: Any) -> None:
            # Files are written here and not at the end, so that they are there as soon as the last step is recorded.
            observer.unregister_callback()
            _compress(host_file, collection.host_path)
            with _temporary(path, collection.device_path.name) as device_file:
                profiler.export_chrome_trace(str(device_file))
                _compress(device_file, collection.device_path)

        profiler = _profiler(torch, observer, write, wait=wait, warmup=warmup, steps=steps)
        collection = Collection(path, number, profiler, wait + warmup + steps)
        with profiler:
            yield collection
    if collection.calls <= wait + warmup and not collection.device_path.exists():
        raise ChakraError(
            f"nothing was recorded: the step was called {collection.calls} times, and recording begins after "
            f"{wait + warmup} calls and ends after {collection.needed}; call it at the end of every training step"
        )


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise ChakraError("collecting needs PyTorch: pip install torch (or chakra-core[collect])") from None


def _rank(torch: Any) -> int:
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    return int(os.environ.get("RANK", "0"))


@contextmanager
def _temporary(folder: Path, name: str) -> Iterator[Path]:
    """Name a plain file beside the one it will become; whatever happens it does not stay."""
    path = folder / f".{name.removesuffix('.gz')}.{os.getpid()}"
    try:
        yield path
    finally:
        with suppress(FileNotFoundError):
            path.unlink()


def _compress(source: Path, target: Path) -> None:
    with complete_path(target) as temporary, source.open("rb") as plain, gzip.open(temporary, "wb", 6) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)


def _observer(torch: Any, path: Path) -> Any:
    observer = torch.profiler.ExecutionTraceObserver()
    observer.register_callback(str(path))
    if not observer.is_registered:
        raise ChakraError("another ExecutionTraceObserver is at work in this process; a process can have one only")
    return observer


def _profiler(torch: Any, observer: Any, write: Any, *, wait: int, warmup: int, steps: int) -> Any:
    profiler = torch.profiler
    try:
        return profiler.profile(
            activities=profiler.supported_activities(),
            schedule=profiler.schedule(wait=wait, warmup=warmup, active=steps, repeat=1),
            on_trace_ready=write,
            record_shapes=True,
            execution_trace_observer=observer,
            experimental_config=_experimental_config(torch),
        )
    except TypeError as error:
        raise ChakraError(
            f"PyTorch {torch.__version__} is too old to collect with; use 2.2 or later ({error})"
        ) from None


def _experimental_config(torch: Any) -> Any:
    """Ask for synchronisation events, where this version of PyTorch knows them."""
    try:
        return torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    except (AttributeError, TypeError):
        return None


#: Environment of a program that `run_collecting` runs: the options of `collect` as JSON.
_OPTIONS_VARIABLE = "CHAKRA_CORE_COLLECT"
_HOOK_FOLDER = Path(__file__).parent / "collect_hook"


def run_collecting(
    command: Sequence[str], folder: str | os.PathLike[str], *, steps: int = 3, warmup: int = 1, wait: int = 0
) -> int:
    """Run a program that trains with PyTorch, and record some of its steps without a change of it.

    A step ends when the first optimizer that the program uses has stepped. Processes that it starts (torchrun) are
    recorded, too, each under its own rank, as long as they use an optimizer.

    Returns:
        The exit status of the program.

    Raises:
        OSError: the program cannot be started.
    """
    options = {"folder": str(Path(folder).resolve()), "steps": steps, "warmup": warmup, "wait": wait}
    path = os.pathsep.join(filter(None, (str(_HOOK_FOLDER), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, _OPTIONS_VARIABLE: json.dumps(options)}
    return subprocess.run(list(command), env=environment, check=False).returncode


def attach(torch: Any) -> None:
    """Begin to collect after the first step of an optimizer of this process, as the environment says."""
    optimizer = importlib.import_module(f"{torch.__name__}.optim.optimizer").Optimizer
    after_step = _AfterOptimizerStep(json.loads(os.environ[_OPTIONS_VARIABLE]))
    with_annotation = optimizer.profile_hook_step

    # Hooks of optimizers run within the annotation of their step. A recording must begin and end when none is open.
    def profile_hook_step(step: Any) -> Any:
        annotated = with_annotation(step)

        @functools.wraps(annotated)
        def whole_step(self: Any, *arguments: Any, **options: Any) -> Any:
            result = annotated(self, *arguments, **options)
            after_step(self)
            return result

        return whole_step

    optimizer.profile_hook_step = staticmethod(profile_hook_step)


class _AfterOptimizerStep:
    """Called after every step of every optimizer; the first one seen counts."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._optimizer: Any = None
        self._block = ExitStack()
        self._step: Collection | None = None
        self._process = os.getpid()

    def __call__(self, optimizer: Any) -> None:
        if os.getpid() != self._process:  # a forked worker that happens to have an optimizer
            return
        if self._step is None:
            self._optimizer = optimizer
            self._step = self._block.enter_context(collect(**self._options))
            atexit.register(self._block.close)
        elif optimizer is self._optimizer and not self._step.done:
            self._step()
