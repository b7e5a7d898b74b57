# SPDX-License-Identifier: MIT
"""Models by name, from their public model cards and papers (docs/generating.md has the sources)."""

from __future__ import annotations

from chakra_core._core import ConfigError
from chakra_core.generate.model import TransformerModel


def _gpt(layers: int, hidden: int, heads: int, positions: int) -> dict[str, int | bool]:
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "ffn": 4 * hidden,
        "vocabulary": 50257,
        "gated": False,
        "biases": True,
        "positions": positions,
        "tied_embeddings": True,
        "dropout": True,
    }


def _llama(layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocabulary: int) -> dict[str, int | bool]:
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": kv_heads,
        "ffn": ffn,
        "vocabulary": vocabulary,
    }


_PRESETS: dict[str, dict[str, int | bool]] = {
    "gpt2-small": _gpt(12, 768, 12, 1024),
    "gpt2-xl": _gpt(48, 1600, 25, 1024),
    "gpt3-175b": _gpt(96, 12288, 96, 2048),
    "llama2-7b": _llama(32, 4096, 32, 32, 11008, 32000),
    "llama2-13b": _llama(40, 5120, 40, 40, 13824, 32000),
    "llama2-70b": _llama(80, 8192, 64, 8, 28672, 32000),
    "llama3-8b": _llama(32, 4096, 32, 8, 14336, 128256),
    "llama3-70b": _llama(80, 8192, 64, 8, 28672, 128256),
    "llama3-405b": _llama(126, 16384, 128, 8, 53248, 128256),
    "mixtral-8x7b": _llama(32, 4096, 32, 8, 14336, 32000) | {"experts": 8, "experts_per_token": 2},
    "mixtral-8x22b": _llama(56, 6144, 48, 8, 16384, 32000) | {"experts": 8, "experts_per_token": 2},
}


def preset_names() -> tuple[str, ...]:
    """Names that `preset` knows."""
    return tuple(_PRESETS)


def preset(name: str, **changes: int | bool) -> TransformerModel:
    """Return a model by name, with some hyper-parameters changed.

    >>> preset("llama3-8b").parameters()
    8030261248
    >>> preset("llama3-8b", layers=4).layers
    4

    Raises:
        ConfigError: there is no such model; the message lists those there are.
    """
    if name not in _PRESETS:
        raise ConfigError(f"there is no model '{name}', only {', '.join(_PRESETS)}")
    return TransformerModel(**_PRESETS[name] | changes)
