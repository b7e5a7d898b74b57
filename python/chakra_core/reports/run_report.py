# SPDX-License-Identifier: MIT
"""The report of a run: what a page shows of a result."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from chakra_core._core import ChakraError, LinkedTrace, LinkReport, ReplayReport, Trace
from chakra_core.rank_traces import RankTraces, load_ranks
from chakra_core.reports.bandwidth import bandwidth_points
from chakra_core.reports.categories import COMMUNICATION, colour
from chakra_core.reports.page import HtmlTable, Page, Section, Tile
from chakra_core.reports.quantities import TimeScale
from chakra_core.reports.run_figures import (
    bandwidth_figure,
    dimensions_figure,
    exposed_figure,
    links_figure,
    network_use_figure,
    time_spent_figure,
    timeline_figure,
)
from chakra_core.reports.time_spent import TimeSpent, time_spent
from chakra_core.reports.timeline_levels import MOST_SLICES, Timeline, timeline_of
from chakra_core.result import Result, format_bytes, format_time
from chakra_core.simulation import simulate

Links: TypeAlias = (
    LinkedTrace | LinkReport | Sequence[LinkedTrace | LinkReport] | Mapping[int, LinkedTrace | LinkReport]
)
Replays: TypeAlias = ReplayReport | Sequence[ReplayReport] | Mapping[int, ReplayReport]

# More ranks than this are listed in no table.
_LISTED_RANKS = 16
_LISTED_VALUES = 16
_SHARES = (
    ("host ops matched", "host ops"),
    ("device work linked to its launch", "device work"),
)


def report(
    run: Result | RankTraces,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    link: Links | None = None,
    replay: Replays | None = None,
    ranks: Sequence[int] | None = None,
    most_slices: int = MOST_SLICES,
) -> None:
    """Write what came out of a run as one HTML file, which opens in a browser without a network.

    It shows a timeline of some ranks, where the time of each rank went, exposed communication by group and kind,
    bandwidth against size, how much of the network was used, the configuration and the warnings; and, if they are
    given, how much of the PyTorch records was linked and how well the traces replay. docs/reports.md explains it.

    Args:
        run: a result; or recorded traces, as in `simulate`, which are played with their recorded times.
        path: the file to write.
        title: above it all; by default what is known of the run.
        link: what `link` returned, or its `report`; one, or several by rank.
        replay: what `replay` returned; one, or several by rank.
        ranks: whose timeline is drawn; by default at most 16 from the first to the last to finish.
        most_slices: bounds the detail of the timeline, and with it the size of the file.

    Raises:
        ImportError: plotly is not installed (`pip install chakra-core[report]`).
        IndexError: there is no such rank.
        ConfigError, FormatError, DependencyError, SimulationError: traces cannot be read or played.
        OSError: the file cannot be written; nothing is left behind.
    """
    result = run if isinstance(run, Result) else as_recorded(run)
    run_page(result, title=title, link=link, replay=replay, ranks=ranks, most_slices=most_slices).write(path)


def as_recorded(traces: RankTraces) -> Result:
    """Play traces with their recorded times: each rank by itself, no network.

    Raises:
        ChakraError: no node has a recorded time.
    """
    loaded = load_ranks(traces)
    if not any(int(trace.duration_ns.max(initial=0)) for trace in loaded):
        raise ChakraError(f"{loaded[0].source or 'trace'}: no node has a recorded time; simulate it to get a report")
    # Nothing is sent: any network of as many ranks does.
    network = {"topology": ["FullyConnected"], "npus": [len(loaded)], "bandwidth": [1.0], "latency": [0.0]}
    return simulate(loaded, network=network, communication="recorded")


def run_page(
    result: Result,
    *,
    title: str | None = None,
    link: Links | None = None,
    replay: Replays | None = None,
    ranks: Sequence[int] | None = None,
    most_slices: int = MOST_SLICES,
) -> Page:
    """Lay out the report of a result; see `report`."""
    spent = time_spent(result)
    recorded = result.configuration["options"].get("communication") == "recorded"
    sections = [
        *_timeline_sections(timeline_of(result, ranks, most=most_slices), result),
        *_time_sections(spent, result),
        *([] if recorded else _network_sections(result)),
        *([] if link is None else [_link_section(_by_rank(link))]),
        *([] if replay is None else [_replay_section(_by_rank(replay))]),
        _configuration_section(result, recorded=recorded),
    ]
    return Page(
        title or _title(result, recorded=recorded),
        _subtitle(result),
        _tiles(result, spent, recorded=recorded),
        result.warnings,
        sections,
    )


def _title(result: Result, *, recorded: bool) -> str:
    what = "Recorded run" if recorded else "Simulated run"
    return f"{what} of {_ranks_text(result.num_ranks)}"


def _ranks_text(ranks: int) -> str:
    return "1 rank" if ranks == 1 else f"{ranks:,} ranks"


def _subtitle(result: Result) -> str:
    sources = list(dict.fromkeys(_source(trace) for trace in result.traces))
    shown = [source for source in sources if source][:2]
    more = f" and {len(sources) - len(shown):,} more" if shown and len(sources) > len(shown) else ""
    return "; ".join([*([", ".join(shown) + more] if shown else []), *result.how_simulated()])


def _source(trace: Trace) -> str:
    return os.path.basename(str(trace.source or ""))  # noqa: PTH119  (a source may be an address, or a label)


def _tiles(result: Result, spent: TimeSpent, *, recorded: bool) -> list[Tile]:
    finish = result.finish_ns
    spread = int(finish.max()) - int(finish.min())
    distinct = len({id(trace) for trace in result.traces})
    apart = f"the first {format_time(spread)} earlier" if spread else "all ranks together"
    tiles = [
        Tile("Finished after", format_time(result.total_ns), apart if result.num_ranks > 1 else ""),
        Tile("Ranks", f"{result.num_ranks:,}", "of one trace" if distinct == 1 else f"{distinct:,} distinct traces"),
    ]
    shares = spent.shares()
    exposed = {name: share for name, share in shares.items() if name in COMMUNICATION}
    most = max(exposed, key=lambda name: exposed[name], default="")
    parts = [
        ("Computing", shares.get("compute"), "of all ranks' time", "compute"),
        ("Exposed comm", sum(exposed.values()) if exposed else None, f"most of it {most}", most),
        ("Memory alone", shares.get("memory"), "of all ranks' time", "memory"),
        ("Host alone", shares.get("host"), "of all ranks' time", "host"),
        ("Idle", shares.get("idle", 0.0), "of all ranks' time", "idle"),
    ]
    tiles += [
        Tile(label, f"{share:.1%}", remark, colour(name)) for label, share, remark, name in parts if share is not None
    ]
    if not recorded:
        moved = int(result.dimensions()["bytes"].sum())
        tiles.append(Tile("Moved", format_bytes(moved), "over all dimensions"))
    return tiles


def _timeline_sections(timeline: Timeline, result: Result) -> list[Section]:
    if not timeline.lanes:
        return []
    notes = ["Drag to zoom, scroll to zoom at the pointer, double-click for all."]
    if result.folded_ranks:
        notes.append(f"All {result.num_ranks:,} ranks are alike; rank 0 is shown.")
    elif len(timeline.ranks) < result.num_ranks:
        listed = ", ".join(map(str, timeline.ranks))
        notes.append(f"{len(timeline.ranks)} of {result.num_ranks:,} ranks, by when they finished: {listed}.")
    if not timeline.is_complete:
        resolution = format_time(timeline.levels[-1][0])
        notes.append(f"What is shorter than {resolution} is joined; to_perfetto() writes every node.")
    scale = TimeScale.for_times_up_to(result.total_ns)
    return [Section("Timeline", " ".join(notes), {"timeline": timeline_figure(timeline, scale)})]


def _time_sections(spent: TimeSpent, result: Result) -> list[Section]:
    scale = TimeScale.for_times_up_to(result.total_ns)
    note = (
        "Each moment counts once: for computation if there was any, else for communication, memory, the host. "
        "What is left before a rank finished is idle."
    )
    sections = [Section("Where the time went", note, {"time-spent": time_spent_figure(spent, scale)})]
    if spent.exposed:
        longest = max(int(times.max()) for times in spent.exposed.values())
        figure = exposed_figure(spent, result.group_ranks(), TimeScale.for_times_up_to(longest))
        note = "Communication while the rank computed nothing. Where several were under way, the first counts."
        sections.append(Section("Exposed communication by group and collective", note, {"exposed": figure}))
    return sections


def _network_sections(result: Result) -> list[Section]:
    sections = []
    points = bandwidth_points(result.collectives())
    if points.series():
        note = "Median of all collectives of a size, with the least and the most. 1 GB/s is 10^9 bytes a second."
        figures = {"bandwidth": bandwidth_figure(points)}
        sections.append(Section("Bandwidth of collectives against size", note, figures))
    dimensions = result.dimensions()
    if int(dimensions["bytes"].sum()):
        figures = {"dimensions": dimensions_figure(dimensions)}
        note = "Averages over the whole run"
        use = result.dimension_use()
        if len(use["time_ns"]):
            scale = TimeScale.for_times_up_to(result.total_ns)
            figures["network-use"] = network_use_figure(use, dimensions, result.total_ns, scale)
            note += "; below over time, as means of 800 equal parts"
        sections.append(Section("Use of the network's dimensions", f"{note}.", figures))
    links = result.links()
    if len(links["bytes"]):
        sections.append(Section("Busiest links", "", {"links": links_figure(links)}))
    return sections


def _by_rank(given: Any) -> dict[int, Any]:
    """Several by rank, or one as that of rank 0."""
    if isinstance(given, Mapping):
        return dict(sorted(given.items()))
    return dict(enumerate(given)) if isinstance(given, Sequence) else {0: given}


def _link_section(links: dict[int, LinkedTrace | LinkReport]) -> Section:
    reports = {rank: link.report if isinstance(link, LinkedTrace) else link for rank, link in links.items()}
    counts = {rank: one.counts for rank, one in list(reports.items())[:_LISTED_RANKS]}
    columns = ["", *(f"rank {rank}" for rank in counts)]
    shares = [
        [f"{part} of {whole}", *(_share(of_rank["coverage"], part, whole) for of_rank in counts.values())]
        for part, whole in _SHARES
    ]
    tables = [HtmlTable(columns, shares, "matched")]
    for section in dict.fromkeys(name for of_rank in counts.values() for name in of_rank):
        names = dict.fromkeys(name for of_rank in counts.values() for name in of_rank.get(section, {}))
        values = {name: [of_rank.get(section, {}).get(name, 0) for of_rank in counts.values()] for name in names}
        rows = [[name, *(f"{value:,}" for value in row)] for name, row in values.items() if any(row)]
        if rows:
            tables.append(HtmlTable(columns, rows, section))
    advice = list(dict.fromkeys(line for one in reports.values() for line in one.advice))
    return Section("Coverage of the link", " ".join([_only_first(reports), *advice]).strip(), tables=tables)


def _share(coverage: Mapping[str, int], part: str, whole: str) -> str:
    return f"{coverage[part] / coverage[whole]:.2%}" if coverage.get(whole) else "none there"


def _only_first(reports: Mapping[int, object]) -> str:
    return f"The first {_LISTED_RANKS} of {len(reports):,} ranks." if len(reports) > _LISTED_RANKS else ""


def _replay_section(replays: dict[int, ReplayReport]) -> Section:
    columns = ["rank", "nodes", "recorded", "replayed", "error", "start error: median", "95 %", "largest"]
    columns += ["inversions on streams", "unexplained device waits"]
    rows = [
        [
            str(rank),
            f"{one.nodes:,}",
            format_time(one.recorded_ns),
            format_time(one.replayed_ns),
            f"{one.total_error:+.4%}",
            *(format_time(int(one.start_error_ns[name])) for name in ("median", "p95", "max")),
            f"{one.inversions:,}",
            format_time(one.unexplained_device_wait_ns),
        ]
        for rank, one in list(replays.items())[:_LISTED_RANKS]
    ]
    note = "The traces played by nothing but their durations and dependencies, against the recorded times. "
    return Section("Replay check", note + _only_first(replays), tables=[HtmlTable(columns, rows)])


def _configuration_section(result: Result, *, recorded: bool) -> Section:
    tables = [
        HtmlTable(
            ("", ""),
            [[key, _value_text(value)] for key, value in values.items() if value != []],
            section,
            numeric_from=2,
        )
        for section, values in result.configuration.items()
        if values and not (recorded and section != "options")
    ]
    return Section("Configuration", "Keys and units are those of the configuration files.", tables=tables)


def _value_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        more = f", ... ({len(value):,} in all)" if len(value) > _LISTED_VALUES else ""
        return ", ".join(map(_value_text, value[:_LISTED_VALUES])) + more
    if isinstance(value, dict):
        return " ".join(f"{key}={_value_text(part)}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)
