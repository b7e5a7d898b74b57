# SPDX-License-Identifier: MIT
"""A headless browser that opens pages as a person would, and tells what went wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Browser:
    """Opens pages at 1280x800; any error, warning or request to a network fails the test."""

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium

    def open(self, path: Path, *, scheme: str = "light") -> Any:
        """The page, when all of its plots are drawn."""
        page = self._chromium.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
        problems: list[str] = []
        page.on(
            "console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.append(request.url) if _is_remote(request.url) else None)
        page.goto(path.resolve().as_uri())
        try:
            page.wait_for_selector("body[data-drawn]", timeout=60_000)
        finally:
            assert problems == []
        page.problems = problems
        return page


def _is_remote(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:"))


# While it is open an event loop runs in this thread, in which other areas' tests could not run theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Skips where there is no Chromium, or no playwright to drive it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))]
    program = next((one for one in found if one), None)
    if program is None:
        pytest.skip("there is no Chromium (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield Browser(chromium)
        chromium.close()
