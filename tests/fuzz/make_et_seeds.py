# SPDX-License-Identifier: MIT
"""Writes the seeds of fuzz_et_reader, fuzz_json_et and fuzz_stream: small ETs with all that the readers branch for."""

import gzip
from pathlib import Path

import chakra_core as cc

FOLDER = Path(__file__).parent / "seeds" / "et_reader"
JSON_FOLDER = Path(__file__).parent / "seeds" / "json_et"
STREAM_FOLDER = Path(__file__).parent / "seeds" / "stream"


def plain() -> bytes:
    builder = cc.TraceBuilder()
    builder.add_node(id=1, name="mm", start_ns=1500, duration_ns=10, inputs=cc.IoInfo("[1]", "[[2]]", "[T]"))
    attrs = {"comm_type": 0, "comm_size": 8, "pg_name": "dp", "is_cpu_op": False, "involved_dim": [True, False]}
    builder.add_node(id=2, name="ar", type="COMM_COLL_NODE", data_deps=[1], ctrl_deps=[1, 9], attrs=attrs)
    builder.add_node(id=9, name="caf\u00e9", attrs={"l": [1, 2], "f": [0.5], "s": ["a"], "b": [b"\xff"], "n": None})
    cc.save(builder.build(), FOLDER / "plain.et")
    return (FOLDER / "plain.et").read_bytes()


def stream_seeds(good: bytes) -> None:
    """Two bytes of options, then a file (an even second byte) or the plan of a graph."""
    STREAM_FOLDER.mkdir(parents=True, exist_ok=True)
    (STREAM_FOLDER / "file").write_bytes(bytes([8, 0]) + good)
    (STREAM_FOLDER / "compressed_in_order").write_bytes(bytes([0, 2]) + gzip.compress(good, mtime=0))
    (STREAM_FOLDER / "forward").write_bytes(bytes([8, 5, 5, 7, 0, 1, 7, 2, 0, 9, 2, 0, 3, 24, 4, 5, 7, 3, 9, 4, 0, 1]))
    (STREAM_FOLDER / "circle").write_bytes(bytes([9, 5, 1, 2, 0, 1, 2, 3, 0, 1, 3, 1, 0, 1, 4, 0, 0, 0]))
    (STREAM_FOLDER / "missing").write_bytes(bytes([11, 1, 1, 99, 0, 1, 2, 1, 98, 3, 3, 0, 0, 16]))
    blocks = bytes([5, 250, 0, 0xE1, 6, 5, 0, 0xE1, 9, 251, 7, 0xE3, 7, 0, 0, 0xE0, 2, 240, 0, 1])
    (STREAM_FOLDER / "many_blocks").write_bytes(bytes([8, 1]) + blocks)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    JSON_FOLDER.mkdir(parents=True, exist_ok=True)
    good = plain()
    stream_seeds(good)
    cc.save(cc.load(good), JSON_FOLDER / "plain.json")
    cc.save(cc.load(good), FOLDER / "compressed.et.zst")
    (JSON_FOLDER / "upstream.json").write_text(
        '{"workload_graph": [{"Id": 1, "Name": "a", "NodeType": 4, "runtime": 1.5, "data_deps": [], "ctrlDeps": [3]},\n'
        '{"Id": 2, "NodeType": "COMM_COLL_NODE", "data_deps": [1], "comm_size": 8, "x": {"y": [1, "z"]}, "n": NaN}],\n'
        '"ngpus": 8, "soc": null}'
    )
    (JSON_FOLDER / "damaged.json").write_text(
        '{"workload_graph": [{"Id": 1 "runtime": "soon"}, {"Name": "lost"}, {"Id": 2, "comm_size": "big"},\n'
        '{"Id": 2, "attr": [{"name": "x", "int32_val": 5000000000}, {"name": "y", "bytes_list": {"values": ["AA"]}}]},'
    )
    (FOLDER / "compressed.et").write_bytes(gzip.compress(good[:20], mtime=0) + gzip.compress(good[20:], mtime=0))
    (FOLDER / "unusual.et").write_bytes(
        b"\x00"  # empty metadata
        b"\x0f\x08\x05\x28\x05\x28\x63\x18\x08\x5a\x03abc\x5b\x5c"  # unpacked, missing and own parent, type 8, a group
        b"\x02\x08\x05"  # a duplicate id
        b"\x03\x12\x01\xff"  # a name that is not UTF-8
        b"\x01\x08"  # malformed
        b"\x0f\x52\x0d\x0a\x09comm_size\xea\x01\x00"  # a string where an integer belongs
    )


if __name__ == "__main__":
    main()
