# SPDX-License-Identifier: MIT
"""The program of a pipeline stage: which blocks its ranks run, in which order, connected how."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from chakra_core._core import CollectiveType
from chakra_core.bundle import Plain
from chakra_core.generate.block import BlockBuilder, Input, Parent, Program, RankValue, Reference
from chakra_core.generate.layer import LayerBlocks, PassBlock
from chakra_core.generate.memory import StageContent
from chakra_core.generate.model import TransformerModel
from chakra_core.generate.parallelism import Parallelism
from chakra_core.generate.schedule import Pass, most_held, schedule
from chakra_core.generate.workload import Device, LocalSizes, Workload, layers_of_chunk, local_sizes

_Made = TypeVar("_Made")
#: Bytes of a token's number.
_TOKEN_BYTES = 8
#: Of the optimiser, for each parameter: roughly what Adam does.
_OPTIMIZER_OPS = 10


class Part:
    """Something with parameters: a layer, the embedding or the output layer.

    Attributes:
        label: in front of the names of its nodes.
        dense: parameters without experts.
        expert: parameters of experts.
        gathered: dense parameters that ZeRO 3 gathers; more than `dense` where a matrix is shared.
    """

    def __init__(self, label: str, dense: int, expert: int = 0, gathered: int | None = None) -> None:
        """Take over the sizes."""
        self.label = label
        self.dense = dense
        self.expert = expert
        self.gathered = dense if gathered is None else gathered
        self.gradients: list[Reference] = []


class StageProgram:
    """Puts the blocks of a stage one after another."""

    def __init__(
        self, model: TransformerModel, parallelism: Parallelism, workload: Workload, device: Device | None, stage: int
    ) -> None:
        """Work out sizes and schedule."""
        self._model = model
        self._parallelism = parallelism
        self._workload = workload
        self._stage = stage
        self._device = device
        self._sizes = local_sizes(model, parallelism, workload)
        self._make = LayerBlocks(model, parallelism, workload, self._sizes, device)
        self._program = Program()
        self._blocks: dict[Hashable, object] = {}
        self._training = workload.phase == "train"
        self._chunks = [
            layers_of_chunk(model, parallelism, stage, chunk) for chunk in range(parallelism.virtual_stages)
        ]
        self._has_embedding = stage == 0
        self._has_head = stage == parallelism.pp - 1
        self._parts = self._make_parts()
        #: What the forward pass of a part left for its backward pass, by micro-batch and part.
        self._saved: dict[tuple[int, str], Reference] = {}
        #: What the last passes through parts of this stage end with; gathering of parameters stays two ahead of them.
        self._passed: list[Reference] = []
        self._reduced: list[Reference] = []
        self._replicas = parallelism.dp * parallelism.cp
        self._expert_replicas = self._replicas // parallelism.ep
        self.passes = self._passes()

    def build(self) -> Plain:
        """Make the program."""
        if not self._training:
            self._infer()
            return self._program.finish()
        last_of_chunk = {one.chunk: place for place, one in enumerate(self.passes) if not one.forward}
        for place, one in enumerate(self.passes):
            if one.forward:
                self._forward_pass(one)
            else:
                self._backward_pass(one, is_last=place == last_of_chunk[one.chunk])
        self._optimize()
        return self._program.finish()

    def content(self) -> StageContent:
        """Return what the ranks of this stage hold."""
        layers = sum(map(len, self._chunks))
        most_layers = max(map(len, self._chunks))
        held = min(most_held(self.passes) * most_layers, layers * self._workload.micro_batches)
        return StageContent(
            layers=layers,
            dense=sum(part.dense for part in self._parts.values()),
            expert=sum(part.expert for part in self._parts.values()),
            held_layers=held,
            is_last=self._has_head,
        )

    @property
    def sizes(self) -> LocalSizes:
        """What a rank has of a layer and of a micro-batch."""
        return self._sizes

    def _passes(self) -> list[Pass]:
        if self._training:
            return schedule(self._parallelism, self._stage, self._workload.micro_batches)
        return [Pass(True, number, 0) for number in range(self._workload.micro_batches)]

    def _make_parts(self) -> dict[str, Part]:
        sizes, model = self._sizes, self._model
        parts = []
        if self._has_embedding:
            parts.append(Part("embedding", sizes.embedding_parameters))
        for chunk in self._chunks:
            parts += [Part(f"layer{layer}", sizes.dense_parameters, sizes.expert_parameters) for layer in chunk]
        if self._has_head:
            shared = sizes.vocabulary * model.hidden if model.tied_embeddings else 0
            # On another stage than the embedding, the shared matrix is there a second time.
            copied = shared if self._parallelism.pp > 1 else 0
            parts.append(Part("head", sizes.head_parameters + copied, 0, sizes.head_parameters + shared))
        return {part.label: part for part in parts}

    def _once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Make a block when it is first asked for."""
        if key not in self._blocks:
            self._blocks[key] = make()
        made: _Made = self._blocks[key]  # type: ignore[assignment]
        return made

    def _place(self, made: PassBlock, label: str, inputs: Sequence[Sequence[Reference]]) -> Reference:
        reference = (self._program.place(made.block, label, inputs), made.out)
        self._passed.append(reference)
        return reference

    def _is_first(self, one: Pass) -> bool:
        return self._has_embedding and one.chunk == 0

    def _is_last(self, one: Pass) -> bool:
        return self._has_head and one.chunk == self._parallelism.virtual_stages - 1

    def _boundary_bytes(self) -> int:
        return self._sizes.split_tokens * self._model.hidden * self._workload.element_bytes

    def _forward_pass(self, one: Pass, label: str = "", token: Reference | None = None) -> Reference:
        batch = f"{label}mb{one.micro_batch}."
        if self._is_first(one):
            parameters = self._gather_parameters("embedding", batch)
            inputs = [[token] if token else [], parameters]
            out = self._place(self._once("embedding", self._make.embedding), batch, inputs)
            self._saved[one.micro_batch, "embedding"] = out
        else:
            out = self._receive(RankValue.PREVIOUS, batch, self._boundary_bytes())
        for layer in self._chunks[one.chunk]:
            part = f"layer{layer}"
            parameters = self._gather_parameters(part, batch)
            out = self._place(self._once("forward", self._make.forward), f"{batch}{part}.", [[out], parameters])
            self._saved[one.micro_batch, part] = out
        if self._is_last(one):
            parameters = self._gather_parameters("head", batch)
            loss = self._place(self._once("head", self._make.head), batch, [[out], parameters])
            self._saved[one.micro_batch, "head"] = loss
            return loss
        self._send(RankValue.NEXT, batch, out, self._boundary_bytes())
        return out

    def _backward_pass(self, one: Pass, *, is_last: bool) -> None:
        """Take a micro-batch back through a chunk; gradients are reduced after the last one, or each time."""
        batch = f"mb{one.micro_batch}."
        reducing = is_last or self._parallelism.zero >= 2
        bucket: list[Part] = []
        layers = self._chunks[one.chunk]
        if self._is_last(one):
            last_layer = self._saved[one.micro_batch, f"layer{layers[-1]}"]
            loss = self._saved[one.micro_batch, "head"]
            out = self._backward_part("head", "head_backward", self._make.head_backward, batch, [loss], last_layer)
            bucket = self._reduce_bucket([self._parts["head"]], batch, reducing=reducing)
        else:
            out = self._receive(RankValue.NEXT, batch, self._boundary_bytes())
        for layer in reversed(layers):
            part = f"layer{layer}"
            saved = self._saved[one.micro_batch, part]
            out = self._backward_part(part, "backward", self._make.backward, f"{batch}{part}.", [out], saved)
            bucket = self._reduce_bucket([*bucket, self._parts[part]], batch, reducing=reducing)
        if self._is_first(one):
            made = self._once("embedding_backward", self._make.embedding_backward)
            saved = self._saved[one.micro_batch, "embedding"]
            self._parts["embedding"].gradients = self._gradients(made, self._place(made, batch, [[out], [saved]]))
            bucket.append(self._parts["embedding"])
        else:
            self._send(RankValue.PREVIOUS, batch, out, self._boundary_bytes())
        self._reduce_bucket(bucket, batch, reducing=reducing, all_of_it=True)

    def _backward_part(
        self,
        part: str,
        key: str,
        make: Callable[[], PassBlock],
        label: str,
        arrived: list[Reference],
        saved: Reference,
    ) -> Reference:
        parameters = self._gather_parameters(part, f"{label}backward.")
        made = self._once(key, make)
        out = self._place(made, f"{label}backward.", [arrived, [saved], parameters])
        self._parts[part].gradients = self._gradients(made, out)
        return out

    @staticmethod
    def _gradients(made: PassBlock, placed: Reference) -> list[Reference]:
        return [(placed[0], node) for node in made.gradients]

    def _gather_parameters(self, part: str, label: str) -> list[Reference]:
        """With ZeRO 3: the parameters come together before a part is used, while the part before it is at work."""
        if self._parallelism.zero < 3:
            return []
        one = self._parts[part]
        dense, expert = one.gathered if self._replicas > 1 else 0, one.expert if self._expert_replicas > 1 else 0
        if not dense and not expert:
            return []
        block = self._once(("gather", dense, expert), lambda: self._shards_block("parameters", dense, expert))
        after = self._passed[-2:-1]
        placement = self._program.place(block, f"{label}{part}." if part not in label else label, [after])
        return [(placement, node) for node in range(len(block.nodes))]

    def _shards_block(self, name: str, dense: int, expert: int) -> BlockBuilder:
        """All-gather of parameters of which each replica has a part."""
        width = self._workload.element_bytes
        block = BlockBuilder(1, self._device)
        kind = CollectiveType.ALL_GATHER
        if dense:
            size = -(-dense // self._replicas) * width
            block.collective(f"{name}.all_gather", kind, RankValue.DP, size, [Input(0)])
        if expert:
            size = -(-expert // self._expert_replicas) * width
            block.collective(f"{name}.expert_all_gather", kind, RankValue.EDP, size, [Input(0)])
        return block

    def _reduce_bucket(self, bucket: list[Part], label: str, *, reducing: bool, all_of_it: bool = False) -> list[Part]:
        """Reduce the gradients of these parts if they are enough; return those that are still to be reduced."""
        width = self._workload.gradient_bytes
        size = sum(part.dense + part.expert for part in bucket) * width
        if not bucket or (not all_of_it and size < self._workload.bucket_bytes):
            return bucket
        if reducing:
            dense = sum(part.dense for part in bucket) * width if self._replicas > 1 else 0
            expert = sum(part.expert for part in bucket) * width if self._expert_replicas > 1 else 0
            gradients = [reference for part in bucket for reference in part.gradients]
            self._place_reduction(dense, expert, f"{label}{bucket[-1].label}.", gradients)
        return []

    def _place_reduction(self, dense: int, expert: int, label: str, gradients: list[Reference]) -> None:
        if not dense and not expert:
            return
        block = self._once(("reduce", dense, expert), lambda: self._reduction_block(dense, expert))
        placement = self._program.place(block, label, [gradients])
        self._reduced += [(placement, node) for node in range(len(block.nodes))]

    def _reduction_block(self, dense: int, expert: int) -> BlockBuilder:
        if self._parallelism.zero:
            name, kind = "reduce_scatter", CollectiveType.REDUCE_SCATTER
        else:
            name, kind = "all_reduce", CollectiveType.ALL_REDUCE
        block = BlockBuilder(1, self._device)
        if dense:
            block.collective(f"gradients.{name}", kind, RankValue.DP, dense, [Input(0)])
        if expert:
            block.collective(f"gradients.expert_{name}", kind, RankValue.EDP, expert, [Input(0)])
        return block

    def _optimize(self) -> None:
        """Add what follows the last backward pass: shared gradients, optimiser, with ZeRO 1 and 2 the parameters."""
        ready: list[Reference] = [*self._reduced, *self._shared_gradients(self._passed[-1])]
        content = self.content()
        dense, expert = content.dense, content.expert
        if self._parallelism.zero:
            dense, expert = -(-dense // self._replicas), -(-expert // self._expert_replicas)
        block = BlockBuilder(1, self._device)
        parameters = dense + expert
        workload = self._workload
        moved = workload.gradient_bytes + 2 * workload.optimizer_bytes + workload.element_bytes
        after: list[Parent] = [Input(0)]
        last = block.compute("optimizer", "optimizer", _OPTIMIZER_OPS * parameters, moved * parameters, after)
        updated = (self._program.place(block, "", [[*ready, self._passed[-1]]]), last)
        if self._parallelism.zero in (1, 2):
            for part in self._parts.values():
                self._gather_updated(part, updated)

    def _gather_updated(self, part: Part, updated: Reference) -> None:
        dense = part.dense if self._replicas > 1 else 0
        expert = part.expert if self._expert_replicas > 1 else 0
        if dense or expert:
            block = self._once(("gather", dense, expert), lambda: self._shards_block("parameters", dense, expert))
            self._program.place(block, f"updated.{part.label}.", [[updated]])

    def _shared_gradients(self, after: Reference) -> list[Reference]:
        """Gradients of parameters that several ranks of a replica have: norms and shared embeddings."""
        width = self._workload.gradient_bytes
        block = BlockBuilder(1, self._device)
        kind = CollectiveType.ALL_REDUCE
        if self._parallelism.sequence_parallel:
            number = sum(map(len, self._chunks)) * self._sizes.replicated_parameters
            number += self._model.norm_parameters() if self._has_head else 0
            block.collective("replicated_gradients.all_reduce", kind, RankValue.TP, number * width, [Input(0)])
        at_an_end = self._has_embedding or self._has_head
        if self._model.tied_embeddings and self._parallelism.pp > 1 and at_an_end:
            size = self._sizes.vocabulary * self._model.hidden * width
            block.collective("embedding_gradients.all_reduce", kind, RankValue.EMBEDDING, size, [Input(0)])
        if not block.nodes:
            return []
        placement = self._program.place(block, "", [[after]])
        return [(placement, node) for node in range(len(block.nodes))]

    def _send(self, to: RankValue, label: str, source: Reference, size: int) -> None:
        def make() -> BlockBuilder:
            block = BlockBuilder(1, self._device)
            block.send("send", to, size, [Input(0)])
            return block

        name = f"{label}to_{to.name.lower()}."
        self._program.place(self._once(("send", to, size), make), name, [[source]])

    def _receive(self, source: RankValue, label: str, size: int) -> Reference:
        def make() -> BlockBuilder:
            block = BlockBuilder(0, self._device)
            block.receive("receive", source, size)
            return block

        name = f"{label}from_{source.name.lower()}."
        return (self._program.place(self._once(("receive", source, size), make), name), 0)

    def _infer(self) -> None:
        """Forward passes; in decoding a round for each token, which goes from the last stage back to the first."""
        if self._workload.phase == "prefill":
            for one in self.passes:
                self._forward_pass(one)
            return
        tokens: dict[int, Reference] = {}
        size = self._workload.micro_batch * _TOKEN_BYTES
        alone = self._parallelism.pp == 1
        for step in range(self._workload.decode_steps):
            self._use_context(self._workload.sequence + step + 1)
            for one in self.passes:
                label = f"token{step}."
                if self._has_embedding and step > 0 and not alone:
                    tokens[one.micro_batch] = self._receive(RankValue.PREVIOUS, f"{label}mb{one.micro_batch}.", size)
                out = self._forward_pass(one, label, tokens.get(one.micro_batch))
                if self._has_head and alone:
                    tokens[one.micro_batch] = out
                elif self._has_head and step + 1 < self._workload.decode_steps:
                    self._send(RankValue.NEXT, f"{label}mb{one.micro_batch}.token.", out, size)

    def _use_context(self, context: int) -> None:
        """Blocks of another length of the cache are other blocks."""
        self._sizes = self._sizes._replace(context=context)
        self._make = LayerBlocks(self._model, self._parallelism, self._workload, self._sizes, self._device)
        self._blocks.pop("forward", None)
