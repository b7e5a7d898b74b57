# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

import chakra_core as cc
from batch_files import chain


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_folder(folder: Path) -> Path:
    """Be in a folder with in/run.0.et to in/run.7.et."""
    (folder / "in").mkdir()
    for rank in range(8):
        cc.save(chain(10 + rank), folder / "in" / f"run.{rank}.et")
    return folder
