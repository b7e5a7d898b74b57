"""The main path on a real trace: link, convert, check, feed, simulate, look at it.

Two ranks of a small model trained with DistributedDataParallel over gloo were recorded by `examples/collect`. This
script turns the records into execution traces and runs them on a simulated network. Run it with `make demo`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

import chakra_core as cc
from chakra_core.result import format_time

SAMPLE = Path(__file__).resolve().parent / "sample"


def link_and_convert(console: Console, sample: Path, rank: int, out: Path) -> Path:
    """Join one rank's host and device traces and write the execution trace that they make."""
    linked = cc.link(sample / f"rank{rank}.host.json.gz", sample / f"rank{rank}.kineto.json.gz", rank=rank)
    console.print(f"[bold]rank {rank}: coverage of the link[/]")
    console.print(str(linked.report), highlight=False, markup=False)
    path = out / f"rank.{rank}.et"
    cc.save(cc.convert(linked), path)
    return path


def drain(trace: cc.Trace) -> int:
    """Feed the whole trace, completing every node at once, and count the nodes."""
    feeder = cc.Feeder(trace)
    count = 0
    while (node := feeder.pop()) is not None:
        feeder.complete(node)
        count += 1
    return count


def check(console: Console, path: Path) -> cc.Trace:
    """Load, validate, feed and replay one execution trace."""
    trace = cc.load(path)
    report = trace.validate()
    for problem in report.problems:
        console.print(f"  {problem.severity}: {problem.message}", markup=False)
    if not report.ok:
        raise SystemExit(f"{path} is not fit for simulation")
    replayed = cc.replay(trace)
    console.print(
        f"{path.name}: {len(trace)} nodes, {len(report)} problems, {drain(trace)} fed in dependency order;\n"
        f"  recorded {format_time(replayed.recorded_ns)}, replayed by its own durations"
        f" {format_time(replayed.replayed_ns)}",
        highlight=False,
    )
    return trace


def show(console: Console, replayed: cc.Result, result: cc.Result) -> None:
    """Print a table of the ranks: as recorded, and what the simulated network makes of it."""
    table = Table("rank", "as recorded", "finish", "compute (cpu)", "communication", "exposed communication")
    for rank in range(result.num_ranks):
        times = (replayed.finish_ns, result.finish_ns, result.cpu_ns, result.comm_ns, result.exposed_comm_ns)
        table.add_row(str(rank), *(format_time(int(column[rank])) for column in times))
    console.print(table)


def main() -> None:
    """Run the demo and say where the files are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=Path, default=SAMPLE, help="folder with rank0.host.json.gz and so on")
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder to write to")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    console = Console(width=110)

    paths = [link_and_convert(console, arguments.sample, rank, arguments.out) for rank in (0, 1)]
    console.print("[bold]execution traces[/]")
    traces = [check(console, path) for path in paths]

    network = cc.Network(topology=["Ring"], npus=[2], bandwidth=["25 Gbit/s"], latency=["5 us"])
    replayed = cc.simulate(traces, network=network, communication="recorded")
    result = cc.simulate(traces, network=network)
    console.print("[bold]simulated on a ring of 2 at 25 Gbit/s and 5 us[/]")
    show(console, replayed, result)
    timeline = arguments.out / "timeline.pftrace"
    result.to_perfetto(timeline)
    console.print(f"Open {timeline} at https://ui.perfetto.dev", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
