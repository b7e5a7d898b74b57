# SPDX-License-Identifier: MIT
"""Numbers with units: "400 Gbit/s", "50 GiB/s", "1.5 us".

A bare number keeps the meaning that ASTRA-sim gives it in its files; a text with a unit is converted exactly (in
fractions, not floats), so that "1.5 us" is 1500 ns and not 1499.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from pint import UnitRegistry

# Four digits of exponent are beyond any float; more would only make the fraction huge.
_NUMBER = r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([A-Za-zµμ][A-Za-zµμ/ ]{{0,40}})\s*")
_BARE = re.compile(rf"\s*{_NUMBER}\s*")


@cache
def _registry() -> UnitRegistry[Any]:
    # Imported here because pint takes longer to import than all the rest, and few inputs carry units.
    import pint

    registry: UnitRegistry[Any] = pint.UnitRegistry(non_int_type=Fraction)
    registry.define("flop = [operation] = FLOP")
    registry.define("FLOPS = flop / second")
    registry.define("Bps = byte / second")
    return registry


def to_number(value: object, unit: str, example: str) -> object:
    """Turn a text into a float in `unit`; leave anything that is no text for pydantic to judge.

    Args:
        value: a number, a text that is a number, or a text with a unit.
        unit: the unit of the result, as pint writes it ("GiB/s", "ns").
        example: shown in the error message.

    Raises:
        PydanticCustomError: the text is no number with a unit of this kind.
    """
    if not isinstance(value, str):
        return value
    # YAML 1.1 reads 1e3 as a text, and ASTRA-sim reads it as a number.
    if _BARE.fullmatch(value):
        return float(value)
    match = _QUANTITY.fullmatch(value)
    if match is None:
        raise PydanticCustomError(
            "quantity", "expected a number, or one with a unit as '{example}'", {"example": example}
        )
    converted = _convert(Fraction(match[1]), match[2].strip(), unit)
    if converted is None:
        raise PydanticCustomError(
            "quantity",
            "'{found_unit}' is not a unit that converts to {unit}; write it as in '{example}'",
            {"found_unit": match[2].strip(), "unit": unit, "example": example},
        )
    return converted


def _convert(number: Fraction, found_unit: str, unit: str) -> float | None:
    import pint

    try:
        source = _registry().parse_units(found_unit)
        if not source.is_compatible_with(unit):
            return None
        return float((number * source).to(unit).magnitude)
    except (pint.PintError, AssertionError, ValueError, OverflowError, SyntaxError):
        return None


def _quantity(unit: str, example: str) -> BeforeValidator:
    return BeforeValidator(lambda value: to_number(value, unit, example))


LinkBandwidth = Annotated[float, _quantity("GiB/s", "400 Gbit/s"), Field(strict=True, gt=0, allow_inf_nan=False)]
"""Bandwidth of a network dimension; a bare number is ASTRA-sim's GB/s, which are 2**30 bytes a second."""

MemoryBandwidth = Annotated[float, _quantity("GB/s", "1.6 TB/s"), Field(strict=True, ge=0, allow_inf_nan=False)]
"""Bandwidth of a memory in 10**9 bytes a second."""

Nanoseconds = Annotated[float, _quantity("ns", "1.5 us"), Field(strict=True, ge=0, le=1 << 60, allow_inf_nan=False)]
"""A time; a bare number is in nanoseconds."""

TeraOperations = Annotated[float, _quantity("TFLOP/s", "312 TFLOP/s"), Field(strict=True, ge=0, allow_inf_nan=False)]
"""Compute speed in 10**12 operations a second."""
