#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu packs of the programs of a build for one architecture. pack_test.py ROOT BUILD"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from gpu_lease import packing  # noqa: E402


class Pack(unittest.TestCase):
    def test_a_pack_has_at_most_40_mb_and_its_programs_run_from_it(self):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            packing.write_archive(ROOT, BUILD, at / packing.ARCHIVE)
            packing.copy_script(ROOT / "scripts", at)
            self.assertLessEqual(packing.size_of(at), 40_000_000)
            packing.unpack(at)
            programs = at / "programs"
            environment = {"LD_LIBRARY_PATH": str(programs), "HOME": folder, "PATH": os.environ["PATH"]}
            for command in ([programs / "benanza", "layers", at / "models" / "modern" / "resnet50.onnx"],
                            [programs / "gpu_modern_b1", "--help"], [programs / "gpu_tests", "--list-test-names-only"]):
                result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
                self.assertNotIn("cannot open shared object file", result.stderr)
                self.assertTrue(result.stdout)
            self.assertEqual((programs / "tests.txt").read_text(), (BUILD / "gpu_pack" / "tests.txt").read_text())
            subprocess.run([sys.executable, programs / "gpu_frameworks.py", "--help"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
