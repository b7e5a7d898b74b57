# SPDX-License-Identifier: MIT
"""Traces without what is proprietary in them: the graph, and of the rest what a simulator needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from chakra_core._core import ConfigError, Metadata, Trace, TraceBuilder
from chakra_core.altered_numbers import Alteration
from chakra_core.anonymity_certificate import Certificate, certify
from chakra_core.config import CommGroups, Network
from chakra_core.node_classes import NODE_CLASSES, node_classes
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.recorded_groups import group_names, used_recorded_groups
from chakra_core.trace_source import PathLike

Names = Literal["class", "numbered"]

_ALL_RANKS = ("", "0")
_SIZES = ("num_ops", "tensor_size", "comm_size")
#: Numbers whose order and equality matter, and whose value does not.
_LABELS = ("stream", "tid", "device", "comm_tag", "comm_seq", "comm_priority")
_KEPT = ("comm_type", "comm_src", "comm_dst")
#: What this package's converter writes in `piece`, and the names of the pieces that simulation treats as pauses.
_PIECES = ("op", "release", "wait", "resume", "start offset", "lag")
_PAUSES = ("start offset", "lag")
_LAYOUTS = ("exact", "ops")
#: Every text of an anonymised trace is one of these, or one of `NODE_CLASSES` with a number behind it, or a number.
TEXTS = frozenset({*NODE_CLASSES, *_PIECES, *_LAYOUTS, "", "0", Metadata().version})


class Anonymised(NamedTuple):
    """What `anonymise` gives.

    Attributes:
        traces: one a rank, in the order of the input; ranks that shared a trace share one again.
        comm_groups: ranks of the groups under their new names; to be given to simulators.
        certificate: what was removed, and by how much simulated step times moved.
    """

    traces: list[Trace]
    comm_groups: CommGroups
    certificate: Certificate


def anonymise(
    traces: RankTraces,
    *,
    comm_groups: CommGroups | Mapping[str, Any] | PathLike | None = None,
    names: Names = "class",
    quantise: float = 0.0,
    perturb: float = 0.0,
    seed: int | None = None,
    networks: Mapping[str, Network | Mapping[str, Any] | PathLike] | None = None,
    step_time_bound: float | None = None,
) -> Anonymised:
    """Take out of the traces of a run whatever tells of the program, and keep what simulation reads.

    Only what is listed here is kept, so whatever else a trace may hold is gone: names, inputs, outputs, shapes, all
    other attributes, metadata, unknown fields. Kept are

    - the graph: types of nodes, data and control dependencies in their order, the order of nodes in the file. Ids
      become 0, 1, 2, ... in the order of the old ones, in which a simulator begins what is ready;
    - `is_cpu_op`, `comm_type`, `comm_src`, `comm_dst` and `involved_dim` as they are;
    - `stream`, `tid`, `device`, `comm_tag`, `comm_seq` and `comm_priority`, numbered anew in their order;
    - process groups, as numbers drawn anew; "" and "0" mean all ranks and stay;
    - `num_ops`, `tensor_size`, `comm_size` and durations, exactly or altered. What is equal among sizes stays equal on
      all ranks, so that collectives and messages still fit together;
    - starts, counted from the first; if numbers are altered, so are the gaps between starts. Their order stays.

    Perturbed numbers cannot be read more exactly than the bound, one by one. It is no differential privacy: whoever
    knows the program will recognise it by its graph.

    Args:
        traces: one a rank, as `simulate` takes them, or a single one.
        comm_groups: ranks of each group; by default the groups that PyTorch recorded in the traces.
        names: "class" names a node by what it is ("host compute", "all-reduce"); "numbered" adds a number that nodes of
            the class share if they had the same name.
        quantise: round sizes and times to as few leading binary digits as change no number by more than this share
            (0.05: five digits). 0 leaves them.
        perturb: then move each size (once for each value) and each time by a random share of at most this.
        seed: of the random numbers, for tests; None draws it from the system. Whoever knows the seed can undo what was
            drawn, so it is in no output.
        networks: where step times are compared, by name; by default `reference_networks`.
        step_time_bound: the most that the simulated step time of a network may move, as a share; by default that by
            which a number may, `(1 + quantise) * (1 + perturb) - 1`. Without both it must not move at all.

    Raises:
        ConfigError: a share is not in [0, 0.5], ranks are missing, or traces disagree about groups.
        ChakraError: a step time moved by more than the bound.
        FormatError, OSError: a trace cannot be read.
    """
    alteration = _checked(quantise, perturb)
    loaded = load_ranks(traces)
    groups = used_recorded_groups(loaded) if comm_groups is None else CommGroups.coerce(comm_groups)
    distinct = list({id(trace): trace for trace in loaded}.values())
    # Not for security in the cryptographic sense, but not to be guessed either: the system's entropy seeds it.
    random = np.random.default_rng(seed)
    new_names = _new_group_names(distinct, groups, random)
    columns = _columns(distinct, alteration, random)
    class_names = _node_names(distinct, names, random)
    made = [
        _build(trace, one, texts, new_names) for trace, one, texts in zip(distinct, columns, class_names, strict=True)
    ]
    anonymous = dict(zip(map(id, distinct), made, strict=True))
    result = [anonymous[id(trace)] for trace in loaded]
    new_groups = CommGroups(groups={new_names[name]: ranks for name, ranks in groups.groups.items()})
    bound = alteration.bound if step_time_bound is None else step_time_bound
    certificate = certify(loaded, groups, result, new_groups, alteration, networks, bound)
    return Anonymised(result, new_groups, certificate)


def _checked(quantise: float, perturb: float) -> Alteration:
    for name, share in (("quantise", quantise), ("perturb", perturb)):
        if not 0 <= share <= 0.5:
            raise ConfigError(f"{name}: found {share}, allowed: a share from 0 to 0.5")
    return Alteration(quantise, perturb)


def _new_group_names(traces: list[Trace], groups: CommGroups, random: np.random.Generator) -> dict[str, str]:
    """Numbers, which all simulators take; none that was the name of a group."""
    old = sorted({name for trace in traces for name in group_names(trace)} | set(groups.groups))
    renamed = [name for name in old if name not in _ALL_RANKS]
    numbers = random.permutation(2 * len(old) + 1)[: 2 * len(old)] + 1
    free = [text for text in map(str, numbers.tolist()) if text not in set(old)]
    return {name: name for name in _ALL_RANKS} | dict(zip(renamed, free, strict=False))


def _columns(traces: list[Trace], alteration: Alteration, random: np.random.Generator) -> list[dict[str, Any]]:
    """Numbers of each trace by name: attributes, "start_ns" and "duration_ns"."""
    columns: list[dict[str, Any]] = [{} for _ in traces]
    for name in (*_KEPT, "is_cpu_op"):
        for trace, one in zip(traces, columns, strict=True):
            one[name] = trace.attr(name)
    for name in _LABELS:
        _numbered_anew(name, [_integers(trace, name) for trace in traces], columns)
    _alter_sizes(traces, columns, alteration, random)
    for one, starts in zip(columns, alteration.gaps([trace.start_ns for trace in traces], random), strict=True):
        one["start_ns"] = starts
    for trace, one in zip(traces, columns, strict=True):
        one["duration_ns"] = alteration.of(trace.duration_ns, random)
        one["piece"] = _pieces(trace)
    return columns


def _integers(trace: Trace, name: str) -> Any:
    """Take an integer attribute; one that is something else counts as absent."""
    values = trace.attr(name)
    if values.dtype != object:
        return values
    absent = np.ma.array(np.zeros(len(trace), np.int64), mask=True)
    if set(map(type, values.compressed())) != {int}:
        return absent
    try:
        return np.ma.array(values.filled(0).astype(np.int64), mask=_mask(values))
    except OverflowError:
        return absent


def _numbered_anew(name: str, values: list[Any], columns: list[dict[str, Any]]) -> None:
    """Positions among all values, counted from 0, which often stands for absence and so stays 0."""
    different = np.unique(np.concatenate([np.zeros(1, np.int64), *(one.compressed() for one in values)]))
    zero = int(np.searchsorted(different, 0))
    for one, column in zip(values, columns, strict=True):
        places = np.searchsorted(different, one.filled(0)) - zero
        column[name] = np.ma.array(places, mask=_mask(one))


def _alter_sizes(
    traces: list[Trace], columns: list[dict[str, Any]], alteration: Alteration, random: np.random.Generator
) -> None:
    sizes = [trace.attr(name) for trace in traces for name in _SIZES]
    positive = [np.maximum(one.filled(0), 0).astype(np.uint64) for one in sizes]
    altered = alteration.by_value(positive, random)
    for place, (old, unsigned, new) in enumerate(zip(sizes, positive, altered, strict=True)):
        values = np.where(unsigned == 0, old.filled(0), new.astype(np.int64))
        columns[place // len(_SIZES)][_SIZES[place % len(_SIZES)]] = np.ma.array(values, mask=_mask(old))


def _pieces(trace: Trace) -> Any:
    """`piece` where it is one of the words of this package's converter."""
    values = trace.attr("piece")
    if set(map(type, values.compressed())) != {str}:
        return np.ma.array(np.full(len(trace), "", object), mask=True)
    known = np.isin(values.filled("").astype(str), _PIECES)
    return np.ma.array(values.filled(""), mask=~known)


def _node_names(traces: list[Trace], names: Names, random: np.random.Generator) -> list[list[str]]:
    classes = [node_classes(trace) for trace in traces]
    pauses = [_pauses(trace) for trace in traces]
    texts = [np.array(NODE_CLASSES, object)[one] for one in classes]
    if names == "numbered":
        texts = _with_numbers(traces, classes, texts, random)
    elif names != "class":
        raise ConfigError(f"names: found {names!r}, allowed: 'class', 'numbered'")
    for one, (is_pause, pause) in zip(texts, pauses, strict=True):
        one[is_pause] = pause[is_pause]
    return [one.tolist() for one in texts]


def _pauses(trace: Trace) -> tuple[Any, Any]:
    """Which rows simulation takes for pauses, and their names."""
    pieces = _pieces(trace).filled("")
    named = np.isin(trace.name_ids, [place for place, text in enumerate(trace.strings) if text in _PAUSES])
    rows = np.flatnonzero(named & np.isin(pieces.astype(str), _PAUSES))
    strings = np.array(trace.strings, object)
    is_pause = np.zeros(len(trace), bool)
    is_pause[rows] = strings[trace.name_ids[rows]] == pieces[rows]
    return is_pause, pieces


def _with_numbers(traces: list[Trace], classes: list[Any], texts: list[Any], random: np.random.Generator) -> list[Any]:
    """Put a number behind each class; nodes of a class with one name share it, on all ranks."""
    places: dict[str, int] = {}
    of_string = [
        np.array([places.setdefault(text, len(places)) for text in trace.strings], np.int64) for trace in traces
    ]
    keys = [
        kind.astype(np.int64) * (len(places) + 1) + strings[trace.name_ids]
        for trace, kind, strings in zip(traces, classes, of_string, strict=True)
    ]
    different = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    # Drawn, because the order of first use would tell of the order of the strings.
    shuffled = different[random.permutation(len(different))]
    by_class = np.argsort(shuffled // (len(places) + 1), kind="stable")
    kinds = shuffled[by_class] // (len(places) + 1)
    number = np.arange(len(kinds)) - np.searchsorted(kinds, kinds) + 1
    number_of = np.zeros(len(different), np.int64)
    number_of[np.searchsorted(different, shuffled[by_class])] = number
    label = np.array([f" {one}" for one in range(int(number_of.max(initial=0)) + 1)], object)
    return [text + label[number_of[np.searchsorted(different, key)]] for text, key in zip(texts, keys, strict=True)]


def _build(trace: Trace, columns: dict[str, Any], names: list[str], groups: dict[str, str]) -> Trace:
    order = np.argsort(trace.ids)
    new_ids = np.empty(len(trace), np.uint64)
    new_ids[order] = np.arange(len(trace), dtype=np.uint64)
    strings = np.array([groups.get(text, "") for text in trace.strings] or [""], object)
    attrs = {name: columns[name] for name in ("is_cpu_op", *_KEPT, *_SIZES, *_LABELS, "piece")}
    attrs["pg_name"] = np.ma.array(strings[trace.pg_ids.filled(0)], mask=_mask(trace.pg_ids))
    attrs["is_cpu_op"] = np.ma.array(columns["is_cpu_op"].filled(0).astype(bool), mask=_mask(columns["is_cpu_op"]))
    attrs["involved_dim"] = trace.attr("involved_dim")
    attrs = {name: values for name, values in attrs.items() if not _mask(values).all()}
    builder = TraceBuilder(_metadata(trace))
    builder.add_nodes(
        ids=new_ids,
        types=trace.types,
        names=names,
        data_deps=(trace.data_deps.offsets, new_ids[trace.data_deps.indices]),
        ctrl_deps=(trace.ctrl_deps.offsets, new_ids[trace.ctrl_deps.indices]),
        start_ns=columns["start_ns"],
        duration_ns=columns["duration_ns"],
        attrs=attrs,
    )
    built: Trace = builder.build()
    return built


def _mask(values: Any) -> Any:
    return np.ma.getmaskarray(values)


def _metadata(trace: Trace) -> Metadata:
    """Keep only what says that this package's converter laid the nodes out, which simulation depends on."""
    layout = trace.metadata.attrs.get("layout")
    return Metadata(attrs={"layout": layout} if layout in _LAYOUTS else {})
