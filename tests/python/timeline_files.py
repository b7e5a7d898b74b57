# SPDX-License-Identifier: MIT
"""Reading timeline files back into plain slices, for the tests."""

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto


@dataclass(frozen=True)
class Slice:
    """What a file says about one slice; `depth` is the number of slices of its lane that hold it."""

    process: str
    track: str
    name: str
    category: str
    start_ns: int
    end_ns: int
    depth: int
    arguments: dict[str, Any] = field(hash=False)


def _read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _nanoseconds(microseconds: str) -> int:
    whole, _, decimals = microseconds.partition(".")
    assert len(decimals) == 3
    return int(whole) * 1000 + int(decimals)


def read_chrome_json(path: Path) -> list[Slice]:
    """Slices of a Chrome JSON file; asserts that every lane nests properly."""
    events = json.loads(_read(path), parse_float=str)["traceEvents"]
    names = {(e["name"], e["pid"], e.get("tid")): e["args"] for e in events if e["ph"] == "M"}
    slices: list[Slice] = []
    open_ends: dict[tuple[int, int], list[int]] = {}
    for event in (e for e in events if e["ph"] == "X"):
        start = _nanoseconds(event["ts"])
        end = start + _nanoseconds(event["dur"])
        stack = open_ends.setdefault((event["pid"], event["tid"]), [])
        while stack and stack[-1] <= start:
            stack.pop()
        assert not stack or end <= stack[-1]
        slices.append(
            Slice(
                names["process_name", event["pid"], None]["name"],
                names["thread_name", event["pid"], event["tid"]]["name"].partition(" #")[0],
                event["name"],
                event["cat"],
                start,
                end,
                len(stack),
                event["args"],
            )
        )
        stack.append(end)
    return slices


class _Texts:
    """Interned texts of a packet sequence."""

    def __init__(self) -> None:
        self.events: dict[int, str] = {}
        self.categories: dict[int, str] = {}
        self.arguments: dict[int, str] = {}

    def add(self, data: Any) -> None:
        for known, new in (
            (self.events, data.event_names),
            (self.categories, data.event_categories),
            (self.arguments, data.debug_annotation_names),
        ):
            for entry in new:
                assert entry.iid not in known
                known[entry.iid] = entry.name


def _argument(annotation: Any) -> Any:
    return getattr(annotation, annotation.WhichOneof("value"))


def read_perfetto(path: Path) -> list[Slice]:
    """Slices of a Perfetto file, in the order they end; asserts that begins and ends pair up in time order."""
    tracks: dict[int, Any] = {}
    texts = _Texts()
    stacks: dict[int, list[Any]] = {}
    last: dict[int, int] = {}
    slices: list[Slice] = []
    for packet in perfetto.Trace.FromString(_read(path)).packet:
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in tracks
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            continue
        texts.add(packet.interned_data)
        event = packet.track_event
        if event.type == perfetto.TrackEvent.TYPE_COUNTER:
            continue
        assert packet.timestamp >= last.get(event.track_uuid, 0)
        last[event.track_uuid] = packet.timestamp
        stack = stacks.setdefault(event.track_uuid, [])
        if event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            stack.append(packet)
            continue
        assert event.type == perfetto.TrackEvent.TYPE_SLICE_END
        begin = stack.pop()
        track = tracks[event.track_uuid]
        slices.append(
            Slice(
                tracks[track.parent_uuid].name,
                track.name,
                texts.events[begin.track_event.name_iid],
                texts.categories[begin.track_event.category_iids[0]],
                begin.timestamp,
                packet.timestamp,
                len(stack),
                {texts.arguments[a.name_iid]: _argument(a) for a in begin.track_event.debug_annotations},
            )
        )
    assert not any(stacks.values())
    return slices


@dataclass(frozen=True)
class Arrow:
    """What a file says about one arrow: the names and times of the slices that it leaves and reaches."""

    from_process: str
    from_name: str
    from_start_ns: int
    to_process: str
    to_name: str
    to_end_ns: int


def read_arrows(path: Path) -> list[Arrow]:
    """Arrows of a Perfetto file; asserts that each leaves one slice and ends with one."""
    tracks: dict[int, Any] = {}
    names: dict[int, str] = {}
    stacks: dict[int, list[str]] = {}
    left: dict[int, tuple[str, str, int]] = {}
    arrows: dict[int, Arrow] = {}
    for packet in perfetto.Trace.FromString(_read(path)).packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            continue
        names.update({entry.iid: entry.name for entry in packet.interned_data.event_names})
        event = packet.track_event
        if event.type == perfetto.TrackEvent.TYPE_COUNTER:
            continue
        process = tracks[tracks[event.track_uuid].parent_uuid].name
        stack = stacks.setdefault(event.track_uuid, [])
        if event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            stack.append(names[event.name_iid])
        for flow in event.flow_ids:
            assert flow not in left
            left[flow] = (process, stack[-1], packet.timestamp)
        for flow in event.terminating_flow_ids:
            assert flow not in arrows
            arrows[flow] = Arrow("", "", 0, process, stack[-1], packet.timestamp)
        if event.type == perfetto.TrackEvent.TYPE_SLICE_END:
            stack.pop()
    assert left.keys() == arrows.keys()
    return [Arrow(*left[flow], *(one.to_process, one.to_name, one.to_end_ns)) for flow, one in sorted(arrows.items())]


def read_counters(path: Path) -> dict[tuple[str, str, str], list[tuple[int, float]]]:
    """Values of a Perfetto file's counters in order of time, by process, name and unit."""
    tracks: dict[int, Any] = {}
    values: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for packet in perfetto.Trace.FromString(_read(path)).packet:
        event = packet.track_event
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        elif event.type == perfetto.TrackEvent.TYPE_COUNTER:
            track = tracks[event.track_uuid]
            assert track.HasField("counter")
            key = (tracks[track.parent_uuid].name, track.name, track.counter.unit_name)
            values.setdefault(key, []).append((packet.timestamp, event.double_counter_value))
    return values
