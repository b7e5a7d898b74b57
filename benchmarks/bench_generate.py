"""Generating the ranks of a large run, against STAGE's published time and against protobuf messages."""

from __future__ import annotations

import time
from pathlib import Path

from measure import Ratio, compare, wall_seconds

import chakra_core as cc
from chakra_core import proto

#: STAGE for 128 ranks of an 80-layer llama: elapsed time on one machine, 128 files, 32 MB. Measured once, not here.
STAGE_SECONDS = 59.0


def run(folder: Path, *, smoke: bool) -> list[Ratio]:
    """Write the 128 ranks of an 80-layer llama, and make one rank of many micro-batches."""
    spread = {"dp": 2, "tp": 2, "pp": 2} if smoke else {"dp": 8, "tp": 4, "pp": 4}
    layers = 8 if smoke else 80
    model = cc.generate.preset("llama2-70b", layers=layers)

    def write() -> cc.generate.TransformerRun:
        made = cc.generate.transformer(model, sequence_parallel=True, sequence=4096, micro_batches=4, **spread)
        made.save(folder / "run")
        return made

    begin = time.perf_counter()
    whole = write()
    seconds = time.perf_counter() - begin
    size = sum(path.stat().st_size for path in folder.glob("run.*.et")) / 1e6
    what = f"{whole.num_ranks} ranks, {whole.num_nodes} nodes, {size:.0f} MB in {seconds:.2f} s"
    long = cc.generate.transformer(model, sequence=4096, micro_batches=2 if smoke else 128)

    def trace() -> None:
        long.trace(0)

    def messages() -> None:
        for number in range(20_000):
            node = proto.Node(id=number, name=f"mb0.layer{number}.qkv", type=proto.COMP_NODE, data_deps=[number])
            node.attr.add(name="is_cpu_op", bool_val=False)
            node.attr.add(name="num_ops", int64_val=1 << 40)
            node.attr.add(name="tensor_size", uint64_val=1 << 30)
            node.SerializeToString()

    begin = time.process_time()
    trace()
    rate = long.num_nodes / (time.process_time() - begin)
    each = compare("a rank of a transformer, in memory", trace, "", messages)
    each.rival = "protobuf messages, node for node"
    each.ratio *= long.num_nodes / 20_000
    each.note = f"{long.num_nodes} nodes, {rate / 1e6:.1f} million a CPU second"
    bundle = compare(
        "a run as a bundle",
        lambda: whole.save(folder / "run.etb"),
        "a file a rank",
        lambda: whole.save(folder / "again"),
        clock=wall_seconds,
    )
    bundle.note = f"{(folder / 'run.etb').stat().st_size / 1e6:.2f} MB"
    stage = Ratio("80-layer llama over 128 ranks, written", "STAGE, 59 s", STAGE_SECONDS / seconds, what)
    return [each, bundle] if smoke else [stage, each, bundle]
