# SPDX-License-Identifier: MIT
"""The command `doctor`: what kind of file is this, what is wrong with it, how to get a better one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from chakra_core.cli.parameters import JsonOption
from chakra_core.cli.printing import print_json
from chakra_core.cli.progress import watch
from chakra_core.diagnosis import diagnose, installation


def doctor(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILES]",
            show_default=False,
            help="Files of any kind; a host and a device trace are looked at as a pair, too. None: the installation.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Tell what files are, what is wrong with them and what to do; status 1 if something is wrong."""
    if not files:
        lines = list(installation())
        if json:
            print_json(lines)
        else:
            typer.echo("\n".join(lines))
        return
    found = watch("looking", lambda _: diagnose(*files))
    if json:
        print_json([{**asdict(one), "ok": one.ok} for one in found])
    else:
        for one in found:
            typer.echo(one.text)
    if not all(one.ok for one in found):
        raise typer.Exit(1)
