# SPDX-License-Identifier: MIT
"""`python -m chakra_core`: the command line, and where the CMake package lies."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """Print the folder of the CMake package for `--cmake-dir`; else run the command line."""
    if sys.argv[1:] == ["--cmake-dir"]:
        print(Path(__file__).parent / "lib" / "cmake" / "chakra_core")
        return 0
    from chakra_core.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
