"""Makes a long pair of host and device trace of a short one, by repeating it in time with new ids."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

# Ids that must not repeat, by the names that they have in events' arguments.
EVENT_IDS = ("External id", "Record function id", "correlation", "wait_on_cuda_event_record_corr_id")
# 4294967295 and 0 stand for "none".
NO_ID = (0, 0xFFFFFFFF)


def tile(host: Path, device: Path, num_events: int, folder: Path) -> tuple[Path, Path]:
    """Write `host.json` and `device.json` with at least this many events of the device trace."""
    nodes = _load(host)
    events = _load(device)
    kept = [event for event in events["traceEvents"] if event.get("ph") == "X"]
    copies = max(1, -(-num_events // len(kept)))
    with (folder / "host.json").open("w") as file:
        _write(file, nodes, "nodes", _repeated_nodes(nodes["nodes"], copies))
    with (folder / "device.json").open("w") as file:
        _write(file, events, "traceEvents", _repeated_events(events["traceEvents"], copies))
    return folder / "host.json", folder / "device.json"


def _load(path: Path) -> dict[str, Any]:
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    document: dict[str, Any] = json.loads(text)
    return document


def _write(file: TextIO, document: dict[str, Any], name: str, records: Iterator[dict[str, Any]]) -> None:
    head = json.dumps({key: value for key, value in document.items() if key != name})
    file.write(head[:-1] + (", " if len(head) > 2 else "") + f'"{name}": [\n')
    for count, record in enumerate(records):
        file.write((",\n" if count else "") + json.dumps(record))
    file.write("\n]}\n")


def _repeated_nodes(nodes: list[dict[str, Any]], copies: int) -> Iterator[dict[str, Any]]:
    """Nodes of all copies; the roots of process and threads are there once."""
    roots = {node["id"] for node in nodes if "|process]" in node["name"] or "|thread]" in node["name"]}
    next_id = max(node["id"] for node in nodes) + 1
    next_rf_id = max(_rf_id(node) for node in nodes) + 1
    for copy in range(copies):
        for node in nodes:
            if node["id"] in roots:
                if copy == 0:
                    yield node
                continue
            parent = node["ctrl_deps"]
            attrs = [
                {**attr, "value": attr["value"] + copy * next_rf_id}
                if attr["name"] == "rf_id" and attr["value"]
                else attr
                for attr in node["attrs"]
            ]
            yield {
                **node,
                "id": node["id"] + copy * next_id,
                "ctrl_deps": parent if parent in roots else parent + copy * next_id,
                "attrs": attrs,
            }


def _rf_id(node: dict[str, Any]) -> int:
    return next((int(attr["value"]) for attr in node["attrs"] if attr["name"] == "rf_id"), 0)


def _repeated_events(events: list[dict[str, Any]], copies: int) -> Iterator[dict[str, Any]]:
    timed = [event for event in events if event.get("ph") == "X" and float(event["ts"]) > 0]
    begin = min(float(event["ts"]) for event in timed)
    end = max(float(event["ts"]) + float(event.get("dur", 0)) for event in timed)
    span = int(end - begin) + 100
    steps = {
        name: max((int((event.get("args") or {}).get(name, 0)) % NO_ID[1] for event in timed), default=0) + 1
        for name in EVENT_IDS
    }
    steps["wait_on_cuda_event_record_corr_id"] = steps["correlation"]
    for copy in range(copies):
        for event in events:
            if event.get("ph") == "M":
                if copy == 0:
                    yield event
                continue
            yield _later(event, copy, span, steps)


def _later(event: dict[str, Any], copy: int, span: int, steps: dict[str, int]) -> dict[str, Any]:
    later = dict(event)
    if "ts" in event:
        later["ts"] = round(float(event["ts"]) + copy * span, 3)
    args = event.get("args")
    if isinstance(args, dict):
        ids = {name: int(args[name]) + copy * steps[name] for name in EVENT_IDS if args.get(name, 0) not in NO_ID}
        later["args"] = {**args, **ids}
    if "id" in event and event.get("ph") in ("s", "f", "t"):
        later["id"] = f"{event['id']}{copy:04d}" if isinstance(event["id"], str) else event["id"] * 10_000 + copy
    return later


def main() -> None:
    """Tile a pair from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host", type=Path)
    parser.add_argument("device", type=Path)
    parser.add_argument("num_events", type=int)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    tile(arguments.host, arguments.device, arguments.num_events, arguments.folder)


if __name__ == "__main__":
    main()
