"""A large execution trace with the shape that the PyTorch converter writes, made from a seed.

One node in five is a GPU kernel, one kernel in forty a collective; CPU operators carry the strings of their inputs
and outputs and nine attributes, kernels two more, collectives three more. A node takes about 780 bytes.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

COMP, COLL = 4, 7
TEMPLATES = 600


def varint(value: int) -> bytes:
    """Protobuf varint of a non-negative number."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    """Length-delimited field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def integer(number: int, value: int) -> bytes:
    """Varint field; negative values as protobuf's int64."""
    return varint(number << 3) + varint(value & 0xFFFFFFFFFFFFFFFF)


def attribute(name: str, value: int | str | bool, arm: int) -> bytes:
    """AttributeProto as field 10 of a node; `arm` is the field number of the value."""
    payload = field(1, name.encode())
    payload += field(arm, value.encode()) if isinstance(value, str) else integer(arm, int(value))
    return field(10, payload)


INT64, UINT64, BOOL, STRING = 9, 13, 27, 29


def tensor(random_: random.Random) -> str:
    """Return a tensor as the observer prints it: ids, offset, elements, bytes, device."""
    return f"[{random_.randrange(99999)}, {random_.randrange(99999)}, 0, {random_.randrange(10**7)}, 4, 'cuda:0']"


def io_info(random_: random.Random, tensors: int) -> bytes:
    """IOInfo with the repr of Python lists."""
    values = "[" + ", ".join(tensor(random_) for _ in range(tensors)) + "]"
    shapes = "[" + ", ".join(str([random_.choice([1, 64, 256, 1024]) for _ in range(4)]) for _ in range(tensors)) + "]"
    types = "[" + ", ".join(["'Tensor(float)'"] * tensors) + "]"
    return field(1, values.encode()) + field(2, shapes.encode()) + field(3, types.encode())


def template(random_: random.Random, kind: str, index: int) -> tuple[bytes, bytes, bytes]:
    """Name and type, inputs and outputs, and the attributes that do not change from node to node."""
    if kind == "cpu":
        name = f"aten::{random_.choice(['convolution', 'add_', 'batch_norm', 'mm', 'copy_'])}{index % 40}"
    else:
        name = f"void at::native::vectorized_elementwise_kernel<{index % 60}, at::native::CUDAFunctor_add<float>, 4>"
    if kind == "coll":
        name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"
    head = field(2, name.encode()) + integer(3, COLL if kind == "coll" else COMP)
    io = field(8, io_info(random_, random_.randint(2, 5))) + field(9, io_info(random_, 1))
    schema = f"aten::op{index}.overload(Tensor input, Tensor weight, Tensor? bias, SymInt[] size, *, Scalar alpha=1, "
    schema += "ScalarType? dtype=None, Device? device=None, bool flag=False) -> (Tensor, Tensor)"
    attributes = attribute("scope", 0, UINT64) + attribute("tid", 1 + index % 3, UINT64)
    attributes += attribute("fw_tid", 0, UINT64) + attribute("op_schema", schema, STRING)
    attributes += attribute("is_cpu_op", kind == "cpu", BOOL)
    if kind != "cpu":
        attributes += attribute("stream", 7 if kind == "gpu" else 20, INT64)
    if kind == "coll":
        attributes += attribute("comm_type", 0, INT64) + attribute("comm_size", 4 * random_.randrange(10**7), INT64)
        attributes += attribute("pg_name", "0", STRING)
    return head, io, attributes


def write_typical(path: Path, nodes: int, seed: int = 0) -> None:
    """Write `nodes` nodes with ids 0, 1, 2, ...; the same arguments give the same bytes."""
    random_ = random.Random(seed)
    templates = {kind: [template(random_, kind, i) for i in range(TEMPLATES)] for kind in ("cpu", "gpu", "coll")}
    with path.open("wb", buffering=1 << 20) as file:
        metadata = field(1, b"0.0.4")
        file.write(varint(len(metadata)) + metadata)
        last_cpu = 0
        for i in range(nodes):
            kind = "cpu" if i % 5 != 4 else ("coll" if i % 200 == 199 else "gpu")
            head, io, fixed = templates[kind][random_.randrange(TEMPLATES)]
            record = integer(1, i) + head
            if i:
                parents = varint(last_cpu) if kind != "cpu" or i < 10 else varint(last_cpu) + varint(i - 1 - i % 4)
                record += field(4, varint(max(0, last_cpu - i % 7))) + field(5, parents)
            record += integer(6, 1_000_000 + 12 * i) + integer(7, 3 + i % 40) + io
            record += attribute("rf_id", i, UINT64) + attribute("fw_parent", 0, UINT64)
            record += attribute("seq_id", -1, INT64) + fixed
            record += attribute("start_ns", (1_000_000 + 12 * i) * 1000 + i % 1000, UINT64)
            record += attribute("duration_ns", (3 + i % 40) * 1000 + 250, UINT64)
            file.write(varint(len(record)) + record)
            if kind == "cpu":
                last_cpu = i


def main() -> None:
    """Command line: path and number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    write_typical(arguments.path, arguments.nodes, arguments.seed)


if __name__ == "__main__":
    main()
