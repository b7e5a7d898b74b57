# SPDX-License-Identifier: MIT
"""A plain model of ASTRA-sim's analytical mode: one Python callback an event, every message by itself.

Slow and simple on purpose. It knows nothing of the simulator in C++: it is written from the description of ASTRA-sim's
behaviour alone, and the reference grid judges it as it judges the simulator.

`Setup(default=True)` is what `docs/simulation.md` says of the mode without parity: messages over all dimensions, more
building blocks, graphs, damage, groups on grids of the network, and numbering by group. It takes sizes that divide
evenly and nodes that last at least 1 ns.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import networkx

Then = Callable[[], None]
Place = tuple[int | str, ...]
"""A node of the network: the number of an NPU, or what a switch is called."""

WORLD_TAGS = 500_000_000
CONTROL_BYTES = 8192
KINDS = {0: "AR", 2: "AG", 6: "A2A", 7: "RS"}


@dataclass
class Work:
    """One node: times are in ns, parents are ids."""

    id: int
    kind: str
    parents: list[int]
    duration: int = 0
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass
class Setup:
    """What ASTRA-sim's files and options say, under its names."""

    topology: list[str]
    npus: list[int]
    bandwidth: list[float]
    latency: list[float]
    system: dict[str, Any]
    groups: dict[str, list[int]] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    queues: int = 1
    rendezvous: bool = False
    injection_scale: float = 1.0
    congestion: bool = False
    default: bool = False
    oversubscription: list[float] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    damage: list[dict[str, Any]] = field(default_factory=list)


class Clock:
    """All events in one list by tick and registration; the actions of one NPU for one tick run together."""

    def __init__(self) -> None:
        self.now = 0
        self._number = 0
        self._heap: list[tuple[int, int, Then]] = []
        self._batches: dict[tuple[int, int], list[Then]] = {}

    def event(self, delay: int, then: Then) -> None:
        self._number += 1
        heapq.heappush(self._heap, (self.now + delay, self._number, then))

    def action(self, npu: int, delay: int, then: Then) -> None:
        key = (npu, self.now + delay)
        if key in self._batches:
            self._batches[key].append(then)
            return
        self._batches[key] = [then]
        self.event(delay, lambda: self._run_batch(key))

    def _run_batch(self, key: tuple[int, int]) -> None:
        for then in self._batches[key]:  # grows while it runs
            then()
        del self._batches[key]

    def run(self) -> None:
        while self._heap:
            self.now, _, then = heapq.heappop(self._heap)
            then()


@dataclass
class Leg:
    """A link that a message goes over."""

    start: Place
    end: Place
    dimension: int
    latency: float
    per_ns: float
    alone: float
    """Bandwidth for a message that knows of no other."""


class Wires:
    """Messages: their way, and who meets whom."""

    def __init__(self, setup: Setup, clock: Clock) -> None:
        self.setup = setup
        self.clock = clock
        self.per_ns = [bandwidth * 2**30 / 1e9 for bandwidth in setup.bandwidth or [0]]
        self._landed: dict[tuple[int, ...], int] = defaultdict(int)
        self._posted: dict[tuple[int, ...], deque[Then]] = defaultdict(deque)
        self._links: dict[tuple[Place, Place], deque[Then]] = {}
        self._legs: dict[tuple[int, int], list[Leg]] = {}

    def coordinates(self, npu: int) -> list[int]:
        place = []
        for n in self.setup.npus:
            place.append(npu % n)
            npu //= n
        return place

    def delay(self, src: int, dst: int, size: int) -> int:
        """Of a message alone."""
        legs = self.legs(src, dst)
        assert legs, "a message to oneself"
        if not self.setup.default:  # ASTRA-sim looks at the first dimension in which the two differ only
            legs = [leg for leg in legs if leg.dimension == legs[0].dimension]
        return int(sum(leg.latency for leg in legs) + size / min(leg.alone for leg in legs))

    def send(self, src: int, dst: int, tag: int, size: int, sent: Then) -> None:
        if not self.setup.rendezvous:
            self._start(src, dst, tag, size, sent)
            return
        self._post(dst, src, tag + 10**9, CONTROL_BYTES, lambda: self._start(src, dst, tag, _narrow(size), sent))

    def receive(self, src: int, dst: int, tag: int, size: int, received: Then) -> None:
        if not self.setup.rendezvous:
            self._post(src, dst, tag, size, received)
            return
        self._start(dst, src, tag + 10**9, CONTROL_BYTES, lambda: self._post(src, dst, tag, _narrow(size), received))

    def _start(self, src: int, dst: int, tag: int, size: int, sent: Then) -> None:
        assert size > 0, "ASTRA-sim asserts that a message has bytes"

        def land() -> None:
            sent()
            waiting = self._posted[src, dst, tag, size]
            if waiting:
                waiting.popleft()()
            else:
                self._landed[src, dst, tag, size] += 1

        if self.setup.congestion:
            self._forward(self.legs(src, dst), size, land)
        else:
            self.clock.event(self.delay(src, dst, size), land)

    def _post(self, src: int, dst: int, tag: int, size: int, received: Then) -> None:
        key = (src, dst, tag, size)
        if self._landed[key]:
            self._landed[key] -= 1
            self.clock.event(0, received)
        else:
            self._posted[key].append(received)

    def legs(self, src: int, dst: int) -> list[Leg]:
        """The way of a message: dimension after dimension, or the shortest one of a graph."""
        if (src, dst) not in self._legs:
            legs = self._graph_legs(src, dst) if self.setup.links else self._grid_legs(src, dst)
            self._legs[src, dst] = [self._damaged(leg) for leg in legs]
        return self._legs[src, dst]

    def _grid_legs(self, src: int, dst: int) -> list[Leg]:
        here, there = self.coordinates(src), self.coordinates(dst)
        legs: list[Leg] = []
        place: Place = (src,)
        for d, n in enumerate(self.setup.npus):
            if here[d] == there[d]:
                continue
            kind, latency, per_ns = self.setup.topology[d], self.setup.latency[d], self.per_ns[d]
            if kind == "Switch":
                ratio = self.setup.oversubscription[d] if self.setup.oversubscription else 1
                switch = ("switch", d, *here[:d], *here[d + 1 :])
                legs.append(Leg(place, switch, d, latency, per_ns, per_ns))
                if ratio > 1:
                    legs.append(Leg(switch, (*switch, "out"), d, 0, n * per_ns / ratio, per_ns / ratio))
                place = legs[-1].end
            around = (there[d] - here[d]) % n
            step = around
            if kind == "Ring":
                step = 1 if around <= n - around else -1
            elif kind == "Mesh":
                step = 1 if there[d] > here[d] else -1
            while here[d] != there[d]:
                here[d] = (here[d] + step) % n
                npu = sum(c * math.prod(self.setup.npus[:e]) for e, c in enumerate(here))
                legs.append(Leg(place, (npu,), d, latency, per_ns, per_ns))
                place = (npu,)
        return legs

    def _graph_legs(self, src: int, dst: int) -> list[Leg]:
        """Of the ways of least latency those of fewest links; of these the smallest nodes, switches behind NPUs."""
        graph = networkx.DiGraph()
        for link in self.setup.links:
            ends = [(link["src"],), (link["dst"],)]
            for a, b in [ends] if link.get("one_way") else [ends, ends[::-1]]:
                graph.add_edge(a, b, latency=link["latency"], per_ns=link["bandwidth"] * 2**30 / 1e9)
        ways = networkx.all_shortest_paths(graph, (src,), (dst,), weight="latency")
        way = min(ways, key=lambda way: (len(way), [(isinstance(node[0], str), node[0]) for node in way]))
        return [
            Leg(a, b, 0, graph[a][b]["latency"], graph[a][b]["per_ns"], graph[a][b]["per_ns"])
            for a, b in itertools.pairwise(way)
        ]

    def _damaged(self, leg: Leg) -> Leg:
        for damage in self.setup.damage:
            fits = damage.get("dimension") in (None, leg.dimension)
            for key, place in {"src": leg.start, "dst": leg.end}.items():
                fits = fits and (damage.get(key) is None or place == (damage[key],))
            if fits:
                factor = damage.get("bandwidth", 1)
                latency = leg.latency * damage.get("latency", 1)
                leg = replace(leg, latency=latency, per_ns=leg.per_ns * factor, alone=leg.alone * factor)
        return leg

    def _forward(self, legs: list[Leg], size: int, land: Then) -> None:
        if not legs:
            land()
            return
        leg = legs[0]
        link = (leg.start, leg.end)

        def go() -> None:
            transfer = size / leg.per_ns
            self.clock.event(int(leg.latency + transfer), lambda: self._forward(legs[1:], size, land))
            self.clock.event(int(transfer), free)

        def free() -> None:
            if self._links[link]:
                self._links[link].popleft()()
            else:
                del self._links[link]

        if link in self._links:
            self._links[link].append(go)
        else:
            self._links[link] = deque()
            go()


def _narrow(size: int) -> int:
    size &= 0xFFFFFFFF
    return size - 2**32 if size >= 2**31 else size


@dataclass
class Part:
    """A chunk's phase on one NPU."""

    kind: str
    algorithm: str
    size: int
    members: list[int]
    dimension: int
    half: str
    subgroup: bool
    queue: int = 0
    backwards: bool = False
    second_tree: bool = False


@dataclass
class Chunk:
    """An NPU's side of a chunk."""

    npu: int
    group: str
    number: int
    tag: int
    parts: list[Part]
    ended: Then
    at: int = 0


class Queue:
    """Chunks that run and wait in a queue of an NPU's dimension."""

    def __init__(self) -> None:
        self.running = 0
        self.waiting: deque[Chunk] = deque()


class Collectives:
    """Chunks, phases and the exchange of messages."""

    def __init__(self, setup: Setup, clock: Clock, wires: Wires) -> None:
        self.setup, self.clock, self.wires = setup, clock, wires
        system = setup.system
        self.world = len(_all_npus(setup))
        self.ep = 10
        if system.get("endpoint-delay") is not None:
            self.ep = int(int(system["endpoint-delay"]) * setup.injection_scale)
        self.memory = float(system.get("local-mem-bw", 0)) * 1e9
        active = int(system.get("active-chunks-per-dimension", 1))
        self.slots = -(-active // setup.queues)
        self.queues: dict[tuple[int, str, int, int], Queue] = defaultdict(Queue)
        self.pointers: dict[tuple[int, int, str], int] = defaultdict(int)
        self.trees: dict[tuple[int, str, int], int] = defaultdict(int)
        self.created: dict[tuple[int, str], int] = defaultdict(int)

    def reduction(self, size: int) -> int:
        return 3 * int(size / self.memory * 1e9) if self.memory else 0

    def implementation(self, kind: str) -> list[str]:
        names = {"AR": "all-reduce", "AG": "all-gather", "RS": "reduce-scatter", "A2A": "all-to-all"}
        return list(self.setup.system[names[kind] + "-implementation"])

    # ---- from a node to chunks

    def issue(self, npu: int, kind: str, size: int, group: str | None, involved: list[bool] | None, done: Then) -> None:
        count, chunk = self._cut(kind, size, group)
        left = [count]

        def ended() -> None:
            left[0] -= 1
            if left[0] == 0:
                done()

        for _ in range(count):
            parts = self._parts(npu, kind, chunk, group, involved)
            if not parts:
                assert self.setup.default, "this never ends"
                self.clock.action(npu, 0, ended)
                continue
            number, tag = self._number(npu, group)
            for part in parts:
                self._choose(npu, kind, part, number)
            new = Chunk(npu, group or "", number, tag, parts, ended)
            first = self.queue(new)
            first.waiting.append(new)
            self._start_waiting(first)

    def _cut(self, kind: str, size: int, group: str | None) -> tuple[int, int]:
        """Number and size of the chunks."""
        splits = int(self.setup.system.get("preferred-dataset-splits", 1))
        if self.setup.default:
            members = self.world if group is None else len(self.setup.groups[group])
            count = min(splits, size if kind == "AG" else size // members)
            assert count > 0
            assert size % count == 0, "sizes divide evenly"
            return count, size // count
        chunk = size // splits
        if kind != "AG" and chunk < self.world:
            chunk = self.world
            size = splits * chunk
        assert chunk > 0, "this never ends"
        return -(-size // chunk), chunk

    def _number(self, npu: int, group: str | None) -> tuple[int, int]:
        """The chunk's number, and the tag of its messages."""
        if self.setup.default:
            number = self.created[npu, group or ""]
            self.created[npu, group or ""] += 1
            of_group = 0 if group is None else 1 + list(self.setup.groups).index(group)
            return number, (of_group + 1) * 10**15 + number * 1000
        number = self.created[npu, ""]
        self.created[npu, ""] += 1
        if group is not None:
            number = int(group) * 1_000_000 + self.created[npu, group]
            self.created[npu, group] += 1
        return number, number % WORLD_TAGS + WORLD_TAGS

    def _parts(self, npu: int, kind: str, size: int, group: str | None, involved: list[bool] | None) -> list[Part]:
        names = self.implementation(kind)
        aware = kind == "AR" and self.setup.system.get("collective-optimization") == "localBWAware"
        axes = [list(range(n)) for n in self.setup.npus]
        subgroup = group is not None and len(self.setup.groups[group]) < self.world
        if subgroup and group is not None:
            grid = self._axes(self.setup.groups[group]) if self.setup.default else None
            if grid is None:
                members = self.setup.groups[group]
                if self.setup.default:
                    members = sorted(members)
                algorithm = names[0] if len(names) == 1 else "ring"
                half = "first" if aware else "all"
                return [Part(kind, self._fitting(algorithm, kind, members), size, members, 0, half, subgroup=True)]
            axes = grid
        dims = []
        every = [True] * 10 if self.setup.default or group is not None else [True] * 4
        allowed = every if group is not None or involved is None else involved
        for d, name in enumerate(names):
            n = self.world if name.startswith("one") else len(axes[d])
            if n > 1 and d < len(allowed) and allowed[d]:
                dims.append(d)
            if name.startswith("one"):
                break
        steps: list[tuple[str, int, str]]
        if aware:
            steps = [("RS", d, "first") for d in dims[:-1]] + [("AR", d, "first") for d in dims[-1:]]
            steps += [("AG", d, "second") for d in reversed(dims[:-1])]
        else:
            steps = [(kind, d, "all") for d in (reversed(dims) if kind == "AG" else dims)]
        assert steps or self.setup.default, "this never ends"
        parts = []
        for what, d, half in steps:
            members = self._line(npu, d, names[d], axes[d])
            algorithm = self._fitting(names[d], what, members)
            parts.append(Part(what, algorithm, size, members, d, half, subgroup=subgroup))
            if names[d] != "doubleBinaryTree":
                n = len(parts[-1].members)
                size = {"RS": size // n, "AG": size * n}.get(what, size)
        return parts

    def _axes(self, ranks: list[int]) -> list[list[int]] | None:
        """Coordinates along each dimension, if the ranks are all combinations of them."""
        places = {tuple(self.wires.coordinates(rank)) for rank in ranks}
        axes = [sorted(set(axis)) for axis in zip(*places, strict=True)]
        return axes if places == set(itertools.product(*axes)) else None

    def _fitting(self, algorithm: str, kind: str, members: list[int]) -> str:
        """By default halving and doubling gives way to the ring where the members are not 2^k."""
        n = len(members)
        unfit = self.setup.default and "alvingDoubling" in algorithm and kind != "A2A" and n & (n - 1)
        return "ring" if unfit else algorithm

    def _line(self, npu: int, dimension: int, algorithm: str, axis: list[int]) -> list[int]:
        if algorithm.startswith("one"):
            return list(range(self.world))
        stride = math.prod(self.setup.npus[:dimension])
        first = npu - npu // stride % self.setup.npus[dimension] * stride
        return [first + coordinate * stride for coordinate in axis]

    def _choose(self, npu: int, kind: str, part: Part, number: int) -> None:
        many = self.setup.queues
        low, high = {"all": (0, many), "first": (0, max(1, many // 2)), "second": (many // 2, many)}[part.half]
        pointer = (npu, part.dimension, part.half)
        turn = number % (high - low) if self.setup.default else self.pointers[pointer]
        part.queue = low + turn
        self.pointers[pointer] = (turn + 1) % (high - low)
        part.backwards = part.half == "second" or (part.half == "all" and many > 1 and part.queue >= many // 2)
        if part.algorithm == "doubleBinaryTree":
            turn = number if self.setup.default else self.trees[npu, kind, part.dimension]
            part.second_tree = turn % 2 == 1
            self.trees[npu, kind, part.dimension] += 1

    # ---- queues

    def queue(self, chunk: Chunk) -> Queue:
        part = chunk.parts[chunk.at]
        shared = "" if not self.setup.default else chunk.group
        return self.queues[chunk.npu, shared, part.dimension, part.queue]

    def _start_waiting(self, queue: Queue) -> None:
        while queue.waiting and queue.running < self.slots:
            queue.running += 1
            self._begin(queue.waiting.popleft())

    def _end_part(self, chunk: Chunk) -> None:
        old = self.queue(chunk)
        last = chunk.at == len(chunk.parts) - 1
        if last:
            chunk.ended()
        else:
            chunk.at += 1
            self.queue(chunk).waiting.append(chunk)
        old.running -= 1
        self._start_waiting(old)
        if not last:
            self._start_waiting(self.queue(chunk))

    # ---- one phase

    def _begin(self, chunk: Chunk) -> None:
        part = chunk.parts[chunk.at]
        if part.algorithm == "doubleBinaryTree":
            Tree(self, chunk, part)
        else:
            Exchange(self, chunk, part)

    def tag(self, chunk: Chunk) -> int:
        """Of the messages of the phase in hand."""
        part = chunk.parts[chunk.at]
        return chunk.tag + (2 * part.dimension + (part.half == "second") if self.setup.default else 0)

    def end(self, chunk: Chunk) -> None:
        self._end_part(chunk)


class Exchange:
    """Ring, direct, halving-doubling: a list of messages behind a window."""

    def __init__(self, all_: Collectives, chunk: Chunk, part: Part) -> None:
        self.all, self.chunk, self.kind = all_, chunk, part.kind
        parity_subgroup = part.subgroup and not all_.setup.default
        self.ep = 10 if parity_subgroup else all_.ep
        self.n = n = len(part.members)
        self.members = part.members
        self.me = part.members.index(chunk.npu)
        self.direction = -1 if part.backwards else 1
        name = part.algorithm.lower().removeprefix("one")
        self.window = 1
        self.ranks: list[tuple[int, int, int]] = []  # to, from, bytes
        self.turn = None
        block = part.size if part.kind == "AG" else part.size // n
        if name == "halvingdoubling":
            self.plain = n.bit_length() - 2
            self._halving(part)
        elif name == "ring":
            self.plain = n - 1
            count = {"AR": 2 * (n - 1), "A2A": n * (n - 1) // 2}.get(part.kind, n - 1)
            self.ranks = [(self._at(1), self._at(-1), block)] * count
        else:
            digits = name.removeprefix("direct")
            self.window = min(int(digits), n - 1) if digits else n - 1
            self.plain = self.window * (n - 1) if parity_subgroup else self.window
            count = 2 * (n - 1) if part.kind == "AR" else n - 1
            jumps = [1 + k % (n - 1) for k in range(count)]
            self.ranks = [(self._at(j), self._at(-j), block) for j in jumps]
            self.turn = n - 1 if part.kind == "AR" else None
        self.opened = self.tokens = self.sent = self.received = 0
        for _ in range(self.window):
            self._open()

    def _at(self, shift: int) -> int:
        return self.members[(self.me + self.direction * shift) % self.n]

    def _halving(self, part: Part) -> None:
        levels = self.n.bit_length() - 1
        jumps: list[tuple[int, int]] = []
        size = part.size
        if part.kind != "AG":
            for level in range(levels):
                size //= 2
                jumps.append((2**level, size))
            if not self.all.setup.default:
                size = size // 2 * 2
        if part.kind != "RS":
            for level in reversed(range(levels)):
                jumps.append((2**level, size))
                size *= 2
        for distance, size in jumps:
            partner = self.members[self.me + distance if self.me // distance % 2 == 0 else self.me - distance]
            self.ranks.append((partner, partner, size))

    def _open(self) -> None:
        slot = self.opened
        self.opened += 1
        period = self.window + self.plain
        reduced = slot % period >= self.window and (
            self.kind == "RS" or (self.kind == "AR" and slot // period % 2 == 0)
        )
        clock, npu = self.all.clock, self.chunk.npu
        if not reduced:
            clock.action(npu, self.ep, self._token)
            return
        size = self.ranks[min(slot, len(self.ranks) - 1)][2]
        reduction = self.all.reduction(size)
        clock.action(npu, self.ep, lambda: clock.action(npu, reduction, self._token))

    def _token(self) -> None:
        self.tokens += 1
        if self.turn is None or self.sent < self.turn or self.received >= self.turn:
            free = min(self.tokens - self.sent, self.window)
            for _ in range(min(free, len(self.ranks) - self.sent)):
                self._next()
        if self.tokens == len(self.ranks) + self.window:
            self.all.end(self.chunk)

    def _next(self) -> None:
        to, source, size = self.ranks[self.sent]
        self.sent += 1
        npu, tag = self.chunk.npu, self.all.tag(self.chunk)
        self.all.wires.send(npu, to, tag, size, lambda: None)
        self.all.wires.receive(source, npu, tag, size, self._receive)

    def _receive(self) -> None:
        self.received += 1
        self._open()


class Tree:
    """Double binary tree: up and down one of two trees."""

    def __init__(self, all_: Collectives, chunk: Chunk, part: Part) -> None:
        self.all, self.chunk, self.part = all_, chunk, part
        n = len(part.members)
        me = part.members.index(chunk.npu)
        self.parent: int | None = None
        self.children: list[int] = []
        root, low = (0, 1) if part.second_tree else (n - 1, 0)
        if me == root:
            self.children = [low + (n - 1) // 2]
        else:
            self._descend(me, low, low + n - 1, root)
        if not self.children:
            self._after_ep(self._leaf_sends)
            return
        self.missing = len(self.children)
        for child in self.children:
            self._receive(child, lambda: self._after_ep(lambda: self._reduce(self._child_done)))

    def _descend(self, me: int, low: int, high: int, above: int) -> None:
        """In the complete binary tree with in-order numbering over [low, high)."""
        middle = low + (high - low) // 2
        if me < middle:
            self._descend(me, low, middle, middle)
        elif me > middle:
            self._descend(me, middle + 1, high, middle)
        else:
            self.parent = above
            if low < middle:
                self.children.append(low + (middle - low) // 2)
            if middle + 1 < high:
                self.children.append(middle + 1 + (high - middle - 1) // 2)

    def _after_ep(self, then: Then) -> None:
        self.all.clock.action(self.chunk.npu, self.all.ep, then)

    def _reduce(self, then: Then) -> None:
        self.all.clock.action(self.chunk.npu, self.all.reduction(self.part.size), then)

    def _send(self, position: int) -> None:
        to = self.part.members[position]
        self.all.wires.send(self.chunk.npu, to, self.all.tag(self.chunk), self.part.size, lambda: None)

    def _receive(self, position: int, then: Then) -> None:
        source = self.part.members[position]
        self.all.wires.receive(source, self.chunk.npu, self.all.tag(self.chunk), self.part.size, then)

    def _leaf_sends(self) -> None:
        assert self.parent is not None
        self._send(self.parent)
        self._receive(self.parent, lambda: self._after_ep(lambda: self.all.end(self.chunk)))

    def _child_done(self) -> None:
        self.missing -= 1
        if self.missing:
            return
        if self.parent is None:
            self._down()
            return
        self._send(self.parent)
        self._receive(self.parent, lambda: self._after_ep(lambda: self._reduce(self._down)))

    def _down(self) -> None:
        for child in self.children:
            self._send(child)
        self.all.end(self.chunk)


class Servers:
    """Remote memory: each NPU by itself, or servers that take one request after the other."""

    def __init__(self, setup: Setup, clock: Clock) -> None:
        self.config, self.clock = setup.memory, clock
        self.waiting: dict[int, deque[tuple[int, int, Then]]] = {}

    def access(self, npu: int, size: int, done: Then) -> None:
        time = int(self.config.get("remote-mem-latency", 0))
        bandwidth = int(self.config.get("remote-mem-bw", 0))
        time += int(size / bandwidth) if bandwidth else 0
        kind = self.config["memory-type"]
        if kind == "PER_NPU_MEMORY_EXPANSION":
            self.clock.action(npu, time, done)
            return
        server = 0 if kind == "MEMORY_POOL" else npu // int(self.config["num-npus-per-node"])
        if server in self.waiting:
            self.waiting[server].append((npu, time, done))
        else:
            self.waiting[server] = deque()
            self._serve(server, npu, time, done)

    def _serve(self, server: int, npu: int, time: int, done: Then) -> None:
        def end() -> None:
            done()
            if self.waiting[server]:
                self._serve(server, *self.waiting[server].popleft())
            else:
                del self.waiting[server]

        self.clock.action(npu, time, end)


class Npu:
    """Runs the nodes of one NPU."""

    def __init__(self, run: Oracle, number: int, nodes: list[Work]) -> None:
        self.run, self.number = run, number
        self.nodes = {node.id: node for node in nodes}
        self.missing = {node.id: len(set(node.parents)) for node in nodes}
        self.children: dict[int, list[int]] = defaultdict(list)
        for node in nodes:
            for parent in set(node.parents):
                self.children[parent].append(node.id)
        self.ready = {id_ for id_, missing in self.missing.items() if missing == 0}
        self.busy: dict[str, int | None] = {"cpu": None, "comp": None, "comm": None}
        self.in_flight = 0
        self.finish = 0
        self.charged = 0
        self.times: dict[int, tuple[int, int]] = {}

    def slot(self, node: Work) -> str | None:
        if node.attrs.get("is_cpu_op"):
            return "cpu"
        if node.kind == "COMP_NODE":
            return "comp"
        return None if node.kind == "COMM_RECV_NODE" else "comm"

    def walk(self) -> None:
        for id_ in sorted(self.ready):
            node = self.nodes[id_]
            slot = self.slot(node)
            if slot is not None and self.busy[slot] is not None:
                continue
            self.ready.remove(id_)
            self._issue(node, slot)
        self._check_finished()

    def _check_finished(self) -> None:
        if not self.ready and self.in_flight == 0:
            self.finish = self.run.clock.now

    def _release_children(self, node: Work) -> None:
        for child in self.children[node.id]:
            self.missing[child] -= 1
            if self.missing[child] == 0:
                self.ready.add(child)

    def _issue(self, node: Work, slot: str | None) -> None:
        begin = self.run.clock.now
        at_once = node.kind == "INVALID_NODE"
        roofline = self.run.setup.system.get("roofline-enabled") and node.kind == "COMP_NODE" and slot != "cpu"
        if roofline and node.attrs.get("tensor_size", 0) == 0:
            at_once = True
        replay = bool(self.run.setup.system.get("replay-only"))
        if at_once and not replay:
            self.times[node.id] = (begin, begin)
            self._release_children(node)
            return
        self.in_flight += 1
        if slot is not None:
            self.busy[slot] = node.id

        def done() -> None:
            self.in_flight -= 1
            if slot is not None:
                self.busy[slot] = None
            self.times[node.id] = (begin, self.run.clock.now)
            self._release_children(node)
            self.walk()

        duration = max(node.duration, 1)
        if node.kind == "COMP_NODE" and roofline and not replay:
            duration = self._roofline(node)
        if replay or node.kind == "COMP_NODE":
            if slot != "cpu":
                self.charged += duration
            self.run.clock.action(self.number, duration, done)
        else:
            self._communicate(node, done)

    def _roofline(self, node: Work) -> int:
        system = self.run.setup.system
        operations, size = node.attrs["num_ops"], node.attrs["tensor_size"]
        memory, peak = float(system["local-mem-bw"]) * 1e9, float(system["peak-perf"]) * 1e12
        return int(operations / min(memory * (operations / size), peak) * 1e9)

    def _communicate(self, node: Work, done: Then) -> None:
        attrs, run = node.attrs, self.run
        if node.kind == "COMM_SEND_NODE":
            run.wires.send(self.number, attrs["comm_dst"], attrs["comm_tag"] % WORLD_TAGS, attrs["comm_size"], done)
        elif node.kind == "COMM_RECV_NODE":
            run.wires.receive(attrs["comm_src"], self.number, attrs["comm_tag"] % WORLD_TAGS, attrs["comm_size"], done)
        elif node.kind.startswith("MEM_"):
            run.servers.access(self.number, attrs["tensor_size"], done)
        elif attrs["comm_type"] == 5:
            run.clock.action(self.number, max(node.duration, 1), done)
        else:
            group = attrs.get("pg_name")
            group = None if group in (None, "", "0") else group
            kind = KINDS[attrs["comm_type"]]
            run.collectives.issue(self.number, kind, attrs["comm_size"], group, attrs.get("involved_dim"), done)


class Oracle:
    """One run to its end. `nodes` has one list an NPU; `wires` may be a kind that counts."""

    def __init__(self, setup: Setup, nodes: list[list[Work]], wires: type[Wires] = Wires) -> None:
        self.setup = setup
        self.clock = Clock()
        self.wires = wires(setup, self.clock)
        self.collectives = Collectives(setup, self.clock, self.wires)
        self.servers = Servers(setup, self.clock)
        self.npus = [Npu(self, number, mine) for number, mine in enumerate(nodes)]
        for npu in self.npus:
            npu.walk()
        self.clock.run()

    @property
    def is_stuck(self) -> bool:
        """Nodes are left that can never end."""
        return any(npu.in_flight or npu.ready for npu in self.npus)

    @property
    def finish_ns(self) -> list[int]:
        """When each NPU finished."""
        return [npu.finish for npu in self.npus]

    @property
    def exposed_comm_ns(self) -> list[int]:
        """ASTRA-sim's exposed communication, modulo 2^64."""
        return [(npu.finish - npu.charged) % 2**64 for npu in self.npus]

    @property
    def node_times(self) -> list[tuple[int, int]]:
        """Start and end of every node, by NPU and id."""
        return [npu.times[id_] for npu in self.npus for id_ in sorted(npu.times)]


def _all_npus(setup: Setup) -> range:
    return range(math.prod(setup.npus))
