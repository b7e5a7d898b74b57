# SPDX-License-Identifier: MIT
"""The installed package of chakra_core, and what is built against it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from installed_package import from_cmake_install, from_the_wheel, run


@pytest.fixture(scope="session", params=[from_the_wheel, from_cmake_install], ids=["wheel", "cmake-install"])
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the CMake package."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not on the PATH")
    find: Callable[[Path], Path] = request.param
    return find(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="session")
def build(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds targets of a CMake project against the package, and returns the folder of the programs."""

    def configure_and_build(source: Path, *targets: str, options: tuple[str, ...] = ()) -> Path:
        folder = tmp_path_factory.mktemp(source.name)
        run("cmake", "-S", source, "-B", folder, f"-Dchakra_core_DIR={package}", *options)
        run("cmake", "--build", folder, "-j", "2", *(["--target", *targets] if targets else []))
        return folder

    return configure_and_build
