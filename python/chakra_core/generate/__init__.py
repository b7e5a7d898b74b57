# SPDX-License-Identifier: MIT
"""Generated traces: test cases of known shape, and training and inference of transformers."""

from chakra_core.generate.memory import MemoryReport
from chakra_core.generate.model import TransformerModel
from chakra_core.generate.parallelism import Parallelism
from chakra_core.generate.presets import preset, preset_names
from chakra_core.generate.testcase import testcase, testcases
from chakra_core.generate.transformer import TransformerRun, transformer
from chakra_core.generate.workload import Device, Workload

__all__ = [
    "Device",
    "MemoryReport",
    "Parallelism",
    "TransformerModel",
    "TransformerRun",
    "Workload",
    "preset",
    "preset_names",
    "testcase",
    "testcases",
    "transformer",
]
