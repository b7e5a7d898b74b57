# SPDX-License-Identifier: MIT
"""Blocks of nodes, and programs that put them one after another, in the plain form of a bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from chakra_core._core import CollectiveType
from chakra_core.bundle import Plain, plain_node
from chakra_core.generate.workload import Device


class RankValue(IntEnum):
    """What each rank has for itself: names of its groups, its number and those of its neighbours in the pipeline."""

    TP = 0
    CP = 1
    DP = 2
    EP = 3
    EDP = 4
    EMBEDDING = 5
    SELF = 6
    PREVIOUS = 7
    NEXT = 8


#: Names of the groups, in the order of the values.
GROUP_KINDS = ("tp", "cp", "dp", "ep", "edp", "embedding")


class Queue(IntEnum):
    """Nodes of a queue run in the order of the program: a device's stream. Groups have the queue of their value."""

    COMPUTE = 9
    SEND_FORWARD = 10
    SEND_BACKWARD = 11
    RECEIVE_FORWARD = 12
    RECEIVE_BACKWARD = 13


class Input(NamedTuple):
    """An input of a block, by its number."""

    number: int


Parent: TypeAlias = "int | Input"
Reference: TypeAlias = "tuple[int, int]"
"""A node of a placement: (placement, node of its block)."""


class BlockBuilder:
    """Nodes of a block, in the order in which they are added; what adds a node returns its number."""

    def __init__(self, num_inputs: int, device: Device | None) -> None:
        """Begin with no nodes."""
        self.nodes: list[Plain] = []
        self.num_inputs = num_inputs
        self._device = device

    def compute(self, name: str, kind: str, flops: int, memory_bytes: int, after: Sequence[Parent]) -> int:
        """Add a computation of so many operations that reads and writes so many bytes."""
        duration = 0 if self._device is None else self._device.duration_ns(flops, memory_bytes)
        attrs = {"is_cpu_op": False, "num_ops": flops, "tensor_size": memory_bytes, "op_type": kind}
        return self._add(name, "COMP_NODE", attrs, [], after, Queue.COMPUTE, duration)

    def matmul(
        self, name: str, rows: int, inner: int, columns: int, element_bytes: int, after: Sequence[Parent]
    ) -> int:
        """Add a product of matrices, rows x inner and inner x columns."""
        touched = rows * inner + inner * columns + rows * columns
        return self.compute(name, "matmul", 2 * rows * inner * columns, touched * element_bytes, after)

    def collective(self, name: str, kind: CollectiveType, group: RankValue, size: int, after: Sequence[Parent]) -> int:
        """Add a collective of a group; `size` is what each rank contributes, in bytes."""
        attrs = {"is_cpu_op": False, "comm_type": int(kind), "comm_size": size}
        return self._add(name, "COMM_COLL_NODE", attrs, [("pg_name", group)], after, group)

    def send(self, name: str, to: RankValue, size: int, after: Sequence[Parent]) -> int:
        """Add a message to the next stage (activations) or to the one before (their gradients)."""
        forward = to == RankValue.NEXT
        attrs = {"is_cpu_op": False, "comm_size": size, "comm_tag": 0 if forward else 1}
        queue = Queue.SEND_FORWARD if forward else Queue.SEND_BACKWARD
        return self._add(name, "COMM_SEND_NODE", attrs, [("comm_src", RankValue.SELF), ("comm_dst", to)], after, queue)

    def receive(self, name: str, source: RankValue, size: int) -> int:
        """Add the other end of a message."""
        forward = source == RankValue.PREVIOUS
        attrs = {"is_cpu_op": False, "comm_size": size, "comm_tag": 0 if forward else 1}
        queue = Queue.RECEIVE_FORWARD if forward else Queue.RECEIVE_BACKWARD
        ends = [("comm_src", source), ("comm_dst", RankValue.SELF)]
        return self._add(name, "COMM_RECV_NODE", attrs, ends, (), queue)

    def _add(
        self,
        name: str,
        kind: str,
        attrs: Mapping[str, object],
        rank_attrs: Sequence[tuple[str, RankValue]],
        after: Sequence[Parent],
        queue: int,
        duration_ns: int = 0,
    ) -> int:
        parents = list(dict.fromkeys(parent for parent in after if not isinstance(parent, Input)))
        inputs = [parent.number for parent in after if isinstance(parent, Input)]
        ranked = [(attribute, int(value)) for attribute, value in rank_attrs]
        node = plain_node(
            name,
            kind,
            duration_ns=duration_ns,
            attrs=attrs,
            rank_attrs=ranked,
            parents=parents,
            inputs=inputs,
            queue=int(queue),
        )
        self.nodes.append(node)
        return len(self.nodes) - 1


class Program:
    """Placements of blocks, one after another."""

    def __init__(self) -> None:
        """Begin with none."""
        self._numbers: dict[int, int] = {}
        self._blocks: list[BlockBuilder] = []
        self._block: list[int] = []
        self._label: list[str] = []
        self._link_offsets = [0]
        self._link_placement: list[int] = []
        self._link_node: list[int] = []

    def place(self, block: BlockBuilder, label: str, inputs: Sequence[Sequence[Reference]] = ()) -> int:
        """Add a block; `inputs` says for each of its inputs what is connected to it. Returns its number."""
        number = self._numbers.get(id(block))
        if number is None:
            number = self._numbers[id(block)] = len(self._blocks)
            self._blocks.append(block)
        self._block.append(number)
        self._label.append(label)
        for references in inputs:
            for placement, node in references:
                self._link_placement.append(placement)
                self._link_node.append(node)
            self._link_offsets.append(len(self._link_node))
        return len(self._block) - 1

    def finish(self) -> Plain:
        """Return the program in its plain form."""
        return {
            "blocks": [{"inputs": block.num_inputs, "nodes": block.nodes} for block in self._blocks],
            "placements": {
                "block": self._block,
                "label": self._label,
                "link_offsets": self._link_offsets,
                "link_placement": self._link_placement,
                "link_node": self._link_node,
            },
        }
