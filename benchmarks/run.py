"""Run all benchmarks, or those named, and print ratios: `make benchmark`, `make benchmark SMOKE=1`."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Import each bench_*.py and print what its `run` returns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="load, feeder, ...; all by default")
    parser.add_argument("--smoke", action="store_true", help="small inputs: shows that the benchmarks run")
    arguments = parser.parse_args()
    sys.path.insert(0, str(FOLDER))
    names = arguments.names or sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))
    print(f"{'task':<58} {'ratio':>10}  against" + ("   [smoke run: small inputs]" if arguments.smoke else ""))
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            for ratio in importlib.import_module(f"bench_{name}").run(Path(folder), smoke=arguments.smoke):
                print(ratio, flush=True)


if __name__ == "__main__":
    main()
