#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That an operator, a backend, a fusion pattern and a report are added as CONTRIBUTING says, by editing what it names and nothing else.

    extend_test.py ROOT COMPILER INCLUDE_FOLDERS PREFIX_PATH

Each test copies the sources, adds the files in extend/<what>/ and the lines that it names, and compiles what sees them. Nothing is built whole.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from include_direction import wrong_edges  # noqa: E402

ROOT, COMPILER, INCLUDE_FOLDERS, PREFIX_PATH = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


def places(what):
    """The files and folders that CONTRIBUTING's row names."""
    row = re.search(rf"^\| {what} \| (.+) \|$", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [place for place in re.findall(r"`([^`]+)`", row[1]) if "/" in place or "." in place]


class Tree:
    """A copy of the sources, and what was added to it."""

    def __init__(self, folder, what):
        self.root, self.touched = pathlib.Path(folder), set()
        for name in ("cmake", "codegen", "include", "src"):
            shutil.copytree(ROOT / name, self.root / name)
        for name in ("CMakeLists.txt", "LICENSE"):
            shutil.copy(ROOT / name, self.root / name)
        added = HERE / "extend" / what
        for path in sorted(added.rglob("*.*")):
            self.touched.add(path.relative_to(added).as_posix())
        shutil.copytree(added, self.root, dirs_exist_ok=True)

    def insert(self, file, before, text):
        """Adds text before the one place in a file."""
        path = self.root / file
        old = path.read_text(encoding="utf-8")
        if old.count(before) != 1:
            raise AssertionError(f"{file}: {before!r} stands there {old.count(before)} times")
        path.write_text(old.replace(before, text + before), encoding="utf-8")
        self.touched.add(file)

    def run(self, command):
        made = subprocess.run([str(word) for word in command], cwd=self.root, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}\n{made.stdout}{made.stderr}")
        return made.stdout

    def compile(self, option, files):
        """As one translation unit, which parses the model's headers once."""
        (self.root / "all.cpp").write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
        folders = [".", "include", "src", "src/reference", "src/tool", "src/backend/native", ROOT / "tests"]
        # Folders of third parties may be the system's own, which must stay where the compiler looks for it.
        third_parties = [word for folder in INCLUDE_FOLDERS.split(",") if folder for word in ("-idirafter", folder)]
        self.run([COMPILER, *FLAGS, *option, *[word for folder in folders for word in ("-I", folder)], *third_parties, "all.cpp"])

    def check(self, *files):
        """With the declarations alone of what compiled libraries define (benanza/impl/inline.hpp)."""
        self.compile(["-fsyntax-only", "-DBENANZA_COMPILED"], files)

    def output_of(self, *files):
        self.compile(["-o", "program"], files)
        return self.run([self.root / "program"])


class Extend(unittest.TestCase):
    def tree(self, what):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Tree(folder.name, what)

    def assert_as_said(self, tree, row):
        named = places(row)
        for file in sorted(tree.touched):
            said = any(file.startswith(place) if place.endswith("/") else ("/" + file).endswith("/" + place) for place in named)
            self.assertTrue(said, f"{file} was touched; CONTRIBUTING's row of {row} names {named}")
        self.assertEqual(wrong_edges(tree.root), wrong_edges(ROOT))

    def test_an_operator(self):
        tree = self.tree("operator")
        operator = re.search(r"^(struct Det \{.*?^\};\n\n)(.*)\}  // namespace", (HERE / "extend/det.hpp").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        tree.insert("include/benanza/op/reduction.hpp", "}  // namespace benanza::op", operator[1])
        tree.insert("include/benanza/impl/op/reduction_inl.hpp", "}  // namespace benanza::op", operator[2])
        tree.insert("include/benanza/op/ops.hpp", "op::TopK", "op::Det, ")
        tree.insert("include/benanza/operators/detail/product.hpp", '.ranks = {{{0, 2, 0}}}},\n    {.type = "Einsum"', ".traits = {few_operations}, ")
        tree.insert("src/reference/evaluate.hpp", "// movement.cpp\n", "// det.cpp\nElements compute(const op::Det& det, const Query& query);\n")
        tree.insert("src/reference/CMakeLists.txt", "elementwise.cpp", "det.cpp ")
        self.assert_as_said(tree, "an operator")
        tree.check("src/model/lookup.cpp", "src/reference/reference.cpp", "src/backend/native/backend.cpp")
        tree.output_of("src/reference/det.cpp", "src/gap/engine_words.cpp", "src/plan/element.cpp", HERE / "extend/ask_operator.cpp")

    def test_a_backend(self):
        tree = self.tree("backend")
        tree.insert("CMakeLists.txt", " ${BENANZA_NCCL_BACKEND})", " nothing")
        self.assert_as_said(tree, "a backend")
        parts = [f"-DBENANZA_{part}=OFF" for part in ("CUDA", "ONEDNN", "OPENBLAS", "BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_BENCHMARKS", "INSTALL")]
        tree.run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_PREFIX_PATH={PREFIX_PATH}", *parts])
        tree.check("src/backend/nothing/backend.cpp", "build/src/bench/backends.cpp")
        self.assertIn("nothing::backend()", (tree.root / "build/src/bench/backends.cpp").read_text(encoding="utf-8"))

    def test_a_fusion_pattern(self):
        tree = self.tree("pattern")
        tree.insert("include/benanza/impl/fusion/default_patterns_inl.hpp", "#include <benanza/impl/inline.hpp>", "#include <benanza/fusion/detail/sign.hpp>\n")
        tree.insert("include/benanza/impl/fusion/default_patterns_inl.hpp", '{"activation",', '{"sign", detail::match_sign},\n          ')
        self.assert_as_said(tree, "a fusion pattern")
        # Without it: Unary/f32/fn=neg/x=32/post=abs.
        self.assertEqual(tree.output_of(HERE / "extend/ask_pattern.cpp").split(), ["Unary/f32/fn=abs/x=32", "Softmax/f32/x=1x4x8"])

    def test_a_report(self):
        tree = self.tree("report")
        tree.insert("src/report/CMakeLists.txt", "page_json.cpp", "name_report.cpp ")
        self.assert_as_said(tree, "a report")
        tree.check("src/report/name_report.cpp", HERE / "extend/ask_report.cpp")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
