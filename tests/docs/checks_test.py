#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of the documents find what is wrong: each case is a small tree with one mistake, or with none."""
import pathlib
import tempfile
import textwrap
import unittest

import blocks
import links
import markdown

PROGRAM = """\
    #!/bin/sh
    case "$1 $2" in
      "layers --help") echo 'example: benanza layers MODEL'; echo '  --csv FILE' ;;
      "greet "*) echo "hello $2"; echo 'second line' ;;
      *) exit 2 ;;
    esac
    """


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("README.md", "# Project\n")
        self.write("CONTRIBUTING.md", "# Contributing\n")
        self.write("docs/guide.md", "# Guide\n\n## The ladder\n")
        self.write("examples/one.cpp", "int main() {\n  return 0;\n}\n")
        self.write("scripts/run", "#!/bin/sh\n").chmod(0o755)
        self.program = self.write("program", PROGRAM)
        self.program.chmod(0o755)

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def of_readme(self, text):
        self.write("README.md", text)
        return list(blocks.Blocks(self.program, self.root).complaints())

    def of_block(self, mark, *lines):
        return self.of_readme("\n".join([f"<!-- test: {mark} -->", "```text", *lines, "```", ""]))

    def test_a_block_without_a_mark_or_a_fence_is_found(self):
        self.assertIn("README.md:2: no mark", self.of_readme("```sh\nls\n```\n")[0])
        self.assertIn("README.md:3: a code block without a fence", self.of_readme("text\n\n    indented\n")[0])
        self.assertEqual(self.of_readme("- item\n\n    still the item\n"), [])
        self.assertIn("is not a mark", self.of_block("nonsense", "x")[0])

    def test_what_a_command_prints_is_compared(self):
        self.assertEqual(self.of_block("run", "$ benanza greet you", "hello you", "second line"), [])
        self.assertEqual(self.of_block("run", "$ benanza greet you", "hello you", "..."), [])
        self.assertEqual(len(self.of_block("run", "$ benanza greet you", "hello me", "...")), 1)
        self.assertEqual(len(self.of_block("run", "$ benanza greet you", "hello you")), 1)
        self.assertIn("exit code 2", self.of_block("run", "benanza nothing")[0])

    def test_commands_that_are_not_run_have_to_exist(self):
        self.assertEqual(self.of_block("usage", "benanza layers MODEL --csv FILE   # comment", "scripts/run"), [])
        self.assertIn("no option '--nothing'", self.of_block("usage", "benanza layers MODEL --nothing")[0])
        self.assertIn("no subcommand 'nothing'", self.of_block("usage", "benanza nothing")[0])
        self.assertIn("scripts/nothing is not a program", self.of_block("usage", "scripts/nothing")[0])
        self.assertIn("nobody knows 'mystery'", self.of_block("usage", "mystery")[0])

    def test_code_stands_in_a_source_that_is_compiled(self):
        self.assertEqual(self.of_block("part-of examples/one.cpp", "return 0;"), [])
        self.assertIn("is not a part", self.of_block("part-of examples/one.cpp", "return 1;")[0])
        self.assertIn("is not a part", self.of_block("part-of examples/one.cpp", "int main() {", "}")[0])
        self.assertIn("is not compiled", self.of_block("part-of README.md", "x")[0])

    def test_names_in_a_table_stand_in_the_code(self):
        self.write("src/keys.cpp", 'auto a = "latency_ms"; auto b = "model_floor";\n')
        table = "<!-- test: names-in src/keys.cpp -->\n| key | what |\n| --- | --- |\n| `{}` | x |\n"
        self.assertEqual(self.of_readme(table.format("latency_ms")), [])
        self.assertEqual(self.of_readme(table.format("model floor")), [])
        self.assertIn("'latency' is not in src/keys.cpp", self.of_readme(table.format("latency"))[0])

    def test_figures_of_a_report_may_differ_and_names_may_not(self):
        line = "  library fused    {} ms  {} ± {} %"
        self.assertEqual(blocks.masked(line.format("51.2", "████▏  ", "6.5")), blocks.masked(line.format("9.87", "██ ", "0.1")))
        self.assertNotEqual(blocks.masked("  library fused  1 ms"), blocks.masked("  library  1 ms"))
        row = "   14.4 %   7.02 ms     x5    66 %  Conv 1x256x14x14, 256 of... onednn brgconv"
        self.assertEqual(blocks.layer_of(row), ("x5", "Conv 1x256x14x14, 256 of"))
        self.assertTrue(blocks.is_layer(blocks.layer_of(row), ("x5", "Conv 1x256x14x14, 256 of 3x3")))
        self.assertFalse(blocks.is_layer(blocks.layer_of(row), ("x5", "Conv 1x256x14x14, 64 of 1x1")))
        self.assertIsNone(blocks.layer_of("  library fused    51.2 ms"))

    def complaints(self):
        return links.complaints(self.root)

    def test_links_lead_somewhere(self):
        self.write("README.md", "[a](docs/guide.md) [b](docs/guide.md#the-ladder) [c](#project) [d](https://example.org/x#y)\n\n# Project\n")
        self.assertEqual(self.complaints(), [])
        self.write("README.md", "[a](docs/none.md)\n")
        self.assertIn("README.md:1: links to docs/none.md", self.complaints()[0])
        self.write("README.md", "[a](docs/guide.md#nothing)\n")
        self.assertIn("a heading that does not exist", self.complaints()[0])

    def test_files_that_documents_name_exist(self):
        self.write("include/benanza/op/conv.hpp", "")
        self.write("README.md", "`examples/one.cpp` `examples/` `op/conv.hpp` `src/backend/mine/` `a/b`\n")
        self.assertEqual(self.complaints(), [])
        self.write("README.md", "`examples/two.cpp`\n")
        self.assertIn("README.md:1: names examples/two.cpp", self.complaints()[0])

    def test_sections_that_comments_cite_exist(self):
        self.write("src/a.cpp", '// See docs/guide.md,\n// "The ladder", or docs/guide.md. Not https://example.org/docs/other.md\n')
        self.assertEqual(self.complaints(), [])
        self.write("src/a.cpp", '// See docs/guide.md, "The\n// stairs".\n')
        self.assertIn('src/a.cpp: cites docs/guide.md, "The stairs"', self.complaints()[0])
        self.write("src/a.cpp", "/// (docs/none.md)\n")
        self.assertIn("src/a.cpp: cites docs/none.md, which does not exist", self.complaints()[0])

    def test_readme_stays_short(self):
        self.write("README.md", "word " * links.MOST_WORDS)
        self.assertEqual(self.complaints(), [])
        self.write("README.md", "word " * (links.MOST_WORDS + 1))
        self.assertIn("1201 words", self.complaints()[0])

    def test_anchors_are_those_of_github(self):
        document = markdown.read("x.md", "# A gap, and how it was closed\n## JSON\n## JSON\n```sh\n# no heading\n```\n")
        self.assertEqual(document.anchors, {"a-gap-and-how-it-was-closed", "json", "json-1"})


if __name__ == "__main__":
    unittest.main()
