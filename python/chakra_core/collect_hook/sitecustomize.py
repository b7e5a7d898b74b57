# SPDX-License-Identifier: MIT
"""What `chakra-core collect` puts first on the path of the programs that it runs.

Python imports `sitecustomize` at start. This one waits until the program has imported torch, hands over to
`chakra_core.collection`, and otherwise does what the program's own `sitecustomize` does.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_OWN_FOLDER = Path(__file__).resolve().parent


class _AfterTorch(importlib.machinery.SourceFileLoader):
    """Loads torch, then attaches the collection."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        # Only now, so that programs without torch do not load the package.
        from chakra_core.collection import attach

        attach(module)


class _TorchFinder:
    """Finds torch as the other finders do, but with the loader above."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            spec.loader = _AfterTorch(name, spec.origin)
        return spec


def _run_the_programs_own() -> None:
    others = [entry for entry in sys.path if Path(entry or ".").resolve() != _OWN_FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


# Whoever merely looks at this file (a documentation or test tool) has no such variable.
if "CHAKRA_CORE_COLLECT" in os.environ:
    sys.meta_path.insert(0, _TorchFinder())
    _run_the_programs_own()
