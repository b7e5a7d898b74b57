# SPDX-License-Identifier: MIT
"""Options of a run: ASTRA-sim's command line by its names, and those of this simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import Field, PlainValidator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core._core import ConfigError
from chakra_core.config.model import ConfigModel

_Scale = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Resources = Literal["lanes", "astra"] | dict[str, int] | None
Fidelity = Literal["auto", "closed", "phase", "message"]
_COUNTED = ("cpu", "compute", "comm")
_MOST_SLOTS = (1 << 32) - 2


def _parse_resources(value: object) -> Resources:
    """Check the names and counts, which may be in a text: "cpu=4,compute=2,comm=1"."""
    if value is None:
        return None
    if value == "lanes" or value == "astra":
        return value
    counts: dict[object, object] | None = None
    if isinstance(value, Mapping):
        counts = dict(value)
    elif isinstance(value, str) and "=" in value:
        pairs = (entry.partition("=") for entry in value.split(","))
        counts = {name.strip(): _parse(number.strip()) for name, _, number in pairs}
    if not counts or not all(key in _COUNTED and _is_count(number) for key, number in counts.items()):
        raise PydanticCustomError(
            "config",
            "found {value}, allowed: 'lanes', 'astra' or counts of at least 1 for some of 'cpu', 'compute' and 'comm'",
            {"value": repr(value)},
        )
    return {name: cast(int, counts[name]) for name in _COUNTED if name in counts}


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= _MOST_SLOTS


class SimulationOptions(ConfigModel):
    """What a run may be told besides its configuration files.

    Attributes:
        congestion: messages wait for busy links (ASTRA-sim's congestion-aware network).
        parity: behave as ASTRA-sim does, its known defects included.
        num_queues_per_dim: chunk queues of each network dimension.
        rendezvous_protocol: a sender waits until its receiver is ready.
        injection_scale: factor on the endpoint delay.
        comm_scale: known to ASTRA-sim, without influence there and here.
        compute_scale: known to ASTRA-sim, without influence there and here.
        resources: what nodes of a rank compete for: "lanes", "astra" or counts, also as text "cpu=4,comm=2"; None:
            "lanes", and "astra" in parity.
        communication: whether communication takes the time that the network makes it take ("simulated"), or its
            duration in the trace ("recorded").
        fidelity: how closely collectives are simulated: "message", "phase", "closed", or "auto".
        fold: simulate one rank for all where all are alike.
    """

    congestion: Annotated[bool, Field(strict=True)] = False
    parity: Annotated[bool, Field(strict=True)] = False
    num_queues_per_dim: Annotated[int, Field(strict=True, ge=1, le=1 << 16)] = 1
    rendezvous_protocol: Annotated[bool, Field(strict=True)] = False
    injection_scale: _Scale = 1.0
    comm_scale: _Scale = 1.0
    compute_scale: _Scale = 1.0
    resources: Annotated[Resources, PlainValidator(_parse_resources)] = None
    communication: Literal["simulated", "recorded"] = "simulated"
    fidelity: Fidelity = "auto"
    fold: Annotated[bool, Field(strict=True)] = True

    @property
    def slots(self) -> tuple[int, int, int] | None:
        """Slots of CPU, compute and communication; None where the traces name them."""
        if isinstance(self.resources, dict):
            cpu, compute, comm = (self.resources.get(name, 1) for name in _COUNTED)
            return cpu, compute, comm
        return (1, 1, 1) if self.resources == "astra" or (self.resources is None and self.parity) else None

    @classmethod
    def from_arguments(cls, arguments: Sequence[str], **options: Any) -> Self:
        """Read ASTRA-sim's own spelling, e.g. `["--num-queues-per-dim=4", "--rendezvous-protocol=true"]`.

        Args:
            arguments: each `--name=value`.
            options: set besides; they give way to `arguments`.

        Raises:
            ConfigError: an argument is not of this form, its name is unknown, or its value is wrong.
        """
        for argument in arguments:
            name, equals, text = argument.removeprefix("--").partition("=")
            if not argument.startswith("--") or not equals:
                raise ConfigError(f"found argument {argument!r}, expected --name=value")
            options[name.replace("-", "_")] = _parse(text)
        return cls(**options)


def _parse(text: str) -> bool | int | float | str:
    words: dict[str, Literal[True, False]] = {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
