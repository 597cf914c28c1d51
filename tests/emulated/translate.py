#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ for a compiler of C++, to run on the processor over tests/emulated/cuda.hpp.

  translate.py KERNELS.cu OUT.cpp

A launch becomes a call. Kernels have to be named with their template arguments, and to say with __launch_bounds__ what
they are compiled for: a launch with more threads fails here as it does on a device.
"""
import pathlib
import re
import sys

LAUNCH = re.compile(r"([A-Za-z_]\w*(?:<[\w\s,:()]*>)?)\s*<<<(.*?)>>>\(", re.DOTALL)
KERNEL = re.compile(r"__global__ void\s+__launch_bounds__\(([\w\s:*]+)\)\s+(\w+\([^()]*\)\s*\{)", re.DOTALL)


def main(source, out):
    text = pathlib.Path(source).read_text(encoding="utf-8")
    translated, launches = LAUNCH.subn(r"::benanza::test::run_grid(::benanza::test::Launch(\2), \1, ", text)
    if "<<<" in translated or not launches:
        sys.exit(f"{source}: {'a launch that is not understood' if launches else 'no launch'}")
    translated, bounded = KERNEL.subn(r"__global__ void \2 ::benanza::test::check_bounds(\1);", translated)
    if bounded != text.count("__global__"):
        sys.exit(f"{source}: {text.count('__global__') - bounded} kernels without __launch_bounds__")
    translated = re.sub(r"\b__noinline__\b", "[[gnu::noinline]]", translated)
    pathlib.Path(out).write_text(f'#include "emulated/cuda.hpp"\n#line 1 "{source}"\n{translated}', encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
