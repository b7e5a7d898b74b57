# SPDX-License-Identifier: MIT
"""Where the installed package of chakra_core is: in the wheel, or made by `cmake --install` of what is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: object, expect: int = 0) -> str:
    """What the command printed on stdout; fails unless it exits with `expect`."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def from_the_wheel(_scratch: Path) -> Path:
    package = Path(run(sys.executable, "-m", "chakra_core", "--cmake-dir").strip())
    if not package.is_dir():
        pytest.skip(f"{package} is not there: chakra_core was not installed from a wheel")
    return package


def from_cmake_install(scratch: Path) -> Path:
    """What is built already, copied to a prefix."""
    for built in (ROOT / "build" / name for name in ("dev", "release")):
        if (built / "cpp" / "libchakra_core.a").is_file():
            run("cmake", "--install", built, "--prefix", scratch / "prefix", "--component", "package")
            return scratch / "prefix" / "lib" / "cmake" / "chakra_core"
    pytest.skip("no build folder with the core: run cmake --preset dev and build it")
