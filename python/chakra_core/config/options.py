# SPDX-License-Identifier: MIT
"""Options of a run: ASTRA-sim's command line by its names, and those of this simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import Self

from chakra_core._core import ConfigError
from chakra_core.config.model import ConfigModel

_Scale = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


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
    """

    congestion: Annotated[bool, Field(strict=True)] = False
    parity: Annotated[bool, Field(strict=True)] = False
    num_queues_per_dim: Annotated[int, Field(strict=True, ge=1, le=1 << 16)] = 1
    rendezvous_protocol: Annotated[bool, Field(strict=True)] = False
    injection_scale: _Scale = 1.0
    comm_scale: _Scale = 1.0
    compute_scale: _Scale = 1.0

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
