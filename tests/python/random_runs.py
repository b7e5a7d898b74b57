# SPDX-License-Identifier: MIT
"""Random runs of a few ranks: networks, systems, groups and workloads in which much happens in the same ns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import chakra_core as cc

T = TypeVar("T")
Choose = Callable[[Sequence[T]], T]
"""Picks one of several things: `random.Random(seed).choice`, or a draw of hypothesis."""

SIZES = (1 << 20, 65536, 4096, 1024, 100_000, 12_345, 999)
DELAYS = (0, 1, 7, 500, 1000, 2000, 20_000)


@dataclass
class Node:
    """One node; ids count from 0 on each rank."""

    kind: str
    parents: list[int]
    attrs: dict[str, Any] = field(default_factory=dict)
    duration: int = 0


@dataclass
class Run:
    """Everything that `simulate` needs, plain enough for an oracle to read."""

    topology: list[str]
    npus: list[int]
    bandwidth: list[float]
    latency: list[float]
    system: dict[str, Any]
    groups: dict[str, list[int]]
    nodes: list[list[Node]]
    options: dict[str, Any]
    oversubscription: list[float] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    damage: list[dict[str, Any]] = field(default_factory=list)

    @property
    def network(self) -> cc.Network:
        """The network, damaged or not."""
        if self.links:
            return cc.Network(
                topology=self.topology, npus=self.npus, switches=self.switches, links=self.links, damage=self.damage
            )
        return cc.Network(
            topology=self.topology,
            npus=self.npus,
            bandwidth=self.bandwidth,
            latency=self.latency,
            oversubscription=self.oversubscription,
            damage=self.damage,
        )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.nodes)

    def simulate(self, **options: Any) -> cc.Result:
        """Run the simulator on it."""
        return cc.simulate(
            [build(nodes) for nodes in self.nodes],
            network=self.network,
            system=self.system,
            comm_groups=self.groups,
            **{**self.options, **options},
        )


def build(nodes: list[Node]) -> cc.Trace:
    """One rank's trace."""
    builder = cc.TraceBuilder()
    for number, node in enumerate(nodes):
        builder.add_node(
            id=number,
            name=f"node{number}",
            type=node.kind,
            data_deps=node.parents,
            duration_ns=node.duration,
            attrs={"is_cpu_op": False, **node.attrs},
        )
    return builder.build()


def random_run(choose: Choose[Any], *, parity: bool, alike: bool = False, plain: bool = False) -> Run:
    """Any run that parity, or else the default mode, accepts.

    Args:
        choose: picks.
        parity: behave as ASTRA-sim does.
        alike: all ranks do the same, and send nothing but collectives.
        plain: what the plain model knows of the default mode: sizes that divide evenly, no node of 0 ns, no root.
    """
    npus = list(choose([(4,), (8,), (2,), (3,), (5,), (2, 2), (4, 2), (2, 4), (3, 2), (2, 2, 2), (2, 3, 2)]))
    power = all(n & (n - 1) == 0 for n in npus)
    ranks = 1
    for n in npus:
        ranks *= n
    dims = len(npus)
    algorithms = ["ring", "ring", "direct", "direct1", "direct2", *(["halvingDoubling"] if power else [])]
    trees = ["doubleBinaryTree"] if power and dims == 1 else []
    divisions = _divisions(choose, ranks) if parity else _grid_divisions(choose, npus)
    groups = {name: members for division in divisions for name, members in division.items()}
    grouped = bool(groups)
    system: dict[str, Any] = {
        "endpoint-delay": choose([10, 0, 100, 1]),
        "active-chunks-per-dimension": choose([1, 2, 3]),
        "preferred-dataset-splits": choose([1, 2, 4, 7]),
        "all-reduce-implementation": [choose(algorithms + ([] if grouped else trees)) for _ in npus],
        "all-gather-implementation": [choose(algorithms) for _ in npus],
        "reduce-scatter-implementation": [choose(algorithms) for _ in npus],
        "all-to-all-implementation": [choose(algorithms[:5]) for _ in npus],
        "collective-optimization": choose(["baseline", "localBWAware"]),
        "local-mem-bw": choose([0, 50, 1600]),
    }
    splits = system["preferred-dataset-splits"]
    unit = splits * ranks * math.lcm(1, *(len(members) for members in groups.values()))
    what = _What(parity=parity, alike=alike, plain=plain, sizes=(unit, 3 * unit, 64 * unit) if plain else SIZES)
    blocks = ["Ring", "FullyConnected", "Switch"] + ([] if parity else ["Mesh", "Switch"])
    topology = [choose(blocks) for _ in npus]
    run = Run(
        topology=topology,
        npus=npus,
        bandwidth=[choose([50, 25, 1, 400]) for _ in npus],
        latency=[choose([500, 0, 1, 1000]) for _ in npus],
        system=system,
        groups=groups,
        nodes=_nodes(choose, ranks, divisions, what),
        options={
            "parity": parity,
            "num_queues_per_dim": choose([1, 1, 2, 3]),
            "rendezvous_protocol": choose([False, False, True]),
            **({} if parity else {"resources": "astra" if plain else choose(["lanes", "astra"])}),
        },
    )
    if not parity:
        _rebuild(choose, run)
    return run


def _rebuild(choose: Choose[Any], run: Run) -> None:
    """What ASTRA-sim's networks do not have."""
    if choose([False, True]):
        run.oversubscription = [choose([1, 2, 4.0]) if kind == "Switch" else 1 for kind in run.topology]
    if len(run.npus) == 1 and choose([False, False, True]):
        _link(choose, run)
    for _ in range(choose([0, 0, 1, 3])):
        damage: dict[str, Any] = {"bandwidth": choose([0.5, 1, 0.125, 2.0]), "latency": choose([1, 3, 0.5])}
        where = choose(["dimension", "src", "dst", "everywhere"])
        if where == "dimension":
            damage["dimension"] = choose(range(len(run.npus)))
        elif where != "everywhere":
            damage[where] = choose(range(run.ranks))
        run.damage.append(damage)


def _link(choose: Choose[Any], run: Run) -> None:
    """A graph: a tree of two-way links, and more of any kind."""
    run.topology, run.bandwidth, run.latency, run.oversubscription = ["Graph"], [], [], []
    run.switches = ["s", "t", "u"][: choose([0, 1, 3])]
    nodes: list[int | str] = [*range(run.ranks), *run.switches]
    linked: set[tuple[int | str, int | str]] = set()
    wanted = [(nodes[i], choose(nodes[:i]), False) for i in range(1, len(nodes))]
    wanted += [(choose(nodes), choose(nodes), choose([False, True])) for _ in range(choose([0, 3, 8]))]
    for src, dst, one_way in wanted:
        ways = {(src, dst)} if one_way else {(src, dst), (dst, src)}
        if src != dst and not ways & linked:
            linked |= ways
            speed = {"bandwidth": choose([50, 25, 1, 400]), "latency": choose([500, 0, 1, 1000])}
            run.links.append({"src": src, "dst": dst, "one_way": one_way, **speed})


Division = dict[str, list[int]]
"""Groups that hold every rank once."""


def _divisions(choose: Choose[Any], ranks: int) -> list[Division]:
    """None, or the ranks in blocks or strides; names are numbers, which count on."""
    if ranks % 2 or ranks < 4 or not choose([False, True]):
        return []
    half = ranks // 2
    blocks = [list(range(half)), list(range(half, ranks))]
    strides = [list(range(0, ranks, 2)), list(range(1, ranks, 2))]
    chosen = choose([[blocks], [strides], [blocks, strides]])
    return [{str(2 * i + j + 1): members for j, members in enumerate(both)} for i, both in enumerate(chosen)]


def _grid_divisions(choose: Choose[Any], npus: list[int]) -> list[Division]:
    """Up to two divisions of the ranks into grids, or into two parts that are none; members in any order."""
    strides = [math.prod(npus[:d]) for d in range(len(npus))]
    divisions = []
    for number in range(choose([0, 1, 2])):
        axes = [choose(_parts_of_axis(n)) for n in npus]
        groups = [
            [sum(c * s for c, s in zip(place, strides, strict=True)) for place in itertools.product(*parts)]
            for parts in itertools.product(*axes)
        ]
        if choose([False] * 5 + [True]):
            ranks = sorted(itertools.chain(*groups), key=lambda rank: rank * 7 % 11)
            middle = choose(range(1, len(ranks)))
            groups = [ranks[:middle], ranks[middle:]]
        turn = choose([0, 1])
        divisions.append({f"{'ab'[number]}{i}": [*g[turn:], *g[:turn]] for i, g in enumerate(groups)})
    return divisions


def _parts_of_axis(n: int) -> list[list[list[int]]]:
    """Ways to divide the coordinates of a dimension."""
    every = list(range(n))
    ways = [[every], [[c] for c in every]]
    if n > 2:
        ways += [[every[: n // 2], every[n // 2 :]], [every[::2], every[1::2]], [[0, 1, n - 1], every[2 : n - 1]]]
    return [[part for part in parts if part] for parts in ways]


@dataclass
class _What:
    parity: bool
    alike: bool
    plain: bool
    sizes: Sequence[int]


def _nodes(choose: Choose[Any], ranks: int, divisions: list[Division], what: _What) -> list[list[Node]]:
    """Steps that all ranks take, in one order; which earlier node a step waits for is alike on all ranks, too."""
    nodes: list[list[Node]] = [[] for _ in range(ranks)]
    skewed = not what.alike and choose([False, True])
    kinds = [0, 0, 2, 6, 7] if what.parity or what.plain else [0, 0, 2, 6, 7, 8, 1, 3, 4, 5, 9]
    delays = DELAYS[1:] if what.plain else DELAYS
    for _ in range(choose([1, 2, 3, 4, 6])):
        size = len(nodes[0])
        parents = [[]] if size == 0 else [[size - 1], [size - 1], [choose(range(size))], []]
        waits_for = choose(parents)
        step = choose(["collective", "collective", "compute", *([] if what.alike else ["messages"])])
        if step == "compute":
            common = choose(delays)
            for mine in nodes:
                mine.append(Node("COMP_NODE", waits_for, {}, choose(delays) if skewed else common))
        elif step == "messages":
            shift, size, tag = choose(range(1, ranks)), choose(what.sizes), choose([0, 1])
            for rank, mine in enumerate(nodes):
                message = {"comm_size": size, "comm_tag": tag}
                mine.append(Node("COMM_SEND_NODE", waits_for, {"comm_dst": (rank + shift) % ranks, **message}))
                mine.append(Node("COMM_RECV_NODE", waits_for, {"comm_src": (rank - shift) % ranks, **message}))
        else:
            attrs = {"comm_type": choose(kinds), "comm_size": choose(what.sizes)}
            division = choose([{}, *divisions])
            group_of = {rank: {"pg_name": name} for name, members in division.items() for rank in members}
            for rank, mine in enumerate(nodes):
                mine.append(Node("COMM_COLL_NODE", waits_for, attrs | group_of.get(rank, {})))
    return nodes
