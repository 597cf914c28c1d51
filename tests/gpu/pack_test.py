#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu packs of the programs of a build for one architecture. pack_test.py ROOT BUILD"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from gpu_lease import packing  # noqa: E402


class Pack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.at = pathlib.Path(folder.name)
        packing.write_archive(ROOT, BUILD, cls.at / packing.ARCHIVE)
        packing.copy_script(ROOT / "scripts", cls.at)
        cls.size = packing.size_of(cls.at)
        packing.unpack(cls.at)

    def run_packed(self, program, *arguments):
        programs = self.at / "programs"
        environment = {"LD_LIBRARY_PATH": str(programs), "HOME": str(self.at), "PATH": os.environ["PATH"]}
        return subprocess.run([programs / program, *arguments], capture_output=True, text=True, check=False, env=environment)

    def test_a_pack_for_one_architecture_has_at_most_40_mb(self):
        self.assertLessEqual(self.size, 40_000_000)

    def test_what_is_packed_needs_nothing_else(self):
        for command in (["benanza", "layers", self.at / "models" / "modern" / "resnet50.onnx"], ["gpu_tests", "--list-test-names-only"],
                        ["gpu_modern_b1", "--help"], ["gpu_frameworks.py", "--help"]):
            result = self.run_packed(*command)
            self.assertNotIn("cannot open shared object file", result.stderr)
            self.assertTrue(result.stdout, result.stderr)

    def test_the_tests_that_are_run_there_are_those_of_the_build(self):
        self.assertEqual((self.at / "programs" / "tests.txt").read_text(), (BUILD / "gpu_pack" / "tests.txt").read_text())

    @unittest.skipIf(shutil.which("nvidia-smi"), "there may be a GPU")
    def test_a_suite_stops_at_once_where_a_backend_is_missing(self):
        result = self.run_packed("gpu_modern_b1")
        self.assertEqual((result.returncode, result.stdout), (5, ""))
        self.assertRegex(result.stderr, "backend cudnn is not available: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
