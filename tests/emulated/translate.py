#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ for a compiler of C++, to run on the processor over tests/emulated/cuda.hpp.

  translate.py KERNELS.cu OUT.cpp

A launch becomes a call. Kernels have to be named with their template arguments.
"""
import pathlib
import re
import sys

LAUNCH = re.compile(r"([A-Za-z_]\w*(?:<[\w\s,:()]*>)?)\s*<<<(.*?)>>>\(", re.DOTALL)


def main(source, out):
    text = pathlib.Path(source).read_text(encoding="utf-8")
    translated, launches = LAUNCH.subn(r"::benanza::test::run_grid(::benanza::test::Launch(\2), \1, ", text)
    if "<<<" in translated or not launches:
        sys.exit(f"{source}: {'a launch that is not understood' if launches else 'no launch'}")
    translated = re.sub(r"\b__noinline__\b", "[[gnu::noinline]]", translated)
    pathlib.Path(out).write_text(f'#include "emulated/cuda.hpp"\n#line 1 "{source}"\n{translated}', encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
