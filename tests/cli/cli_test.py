#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program from outside: exit codes, one line for each mistake, documents that parse. cli_test.py PROGRAM MODELS"""
import csv
import io
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])
RESULTS = MODELS.parent / "results"
MNIST = MODELS / "zoo2019" / "MNIST.onnx"
SYMBOLIC = MODELS / "hard" / "bert_base_batch_seq_symbolic.onnx"


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False, **options)


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def fails(self, code, says, *arguments):
        """One line on stderr that holds every text of `says`, nothing on stdout."""
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        for text in says:
            self.assertIn(text, lines[0])

    def test_help_on_every_level_shows_an_example(self):
        for level in ([], ["bound"], ["layers"], ["generate"], ["analyze"], ["machine"], ["db"], ["db", "list"], ["db", "merge"], ["db", "diff"], ["db", "verify"]):
            result = run(*level, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("benanza " + (" ".join(level) or "bound"), result.stdout)

    def test_usage_errors_are_2(self):
        self.fails(2, ["subcommand"])
        self.fails(2, ["nonsense"], "nonsense")
        self.fails(2, ["--nonsense"], "layers", MNIST, "--nonsense")
        self.fails(2, ["--dim", "NAME=VALUE"], "layers", MNIST, "--dim", "batch")
        self.fails(2, ["--dim", "'x'"], "layers", MNIST, "--dim", "batch=x")
        self.fails(2, ["--assert-latency", "library_fused"], "bound", MNIST, "--assert-latency", "fast=1ms")
        self.fails(2, ["duration"], "bound", MNIST, "--budget", "soon")
        self.fails(2, ["no backend is called 'abacus'"], "bound", MNIST, "--backend", "abacus", "--database", self.at)
        self.fails(2, ["nothere"], "layers", MNIST, "--input", "nothere=1x1x28x28")
        self.fails(2, ["nothere"], "layers", SYMBOLIC, "--dim", "nothere=3")

    def test_bad_models_are_1_and_named(self):
        whole = MNIST.read_bytes()
        for name, content in (("empty", b""), ("cut", whole[: len(whole) // 2]), ("random", random.Random(7).randbytes(4096)), ("text", b"hello\n" * 99)):
            file = self.at / f"{name}.onnx"
            file.write_bytes(content)
            self.fails(1, [f"{name}.onnx"], "layers", file)
        self.fails(1, ["absent.onnx", "no such file"], "layers", self.at / "absent.onnx")
        (self.at / "hollow").mkdir()
        self.fails(1, ["hollow", "no .onnx file"], "layers", self.at / "hollow")
        self.fails(1, ["'batch'", "'seq'", "--dim"], "layers", SYMBOLIC)

    def test_unwritable_outputs_are_5(self):
        self.fails(5, ["/nonexistent/out.json"], "layers", MNIST, "--json", "/nonexistent/out.json")
        self.fails(5, ["/nonexistent/out.cpp"], "generate", MNIST, "-o", "/nonexistent/out.cpp")

    def test_layers_of_a_set(self):
        result = run("layers", MODELS / "zoo2019", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        models = {model["model"]: model for model in document["models"]}
        self.assertEqual(len(models), 30)
        self.assertEqual(models["VGG16"]["macs"], 15_470_264_320)      # published: 15.47 G, exact by hand in the issue
        self.assertEqual(models["ResNet050-v1"]["layers"], 175)        # the paper's count
        self.assertEqual(document["layers_total"], sum(model["layers"] for model in document["models"]))
        self.assertEqual(document["layers_total"], sum(layer["count"] for layer in document["layers"]))

    def test_bound_dimensions_leave_no_shape_arithmetic(self):
        bound = json.loads(run("layers", SYMBOLIC, "--batch", 1, "--dim", "seq=128", "--json", "-").stdout)
        kinds = {layer["signature"].split("/")[0] for layer in bound["layers"]}
        self.assertFalse(kinds & {"Opaque"}, kinds)
        # BERT base without its pooler: 12 layers of 4 d^2 + 2 d * 4 d multiply-adds a token, and attention 2 s d a token and layer
        d, s = 768, 128
        self.assertEqual(bound["models"][0]["macs"], 12 * (s * (4 * d * d + 8 * d * d) + 2 * s * s * d))

    def test_loops_and_branches(self):
        hard = MODELS / "hard"
        known = json.loads(run("layers", hard / "loop_known_trip_count.onnx", "--json", "-").stdout)
        unknown = json.loads(run("layers", hard / "loop_unknown_trip_count.onnx", "--json", "-").stdout)
        given = json.loads(run("layers", hard / "loop_unknown_trip_count.onnx", "--value", "steps=12", "--json", "-").stdout)
        self.assertFalse(known["models"][0]["partial"])
        self.assertTrue(unknown["models"][0]["partial"])
        self.assertFalse(given["models"][0]["partial"])
        self.assertEqual(given["models"][0]["macs"], 12 * unknown["models"][0]["macs"])
        self.assertEqual(known["models"][0]["macs"], given["models"][0]["macs"])

    def test_csv_and_json_parse(self):
        result = run("layers", MNIST, "--csv", "-")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertGreater(len(rows), 5)
        self.assertTrue(all(int(row["count"]) >= 1 for row in rows))

    def test_generate_is_reproducible_and_only_inserts(self):
        one, two = self.at / "one.cpp", self.at / "two.cpp"
        squeezenet = MODELS / "zoo2019" / "Squeezenet-v1.1.onnx"
        self.assertEqual(run("generate", MNIST, "-o", one, "--name", "s").returncode, 0)
        self.assertEqual(run("generate", MNIST, squeezenet, "-o", two, "--name", "s").returncode, 0)
        rest = iter(two.read_text().splitlines())
        for line in one.read_text().splitlines()[1:]:                  # the banner names the models
            self.assertIn(line, rest, "an edited line")
        again = self.at / "again.cpp"
        run("generate", MNIST, "-o", again, "--name", "s")
        self.assertEqual(one.read_bytes(), again.read_bytes())

    def test_bound_then_database_then_analyze(self):
        database = self.at / "results"
        first = run("bound", MNIST, "--database", database, "--budget", "4s", "--json", self.at / "first.json")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("library fused", first.stdout)
        for line in first.stdout.splitlines():
            self.assertLessEqual(len(line), 120, line)
        document = json.loads((self.at / "first.json").read_text())
        model = document["models"][0]
        self.assertFalse(model["partial"], model["missing"])
        self.assertEqual(model["coverage"]["missing"], 0)
        self.assertLessEqual(model["bounds_ms"]["library_fused"], model["bounds_ms"]["library"])
        self.assertLessEqual(model["bounds_ms"]["roofline"], model["bounds_ms"]["library_fused"])
        files = sorted(database.iterdir())
        second = run("bound", MNIST, "--database", database, "--json", "-")
        self.assertEqual(sorted(database.iterdir()), files, "a known model was measured again")
        self.assertEqual(json.loads(second.stdout)["models"], document["models"])
        stored = run("analyze", MNIST, "--results", database, "--json", "-")
        self.assertEqual(json.loads(stored.stdout)["models"][0]["bounds_ms"], model["bounds_ms"])
        self.assertEqual(run("bound", MNIST, "--database", database, "--assert-latency", "library_fused=10s").returncode, 0)
        self.assertEqual(run("bound", MNIST, "--database", database, "--assert-latency", "library_fused=1ns").returncode, 4)
        whole = files[0].read_bytes()
        cut = self.at / "cut.json"
        cut.write_bytes(whole[: len(whole) // 2])
        self.fails(1, ["cut.json"], "analyze", MNIST, "--results", cut)
        other = MODELS / "zoo2019" / "Squeezenet-v1.1.onnx"
        partial = run("analyze", other, "--results", database, "--require-complete")
        self.assertEqual(partial.returncode, 3)
        self.assertIn("partial", partial.stdout)

    def copy(self, source, target, *changes):
        """A results file with texts replaced."""
        text = (RESULTS / source).read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.at / target).parent.mkdir(parents=True, exist_ok=True)
        (self.at / target).write_text(text)
        return self.at / target

    def test_db_diff_is_a_gate(self):
        old, new = RESULTS / "mnist.json", RESULTS / "mnist_upgraded.json"
        self.assertEqual(run("db", "diff", old, old).returncode, 0)
        self.assertEqual(run("db", "diff", old, new, "--fail-on", "slower").returncode, 4)
        self.assertEqual(run("db", "diff", old, new, "--fail-on", "unknown").returncode, 4)
        self.assertEqual(run("db", "diff", old, new, "--fail-on", "slower", "--tolerance", "20").returncode, 0)
        self.assertEqual(run("db", "diff", old, old, "--fail-on", "slower,unknown,faster").returncode, 0)
        self.fails(2, ["--fail-on"], "db", "diff", old, new, "--fail-on", "slow")
        self.fails(2, ["machine=TEXT"], "db", "diff", old, new, "--before", "onednn")
        self.fails(2, ["both sides are the same"], "db", "diff", old)
        self.fails(1, ["nowhere: no such file"], "db", "diff", old, "nowhere")
        document = json.loads(run("db", "diff", old, new, "--model", MNIST, "--json", "-").stdout)
        verdicts = {layer["signature"] + " " + layer["verdict"] for layer in document["layers"]}
        self.assertIn("Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2/post=bias,relu slower", verdicts)   # 11000 -> 12100 ns
        self.assertIn("MatMul/f32/a=1x256/b=256x10/b_constant=1 same", verdicts)                       # 1000 -> 1010 ns
        self.assertEqual(set(document["models"][0]["rungs"]), {"library", "library_fused", "library_parallel", "library_fused_parallel"})

    def test_db_diff_of_two_versions_and_of_two_machines_in_one_folder(self):
        for file in ("mnist.json", "mnist_upgraded.json"):
            self.copy(file, "all/" + file)
        versions = json.loads(run("db", "diff", self.at / "all", "--before", "example=1", "--after", "example=2", "--json", "-").stdout)
        direct = json.loads(run("db", "diff", RESULTS / "mnist.json", RESULTS / "mnist_upgraded.json", "--json", "-").stdout)
        self.assertEqual(versions["layers"], direct["layers"])
        self.copy("mnist.json", "all/other.json", ("A machine with invented figures", "Another one"))
        self.fails(1, ["2 machines", "machine=TEXT"], "db", "diff", self.at / "all", "--before", "example=1", "--after", "example=2")
        machines = run("db", "diff", self.at / "all", "--before", "machine=invented,example=1", "--after", "machine=Another", "--json", "-")
        self.assertTrue(all(layer["verdict"] == "same" for layer in json.loads(machines.stdout)["layers"]), machines.stderr)
        self.fails(1, ["no run of example 3"], "db", "diff", self.at / "all", "--before", "machine=Another,example=3", "--after", "machine=invented")
        self.fails(1, ["2 machines, which never share a total", "Another one"], "analyze", MNIST, "--results", self.at / "all")

    def test_db_merge_keeps_every_run_and_shows_what_disagrees(self):
        self.copy("mnist.json", "one/run.json")
        self.copy("mnist_upgraded.json", "two/run.json", ('"backend/example": "2"', '"backend/example": "1"'))
        (self.at / "two" / "cut.json").write_text((RESULTS / "mnist.json").read_text()[:3000])
        merged = run("db", "merge", self.at / "one", self.at / "two", "--into", self.at / "all")
        self.assertEqual(merged.returncode, 1)                         # one was refused, the others are there
        self.assertIn("cut.json: byte", merged.stdout)
        self.assertIn("2 runs added, 0 known, 1 refused", merged.stdout)
        # Conv 11000 and 12100, Conv 20000 and 18000 ns; Unary timed and refused
        self.assertIn("3 rows of which two runs disagree", merged.stdout)
        self.assertEqual(sorted(file.name for file in (self.at / "all").iterdir()), ["run-2.json", "run.json"])
        again = run("db", "merge", self.at / "one", "--into", self.at / "all", "--json", "-")
        self.assertEqual(again.returncode, 0)
        self.assertEqual(len(json.loads(again.stdout)["known"]), 1)
        disagree = run("analyze", MNIST, "--results", self.at / "all")
        self.assertIn("the runs disagree on 3 rows", disagree.stderr)
        processes = [subprocess.Popen([PROGRAM, "db", "merge", str(self.at / source), "--into", str(self.at / "both")], stdout=subprocess.DEVNULL) for source in ("one", "two")]
        self.assertEqual([process.wait(60) for process in processes], [0, 1])
        self.assertEqual(len(list((self.at / "both").iterdir())), 2)

    def test_db_verify_names_what_is_wrong(self):
        sound = self.copy("mnist.json", "db/sound.json")
        result = run("db", "verify", self.at / "db")
        self.assertEqual((result.returncode, result.stdout), (0, "1 file, 16 rows: nothing wrong, 0 of which runs disagree\n"))
        text = sound.read_text()
        (self.at / "db" / "cut.json").write_text(text[: len(text) // 2])
        self.copy("mnist.json", "db/nan.json", ('"p10_ns":10000.0', '"p10_ns":NaN'), ('"real_time":10000.0', '"real_time":Infinity'))
        self.copy("mnist.json", "db/unsigned.json", ("hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2\"", 'hot/"'))
        self.copy("mnist.json", "db/version.json", ('"backend/example": "1"', '"backend/other": "1"'))
        (self.at / "db" / ".killed.json.tmp").write_text("{")
        result = run("db", "verify", self.at / "db")
        self.assertEqual(result.returncode, 1)
        for said in ("cut.json: byte ", "unsigned.json: row 4: 'example/direct,threads=1/hot/', expected",
                     "version.json: backend 'example' has rows, but the context names no version", ".killed.json.tmp: a temporary file", "4 things wrong"):
            self.assertIn(said, result.stdout)
        listed = json.loads(run("db", "list", self.at / "db", "--json", "-").stdout)
        self.assertEqual([entry["refused"] for entry in listed["runs"] if entry["file"].endswith("nan.json")], [1])   # no time, not a time of 0

    def test_a_declared_machine_gives_the_analytic_rungs_alone(self):
        machine = MODELS.parent / "machines" / "t4.json"
        resnet = MODELS / "modern" / "resnet50.onnx"
        document = json.loads(run("bound", resnet, "--machine", machine, "--json", "-").stdout)
        self.assertEqual(document["machine"]["declared"], str(machine))
        model = document["models"][0]
        known = {key for key, value in model["bounds_ms"].items() if value is not None}
        self.assertEqual(known, {"model_floor", "roofline", "roofline_parallel", "roofline_memory"})
        self.assertEqual((model["median_ms"], model["missing"], model["partial"]), ({}, [], False))
        # FLOPs over 8.1 TFLOP/s, which is more than (weights - 18 MB on the chip) / 320 GB/s
        self.assertGreaterEqual(model["bounds_ms"]["model_floor"], 2 * 0.9 * model["macs"] / 8.1e12 * 1e3)
        self.assertEqual(json.loads(run("analyze", resnet, "--machine", machine, "--json", "-").stdout), document)
        self.fails(2, ["--machine"], "bound", resnet, "--machine", machine, "--threads", 2)
        self.fails(2, ["--results or --machine"], "analyze", resnet)
        self.fails(1, ["absent.json"], "bound", resnet, "--machine", "absent.json")

    def test_a_full_disk_is_said_and_costs_no_old_file(self):
        report, database = self.at / "out.json", self.at / "full"
        report.write_text("old")
        database.mkdir()
        full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
        result = run("analyze", MNIST, "--results", RESULTS / "mnist.json", "--json", report, preexec_fn=full)
        self.assertEqual((result.returncode, report.read_text()), (5, "old"), result.stderr)
        self.assertIn("out.json': File too large", result.stderr)
        result = run("bound", MNIST, "--database", database, "--budget", "1s", preexec_fn=full)
        self.assertEqual(result.returncode, 5)
        self.assertIn("File too large", result.stderr.splitlines()[-1])
        self.assertIn("library fused", result.stdout)                  # what was measured is not lost
        self.assertEqual(list(database.iterdir()), [])

    def test_interrupt_keeps_what_was_measured(self):
        database = self.at / "results"
        with subprocess.Popen([PROGRAM, "bound", str(MODELS / "zoo2019" / "Squeezenet-v1.1.onnx"), "--database", str(database), "--budget", "60s"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(8)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(len(list(database.glob("*.json*"))), 1)


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
