#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commands have in common in their reports: the headline, shares of floors, CSV, Markdown; and files that a killed suite leaves.

    reports_test.py PROGRAM EXAMPLES [Reports.test_...]
"""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, EXAMPLES = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MNIST, RESULTS, PROFILE = (EXAMPLES / name for name in ("models/zoo2019/MNIST.onnx", "results/mnist.json", "profiles/mnist.csv"))
UPGRADED = EXAMPLES / "results/mnist_upgraded.json"


class Reports(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_program(self, *arguments, code=0):
        ran = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=self.at, env=dict(os.environ, XDG_CACHE_HOME=str(self.at)))
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.run_program(*arguments, "-").stdout)))

    def model(self, *arguments):
        return json.loads(self.run_program("analyze", MNIST, *arguments, "--json", "-").stdout)["models"][0]

    def without(self, *parts):
        """The results without the rows that have one of these parts in their name and line end."""
        results = json.loads(RESULTS.read_text())
        results["benchmarks"] = [row for row in results["benchmarks"] if not any(part in row["name"] + "\n" for part in parts)]
        file = self.at / "fewer.json"
        file.write_text(json.dumps(results))
        return file

    def test_all_commands_take_the_same_rung_for_the_bound(self):
        headlines = [row["rung"] for row in self.rows("analyze", MNIST, "--results", RESULTS, "--csv-rungs") if row["headline"] == "1"]
        self.assertEqual(headlines, ["library_fused_resident"])
        compared = [row["rung"] for row in self.rows("gap", MNIST, "--results", RESULTS, "--latency", "75us", "--csv-rungs") if row["compared"] == "1"]
        changed = {row["rung"] for row in self.rows("db", "diff", RESULTS, UPGRADED, "--model", MNIST, "--csv-rungs") if row["headline"] == "1"}
        self.assertEqual((compared, changed), (headlines, {*headlines}))
        self.assertIn("sequential  ratio  parallel  ratio  headline  ratio", self.run_program("study", MNIST, "--results", RESULTS).stdout)
        # It is 38.7 us.
        analyze = ["analyze", MNIST, "--results", RESULTS, "--quiet"]
        self.run_program(*analyze, "--assert-latency", "38.8us")
        failed = self.run_program(*analyze, "--assert-latency", "38.6us", code=4)
        self.assertIn("library_fused_resident is 0.0386853 ms, asserted at most 0.0386 ms", failed.stderr)

    def test_rungs_without_a_value_are_lines_too(self):
        fewer = self.without("/cold-weights/")
        rungs = {row["rung"]: row for row in self.rows("analyze", MNIST, "--results", fewer, "--csv-rungs")}
        shown = re.findall(r"^  (\w[\w ]+?) {2,}unknown$", self.run_program("analyze", MNIST, "--results", fewer).stdout, re.MULTILINE)
        self.assertIn("library fused resident", shown)
        self.assertEqual({name for name, row in rungs.items() if row["status"] == "unknown"}, {name.replace(" ", "_") for name in shown})
        self.assertEqual(rungs["library_fused_resident"]["bound_ms"], "")

    def test_markdown_has_the_notes_of_the_table(self):
        arguments = ["analyze", MNIST, "--results", RESULTS]
        table = " ".join(self.run_program(*arguments).stdout.split())
        notes = [line[2:].replace("\\", "") for line in self.run_program(*arguments, "--md", "-").stdout.splitlines() if line.startswith("- ")]
        self.assertTrue(notes[0].startswith("assumed: direct matrix products"), notes)
        for note in notes:
            self.assertIn(note, table)

    def test_the_comparison_of_models_fits_80_columns(self):
        for file in (RESULTS, UPGRADED):
            shutil.copy(file, self.at)  # a short path
        lines = self.run_program("db", "diff", RESULTS.name, UPGRADED.name, "--model", MNIST).stdout.splitlines()
        self.assertIn("MNIST", lines)
        self.assertEqual([line for line in lines if len(line) > 80], [])

    def test_gap_says_that_the_bound_is_unknown_without_a_time(self):
        shown = self.run_program("gap", MNIST, "--results", self.without("/"), "--latency", "75us").stdout
        self.assertRegex(shown, r"library fused resident +unknown")

    def test_without_cold_rows_the_headline_is_the_next_rung(self):
        compared = [row["rung"] for row in self.rows("gap", MNIST, "--results", self.without("/cold-weights/"), "--latency", "75us", "--csv-rungs") if row["compared"] == "1"]
        self.assertEqual(compared, ["library_fused"])

    def test_a_rung_that_is_mostly_floors_has_a_share_in_place_of_an_interval(self):
        whole = self.model("--results", RESULTS)
        self.assertNotIn("floor_share", whole)
        # Of 41.5 us, the second convolution takes 20. Its floor, in a machine of 40 GB/s behind a cache of 4096 bytes: it reads 8 x 196 and
        # 16 x 8 x 25 numbers of 4 bytes and writes 16 x 196, (19072 - 4096 + 12544 - 4096) / 40e9 s = 0.5856 us.
        lacking = self.model("--results", self.without("/Conv/f32/x=1x8x14x14/w=16x8x5x5/pads=2x2x2x2\n"))
        self.assertAlmostEqual(lacking["bounds_ms"]["library"], 0.0215 + 0.0005856, places=9)
        self.assertAlmostEqual(lacking["floor_share"]["library"], 0.5856 / 22.0856, places=9)
        self.assertIn("library", lacking["uncertainty"])
        # No layer of batch 4 was measured, except what has no batch.
        bound = self.model("--results", RESULTS, "--batch", "4")
        self.assertGreater(bound["floor_share"]["library_fused_resident"], 0.05)
        self.assertNotIn("library_fused_resident", bound["uncertainty"])
        table = self.run_program("analyze", MNIST, "--results", RESULTS, "--batch", "4").stdout
        share = round(100 * bound["floor_share"]["library_fused_resident"])
        self.assertRegex(table, rf"library fused resident +[\d.]+ us +[^\n]* F {share} %")
        self.assertIn("F: share of floors of layers without a time; the interval is unknown", table)
        [row] = [row for row in self.rows("analyze", MNIST, "--results", RESULTS, "--batch", "4", "--csv-rungs") if row["headline"] == "1"]
        self.assertEqual((row["uncertainty"], row["status"], round(100 * float(row["floor_share"]))), ("", "partial", share))
        sweep = self.rows("analyze", MNIST, "--results", RESULTS, "--batch", "1,4", "--csv")
        self.assertEqual([(row["latency_ms"] != "", row["uncertainty"] != "", row["throughput_per_s"] != "") for row in sweep], [(True,) * 3, (False,) * 3])
        self.assertIn(f"{share} % of the bound is floors of layers without a time", self.run_program("gap", MNIST, "--results", RESULTS, "--batch", "4", "--latency", "1ms").stdout)

    def test_a_study_has_no_ratio_to_what_is_mostly_floors(self):
        for results, known in ((RESULTS, True), (self.without("/Conv/", "/Pool/"), False)):
            rows = self.rows("study", MNIST, "--results", results, "--latency", EXAMPLES / "latencies.csv", "--csv")
            self.assertEqual({row["ratio_library"] != "" for row in rows}, {known})

    def test_csv_has_layers_and_rungs_apart(self):
        self.assertEqual({row["form"] for row in self.rows("analyze", MNIST, "--results", RESULTS, "--csv")}, {"single", "fused"})
        rungs = {row["rung"]: float(row["bound_ms"]) for row in self.rows("analyze", MNIST, "--results", RESULTS, "--csv-rungs")}
        bounds = self.model("--results", RESULTS)["bounds_ms"]
        self.assertEqual(rungs, {name: time for name, time in bounds.items() if time is not None and name not in ("roofline_memory", "direct_floor")})
        self.assertNotIn("rung", self.rows("db", "diff", RESULTS, UPGRADED, "--model", MNIST, "--csv")[0])

    def test_layers_that_differ_in_dilation_look_different(self):
        model = EXAMPLES / "models" / "modern" / "deeplabv3_resnet50.onnx"
        table = self.run_program("layers", model).stdout.splitlines()
        atrous = [line for line in table if "Conv 1x2048x65x65, 256 of 3x3 d=" in line]
        self.assertEqual(sorted(line.split("d=")[1].split(",")[0].rstrip(".") for line in atrous), ["12", "24", "36"])

    def markdown(self, *arguments):
        """The tables of a Markdown report, each a list of rows of fields; and the text."""
        text = self.run_program(*arguments, "--md", "-").stdout
        tables, last = [], ""
        for line in text.splitlines():
            if line.startswith("|"):
                if not last.startswith("|"):
                    tables.append([])
                tables[-1].append([field.strip().replace("\\", "") for field in re.split(r"(?<!\\)\|", line)[1:-1]])
            last = line
        for table in tables:
            self.assertTrue(all(re.fullmatch("---:?", field) for field in table[1]), table[1])
            self.assertEqual({len(row) for row in table}, {len(table[0])})
        return tables, text

    def test_the_longer_branch_of_an_if_has_no_share_of_the_bound(self):
        model = EXAMPLES / "models/hard/if_two_branches.onnx"
        command = ["bound", model, "--machine", EXAMPLES / "machines/t4.json"]
        one = json.loads(self.run_program(*command, "--json", "-").stdout)["models"][0]
        rows = {row["nodes"][0].split("/")[-1]: row for row in one["rows"] if row["form"] == "fused"}
        # One branch multiplies by 256 x 256, the other by 256 x 1024.
        taken = [row for row in rows.values() if "not_taken" not in row]
        self.assertEqual(len(rows), 2)
        self.assertEqual([row["signature"].count("1024") for row in taken], [0])
        table = self.run_program(*command).stdout
        self.assertRegex(table, r"\n  100\.0 % +\S+ us +x1 +100 % +MatMul 8x256 \* 256x256")
        self.assertRegex(table, r"\n +0\.0 % +0 ms +x1 +100 % +MatMul 8x256 \* 256x1024")
        self.assertIn("1 of 2 layers: in the longer branch of an If", table)
        self.assertRegex(table, r"then_branch \S+ us \(in the bound\), else_branch \S+ us\n")

    def test_models_of_one_file_name_have_their_folders_in_front(self):
        for folder, model in (("bert", MNIST), ("gpt2", EXAMPLES / "models/hard/if_two_branches.onnx")):
            (self.at / folder).mkdir()
            shutil.copy(model, self.at / folder / "model.onnx")
        both = ["bert/model.onnx", "gpt2/model.onnx"]
        self.assertEqual([model["model"] for model in json.loads(self.run_program("layers", *both, "--json", "-").stdout)["models"]], ["bert/model", "gpt2/model"])
        self.assertEqual([model["model"] for model in json.loads(self.run_program("layers", both[0], MNIST, "--json", "-").stdout)["models"]], ["model", "MNIST"])

    def test_a_file_of_two_paths_is_one_model(self):
        shutil.copy(MNIST, self.at / "model.onnx")
        (self.at / "folder").mkdir()
        (self.at / "link.onnx").symlink_to("model.onnx")
        paths = ["model.onnx", "./model.onnx", "folder/../model.onnx", self.at / "model.onnx", "link.onnx"]
        self.assertEqual([model["model"] for model in json.loads(self.run_program("layers", *paths, "--json", "-").stdout)["models"]], ["model"])

    def test_the_largest_batch_that_is_tried_is_marked(self):
        self.assertIn("1e15B): >= 16777215\n", self.run_program("memory", MNIST, "--capacity", "1e15B").stdout)
        self.assertRegex(self.run_program("memory", MNIST, "--capacity", "1GB").stdout, r"1GB\): [1-9]\d*\n")
        document = json.loads(self.run_program("memory", MNIST, "--capacity", "1e15B", "--json", "-").stdout)
        self.assertEqual((document["models"][0]["largest_batch"], document["largest_batch_tried"]), (16777215, 16777215))

    def test_markdown_has_the_figures_of_the_table(self):
        (ladder, layers), text = self.markdown("analyze", MNIST, "--results", RESULTS)
        self.assertTrue(text.startswith("### MNIST\n\nbatch 1, f32, 1 thread, A machine with invented figures\n"), text)
        self.assertIn(["**library fused resident**", "**38.7 us**", "**± 0.0 %**", ""], ladder)
        self.assertEqual(len(layers) - 2, 6)  # groups
        (parts, advice), text = self.markdown("gap", MNIST, "--results", RESULTS, "--profile", PROFILE, "--latency", "75us")
        self.assertEqual((parts[2][:2], parts[-1][:2]), (["**measured**", "**75.0 us**"], ["**library fused resident**", "**38.7 us**"]))
        self.assertGreater(len(advice), 2)
        (models, layers), text = self.markdown("layers", MNIST)
        self.assertEqual(models[2][:3], ["MNIST", "11", "11"])
        self.assertIn("more: `--all`", text)
        (tables,), text = self.markdown("db", "list", RESULTS)
        self.assertEqual(tables[0][:2], ["file", "started"])

    def test_the_whole_rows_of_a_file_that_was_cut_count(self):
        text = RESULTS.read_text()
        lines = text.splitlines(keepends=True)
        whole = len(json.loads(text)["benchmarks"])
        for left in (1, 5, whole - 1):
            first = next(i for i, line in enumerate(lines) if line.startswith('{"name"'))
            cut = self.at / "cut.json"
            cut.write_text("".join(lines[: first + left]) + lines[first + left][:40])
            told = self.run_program("analyze", MNIST, "--results", cut)
            self.assertIn(f"the array has no end, and its last record is cut off: it is left out; whole records: {left}", told.stderr)
        cut.write_text(text[: text.index('{"name"') + 40])
        self.assertIn("the file ends in the middle of the JSON", self.run_program("analyze", MNIST, "--results", cut, code=1).stderr)

    def test_declared_figures_of_a_processor_are_no_basis_of_a_prediction(self):
        told = self.run_program("predict", MNIST, "--from", RESULTS, "--to", EXAMPLES / "machines/epyc_7763.json", code=3).stdout
        self.assertIn("no basis for 6 layers: no peak of f32 was measured on AMD EPYC 7763, one socket: CPUs do not reach their declared figures", " ".join(told.split()))

    def test_a_reproducer_compiles_by_the_line_that_it_has(self):
        if "onednn" not in self.run_program("--version").stdout or shutil.which("g++") is None:
            self.skipTest("oneDNN or g++ is missing")
        (self.at / "a b").mkdir()
        layer = "Conv/f32/x=1x16x14x14/w=16x16x3x3/pads=1x1x1x1/post=bias,relu"
        self.run_program("generate", "--reproducer", layer, "--plan", "onednn/x64:gemm:jit,threads=1", "-o", "a b/slow.cpp")
        line = re.search(r"^//   (g\+\+ .*)$", (self.at / "a b/slow.cpp").read_text(), re.MULTILINE)[1]
        built = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, cwd=self.at)
        self.assertEqual(built.returncode, 0, f"{line}\n{built.stderr}")
        ran = subprocess.run([self.at / "reproducer", "--benchmark_min_time=0.001"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(layer, ran.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
