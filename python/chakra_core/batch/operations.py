# SPDX-License-Identifier: MIT
"""What a batch does with each item: one class an operation, whose fields are its options."""

from __future__ import annotations

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Field
from typing_extensions import Self

from chakra_core._core import ChakraError, ConfigError, LinkedTrace, Progress, Report, Trace, TraceStats
from chakra_core.config import CommGroups, Memory, Network, System
from chakra_core.config.model import ConfigModel
from chakra_core.file_kind import kind_of_file
from chakra_core.io import save
from chakra_core.output import complete_file
from chakra_core.pytorch import Layout, convert, link, load_linked, replay
from chakra_core.rank_traces import load_ranks
from chakra_core.result import Result
from chakra_core.simplification import simplify
from chakra_core.simulation import simulate
from chakra_core.trace_source import OnError, load_source

Facts: TypeAlias = dict[str, Any]
Takes: TypeAlias = Literal["pairs", "pairs or traces", "traces", "runs"]

_SHOWN_PROBLEMS = 20
#: Inputs of a run that are no traces.
RUN_FILES = ("network", "system", "comm_groups", "memory")


@dataclass(frozen=True)
class Job:
    """An item with all its files on this machine.

    Attributes:
        inputs: local files by what they are.
        output: local file to write; None if there is none.
        rank: the rank, where it is known.
        threads: for this item; 0 means as many as the machine has cores.
        progress: to cancel the work by.
    """

    inputs: Mapping[str, Path]
    output: Path | None
    rank: int | None
    threads: int
    progress: Progress = field(default_factory=Progress)

    @property
    def target(self) -> Path:
        """The output of an operation that always has one."""
        assert self.output is not None
        return self.output


class ItemError(ChakraError):
    """An item was worked on, and what came out is that it is bad.

    Attributes:
        facts: what was found.
    """

    def __init__(self, message: str, facts: Facts) -> None:
        super().__init__(message)
        self.facts = facts


class Operation(ConfigModel, ABC):
    """What is done with each item, and its options.

    Attributes:
        title: its name on the command line.
        takes: which items it works on.
        output_name: template of the name of an output in a folder.
        needs_output: whether it makes no sense without an output.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    title: ClassVar[str]
    takes: ClassVar[Takes]
    output_name: ClassVar[str]
    needs_output: ClassVar[bool] = True

    on_error: OnError = "strict"

    @abstractmethod
    def carry_out(self, job: Job) -> Facts:
        """Do it for one item, and return what is to be told about it.

        Raises:
            ChakraError, OSError: it cannot be done for this item.
        """


class Link(Operation):
    """Join host and device traces."""

    title: ClassVar[str] = "link"
    takes: ClassVar[Takes] = "pairs"
    output_name: ClassVar[str] = "{stem}.linked.json.gz"

    def carry_out(self, job: Job) -> Facts:
        """Link the pair and save it."""
        linked = _link(job, self.on_error)
        linked.save(job.target)
        return _facts_of_linked(linked)


class Convert(Operation):
    """Turn PyTorch's records into execution traces, or execution traces into another form."""

    title: ClassVar[str] = "convert"
    takes: ClassVar[Takes] = "pairs or traces"
    output_name: ClassVar[str] = "{stem}.et"

    layout: Layout = "exact"
    memory_nodes: bool = False
    replay: bool = False
    level: int | None = None
    schema_version: str | None = None

    def carry_out(self, job: Job) -> Facts:
        """Convert the pair, the linked trace or the execution trace, and save it."""
        file = job.inputs.get("trace")
        if file is not None and kind_of_file(file) != "linked":
            trace = load_source(file, on_error=self.on_error, progress=job.progress, threads=job.threads)
            return self._save(trace, job) | _dropped(trace)
        linked = (
            _link(job, self.on_error)
            if file is None
            else load_linked(file, rank=job.rank, on_error=self.on_error, progress=job.progress)
        )
        trace = convert(linked, layout=self.layout, memory_nodes=self.memory_nodes, threads=job.threads)
        return self._save(trace, job) | _facts_of_linked(linked) | self._check(trace)

    def _save(self, trace: Trace, job: Job) -> Facts:
        save(trace, job.target, level=self.level, schema_version=self.schema_version, progress=job.progress)
        return {"nodes": len(trace)}

    def _check(self, trace: Trace) -> Facts:
        if not self.replay:
            return {}
        report = replay(trace)
        names = ("recorded_ns", "replayed_ns", "total_error", "start_error_ns", "inversions")
        return {"replay": {name: getattr(report, name) for name in names}}


class Validate(Operation):
    """Find everything that is wrong with traces."""

    title: ClassVar[str] = "validate"
    takes: ClassVar[Takes] = "traces"
    output_name: ClassVar[str] = "{stem}.problems.json"
    needs_output: ClassVar[bool] = False

    def carry_out(self, job: Job) -> Facts:
        """Check one trace.

        Raises:
            ItemError: it has errors.
        """
        trace = load_source(job.inputs["trace"], on_error="recover", progress=job.progress, threads=job.threads)
        facts = _facts_of_report(trace.validate()) | {"nodes": len(trace)}
        _write_facts(facts, job.output)
        if facts["errors"]:
            first = next((one["message"] for one in facts["problems"] if one["severity"] == "error"), "")
            raise ItemError(f"{facts['errors']} errors, the first: {first}", facts)
        return facts


class Stats(Operation):
    """Count and sum what is in traces."""

    title: ClassVar[str] = "stats"
    takes: ClassVar[Takes] = "traces"
    output_name: ClassVar[str] = "{stem}.stats.json"
    needs_output: ClassVar[bool] = False

    def carry_out(self, job: Job) -> Facts:
        """Take the statistics of one trace."""
        trace = load_source(job.inputs["trace"], on_error=self.on_error, progress=job.progress, threads=job.threads)
        facts = facts_of_stats(trace.stats()) | _dropped(trace)
        _write_facts(facts, job.output)
        return facts


class Simplify(Operation):
    """Leave out nodes so that the order of the others stays."""

    title: ClassVar[str] = "simplify"
    takes: ClassVar[Takes] = "traces"
    output_name: ClassVar[str] = "{stem}.et"

    drop: tuple[str, ...] = ()
    drop_views: bool = False
    collapse_cpu: bool = False
    device_only: bool = False
    steps: tuple[int, int] | int | None = None
    window: tuple[int, int] | None = None

    def carry_out(self, job: Job) -> Facts:
        """Simplify one trace and save it."""
        trace = load_source(job.inputs["trace"], on_error=self.on_error, progress=job.progress, threads=job.threads)
        small = simplify(
            trace,
            drop=self.drop,
            drop_views=self.drop_views,
            collapse_cpu=self.collapse_cpu,
            device_only=self.device_only,
            steps=self.steps,
            window=self.window,
        )
        save(small, job.target, progress=job.progress)
        return {"nodes": len(small), "nodes_left_out": len(trace) - len(small)} | _dropped(trace)


class Simulate(Operation):
    """Simulate runs, each of the traces of all its ranks.

    `network`, `system`, `comm_groups` and `memory` are for all runs that a manifest gives no file of their own;
    `options` are further arguments of `chakra_core.simulate`.
    """

    title: ClassVar[str] = "simulate"
    takes: ClassVar[Takes] = "runs"
    output_name: ClassVar[str] = "{stem}.result.json"
    needs_output: ClassVar[bool] = False

    network: Network | None = None
    system: System | None = None
    comm_groups: CommGroups | None = None
    memory: Memory | None = None
    options: Mapping[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        network: Network | Mapping[str, Any] | str | Path | None = None,
        system: System | Mapping[str, Any] | str | Path | None = None,
        comm_groups: CommGroups | Mapping[str, Any] | str | Path | None = None,
        memory: Memory | Mapping[str, Any] | str | Path | None = None,
        on_error: OnError = "strict",
        **options: Any,
    ) -> Self:
        """Make the operation of objects, mappings or files of configuration.

        Raises:
            ConfigError: one of them is wrong.
        """
        _check_names(options)
        return cls(
            network=None if network is None else Network.coerce(network),
            system=None if system is None else System.coerce(system),
            comm_groups=None if comm_groups is None else CommGroups.coerce(comm_groups),
            memory=None if memory is None else Memory.coerce(memory),
            on_error=on_error,
            options=options,
        )

    def carry_out(self, job: Job) -> Facts:
        """Simulate one run, and save its times (.json), its nodes (.csv) or its timeline (.pftrace)."""
        ranks = {int(role): path for role, path in job.inputs.items() if role not in RUN_FILES}
        configuration = {name: job.inputs.get(name, getattr(self, name)) for name in RUN_FILES}
        if configuration["network"] is None:
            raise ChakraError("no network: give network=, or a column 'network' in the manifest")
        network = Network.coerce(configuration.pop("network"))
        as_table = job.output is None or job.output.suffix == ".json"
        result = simulate(
            load_ranks(ranks, network.num_npus, on_error=self.on_error, threads=job.threads),
            network=network,
            **configuration,
            **self.options,
            record_nodes=not as_table,
            progress=job.progress,
        )
        if job.output is not None:
            _write_result(result, job.output, as_table=as_table)
        times = {name: values for name, values in result.to_dict().items() if not isinstance(values, list)}
        longest = {"max_exposed_comm_ns": int(result.exposed_comm_ns.max()), "warnings": result.warnings}
        return times | longest


def _check_names(options: Mapping[str, Any]) -> None:
    own = {"traces", "record_nodes", "progress", *RUN_FILES}
    known = [name for name in inspect.signature(simulate).parameters if name not in own]
    for name in options:
        if name not in known:
            raise ConfigError(f"simulate has no option {name!r}; there are {', '.join(known)}")


def facts_of_stats(stats: TraceStats) -> Facts:
    """Statistics as plain values for JSON; times in ns, sizes in bytes."""
    plain = ("nodes", "data_deps", "ctrl_deps", "acyclic", "depth", "width", "critical_path_ns")
    return {
        **{name: getattr(stats, name) for name in plain},
        **{name: _totals(getattr(stats, name)) for name in ("cpu", "device", "unplaced")},
        **{name: {key: _totals(one) for key, one in getattr(stats, name).items()} for name in ("types", "collectives")},
        "groups": {
            str(group): {kind: _totals(one) for kind, one in of_group.items()}
            for group, of_group in stats.groups.items()
        },
    }


def _totals(totals: Any) -> Facts:
    return {"nodes": totals.nodes, "duration_ns": totals.duration_ns, "bytes": totals.bytes}


def _link(job: Job, on_error: OnError) -> LinkedTrace:
    host, device = job.inputs.get("host"), job.inputs.get("device")
    return link(host, device, rank=job.rank, on_error=on_error, progress=job.progress, threads=job.threads)


def _facts_of_linked(linked: LinkedTrace) -> Facts:
    report = linked.report
    return {"rank": linked.rank, "span_ns": linked.span_ns, "link": report.counts, "advice": report.advice}


def _facts_of_report(report: Report) -> Facts:
    problems = [
        {"kind": one.kind, "severity": one.severity, "message": one.message}
        for one in report.problems[:_SHOWN_PROBLEMS]
    ]
    return {
        "errors": report.errors,
        "warnings": report.warnings,
        "counts": dict(report.counts),
        "problems": problems,
    }


def _dropped(trace: Trace) -> Facts:
    return {"dropped": dict(trace.load_report.counts)} if trace.load_report.counts else {}


def _write_facts(facts: Facts, output: Path | None) -> None:
    if output is not None:
        with complete_file(output) as file:
            json.dump(facts, file, indent=2)
            file.write("\n")


def _write_result(result: Result, output: Path, *, as_table: bool) -> None:
    if as_table:
        _write_facts(result.to_dict(), output)
    elif output.suffix == ".csv":
        result.to_csv(output)
    else:
        result.to_perfetto(output)
