# SPDX-License-Identifier: MIT
"""The command `generate`: traces that nobody had to record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from chakra_core._core import ConfigError, Testcase, Trace
from chakra_core.bundle import is_bundle
from chakra_core.cli.parameters import JsonOption
from chakra_core.cli.printing import format_bytes, format_count, print_json, print_table
from chakra_core.cli.progress import watch
from chakra_core.generate import TransformerModel, TransformerRun, preset_names, testcase, testcases, transformer
from chakra_core.generate.parallelism import Recompute, Schedule
from chakra_core.generate.transformer import groups_path
from chakra_core.generate.workload import Phase
from chakra_core.io import save

generate = typer.Typer(help="Generate traces: test cases, and transformers.", no_args_is_help=True)

_Prefix = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        show_default=False,
        help="Files to write: a prefix (run gives run.0.et, run.1.et, ...) or a name with %d for the rank. "
        "llm also takes run.etb: all ranks in one file.",
    ),
]


@generate.command("testcase")
def write_testcase(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False, help="Of the test case.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", show_default=False, help="A parameter.")
    ] = None,
    output: _Prefix = None,
    show_list: Annotated[bool, typer.Option("--list", help="Show all test cases and their parameters.")] = False,
    json: JsonOption = False,
) -> None:
    """Write a small workload of known shape, a file a rank."""
    if show_list:
        _list_testcases(json)
        return
    if name is None or output is None:
        raise typer.BadParameter("give the name of a test case and -o PREFIX, or --list")
    traces = testcase(name, **_parameters(settings or []))
    report_written(write_ranks(traces, output), traces, json=json)


def _parameters(settings: Sequence[str]) -> dict[str, int]:
    parameters: dict[str, int] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not (value.isascii() and value.isdigit()):
            raise ConfigError(f"--set {setting}: expected KEY=VALUE with an integer of 0 or more")
        parameters[key] = int(value)
    return parameters


def _list_testcases(json: bool) -> None:
    known = testcases().values()
    if json:
        print_json([_as_dict(one) for one in known])
        return
    for one in known:
        typer.echo(f"{one.name}: {one.description}")
        for parameter in one.parameters:
            typer.echo(f"    {parameter.name}={parameter.usual}  {parameter.meaning}")


def _as_dict(one: Testcase) -> dict[str, object]:
    facts = ("name", "usual", "smallest", "largest", "meaning")
    parameters = [{fact: getattr(parameter, fact) for fact in facts} for parameter in one.parameters]
    return {"name": one.name, "description": one.description, "parameters": parameters}


def write_ranks(traces: Sequence[Trace], output: Path) -> list[str]:
    """Write a file a rank and return their names; `output` is a prefix or has %d for the rank."""
    pattern = str(output) if "%d" in output.name else f"{output}.%d.et"
    paths = [pattern.replace("%d", str(rank)) for rank in range(len(traces))]
    for path, trace in zip(paths, traces, strict=True):
        save(trace, path)
    return paths


def report_written(paths: Sequence[str], traces: Sequence[Trace], *, json: bool) -> None:
    """Say what was written."""
    if json:
        ranks = enumerate(zip(paths, traces, strict=True))
        print_json([{"path": path, "rank": rank, "nodes": len(trace)} for rank, (path, trace) in ranks])
        return
    nodes = format_count(sum(len(trace) for trace in traces))
    last = f" to {paths[-1]}" if len(paths) > 1 else ""
    typer.echo(f"{paths[0]}{last}: {nodes} nodes")


@generate.command("llm")
def write_transformer(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL]", show_default=False, help="Name of a model, or a file with its fields (YAML, JSON)."
        ),
    ] = None,
    output: _Prefix = None,
    dp: Annotated[int, typer.Option("--dp", min=1, help="Data-parallel replicas.")] = 1,
    tp: Annotated[int, typer.Option("--tp", min=1, help="Ranks that share each layer's matrices.")] = 1,
    pp: Annotated[int, typer.Option("--pp", min=1, help="Pipeline stages.")] = 1,
    cp: Annotated[int, typer.Option("--cp", min=1, help="Ranks that share each sequence.")] = 1,
    ep: Annotated[int, typer.Option("--ep", min=1, help="Ranks that share the experts; divides --dp.")] = 1,
    sequence_parallel: Annotated[
        bool, typer.Option("--sequence-parallel", help="Norms and residuals are split over --tp.")
    ] = False,
    zero: Annotated[
        int,
        typer.Option("--zero", min=0, max=3, help="Replicas share 1: optimiser, 2: gradients, 3: parameters (FSDP)."),
    ] = 0,
    schedule: Annotated[Schedule, typer.Option("--schedule", help="Order of micro-batches in the pipeline.")] = "1f1b",
    virtual_stages: Annotated[
        int, typer.Option("--virtual-stages", min=1, help="Chunks of layers a rank, with --schedule interleaved.")
    ] = 1,
    phase: Annotated[Phase, typer.Option("--phase", help="A training step, a prefill, or decoding.")] = "train",
    sequence: Annotated[int, typer.Option("--sequence", min=1, help="Tokens of each sequence.")] = 2048,
    micro_batch: Annotated[int, typer.Option("--micro-batch", min=1, help="Sequences of a micro-batch.")] = 1,
    micro_batches: Annotated[int, typer.Option("--micro-batches", min=1, help="Micro-batches of a replica.")] = 1,
    recompute: Annotated[
        Recompute, typer.Option("--recompute", help="What the backward pass computes again.")
    ] = "none",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", show_default=False, help="Any other setting, such as bucket_bytes=25000000."
        ),
    ] = None,
    peak_flops: Annotated[
        float | None, typer.Option("--peak-flops", show_default=False, help="Operations a second; gives durations.")
    ] = None,
    memory_bandwidth: Annotated[
        float | None, typer.Option("--memory-bandwidth", show_default=False, help="Bytes a second; with --peak-flops.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Show the models that have names.")] = False,
    json: JsonOption = False,
) -> None:
    """Write the traces of a transformer's training or inference step, a file a rank, and PREFIX.groups.json."""
    if show_list:
        print_json(list(preset_names())) if json else typer.echo("\n".join(preset_names()))
        return
    if model is None or output is None:
        raise typer.BadParameter("give a model and -o PREFIX, or --list")
    if (peak_flops is None) != (memory_bandwidth is None):
        raise typer.BadParameter("--peak-flops and --memory-bandwidth go together")
    device = None if peak_flops is None else {"peak_flops": peak_flops, "memory_bandwidth": memory_bandwidth}
    degrees = {"dp": dp, "tp": tp, "pp": pp, "cp": cp, "ep": ep, "zero": zero, "schedule": schedule}
    batch = {"phase": phase, "sequence": sequence, "micro_batch": micro_batch, "micro_batches": micro_batches}
    options = {"sequence_parallel": sequence_parallel, "virtual_stages": virtual_stages, "recompute": recompute}
    others = dict(_setting(text) for text in settings or [])
    known = model if model in preset_names() else _model_of_file(model)
    run = transformer(known, device=device, **degrees | batch | options | others)
    paths = watch("writing traces", lambda _: run.save(output))
    _report_run(run, paths, output if is_bundle(output) else groups_path(output), json=json)


def _model_of_file(name: str) -> TransformerModel:
    if not Path(name).exists():
        raise ConfigError(f"{name} is no file and no model with a name ({', '.join(preset_names())})")
    return TransformerModel.load(name)


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set {text}: expected KEY=VALUE")
    words: dict[str, Any] = {"true": True, "false": False}
    number = int(value) if value.isascii() and value.isdigit() else value
    return key.replace("-", "_"), words.get(value, number)


def _report_run(run: TransformerRun, paths: Sequence[Path], groups: Path, *, json: bool) -> None:
    facts = run.to_dict()
    if json:
        print_json({**facts, "paths": [str(path) for path in paths], "comm_groups": str(groups)})
        return
    columns = ["stage", *facts["memory"][0]]
    rows = [[str(stage), *map(format_bytes, one.values())] for stage, one in enumerate(facts["memory"])]
    print_table("Memory of a rank", columns, rows, numeric_from=0)
    typer.echo(
        f"{format_count(facts['parameters'])} parameters, {run.num_ranks} ranks, {len(run.groups)} groups ({groups})"
    )
    last = f" to {paths[-1]}" if len(paths) > 1 else ""
    typer.echo(f"{paths[0]}{last}: {format_count(facts['nodes'])} nodes")
