# SPDX-License-Identifier: MIT
"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def complete_path(path: Path) -> Iterator[Path]:
    """Name a temporary file beside `path` that takes its name at the end; an error leaves nothing behind."""
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.tmp-", dir=path.parent)
    os.close(descriptor)
    temporary = Path(name)
    try:
        # mkstemp lets only the owner read; a new file would follow the umask, which can only be read by setting it.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def complete_file(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a temporary file beside `path` that takes its name at the end; an error leaves nothing behind."""
    with complete_path(Path(path)) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        yield file
