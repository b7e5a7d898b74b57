# SPDX-License-Identifier: MIT
"""What a rank needs memory for."""

from __future__ import annotations

from dataclasses import dataclass

from chakra_core.generate.model import TransformerModel
from chakra_core.generate.parallelism import Parallelism
from chakra_core.generate.workload import LocalSizes, Workload


@dataclass(frozen=True)
class MemoryReport:
    """Bytes of one rank.

    Attributes:
        parameters: of the model; with ZeRO 3 the part that the rank keeps, without what is gathered for a while.
        gradients: with ZeRO 2 and 3 the part that the rank keeps.
        optimizer: the optimiser's state; with ZeRO 1 to 3 the part that the rank keeps.
        activations: what forward passes leave for backward passes, when there is most of it.
        logits: of one micro-batch, in single precision; 0 but for the last stage.
        cache: keys and values at the end of a prefill or of decoding.
    """

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    logits: int
    cache: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.parameters + self.gradients + self.optimizer + self.activations + self.logits + self.cache


@dataclass(frozen=True)
class StageContent:
    """What the ranks of a pipeline stage hold.

    Attributes:
        layers: number of layers, of all chunks.
        dense: parameters without experts, embeddings and output layer among them.
        expert: parameters of experts.
        held_layers: layers times micro-batches whose activations are held at a time, at most.
        is_last: whether it has the output layer.
    """

    layers: int
    dense: int
    expert: int
    held_layers: int
    is_last: bool


def memory_report(
    model: TransformerModel, parallelism: Parallelism, workload: Workload, sizes: LocalSizes, stage: StageContent
) -> MemoryReport:
    """Add up what a rank of a stage needs."""
    training = workload.phase == "train"
    zero = parallelism.zero
    replicas = parallelism.dp * parallelism.cp
    expert_replicas = replicas // parallelism.ep

    def kept(bytes_each: int, from_level: int) -> int:
        if zero < from_level:
            return bytes_each * (stage.dense + stage.expert)
        return bytes_each * (-(-stage.dense // replicas) - (-stage.expert // expert_replicas))

    tokens = sizes.tokens if training else workload.micro_batch
    return MemoryReport(
        parameters=kept(workload.element_bytes, 3),
        gradients=kept(workload.gradient_bytes, 2) if training else 0,
        optimizer=kept(workload.optimizer_bytes, 1) if training else 0,
        activations=stage.held_layers * layer_activations(model, workload, sizes) if training else 0,
        logits=4 * tokens * sizes.vocabulary if stage.is_last else 0,
        cache=0 if training else stage.layers * _cache_of_layer(parallelism, workload, sizes),
    )


def layer_activations(model: TransformerModel, workload: Workload, sizes: LocalSizes) -> int:
    """Bytes that a layer's forward pass of one micro-batch leaves, as Korthikanti et al. count them (2022)."""
    width = workload.element_bytes
    vectors = sizes.split_tokens * model.hidden
    if workload.recompute == "full":
        return vectors * width
    mask = 1 if model.dropout else 0
    # What both norms take in, what attention and MLP take in, and two masks.
    split = vectors * ((3 + sizes.copies) * width + 2 * mask)
    attention = sizes.tokens * (2 * sizes.query + 2 * sizes.key) * width
    mlp = sizes.tokens * sizes.copies * sizes.ffn * model.mlp_matrices * width
    scores = 0
    if not workload.flash_attention and workload.recompute == "none":
        score_bytes = (2 * width + 1) if model.dropout else width
        scores = sizes.tokens * sizes.context * (sizes.query // model.head_width) * score_bytes
    return split + attention + mlp + scores


def _cache_of_layer(parallelism: Parallelism, workload: Workload, sizes: LocalSizes) -> int:
    context = workload.sequence + (workload.decode_steps if workload.phase == "decode" else 0)
    sequences = workload.micro_batch * workload.micro_batches
    return 2 * sequences * context // parallelism.cp * sizes.key * workload.element_bytes
