#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An installed program needs nothing of the folders in which it was built.

    program_test.py PROGRAM ROOT EXAMPLES FOLDER...

ROOT holds everything that was installed; PROGRAM is in it. EXAMPLES is the folder of that name of the sources. The FOLDERs are those of the
build and of its dependencies.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, ROOT, EXAMPLES, *FOLDERS = (pathlib.Path(path).resolve() for path in sys.argv[1:])
MODEL = EXAMPLES / "models" / "zoo2019" / "MNIST.onnx"


def output_of(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def foreign(path):
    return any(path.is_relative_to(folder) for folder in FOLDERS) and not path.is_relative_to(ROOT)


class InstalledProgram(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def bare(self, *arguments):
        """The program's output where no variable helps it."""
        return output_of(PROGRAM, *arguments, cwd=self.folder.name, env={"HOME": self.folder.name, "PATH": "/usr/bin:/bin"})

    def test_libraries_are_installed_ones(self):
        loaded = dict(re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", PROGRAM, env={"PATH": os.environ["PATH"]}), re.MULTILINE))
        self.assertIn("libdnnl.so.3", loaded)
        self.assertTrue(pathlib.Path(loaded["libdnnl.so.3"]).resolve().is_relative_to(ROOT), loaded)
        self.assertEqual([path for path in loaded.values() if foreign(pathlib.Path(path).resolve())], [])

    def test_run_path_names_no_folder_of_the_build(self):
        found = re.search(r"\(RUNPATH\).*\[(.*)\]", output_of("readelf", "--dynamic", PROGRAM))
        self.assertIsNotNone(found)
        entries = found[1].split(":")
        self.assertTrue(entries[0].startswith("$ORIGIN/"), entries)
        self.assertEqual([one for one in entries[1:] if not one.startswith(("/usr/lib", "$ORIGIN/"))], [])

    def test_package_files_name_no_folder_of_the_build(self):
        files = sorted(ROOT.rglob("*.cmake"))
        named = [file for file in files for folder in FOLDERS if str(folder) in file.read_text(encoding="utf-8").replace(str(ROOT), "")]
        self.assertEqual(named, [])

    def test_completions_and_man_page_are_those_of_the_program(self):
        for file, arguments in (("bash-completion/completions/benanza", ("completion", "bash")), ("zsh/site-functions/_benanza", ("completion", "zsh")),
                                ("fish/vendor_completions.d/benanza.fish", ("completion", "fish")), ("man/man1/benanza.1", ("man",))):
            self.assertEqual((ROOT / "share" / file).read_text(encoding="utf-8"), self.bare(*arguments))

    def test_stored_results_give_the_bound_of_the_readme(self):
        table = self.bare("analyze", MODEL, "--results", EXAMPLES / "results" / "mnist.json")
        self.assertRegex(table, r"library fused +37\.7 us")

    def test_measures(self):
        table = self.bare("bound", MODEL, "--budget", "2s", "--database", "results", "--quiet")
        self.assertRegex(table, r"model floor +[0-9.]+ [num]s")
        self.assertTrue(list((pathlib.Path(self.folder.name) / "results").glob("*.json")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
