# SPDX-License-Identifier: MIT
"""Running a workload of many ranks on a simulated network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

import numpy as np

from chakra_core import _core
from chakra_core._core import CollectiveType, ConfigError, NodeType, Progress, Trace
from chakra_core.bundle import unpacked
from chakra_core.compute_times import Times
from chakra_core.compute_times import compute_times as times_of_nodes
from chakra_core.config import CommGroups, LinkDamage, Memory, Network, SimulationOptions, Stragglers, System
from chakra_core.config.model import ConfigModel
from chakra_core.config.options import Fidelity, Resources
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.recorded_groups import used_recorded_groups
from chakra_core.result import Result

_ALGORITHM_LISTS = {
    CollectiveType.ALL_REDUCE: "all_reduce_implementation",
    CollectiveType.ALL_GATHER: "all_gather_implementation",
    CollectiveType.REDUCE_SCATTER: "reduce_scatter_implementation",
    CollectiveType.ALL_TO_ALL: "all_to_all_implementation",
}

_ALL_RANKS = {"", "0"}


def simulate(
    traces: RankTraces,
    *,
    network: Network | Mapping[str, Any] | str | os.PathLike[str],
    system: System | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    comm_groups: CommGroups | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    memory: Memory | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    damage: Iterable[LinkDamage | Mapping[str, Any]] = (),
    congestion: bool = False,
    parity: bool = False,
    num_queues_per_dim: int = 1,
    rendezvous_protocol: bool = False,
    injection_scale: float = 1.0,
    comm_scale: float = 1.0,
    compute_scale: float = 1.0,
    resources: Mapping[str, int] | str | None = None,
    communication: Literal["simulated", "recorded"] = "simulated",
    fidelity: Fidelity = "auto",
    fold: bool = True,
    stragglers: Stragglers | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    compute_times: Times | None = None,
    groups_as_listed: bool = False,
    record_nodes: bool = True,
    progress: Progress | None = None,
) -> Result:
    """Simulate the traces of all ranks together.

    Args:
        traces: one a rank: a name with %d ("run.%d.et"), a glob, a bundle ("run.etb"), paths or Traces in rank order,
            or a mapping of rank to path or Trace. One object or file may stand for many ranks; it is loaded once.
        network: the network, whose NPUs are the ranks.
        system: algorithms, chunking and speeds; by default the ring algorithm in every dimension.
        comm_groups: ranks of each group that nodes name in `pg_name`; by default the groups that PyTorch recorded in
            the traces, or those of the bundle.
        memory: remote memory, for MEM_LOAD and MEM_STORE nodes; by default there is none.
        damage: links that are slower than the network says (`LinkDamage`, or a dict of its fields).
        congestion: messages wait for busy links.
        parity: behave as ASTRA-sim does, its known defects included.
        num_queues_per_dim: chunk queues of each network dimension.
        rendezvous_protocol: a sender waits until its receiver is ready.
        injection_scale: factor on the endpoint delay.
        comm_scale: known to ASTRA-sim; without influence there and here.
        compute_scale: known to ASTRA-sim; without influence there and here.
        resources: what nodes of a rank compete for. "lanes" (the default outside parity): a slot for each CPU thread
            and device stream that the trace names, and otherwise one for the host, for compute, and for the
            communication of each process group. "astra" (the default in parity, which accepts nothing else): one slot
            each for CPU, compute and communication. Counts: `{"cpu": 4, "compute": 2, "comm": 1}` or
            "cpu=4,compute=2,comm=1"; what is left out is 1.
        communication: "simulated" takes the time that the network makes it take, "recorded" the duration in the trace.
        fidelity: how closely collectives are simulated. "message": every message. "phase": a phase of a chunk at once,
            from the times at which its members begin to the times at which they end. "closed": the same, and a formula
            where they begin together. "auto": what is cheapest of these and surely gives the times of "message", which
            differ from those of the other two only where the order of events within one ns matters.
        fold: simulate one rank for all where all are alike: the same traces but for the names of groups, no message but
            in collectives, and groups that divide the ranks into parts of one form. The times are the same. Fidelity
            "phase" and "message" never fold.
        stragglers: ranks that compute slower or begin later, nodes that start later, seeded jitter; see `Stragglers`.
            Ranks that differ by that are not folded.
        compute_times: what COMP nodes take in ns, in place of their durations or the roofline. A function, called once
            for each distinct trace with a `ComputeNodes` (columns of its COMP nodes), that returns an array with an
            entry a node; or times by name, or by name and shapes: a mapping whose keys are `name` or `(name, shapes)`,
            or a table (mapping of columns, data frame) of `name`, `duration_ns` and maybe `shapes`. NaN, and what a
            table lacks: as otherwise. Times by name and shapes come before those by name. Fractions of a ns are cut.
        groups_as_listed: the ring of a group goes in the listed order instead of ascending ranks. Parity always does.
        record_nodes: keep start and end of every node; without it `nodes()` and `to_perfetto()` have nothing.
        progress: counts completed nodes; `cancel()` it from another thread to stop.

    Returns:
        Times of each rank and node.

    Raises:
        ConfigError: names file, key, what was found and what is allowed; or the ranks without a trace.
        SimulationError: nothing can go on (with what each rank waits for), or a node cannot be simulated.
        DependencyError: nodes wait for each other in a cycle.
        FormatError, OSError: a trace cannot be read.
    """
    network = Network.coerce(network).with_damage(damage)
    system = System() if system is None else System.coerce(system)
    traces, comm_groups = unpacked(traces, comm_groups)
    given_groups = None if comm_groups is None else _usable_groups(CommGroups.coerce(comm_groups), network)
    options = SimulationOptions(
        congestion=congestion,
        parity=parity,
        num_queues_per_dim=num_queues_per_dim,
        rendezvous_protocol=rendezvous_protocol,
        injection_scale=injection_scale,
        comm_scale=comm_scale,
        compute_scale=compute_scale,
        resources=cast(Resources, resources),
        communication=communication,
        fidelity=fidelity,
        fold=fold,
    )
    _check_resources(options)
    loaded = load_ranks(traces, network.num_npus)
    given_times = [] if compute_times is None else times_of_nodes(compute_times, loaded)
    recorded = options.communication == "recorded"
    groups = given_groups
    if groups is None:
        # Recorded times need no members, and groups that nobody names may speak of ranks that are not simulated.
        groups = [] if recorded else _usable_groups(used_recorded_groups(loaded), network)
    native = _core.simulate(
        loaded,
        native_network(network),
        native_system(system, network, loaded, parity=parity),
        memory=_native_memory(None if memory is None else Memory.coerce(memory)),
        groups=groups,
        parity=options.parity,
        congestion=options.congestion,
        num_queues_per_dim=options.num_queues_per_dim,
        rendezvous_protocol=options.rendezvous_protocol,
        injection_scale=options.injection_scale,
        groups_as_listed=groups_as_listed,
        slots=options.slots,
        recorded_communication=recorded,
        fidelity=options.fidelity,
        fold=options.fold,
        stragglers=_native_stragglers(stragglers, network.num_npus),
        compute_ns=given_times,
        record_nodes=record_nodes,
        progress=progress,
    )
    warnings = [] if given_times else _untimed_compute(loaded, system)
    return Result(native, loaded, network, warnings, _configuration(network, system, memory, stragglers, options))


def _configuration(
    network: Network,
    system: System,
    memory: Memory | Mapping[str, Any] | str | os.PathLike[str] | None,
    stragglers: Stragglers | Mapping[str, Any] | str | os.PathLike[str] | None,
    options: SimulationOptions,
) -> dict[str, dict[str, Any]]:
    """Show what was set, as plain values for people."""
    models: dict[str, ConfigModel] = {"network": network, "system": system}
    if memory is not None:
        models["memory"] = Memory.coerce(memory)
    if stragglers is not None:
        models["stragglers"] = Stragglers.coerce(stragglers)
    models["options"] = options
    return {name: model.model_dump(mode="json", exclude_none=True) for name, model in models.items()}


def _check_resources(options: SimulationOptions) -> None:
    if options.parity and options.resources not in (None, "astra"):
        raise ConfigError(
            "resources: found lanes or counts, but ASTRA-sim has one slot each for CPU, compute and communication; "
            'leave it at "astra" or run without parity'
        )


def _untimed_compute(traces: list[Trace], system: System) -> list[str]:
    """Warn of compute nodes that took no time although the trace knows how much they compute."""
    if system.roofline_enabled or system.replay_only:
        return []
    counts: dict[int, int] = {}
    for trace in traces:
        if id(trace) not in counts:
            untimed = (trace.types == NodeType.COMP_NODE) & (trace.duration_ns == 0)
            counts[id(trace)] = int(np.count_nonzero(untimed & (trace.attr("num_ops").filled(0) > 0)))
    total = sum(counts[id(trace)] for trace in traces)
    if total == 0:
        return []
    return [
        f"{total} compute nodes have no duration and took no time, but they have num_ops: "
        "set 'roofline-enabled', 'peak-perf' and 'local-mem-bw' to time them"
    ]


def native_network(network: Network) -> _core.Network:
    """Give the network to the core.

    Raises:
        ConfigError: a graph in pieces, damage of links that are not there.
    """
    switches = network.switch_numbers()

    def number(node: int | str) -> int:
        return switches[node] if isinstance(node, str) else node

    damage = [
        (
            part.dimension,
            None if part.src is None else number(part.src),
            None if part.dst is None else number(part.dst),
            part.bandwidth,
            part.latency,
        )
        for part in network.damage
    ]
    if "Graph" in network.topology:
        links = [(number(li.src), number(li.dst), li.bandwidth, li.latency, li.one_way) for li in network.links]
        return _core.Network.of_links(network.num_npus, len(switches), links, damage)
    return _core.Network(
        topology=list(network.topology),
        npus=list(network.npus),
        bandwidth=list(network.bandwidth),
        latency=list(network.latency),
        oversubscription=list(network.oversubscription),
        damage=damage,
    )


def _native_stragglers(
    given: Stragglers | Mapping[str, Any] | str | os.PathLike[str] | None, num_ranks: int
) -> _core.Stragglers:
    if given is None:
        return _core.Stragglers()
    stragglers = Stragglers.coerce(given)
    stragglers.check_ranks(num_ranks)
    speeds = [stragglers.compute_speed.get(rank, 1.0) for rank in range(num_ranks)]
    delays = [int(stragglers.start_delay.get(rank, 0)) for rank in range(num_ranks)]
    return _core.Stragglers(
        compute_speed=speeds if stragglers.compute_speed else [],
        start_delay_ns=delays if stragglers.start_delay else [],
        node_delays=[(delay.rank, delay.node, int(delay.delay)) for delay in stragglers.node_delays],
        jitter=stragglers.jitter,
        seed=stragglers.seed,
    )


def _native_memory(memory: Memory | None) -> _core.MemoryConfig:
    if memory is None:
        return _core.MemoryConfig()
    return _core.MemoryConfig(
        memory_type=memory.memory_type,
        latency_ns=int(memory.remote_mem_latency),
        bandwidth=int(memory.remote_mem_bw),
        num_nodes=memory.num_nodes or 1,
        num_npus_per_node=memory.num_npus_per_node or 1,
    )


def native_system(system: System, network: Network, traces: list[Trace], *, parity: bool) -> _core.SystemConfig:
    """Give the system to the core, with an algorithm for each dimension.

    Raises:
        ConfigError: a list does not fit the network, or a file lacks one that the traces need; a custom collective
            cannot be read.
    """
    algorithms: dict[str, Any] = {}
    for collective, name in _ALGORITHM_LISTS.items():
        given: tuple[str, ...] | None = getattr(system, name)
        members = getattr(system, f"{name}_custom")
        algorithms[name.replace("implementation", "custom")] = [] if members is None else _load_custom(name, members)
        if given is None and members is None and system.is_from_file and _uses(traces, collective):
            raise ConfigError(
                f"{system.source}: missing key '{_key(name)}', and the traces have {collective.name} nodes"
            )
        if given is not None:
            _check_length(name, given, system, network, parity=parity)
        algorithms[name] = ["ring"] * network.num_dims if given is None else list(given)
    return _core.SystemConfig(
        **algorithms,
        endpoint_delay=system.endpoint_delay,
        active_chunks_per_dimension=system.active_chunks_per_dimension,
        preferred_dataset_splits=system.preferred_dataset_splits,
        collective_optimization=system.collective_optimization,
        local_mem_bw=system.local_mem_bw,
        peak_perf=system.peak_perf,
        roofline_enabled=system.roofline_enabled,
        replay_only=system.replay_only,
    )


def _load_custom(name: str, members: tuple[Any, ...]) -> list[Trace]:
    if isinstance(members[0], Trace):
        return list(members)
    try:
        return load_ranks(members[0])
    except (ConfigError, OSError) as error:
        raise ConfigError(f"'{_key(name)}-custom': {error}") from None


def _check_length(name: str, given: tuple[str, ...], system: System, network: Network, *, parity: bool) -> None:
    """One algorithm a dimension; fewer only if the last spans all NPUs, or as ASTRA-sim takes them in parity."""
    enough = len(given) == network.num_dims
    spans_all = bool(given) and given[-1].startswith("one")
    fewer_allowed = len(given) < network.num_dims and (spans_all or (parity and bool(given)))
    if not enough and not fewer_allowed:
        raise ConfigError(
            f"{system.source}: '{_key(name)}' has {len(given)} entries, "
            f"but the network ({network.source}) has {network.num_dims} dimensions"
        )


def _key(name: str) -> str:
    return name.replace("_", "-")


def _uses(traces: list[Trace], collective: CollectiveType) -> bool:
    distinct = {id(trace): trace for trace in traces}.values()
    return any(
        bool(np.any((trace.attr("comm_type").filled(-1) == collective) & (trace.types == NodeType.COMM_COLL_NODE)))
        for trace in distinct
    )


def _usable_groups(groups: CommGroups, network: Network) -> list[tuple[str, list[int]]]:
    """Check that the groups fit the network, and leave out those whose name means all ranks anyway."""
    for name, ranks in groups.groups.items():
        if max(ranks) >= network.num_npus:
            raise ConfigError(
                f"{groups.source}: group '{name}' has rank {max(ranks)}, "
                f"but the network ({network.source}) has {network.num_npus} NPUs"
            )
        if name in _ALL_RANKS and len(ranks) != network.num_npus:
            raise ConfigError(
                f"{groups.source}: group '{name}' has {len(ranks)} ranks, but this name always means all "
                f"{network.num_npus}; give the group another name"
            )
    return [(name, list(ranks)) for name, ranks in groups.groups.items() if name not in _ALL_RANKS]
