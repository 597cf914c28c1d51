#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/gpu keeps of programs that end, overrun or ignore an interrupt; stubs stand for them. script_test.py SCRIPT

A stub makes its time-out come at once: timeout(1) takes SIGALRM for it."""
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv[1]

# A suite that writes what it was called for, and says how its session went.
SUITE = """#!/bin/bash
for argument; do
  case $argument in
    --benchmark_out=*) out=${argument#*=} ;;
    --benanza_done=*) done_list=${argument#*=} ;;
  esac
done
basename "$out" >> "$(dirname "$0")/asked.txt"
finish() { echo "$1" > "$out"; echo "a layer of $1" >> "$done_list"; exit "$2"; }
"""
ENDS = SUITE + "finish ended 0\n"
OVERRUNS = SUITE + "trap 'finish overrun 130' INT\nkill -ALRM $PPID\nwhile kill -0 $PPID; do :; done\n"
IGNORES = SUITE + "trap '' INT\necho begun > \"$out\"\nwhile kill -ALRM $PPID; do :; done\n"

# Tests that say which they are; those of cuBLAS fail until there is a file.
TESTS = """#!/bin/bash
folder=$(dirname "$0")
echo "$2" >> "$folder/tested.txt"
[ "$2" != "[#cublas_test]" ] || [ -e "$folder/repaired" ]
"""


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.results = self.at / "results"
        shutil.copy(SCRIPT, self.at / "gpu")

    def stub(self, name, text):
        (self.at / name).write_text(text)
        (self.at / name).chmod(0o755)

    def run_part(self, part):
        result = subprocess.run([self.at / "gpu", "run", self.results, "600", part], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def kept(self):
        return {file.name: gzip.decompress(file.read_bytes()).decode().strip() for file in self.results.glob("*.json.gz")}

    def lines(self, file):
        return (self.at / file).read_text().splitlines()

    def test_each_session_that_ended_is_kept(self):
        self.stub("gpu_modern_b1", ENDS)
        self.run_part("modern_b1")
        self.run_part("modern_b1")
        self.assertEqual(self.kept(), {"modern_b1-000.json.gz": "ended", "modern_b1-001.json.gz": "ended"})

    def test_a_session_that_was_interrupted_is_kept_with_what_its_list_says_is_finished(self):
        self.stub("gpu_modern_b1", OVERRUNS)
        self.run_part("modern_b1")
        self.stub("gpu_modern_b1", ENDS)
        self.run_part("modern_b1")
        self.assertEqual(self.kept(), {"modern_b1-000.json.gz": "overrun", "modern_b1-001.json.gz": "ended"})
        self.assertEqual(self.lines("results/modern_b1.done"), ["a layer of overrun", "a layer of ended"])

    def test_what_a_killed_session_left_is_given_to_the_next(self):
        self.stub("gpu_modern_b1", IGNORES)
        self.run_part("modern_b1")
        self.assertEqual(self.kept(), {})
        self.assertEqual(self.lines("results/modern_b1-000.json"), ["begun"])
        self.stub("gpu_modern_b1", ENDS)
        self.run_part("modern_b1")
        self.assertEqual(self.lines("asked.txt"), ["modern_b1-000.json", "modern_b1-000.json"])
        self.assertEqual(self.kept(), {"modern_b1-000.json.gz": "ended"})

    def test_tests_that_passed_are_not_run_again(self):
        self.stub("gpu_tests", TESTS)
        self.run_part("tests")
        (self.at / "repaired").touch()
        self.run_part("tests")
        self.run_part("tests")
        every = ["[#cuda_test]", "[#cublas_test]", "[#cudnn_test]"]
        self.assertEqual(self.lines("tested.txt"), every + ["[#cublas_test]"])

    def test_tests_that_hang_leave_time_for_the_others(self):
        self.stub("gpu_tests", TESTS + "trap '' TERM\nwhile [ \"$2\" = \"[#cuda_test]\" ] && kill -ALRM $PPID; do :; done\n")
        self.run_part("tests")
        self.assertEqual(self.lines("results/tests.passed"), ["cublas", "cudnn"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
