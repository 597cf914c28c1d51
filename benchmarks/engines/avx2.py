#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a script of this folder as on a processor without AVX-512.

  benchmarks/engines/avx2.py compare.py MODEL.onnx... [options of the script]

Benanza, its libraries and the engines choose their kernels by what the instruction CPUID answers. This script keeps copies of them in the user cache, in
which an undefined instruction stands instead, and loads a handler that answers without AVX-512 (cpuid_handler.cpp). So everybody runs the kernels of
an AVX2 processor, with the clock, caches and memory of this one. Use a database of its own (--database). Needs the benchmarks of a release build
(scripts/test), objdump and readelf, and installs the packages of compare.py.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import compare

HERE = pathlib.Path(__file__).resolve().parent
HANDLER = compare.ROOT / "build" / "release" / "benchmarks" / "libcpuid_handler.so"
COPIES = compare.CACHE / "avx2"
CPUID, UNDEFINED = b"\x0f\xa2", b"\x0f\x0b"
LIBRARIES = ("libdnnl.so", "libopenblas.so")
PACKAGES = COPIES / "_".join(compare.PACKAGES[2:])  # of these versions
PACKAGE_LIBRARIES = {"onnxruntime": ("capi/*.so*",), "openvino": ("libs/libopenvino.so*", "libs/libopenvino_intel_cpu_plugin.so")}


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def segments(library):
    """Address, offset in the file and size of what is loaded of it."""
    for line in output_of("readelf", "--segments", "--wide", library).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            yield int(words[2], 16), int(words[1], 16), int(words[4], 16)


def addresses_of_cpuid(library):
    with subprocess.Popen(["objdump", "--disassemble", "--no-show-raw-insn", library], stdout=subprocess.PIPE) as disassembly:
        found = subprocess.run(["grep", "-w", "cpuid"], stdin=disassembly.stdout, stdout=subprocess.PIPE, text=True, check=False).stdout
    return [int(address, 16) for address in re.findall(r"^\s*([0-9a-f]+):\s+cpuid\s*$", found, re.MULTILINE)]


def copy_without_cpuid(source, target):
    """A copy whose instructions CPUID are undefined ones; nothing where there is one that is as new."""
    source = source.resolve()
    if target.exists() and not target.is_symlink() and target.stat().st_mtime > source.stat().st_mtime:
        return
    code, parts = bytearray(source.read_bytes()), list(segments(source))
    for address in addresses_of_cpuid(source):
        begin, offset = next((begin, offset) for begin, offset, size in parts if begin <= address < begin + size)
        place = slice(offset + address - begin, offset + address - begin + len(CPUID))
        assert code[place] == CPUID, f"{source}: no CPUID at {address:#x}"
        code[place] = UNDEFINED
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_bytes(code)
    shutil.copymode(source, target)


def copy_program():
    copy_without_cpuid(compare.PROGRAM, COPIES / "benanza")
    for name, place in re.findall(r"^\s*(\S+) => (\S+)", output_of("ldd", compare.PROGRAM), re.MULTILINE):
        if name.startswith(LIBRARIES):
            copy_without_cpuid(pathlib.Path(place), COPIES / "libraries" / name)


def copy_packages():
    installed = next((compare.CACHE / "engines" / "lib").glob("python*/site-packages"))
    for package, patterns in PACKAGE_LIBRARIES.items():
        target = PACKAGES / package
        if not target.exists():
            shutil.copytree(installed / package, target)
        for pattern in patterns:
            for library in (installed / package).glob(pattern):
                copy_without_cpuid(library, target / library.relative_to(installed / package))


def main():
    if len(sys.argv) < 2 or not (HERE / sys.argv[1]).is_file():
        sys.exit(__doc__)
    if not HANDLER.exists():
        sys.exit(f"{HANDLER} is not there: build with -DBENANZA_BUILD_BENCHMARKS=ON, as scripts/test does")
    if not compare.is_in_environment():
        compare.in_environment(__file__)
    copy_program()
    copy_packages()
    environment = os.environ | {
        "BENANZA": str(COPIES / "benanza"),
        "LD_LIBRARY_PATH": str(COPIES / "libraries"),
        "LD_PRELOAD": str(HANDLER),
        "PYTHONPATH": str(PACKAGES),
    }
    os.execve(sys.executable, [sys.executable, HERE / sys.argv[1], *sys.argv[2:]], environment)


if __name__ == "__main__":
    main()
