# SPDX-License-Identifier: MIT
"""A command that takes its options as ASTRA-sim's command line spells them, too."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

# Flags that ASTRA-sim gives a value: `--rendezvous-protocol=true`.
_FLAGS = ("--rendezvous-protocol", "--congestion", "--fold")
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_PARITY = "--parity"
_PARITY_MODES = ("astra-sim", "none")


class AstraSimSpelling(TyperCommand):
    """Accepts `--flag=true` and `--flag=false`, and `--parity` with or without what it is to be equal to."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments in the spelling that the options are declared with."""
        return super().parse_args(ctx, respelled(args))


def respelled(arguments: list[str]) -> list[str]:
    """Write flags without a value, and give `--parity` one.

    >>> respelled(["--rendezvous-protocol=true", "--congestion", "false", "--parity", "run.%d.et"])
    ['--rendezvous-protocol', '--parity=astra-sim', 'run.%d.et']
    """
    result: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name, equals, value = argument.partition("=")
        follows = rest[0].lower() if rest else ""
        if argument == "--":
            return [*result, argument, *rest]
        if argument == _PARITY:
            result.append(f"{_PARITY}={rest.pop(0) if follows in _PARITY_MODES else _PARITY_MODES[0]}")
        elif name in _FLAGS and equals and value.lower() in _TRUTHS:
            result.extend([name] if _TRUTHS[value.lower()] else _negated(name))
        elif argument in _FLAGS and follows in ("true", "false"):
            rest.pop(0)
            result.extend([name] if _TRUTHS[follows] else _negated(name))
        else:
            result.append(argument)
    return result


def _negated(flag: str) -> list[str]:
    return ["--no-fold"] if flag == "--fold" else []
