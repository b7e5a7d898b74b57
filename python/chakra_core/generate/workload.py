# SPDX-License-Identifier: MIT
"""What one run does with a model on its ranks, and the sizes that follow for each rank."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import Field

from chakra_core._core import ConfigError
from chakra_core.config.model import ConfigModel
from chakra_core.generate.model import TransformerModel
from chakra_core.generate.parallelism import Parallelism, Recompute

_Count = Annotated[int, Field(strict=True, ge=1, lt=1 << 32)]
_Bytes = Annotated[int, Field(strict=True, ge=1, le=64)]
Phase: TypeAlias = Literal["train", "prefill", "decode"]


class Workload(ConfigModel):
    """Batch, precision and how the step is run.

    Attributes:
        phase: "train" is one optimiser step, "prefill" one forward pass that fills the cache of keys and values,
            "decode" the generation of `decode_steps` tokens after `sequence` earlier ones.
        sequence: tokens of each sequence; of "decode" those in the cache at the beginning.
        micro_batch: sequences of a micro-batch on each data-parallel replica.
        micro_batches: micro-batches of each replica; the global batch is dp * micro_batch * micro_batches.
        decode_steps: tokens to generate for each sequence.
        recompute: what the backward pass computes again: "none", "selective" (attention's core), "full" (the layer).
        bucket_bytes: gradients of consecutive layers are reduced together up to about this size, as soon as the
            backward pass has them; 0 for each layer by itself.
        causal_attention: half of attention's core is left out, as no token looks ahead. The usual formulas count all.
        flash_attention: attention scores are not kept for the backward pass. Matters for memory only.
        element_bytes: of parameters and activations.
        gradient_bytes: of an element of the gradients.
        optimizer_bytes: of the optimiser's state for each parameter; 12 is Adam with a copy in single precision.
    """

    phase: Phase = "train"
    sequence: _Count = 2048
    micro_batch: _Count = 1
    micro_batches: _Count = 1
    decode_steps: _Count = 1
    recompute: Recompute = "none"
    bucket_bytes: Annotated[int, Field(strict=True, ge=0)] = 0
    causal_attention: bool = False
    flash_attention: bool = True
    element_bytes: _Bytes = 2
    gradient_bytes: _Bytes = 2
    optimizer_bytes: Annotated[int, Field(strict=True, ge=0, le=64)] = 12


class Device(ConfigModel):
    """What makes a computation's time: the longer of its operations and its memory accesses.

    Attributes:
        peak_flops: operations a second.
        memory_bandwidth: bytes a second.
    """

    peak_flops: Annotated[float, Field(gt=0)]
    memory_bandwidth: Annotated[float, Field(gt=0)]

    def duration_ns(self, flops: int, memory_bytes: int) -> int:
        """Time of a computation, rounded up."""
        return -int(-max(flops / self.peak_flops, memory_bytes / self.memory_bandwidth) * 1e9 // 1)


class LocalSizes(NamedTuple):
    """What one rank has of a layer and of a micro-batch. Numbers of elements, not bytes.

    Attributes:
        tokens: of a micro-batch in matrices that are split over tensor-parallel ranks.
        split_tokens: of a micro-batch in norms and residuals; fewer with sequence parallelism.
        context: tokens that attention looks at.
        query: width of the queries.
        key: width of the keys, and of the values.
        ffn: width inside an MLP.
        experts: experts of this rank; 1 for the MLP of a dense layer.
        copies: experts that a token goes to; 1 for a dense layer.
        vocabulary: rows of the embedding.
        dense_parameters: of a layer without its experts.
        expert_parameters: of a layer's experts on this rank; 0 for a dense layer.
        embedding_parameters: of embeddings.
        head_parameters: of the last norm, and of the output matrix where it is one of its own.
        replicated_parameters: of a layer, which all tensor-parallel ranks have: norms, router, biases of outputs.
    """

    tokens: int
    split_tokens: int
    context: int
    query: int
    key: int
    ffn: int
    experts: int
    copies: int
    vocabulary: int
    dense_parameters: int
    expert_parameters: int
    embedding_parameters: int
    head_parameters: int
    replicated_parameters: int


def local_sizes(model: TransformerModel, parallelism: Parallelism, workload: Workload) -> LocalSizes:
    """Divide model and micro-batch by the degrees of parallelism.

    Raises:
        ConfigError: something does not divide; says what by what.
    """
    tp, cp = parallelism.tp, parallelism.cp
    if parallelism.ep > 1 and not model.is_moe:
        raise ConfigError(f"'ep' is {parallelism.ep}, and the model has no experts")
    if parallelism.pp * parallelism.virtual_stages > model.layers:
        raise ConfigError(
            f"pp {parallelism.pp} with {parallelism.virtual_stages} virtual stages needs as many layers; "
            f"the model has {model.layers}"
        )
    if workload.phase != "train":
        _check_inference(parallelism, workload)
    new_tokens = 1 if workload.phase == "decode" else workload.sequence
    tokens = workload.micro_batch * _divide(new_tokens, cp, "sequence", "cp")
    split_tokens = _divide(tokens, tp, "tokens of a micro-batch", "tp") if parallelism.sequence_parallel else tokens
    query = _divide(model.heads, tp, "heads", "tp") * model.head_width
    # With fewer heads of keys than ranks, several ranks have the same one.
    key_heads = _divide(model.key_heads, tp, "kv-heads", "tp") if model.key_heads >= tp else 1
    key = key_heads * model.head_width
    ffn = _divide(model.ffn, tp, "ffn", "tp")
    experts = _divide(model.experts, parallelism.ep, "experts", "ep") if model.is_moe else 1
    vocabulary = -(-model.vocabulary // tp)
    hidden = model.hidden
    bias = model.biases
    attention = hidden * (query + 2 * key) + query * hidden + bias * (query + 2 * key + hidden)
    mlp = model.mlp_matrices * hidden * ffn + bias * (ffn * (model.mlp_matrices - 1) + hidden)
    norms = 2 * model.norm_parameters()
    return LocalSizes(
        tokens=tokens,
        split_tokens=split_tokens,
        context=workload.sequence,
        query=query,
        key=key,
        ffn=ffn,
        experts=experts,
        copies=max(model.experts_per_token, 1),
        vocabulary=vocabulary,
        dense_parameters=attention + norms + (model.router_parameters() if model.is_moe else mlp),
        expert_parameters=experts * mlp if model.is_moe else 0,
        embedding_parameters=(vocabulary + model.positions) * hidden,
        head_parameters=model.norm_parameters() + (0 if model.tied_embeddings else vocabulary * hidden),
        replicated_parameters=norms + model.router_parameters() + 2 * bias * hidden,
    )


def _check_inference(parallelism: Parallelism, workload: Workload) -> None:
    if parallelism.zero:
        raise ConfigError(f"'zero' is {parallelism.zero}; it is about training, and the phase is '{workload.phase}'")
    if parallelism.schedule == "interleaved":
        raise ConfigError("'schedule' is 'interleaved', which is about training; use '1f1b' for inference")
    if workload.phase == "decode" and (parallelism.sequence_parallel or parallelism.cp > 1):
        raise ConfigError("'decode' has one token a sequence; 'sequence-parallel' and 'cp' have nothing to split")


def _divide(number: int, by: int, what: str, degree: str) -> int:
    if number % by:
        raise ConfigError(f"{what} {number} cannot be divided by {degree} {by}")
    return number // by


def layers_of_chunk(model: TransformerModel, parallelism: Parallelism, stage: int, chunk: int) -> range:
    """Layers that a stage has in a chunk. Where they do not divide, the first chunks have one more."""
    chunks = parallelism.pp * parallelism.virtual_stages
    number = chunk * parallelism.pp + stage
    each, more = divmod(model.layers, chunks)
    first = number * each + min(number, more)
    return range(first, first + each + (number < more))
