# SPDX-License-Identifier: MIT
"""Generated traces: test cases of known shape, and training and inference of transformers."""

from chakra_core.generate.testcase import testcase, testcases

__all__ = ["testcase", "testcases"]
