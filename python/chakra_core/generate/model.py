# SPDX-License-Identifier: MIT
"""What a transformer is made of, and how many parameters that is."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from chakra_core.config.model import ConfigModel

_Count = Annotated[int, Field(strict=True, ge=1, lt=1 << 40)]
_CountOrNone = Annotated[int, Field(strict=True, ge=0, lt=1 << 40)]


class TransformerModel(ConfigModel):
    """A decoder-only transformer by its hyper-parameters.

    Attributes:
        layers: number of layers.
        hidden: width of the residual stream.
        heads: query heads.
        kv_heads: heads of keys and values; fewer than `heads` is grouped-query attention. By default as many.
        head_dim: width of a head; by default `hidden` / `heads`.
        ffn: width inside the MLP (of one expert).
        vocabulary: number of tokens.
        gated: the MLP has a gate beside its first matrix (SwiGLU), so three matrices rather than two.
        biases: linear layers and norms have biases (GPT), norms are LayerNorm rather than RMSNorm.
        positions: learned position embeddings; 0 for none (rotary).
        tied_embeddings: the output layer uses the embedding's matrix.
        dropout: dropout masks are kept for the backward pass. Matters for memory only.
        experts: experts of each layer's MLP; 0 for a dense model.
        experts_per_token: experts that a token goes to.
    """

    layers: _Count
    hidden: _Count
    heads: _Count
    kv_heads: _CountOrNone = 0
    head_dim: _CountOrNone = 0
    ffn: _Count
    vocabulary: _Count
    gated: bool = True
    biases: bool = False
    positions: _CountOrNone = 0
    tied_embeddings: bool = False
    dropout: bool = False
    experts: _CountOrNone = 0
    experts_per_token: _CountOrNone = 0

    @model_validator(mode="after")
    def _fits_itself(self) -> Self:
        def refuse(text: str) -> None:
            raise PydanticCustomError("config", "{text}", {"text": text})

        if not self.head_dim and self.hidden % self.heads:
            refuse(f"'hidden' {self.hidden} is no multiple of 'heads' {self.heads}; give 'head-dim'")
        if self.kv_heads and self.heads % self.kv_heads:
            refuse(f"'heads' {self.heads} is no multiple of 'kv-heads' {self.kv_heads}")
        if bool(self.experts) != bool(self.experts_per_token) or self.experts_per_token > self.experts:
            refuse(
                f"'experts' is {self.experts} and 'experts-per-token' {self.experts_per_token}; "
                "expected both 0, or 1 <= experts-per-token <= experts"
            )
        return self

    @property
    def key_heads(self) -> int:
        """Heads of keys and values."""
        return self.kv_heads or self.heads

    @property
    def head_width(self) -> int:
        """Width of a head."""
        return self.head_dim or self.hidden // self.heads

    @property
    def is_moe(self) -> bool:
        """Whether tokens are routed to experts."""
        return self.experts > 0

    @property
    def mlp_matrices(self) -> int:
        """Matrices of `hidden` by `ffn` of one MLP."""
        return 3 if self.gated else 2

    def norm_parameters(self) -> int:
        """Parameters of one norm."""
        return self.hidden * (2 if self.biases else 1)

    def attention_parameters(self) -> int:
        """Parameters of a layer's attention: the matrices of queries, keys, values and output, and their biases."""
        query, key = self.heads * self.head_width, self.key_heads * self.head_width
        bias = query + 2 * key + self.hidden if self.biases else 0
        return self.hidden * (query + 2 * key) + query * self.hidden + bias

    def expert_parameters(self) -> int:
        """Parameters of one expert, or of the MLP of a dense layer."""
        bias = self.ffn * (self.mlp_matrices - 1) + self.hidden if self.biases else 0
        return self.mlp_matrices * self.hidden * self.ffn + bias

    def router_parameters(self) -> int:
        """Parameters of a layer's router; 0 for a dense model."""
        return self.hidden * self.experts

    def layer_parameters(self) -> int:
        """Parameters of one layer, with all experts and both norms."""
        mlp = self.expert_parameters() * max(self.experts, 1) + self.router_parameters()
        return self.attention_parameters() + mlp + 2 * self.norm_parameters()

    def embedding_parameters(self) -> int:
        """Parameters of the embeddings of tokens and positions."""
        return (self.vocabulary + self.positions) * self.hidden

    def parameters(self) -> int:
        """Parameters of the whole model; what tied embeddings share counts once."""
        output = 0 if self.tied_embeddings else self.vocabulary * self.hidden
        return self.layers * self.layer_parameters() + self.embedding_parameters() + self.norm_parameters() + output

    def active_parameters(self) -> int:
        """Parameters that a token meets: those of the experts that it does not go to left out."""
        idle = max(self.experts - self.experts_per_token, 0)
        return self.parameters() - self.layers * idle * self.expert_parameters()
