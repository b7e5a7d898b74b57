# SPDX-License-Identifier: MIT
"""Writes the seeds of fuzz_linked: a small linked pair as it is saved, and as older linkers would write it."""

import json
import tempfile
from pathlib import Path
from typing import Any

import chakra_core as cc

FOLDER = Path(__file__).parent / "seeds" / "linked"
# What only our files have.
OURS = ("chakra_core_linked", "traceName", "baseTimeNanoseconds", "distributedInfo", "traceEvents")

Json = dict[str, Any]


def node(id: int, name: str, parent: int, rf_id: int) -> Json:
    attrs = [{"name": "rf_id", "type": "uint64", "value": rf_id}, {"name": "tid", "type": "uint64", "value": 1}]
    shapes = {"values": [1], "shapes": [[2]], "types": ["Int"]}
    return {"id": id, "name": name, "ctrl_deps": parent, "inputs": shapes, "outputs": shapes, "attrs": attrs}


def event(category: str, name: str, ts: float, dur: float, tid: Any = 1, **args: Any) -> Json:
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": tid, "ts": ts, "dur": dur, "args": args}


def host() -> Json:
    names = ("[pytorch|profiler|execution_trace|process]", "aten::mm", "record_param_comms", "aten::item")
    return {"schema": "1.1.1-chakra.0.0.4", "nodes": [node(i + 1, name, 1, i) for i, name in enumerate(names)]}


def device() -> Json:
    comm = {"Collective name": "allreduce", "In msg nelems": 8, "dtype": "Float", "Group size": 2}
    return {
        "distributedInfo": {"rank": 0, "pg_config": [{"pg_name": "0", "ranks": [0, 1]}]},
        "traceEvents": [
            event("cpu_op", "aten::mm", 10, 5, **{"External id": 1, "Record function id": 1}),
            event("cuda_runtime", "cudaLaunchKernel", 11, 2, correlation=5, **{"External id": 1}),
            event("kernel", "gemm", 14.5, 4, tid="s", stream=7, correlation=5, **{"External id": 1}),
            event("cpu_op", "record_param_comms", 16, 3, **{"External id": 2, "Record function id": 2}),
            event("cuda_runtime", "cudaLaunchKernel", 17, 1, correlation=6, **{"External id": 2}),
            event("kernel", "ncclDevKernel_AllReduce", 18.5, 9, tid="t", stream=9, correlation=6, **comm),
            event("cpu_op", "aten::item", 20, 9, **{"External id": 3, "Record function id": 3}),
            event("cuda_runtime", "cudaStreamSynchronize", 21, 7.5, correlation=7),
        ],
    }


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in (("host", host()), ("device", device())):
            (Path(scratch) / f"{name}.json").write_text(json.dumps(content))
        linked = cc.link(Path(scratch) / "host.json", Path(scratch) / "device.json")
        saved = Path(scratch) / "linked.json"
        linked.save(saved)
        text = saved.read_text().replace(scratch, ".")
    whole = json.loads(text)
    (FOLDER / "whole.json").write_text(text)
    (FOLDER / "older.json").write_text(json.dumps({key: value for key, value in whole.items() if key not in OURS}))


if __name__ == "__main__":
    main()
