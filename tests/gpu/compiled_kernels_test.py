#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compiled_kernels.py finds what would fail at a launch."""
import unittest

import compiled_kernels


def kernel(name, threads):
    bounds = f"\tAttribute:\tEIATTR_MAX_THREADS\n\tFormat:\tEIFMT_SVAL\n\tValue:\t{threads:#x} 0x1 0x1 \n" if threads else ""
    return f".nv.info.{name}\n\tAttribute:\tEIATTR_PARAM_CBANK\n\tValue:\t0x2 0x3\n{bounds}"


def count(name, registers):
    return f"\tAttribute:\tEIATTR_REGCOUNT\n\tValue:\tfunction: {name}(0x15)\tregister count: {registers}\n"


def faults(*parts):
    text = "arch = sm_90\n.nv.info\n" + "".join(parts)
    return list(compiled_kernels.faults(compiled_kernels.needs_of(text.splitlines())))


class Faults(unittest.TestCase):
    def test_registers_that_fit(self):
        # 1,024 * 64 = 65,536, and so are 57 registers, which count as 64.
        self.assertEqual(faults(count("k", 64), kernel("k", 1024)), [])
        self.assertEqual(faults(count("k", 57), kernel("k", 1024)), [])

    def test_more_registers_than_there_are(self):
        self.assertEqual(faults(count("k", 65), kernel("k", 1024)),
                         ["sm_90: k: 1024 threads of 65 registers need 73728, there are 65536"])

    def test_fewer_threads_may_have_more(self):
        self.assertEqual(faults(count("k", 255), kernel("k", 256)), [])

    def test_a_kernel_without_bounds(self):
        self.assertEqual(faults(count("k", 32), kernel("k", None)), ["sm_90: k: no __launch_bounds__"])

    def test_a_function_that_kernels_call_has_none(self):
        self.assertEqual(faults(count("k", 32), count("called", 40), kernel("k", 128)), [])

    def test_architectures_are_told_apart(self):
        text = "".join(f"arch = sm_{arch}\n.nv.info\n{count('k', registers)}{kernel('k', 1024)}"
                       for arch, registers in ((80, 40), (90, 72)))
        found = list(compiled_kernels.faults(compiled_kernels.needs_of(text.splitlines())))
        self.assertEqual(found, ["sm_90: k: 1024 threads of 72 registers need 73728, there are 65536"])


if __name__ == "__main__":
    unittest.main()
