"""Install the requirements of one of the project's extras, without the project itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

PROJECT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Install the extra named on the command line into the running environment."""
    extra = sys.argv[1]
    with (PROJECT / "pyproject.toml").open("rb") as file:
        requirements = tomllib.load(file)["project"]["optional-dependencies"][extra]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
