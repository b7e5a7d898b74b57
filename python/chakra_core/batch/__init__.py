# SPDX-License-Identifier: MIT
"""Fast work over the files of hundreds or thousands of ranks: `cc.batch.convert("traces/", "out/{rank}.et")`.

Each function finds its items, carries them out in threads or on a cluster, and returns a `BatchReport`. A bad file does
not stop the others. What an earlier run with the same report did is skipped: the same inputs (by size, time of change
and content), options and version of this package, with the output as it was left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from chakra_core._core import ConfigError
from chakra_core.batch.cluster import ClusterWorkers
from chakra_core.batch.engine import Batch, BatchReport, Observer, Silent, ThreadWorkers, Workers, budget_of
from chakra_core.batch.manifest import Manifest
from chakra_core.batch.naming import fixed_folder, looks_like_output, name_outputs
from chakra_core.batch.operations import Convert, Link, Operation, Simplify, Simulate, Stats, Validate
from chakra_core.batch.places import StorageOptions, local_path
from chakra_core.batch.sources import Inputs, Sources, Unpaired
from chakra_core.batch.work_item import WorkItem
from chakra_core.config import CommGroups, Memory, Network, System
from chakra_core.pytorch import Layout
from chakra_core.trace_source import OnError

__all__ = [
    "BatchReport",
    "Observer",
    "WorkItem",
    "convert",
    "link",
    "run",
    "simplify",
    "simulate",
    "stats",
    "validate",
]

REPORT_NAME = "batch-report.jsonl"


def run(
    operation: Operation,
    inputs: Inputs = (),
    output: str | os.PathLike[str] | None = None,
    *,
    host: Inputs = (),
    device: Inputs = (),
    manifest: Manifest | None = None,
    unpaired: Unpaired = "fail",
    threads: int = 0,
    max_memory: int | str | None = None,
    report: str | os.PathLike[str] | None = None,
    resume: bool = True,
    cluster: Any = None,
    storage_options: StorageOptions | None = None,
    observer: Observer | None = None,
) -> BatchReport:
    """Carry out an operation on many items; the functions of this module that are named as commands call it.

    Args:
        operation: what is done with each item.
        inputs: files, globs ("**" goes into folders), folders, names with %d for the rank; or URLs of such, through
            fsspec ("s3://bucket/run/*.json.gz"). In link and convert, host and device traces among them are paired:
            by the rank in the file, else by their names, else by process. In simulate each is a run or several:
            a folder, "runs/*/trace.%d.et".
        output: name of each output, with {rank} (also {rank:04d} or %d), {stem} (the input's name without endings),
            {name}, {folder} (the input's), {index} or a column of the manifest; or a folder, with "/" at the end.
        host: host traces (link, convert), as `inputs`.
        device: device traces (link, convert), as `inputs`.
        manifest: a CSV or JSON file that lists items, or rows as mappings; see `read_manifest`.
        unpaired: a host or device trace without the other fails ("fail"), is taken alone ("use"), or left out ("skip").
        threads: items at a time; 0 means as many as there are cores.
        max_memory: bytes, or text such as "8 GiB": items are begun while what they are likely to take fits. By default
            most of what the machine has left; on a cluster no limit, or this for all items under way together.
        report: the report, from which a later run resumes; by default "batch-report.jsonl" in the folder of the
            outputs, or in the current one.
        resume: False does everything anew.
        cluster: address of a Dask scheduler ("tcp://host:8786") or a `distributed.Client`: its workers do the work,
            and must see inputs and outputs by the same names.
        storage_options: for fsspec, such as {"endpoint_url": "http://..."}.
        observer: is told how it goes.

    Raises:
        ConfigError: there is nothing to do, two outputs have one name, or an option is wrong. Whatever is wrong with
            one item only is in the report.
    """
    options = dict(storage_options or {})
    template = None if output is None else _template(os.fspath(output))
    outputs = None if template is None else looks_like_output(template, operation.output_name)
    items = Sources(inputs, host, device, manifest, unpaired, options, outputs).items(operation.takes)
    if template is None and operation.needs_output and any(item.output is None for item in items):
        raise ConfigError(f"{operation.title} needs an output, e.g. 'out/{{rank}}.et' or a folder, 'out/'")
    if template is not None:
        items = name_outputs(items, template, operation.output_name)
    limit = None if max_memory is None else parse_bytes(max_memory)
    workers: Workers = ThreadWorkers(threads, len(items)) if cluster is None else ClusterWorkers(cluster)
    path = Path(report) if report is not None else _default_report(template)
    batch = Batch(operation, items, workers, budget_of(limit, workers), resume, observer or Silent(), options)
    return batch.run(path)


def link(inputs: Inputs = (), output: str | os.PathLike[str] | None = None, **options: Any) -> BatchReport:
    """Join the host and device traces of many ranks, and write linked traces.

    Args:
        inputs: see `run`.
        output: see `run`; a name that ends in .json, with .gz or .zst.
        options: `on_error` as in `chakra_core.link`; the others are those of `run`.
    """
    return _run(Link, ("on_error",), inputs, output, options)


def convert(
    inputs: Inputs = (),
    output: str | os.PathLike[str] | None = None,
    *,
    layout: Layout = "exact",
    memory_nodes: bool = False,
    replay: bool = False,
    level: int | None = None,
    schema_version: str | None = None,
    on_error: OnError = "strict",
    **options: Any,
) -> BatchReport:
    """Turn the PyTorch traces of many ranks into execution traces, or execution traces into another form.

    Args:
        inputs: see `run`.
        output: see `run`; .et or .json, with .gz or .zst.
        layout: see `chakra_core.convert`.
        memory_nodes: see `chakra_core.convert`.
        replay: whether each is also played against its record; the report says how far they are apart.
        level: of compression; see `chakra_core.save`.
        schema_version: see `chakra_core.save`.
        on_error: see `chakra_core.load` and `chakra_core.link`.
        options: those of `run`.
    """
    operation = Convert(
        layout=layout,
        memory_nodes=memory_nodes,
        replay=replay,
        level=level,
        schema_version=schema_version,
        on_error=on_error,
    )
    return run(operation, inputs, output, **options)


def validate(inputs: Inputs = (), output: str | os.PathLike[str] | None = None, **options: Any) -> BatchReport:
    """Find everything that is wrong with many traces; one with errors has failed.

    Args:
        inputs: see `run`.
        output: see `run`; JSON files with the problems, if they are wanted.
        options: those of `run`.
    """
    return _run(Validate, (), inputs, output, options)


def stats(inputs: Inputs = (), output: str | os.PathLike[str] | None = None, **options: Any) -> BatchReport:
    """Take the statistics of many traces, as `Trace.stats`: "facts" of each record.

    Args:
        inputs: see `run`.
        output: see `run`; JSON files with the same, if they are wanted.
        options: `on_error` as in `chakra_core.load`; the others are those of `run`.
    """
    return _run(Stats, ("on_error",), inputs, output, options)


def simplify(
    inputs: Inputs = (),
    output: str | os.PathLike[str] | None = None,
    *,
    drop: Iterable[str] = (),
    drop_views: bool = False,
    collapse_cpu: bool = False,
    device_only: bool = False,
    steps: int | range | tuple[int, int] | None = None,
    window: tuple[int, int] | None = None,
    on_error: OnError = "strict",
    **options: Any,
) -> BatchReport:
    """Leave out nodes of many traces; see `chakra_core.simplify`.

    Args:
        inputs: see `run`.
        output: see `run`; .et or .json, with .gz or .zst.
        drop: see `chakra_core.simplify`, as all up to `window`.
        drop_views: operators that only give another view of a tensor.
        collapse_cpu: CPU nodes that do not touch the device.
        device_only: keep only device work and communication.
        steps: ProfilerStep annotations to keep; a range must not have a step.
        window: ns.
        on_error: see `chakra_core.load`.
        options: those of `run`.
    """
    operation = Simplify(
        drop=tuple(drop),
        drop_views=drop_views,
        collapse_cpu=collapse_cpu,
        device_only=device_only,
        steps=(steps.start, steps.stop - 1) if isinstance(steps, range) else steps,
        window=window,
        on_error=on_error,
    )
    return run(operation, inputs, output, **options)


def simulate(
    inputs: Inputs = (),
    output: str | os.PathLike[str] | None = None,
    *,
    network: Network | Mapping[str, Any] | str | Path | None = None,
    system: System | Mapping[str, Any] | str | Path | None = None,
    comm_groups: CommGroups | Mapping[str, Any] | str | Path | None = None,
    memory: Memory | Mapping[str, Any] | str | Path | None = None,
    simulation: Mapping[str, Any] | None = None,
    on_error: OnError = "strict",
    **options: Any,
) -> BatchReport:
    """Simulate many runs.

    Args:
        inputs: see `run`.
        output: see `run`; .json with the times of each rank, .csv with those of each node, or .pftrace for Perfetto.
        network: for all runs that the manifest gives none; as all up to `memory`, see `chakra_core.simulate`.
        system: algorithms, chunking and speeds.
        comm_groups: communicator groups.
        memory: remote memory.
        simulation: further arguments of `chakra_core.simulate`, such as {"congestion": True}.
        on_error: see `chakra_core.load`.
        options: those of `run`.
    """
    operation = Simulate.of(
        network=network,
        system=system,
        comm_groups=comm_groups,
        memory=memory,
        on_error=on_error,
        **(simulation or {}),
    )
    return run(operation, inputs, output, **options)


def _run(
    kind: type[Operation],
    own: tuple[str, ...],
    inputs: Inputs,
    output: str | os.PathLike[str] | None,
    options: dict[str, Any],
) -> BatchReport:
    operation = kind(**{name: options.pop(name) for name in own if name in options})
    return run(operation, inputs, output, **options)


def parse_bytes(value: int | str) -> int:
    """Read an amount of bytes: a number, or text such as "8 GiB", "500 MB".

    Raises:
        ConfigError: it is none, or not above 0.
    """
    from pydantic import ByteSize, TypeAdapter, ValidationError

    try:
        number = int(TypeAdapter(ByteSize).validate_python(value))
    except ValidationError:
        number = 0
    if number <= 0:
        raise ConfigError(f"max-memory: found {value!r}; write an amount of bytes, e.g. '8 GiB'")
    return number


def _template(output: str) -> str:
    """Mark a folder as one, by "/" at its end."""
    path = local_path(output)
    is_folder = output.endswith("/") or (path is not None and path.is_dir())
    return f"{output.rstrip('/')}/" if is_folder else output


def _default_report(template: str | None) -> Path:
    folder = None if template is None else local_path(fixed_folder(template))
    return Path(REPORT_NAME) if folder is None else folder / REPORT_NAME
