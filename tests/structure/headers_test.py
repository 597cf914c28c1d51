#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That headers.py finds what a header lacks.

    headers_test.py COMPILER
"""
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import headers  # noqa: E402

COMPILER = sys.argv[1]

# `text` and `line` include what they need.
GOOD = {
    "text.hpp": "#pragma once\n#include <string>\nusing Text = std::string;\n",
    "line.hpp": "#pragma once\n#include <text.hpp>\n#include <vector>\nstruct Line { std::vector<Text> words; };\n",
}


def found_in(texts):
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder) / "include"
        for name, text in texts.items():
            (include / name).parent.mkdir(parents=True, exist_ok=True)
            (include / name).write_text(text, encoding="utf-8")
        return headers.failures(include, pathlib.Path(folder) / "made", [COMPILER, "-std=c++20", f"-I{include}"])


def chains_of(texts):
    return sorted(headers.Headers(texts, True).chains(texts))


class HeadersTest(unittest.TestCase):
    def test_good_headers_are_compiled_together(self):
        self.assertEqual(chains_of(GOOD), [["text.hpp", "line.hpp"]])
        self.assertEqual(found_in(GOOD), [])

    def test_a_forgotten_include_is_found(self):
        cases = {
            "of the standard library": {"more.hpp": "#pragma once\n#include <vector>\ninline std::string more() { return {}; }\n"},
            "of an own header": {"more.hpp": "#pragma once\n#include <string>\n#include <vector>\ninline Text more() { return {}; }\n"},
            "of everything": {"more.hpp": "#pragma once\ninline Line more() { return {}; }\n"},
            "before its use": {"more.hpp": "#pragma once\n#include <string>\ninline Line more() { return {}; }\n#include <line.hpp>\n"},
            "outside of a comment": {"more.hpp": "#pragma once\n/*\n#include <text.hpp>\n*/\n#include <string>\ninline Text more() { return {}; }\n"},
            "where the library is linked": {
                "more.hpp": "#pragma once\n#ifndef BENANZA_COMPILED\n#include <text.hpp>\n#endif\ninline Text more() { return {}; }\n"},
        }
        for what, more in cases.items():
            with self.subTest(what):
                found = found_in(GOOD | more)
                self.assertEqual(len(found), 1, found)
                self.assertIn("more.hpp", found[0])

    def test_a_forgotten_pragma_is_found(self):
        found = found_in(GOOD | {"more.hpp": "struct More {};\n"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("redefinition", found[0])

    def test_a_header_that_is_included_under_a_condition_is_not_relied_on(self):
        conditional = "#pragma once\n#if __has_include(<text.hpp>)\n#include <text.hpp>\n#endif\n#include <vector>\n"
        self.assertEqual(len(chains_of(GOOD | {"line.hpp": conditional})), 2)

    def test_definitions_of_a_library_are_compiled_where_they_are(self):
        texts = {
            "count.hpp": "#pragma once\nint count();\n#ifndef BENANZA_COMPILED\n#include <detail.hpp>\n#endif\n",
            "detail.hpp": "#pragma once\n#include <count.hpp>\ninline int count() { return size; }\n",
        }
        found = found_in(texts)  # once through count.hpp, once by itself
        self.assertEqual(len(found), 2, found)
        self.assertTrue(all("size" in said for said in found), found)
        self.assertEqual(list(headers.includes(texts["count.hpp"], True)), [])
        self.assertEqual(list(headers.includes(texts["count.hpp"], False)), [("detail.hpp", True, False)])  # after code
        self.assertEqual(list(headers.includes("#include <a/b.hpp>  // why\n#include \"c.hpp\"\n", True)), [("a/b.hpp", True, True), ("c.hpp", False, False)])

    def test_what_passed_is_compiled_again_after_a_change(self):
        with tempfile.TemporaryDirectory() as folder:
            include, made = pathlib.Path(folder) / "include", pathlib.Path(folder) / "made"
            include.mkdir()
            for name, text in GOOD.items():
                (include / name).write_text(text, encoding="utf-8")
            command = [COMPILER, "-std=c++20", f"-I{include}"]
            self.assertEqual(headers.failures(include, made, command), [])
            compiled = list(made.glob("*.cpp"))
            self.assertTrue(compiled)
            for path in compiled:
                path.unlink()
            self.assertEqual(headers.failures(include, made, command), [])
            self.assertEqual(list(made.glob("*.cpp")), [])
            (include / "text.hpp").write_text("#pragma once\nusing Text = std::string;\n", encoding="utf-8")
            self.assertEqual(len(headers.failures(include, made, command)), 1)
            self.assertEqual(len(headers.failures(include, made, command)), 1)  # what failed is not taken for passed

    def test_headers_of_like_names_are_both_compiled(self):
        bad, good = "#pragma once\ninline std::string more() { return {}; }\n", "#pragma once\n"
        for texts in ({"a/b_c.hpp": bad, "a_b/c.hpp": good}, {"a/b_c.hpp": good, "a_b/c.hpp": bad}):
            self.assertEqual(len(found_in(texts)), 1, texts)

    def test_headers_that_include_each_other(self):
        texts = {"a.hpp": "#pragma once\n#include <b.hpp>\n#include <string>\n", "b.hpp": "#pragma once\n#include <a.hpp>\n#include <vector>\n"}
        all_headers = headers.Headers(texts, True)
        for name in texts:
            self.assertEqual(all_headers.before_code(name), {"a.hpp", "b.hpp", "string", "vector"})
        self.assertEqual(list(all_headers.chains(texts)), [["a.hpp", "b.hpp"]])

    def test_what_a_header_ends_with_is_there_for_those_that_include_it(self):
        whole = "#pragma once\nstruct Whole {};\n#include <part.hpp>\n#include <text.hpp>\n"
        user = "#pragma once\n#include <whole.hpp>\ninline Text use(Whole) { return {}; }\n"
        part = "#pragma once\nstruct Part {};\n"
        self.assertTrue(headers.Headers(GOOD | {"whole.hpp": whole, "part.hpp": part, "user.hpp": user}, True).may_precede("text.hpp", "user.hpp"))
        # Not for what it ends with itself: included by whole.hpp, part.hpp has no text.hpp.
        part = "#pragma once\n#include <whole.hpp>\ninline Text part(Whole) { return {}; }\n"
        texts = GOOD | {"whole.hpp": whole, "part.hpp": part, "user.hpp": user}
        self.assertFalse(headers.Headers(texts, True).may_precede("text.hpp", "part.hpp"))
        found = found_in(texts)
        self.assertTrue(any("part.hpp" in said and "Text" in said for said in found), found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
