# SPDX-License-Identifier: MIT
"""The command `collect`: record a training without a change of its program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chakra_core._core import ChakraError
from chakra_core.cli.printing import format_bytes
from chakra_core.collection import DEVICE_NAME, HOST_NAME, run_collecting
from chakra_core.pytorch import link


def collect(
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND", show_default=False, help="The training: -- torchrun train.py.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files of all ranks.")] = Path("traces"),
    steps: Annotated[int, typer.Option("--steps", min=1, help="Optimizer steps to record.")] = 3,
    warmup: Annotated[int, typer.Option("--warmup", min=0, help="Steps before them, profiled and not kept.")] = 1,
    wait: Annotated[int, typer.Option("--wait", min=0, help="Steps before those, beside the first.")] = 0,
) -> None:
    """Run a training, record some of its steps, and check that what was recorded fits together."""
    before = {path: path.stat().st_mtime_ns for path in _files(output)}
    status = run_collecting(command, output, steps=steps, warmup=warmup, wait=wait)
    written = [path for path in _files(output) if before.get(path) != path.stat().st_mtime_ns]
    for host in written:
        rank = host.name.split(".")[1]
        device = output / DEVICE_NAME.replace("%d", rank)
        counts = link(host, device).report.counts["coverage"]
        typer.echo(
            f"rank {rank}: {host} ({format_bytes(host.stat().st_size)}), {device} "
            f"({format_bytes(device.stat().st_size)}); {counts['host ops matched']} of {counts['host ops']} "
            "operators matched"
        )
    if status != 0:
        typer.echo(f"the program ended with status {status}", err=True)
        raise typer.Exit(status if 0 < status < 256 else 1)
    if not written:
        raise ChakraError(
            f"nothing was recorded in {output}: the program took fewer than {wait + warmup + 2} optimizer steps, or "
            "uses no optimizer of PyTorch; use `with chakra_core.collect(...) as step:` in the program instead"
        )


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob(HOST_NAME.replace("%d", "*"))) if folder.is_dir() else []
