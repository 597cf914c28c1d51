#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small models on which engines and importers were wrong: model_cases_test.py PROGRAM FOLDER

FOLDER/expected.json has the shapes of each model's outputs and its multiply-adds, as ONNX Runtime computes and a person counts them, and the public
reports that the models were built from.
"""
import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def layers(*options):
    """The models of `benanza layers`, by name"""
    told = subprocess.run([PROGRAM, "layers", FOLDER, "--quiet", *options, "--json", "-"], capture_output=True, text=True, timeout=600, check=False)
    if told.returncode != 0:
        sys.exit(told.stderr)
    return {model["model"]: model for model in json.loads(told.stdout)["models"]}


class ModelCases(unittest.TestCase):
    def test_each_model_has_an_expectation(self):
        self.assertEqual(sorted(EXPECTED), sorted(file.stem for file in FOLDER.glob("*.onnx")))

    def test_shapes_of_outputs(self):
        models = layers("--tensors")
        for name, expected in EXPECTED.items():
            with self.subTest(name):
                shapes = {tensor["name"]: tensor["shape"] for tensor in models[name]["tensors"]}
                self.assertEqual(models[name]["outputs"], list(expected["outputs"]))
                self.assertEqual({output: shapes.get(output) for output in models[name]["outputs"]}, expected["outputs"])

    def test_multiply_adds(self):
        models = layers()
        for name, expected in EXPECTED.items():
            with self.subTest(name):
                self.assertEqual(models[name]["macs"], expected["macs"])
                self.assertFalse(models[name]["partial"], models[name]["unknown"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
