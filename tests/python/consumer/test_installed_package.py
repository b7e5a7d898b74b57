# SPDX-License-Identifier: MIT
"""tests/consumer builds and runs against what was installed: from the wheel, and from `cmake --install`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on the PATH")


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build_and_run(package: Path, build: Path) -> None:
    run("cmake", "-S", ROOT / "tests" / "consumer", "-B", build, f"-Dchakra_core_DIR={package}")
    run("cmake", "--build", build, "-j", "2")
    assert run(build / "consumer", build / "written.et") == "nodes 10, sum 45, problems 0\n"


def test_from_the_wheel(tmp_path: Path) -> None:
    package = Path(run(sys.executable, "-m", "chakra_core", "--cmake-dir").strip())
    if not package.is_dir():
        pytest.skip(f"{package} is not there: chakra_core was not installed from a wheel")
    build_and_run(package, tmp_path / "build")


def test_from_cmake_install(tmp_path: Path) -> None:
    built = next(
        (
            folder
            for folder in (ROOT / "build" / name for name in ("dev", "release"))
            if (folder / "cpp" / "libchakra_core.a").is_file()
        ),
        None,
    )
    if built is None:
        pytest.skip("no build folder with the core: run cmake --preset dev and build it")
    run("cmake", "--install", built, "--prefix", tmp_path / "prefix")
    build_and_run(tmp_path / "prefix" / "lib" / "cmake" / "chakra_core", tmp_path / "build")
