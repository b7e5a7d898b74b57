"""Write the type stubs of the native module, or check that the committed ones are what it says.

Run it in an environment where the package is installed: `make stubs`, `make check-stubs`.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
STUB = PROJECT / "python" / "chakra_core" / "_core.pyi"


def generate(folder: Path) -> str:
    """Stub text as pybind11-stubgen makes it, tidied and formatted."""
    subprocess.run(
        [sys.executable, "-m", "pybind11_stubgen", "chakra_core._core", "--output-dir", str(folder), "--exit-code"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    made = folder / "chakra_core" / "_core.pyi"
    made.write_text(tidy(made.read_text()))
    for command in (["ruff", "check", "--fix", "--quiet", "--select", "I,F401", "--isolated"], ["ruff", "format", "-q"]):
        subprocess.run([*command, str(made)], check=True, cwd=PROJECT)
    return made.read_text()


def tidy(text: str) -> str:
    """Take out what differs from one interpreter or build to the next."""
    text = re.sub(r"^__version__: str = .*$", "__version__: str", text, flags=re.M)
    # Enum members come with a __new__ and friends that the standard library declares already.
    text = re.sub(r"\n +@classmethod\n +def __new__\(cls, value\):.*?(?=\n +@|\n +def |\n\S|\Z)", "", text, flags=re.S)
    return text


def main() -> int:
    """Write or check; exit status 1 when the check finds a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = generate(Path(folder))
    if not arguments.check:
        STUB.write_text(made)
        return 0
    committed = STUB.read_text() if STUB.exists() else ""
    difference = list(difflib.unified_diff(committed.splitlines(), made.splitlines(), "committed", "made", lineterm=""))
    print("\n".join(difference))
    if difference:
        print("The stubs are out of date: run `make stubs` and commit the result.", file=sys.stderr)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
