# SPDX-License-Identifier: MIT
"""Drawings as DOT, GraphML, and through Graphviz as pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from chakra_core._core import ChakraError, NodeType, Trace
from chakra_core.graphs.drawing import Drawing
from chakra_core.output import complete_file, complete_path
from chakra_core.result import format_time

PICTURES = (".svg", ".pdf", ".png")
SUFFIXES = (".dot", ".gv", ".graphml", *PICTURES)

_COLOURS = {
    NodeType.COMP_NODE: "#cfe2f3",
    NodeType.COMM_COLL_NODE: "#f9cb9c",
    NodeType.COMM_SEND_NODE: "#ffe599",
    NodeType.COMM_RECV_NODE: "#ffe599",
    NodeType.MEM_LOAD_NODE: "#d9ead3",
    NodeType.MEM_STORE_NODE: "#d9ead3",
}
_OTHER_COLOUR = "#eeeeee"
_LONGEST_NAME = 60
#: What XML 1.0 cannot hold.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_drawing(drawing: Drawing, trace: Trace, path: Path) -> None:
    """Write a drawing of a trace; the ending of the name says how.

    Raises:
        ChakraError: an unknown ending, Graphviz is not installed, or it failed.
        OSError: the file cannot be written.
    """
    if path.suffix == ".graphml":
        with complete_file(path) as file:
            file.writelines(_graphml(drawing, trace))
    elif path.suffix in (".dot", ".gv"):
        with complete_file(path) as file:
            file.writelines(_dot(drawing, trace))
    elif path.suffix in PICTURES:
        _write_picture(drawing, trace, path)
    else:
        raise ChakraError(f"{path}: a graph is written as {', '.join(SUFFIXES)}")


def _boxes(drawing: Drawing, trace: Trace) -> Iterator[dict[str, Any]]:
    known = {int(kind): kind for kind in NodeType}
    rows = drawing.first_row
    names = np.asarray(trace.name_ids)[rows].tolist()
    strings = trace.strings
    columns = (
        trace.ids[rows].tolist(),
        names,
        np.asarray(trace.types)[rows].tolist(),
        np.asarray(trace.start_ns)[rows].tolist(),
        drawing.duration_ns.tolist(),
        drawing.count.tolist(),
    )
    for node, name, kind, start, duration, count in zip(*columns, strict=True):
        yield {
            "id": node,
            "name": strings[name],
            "type": known.get(kind, kind),
            "start_ns": start,
            "duration_ns": duration,
            "count": count,
        }


def _arrows(drawing: Drawing) -> Iterator[tuple[int, int, bool, int]]:
    return zip(
        drawing.source.tolist(),
        drawing.target.tolist(),
        drawing.is_data.tolist(),
        drawing.arrows.tolist(),
        strict=True,
    )


def _dot(drawing: Drawing, trace: Trace) -> Iterator[str]:
    yield "digraph trace {\n"
    yield '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=10, color="#888888"];\n'
    yield '  edge [color="#555555", arrowsize=0.6, fontname="Helvetica", fontsize=8];\n'
    for number, box in enumerate(_boxes(drawing, trace)):
        colour = _COLOURS.get(box["type"], _OTHER_COLOUR)
        border = ", peripheries=2" if box["count"] > 1 else ""
        yield f'  n{number} [label="{_dot_label(box)}", fillcolor="{colour}"{border}];\n'
    for source, target, is_data, count in _arrows(drawing):
        style = "" if is_data else "style=dashed"
        label = f'label="{count}"' if count > 1 else ""
        options = ", ".join(filter(None, (style, label)))
        yield f"  n{source} -> n{target}{f' [{options}]' if options else ''};\n"
    yield "}\n"


def _dot_label(box: dict[str, Any]) -> str:
    name = box["name"]
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME - 3]}..."
    lines = [f"{name} \u00d7{box['count']}" if box["count"] > 1 else name]
    facts = [f"id {box['id']}"]
    if not isinstance(box["type"], NodeType) or box["type"] != NodeType.COMP_NODE:
        facts.append(box["type"].name if isinstance(box["type"], NodeType) else f"type {box['type']}")
    if box["duration_ns"]:
        facts.append(format_time(box["duration_ns"]))
    lines.append(", ".join(facts))
    return "\\n".join(_dot_escape(line) for line in lines)


def _dot_escape(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "replace").decode()


_KEYS = (
    ("node", "id", "long"),
    ("node", "name", "string"),
    ("node", "type", "string"),
    ("node", "start_ns", "long"),
    ("node", "duration_ns", "long"),
    ("node", "count", "long"),
    ("edge", "kind", "string"),
    ("edge", "dependencies", "long"),
)


def _graphml(drawing: Drawing, trace: Trace) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for domain, name, kind in _KEYS:
        yield f'  <key id="{domain}_{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '  <graph id="trace" edgedefault="directed">\n'
    for number, box in enumerate(_boxes(drawing, trace)):
        kind = box["type"]
        values = {**box, "type": kind.name if isinstance(kind, NodeType) else f"NODE_TYPE_{kind}"}
        yield f'    <node id="n{number}">{_data("node", values)}</node>\n'
    for number, (source, target, is_data, count) in enumerate(_arrows(drawing)):
        values = {"kind": "data" if is_data else "control", "dependencies": count}
        yield f'    <edge id="e{number}" source="n{source}" target="n{target}">{_data("edge", values)}</edge>\n'
    yield "  </graph>\n</graphml>\n"


def _data(domain: str, values: dict[str, Any]) -> str:
    return "".join(
        f"<data key={quoteattr(f'{domain}_{name}')}>{escape(_NOT_XML.sub('�', str(value)))}</data>"
        for name, value in values.items()
    )


def _write_picture(drawing: Drawing, trace: Trace, path: Path) -> None:
    program = shutil.which("dot")
    if program is None:
        raise ChakraError(f"{path}: pictures need Graphviz (its program dot); install it, or write .dot or .graphml")
    with tempfile.TemporaryDirectory() as folder, complete_path(path) as temporary:
        source = Path(folder) / "trace.dot"
        source.write_text("".join(_dot(drawing, trace)), encoding="utf-8")
        command = [program, f"-T{path.suffix[1:]}", "-o", str(temporary), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ChakraError(f"{path}: Graphviz failed: {done.stderr.strip().splitlines()[-1:] or done.returncode}")
