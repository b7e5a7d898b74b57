# SPDX-License-Identifier: MIT
"""The blocks of a layer and of what stands before and behind the layers: their operations, bytes and communication."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chakra_core._core import CollectiveType
from chakra_core.generate.block import BlockBuilder, Input, Parent, RankValue
from chakra_core.generate.model import TransformerModel
from chakra_core.generate.parallelism import Parallelism
from chakra_core.generate.workload import Device, LocalSizes, Workload

_ALL_REDUCE = CollectiveType.ALL_REDUCE
_ALL_GATHER = CollectiveType.ALL_GATHER
_REDUCE_SCATTER = CollectiveType.REDUCE_SCATTER
_ALL_TO_ALL = CollectiveType.ALL_TO_ALL

#: Operations for each element, as rough as such counts are.
_NORM_OPS = 5
_ACTIVATION_OPS = 4
_SOFTMAX_OPS = 5


class PassBlock(NamedTuple):
    """A block that is a forward or backward pass of something.

    Attributes:
        block: its nodes.
        out: the node that whatever follows waits for.
        gradients: nodes that make gradients of parameters.
    """

    block: BlockBuilder
    out: int
    gradients: tuple[int, ...] = ()


class LayerBlocks:
    """Makes the blocks of one rank.

    Inputs of forward blocks: 0 what comes in, 1 parameters that must be there; of backward blocks: 0 the gradient that
    comes in, 1 what the forward pass left, 2 parameters that must be there.
    """

    def __init__(
        self,
        model: TransformerModel,
        parallelism: Parallelism,
        workload: Workload,
        sizes: LocalSizes,
        device: Device | None,
    ) -> None:
        """Take over what the sizes of all nodes follow from."""
        self._model = model
        self._parallelism = parallelism
        self._workload = workload
        self._sizes = sizes
        self._device = device
        self._bytes = workload.element_bytes
        # Along with it goes a hidden vector for each token.
        self._row = model.hidden * workload.element_bytes

    def forward(self) -> PassBlock:
        """Make a layer's forward pass."""
        block = self._block(2)
        return PassBlock(block, self._forward_nodes(block, "", [Input(0), Input(1)]))

    def backward(self) -> PassBlock:
        """Make a layer's backward pass, with what is computed again in front of it."""
        block = self._block(3)
        gradient: Sequence[Parent] = [Input(0)]
        saved: Sequence[Parent] = [Input(1), Input(2)]
        if self._workload.recompute == "full":
            saved = [self._forward_nodes(block, "recompute.", [*gradient, *saved])]
        middle, mlp_gradients = self._mlp_backward(block, gradient, saved)
        out, attention_gradients = self._attention_backward(block, middle, saved)
        return PassBlock(block, out, (*mlp_gradients, *attention_gradients))

    def embedding(self) -> PassBlock:
        """Look up the tokens."""
        block = self._block(2)
        tokens = self._sizes.tokens
        found = block.compute("embedding", "elementwise", 0, 2 * tokens * self._row, [Input(0), Input(1)])
        return PassBlock(block, self._reduce(block, "embedding", found, tokens))

    def embedding_backward(self) -> PassBlock:
        """Add up the gradients of the rows that were looked up."""
        block = self._block(2)
        sizes = self._sizes
        gathered = self._gather(block, "embedding_gradient", [Input(0), Input(1)], sizes.split_tokens)
        operations = sizes.tokens * self._model.hidden
        out = block.compute("embedding_weights", "elementwise", operations, 3 * sizes.tokens * self._row, gathered)
        return PassBlock(block, out, (out,))

    def head(self) -> PassBlock:
        """Make the last norm and the output layer; in training with the loss, else with the choice of a token."""
        block = self._block(2)
        sizes = self._sizes
        norm = self._norm(block, "final_norm", [Input(0), Input(1)])
        gathered = self._gather(block, "final_norm", [norm], sizes.split_tokens)
        training = self._workload.phase == "train"
        rows = sizes.tokens if training else self._workload.micro_batch
        logits = block.matmul("logits", rows, self._model.hidden, sizes.vocabulary, self._bytes, gathered)
        if training:
            return PassBlock(block, self._loss(block, logits))
        chosen = logits
        if self._parallelism.tp > 1:
            size = rows * sizes.vocabulary * self._bytes
            chosen = block.collective("logits.all_gather", _ALL_GATHER, RankValue.TP, size, [logits])
        operations = rows * self._model.vocabulary
        return PassBlock(block, block.compute("sample", "elementwise", operations, operations * self._bytes, [chosen]))

    def _loss(self, block: BlockBuilder, logits: int) -> int:
        """Cross-entropy of a vocabulary that is split: the largest logit, then two sums, are reduced in 4 bytes."""
        tokens, elements = self._sizes.tokens, self._sizes.tokens * self._sizes.vocabulary
        parent = logits
        if self._parallelism.tp > 1:
            parent = block.collective("loss.largest", _ALL_REDUCE, RankValue.TP, 4 * tokens, [parent])
        parent = block.compute("loss", "elementwise", _SOFTMAX_OPS * elements, 2 * elements * self._bytes, [parent])
        if self._parallelism.tp > 1:
            parent = block.collective("loss.sums", _ALL_REDUCE, RankValue.TP, 8 * tokens, [parent])
        return parent

    def head_backward(self) -> PassBlock:
        """Go from the loss back to the last layer. Inputs: 0 the loss, 1 the last layer's output, 2 parameters."""
        block = self._block(3)
        sizes, hidden = self._sizes, self._model.hidden
        elements = sizes.tokens * sizes.vocabulary
        start = [Input(0), Input(1), Input(2)]
        logits = block.compute("logits_gradient", "elementwise", elements, 2 * elements * self._bytes, start)
        gradient = block.matmul("logits_input", sizes.tokens, sizes.vocabulary, hidden, self._bytes, [logits])
        reduced = self._reduce(block, "logits_input", gradient, sizes.tokens)
        again = self._gather_again(block, "final_norm", [Input(1)], sizes.split_tokens)
        weights = self._weights(block, "logits_weights", hidden, sizes.tokens, sizes.vocabulary, [logits, *again])
        out = self._norm_backward(block, "final_norm_backward", [reduced])
        return PassBlock(block, out, (weights, out))

    def _block(self, num_inputs: int) -> BlockBuilder:
        return BlockBuilder(num_inputs, self._device)

    def _norm(self, block: BlockBuilder, name: str, after: Sequence[Parent]) -> int:
        elements = self._sizes.split_tokens * self._model.hidden
        return block.compute(name, "elementwise", _NORM_OPS * elements, 2 * elements * self._bytes, after)

    def _norm_backward(self, block: BlockBuilder, name: str, after: Sequence[Parent]) -> int:
        elements = self._sizes.split_tokens * self._model.hidden
        return block.compute(name, "elementwise", 2 * _NORM_OPS * elements, 4 * elements * self._bytes, after)

    def _add(self, block: BlockBuilder, name: str, after: Sequence[Parent]) -> int:
        elements = self._sizes.split_tokens * self._model.hidden
        return block.compute(name, "elementwise", elements, 3 * elements * self._bytes, after)

    def _gather(self, block: BlockBuilder, name: str, after: Sequence[Parent], tokens: int) -> Sequence[Parent]:
        """All tokens of `tokens` a rank; nothing to do without sequence parallelism."""
        if not self._parallelism.sequence_parallel:
            return after
        return [block.collective(f"{name}.all_gather", _ALL_GATHER, RankValue.TP, tokens * self._row, after)]

    def _gather_again(self, block: BlockBuilder, name: str, after: Sequence[Parent], tokens: int) -> Sequence[Parent]:
        """For gradients of parameters: of what was gathered before, only a part was kept."""
        return self._gather(block, f"{name}.again", after, tokens)

    def _reduce(self, block: BlockBuilder, name: str, parent: int, tokens: int) -> int:
        """Sum over tensor-parallel ranks, all of it on each or a part on each."""
        if self._parallelism.tp == 1:
            return parent
        if self._parallelism.sequence_parallel:
            name, kind = f"{name}.reduce_scatter", _REDUCE_SCATTER
        else:
            name, kind = f"{name}.all_reduce", _ALL_REDUCE
        return block.collective(name, kind, RankValue.TP, tokens * self._row, [parent])

    def _exchange(self, block: BlockBuilder, name: str, after: Sequence[Parent]) -> Sequence[Parent]:
        """Tokens to the ranks of their experts, or back."""
        if self._parallelism.ep == 1:
            return after
        size = self._sizes.split_tokens * self._sizes.copies * self._row
        return [block.collective(f"{name}.all_to_all", _ALL_TO_ALL, RankValue.EP, size, after)]

    def _weights(
        self, block: BlockBuilder, name: str, rows: int, tokens: int, columns: int, after: Sequence[Parent]
    ) -> int:
        """Make the gradient of a matrix of rows x columns."""
        return block.matmul(name, rows, tokens, columns, self._bytes, after)

    def _forward_nodes(self, block: BlockBuilder, prefix: str, start: Sequence[Parent]) -> int:
        middle = self._attention(block, prefix, start)
        return self._mlp(block, prefix, middle)

    def _attention(self, block: BlockBuilder, prefix: str, start: Sequence[Parent]) -> int:
        sizes, hidden = self._sizes, self._model.hidden
        norm = self._norm(block, f"{prefix}attention_norm", start)
        gathered = self._gather(block, f"{prefix}attention_norm", [norm], sizes.split_tokens)
        qkv = block.matmul(f"{prefix}qkv", sizes.tokens, hidden, sizes.query + 2 * sizes.key, self._bytes, gathered)
        keys = self._gather_keys(block, prefix, [qkv])
        core = self._core(block, f"{prefix}attention_core", 1, [qkv, *keys])
        projected = block.matmul(f"{prefix}projection", sizes.tokens, sizes.query, hidden, self._bytes, [core])
        reduced = self._reduce(block, f"{prefix}projection", projected, sizes.tokens)
        return self._add(block, f"{prefix}attention_add", [reduced, *start])

    def _gather_keys(self, block: BlockBuilder, prefix: str, after: Sequence[Parent]) -> Sequence[Parent]:
        """Keys and values of the whole sequence."""
        if self._parallelism.cp == 1:
            return []
        size = 2 * self._sizes.tokens * self._sizes.key * self._bytes
        return [block.collective(f"{prefix}keys.all_gather", _ALL_GATHER, RankValue.CP, size, after)]

    def _core(self, block: BlockBuilder, name: str, times: int, after: Sequence[Parent]) -> int:
        """Scores, softmax, and the sum of values."""
        sizes = self._sizes
        products = 4 * sizes.tokens * sizes.context * sizes.query
        if self._workload.causal_attention and self._workload.phase != "decode":
            products //= 2
        touched = 2 * sizes.tokens * sizes.query + 2 * self._workload.micro_batch * sizes.context * sizes.key
        if not self._workload.flash_attention:
            touched += 4 * sizes.tokens * sizes.context * (sizes.query // self._model.head_width)
        return block.compute(name, "attention", times * products, times * touched * self._bytes, after)

    def _mlp(self, block: BlockBuilder, prefix: str, middle: int) -> int:
        sizes = self._sizes
        norm = self._norm(block, f"{prefix}mlp_norm", [middle])
        tokens, split_tokens = sizes.tokens * sizes.copies, sizes.split_tokens * sizes.copies
        routed: Sequence[Parent] = [norm]
        if self._model.is_moe:
            routed = self._exchange(block, f"{prefix}dispatch", [self._router(block, f"{prefix}router", 1, [norm])])
        gathered = self._gather(block, f"{prefix}mlp_norm", routed, split_tokens)
        up = self._experts_matmul(block, f"{prefix}up", tokens, self._model.hidden, self._up_width, gathered)
        elements = tokens * sizes.ffn
        moved = self._model.mlp_matrices * elements * self._bytes
        active = block.compute(f"{prefix}activation", "elementwise", _ACTIVATION_OPS * elements, moved, [up])
        down = self._experts_matmul(block, f"{prefix}down", tokens, sizes.ffn, self._model.hidden, [active])
        reduced: Sequence[Parent] = [self._reduce(block, f"{prefix}down", down, tokens)]
        if self._model.is_moe:
            reduced = self._exchange(block, f"{prefix}combine", reduced)
        return self._add(block, f"{prefix}mlp_add", [*reduced, middle])

    @property
    def _up_width(self) -> int:
        """Columns of the first matrix of the MLP, with those of the gate."""
        return self._sizes.ffn * (self._model.mlp_matrices - 1)

    def _experts_matmul(
        self, block: BlockBuilder, name: str, rows: int, inner: int, columns: int, after: Sequence[Parent]
    ) -> int:
        """Multiply where the rows are spread evenly over the matrices of this rank's experts."""
        touched = rows * inner + self._sizes.experts * inner * columns + rows * columns
        return block.compute(name, "matmul", 2 * rows * inner * columns, touched * self._bytes, after)

    def _router(self, block: BlockBuilder, name: str, times: int, after: Sequence[Parent]) -> int:
        rows, hidden, experts = self._sizes.split_tokens, self._model.hidden, self._model.experts
        touched = rows * hidden + hidden * experts + rows * experts
        operations = times * 2 * rows * hidden * experts
        return block.compute(name, "matmul", operations, times * touched * self._bytes, after)

    def _mlp_backward(
        self, block: BlockBuilder, gradient: Sequence[Parent], saved: Sequence[Parent]
    ) -> tuple[int, tuple[int, ...]]:
        """Return the gradient between attention and MLP, and the nodes that make gradients of parameters."""
        sizes, hidden = self._sizes, self._model.hidden
        tokens, split_tokens = sizes.tokens * sizes.copies, sizes.split_tokens * sizes.copies
        start: Sequence[Parent] = [*gradient, *saved]
        arrived = self._exchange(block, "combine_gradient", start) if self._model.is_moe else start
        gathered = self._gather(block, "mlp_gradient", arrived, split_tokens)
        again = self._gather_again(block, "mlp_norm", saved, split_tokens)
        down = self._experts_matmul(block, "down_input", tokens, hidden, sizes.ffn, gathered)
        elements = tokens * sizes.ffn
        moved = 2 * self._model.mlp_matrices * elements * self._bytes
        active = block.compute("activation_backward", "elementwise", 2 * _ACTIVATION_OPS * elements, moved, [down])
        up = self._experts_matmul(block, "up_input", tokens, self._up_width, hidden, [active])
        reduced: Sequence[Parent] = [self._reduce(block, "up_input", up, tokens)]
        if self._model.is_moe:
            reduced = self._exchange(block, "dispatch_gradient", reduced)
        down_weights = self._expert_weights(block, "down_weights", tokens, sizes.ffn, hidden, gathered)
        up_weights = self._expert_weights(block, "up_weights", tokens, hidden, self._up_width, [active, *again])
        gradients = [down_weights, up_weights]
        if self._model.is_moe:
            gradients.append(self._router(block, "router_backward", 2, reduced))
            reduced = [gradients[-1]]
        out = self._norm_backward(block, "mlp_norm_backward", [*reduced, *gradient])
        return out, (*gradients, out)

    def _expert_weights(
        self, block: BlockBuilder, name: str, tokens: int, rows: int, columns: int, after: Sequence[Parent]
    ) -> int:
        """Gradients of the matrices of all experts of this rank."""
        touched = tokens * (rows + columns) + self._sizes.experts * rows * columns
        return block.compute(name, "matmul", 2 * tokens * rows * columns, touched * self._bytes, after)

    def _attention_backward(
        self, block: BlockBuilder, middle: int, saved: Sequence[Parent]
    ) -> tuple[int, tuple[int, ...]]:
        sizes, hidden = self._sizes, self._model.hidden
        width = sizes.query + 2 * sizes.key
        gathered = self._gather(block, "attention_gradient", [middle], sizes.split_tokens)
        again = self._gather_again(block, "attention_norm", saved, sizes.split_tokens)
        keys = self._gather_keys(block, "again.", saved)
        projection = block.matmul("projection_input", sizes.tokens, hidden, sizes.query, self._bytes, gathered)
        ready: list[Parent] = [projection, *keys]
        if self._workload.recompute == "selective":
            ready = [self._core(block, "recompute.attention_core", 1, ready)]
        core = self._core(block, "attention_core_backward", 2, ready)
        keys_gradient = self._scatter_keys(block, core)
        qkv = block.matmul("qkv_input", sizes.tokens, width, hidden, self._bytes, [core, *keys_gradient])
        reduced = self._reduce(block, "qkv_input", qkv, sizes.tokens)
        projection_weights = self._weights(block, "projection_weights", sizes.query, sizes.tokens, hidden, gathered)
        after: Sequence[Parent] = [core, *keys_gradient, *again]
        qkv_weights = self._weights(block, "qkv_weights", hidden, sizes.tokens, width, after)
        out = self._norm_backward(block, "attention_norm_backward", [reduced, middle])
        return out, (projection_weights, qkv_weights, out)

    def _scatter_keys(self, block: BlockBuilder, core: int) -> Sequence[Parent]:
        """Gradients of the keys and values of the whole sequence, to the ranks that have them."""
        if self._parallelism.cp == 1:
            return []
        size = 2 * self._sizes.tokens * self._parallelism.cp * self._sizes.key * self._bytes
        return [block.collective("keys_gradient.reduce_scatter", _REDUCE_SCATTER, RankValue.CP, size, [core])]
