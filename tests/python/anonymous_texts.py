# SPDX-License-Identifier: MIT
"""Every text that a trace holds, and whether one of them is left in what was made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chakra_core as cc
from chakra_core.anonymisation import TEXTS

#: Words of the format: names of attributes that are kept, and of what the certificate counts.
ATTRIBUTES = (
    *("is_cpu_op", "num_ops", "tensor_size", "comm_type", "comm_size", "comm_priority", "comm_src", "comm_dst"),
    *("comm_tag", "comm_seq", "pg_name", "involved_dim", "stream", "tid", "device", "piece", "start_ns", "duration_ns"),
)
ANY_TEXT = re.compile("|".join([r"\d+", *(rf"{re.escape(text)}(?: \d+)?" for text in TEXTS if text)]) + "|")


def texts_of_values(value: Any) -> Iterator[str]:
    if isinstance(value, bytes):
        yield value.decode("latin-1")
    elif isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from texts_of_values(one)


def texts_of_attributes(attributes: list[cc.Attribute]) -> Iterator[str]:
    for attribute in attributes:
        yield attribute.name
        yield attribute.doc_string
        yield from texts_of_values(attribute.value)


def texts_of(trace: cc.Trace) -> set[str]:
    """Every text that a trace holds."""
    found = {*trace.strings, trace.metadata.version, *texts_of_attributes(trace.metadata.attributes)}
    for row in range(len(trace)):
        node = trace.at(row)
        found.update(texts_of_attributes(node.attributes))
        for info in (node.inputs, node.outputs):
            found.update((info.values, info.shapes, info.types))
    return found


def texts_left(trace: cc.Trace) -> set[str]:
    """Texts of an anonymised trace but for the names of the attributes that it may have."""
    return texts_of(trace) - set(ATTRIBUTES) - {"layout"}


def everything_written(made: cc.Anonymised, folder: Path) -> bytes:
    made.certificate.save(folder / "certificate.json")
    made.comm_groups.save(folder / "groups.json")
    for place, trace in enumerate({id(trace): trace for trace in made.traces}.values()):
        cc.save(trace, folder / f"run.{place}.et")
    return b"\0".join(path.read_bytes() for path in sorted(folder.iterdir()))


def assert_nothing_survives(before: list[cc.Trace], made: cc.Anonymised, folder: Path) -> int:
    """Look for every text of the input, and every word in one, in every byte that is written; say how many."""
    written = everything_written(made, folder)
    # Runs of printable bytes, each once: what a text can hide in.
    readable = b"\0".join(set(re.findall(rb"[\x20-\x7e]{3,}", written))).decode()
    texts = {text for trace in {id(trace): trace for trace in before}.values() for text in texts_of(trace)}
    words = {word for text in texts for word in re.findall(r"[A-Za-z]{4,}", text)}
    vocabulary = " ".join((*TEXTS, *ATTRIBUTES, "layout", *certificate_words()))
    sought = {text for text in texts | words if len(text) >= 4 and text not in vocabulary}
    plain = {text for text in sought if text.isascii() and text.isprintable()}
    assert not {text for text in plain if text in readable}
    assert not {text for text in sought - plain if text.encode("utf-8", "surrogateescape") in written}
    for trace in made.traces:
        short = {text for text in texts_left(trace) & texts if not ANY_TEXT.fullmatch(text)}
        assert not short
    return len(sought)


def certificate_words() -> list[str]:
    """Words of a certificate of nothing, and names of public attributes that it may count."""
    nothing = cc.anonymise(cc.TraceBuilder().build()).certificate
    public = ["op_schema", "seq_id", "scope", "fw_parent", "fw_tid", "rf_id", "exclusive_ns", "inclusive_ns", "host_id"]
    rest = "inputs outputs name other attributes removed or changed in nodes recorded simulated total_ns"
    return [json.dumps(nothing.to_dict()), nothing.text, rest, *public]


def assert_same_graph(old: cc.Trace, new: cc.Trace) -> None:
    assert len(old) == len(new)
    renamed = dict(zip(old.ids.tolist(), new.ids.tolist(), strict=True))
    assert sorted(renamed.values()) == list(range(len(old)))
    assert [renamed[node] for node in sorted(renamed)] == list(range(len(old))), "in the order of the old ids"
    assert old.types.tolist() == new.types.tolist()
    for one, other in ((old.data_deps, new.data_deps), (old.ctrl_deps, new.ctrl_deps)):
        assert one.offsets.tolist() == other.offsets.tolist()
        assert one.indices.tolist() == other.indices.tolist()
