#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The installed Python module: what the program writes, as dictionaries, and arrays.

    python_test.py EXAMPLES ONNX_FILE    the folder of the examples, the folder of onnx_file.py
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

import benanza

EXAMPLES = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, sys.argv[2])
import onnx_file  # noqa: E402

MODEL = EXAMPLES / "models" / "zoo2019" / "MNIST.onnx"
RESULTS = [EXAMPLES / "results" / "mnist.json"]
PROGRAM = pathlib.Path(benanza.__file__).parent / "bin" / "benanza"


def written(*arguments):
    """The document that the program writes."""
    command = [str(word) for word in (PROGRAM, *arguments, "--json", "-")]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


class Module(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def model(self, body, inputs, outputs):
        file = self.folder / "model.onnx"
        file.write_bytes(onnx_file.file_of(body, inputs, outputs))
        return file

    def test_layers_are_those_of_the_program(self):
        self.assertEqual(benanza.layers(MODEL), written("layers", MODEL))
        self.assertEqual(benanza.layers(str(MODEL), fused=True, batch=4), written("layers", MODEL, "--fused", "--batch", 4))

    def test_the_calls_of_the_document(self):
        model = str(MODEL)
        results, folder = RESULTS, self.folder
        array = numpy.zeros((1, 1, 28, 28), "float32")

        layers = benanza.layers(model)["layers"]
        bounds = benanza.bound(model, budget=1, threads=1, database=folder)["models"][0]["bounds_ms"]
        gap = benanza.gap(model, latency=[0.040], results=results)["gaps"][0]  # seconds of whole runs
        outputs = benanza.run(model, {"Input3": array}, weight_seed=1)  # NumPy arrays

        self.assertEqual(len(layers), 11)
        self.assertGreater(bounds["library"], bounds["model_floor"])
        self.assertAlmostEqual(gap["latency_ms"], 40)
        self.assertEqual([array.shape for array in outputs.values()], [(1, 10)])

    def test_sizes_that_the_model_leaves_open_are_given(self):
        file = self.model(onnx_file.node("Relu", ["x"], "y"), [onnx_file.value("x", onnx_file.F32, ["rows", 5])],
                          [onnx_file.value("y", onnx_file.F32, ["rows", 5])])
        self.assertEqual(benanza.layers(file, dims={"rows": 7})["models"][0]["dims"], {"rows": 7})

    def test_stored_results_give_the_bound_of_the_readme(self):
        report = benanza.bound(MODEL, results=RESULTS)
        self.assertAlmostEqual(report["models"][0]["bounds_ms"]["library_fused"], 0.0377, delta=0.00005)
        self.assertEqual(report["models"], written("analyze", MODEL, "--results", *RESULTS)["models"])

    def test_a_gap_is_that_of_the_readme(self):
        profile = [EXAMPLES / "profiles" / "mnist.csv"]
        for rung, bound in ((None, 0.0387), ("library_fused", 0.0377)):
            gap = benanza.gap(MODEL, profile=profile, latency=[75e-6], results=RESULTS, rung=rung)["gaps"][0]
            self.assertAlmostEqual(gap["latency_ms"], 0.075)
            self.assertAlmostEqual(gap["bound_ms"], bound, delta=0.00005)

    def test_measures_what_no_results_give(self):
        benanza.bound(MODEL, budget=1, threads=1, database=self.folder / "results")
        self.assertTrue(list((self.folder / "results").glob("*.json")))

    def test_runs_a_model_on_arrays(self):
        types = {"float32": onnx_file.F32, "float16": onnx_file.F16, "int64": onnx_file.I64, "int32": onnx_file.I32}
        for name, element in types.items():
            with self.subTest(name):
                file = self.model(onnx_file.node("Add", ["x", "x"], "y"), [onnx_file.value("x", element, [2, 3])],
                                  [onnx_file.value("y", element, [2, 3])])
                x = numpy.array([[1, -2], [3, 4], [5, 60]], name).T  # not contiguous
                y = benanza.run(file, {"x": x})["y"]
                self.assertEqual(y.dtype, numpy.dtype(name))
                numpy.testing.assert_array_equal(y, [[2, 6, 10], [-4, 8, 120]])

    def test_outputs_outlive_the_run(self):
        file = self.model(onnx_file.node("Identity", ["x"], "y"), [onnx_file.value("x", onnx_file.F32, [1000])],
                          [onnx_file.value("y", onnx_file.F32, [1000])])
        y = benanza.run(file, {"x": numpy.full(1000, 3, "float32")})["y"]
        numpy.full(1000, 4, "float32")  # into the memory of the input, if that was freed
        numpy.testing.assert_array_equal(y, numpy.full(1000, 3))

    def test_errors_are_exceptions_of_python(self):
        with self.assertRaisesRegex(ValueError, "nothing.onnx"):
            benanza.layers("nothing.onnx")
        with self.assertRaisesRegex(ValueError, "Input3.*1x1x28x28"):
            benanza.run(MODEL, {"Input3": numpy.zeros((1, 1, 28), "float32")}, weight_seed=1)
        with self.assertRaisesRegex(ValueError, "profile or latency"):
            benanza.gap(MODEL)
        with self.assertRaisesRegex(ValueError, "not a rung"):
            benanza.gap(MODEL, latency=[1e-3], rung="nonsense", results=RESULTS)

    def test_the_command_is_the_program(self):
        command = shutil.which("benanza", path=str(pathlib.Path(sys.executable).parent))
        self.assertIsNotNone(command)
        version = subprocess.run([command, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        self.assertEqual(version[:2], ["benanza", benanza.__version__])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
