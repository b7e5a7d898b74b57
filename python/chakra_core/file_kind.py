# SPDX-License-Identifier: MIT
"""What kind of file something is, told by its first bytes and never by its name."""

from __future__ import annotations

import os
import re
from typing import Literal, TypeAlias

from chakra_core import _core

FileKind: TypeAlias = Literal["host", "device", "linked", "et", "et-json", "empty", "unknown"]

#: What people call these kinds.
KIND_NAMES: dict[FileKind, str] = {
    "host": "a PyTorch host trace (ExecutionTraceObserver)",
    "device": "a device trace (Kineto)",
    "linked": "a linked trace",
    "et": "an execution trace (ET records)",
    "et-json": "an execution trace (JSON)",
    "empty": "an empty file",
    "unknown": "none of the files known here",
}

_HEAD_BYTES = 1 << 20
#: Tags that a record begins with: version or attributes of the metadata, id or name of a node.
_FIRST_TAGS = (0x0A, 0x12, 0x08)
_KEY = rb'"%s"\s*:'
_DEVICE_KEYS = ("traceEvents", "deviceProperties", "distributedInfo", "baseTimeNanoseconds")
_LINKED_KEYS = ("chakra_core_linked", "exclusive_dur")


def kind_of_file(path: str | os.PathLike[str]) -> FileKind:
    """Tell the kind of a plain, gzip or zstd file.

    Raises:
        OSError, FormatError: the file cannot be read.
    """
    return kind_of_head(_core.read_head(path, _HEAD_BYTES), whole_file_bytes=_HEAD_BYTES)


def kind_of_head(head: bytes, *, whole_file_bytes: int) -> FileKind:
    """Tell the kind of a file by its first bytes, inflated: all of them if fewer than `whole_file_bytes`."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text:
        return "empty"
    if not text.startswith((b"{", b"[")) or b"\x00" in text[:64]:
        return "et" if _starts_with_record(head, whole_file_bytes) else "unknown"
    if any(_has(text, key) for key in _LINKED_KEYS) and _has(text, "nodes"):
        return "linked"
    if _has(text, "workload_graph"):
        return "et-json"
    # Only a host trace has nodes; a device trace may well have a property named "nodes" in its arguments.
    if any(_has(text, key) for key in _DEVICE_KEYS) or re.match(rb'\[\s*\{\s*"ph"', text):
        return "device"
    if _has(text, "nodes"):
        return "host"
    return "unknown"


def _has(text: bytes, key: str) -> bool:
    return re.search(_KEY % key.encode(), text) is not None


def _starts_with_record(head: bytes, whole_file_bytes: int) -> bool:
    """Whether a length, a field of a message, and that many bytes, or more than were read, stand at the start."""
    length = shift = 0
    for place, byte in enumerate(head[:5]):
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            whole = place + 1 + length <= len(head) or len(head) >= whole_file_bytes
            return whole and (length == 0 or head[place + 1] in _FIRST_TAGS)
    return False
