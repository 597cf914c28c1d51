#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That a wrong edge is really found: small trees with one include each."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from include_direction import wrong_edges  # noqa: E402


def found_in(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("model/graph", "model/layer", "model/units", "results/results", "measure/measure", "op/convolution", "op/pooling", "op/operator", "op/ops", "bench/run_suite", "bounds/analysis", "bounds/analyze"):
            path = root / "include" / "benanza" / f"{name}.hpp"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#pragma once\n", encoding="utf-8")
        wrappers = {"src/measure/host.hpp": "#pragma once\n", "src/plan/topology.cpp": "#include <hwloc.h>\n", "src/onnx/parse.cpp": "#include <onnx/onnx_pb.h>\n"}
        for name, text in (wrappers | files).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return wrong_edges(root)


WRONG = [
    ("include/benanza/model/layer.hpp", "#include <nlohmann/json.hpp>", "nlohmann/json is seen only in"),
    ("include/benanza/onnx.hpp", "#include <onnx/onnx_pb.h>", "ONNX is seen only in"),
    ("include/benanza/model/graph.hpp", "#include <sys/mman.h>", "standard library"),
    ("include/benanza/model/units.hpp", "#include <benanza/model/layer.hpp>", "a lower level includes a higher one"),
    ("include/benanza/model/graph.hpp", "#include <benanza/results/results.hpp>", "model does not stand on results"),
    ("src/plan/fill.cpp", "#include <benanza/measure/measure.hpp>", "plan does not stand on measure"),
    ("benchmarks/timer_study.hpp", '#include "measure/nothere.hpp"', "there is no such header"),
    ("examples/own.cpp", '#include "measure/host.hpp"', "examples include what is installed"),
    ("src/plan/fill.cpp", '#include "measure/host.hpp"', "plan does not stand on measure"),
    ("src/attic/old.cpp", "#include <benanza/model/graph.hpp>", "no room attic"),
    ("include/benanza/op/convolution.hpp", "#include <benanza/op/pooling.hpp>", "a family of operators includes another one"),
    ("include/benanza/op/convolution.hpp", '#include "pooling.hpp"', "<benanza/...>"),
    ("include/benanza/model/layer.hpp", "#include <benanza/nothere.hpp>", "no such header"),
    ("include/benanza/bench/run_suite.hpp", "#include <benanza/results/results.hpp>", "generated suites must not see results"),
    ("include/benanza/bounds/analysis.hpp", "#include <benanza/bounds/analyze.hpp>", "the types of the ladder must not see bounds/analyze"),
    ("include/benanza/bounds/analysis.hpp", "#include <regex>", "the types of the ladder must not see regex"),
    ("src/fusion/fuse.cpp", "#include <benanza/model/graph.hpp>", "fusion is pure computation"),
    ("src/bounds/bounds.cpp", "#include <benanza/results/results.hpp>", "bounds is pure computation"),
    ("src/gap/gap.cpp", "#include <simdjson.h>", "simdjson is seen only in"),
    ("src/report/bound/bound_table.cpp", "#include <nlohmann/json.hpp>", "nlohmann/json is seen only in"),
    ("src/results/read.cpp", "#include <fmt/format.h>", "fmt is seen only in"),
    ("src/tool/main.cpp", "#  include <google/protobuf/message.h>", "protobuf is seen only in"),
    ("src/backend/native/relu.cpp", "#include <oneapi/dnnl/dnnl.hpp>", "oneDNN is seen only in"),
    ("src/backend/onednn/backend.cpp", "#include <cblas.h>", "OpenBLAS is seen only in"),
    ("src/bench/run_suite.cpp", "#include <CLI/CLI.hpp>", "CLI11 is seen only in"),
    ("src/onnx/import.cpp", "#include <catch2/catch.hpp>", "Catch2 is seen only in"),
    ("src/onnx/import.cpp", '#include "../results/read.hpp"', 'others as "ROOM/..."'),
    ("src/onnx/import.cpp", "#include <boost/any.hpp>", "no rule knows"),
]

RIGHT = {
    "include/benanza/model/layer.hpp": "#include <vector>\n#include <benanza/model/graph.hpp>\n#include <benanza/op/ops.hpp>\n",
    "include/benanza/op/convolution.hpp": "#include <benanza/op/operator.hpp>\n#include <benanza/model/units.hpp>\n",
    "include/benanza/op/ops.hpp": "#include <benanza/op/convolution.hpp>\n#include <benanza/op/pooling.hpp>\n",
    "src/onnx/import.cpp": '#include <onnx/onnx_pb.h>\n#include <google/protobuf/arena.h>\n#include <benanza/model/graph.hpp>\n#include "import.hpp"\n',
    "src/onnx/import.hpp": "#include <sys/mman.h>\n#include <unistd.h>\n",
    "src/isolation/worker.cpp": '#include "measure/host.hpp"\n',
    "benchmarks/timer_study.hpp": '#include "measure/host.hpp"\n',
    "src/measure/measure.cpp": "#include <benanza/measure/measure.hpp>\n#include <benanza/model/units.hpp>\n",
    "src/format/json_values.hpp": "#include <nlohmann/json.hpp>\n// #include <onnx/onnx_pb.h>\n",
    "src/backend/onednn/backend.cpp": "#include <oneapi/dnnl/dnnl.hpp>\n",
}


class IncludeDirection(unittest.TestCase):
    def test_wrong_edges_are_found_with_file_and_line(self):
        for file, line, why in WRONG:
            with self.subTest(file=file, line=line):
                found = found_in({file: "// one line\n" + line + "\n"})
                self.assertEqual(len(found), 1, found)
                self.assertIn(why, found[0])
                self.assertTrue(found[0].startswith(file + ":"), found[0])

    def test_a_room_that_stands_on_a_wrapper_is_compiled(self):
        wrapper = {"src/profile/read.cpp": "#include <simdjson.h>\n"}
        pure = {"src/gap/gap.cpp": "#include <benanza/model/graph.hpp>\n"}
        self.assertEqual(found_in(wrapper | pure), [])
        self.assertEqual(found_in(pure), ["src/gap/gap.cpp: gap is pure computation: header-only"])

    def test_one_source_compiles_what_a_header_ends_with(self):
        header, body, source = "include/benanza/fusion/fuse.hpp", "include/benanza/impl/fusion/fuse_inl.hpp", "src/fusion/fuse.cpp"
        included = "#include <benanza/impl/fusion/fuse_inl.hpp>\n"
        tree = {header: f"#pragma once\n#ifndef BENANZA_COMPILED\n{included}#endif\n", body: "#pragma once\n", source: f"// Comment.\n{included}"}
        self.assertEqual(found_in(tree), [])
        self.assertEqual(found_in(tree | {source: tree[source] + "int more() { return 1; }\n"}), [f"{source}: fusion is pure computation: header-only"])
        for more, compiled in (({source: ""}, "nothing"), ({"src/fusion/more.cpp": included}, [source, "src/fusion/more.cpp"]),
                               ({source: "", "src/measure/fuse.cpp": included}, ["src/measure/fuse.cpp"])):
            self.assertIn(f"{body}: compiled by {compiled}, not by one source of its room", found_in(tree | more))
        self.assertIn(f"{body}: no header ends with it", found_in(tree | {header: "#pragma once\n"}))
        for wrong in (f"#pragma once\n{included}", tree[header] + "int more();\n"):
            self.assertIn(f"{header}: includes what impl/ has elsewhere than at its end, where BENANZA_COMPILED is not defined", found_in(tree | {header: wrong}))

    def test_the_facade_names_the_targets_of_what_it_includes(self):
        tree = {"CMakeLists.txt": "target_link_libraries(benanza_analyzer INTERFACE benanza_gap)\n", "include/benanza/report/report.hpp": "#pragma once\n"}
        includes = "#include <benanza/bounds/analyze.hpp>\n#include <benanza/report/report.hpp>\n"
        self.assertEqual(found_in(tree | {"include/benanza/benanza.hpp": "// benanza::analyzer, benanza::report\n" + includes}), [])
        self.assertEqual(found_in(tree | {"include/benanza/benanza.hpp": "// benanza::analyzer\n" + includes}),
                         ["include/benanza/benanza.hpp:3: includes benanza/report/report.hpp, whose target the comment does not name"])

    def test_right_edges_are_no_complaint(self):
        self.assertEqual(found_in(RIGHT), [])


if __name__ == "__main__":
    unittest.main()
