# SPDX-License-Identifier: MIT
"""Workloads of ASTRA-sim 1.0: a text with a line a layer, as an execution trace.

The first line names the parallelism, the second the number of layers. A layer has twelve columns: its name, a column
that nobody reads, then computing time (us), collective and size (bytes) of the forward pass, of the input gradient and
of the weight gradient, and the time of the weight update, which ASTRA-sim's own converter leaves out as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from chakra_core._core import CollectiveType, ConfigError, Trace, TraceBuilder

_PathLike: TypeAlias = "str | os.PathLike[str]"

_COLLECTIVES = {
    "ALLREDUCE": CollectiveType.ALL_REDUCE,
    "ALLTOALL": CollectiveType.ALL_TO_ALL,
    "ALLGATHER": CollectiveType.ALL_GATHER,
    "REDUCESCATTER": CollectiveType.REDUCE_SCATTER,
}
_NONE = "NONE"
_LAST_BOTTOM_LAYER = "DLRM_LAST_BOTTOM_LAYER:"
_NS_PER_US = 1000


def convert_text(path: _PathLike, *, num_passes: int = 1) -> Trace:
    """Make an execution trace of a text workload of ASTRA-sim 1.0.

    All ranks do the same, so one trace stands for all: `simulate([trace] * 8, ...)`. A collective "NONE" is none; what
    would wait for it waits for what it would wait for.

    Args:
        path: the text, of the parallelism MICRO, DATA, MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_DLRM or
            HYBRID_DLRM_ENHANCED.
        num_passes: how often the layers are run, forward and backward, one pass after the other.

    Raises:
        ConfigError: the text is not understood; names file, line, and what was found and expected.
        OSError: the file cannot be read.
    """
    if num_passes < 1:
        raise ConfigError(f"num_passes is {num_passes}; it must be 1 or more")
    workload = _read(path)
    graph = _Graph()
    _PASSES[workload.parallelism](graph, workload, num_passes)
    trace: Trace = graph.builder.build()
    return trace


class _Step(NamedTuple):
    """Computing time in us, and what is communicated after it."""

    micros: int
    collective: CollectiveType | None
    size: int


class _Layer(NamedTuple):
    name: str
    forward: _Step
    input_gradient: _Step
    weight_gradient: _Step


class _Workload(NamedTuple):
    parallelism: str
    layers: list[_Layer]
    last_bottom_layer: int


def _read(path: _PathLike) -> _Workload:
    numbered = enumerate(Path(path).read_text(encoding="utf-8", errors="replace").splitlines(), 1)
    lines = [(number, line.split()) for number, line in numbered if line.strip()]
    if len(lines) < 2:
        raise ConfigError(
            f"{path}: found {len(lines)} lines; expected the parallelism, the number of layers, and layers"
        )
    (_, head), (count_line, count), *rest = lines
    if head[0] not in _PASSES:
        raise ConfigError(f"{path}, line {lines[0][0]}: found parallelism '{head[0]}'; expected {', '.join(_PASSES)}")
    num_layers = _integer(path, count_line, "number of layers", count[0])
    layers = [_layer(path, number, columns) for number, columns in rest]
    if len(layers) != num_layers or not layers:
        raise ConfigError(f"{path}, line {count_line}: found {len(layers)} layers; expected {num_layers}, at least one")
    last_bottom = _last_bottom_layer(path, head, num_layers) if head[0].startswith("HYBRID_DLRM") else -1
    return _Workload(head[0], layers, last_bottom)


def _last_bottom_layer(path: _PathLike, head: list[str], num_layers: int) -> int:
    place = head.index(_LAST_BOTTOM_LAYER) + 1 if _LAST_BOTTOM_LAYER in head else 1
    found = head[place] if place < len(head) else "nothing"
    number = _integer(path, 1, "last bottom layer", found)
    if number >= num_layers:
        raise ConfigError(f"{path}, line 1: found last bottom layer {number}; expected less than {num_layers} layers")
    return number


def _layer(path: _PathLike, line: int, columns: list[str]) -> _Layer:
    if len(columns) < 11:
        raise ConfigError(f"{path}, line {line}: found {len(columns)} columns; expected 12 for a layer")
    return _Layer(columns[0], *(_step(path, line, columns[at : at + 3]) for at in (2, 5, 8)))


def _step(path: _PathLike, line: int, columns: list[str]) -> _Step:
    micros, collective, size = columns
    if collective != _NONE and collective not in _COLLECTIVES:
        allowed = ", ".join((*_COLLECTIVES, _NONE))
        raise ConfigError(f"{path}, line {line}: found collective '{collective}'; expected {allowed}")
    return _Step(
        _integer(path, line, "computing time", micros),
        _COLLECTIVES.get(collective),
        _integer(path, line, "size", size),
    )


def _integer(path: _PathLike, line: int, what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) >= 1 << 53:
        raise ConfigError(f"{path}, line {line}: found {what} '{text}'; expected an integer of 0 or more")
    return int(text)


class _Graph:
    """Nodes with the ids 0, 1, 2, ... in the order in which they are added."""

    def __init__(self) -> None:
        self.builder = TraceBuilder()
        self._next = 0

    def compute(self, layer: _Layer, phase: str, step: _Step, *after: int | None) -> int:
        attrs: dict[str, int | bool] = {"is_cpu_op": False}
        return self._add(f"COMP_NODE_{layer.name}_{phase}", "COMP_NODE", step.micros * _NS_PER_US, attrs, after)

    def communicate(self, layer: _Layer, step: _Step, after: int | None) -> int | None:
        """Add the collective of a step; without one the result is what it would have waited for."""
        if step.collective is None:
            return after
        kind = next(name for name, collective in _COLLECTIVES.items() if collective == step.collective)
        attrs = {"is_cpu_op": False, "comm_type": int(step.collective), "comm_size": step.size}
        return self._add(f"COMM_COLL_NODE_{layer.name}_{kind}", "COMM_COLL_NODE", 0, attrs, (after,))

    def _add(
        self, name: str, kind: str, duration_ns: int, attrs: dict[str, int | bool], after: tuple[int | None, ...]
    ) -> int:
        node = self._next
        self._next += 1
        parents = list(dict.fromkeys(parent for parent in after if parent is not None))
        self.builder.add_node(id=node, name=name, type=kind, duration_ns=duration_ns, data_deps=parents, attrs=attrs)
        return node


def _micro(graph: _Graph, workload: _Workload, num_passes: int) -> None:
    """All weight-gradient collectives of all passes at once."""
    for _ in range(num_passes):
        for layer in workload.layers:
            graph.communicate(layer, layer.weight_gradient, None)


def _data(graph: _Graph, workload: _Workload, num_passes: int) -> None:
    """Weight gradients are reduced while the backward pass goes on; a layer's next forward waits for its own."""
    layers = workload.layers
    reduced: dict[int, int | None] = {}
    for _ in range(num_passes):
        last: int | None = None
        for place, layer in enumerate(layers):
            last = graph.compute(layer, "FWD", layer.forward, last, reduced.get(place))
        for place in reversed(range(len(layers))):
            layer = layers[place]
            gradient = graph.compute(layer, "BWD_WG", layer.weight_gradient, last)
            reduced[place] = graph.communicate(layer, layer.weight_gradient, gradient)
            if place > 0:
                last = graph.compute(layer, "BWD_IG", layer.input_gradient, gradient)


def _with_exchanged_activations(graph: _Graph, workload: _Workload, num_passes: int, *, reduce_weights: bool) -> None:
    """Activations and their gradients are exchanged between layers; weight gradients only where it says so."""
    layers = workload.layers
    ready: dict[int, int | None] = {}
    for _ in range(num_passes):
        arrived: tuple[int | None, ...] = (None,)
        for place, layer in enumerate(layers):
            waits = (ready.get(place), *arrived) if reduce_weights else (*arrived, ready.get(place))
            forward = graph.compute(layer, "FWD", layer.forward, *waits)
            arrived = (graph.communicate(layer, layer.forward, forward),)
        for place in reversed(range(len(layers))):
            layer = layers[place]
            gradient = graph.compute(layer, "BWD_IG", layer.input_gradient, *arrived)
            exchanged = graph.communicate(layer, layer.input_gradient, gradient) if place > 0 else gradient
            weights = graph.compute(layer, "BWD_WG", layer.weight_gradient, gradient)
            ready[place] = graph.communicate(layer, layer.weight_gradient, weights) if reduce_weights else weights
            arrived = (weights, exchanged)


def _model(graph: _Graph, workload: _Workload, num_passes: int) -> None:
    _with_exchanged_activations(graph, workload, num_passes, reduce_weights=False)


def _hybrid(graph: _Graph, workload: _Workload, num_passes: int) -> None:
    _with_exchanged_activations(graph, workload, num_passes, reduce_weights=True)


def _dlrm(graph: _Graph, workload: _Workload, num_passes: int) -> None:
    """Layer 0 holds the embeddings, which are exchanged before the layer after the bottom ones and back again."""
    layers, bottom = workload.layers, workload.last_bottom_layer
    ready: dict[int, int | None] = {}
    for _ in range(num_passes):
        last: int | None = None
        embedded: int | None = None
        for place, layer in enumerate(layers):
            arrived = embedded if place == bottom else None
            last = graph.compute(layer, "FWD", layer.forward, ready.get(place), last, arrived)
            sent: int | None = last
            if layer.forward.collective == CollectiveType.ALL_TO_ALL:
                sent = graph.communicate(layer, layer.forward, last)
            if place == 0:
                embedded = sent
        returned: int | None = None
        for place in reversed(range(len(layers))):
            layer = layers[place]
            gradient = graph.compute(layer, "BWD_WG", layer.weight_gradient, last, returned if place == 0 else None)
            ready[place] = graph.communicate(layer, layer.weight_gradient, gradient)
            if place > 0:
                last = graph.compute(layer, "BWD_IG", layer.input_gradient, gradient)
            if place == bottom + 1 and last is not None:
                returned = graph.communicate(layers[0], layers[0].input_gradient, last)


_PASSES: dict[str, Callable[[_Graph, _Workload, int], None]] = {
    "MICRO": _micro,
    "DATA": _data,
    "MODEL": _model,
    "HYBRID_DATA_MODEL": _hybrid,
    "HYBRID_MODEL_DATA": _hybrid,
    "HYBRID_DLRM": _dlrm,
    "HYBRID_DLRM_ENHANCED": _dlrm,
}
