#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That a wrong name is really found, in small trees of one file."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from names import wrong_names  # noqa: E402

WRONG = [
    ("src/plan/fill.cpp", "int normalise(int x);  // one line\n", "normalise is spelled"),
    ("src/plan/fill.cpp", "const char* colours = \"red\";\n", "colours is spelled"),
    ("tests/cli/cli_test.py", "def centred(x):\n    return x\n", "centred is spelled"),
    ("src/plan/CMakeLists.txt", "set(optimisation -O3)\n", "optimisation is spelled"),
    ("src/plan/summarise.cpp", "", "the file's name is spelled"),
    ("include/benanza/op/conv.hpp", "", "has no name of a family"),
    ("src/backend/native/winograd.cpp", "", "has no name of a family"),
]
RIGHT = [
    ("src/plan/fill.cpp", "// normalised\nint normalize(int x);  /* colour */\nconst char* text = \"colour\";\n"),
    ("src/plan/fill.cpp", "bool is_optimistic, cancellation, parallelism, fulfilled;\n"),
    ("tests/cli/cli_test.py", "# colour\nname = 'colour'\n"),
    ("tests/data/colour.txt", ""),
    ("include/benanza/op/movement_parts.hpp", ""),
    ("include/benanza/op/operator.hpp", ""),
    ("src/backend/native/convolution_winograd.cpp", ""),
    ("src/backend/native/isa.cpp", ""),
]


def found_in(file, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / file
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        return list(wrong_names(pathlib.Path(folder)))


class Names(unittest.TestCase):
    def test_wrong_names_are_found_with_their_file(self):
        for file, text, why in WRONG:
            with self.subTest(file=file, text=text):
                found = found_in(file, text)
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(file + ": "), found[0])
                self.assertIn(why, found[0])

    def test_right_names_are_no_complaint(self):
        for file, text in RIGHT:
            with self.subTest(file=file, text=text):
                self.assertEqual(found_in(file, text), [])


if __name__ == "__main__":
    unittest.main()
