"""Write the type stubs of the native module, or check that the committed ones are what it says.

Run it in an environment where the package is installed: `make stubs`, `make check-stubs`.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
STUB = PROJECT / "python" / "chakra_core" / "_core.pyi"

# Set on the instances by cpp/bindings/bind_errors.cpp.
HELD_BY_ERRORS = {
    "FormatError": {"path": "str", "record": "int | None", "offset": "int | None"},
    "DependencyError": {"nodes": "list[int]"},
}


def generate(folder: Path) -> str:
    """Stub text as pybind11-stubgen makes it, tidied and formatted."""
    subprocess.run(
        [sys.executable, "-m", "pybind11_stubgen", "chakra_core._core", "--output-dir", str(folder), "--exit-code"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    made = folder / "chakra_core" / "_core.pyi"
    made.write_text(tidy(made.read_text()))
    for command in ("check --fix --quiet --select I,F401 --isolated", "format --quiet"):
        subprocess.run(["ruff", *command.split(), str(made)], check=True, cwd=PROJECT)
    return made.read_text()


def tidy(text: str) -> str:
    """Take out what differs from one interpreter or build to the next, and mend what stubgen cannot know."""
    text = re.sub(r"^__version__: str = .*$", "__version__: str", text, flags=re.M)
    # Enum members come with a __new__ and friends that the standard library declares already.
    text = re.sub(r"\n +@classmethod\n +def __new__\(cls, value\):.*?(?=\n +@|\n +def |\n\S|\Z)", "", text, flags=re.S)
    text = re.sub(r"\n +def __format__\(self, format_spec\):\n +\.\.\.", "", text)
    module = importlib.import_module("chakra_core._core")
    text = re.sub(
        r"^( +)(\w+): typing\.ClassVar\[(\w+)\]$",
        lambda match: f"{match[1]}{match[2]} = {int(getattr(module, match[3])[match[2]])}",
        text,
        flags=re.M,
    )
    # A pointer that may be null shows as its class with the default None.
    text = re.sub(r"(: [A-Z]\w+) = None\b", r"\1 | None = None", text)
    text = text.replace("**kwargs)", "**kwargs: typing.Any)")
    text = text.replace("os.PathLike |", "os.PathLike[str] |")
    text = re.sub(r"^ +__hash__: typing\.ClassVar\[None\] = None\n", "", text, flags=re.M)
    text = re.sub(r"def __eq__\(self, arg0: \w+\)", "def __eq__(self, arg0: object)", text)
    # The error classes call themselves members of the package, where they are found by users.
    text = re.sub(r"^from chakra_core import \w+\n", "", text, flags=re.M)
    start = text.index("\nclass ")
    return f'# mypy: disable-error-code="type-arg"\n{text[:start]}\n{errors()}{text[start:]}'


def errors() -> str:
    """Declare the error classes, bases first, with what they hold."""
    module = importlib.import_module("chakra_core._core")
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Exception)]
    lines = []
    for error in sorted(classes, key=lambda one: (len(one.__mro__), one.__name__)):
        bases = ", ".join(base.__name__ for base in error.__bases__)
        lines += [f"class {error.__name__}({bases}):", f'    """{error.__doc__}"""']
        lines += [f"    {name}: {kind}" for name, kind in HELD_BY_ERRORS.get(error.__name__, {}).items()]
    return "\n".join(lines) + "\n"


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
