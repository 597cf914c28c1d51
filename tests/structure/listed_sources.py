#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a source file is not named in the CMakeLists.txt of its folder or the next one above: sources are listed, so one can be forgotten.
The files of a folder of tests are not: `benanza_tests` finds them.

    listed_sources.py ROOT
"""
import pathlib
import re
import sys


def unlisted(root):
    for folder in ("src", "codegen", "benchmarks", "examples", "tests"):
        for path in sorted((root / folder).rglob("*.cpp")):
            if {"golden", "package", "extend"} & set(path.parts):  # read as text; projects of their own; compiled by a test
                continue
            lists = next((up / "CMakeLists.txt" for up in path.parents if (up / "CMakeLists.txt").exists()), None)
            words = set(re.split(r"[^\w.]+", lists.read_text(encoding="utf-8")))
            found = path.stem.endswith("_test") and "benanza_tests" in words and lists.parent == path.parent
            if not found and not {path.name, path.stem} & words:
                yield f"{path.relative_to(root)}: not named in {lists.relative_to(root)}"


def main():
    found = list(unlisted(pathlib.Path(sys.argv[1])))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
