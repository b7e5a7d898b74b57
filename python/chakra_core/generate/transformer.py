# SPDX-License-Identifier: MIT
"""Training and inference of transformers over many ranks, as traces."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from chakra_core._core import ConfigError, Trace
from chakra_core.bundle import Bundle, RankTable, is_bundle
from chakra_core.config import CommGroups
from chakra_core.generate.block import GROUP_KINDS
from chakra_core.generate.memory import MemoryReport, memory_report
from chakra_core.generate.model import TransformerModel
from chakra_core.generate.parallelism import GroupTable, Parallelism
from chakra_core.generate.presets import preset
from chakra_core.generate.stage import StageProgram
from chakra_core.generate.workload import Device, Workload
from chakra_core.io import save

_Mapping: TypeAlias = "Mapping[str, Any]"


class TransformerRun:
    """A generated run: traces of all ranks, made when they are asked for, their groups, and their memory.

    Attributes:
        model: the model.
        parallelism: how it is spread over ranks.
        workload: batch, precision and how the step is run.
        device: what the durations come from; None for durations of 0, which leaves them to the simulator's roofline.
        groups: ranks of each process group, by the names that nodes have in `pg_name`.
        bundle: all of it in a form that goes into one file.
        group_kinds: "tp", "cp", "dp", "ep", "edp" or "embedding" for each of these names.
    """

    def __init__(
        self, model: TransformerModel, parallelism: Parallelism, workload: Workload, device: Device | None
    ) -> None:
        """Work out the programs of all stages; `transformer` calls it."""
        self.model = model
        self.parallelism = parallelism
        self.workload = workload
        self.device = device
        table = GroupTable(
            parallelism, has_experts=model.is_moe, shares_embedding=model.tied_embeddings and workload.phase == "train"
        )
        self.groups = CommGroups(groups=table.groups)
        self.group_kinds: Mapping[str, str] = dict(table.kinds)
        stages = [StageProgram(model, parallelism, workload, device, stage) for stage in range(parallelism.pp)]
        self._memory = [memory_report(model, parallelism, workload, one.sizes, one.content()) for one in stages]
        self.bundle = Bundle([one.build() for one in stages], _rank_table(parallelism, table), self.groups)

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return self.parallelism.ranks

    @property
    def num_nodes(self) -> int:
        """Nodes of all traces together."""
        return self.bundle.num_nodes

    def trace(self, rank: int) -> Trace:
        """Make the trace of a rank."""
        return self.bundle.trace(rank)

    @cached_property
    def traces(self) -> list[Trace]:
        """Traces of all ranks, as `simulate` takes them."""
        return self.bundle.traces()

    def memory(self, rank: int) -> MemoryReport:
        """Return what a rank needs memory for."""
        return self._memory[self.parallelism.coordinates(rank)["pp"]]

    def save(self, prefix: str | os.PathLike[str]) -> list[Path]:
        """Write a trace a rank, and `<prefix>.groups.json` for `comm_groups`.

        Args:
            prefix: "run" gives run.0.et, run.1.et, ...; or a name with %d for the rank, such as "run.%d.et.zst"; or
                "run.etb" for one file of all ranks, groups included, and nothing else.

        Raises:
            OSError: a file cannot be written.
        """
        text = os.fspath(prefix)
        if is_bundle(prefix):
            self.bundle.save(prefix)
            return [Path(prefix)]
        pattern = text if "%d" in Path(text).name else f"{text}.%d.et"
        paths = [Path(pattern.replace("%d", str(rank))) for rank in range(self.num_ranks)]

        def write(rank: int) -> None:
            save(self.trace(rank), paths[rank])

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(write, range(self.num_ranks)))
        self.groups.save(groups_path(prefix))
        return paths

    def to_dict(self) -> dict[str, Any]:
        """Return what it is, as plain values for JSON."""
        return {
            "ranks": self.num_ranks,
            "nodes": self.num_nodes,
            "parameters": self.model.parameters(),
            "active_parameters": self.model.active_parameters(),
            "groups": len(self.groups),
            "memory": [{**asdict(one), "total": one.total} for one in self._memory],
        }


def _rank_table(parallelism: Parallelism, table: GroupTable) -> RankTable:
    """List groups, number and neighbours in the pipeline of each rank, in the order of RankValue."""
    ranks = range(parallelism.ranks)
    places = [parallelism.coordinates(rank) for rank in ranks]
    stages = parallelism.pp

    def beside(step: int) -> list[int]:
        return [parallelism.rank({**place, "pp": (place["pp"] + step) % stages}) for place in places]

    groups = [[table.name(kind, rank) for rank in ranks] for kind in GROUP_KINDS]
    return RankTable([place["pp"] for place in places], [*groups, list(ranks), beside(-1), beside(1)])


def groups_path(prefix: str | os.PathLike[str]) -> Path:
    """Name of the file with the groups beside the traces."""
    path = Path(prefix)
    stem = path.name.split("%d")[0].rstrip("._-") or "run" if "%d" in path.name else path.name
    return path.with_name(f"{stem}.groups.json")


def transformer(
    model: TransformerModel | _Mapping | str,
    *,
    parallelism: Parallelism | _Mapping | None = None,
    workload: Workload | _Mapping | None = None,
    device: Device | _Mapping | None = None,
    **settings: Any,
) -> TransformerRun:
    """Generate the traces of a transformer's training or inference step on many ranks.

    `transformer("llama3-8b", dp=2, tp=4, sequence_parallel=True, sequence=8192, micro_batches=8)`. docs/generating.md
    has every operation, size and formula.

    Args:
        model: a TransformerModel, its fields, or the name of a preset.
        parallelism: degrees of parallelism, or their fields.
        workload: batch, precision and how the step is run, or its fields.
        device: gives computations durations; without one they have 0, and `num_ops` and `tensor_size` for the
            simulator's roofline.
        settings: fields of Parallelism and of Workload by name, in place of the objects.

    Raises:
        ConfigError: values are wrong or do not fit each other; says which.
    """
    known_model = preset(model) if isinstance(model, str) else TransformerModel.coerce(model)
    unknown = [name for name in settings if name not in {*Parallelism.model_fields, *Workload.model_fields}]
    if unknown:
        allowed = ", ".join([*Parallelism.model_fields, *Workload.model_fields])
        raise ConfigError(f"transformer: unknown setting {unknown[0]}; expected {allowed}")
    spread = _merged(Parallelism, parallelism, settings)
    work = _merged(Workload, workload, settings)
    return TransformerRun(known_model, spread, work, None if device is None else Device.coerce(device))


def _merged(kind: Any, given: Any, settings: _Mapping) -> Any:
    """Make an object of a configuration class, from an object or its fields, with those settings that belong to it."""
    own = {name: value for name, value in settings.items() if name in kind.model_fields}
    base = {} if given is None else kind.coerce(given).model_dump(by_alias=False)
    return kind(**base | own)
