# SPDX-License-Identifier: MIT
"""A page with figures and tables in one HTML file that needs no network."""

from __future__ import annotations

import base64
import gzip
import importlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any

from chakra_core._core import __version__
from chakra_core.output import complete_file
from chakra_core.reports.run_figures import Figure


@dataclass(frozen=True)
class Tile:
    """A key number on top of a page."""

    label: str
    value: str
    remark: str = ""
    colour: str | None = None


@dataclass(frozen=True)
class HtmlTable:
    """Rows of text; columns from `numeric_from` on are set to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    numeric_from: int = 1


@dataclass
class Section:
    """A part of a page: a heading, what it shows, figures by id, tables."""

    title: str
    note: str = ""
    figures: dict[str, Figure] = field(default_factory=dict)
    tables: Sequence[HtmlTable] = ()


@dataclass
class Page:
    """Everything on a page, from top to bottom."""

    title: str
    subtitle: str
    tiles: Sequence[Tile]
    warnings: Sequence[str]
    sections: Sequence[Section]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, plotly's library inside. Equal pages give equal bytes.

        Raises:
            ImportError: plotly is not installed.
            OSError: the file cannot be written; nothing is left behind.
        """
        text = self.html()
        with complete_file(path) as file:
            file.write(text)

    def html(self) -> str:
        """Return the page as text; see `write`."""
        library = plotly_library()
        figures = {name: figure for section in self.sections for name, figure in section.figures.items()}
        content = json.dumps(figures, separators=(",", ":"), allow_nan=False)
        return "\n".join(
            [
                '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f'<title>{escape(self.title)}</title>\n<link rel="icon" href="data:,">',
                f"<style>\n{_own_file('page.css')}</style>\n</head>\n<body>\n<main>",
                self._head(),
                *map(_section_html, self.sections),
                f"<footer>chakra_core {escape(__version__)}</footer>\n</main>",
                f'<script type="text/plain" id="plotly">{_packed(library)}</script>',
                f'<script type="text/plain" id="figures">{_packed(content)}</script>',
                f"<script>\n{_own_file('page.js')}</script>\n</body>\n</html>\n",
            ]
        )

    def _head(self) -> str:
        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        shown = f'<section class="warnings"><h2>Warnings</h2><ul>{warnings}</ul></section>' if warnings else ""
        return (
            f"<header><div><h1>{escape(self.title)}</h1><p>{escape(self.subtitle)}</p></div>"
            '<button id="theme" type="button" hidden>Light / dark</button></header>'
            '<p id="status" class="note">Drawing ...</p><noscript>The plots need JavaScript.</noscript>'
            f'<div class="tiles">{"".join(map(_tile_html, self.tiles))}</div>{shown}'
        )


def plotly_library() -> str:
    """Return the text of plotly's JavaScript library.

    Raises:
        ImportError: plotly is not installed.
    """
    try:
        plotly: Any = importlib.import_module("plotly.offline")
    except ImportError as error:
        raise ImportError("a report needs plotly: pip install chakra-core[report]") from error
    text: str = plotly.get_plotlyjs()
    return text


def _own_file(name: str) -> str:
    return resources.files("chakra_core.reports").joinpath(name).read_text(encoding="utf-8")


def _packed(text: str) -> str:
    """Text as gzip in base64, which is a third of the size and cannot end a script element."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def _tile_html(tile: Tile) -> str:
    dot = "" if tile.colour is None else f'<i style="background:{escape(tile.colour)}"></i>'
    return (
        f'<div class="tile"><div class="label">{dot}{escape(tile.label)}</div>'
        f'<div class="value">{escape(tile.value)}</div><div class="remark">{escape(tile.remark)}</div></div>'
    )


def _section_html(section: Section) -> str:
    note = f'<p class="note">{escape(section.note)}</p>' if section.note else ""
    figures = "".join(
        f'<div class="figure" id="{escape(name)}" style="height:{_height(figure)}px"></div>'
        for name, figure in section.figures.items()
    )
    tables = "".join(map(_table_html, section.tables))
    columns = f'<div class="columns">{tables}</div>' if len(section.tables) > 1 else tables
    return f"<section><h2>{escape(section.title)}</h2>{note}{figures}{columns}</section>"


def _height(figure: Figure) -> int:
    shown = figure["choices"][0] if "choices" in figure else figure
    return int(shown["layout"]["height"])


def _table_html(table: HtmlTable) -> str:
    def cells(values: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=number' if place >= table.numeric_from else ''}>{escape(value)}</{tag}>"
            for place, value in enumerate(values)
        )

    title = f"<h3>{escape(table.title)}</h3>" if table.title else ""
    head = f"<thead><tr>{cells(table.columns, 'th')}</tr></thead>" if any(table.columns) else ""
    rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.rows)
    return f'<div class="scroll">{title}<table>{head}<tbody>{rows}</tbody></table></div>'
