#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when what a user includes grows beyond what one can read: headers of include/benanza/ outside of detail/ and impl/, and their lines.

    sizes.py ROOT
"""
import pathlib
import sys

MOST_HEADERS, MOST_LINES = 180, 16000


def sizes(root):
    """Headers and lines."""
    include = pathlib.Path(root) / "include"
    paths = [path for path in include.rglob("*.hpp") if not {"detail", "impl"} & set(path.relative_to(include).parts)]
    return len(paths), sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def main():
    headers, lines = sizes(sys.argv[1])
    print(f"{headers} headers, {lines} lines; at most {MOST_HEADERS} and {MOST_LINES}: long bodies go to include/benanza/impl/")
    return 1 if not 0 < headers <= MOST_HEADERS or lines > MOST_LINES else 0


if __name__ == "__main__":
    sys.exit(main())
