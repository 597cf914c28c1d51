#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compiled CUDA kernels need, read from their code.

  compiled_kernels.py CUOBJDUMP COMPILED [INSTRUCTION...]

Each kernel says with __launch_bounds__ how many threads it is launched with at most, and that launch finds its
registers: a multiprocessor has 65,536, dealt out to warps in steps of 8 a thread (CUDA C++ Programming Guide, "Compute
Capabilities"). The code has each of the instructions.
"""
import math
import re
import subprocess
import sys

REGISTERS = 65536
REGISTER_COUNT = re.compile(r"function: (\S+?)\(0x[0-9a-f]+\)\s+register count: (\d+)")


def needs_of(lines):
    """Architecture and kernel -> [registers, threads], from `cuobjdump -elf`; None for what is not said."""
    registers, threads, kernels = {}, {}, []
    architecture = kernel = attribute = None
    for line in lines:
        if line.startswith("arch = "):
            architecture = line[7:].strip()
        elif line.startswith("."):
            kernel = (architecture, line.strip()[9:]) if line.startswith(".nv.info.") else None
            kernels += [kernel] if kernel else []
        elif line.startswith("\tAttribute:"):
            attribute = line.split(":")[1].strip()
        elif line.startswith("\tValue:"):
            if attribute == "EIATTR_REGCOUNT" and (found := REGISTER_COUNT.search(line)):
                registers[architecture, found[1]] = int(found[2])
            elif attribute == "EIATTR_MAX_THREADS" and kernel:
                threads[kernel] = math.prod(int(size, 16) for size in line.split()[1:4])
    return {kernel: (registers.get(kernel), threads.get(kernel)) for kernel in kernels}


def faults(needs):
    for (architecture, name), (registers, threads) in sorted(needs.items()):
        where = f"{architecture}: {name}"
        if threads is None:
            yield f"{where}: no __launch_bounds__"
        elif registers is None:
            yield f"{where}: no register count"
        else:
            needed = math.ceil(registers / 8) * 8 * math.ceil(threads / 32) * 32
            if needed > REGISTERS:
                yield f"{where}: {threads} threads of {registers} registers need {needed}, there are {REGISTERS}"


def main(cuobjdump, compiled, *instructions):
    def dump(what):
        return subprocess.run([cuobjdump, what, compiled], check=True, capture_output=True, text=True).stdout
    needs = needs_of(dump("-elf").splitlines())
    found = list(faults(needs)) or ([] if needs else [f"{compiled}: no kernel"])
    code = dump("-sass") if instructions else ""
    found += [f"{compiled}: no {name}" for name in instructions if not re.search(rf"\b{re.escape(name)}\s", code)]
    print(*found, f"{len(needs)} kernels", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
