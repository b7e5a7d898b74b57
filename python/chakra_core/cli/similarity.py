# SPDX-License-Identifier: MIT
"""The command `similarity`: how alike two runs are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chakra_core.cli.loading import load_named
from chakra_core.cli.parameters import JsonOption, OnErrorOption
from chakra_core.cli.printing import print_json
from chakra_core.cli.progress import watch
from chakra_core.config import Network
from chakra_core.similarity_metrics import similarity as compare


def similarity(
    a: Annotated[str, typer.Argument(metavar="A", show_default=False, help="A trace, or a run: run.%d.et.")],
    b: Annotated[str, typer.Argument(metavar="B", show_default=False, help="The other.")],
    comm_groups: Annotated[
        Path | None, typer.Option("--comm-groups", help="Communicator groups (JSON); by default those in the traces.")
    ] = None,
    other_comm_groups: Annotated[
        Path | None, typer.Option("--other-comm-groups", help="Those of B; by default those of A.")
    ] = None,
    ranks: Annotated[
        int | None, typer.Option("--ranks", min=1, show_default=False, help="A single trace stands for so many ranks.")
    ] = None,
    network: Annotated[
        list[Path] | None,
        typer.Option("--network", show_default=False, help="Networks to compare step times on; by default three."),
    ] = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "strict",
) -> None:
    """Compare what two runs consist of; every figure is 0 for runs that are alike."""
    networks = {str(path): Network.load(path) for path in network or ()}
    first, second = (load_named([name], on_error=on_error) for name in (a, b))
    found = watch(
        "comparing",
        lambda _: compare(
            first,
            second,
            comm_groups=comm_groups,
            other_comm_groups=other_comm_groups,
            ranks=ranks,
            networks=networks or None,
        ),
    )
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(found.text)
