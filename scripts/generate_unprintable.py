#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print cpp/src/io/unprintable_ranges.inc: the code points that Python's repr writes as escapes.

Run it with the newest Python that is supported; what Unicode has not assigned yet differs between versions.
"""

import sys
import unicodedata


def unprintable_ranges() -> list[tuple[int, int]]:
    """Return the ranges (first, last) of code points from 0x80 on for which str.isprintable() is false."""
    ranges: list[tuple[int, int]] = []
    for code in range(0x80, sys.maxunicode + 1):
        if chr(code).isprintable():
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return ranges


def main() -> None:
    """Write the table to standard output."""
    print("// SPDX-License-Identifier: MIT")
    print(f"// Made by scripts/generate_unprintable.py, Unicode {unicodedata.unidata_version}.")
    line = ""
    for first, last in unprintable_ranges():
        entry = f"{{0x{first:X}, 0x{last:X}}}, "
        if len(line) + len(entry) > 120:
            print(line.rstrip())
            line = ""
        line += entry
    print(line.rstrip())


if __name__ == "__main__":
    main()
