#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that try to crash a reader, to keep it busy or to fill its memory: hostile_test.py PROGRAM FOLDER

Every command that takes a model, on every model of FOLDER: it ends with an answer, or with one line that says what is wrong with the file. FOLDER/README.md
says what each file tries. A model that exceeds a limit of time or memory ends the program.
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

from onnx_file import F32, file_of, node, value

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
MACHINE = EXAMPLES / "machines" / "a100_sxm4_40gb.json"
MNIST = EXAMPLES / "models" / "zoo2019" / "MNIST.onnx"
RESULTS = EXAMPLES / "results" / "mnist.json"
PROFILE = EXAMPLES / "profiles" / "mnist.csv"
QUIET = ["--quiet"]
COMMANDS = {
    "layers": ["layers", "--fused"] + QUIET,
    "tensors": ["layers", "--tensors"] + QUIET,
    "layers of training": ["layers", "--training"] + QUIET,
    "bound": ["bound", "--machine", MACHINE] + QUIET,
    "bound of training": ["bound", "--training", "--machine", MACHINE] + QUIET,
    "analyze": ["analyze", "--results", RESULTS] + QUIET,
    "memory": ["memory", "--machine", MACHINE] + QUIET,
    "memory of training": ["memory", "--training", "--machine", MACHINE] + QUIET,
    "generate": ["generate", "--output", "suite.cpp"],
    "gap": ["gap", "--results", RESULTS, "--profile", PROFILE] + QUIET,
    "scale": ["scale", "--machine", MACHINE, "--workers", "4", "--bandwidth", "100Gbps"] + QUIET,
    "run": ["run"] + QUIET,
}
OF_REFUSED = ("layers", "memory of training", "run")  # enough for a model that `layers` refuses: all commands read models by the same function
PROCESSOR_SECONDS, MEGABYTES = 60, 1000  # far above what the limits of the program allow, so that a slow machine passes


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


class Hostile(unittest.TestCase):
    def run_on(self, file, command):
        """The exit code (negative for a signal), the megabytes that the program took, and its lines on stderr."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
            child = subprocess.Popen([PROGRAM, command[0], file, *command[1:]], cwd=folder, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit_time)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            return child.returncode, usage.ru_maxrss / 1e3, errors.read().decode().splitlines()


class Limits(unittest.TestCase):
    """Limits of 0, so that no test depends on how fast a machine is."""

    def ends(self, code, says, *arguments, **limits):
        ran = subprocess.run([PROGRAM, *map(str, arguments)], env={**os.environ, **limits}, capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stdout), (code, ""), ran.stderr)
        self.assertRegex(ran.stderr, says + r"\n$")
        self.assertEqual(len(ran.stderr.splitlines()), 1, ran.stderr)

    def test_a_model_that_takes_too_long_to_read_ends_the_program(self):
        for command in ("layers", "memory", "run"):
            self.ends(1, "MNIST.onnx: reading it takes more than 0.0 s of processor time", command, MNIST, BENANZA_READ_SECONDS="0")

    def test_a_model_that_takes_too_much_memory_to_read_ends_the_program(self):
        nodes = 10_000
        with tempfile.TemporaryDirectory() as folder:
            chain = pathlib.Path(folder) / "chain.onnx"
            chain.write_bytes(file_of(b"".join(node("Relu", [f"x{i}"], f"x{i + 1}") for i in range(nodes)), [value("x0", F32, [1])], [value(f"x{nodes}", F32, [1])]))
            self.ends(1, "chain.onnx: reading it takes more than 0 MB of memory", "layers", chain, BENANZA_READ_MB="0", BENANZA_READ_SECONDS="inf")

    def test_a_model_that_takes_too_long_to_analyze_ends_the_program(self):
        self.ends(1, "trilu_2_31.onnx: analyzing it takes more than 0.5 s of processor time", "layers", FOLDER / "trilu_2_31.onnx", BENANZA_READ_SECONDS="0.5")

    def test_a_run_that_takes_too_much_memory_ends_the_program(self):
        self.ends(1, "MNIST.onnx: running it takes more than 0 MB of memory", "run", MNIST, BENANZA_RUN_MB="0")

    def test_a_limit_that_is_no_number_is_2(self):
        for variable in ("BENANZA_READ_SECONDS", "BENANZA_READ_MB", "BENANZA_RUN_MB"):
            for text in ("", "soon", "1s", "-1", "nan"):
                self.ends(2, f"{variable}: '{text}', expected a number of at least 0", "run", MNIST, **{variable: text})


def add(file):
    def test(self):
        refused = False
        for name, command in COMMANDS.items():
            if refused and name not in OF_REFUSED:
                continue
            with self.subTest(name):
                code, megabytes, errors = self.run_on(file, command)
                self.assertIn(code, (0, 1), errors)
                if code == 1:
                    self.assertEqual(len(errors), 1, errors)
                    self.assertIn(file.stem, errors[0])
                self.assertLess(megabytes, MEGABYTES)
                refused = refused or (name == "layers" and code == 1)
    setattr(Hostile, "test_" + re.sub(r"\W", "_", file.stem), test)


for path in sorted(FOLDER.glob("*.onnx")):
    add(path)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
