#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program from outside: exit codes, one line for each mistake, documents that parse.

    cli_test.py PROGRAM MODELS                 all tests
    cli_test.py PROGRAM MODELS --measuring     those that need the machine to themselves
    cli_test.py PROGRAM MODELS --other         the others
    cli_test.py PROGRAM MODELS Cli.test_...    these
"""
import atexit
import collections
import csv
import functools
import gzip
import io
import json
import os
import pathlib
import pty
import random
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from onnx_file import F16, F32, I64, STRING, file_of, node, tensor, value, wire

PROGRAM, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])
RESULTS = MODELS.parent / "results"
MNIST = MODELS / "zoo2019" / "MNIST.onnx"
MNIST_RESULTS = RESULTS / "mnist.json"
SYMBOLIC = MODELS / "hard" / "bert_base_batch_seq_symbolic.onnx"
HAS_GPU = any(pathlib.Path(node).exists() for node in ("/dev/nvidiactl", "/dev/dxg"))


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False, **options)


@functools.cache
def has_onednn():
    """Whether it was built in: a build for ThreadSanitizer leaves it out."""
    with tempfile.TemporaryDirectory() as folder:
        return run("measure", "Unary/f32/fn=relu/x=64", "--backend", "onednn", "--budget", "1ms", "--database", folder).returncode != 2


@functools.cache
def known_machine():
    """A database with the ceilings of this machine, which are measured once, and what was told of it then."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return pathlib.Path(folder.name), run("machine", "--database", folder.name, "--json", "-")


def measuring(test):
    """Marks a test that checks what only a quiet machine gives, such as a complete bound or how a result follows from times."""
    test.measuring = True
    return test


def load_tests(_loader, tests, _pattern):
    """The part that the command line asks for."""
    part = {"--measuring": True, "--other": False}.get(sys.argv[3] if len(sys.argv) > 3 else "")
    chosen = unittest.TestSuite()
    for suite in tests:
        for test in suite:
            if part in (None, getattr(getattr(test, test._testMethodName), "measuring", False)):
                chosen.addTest(test)
    return chosen


def embedding_of_f16():
    """ids -> Gather(Cast(table)) -> MatMul(Cast(w)): an ONNX file whose weights, 1000 x 64 and 64 x 32 zeros, are stored as f16."""
    body = (node("Cast", ["table"], "wide_table", to=F32) + node("Cast", ["w"], "wide_w", to=F32) + node("Gather", ["wide_table", "ids"], "rows")
            + node("MatMul", ["rows", "wide_w"], "y") + tensor("table", F16, [1000, 64]) + tensor("w", F16, [64, 32]))
    return file_of(body, [value("ids", I64, [512])], [value("y", F32, [512, 32])])


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def table(self, name):
        """The lines of a CSV file, with the names of their columns."""
        return list(csv.DictReader((self.at / name).read_text().splitlines()))

    def widths(self, name):
        """How many columns lines of a CSV file have."""
        return {len(row) for row in csv.reader((self.at / name).read_text().splitlines())}

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
        for level in ([], ["bound"], ["run"], ["layers"], ["generate"], ["analyze"], ["gap"], ["study"], ["measure"], ["memory"], ["scale"], ["predict"], ["machine"], ["db"], ["db", "list"], ["db", "merge"], ["db", "diff"], ["db", "verify"]):
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
        self.fails(2, ["--backend abacus", "cudnn"], "generate", MNIST, "-o", "-", "--backend", "abacus")
        self.fails(2, ["nothere"], "layers", MNIST, "--input", "nothere=1x1x28x28")
        self.fails(2, ["nothere"], "layers", SYMBOLIC, "--dim", "nothere=3")
        self.fails(2, ["--type", "'float'"], "layers", MNIST, "--type", "float")
        self.fails(2, ["i64"], "layers", MNIST, "--type", "i64")

    @unittest.skipIf(HAS_GPU, "there is a GPU")
    def test_backends_without_their_gpu_are_5(self):
        for name in ("cuda", "cudnn"):
            arguments = ("bound", MNIST, "--backend", name, "--database", self.at)
            if "no backend is called" in run(*arguments).stderr:
                self.skipTest("built without CUDA")
            self.fails(5, ["backend ", " is not available: "], *arguments)

    @unittest.skipUnless(HAS_GPU, "there is no GPU")
    def test_a_run_by_a_gpu_is_2(self):
        for name in ("cuda", "cudnn"):
            result = run("run", MNIST, "--weights", "random:1", "--backend", name)
            if "no backend is called" in result.stderr:
                self.skipTest("built without CUDA")
            self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
            self.assertIn("works in a device's memory", result.stderr)

    def test_bad_models_are_1_and_named(self):
        whole = MNIST.read_bytes()
        for name, content in (("empty", b""), ("cut", whole[: len(whole) // 2]), ("random", random.Random(7).randbytes(4096)), ("text", b"hello\n" * 99)):
            file = self.at / f"{name}.onnx"
            file.write_bytes(content)
            self.fails(1, [f"{name}.onnx"], "layers", file)
        self.fails(1, ["absent.onnx", "no such file"], "layers", self.at / "absent.onnx")
        (self.at / "hollow").mkdir()
        self.fails(1, ["hollow", "no .onnx file"], "layers", self.at / "hollow")

    def file(self, name, content):
        path = self.at / name
        path.write_bytes(content)
        return path

    def npy(self, name, descr, shape, data):
        """A file as NumPy writes it, version 1."""
        text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
        text += " " * (63 - (10 + len(text)) % 64) + "\n"
        return self.file(name, b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data)

    def test_a_run_writes_its_outputs_and_checks_its_plans(self):
        digit = self.npy("digit.npy", "<f4", "(1, 1, 28, 28)", struct.pack("<784f", *(i % 7 / 7 for i in range(784))))
        result = run("run", MNIST, "--weights", "random:1", "--input", f"Input3={digit}", "--output", self.at / "out", "--check")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Plus214_Output_0", result.stdout)
        self.assertRegex(result.stdout, r"checked: (\d+) of \1 outputs of plans agree with the reference")
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        written = (self.at / "out" / "Plus214_Output_0.npy").read_bytes()
        self.assertTrue(written.startswith(b"\x93NUMPY\x01\x00"))
        self.assertIn(b"'descr': '<f4', 'fortran_order': False, 'shape': (1, 10)", written)
        self.assertEqual(len(written), 128 + 40)

    def test_a_witness_has_time_only_where_there_is_one_and_a_duration(self):
        for options, said in ((["--witness", "--witness-time", "soon"], "'soon' is not a duration"), (["--witness-time", "2s"], "--witness-time requires --witness"),
                              (["--check"], "--check requires --witness")):
            result = run("bound", MNIST, "--database", self.at, *options)
            self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    @measuring
    def test_a_witness_stands_below_the_ladder_and_in_the_document(self):
        document = self.at / "bound.json"
        result = run("bound", MNIST, "--witness", "--weights", "random:1", "--witness-time", "2s", "--budget", "1s", "--database", self.at, "--json", document,
                     "--csv", self.at / "bound.csv", "--csv-rungs", self.at / "rungs.csv", "--trace", self.at / "bound.trace", "--html", self.at / "bound.html", "--check")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\n  witness +[\d.]+ [mu]s")
        ladder = result.stdout.partition("\n  model floor")[2].partition("share ")[0].splitlines()
        self.assertLessEqual(max(map(len, ladder)), 80)
        model = json.loads(document.read_text())["models"][0]
        witness = model["witness"]
        self.assertEqual(model["bounds_ms"]["witness"], witness["p10_ms"])
        self.assertLess(witness["difference"], 1e-3)
        self.assertEqual((witness["unequal"], model["median_ms"]["witness"], model["uncertainty"].get("witness")), (0, witness["median_ms"], witness["uncertainty"]))
        self.assertRegex(result.stdout, rf"\n    checked: {witness['check']['calls']} calls; largest difference ")
        self.assertLessEqual(witness["check"]["difference"], witness["check"]["tolerance"])
        self.assertGreaterEqual(witness["saved_by_orders_ms"], 0)
        page = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', (self.at / "bound.html").read_text(), re.DOTALL)[1])
        self.assertEqual((page["models"][0]["witness"], page["rungs"][-2:]), (witness, ["library_chained", "witness"]))
        # MNIST has 12 nodes, two of which are Reshapes: all others are in calls.
        nodes = [name for call in witness["calls"] if call["plan"] != "layout" for name in call["nodes"]]
        self.assertTrue({"Convolution28", "Plus30", "Convolution110", "Times212", "Plus214"} <= set(nodes), nodes)
        joints = witness["slower_plans_ms"] + witness["layout_changes_alone_ms"] + witness["switches_ms"]
        resident, chained = (model["bounds_ms"][name] for name in ("library_fused_resident", "library_chained"))
        self.assertEqual("\n  library chained " in result.stdout, resident is not None)  # on a busy machine, too few rounds are quiet
        self.assertAlmostEqual(chained or joints, (resident or 0) + joints, places=6)
        self.assertGreaterEqual(witness["slower_plans_ms"], 0)
        rows = [row for row in self.table("bound.csv") if row["form"] == "witness"]
        self.assertEqual([(row["signature"], float(row["p10_ms"])) for row in rows], [(" ".join(call["nodes"]), call["in_place_ms"]) for call in witness["calls"]])
        times = lambda row: [float(row[key]) if row[key] else None for key in ("alone_ms", "fastest_ms")]
        self.assertEqual([(*times(row), row["layer"] or None, row["layout_plan"] or None) for row in rows],
                         [(call["alone_ms"], call["fastest_ms"], call["layer"], call["layout_plan"]) for call in witness["calls"]])
        self.assertEqual((self.widths("bound.csv"), self.widths("rungs.csv")), ({20}, {11}))
        rungs = {row["rung"]: float(row["bound_ms"]) for row in self.table("rungs.csv")}
        self.assertIn("witness", rungs)
        self.assertEqual("library_chained" in rungs, chained is not None)
        self.assertEqual(rungs, {name: time for name, time in model["bounds_ms"].items() if time is not None and name not in ("roofline_memory", "direct_floor")})
        events = json.loads((self.at / "bound.trace").read_text())["traceEvents"]
        process = [event["pid"] for event in events if event["name"] == "process_name" and "witness" in event["args"]["name"]]
        drawn = [event for event in events if event["ph"] == "X" and [event["pid"]] == process]
        self.assertEqual([event["args"]["nodes"] for event in drawn], [call["nodes"] for call in witness["calls"]])
        result = run("gap", MNIST, "--latency", "100s", "--witness", "--weights", "random:1", "--budget", "1s", "--database", self.at, "--json", document,
                     "--csv-rungs", self.at / "gap.csv", "--html", self.at / "gap.html")
        self.assertRegex(result.stdout, r"\nwitness, executed +[\d.]+ [mu]s +ratio 0.00 \(proven to be \d+")
        keys = {"nodes", "plan", "layer", "layout_plan", "alone_ms", "fastest_ms", "in_place_ms", "once_ms"}
        witness = json.loads(document.read_text())["gaps"][0]["witness"]
        self.assertEqual((set(witness["calls"][0]), witness["check"]), (keys, None))
        line = self.table("gap.csv")[-1]
        self.assertEqual((line["rung"], float(line["median_ms"]), line["reason"]), ("witness", witness["median_ms"], ""))
        page = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', (self.at / "gap.html").read_text(), re.DOTALL)[1])
        self.assertEqual((page["gap"]["witness"], page["models"][0]["witness"]), (witness, witness))
        self.fails(2, ["--witness", "--results"], "gap", MNIST, "--latency", "1ms", "--witness", "--results", self.at)
        self.fails(2, ["--weights", "random:SEED"], "bound", MNIST, "--witness", "--weights", "zeros")
        self.fails(2, ["--witness"], "bound", MNIST, "--weights", "random:1")

    def test_a_witness_that_is_refused_has_a_reason_and_no_rungs(self):
        model, document = self.at / "embedding.onnx", self.at / "bound.json"
        model.write_bytes(embedding_of_f16())  # of its weights, all are 0
        result = run("bound", model, "--witness", "--witness-time", "100ms", "--budget", "1s", "--database", self.at / "db", "--json", document, "--csv-rungs", self.at / "rungs.csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\n  no witness: all its outputs are zero", result.stdout)
        figures = json.loads(document.read_text())["models"][0]
        self.assertEqual(list(figures["witness"]), ["refused"])
        self.assertEqual([figures["bounds_ms"][name] for name in ("library_chained", "witness")], [None, None])
        rows = self.table("rungs.csv")
        self.assertEqual([(row["status"], row["reason"], row["bound_ms"]) for row in rows if row["rung"] == "witness"], [("refused", figures["witness"]["refused"], "")])
        self.assertNotIn("library_chained", {row["rung"] for row in rows})
        self.assertEqual(self.widths("rungs.csv"), {11})

    @measuring
    def test_changes_of_layout_are_measured_once_and_kept(self):
        model, document = MODELS / "zoo2019" / "Shufflenet.onnx", self.at / "bound.json"
        asked = ("bound", model, "--witness", "--weights", "random:1", "--threads", "1", "--budget", "4s", "--witness-time", "1s", "--database", self.at / "db", "--json", document, "--quiet")
        runs = lambda: sorted(file.name for file in (self.at / "db").glob("*layout_changes*"))
        for _ in range(4):  # a slow or busy machine may know the best plans, which have layouts of their own, after further sessions
            result = run(*asked)
            self.assertEqual(result.returncode, 0, result.stderr)
            witness = json.loads(document.read_text())["models"][0]["witness"]
            changes = [call for call in witness["calls"] if call["layer"]]
            if changes:
                break
        self.assertTrue(changes, "the shuffle of channels changes layouts")
        self.assertEqual(len(runs()), 1)
        rows = {row["name"]: row for file in runs() for row in json.loads((self.at / "db" / file).read_text())["benchmarks"]}
        for call in changes:
            self.assertTrue(call["layer"].startswith("Transpose/f32/"), call)
            backend, algorithm = call["layout_plan"].split(" ")
            row = rows.get(f"{backend}/{algorithm}/hot/{call['layer']}")
            if row and not row.get("error_occurred"):
                self.assertAlmostEqual(call["alone_ms"], row["p10_ns"] * 1e-6, places=9)
        self.assertTrue(any(f"/hot/{call['layer']}" in name for call in changes for name in rows))

    def test_bad_inputs_of_a_run_are_1_and_named(self):
        whole = struct.pack("<784f", *[0.5] * 784)
        good = self.npy("good.npy", "<f4", "(1, 1, 28, 28)", whole)
        self.fails(1, ["other.npy", "f32 1x784, expected f32 1x1x28x28"], "run", MNIST, "--input", f"Input3={self.npy('other.npy', '<f4', '(1, 784)', whole)}")
        self.fails(1, ["double.npy", "f64 1x1x28x28, expected f32"], "run", MNIST, "--input", f"Input3={self.npy('double.npy', '<f8', '(1, 1, 28, 28)', whole * 2)}")
        self.fails(1, ["cut.npy", "3132 bytes of data, expected 3136"], "run", MNIST, "--input", f"Input3={self.npy('cut.npy', '<f4', '(1, 1, 28, 28)', whole[4:])}")
        (self.at / "header.npy").write_bytes(good.read_bytes()[:40])
        self.fails(1, ["header.npy", "no shape"], "run", MNIST, "--input", f"Input3={self.at / 'header.npy'}")
        self.fails(1, ["absent.npy", "cannot be opened"], "run", MNIST, "--input", f"Input3={self.at / 'absent.npy'}")
        self.fails(1, ["no input 'nothere'", "'Input3'"], "run", MNIST, "--input", f"nothere={good}")
        nan = self.npy("nan.npy", "<f4", "(1, 1, 28, 28)", struct.pack("<f", float("nan")) + whole[4:])
        self.fails(1, ["nan.npy", "element 0 of input 'Input3' is NaN", "--allow-nan"], "run", MNIST, "--input", f"Input3={nan}")
        self.fails(1, ["'Input3'", "element 0 is not a finite number"], "run", MNIST, "--check", "--allow-nan", "--input", f"Input3={nan}")
        result = run("run", MNIST, "--weights", "random:1", "--allow-nan", "--input", f"Input3={nan}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Plus214_Output_0", result.stdout)
        self.fails(1, ["mnasnet1_0_external_data_absent.onnx.data", "cannot be opened"], "run", MODELS / "hard" / "mnasnet1_0_external_data_absent.onnx")
        self.fails(2, ["--weights", "random:SEED"], "run", MNIST, "--weights", "random")
        self.fails(2, ["one model at one size"], "run", MNIST, "--batch", "1,2")
        self.fails(2, ["--threads 100000", "processors"], "run", MNIST, "--weights", "random:1", "--threads", "100000")
        self.fails(2, ["--seed"], "run", MNIST, "--weights", "random:1", "--seed", "-1")
        for number in ("18446744073709551616", "1.5", "1x"):  # the first is 2^64
            self.fails(2, ["--seed", number], "run", MNIST, "--weights", "random:1", "--seed", number)
            self.fails(2, ["--weights", number], "run", MNIST, "--weights", f"random:{number}")
        for option in ("--seed", "--threads", "--batch"):
            self.fails(2, [option, "'010', expected a number without a 0 in front"], "run", MNIST, option, "010")
        # 8 bytes where four floats have 16.
        (self.at / "w.data").write_bytes(bytes(8))
        stored = wire(5, wire(1, 4) + wire(2, F32) + wire(8, "w") + wire(13, wire(1, "location") + wire(2, "w.data")) + wire(14, 1))
        cut = self.file("cut.onnx", file_of(node("Add", ["x", "w"], "y") + stored, [value("x", F32, [4])], [value("y", F32, [4])]))
        self.fails(1, ["tensor 'w'", "external data in ", "w.data"], "run", cut)

    def test_a_model_reads_nothing_outside_of_its_folder(self):
        # One entry with a field twice: its location is `w.bin` or, for a reader that takes what comes last, the file above.
        (self.at / "secret").write_bytes(b"secret!!" * 2)
        folder = self.at / "model"
        folder.mkdir()
        location = wire(1, "location")
        for name, entry in (("key", wire(2, "w.bin") + location + wire(10, str(self.at / "secret"))), ("value", location + wire(2, "w.bin") + wire(2, str(self.at / "secret")))):
            stored = wire(5, wire(1, 16) + wire(2, 2) + wire(8, "w") + wire(13, entry) + wire(14, 1))
            model = folder / f"{name}.onnx"
            model.write_bytes(file_of(node("Identity", ["w"], "y") + stored, [value("x", F32, [1])], [value("y", 2, [16])]))
            result = run("run", model, "--output", f"y={self.at / 'y.npy'}")
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertFalse((self.at / "y.npy").exists())

    def test_hostile_files_are_refused_with_one_line(self):
        machine = ("bound", MNIST, "--machine")
        profile = ("gap", MNIST, "--results", MNIST_RESULTS, "--profile")
        deep = b"[" * 200_000 + b"]" * 200_000
        self.fails(1, ["deep.json.gz", "nested more than 64 deep"], *machine, self.file("deep.json.gz", gzip.compress(b'{"schema": ' + deep + b"}")))
        self.fails(1, ["deep.shapes", "nested more than 64 deep"], "layers", MNIST, "--shapes", self.file("deep.shapes", b'{"*": ' + deep + b"}"))
        self.fails(1, ["deep.json", "nested more than 1000 deep"], *profile, self.file("deep.json", b'[{"name": "model_run", "args": ' + deep + b"}]"))
        self.fails(1, ["run.json", "nested more than 1000 deep"], "analyze", MNIST, "--results", self.file("run.json", b'{"context": ' + deep + b', "benchmarks": []}'))
        declared = json.loads((MODELS.parent / "machines" / "t4.json").read_text())
        declared["memory"]["bytes"] = 1e308
        self.fails(1, ["huge.json", "memory.bytes", "1e+308"], *machine, self.file("huge.json", json.dumps(declared).encode()))
        bomb = gzip.compress(b'{"schema": 1,' + b" " * (1 << 26) + b"}")
        self.fails(1, ["bomb.json.gz", "more than 1 MiB"], *machine, self.file("bomb.json.gz", bomb))
        self.fails(1, ["bomb.json.gz", "200 times its size"], "analyze", MNIST, "--results", self.at / "bomb.json.gz")
        for name, ddl in (("view", "create view StringIds as with recursive n(id, value) as (select 1, 'x' union all select id + 1, 'x' from n) select * from n"),
                          ("large", "create table StringIds (id integer, value text as (hex(zeroblob(400000000))))")):
            with sqlite3.connect(self.at / f"{name}.sqlite") as database:
                database.execute(ddl)
                if name != "view":
                    database.execute("insert into StringIds (id) values (1)")
            database.close()
        self.fails(1, ["view.sqlite", "no table StringIds"], *profile, self.at / "view.sqlite")
        self.fails(1, ["large.sqlite"], *profile, self.at / "large.sqlite")

    def test_a_pipe_without_a_writer_is_refused_wherever_a_file_is_read(self):
        pipe = self.at / "pipe.json"
        os.mkfifo(pipe)
        for arguments in (("layers", pipe), ("layers", MNIST, "--shapes", pipe), ("bound", MNIST, "--machine", pipe), ("analyze", MNIST, "--results", pipe),
                          ("gap", MNIST, "--results", MNIST_RESULTS, "--profile", pipe), ("run", MNIST, "--input", f"Input3={pipe}")):
            with self.subTest(arguments=arguments):
                self.fails(1, ["pipe.json", "not a regular file"], *arguments)
        # In a folder of results it costs itself alone.
        shutil.copy(MNIST_RESULTS, self.at)
        result = run("db", "list", self.at)
        self.assertIn("A machine with invented figures", result.stdout)

    def test_control_characters_in_names_of_a_model_do_not_reach_the_terminal(self):
        model = self.file("names.onnx", file_of(node("Relu", ["\x1b[31mabsent"], "y"), [value("x", F32, [4])], [value("y", F32, [4])]))
        result = run("layers", model)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("'?[31mabsent'", result.stderr)
        self.assertNotIn("\x1b", result.stderr)

    def test_inputs_without_a_file_are_random_only_where_that_is_said(self):
        model = self.file("sum.onnx", file_of(node("Add", ["a", "b"], "y"), [value(name, F32, ["N", 2]) for name in "ab"], [value("y", F32, ["N", 2])]))
        two = self.npy("two.npy", "<f4", "(1, 2)", struct.pack("<2f", 1, 2))
        for options, said in (([], "(seed 2020): a, b"), (["--seed", "3"], "(seed 3): a, b"), (["--seed", "3", "--input", f"a={two}"], "(seed 3): b")):
            result = run("run", model, *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"\nrandom inputs {said}\n", result.stdout)
        result = run("run", model, "--input", f"a={two}", "--input", f"b={two}")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotIn("random", result.stdout)
        self.fails(1, ["input 'b' has no file", "--seed N"], "run", model, "--input", f"a={two}")
        self.fails(2, ["'a'", "two files"], "run", model, "--input", f"a={two}", "--input", f"a={two}")
        flat = self.npy("flat.npy", "<f4", "(3,)", struct.pack("<3f", 1, 2, 3))
        self.fails(1, ["flat.npy: f32 3, expected rank 2 of input 'a'"], "run", model, "--input", f"a={flat}", "--input", f"b={two}")

    def test_an_index_out_of_range_is_1_and_names_its_node(self):
        seven = self.npy("seven.npy", "<i8", "(1, 1)", struct.pack("<q", 7))
        x, i, u = value("x", F32, [3, 2]), value("i", I64, [1, 1]), value("u", F32, [1, 2])
        for op_type, inputs, dims in (("GatherElements", [x, i], [1, 1]), ("GatherND", [x, i], [1, 2]), ("ScatterND", [x, i, u], [3, 2])):
            model = self.file(f"{op_type}.onnx", file_of(node(op_type, list("xiu")[: len(inputs)], "y"), inputs, [value("y", F32, dims)]))
            self.fails(1, ["node 'y': index 7 at element 0, expected at least -3 and less than 3"], "run", model, "--seed", "1", "--input", f"i={seven}")

    def test_a_witness_that_an_index_prevents_leaves_the_report(self):
        # The first random index of an input `x` is 1 (tests/execution/executor_test.cpp), along an axis of one element.
        pick = node("GatherElements", ["data", "x"], "y", axis=1)
        model = self.file("pick.onnx", file_of(pick, [value("data", F32, [3, 1]), value("x", I64, [1, 1])], [value("y", F32, [1, 1])]))
        document = self.at / "bound.json"
        result = run("bound", model, "--witness", "--witness-time", "1s", "--budget", "1s", "--database", self.at / "db", "--json", document)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("index 1 at element 0, expected at least -1 and less than 1", json.loads(document.read_text())["models"][0]["witness"]["refused"])

    def test_an_output_that_nothing_computes_leaves_the_others(self):
        # One branch: up to 0.5 a row's scores are 0.75 and 0.25, above it 0.25 and 0.75. The labels are strings.
        lists = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0], "nodes_values": [0.5, 0.0, 0.0],
                 "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
                 "class_treeids": [0, 0, 0, 0], "class_nodeids": [1, 1, 2, 2], "class_ids": [0, 1, 0, 1], "class_weights": [0.75, 0.25, 0.25, 0.75],
                 "classlabels_strings": ["low", "high"]}
        trees = node("TreeEnsembleClassifier", ["x"], "l", "s", domain="ai.onnx.ml", **lists)
        model = self.file("trees.onnx", file_of(trees, [value("x", F32, [2, 1])], [value("l", STRING, [2]), value("s", F32, [2, 2])]))
        rows = self.npy("rows.npy", "<f4", "(2, 1)", struct.pack("<2f", 0.25, 0.75))
        result = run("run", model, "--input", f"x={rows}", "--output", self.at / "out")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("output 'l' is computed by no layer", result.stderr)
        self.assertRegex(result.stdout, r"(?m)^s +f32 2x2 +0\.25 +0\.75 +0\.5$")
        self.assertEqual([file.name for file in (self.at / "out").iterdir()], ["s.npy"])
        self.assertEqual((self.at / "out" / "s.npy").read_bytes()[-16:], struct.pack("<4f", 0.75, 0.25, 0.25, 0.75))

    def test_unwritable_outputs_are_5(self):
        self.fails(5, ["/nonexistent/out.json"], "layers", MNIST, "--json", "/nonexistent/out.json")
        self.fails(5, ["/nonexistent/out.cpp"], "generate", MNIST, "-o", "/nonexistent/out.cpp")
        self.fails(1, ["absent.onnx"], "layers", self.at / "absent.onnx", "--json", self.at / "left.json")
        self.assertEqual(list(self.at.iterdir()), [], "an error left an empty file")

    def test_a_database_that_cannot_be_written_is_5_before_anything_is_measured(self):
        self.fails(5, ["/proc/nowhere"], "bound", MNIST, "--database", "/proc/nowhere", "--budget", "60s", "--quiet")
        self.fails(5, ["/proc/nowhere"], "measure", "Unary/f32/x=4096", "--database", "/proc/nowhere", "--quiet")

    def test_values_out_of_range_say_what_is_expected(self):
        self.fails(2, ["--batch", "'0', expected a positive number"], "layers", MNIST, "--batch", "0")
        self.fails(2, ["--tolerance", "'-3', expected 0 or a number above it"], "db", "verify", RESULTS, "--tolerance", "-3")
        self.fails(2, ["--threads", "expected a positive number"], "bound", MNIST, "--threads", "0")
        self.fails(2, ["--cache", "'warm', expected hot, cold-weights or cold"], "bound", MNIST, "--cache", "warm")

    def test_a_sweep_has_each_size_once_and_layers_name_it(self):
        models = json.loads(run("layers", MNIST, "--batch", "4,1,1,2", "--json", "-").stdout)["models"]
        self.assertEqual([model["batch"] for model in models], [4, 1, 2])
        self.assertIn("batch 4:\nMNIST", run("layers", MNIST, "--batch", "4,1").stdout)

    def test_results_of_two_machines_name_both_and_a_way_out(self):
        other = self.copy("mnist.json", "other.json", ("A machine with invented figures", "Another machine"))
        self.fails(1, ["A machine with", "Another machine", str(other), "mnist.json", "give the files of one"], "analyze", MNIST, "--results", MNIST_RESULTS, "--results", other)
        for of in ("invented", "Another"):
            chosen = run("analyze", MNIST, "--results", MNIST_RESULTS, "--results", other, "--of", of)
            self.assertEqual(chosen.returncode, 0, chosen.stderr)
            self.assertIn("37.7 us", chosen.stdout)
        self.fails(1, ["0 machines match 'EPYC'"], "analyze", MNIST, "--results", other, "--of", "EPYC")

    def test_a_machine_that_differs_in_one_fact_is_named_and_can_be_accepted(self):
        fact = '"machine/system": "none",\n"machine/microcode": "0x{}"'
        places = [argument for number in (1, 2) for argument in ("--results", self.copy("mnist.json", f"db/{number}.json", ('"machine/system": "none"', fact.format(number))))]
        self.fails(1, ["microcode=0x1", "microcode=0x2", "--accept microcode"], "analyze", MNIST, *places)
        self.assertEqual(run("analyze", MNIST, *places, "--accept", "microcode").returncode, 0)
        self.fails(2, ["--accept"], "analyze", MNIST, *places, "--accept", "device")
        self.fails(1, ["--accept microcode"], "analyze", MNIST, *places, "--accept", "memory")  # it never tells machines apart
        upgraded = self.copy("mnist_upgraded.json", "after.json", ('"machine/system": "none"', fact.format(1)))
        diff = ["db", "diff", self.at / "db", upgraded]
        self.fails(1, ["--before", "--accept microcode counts both"], *diff)
        accepted = run(*diff, "--accept", "microcode", "--json", "-")
        self.assertEqual((accepted.returncode, json.loads(accepted.stdout)["before"]["runs"]), (0, 2), accepted.stderr)
        self.fails(2, ["both sides are the same"], "db", "diff", self.at / "db", "--before", "machine=0x1", "--after", "machine=0x2", "--accept", "microcode")
        self.copy("mnist.json", "db/older.json")  # states no microcode
        self.copy("mnist.json", "db/grown.json", ("1073741824", "18900000000"), ('"machine/system": "none"', fact.format(1)))
        (self.at / "db" / "2.json").unlink()
        self.assertEqual(run("analyze", MNIST, "--results", self.at / "db").returncode, 0)

    def test_a_plan_that_ended_its_process_is_named_below_the_ladder(self):
        row = ('{"name":"example/fast,threads=1/hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2","run_type":"iteration","threads":1,"iterations":0,"real_time":0,'
               '"time_unit":"ns","error_occurred":true,"error_message":"killed, as the system does when memory runs out"},\n')  # fmt: skip
        killed = self.copy("mnist.json", "killed.json", ('{"name":"example/direct,threads=1/hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2"', row + '{"name":"example/direct,threads=1/hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2"'))
        result = run("analyze", MNIST, "--results", killed)
        self.assertIn("1 plan ended the process that tried it, and may be faster:\n    example fast,threads=1 hot\n", result.stdout)
        [model] = json.loads(run("analyze", MNIST, "--results", killed, "--json", "-").stdout)["models"]
        self.assertEqual([plan["reason"] for plan in model["ended_plans"]], ["killed, as the system does when memory runs out"])
        self.assertNotIn("ended the process", run("analyze", MNIST, "--results", MNIST_RESULTS).stdout)

    def test_provisional_totals_are_marked_in_every_form(self):
        results = json.loads(MNIST_RESULTS.read_text())
        for row in results["benchmarks"]:
            if "rounds_ns" in row:
                row["rounds_ns"] = [None] * len(row["rounds_ns"])  # no round was quiet
        disturbed = self.file("disturbed.json", json.dumps(results).encode())
        rungs = lambda results: {row["rung"]: row["status"] for row in csv.DictReader(io.StringIO(run("analyze", MNIST, "--results", results, "--csv-rungs", "-").stdout))}
        self.assertEqual({*rungs(MNIST_RESULTS).values()}, {""})
        self.assertEqual((rungs(disturbed)["library_fused"], rungs(disturbed)["model_floor"]), ("provisional", ""))
        for given, said in ((MNIST_RESULTS, False), (disturbed, True)):
            sweep = run("analyze", MNIST, "--batch", "1,2", "--results", given, "--csv", "-").stdout
            self.assertEqual(next(csv.DictReader(io.StringIO(sweep)))["provisional"], str(int(said)))
            study = ["study", MNIST, "--results", given]
            self.assertEqual("  provisional\n" in run(*study).stdout, said)
            [row] = csv.DictReader(io.StringIO(run(*study, "--csv", "-").stdout))
            self.assertEqual(row["provisional"].startswith("0 rounds timed"), said)
            self.assertEqual(json.loads(run(*study, "--json", "-").stdout)["rows"][0]["provisional"], row["provisional"] or None)
            diff = ["db", "diff", RESULTS / "mnist_upgraded.json", given, "--model", MNIST]
            table = run(*diff).stdout
            self.assertEqual(("us ~" in table, "~ provisional: 0 rounds timed" in table), (said, said))
            marks = {row["provisional"] for row in csv.DictReader(io.StringIO(run(*diff, "--csv-rungs", "-").stdout))}
            self.assertEqual(marks - {""}, {"after"} if said else set())
            rung = json.loads(run(*diff, "--json", "-").stdout)["models"][0]["rungs"]["library_fused"]
            self.assertEqual(("provisional" in rung["before"], "provisional" in rung["after"]), (False, said))

    def test_signatures_that_cannot_be_measured_are_1(self):
        self.fails(1, ["View/f32/x=3", "costs nothing"], "measure", "View/f32/x=3", "--database", self.at)

    def test_every_command_that_measures_does_so_in_a_process_of_its_own(self):
        (self.at / "file").touch()                                     # no folder, so that nothing can be shared with a child
        for command in (["bound", MNIST], ["gap", MNIST, "--latency", "1ms"], ["measure", "Unary/f32/fn=relu/x=4096"], ["machine"]):
            result = run(*command, "--database", self.at / "db", env={**os.environ, "TMPDIR": str(self.at / "file")})
            self.assertEqual(result.returncode, 5, result.stderr)
            self.assertIn(str(self.at / "file"), result.stderr)
            self.assertFalse((self.at / "db").exists())

    def test_a_worker_needs_its_request_alone(self):
        folder = self.at / "folder"
        folder.mkdir()
        version = re.match(r"benanza (\S+)", run("--version").stdout)[1]
        lines = [f"version\t{version}", "measures\t1", "threads\t1", "budget\t5", "cache\thot", "backend\tnative", "layer\t1\tUnary/f32/x=4096"]
        (folder / "request").write_text("\n".join(lines) + "\n")
        result = run("worker", folder, cwd=folder)                     # no model is anywhere near
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        rows = [row["name"] for row in json.loads((folder / "run.json").read_text())["benchmarks"]]
        self.assertTrue([row for row in rows if re.fullmatch("native/.*/hot/Unary/f32/x=4096", row)], rows)
        self.assertNotIn("\n  worker", run("--help").stdout)

    def signatures(self, model, *arguments):
        result = run("layers", model, "--csv", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [row["signature"] for row in csv.DictReader(io.StringIO(result.stdout))]

    def test_gap_usage(self):
        gap = ["gap", MNIST, "--results", MNIST_RESULTS]
        self.fails(2, ["--profile", "--latency"], *gap)
        self.fails(2, ["'soon'", "duration"], *gap, "--latency", "soon")
        self.fails(2, ["'0'"], *gap, "--latency", "0")
        self.fails(2, ["'40' has no unit", "40ms or 40s"], *gap, "--latency", "40")
        self.fails(2, ["--rung", "library_fused"], *gap, "--latency", "1ms", "--rung", "fast")
        self.fails(2, ["--what-if", "'float'"], *gap, "--latency", "1ms", "--what-if", "float")
        self.fails(2, ["one model"], *gap, "--latency", "1ms", "--batch", "1,2")
        for ratio in ("-1", "0", "fast", "inf"):
            self.fails(2, [f"--assert-ratio: '{ratio}', expected a positive number"], *gap, "--latency", "1ms", "--assert-ratio", ratio)
        self.fails(2, ["--prove"], *gap, "--latency", "1ms", "--prove")
        self.fails(1, ["absent.json"], *gap, "--profile", self.at / "absent.json")
        (self.at / "foreign.bin").write_bytes(random.Random(7).randbytes(4096))
        self.fails(1, ["foreign.bin"], *gap, "--profile", self.at / "foreign.bin")

    def test_a_profile_tells_its_libraries_and_what_ran_between_their_calls_without_any_bound(self):
        # sqlite3 over the ten passes: 110 kernels were launched within calls of cuDNN and 30 within cuBLAS; 60 launches lie between
        # cublasSetMathMode and cublasGetMathMode, 40 between cudnnAddTensor and cudnnPoolingForward. The results are of another device.
        trace = pathlib.Path(__file__).parents[1] / "data" / "2019" / "mxnet_b1_MNIST.nsys.sqlite.gz"
        command = ["gap", MNIST, "--results", MNIST_RESULTS, "--profile", trace]
        gap = json.loads(run(*command, "--json", "-").stdout)["gaps"][0]
        self.assertIsNone(gap["gap_ms"])
        self.assertEqual({each["library"]: each["records"] for each in gap["by_library"] if each["library"] != "other"}, {"cudnn": 11, "cublas": 3})
        launches = {(each["after"], each["before"]): each["count"] for each in gap["between_library_calls"] if each["name"] == "cudaLaunchKernel"}
        self.assertEqual(launches["cublasSetMathMode", "cublasGetMathMode"], 6)
        self.assertEqual(launches["cudnnAddTensor", "cudnnPoolingForward"], 4)
        table = run(*command, "--all").stdout
        self.assertIn("time by library: cudnn ", table)
        self.assertIn("       6  cudaLaunchKernel between cublasSetMathMode and\n                    cublasGetMathMode\n", table)

    def test_results_of_2019_by_their_own_rules(self):
        data = pathlib.Path(__file__).parents[1] / "data" / "2019"
        resnet, results = MODELS / "zoo2019" / "ResNet050-v1.onnx", data / "resnet50_v100_b32.json.gz"
        log = data / "mxnet_b32_ResNet050-v1.cudnn.log.gz"
        for command in (["analyze", resnet], ["gap", resnet, "--latency", "40ms"]):
            self.fails(1, ["resnet50_v100_b32.json.gz", "--rules 2019"], *command, "--results", results)
        gap = ["gap", resnet, "--batch", "32", "--rules", "2019", "--results", results, "--profile", log]
        made = run(*gap)
        self.assertEqual(made.returncode, 0, made.stderr)
        # From the database, in ns: 398297 for 370755, three calls of the log.
        self.assertRegex(made.stdout, r"0\.398 ms +0\.371 ms +x3 +82\.6 us +cudnn implicit_precomp_gemm, cudnn implicit_gemm +resnetv17_stage2_conv4_fwd ")
        self.assertIn("measured: unknown", made.stdout)
        self.assertIn("also give a trace of the same run", " ".join(made.stdout.split()))
        choices = json.loads(run(*gap, "--json", "-").stdout)["gaps"][0]["questions"]["algorithms"]
        self.assertEqual([choice["count"] for choice in choices], [3, 3])
        timed = json.loads(run(*gap, "--latency", "40ms", "--json", "-").stdout)["gaps"][0]
        self.assertEqual(len(timed["advice"]), 2)
        self.assertAlmostEqual(timed["advice"][0]["predicted_ms"], 3 * (0.398297 - 0.370755), 6)
        # A printed table has no fused form and no algorithms: the rung that it has, and what the log names.
        printed = json.loads(run("gap", resnet, "--batch", "32", "--rules", "2019", "--results", data / "resnet50_v100_b32.csv.gz", "--profile", log, "--latency", "40ms", "--json", "-").stdout)["gaps"][0]
        self.assertEqual(printed["rung"], "library")
        with gzip.open(data / "resnet50_v100_b32.csv.gz", "rt") as file:
            *_, total = csv.DictReader(file)
        self.assertAlmostEqual(printed["gap_ms"], 40 - float(total["RealTime(ms)"]), 5)
        self.assertIn("implicit_precomp_gemm", {choice["chosen"] for choice in printed["questions"]["algorithms"]})
        # At another batch size no row fits the model: nothing is known, which is not 0.
        other = run("analyze", resnet, "--rules", "2019", "--results", results, "--json", "-")
        self.assertIn("holds of batch 32 does not count", other.stderr)
        model = json.loads(other.stdout)["models"][0]
        self.assertEqual({value for value in model["bounds_ms"].values()}, {None})
        self.assertFalse(model.get("reference_ms"))
        table = data / "resnet50_v100_b1.csv.gz"
        self.fails(1, ["a second table"], "analyze", resnet, "--rules", "2019", "--results", table, "--results", data / "mnist_v100_b1.csv.gz")
        self.assertNotIn("share", run("analyze", resnet, "--rules", "2019", "--results", table).stdout)

    def test_gap_ratio(self):
        # The headline of these results is 38.7 us, library_fused 37.7 us.
        gap = ["gap", MNIST, "--results", MNIST_RESULTS, "--quiet"]
        for latency, rung in (("58.05us", []), ("56.55us", ["--rung", "library_fused"])):
            self.assertEqual(run(*gap, "--latency", latency, *rung, "--assert-ratio", "1.51").returncode, 0)
            failed = run(*gap, "--latency", latency, *rung, "--assert-ratio", "1.49")
            self.assertEqual(failed.returncode, 4)
            self.assertIn(f"measured / {rung[-1] if rung else 'library_fused_resident'} is 1.5", failed.stderr)

    def test_gap_ratio_of_a_profile_that_lacks_times(self):
        # The rows take 0.0708 ms together, against 38.7 us: a ratio of 1.83, as long as all of them can be read.
        profile = (MODELS.parent / "profiles/mnist.csv").read_text()
        gap = ["gap", MNIST, "--results", MNIST_RESULTS, "--assert-ratio", "1.9", "--profile"]
        whole = self.at / "whole.csv"
        whole.write_text(profile)
        self.assertEqual(run(*gap, whole).returncode, 0)
        for time in ("nan", "", "0.041 ms", "1e300", "-1"):
            damaged = self.at / "damaged.csv"
            damaged.write_text(profile.replace("Conv,0.041", "Conv," + time))
            failed = run(*gap, damaged)
            self.assertEqual(failed.returncode, 4, time)
            self.assertIn("1 record cannot be read", failed.stderr + failed.stdout)
            self.assertIn("records cannot be read, and the latency is the sum of the others, asserted at most 1.9", failed.stderr)
            complete = run("gap", MNIST, "--results", MNIST_RESULTS, "--require-complete", "--profile", damaged)
            self.assertEqual(complete.returncode, 3)
        twice = self.at / "twice.csv"
        twice.write_text(profile + profile)
        result = json.loads(run(*gap, twice, "--warm-ups", "0", "--json", "-").stdout)["gaps"][0]
        self.assertEqual(result["passes"], 2)
        self.assertAlmostEqual(result["latency_ms"], 0.0708, 6)

    def test_commands_of_a_gap_work_as_typed(self):
        folder = self.at / "it's here"
        folder.mkdir()
        shutil.copy(MNIST, folder / "my model.onnx")
        shutil.copy(MODELS.parent / "profiles" / "mnist.csv", folder)
        options = ["--batch", "1", "--latency", "75us", "--rung", "library", "--backend", "example", "--threads", "1", "--what-if", "i8", "--warm-ups", "0"]
        line = ["gap", "it's here/my model.onnx", "--profile", "it's here/mnist.csv", "--results", MNIST_RESULTS, *options]
        result = run(*line, "--json", "-", cwd=self.at)
        self.assertEqual(result.returncode, 0, result.stderr)
        gap = json.loads(result.stdout)["gaps"][0]
        commands = {advice["reproduce"] for advice in gap["advice"]}
        again = [command for command in commands if command.startswith("benanza gap ")]
        self.assertEqual(len(again), 1)
        path = {"PATH": f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"}
        typed = subprocess.run(again[0] + " --json -", shell=True, cwd=self.at, env=os.environ | path, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(typed.returncode, 0, typed.stderr)
        self.assertEqual(json.loads(typed.stdout)["gaps"][0]["parts"], gap["parts"])
        self.assertTrue(any(command.startswith("benanza measure --threads 1 --backend example ") for command in commands), commands)

    def test_names_of_a_profile_do_not_reach_the_terminal_as_they_are(self):
        profile = self.at / "names.json"
        layers = (("Convolution28", 0.02), ("\x1b[31mred\x9b", 0.01), ("Convolution110", 0.04))
        nodes = [{"name": name, "status": "EXECUTED", "node_type": "Convolution", "exec_type": "jit", "real_time": time} for name, time in layers]
        profile.write_text(json.dumps({"avg_performance": {"nodes": nodes}}))
        for output in (["--all"], ["--csv", "-"], ["--dot", "-"]):
            result = subprocess.run([PROGRAM, "gap", MNIST, "--results", MNIST_RESULTS, "--profile", profile, "--latency", "75us", *output], capture_output=True, timeout=600, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("\x1b", result.stdout.decode())
            self.assertNotIn("\x9b", result.stdout.decode())
            if output != ["--dot", "-"]:
                self.assertIn("?[31mred??", result.stdout.decode())

    def test_gap_parts_add_up(self):
        profile = MODELS.parent / "profiles" / "mnist.csv"
        result = run("gap", MNIST, "--results", MNIST_RESULTS, "--profile", profile, "--latency", "75us", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        gap = json.loads(result.stdout)["gaps"][0]
        self.assertAlmostEqual(sum(part["time_ms"] for part in gap["parts"]), gap["gap_ms"], places=12)
        # The weights that do not fit into 4096 bytes, 10280 of the product: its cold time is 2.7 us, its hot time 1.2. The convolutions save all
        # they can, 0.5 of 11.5 us with 832 bytes of weights and 4 of 24.5 us with 12864.
        cold = 1.5 - 2.7 * (4096 - 832 * 0.5 / 11.5 - 12864 * 4 / 24.5) / 10280
        self.assertAlmostEqual(gap["gap_ms"], 0.075 - 0.0377 - cold / 1e3, places=9)
        parts = {part["cause"]: part["time_ms"] for part in gap["parts"]}
        # by hand, in us: the comment in tests/golden/CMakeLists.txt
        expected = {"conversions": 2.1, "slower_layers": 30.2, "faster_layers": -0.1, "not_fused": 0.5, "views": 0.4, "rung": -round(cold, 6), "unexplained": 4.2}
        self.assertEqual({cause: round(time * 1e3, 6) for cause, time in parts.items()}, expected)

    @measuring
    def test_gap_proves_what_it_advises(self):
        # as the example's profile, but one pooling takes 0.9 s: other advice is below the noise
        example = (MODELS.parent / "profiles" / "mnist.csv").read_text(encoding="utf-8")
        profile = self.at / "slow.csv"
        profile.write_text(example.replace("Pooling66,MaxPool,0.0034", "Pooling66,MaxPool,900"), encoding="utf-8")
        self.assertNotEqual(profile.read_text(encoding="utf-8"), example)
        arguments = ["gap", MNIST, "--profile", profile, "--backend", "native", "--threads", "1", "--database", self.at / "db", "--budget", "4s", "--prove", "--quiet"]
        for _ in range(4):  # a total, and so advice, needs quiet rounds; later sessions keep earlier rows
            table = run(*arguments, "--json", self.at / "gap.json")
            self.assertEqual(table.returncode, 0, table.stderr)
            gap = json.loads((self.at / "gap.json").read_text())["gaps"][0]
            if not gap["partial"]:
                break
        slow = [advice for advice in gap["advice"] if "Pooling66" in advice["layers"] and advice["change"] == "algorithm"]
        self.assertEqual(len(slow), 1)
        self.assertTrue(slow[0]["calls"])
        self.assertIsInstance(slow[0]["achieved_ms"], float)
        self.assertNotIn("not_proven", slow[0])
        head = next(line for line in table.stdout.splitlines() if line.startswith("advice "))
        self.assertEqual(head.split(), ["advice", "saves", "achieved"])

    def test_what_if_of_another_type(self):
        as_is = self.signatures(MNIST)
        self.assertEqual(self.signatures(MNIST, "--type", "f32"), as_is)
        self.assertEqual(self.signatures(MNIST, "--type", "bf16"), [text.replace("/f32/", "/bf16/") for text in as_is])
        products = [text for text in self.signatures(MNIST, "--type", "u8") if text.startswith(("Conv/", "MatMul/"))]
        self.assertTrue(products)
        for text in products:
            self.assertIn("/u8/", text)
            self.assertIn("_type=i8", text)
        for asked in ("u8", "i8", "bf16"):
            document = json.loads(run("bound", MNIST, "--type", asked, "--machine", MODELS.parent / "machines" / "t4.json", "--json", "-").stdout)
            self.assertEqual(document["models"][0]["type"], asked)
        suite = run("generate", MNIST, "--type", "bf16", "-o", "-")
        self.assertIn("--type bf16", suite.stdout.splitlines()[0])
        self.assertIn(".type = DataType::bf16", suite.stdout)

    def test_training_is_an_iteration_and_what_cannot_be_trained_is_named(self):
        model = MODELS / "training" / "vgg16.onnx"
        inference = json.loads(run("layers", model, "--json", "-").stdout)["models"][0]
        iteration = json.loads(run("layers", model, "--training", "--json", "-").stdout)["models"][0]
        # Three products for each of inference, less the gradient to the picture.
        self.assertAlmostEqual(iteration["macs"] / inference["macs"], 3, delta=0.02)
        self.assertAlmostEqual(iteration["weight_bytes"] / inference["weight_bytes"], 1, delta=1e-5)
        self.assertTrue(any(text.startswith("ConvGradient/") for text in self.signatures(MNIST, "--training")))
        suite = run("generate", MNIST, "--training", "--optimizer", "adam", "-o", "-")
        self.assertIn("--training --optimizer adam", suite.stdout.splitlines()[0])
        hard = MODELS / "hard"
        self.fails(1, ["bert_base_dynamic_i8", "DynamicQuantizeLinear", "no gradient is known"], "layers", hard / "bert_base_dynamic_i8.onnx", "--training")
        self.fails(1, ["no output depends on a floating-point parameter"], "layers", hard / "resnet50_qdq_i8.onnx", "--training")
        self.fails(2, ["--optimizer: 'lion'", "sgd, momentum, adam, adamw"], "layers", MNIST, "--training", "--optimizer", "lion")
        self.fails(2, ["--loss: 'l1'", "cross-entropy, mse"], "layers", MNIST, "--training", "--loss", "l1")
        self.fails(2, ["--optimizer", "--training"], "layers", MNIST, "--optimizer", "adam")
        frozen = run("memory", model, "--training", "--frozen", "features.0.weight", "--frozen", "features.0.bias", "--capacity", "16GB", "--json", "-")
        self.assertEqual(json.loads(frozen.stdout)["models"][0]["parameters"], 138_357_544 - 64 * 27 - 64)  # torchvision's count, less the first convolution
        self.assertIn("--frozen features.0.weight --frozen features.0.bias", json.loads(frozen.stdout)["models"][0]["options"])
        weights = tensor("w", F32, [2, 2], [5, 2, 3, 7]) + tensor("anchors", F32, [2, 2], [10, 13, 16, 30])
        nodes = node("MatMul", ["x", "w"], "a") + node("Exp", ["a"], "b") + node("Mul", ["b", "anchors"], "y")
        boxes = self.file("boxes.onnx", file_of(weights + nodes, [value("x", F32, [2, 2])], [value("y", F32, [2, 2])]))
        for options, parameters, warnings in ((), 8, ["constants that may not be trained count as parameters: 1 ('anchors'); --frozen NAME leaves one out"]), (("--frozen", "anchors"), 4, None):
            one = json.loads(run("memory", boxes, "--training", *options, "--json", "-").stdout)["models"][0]
            self.assertEqual(one["parameters"], parameters)
            if warnings:
                self.assertEqual(one["warnings"], warnings)
        self.fails(1, ["vgg16", "--frozen names 'absent', but no parameter has this name"], "layers", model, "--training", "--frozen", "absent")
        self.fails(2, ["--frozen", "--training"], "layers", model, "--frozen", "features.0.weight")
        self.fails(1, ["loop_known_trip_count", "no floating-point parameters"], "layers", hard / "loop_known_trip_count.onnx", "--training")

    def test_memory_says_what_fills_it_and_what_fits(self):
        model = MODELS / "training" / "vgg16.onnx"
        document = json.loads(run("memory", model, "--training", "--optimizer", "adam", "--capacity", "16GB", "--json", "-").stdout)
        one = document["models"][0]
        timeline = one["timeline"]
        totals = [sum(values) for values in zip(*timeline["bytes"].values())]
        self.assertEqual(len(totals), len(timeline["nodes"]))
        self.assertAlmostEqual(max(totals), one["peak_bytes"], delta=16)
        self.assertEqual(totals.index(max(totals)), one["peak_step"])
        self.assertEqual(one["at_peak"]["optimizer_state"], 8 * one["parameters"])
        rows = list(csv.DictReader(io.StringIO(run("memory", model, "--training", "--optimizer", "adam", "--capacity", "16GB", "--csv", "-").stdout)))
        self.assertEqual([row["phase"] for row in rows], timeline["phases"])
        # The batch that fits, fits; one more does not.
        peak = lambda batch: json.loads(run("memory", model, "--training", "--optimizer", "adam", "--capacity", "64GB", "--batch", batch, "--json", "-").stdout)["models"][0]["peak_bytes"]
        self.assertLessEqual(peak(one["largest_batch"]), 16e9)
        self.assertGreater(peak(one["largest_batch"] + 1), 16e9)
        table = run("memory", model, "--training", "--capacity", "16GB").stdout
        for text in ("feature maps", "--recompute every:", "--precision mixed", "largest batch in 16.0 GB"):
            self.assertIn(text, table)
        inference = json.loads(run("memory", model, "--capacity", "16GB", "--json", "-").stdout)["models"][0]
        self.assertEqual((inference["most_at_once"]["gradients"], inference["most_at_once"]["feature_maps"]), (0, 0))
        self.assertLess(inference["peak_bytes"], one["peak_bytes"])
        sweep = json.loads(run("memory", MNIST, "--batch", "1,2,4", "--results", MNIST_RESULTS, "--capacity", "1GB", "--json", "-").stdout)
        self.assertTrue(sweep["sweep"])
        self.assertAlmostEqual(sweep["models"][0]["inputs_per_second"] * sweep["models"][0]["latency_ms"], 1000)
        self.assertIsNone(sweep["models"][1]["inputs_per_second"], "batch 2 was not measured")
        page = self.at / "memory.html"
        self.assertEqual(run("memory", model, "--training", "--capacity", "16GB", "--html", page).returncode, 0)
        self.assertIn('"peak_bytes"', page.read_text())

    def test_scale_says_from_which_bandwidth_on_workers_pay(self):
        model, machine = MODELS / "training" / "resnet50.onnx", MODELS.parent / "machines" / "a100_sxm4_40gb.json"
        asked = ("scale", model, "--machine", machine, "--workers", 4, "--bandwidth", "10,100Gbps")
        files = {name: self.at / f"scale.{name}" for name in ("json", "csv", "html", "trace")}
        result = run(*asked, *(text for name, file in files.items() for text in (f"--{name}", file)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        self.assertIn("4 workers are faster than one from", result.stdout)
        document = json.loads(files["json"].read_text())["models"][0]
        self.assertEqual(document["gradient_bytes"], 4 * 25557032)  # PyTorch's count of parameters
        self.assertEqual([(p["workers"], p["bandwidth_gbps"]) for p in document["points"]], [(n, b) for b in (10, 100) for n in (2, 3, 4)])
        for point in document["points"]:
            self.assertAlmostEqual(point["iteration_ms"], document["iteration_ms"] + point["exposed_ms"], places=6)
            self.assertAlmostEqual(point["speed_up"], point["workers"] * document["iteration_ms"] / point["iteration_ms"], places=6)
        # 2 S / (n T1) in Gbit/s; what overlaps needs less.
        for least in document["least"]:
            closed = 2 * document["gradient_bytes"] * 8 / least["workers"] / document["iteration_ms"] / 1e6
            self.assertAlmostEqual(least["break_even_without_overlap_gbps"] / closed, 1, places=6)
            self.assertLess(least["break_even_gbps"], closed)
        self.assertEqual(sum(bucket["gradients"] for bucket in document["exchanges"][0]["buckets"]), 161)  # 53 convolutions, 53 norms of 2, fc of 2
        rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
        self.assertEqual([float(row["efficiency"]) for row in rows], [float(f"{p['efficiency']:.6g}") for p in document["points"]])
        events = [event for event in json.loads(files["trace"].read_text())["traceEvents"] if event["ph"] == "X"]
        sent = [event["name"] for event in events if event["cat"] == "AllReduce"]
        self.assertEqual(len(sent), sum(len(e["buckets"]) for e in document["exchanges"]))
        self.assertRegex(sent[0], r"^fc\.(weight|bias) and ")  # the last layer's gradient is the first
        self.assertAlmostEqual(document["exchanges"][0]["buckets"][-1]["ready_ms"], document["backward_ms"], places=6)  # the first layer's the last
        self.assertIn("Efficiency over bandwidth", files["html"].read_text())
        whole = json.loads(run(*asked, "--bucket", "1GB", "--iteration", "2s", "--json", "-").stdout)["models"][0]
        self.assertAlmostEqual(whole["iteration_ms"], 2000, places=6)
        for least in whole["least"]:  # one bucket overlaps nothing
            self.assertAlmostEqual(least["break_even_gbps"] / least["break_even_without_overlap_gbps"], 1, places=5)
        # Packing takes 1 to 3 ms of what is left for the exchange: T1 - 2 ms in the middle, for two workers and one bucket.
        packed = json.loads(run(*asked, "--bucket", "1TB", "--iteration", "40ms", "--overhead", "1ms,3ms", "--json", "-").stdout)["models"][0]
        self.assertEqual((packed["overhead_ms"], packed["overhead_uncertainty"]), (2, 0.5))
        self.assertAlmostEqual(packed["least"][0]["break_even_gbps"], packed["gradient_bytes"] * 8e-9 / 0.038, places=4)
        for end, left in zip(packed["least"][0]["break_even_interval_gbps"], (0.039, 0.037)):
            self.assertAlmostEqual(end, packed["gradient_bytes"] * 8e-9 / left, places=4)
        # Phases in any proportion; an iteration scales them together.
        phases = json.loads(run(*asked, "--phases", "10ms,30ms,5ms", "--iteration", "90ms", "--json", "-").stdout)["models"][0]
        for name, taken in (("forward_ms", 20), ("backward_ms", 60), ("update_ms", 10), ("iteration_ms", 90)):
            self.assertAlmostEqual(phases[name], taken, places=6)
        halved = json.loads(run(*asked, "--precision", "mixed", "--json", "-").stdout)["models"][0]
        self.assertEqual((halved["type"], halved["gradient_bytes"]), ("bf16", 2 * 25557032))

    def test_mistakes_of_scale_are_one_line(self):
        model, machine = MODELS / "training" / "vgg16.onnx", MODELS.parent / "machines" / "a100_sxm4_40gb.json"
        asked = ("scale", model, "--machine", machine)
        self.fails(2, ["--results", "--machine"], "scale", model)
        self.fails(2, ["--bandwidth: '10 apples'", "10,25,100Gbps"], *asked, "--bandwidth", "10 apples")
        self.fails(2, ["--bandwidth: '10'"], *asked, "--bandwidth", "10")
        self.fails(2, ["--bandwidth: '0Gbps'"], *asked, "--bandwidth", "0Gbps")
        self.fails(2, ["'soon' is not a duration"], *asked, "--latency", "soon")
        self.fails(2, ["--order: 'lifo'", "fifo, priority"], *asked, "--order", "lifo")
        self.fails(2, ["--algorithm: 'star'", "ring, tree"], *asked, "--algorithm", "star")
        self.fails(2, ["--bucket: 'big'"], *asked, "--bucket", "big")
        self.fails(2, ["--phases: '1s,2s'", "forward, backward, optimizer"], *asked, "--phases", "1s,2s")
        self.fails(2, ["--phases: '0s,2s,1s'", "above 0"], *asked, "--phases", "0s,2s,1s")
        self.fails(2, ["--workers", "from 2"], *asked, "--workers", "1")
        self.fails(2, ["--efficiency", "between 0 and 1"], *asked, "--efficiency", "1")
        self.fails(2, ["--iteration: '0ms'"], *asked, "--iteration", "0ms")
        self.fails(2, ["--iteration: '1e-300s', expected a time from 1 ps to 1 year"], *asked, "--iteration", "1e-300s")
        self.fails(2, ["--reached: '1.5', expected shares above 0 and up to 1"], *asked, "--reached", "1.5")
        self.fails(2, ["--iteration: '3ms,2ms'", "the shorter one first"], *asked, "--iteration", "3ms,2ms")
        self.fails(2, ["--overhead: '0ms'"], *asked, "--overhead", "0ms")
        self.fails(2, ["--overhead: '3ms,2ms'", "the shorter one first"], *asked, "--overhead", "3ms,2ms")
        self.fails(2, ["--reached: '2,1'", "0.9,0.97"], *asked, "--reached", "2,1")
        self.fails(2, ["--backend mpi: needs --results"], *asked, "--backend", "mpi")
        self.fails(2, ["--backend", "carrier"], *asked, "--backend", "carrier")
        self.fails(2, ["--machine", "--backend"], *asked, "--results", MNIST_RESULTS)
        self.fails(1, ["absent.json"], "scale", model, "--machine", self.at / "absent.json")
        self.fails(1, ["vgg16: the results lack", "benanza bound --training"], "scale", model, "--results", MNIST_RESULTS)
        self.fails(1, ["no output depends on a floating-point parameter"], "scale", MODELS / "hard" / "resnet50_qdq_i8.onnx", "--machine", machine)

    @measuring
    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_collectives_are_measured_under_mpirun_and_scale_takes_them(self):
        alone = run("measure", "AllReduce/f32/n=64/ranks=2", "--backend", "mpi", "--database", self.at)
        if "no backend is called 'mpi'" in alone.stderr:
            self.skipTest("a build without MPI")
        self.assertEqual(alone.returncode, 5, alone.stderr)
        self.assertIn("its processes are started by mpirun", alone.stderr)
        # All gradients of the model in one bucket, and a size that the ranks cannot share evenly.
        asked = ["AllReduce/f32/n=5483032/ranks=2", "ReduceScatter/f32/n=4096/ranks=2", "AllGather/f32/n=4096/ranks=2", "AllReduce/f32/n=333/ranks=3"]
        # Open MPI leaves memory behind, which AddressSanitizer would report.
        environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ASAN_OPTIONS": "detect_leaks=0"}

        def measured_on(ranks, budget, *layers):
            result = subprocess.run(["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", PROGRAM, "measure", *layers, "--backend", "mpi", "--budget", budget, "--quiet",
                                     "--database", self.at / f"of_{ranks}", "--json", "-"], capture_output=True, text=True, timeout=600, check=False, env=environment)  # fmt: skip
            self.assertEqual(result.returncode, 0, result.stderr)
            return json.loads(result.stdout)["layers"]

        # Both reduce 3 ranks to 2 first (coll_base_allreduce.c of Open MPI).
        of_three = {plan["algorithm"].split(",")[0].split(":")[0] for plan in measured_on(3, "4s", "AllReduce/f32/n=333/ranks=3")[0]["plans"]}
        self.assertLessEqual({"recursive_doubling", "rabenseifner"}, of_three)
        layers = measured_on(2, "2s", *asked)
        for layer in layers[:3]:
            measured = [plan for plan in layer["plans"] if "excluded" not in plan]
            self.assertTrue(measured, layer)
            self.assertTrue(all(plan["difference"] < 1e-4 for plan in measured), layer)  # ranks have different elements
        self.assertIn("mpirun -n 3", layers[3]["plans"][0]["excluded"])
        model, machine = MODELS / "training" / "mobilenet_v3_large.onnx", MODELS.parent / "machines" / "epyc_7763.json"
        scale = ("scale", model, "--machine", machine, "--results", self.at / "of_2", "--backend", "mpi", "--bucket", "1TB")
        of_two = json.loads(run(*scale, "--workers", 2, "--json", "-").stdout)["models"][0]
        self.assertEqual((of_two["measured_by"], len(of_two["points"])), ("mpi", 1))
        point = of_two["points"][0]
        self.assertGreater(point["communication_ms"], 0)
        self.assertAlmostEqual(point["iteration_ms"], of_two["iteration_ms"] + point["communication_ms"], places=6)  # nothing overlaps
        self.fails(1, ["the results lack all-reduces by mpi of 4 ranks", "mpirun -n 4 --bind-to none benanza measure --backend mpi AllReduce/f32/n=5483032/ranks=4"], *scale, "--workers", 4)
        scale = ("scale", model, "--machine", MODELS.parent / "machines" / "a100_sxm4_40gb.json", *scale[4:])
        self.fails(2, ["--backend mpi: MPI adds up no bf16", "--bandwidth"], *scale, "--workers", 2, "--precision", "mixed")

    def gpu_results(self, name, change):
        """The results of the example as those of a GPU, each row's times changed."""
        text = MNIST_RESULTS.read_text()
        document = json.loads(text)
        document["context"] |= {"machine/device": name, "machine/isa": "sm_70,sms=80", "machine/driver": "550"}
        for row in document["benchmarks"]:
            if "p10_ns" in row:
                for key in ("real_time", "cpu_time", "p10_ns", "median_ns", "p90_ns", "min_ns"):
                    row[key] = change(row["name"], row[key])
                row["rounds_ns"] = [change(row["name"], time) for time in row["rounds_ns"]]
        file = self.at / (re.sub(r"\W", "_", name) + ".json")
        file.write_text(json.dumps(document))
        return file

    def test_predict_compares_devices(self):
        machines = MODELS.parent / "machines"
        here = self.gpu_results("Tesla V100-SXM2-16GB", lambda name, time: time)
        there = self.gpu_results("NVIDIA L4", lambda name, time: 2 * time)
        asked = ("predict", MNIST, "--from", here, "--to", machines / "v100_sxm2.json", "--to", machines / "t4.json", "--to", machines / "l4.json",
                 "--target-results", there, "--price", "2,0.5,0.8")
        files = {name: self.at / f"predict.{name}" for name in ("json", "csv", "csv-rungs", "html")}
        result = run(*asked, *(text for name, file in files.items() for text in (f"--{name}", file)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        for text in ("measured on NVIDIA V100 SXM2", "NVIDIA T4", "large wave 100 % of the time", "base 1312 MHz to base 585 MHz", "measured 100 % of the time"):
            self.assertIn(text, result.stdout)
        model = json.loads(files["json"].read_text())["models"][0]
        same, t4, l4 = model["targets"]
        self.assertAlmostEqual(same["total_ms"], model["origin_ms"], places=9)  # from a device to itself
        self.assertAlmostEqual(l4["total_ms"], 2 * model["origin_ms"], places=9)  # its own rows
        self.assertEqual([target["status"] for target in model["targets"]], ["predicted", "predicted", "measured"])
        for target in model["targets"]:
            self.assertFalse(target["partial"])
            self.assertLessEqual(target["low_ms"], target["total_ms"])
            self.assertLessEqual(target["total_ms"], target["high_ms"])
            self.assertAlmostEqual(target["items_per_s"] * target["total_ms"], 1000)
            self.assertAlmostEqual(target["items_per_cost"], target["items_per_s"] * 3600 / target["price_per_hour"], places=3)
            self.assertAlmostEqual(sum(layer["time_ms"] * layer["count"] for layer in target["layers"]), target["total_ms"], places=9)
        for layer in t4["layers"]:
            self.assertEqual((layer["status"], layer["method"]), ("predicted", "large wave"))
            # Between the ratio of the bandwidths, 900 / 320, and that of multiprocessors times clocks, 80 x 1312 / (40 x 585).
            self.assertTrue(2.8124 < layer["time_ms"] / layer["origin_ms"] < 4.4856, layer)
        rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
        self.assertEqual(len(rows), sum(len(target["layers"]) for target in model["targets"]))
        self.assertEqual({row["status"] for row in rows if row["device"] == "NVIDIA L4"}, {"measured"})
        totals = list(csv.DictReader(io.StringIO(files["csv-rungs"].read_text())))
        self.assertEqual([row["status"] for row in totals], ["predicted", "predicted", "measured"])
        for row, target in zip(totals, model["targets"]):
            self.assertAlmostEqual(float(row["time_ms"]), target["total_ms"], places=4)
        page = files["html"].read_text()
        self.assertIn("Latency by device", page)
        self.assertIn("NVIDIA T4", page)

    def test_predict_reads_tables_of_2019(self):
        machines, data = MODELS.parent / "machines", MODELS.parents[1] / "tests" / "data" / "2019"
        resnet = ("predict", MODELS / "zoo2019" / "ResNet050-v1.onnx", "--batch", 32, "--rules", "2019", "--from-machine", machines / "v100_sxm2.json", "--quiet", "--json", "-")
        result = run(*resnet, "--from", data / "resnet50_v100_b32.csv.gz", "--to", machines / "t4.json", "--to", machines / "v100_sxm2.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        model = json.loads(result.stdout)["models"][0]
        t4, same = model["targets"]
        # Predicted with this formula before the program was, with the FLOPs of the published tables; the T4 took 123.7 ms.
        self.assertAlmostEqual(t4["total_ms"], 125.8, delta=1.3)
        self.assertAlmostEqual(same["total_ms"], model["origin_ms"], places=9)
        self.assertEqual(t4["status"], "predicted")
        # Long calls at batch 32: the interval is that of the models that are like it.
        self.assertAlmostEqual(t4["high_ms"] / t4["total_ms"], 1.35, places=2)
        self.assertAlmostEqual(t4["total_ms"] / t4["low_ms"], 1.35, delta=0.05)  # floors bound it from below
        # MNIST, of which the table of all GPUs has rows on both.
        table = data / "layers_b1.csv.gz"
        mnist = ("predict", MODELS / "zoo2019" / "MNIST.onnx", "--rules", "2019", "--device", "Tesla_V100-SXM2-16GB", "--from", table, "--to", machines / "t4.json", "--target-results", table)
        result = run(*mnist, "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        with gzip.open(table, "rt") as file:
            there = sum(float(row["time_ms"]) for row in csv.DictReader(file) if row["gpu"] == "Tesla_T4" and row["model"] == "MNIST")
        target = json.loads(result.stdout)["models"][0]["targets"][0]
        self.assertEqual([layer["node"] for layer in target["layers"] if layer["method"] != "measured"], ["Plus214"])  # the table lacks it
        self.assertAlmostEqual(target["total_ms"], there, places=6)
        self.fails(1, ["--device selects one"], "predict", MODELS / "zoo2019" / "MNIST.onnx", "--rules", "2019", "--from", table, "--to", machines / "t4.json")
        self.fails(1, ["Tesla_K80", "which none of --to is called"], *mnist[:-4], "--to", machines / "l4.json", "--target-results", table)
        self.fails(2, ["--rules"], *mnist[:2], "--device", "Tesla_T4", "--from", table, "--to", machines / "t4.json")

    def rows_of_training(self):
        """A row of 10 us for each layer of an iteration of MNIST, and for each group of them."""
        signatures = self.signatures(MNIST, "--training")
        document = json.loads(MNIST_RESULTS.read_text())
        like = next(row for row in document["benchmarks"] if "/hot/Conv/" in row["name"])
        document["benchmarks"] = [row for row in document["benchmarks"] if row["name"].startswith("machine/")]
        document["benchmarks"] += [like | {"name": f"example/direct,threads=1/hot/{signature}"} for signature in signatures]
        rows = self.at / "training.json"
        rows.write_text(json.dumps(document))
        missing = json.loads(run("analyze", MNIST, "--training", "--results", rows, "--json", "-", "--quiet").stdout)["models"][0]["missing"]
        document["benchmarks"] += [like | {"name": f"example/direct,threads=1/hot/{signature}"} for signature in missing]
        rows.write_text(json.dumps(document))
        return rows

    def test_an_iteration_of_training_is_analyzed_and_ends_with_answers(self):
        rows = self.rows_of_training()
        model = json.loads(run("analyze", MNIST, "--training", "--results", rows, "--json", "-", "--quiet").stdout)["models"][0]
        fused = [row for row in model["rows"] if row["form"] == "fused"]
        counts = collections.Counter()
        for row in fused:
            counts[row["signature"].split("/")[0]] += row["count"]
        kind, count = counts.most_common(1)[0]
        share = 100 * count / counts.total()   # each row takes the same time
        self.assertRegex(model["answers"][-1], "benanza memory --training .* benanza scale")
        longest = next(answer for answer in model["answers"] if "takes most of the time" in answer)
        self.assertRegex(longest, f"{share:.0f} %$")
        if list(counts.values()).count(count) == 1:
            self.assertTrue(longest.startswith(kind), (longest, counts))
        table = run("analyze", MNIST, "--training", "--results", rows, "--quiet").stdout
        self.assertIn(longest, " ".join(table.split()))
        document = self.at / "gap.json"
        result = run("gap", MNIST, "--training", "--latency", "1s", "--results", rows, "--json", document, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("at the bound: " + longest, " ".join(result.stdout.split()))
        self.assertEqual(json.loads(document.read_text())["gaps"][0]["answers"], model["answers"])
        declared = run("bound", MNIST, "--training", "--machine", MODELS.parent / "machines" / "epyc_7763.json", "--quiet")
        self.assertEqual(declared.returncode, 0, declared.stderr)

    def test_predict_takes_an_iteration_of_training(self):
        rows = self.rows_of_training()
        result = run("predict", MNIST, "--training", "--from", rows, "--to", rows, "--json", "-", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        model = json.loads(result.stdout)["models"][0]
        target = model["targets"][0]
        self.assertTrue(any(layer["signature"].startswith("ConvGradient/") and layer["status"] == "measured" for layer in target["layers"]))
        self.assertAlmostEqual(target["total_ms"], model["origin_ms"], places=9)
        refused = run("predict", MNIST, "--training", "--from", rows, "--to", MODELS.parent / "machines" / "t4.json")
        self.assertIn("no formula leads from a CPU to an accelerator or back", " ".join(refused.stdout.split()))
        self.assertEqual(refused.returncode, 3)  # no layer has a basis
        told = run("predict", MNIST, "--training", "--from", rows, "--to", MODELS.parent / "machines" / "t4.json", "--json", "-", "--quiet")
        target = json.loads(told.stdout)["models"][0]["targets"][0]
        self.assertEqual([target[key] for key in ("status", "total_ms", "low_ms", "high_ms")], ["no basis", None, None, None])

    def test_options_that_would_have_no_effect_are_refused(self):
        t4 = MODELS.parent / "machines" / "t4.json"
        for option in (["--rounds"], ["--repeat"], ["--plans"], ["--cache", "hot"], ["--metrics", "dram"], ["--isolate"], ["--accept", "memory"]):
            self.fails(2, ["--machine", option[0]], "bound", MNIST, "--machine", t4, *option)
        self.fails(2, ["--plan", "--reproducer"], "generate", MNIST, "--plan", "onednn/jit")
        resnet = MODELS / "modern" / "resnet50.onnx"
        self.fails(2, ["batch 4, but input 'image' is given the shape [2, 3, 224, 224]"], "layers", resnet, "--input", "image=2x3x224x224", "--batch", "4")
        self.assertEqual(run("layers", resnet, "--input", "image=4x3x224x224", "--batch", "4").returncode, 0)
        told = run("bound", MNIST, "--machine", t4, "--type", "tf32")
        self.assertIn("declares no peak of tf32", told.stderr)

    def test_mistakes_of_predict_are_one_line(self):
        t4 = MODELS.parent / "machines" / "t4.json"
        here = self.gpu_results("Tesla V100-SXM2-16GB", lambda name, time: time)
        self.fails(2, ["--from"], "predict", MNIST, "--to", t4)
        self.fails(2, ["--to"], "predict", MNIST, "--from", here)
        self.fails(2, ["--price: 2 prices for 1 devices"], "predict", MNIST, "--from", here, "--to", t4, "--price", "1,2")
        self.fails(1, ["absent.json"], "predict", MNIST, "--from", here, "--to", self.at / "absent.json")
        broken = self.at / "no_bandwidth.json"
        broken.write_text(re.sub(r'"bytes_per_s": [^,]*, ', "", t4.read_text()))
        self.fails(1, ["no_bandwidth.json: memory: no 'bytes_per_s'"], "predict", MNIST, "--from", here, "--to", broken)
        unknown = self.gpu_results("NVIDIA Abacus", lambda name, time: time)
        self.fails(1, ["the rows are from 'NVIDIA Abacus', but no machine file", "--from-machine FILE"], "predict", MNIST, "--from", unknown, "--to", t4)
        self.fails(1, ["the rows are of 'NVIDIA Abacus'", "t4.json is not called"], "predict", MNIST, "--from", unknown, "--from-machine", t4, "--to", t4)
        self.fails(1, ["--target-results: the rows are of 'NVIDIA Abacus', which none of --to is called"], "predict", MNIST, "--from", here, "--to", t4, "--target-results", unknown)
        self.fails(1, ["MNIST: --from has no row of its layers at batch 8, its rows are of batch 1"], "predict", MNIST, "--batch", "8", "--from", here, "--to", t4)

    def test_mistakes_of_memory_are_one_line(self):
        model = MODELS / "training" / "vgg16.onnx"
        self.fails(1, ["vgg16", "gradients", "more than the capacity of 1000 MB"], "memory", model, "--training", "--capacity", "1GB")
        self.fails(1, ["vgg16", "weights take 553.4 MB", "more than the capacity of 500 MB"], "memory", model, "--capacity", "500MB")
        self.fails(2, ["--capacity: '80 apples'", "80GB"], "memory", model, "--capacity", "80 apples")
        self.fails(2, ["--capacity: '80'", "80GB"], "memory", model, "--capacity", "80")
        self.fails(2, ["--saved: 'all'", "least, eager"], "memory", model, "--training", "--saved", "all")
        self.fails(2, ["--saved", "--training"], "memory", model, "--saved", "eager")
        self.fails(2, ["--recompute: 'every:0'", "every:N"], "memory", model, "--training", "--recompute", "every:0")
        self.fails(2, ["--precision: 'half'", "f32, mixed, mixed:f16"], "memory", model, "--training", "--precision", "half")
        hard = MODELS / "hard"
        self.fails(1, ["no floating-point parameters"], "memory", hard / "mobilenet_v3_large_qoperator_i8.onnx", "--training", "--capacity", "1GB")
        self.fails(1, ["no output depends on a floating-point parameter, so there is no loss"], "memory", hard / "resnet50_qdq_i8.onnx", "--training", "--capacity", "1GB")
        result = run("memory", SYMBOLIC, "--training", "--capacity", "8GB")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--dim seq=", result.stderr)

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

    def test_layers_that_a_database_of_other_models_has(self):
        family = sorted((MODELS / "zoo2019").glob("ResNet*-v2.onnx"))
        # By a script over the files with the onnx package: operator, attributes and the shapes of all inputs; Constant and ConstantOfShape left out.
        result = run("layers", *family, "--rules", "2019", "--known", MODELS / "zoo2019", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        known = json.loads(result.stdout)["known"]
        self.assertEqual(known["other_models"], 25)
        self.assertEqual([(row["model"], row["layers"]) for row in known["models"]][-1], (None, 1226))
        self.assertEqual([known["models"][-1][key] for key in ("unique", "known", "new", "time_ms")], [69, 59, 10, None])
        table = run("layers", *family, "--rules", "2019", "--known", MODELS / "zoo2019").stdout
        self.assertRegex(table, r"5 models +69 +59 +10 +14\.5 %")
        # The same script over the published rows of the V100: a call of each of the 65 layers that have a time. The paper says 75 % less.
        rows = pathlib.Path(__file__).parent.parent / "data" / "2019" / "layers_b1.csv.gz"
        timed = json.loads(run("layers", *family, "--rules", "2019", "--known", MODELS / "zoo2019", "--results", rows, "--device", "Tesla_V100-SXM2-16GB", "--json", "-").stdout)["known"]["models"][-1]
        self.assertEqual(timed["timed"], 65)
        self.assertAlmostEqual(timed["time_ms"], 2.589957)
        self.assertAlmostEqual(timed["known_time_ms"], 2.147879)
        # Known from results: the time is what measuring took. A model does not know itself.
        of_results = json.loads(run("layers", MNIST, "--known", MNIST_RESULTS, "--json", "-").stdout)["known"]["models"][-1]
        self.assertEqual(of_results["new"], of_results["unique"] - of_results["known"])
        self.assertGreater(of_results["known"], 0)
        self.assertGreater(of_results["known_time_ms"], 0)
        itself = json.loads(run("layers", MNIST, "--known", MNIST, "--json", "-").stdout)["known"]["models"][-1]
        self.assertEqual(itself["known"], 0)
        self.fails(1, ["nosuch.onnx"], "layers", MNIST, "--known", "nosuch.onnx")
        self.fails(2, ["--known or --rules"], "layers", MNIST, "--results", MNIST_RESULTS)
        self.fails(2, ["models are expected"], "layers", MNIST, "--rules", "2019", "--known", MNIST_RESULTS)
        self.fails(1, ["no control flow"], "layers", MODELS / "hard" / "loop_unknown_trip_count.onnx", "--rules", "2019")

    def test_study_of_the_published_data(self):
        data = pathlib.Path(__file__).parent.parent / "data" / "2019"
        result = run("study", MODELS / "zoo2019", "--results", data / "study", "--results", data / "layers_b1.csv.gz", "--rules", "2019", "--batch", "1", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        means = {(mean["quantity"], mean["device"], mean["framework"]): mean for mean in document["means"]}
        # Recomputed from the files by a script; the paper says 0.88 and 0.76.
        for quantity, value in (("ratio of library", 0.884), ("ratio of library_parallel", 0.768)):
            self.assertAlmostEqual(means[quantity, "Tesla V100-SXM2-16GB", "mxnet"]["all"]["mean"], value, delta=5e-4)
        claims = {claim["what"]: (claim["published"], claim["found"], claim["agrees"]) for claim in document["claims"]}
        self.assertEqual(claims["unique layers of ResNet50-v1"], ("47", 47, True))
        self.assertEqual(claims["unique layers of the five ResNet-v1"], ("60", 60, True))
        self.assertEqual(claims["layers of the five ResNet-v1"], ("1229", 1229, True))
        rows = list(csv.DictReader(io.StringIO(run("study", MODELS / "zoo2019", "--results", data / "study", "--rules", "2019", "--batch", "1", "--csv", "-").stdout)))
        self.assertEqual(sum(row["framework"] == "mxnet" and row["device"].startswith("Tesla V100") for row in rows), 30)
        table = run("study", MODELS / "zoo2019", "--results", data / "study", "--rules", "2019", "--batch", "1")
        self.assertRegex(table.stdout, r"mxnet +30 +0\.884 0\.81\.\.0\.97 +0\.768 ")
        self.assertTrue(all(len(line) <= 80 for line in table.stdout.splitlines()), table.stdout)

    def test_profiles_change_no_mean_of_latencies(self):
        data = pathlib.Path(__file__).parent.parent / "data" / "2019"
        folder = self.at / "profiles"
        folder.mkdir()
        for name in ("mxnet_b1_MNIST.nsys.sqlite.gz", "mxnet_b1_MNIST.cudnn.log.gz"):
            shutil.copy(data / name, folder)
        document = json.loads(run("study", MODELS / "zoo2019", "--results", data / "study", "--rules", "2019", "--batch", "1", "--profile", folder, "--json", "-").stdout)
        rows = [row for row in document["rows"] if (row["model"], row["framework"], row["device"]) == ("MNIST", "mxnet", "Tesla V100-SXM2-16GB")]
        self.assertEqual([pathlib.Path(row["latency_file"]).name for row in rows], ["measured_v100_t4_ms.csv.gz", "mxnet_b1_MNIST.cudnn.log.gz"])
        (mean,) = [m for m in document["means"] if (m["quantity"], m["device"], m["framework"]) == ("ratio of library", "Tesla V100-SXM2-16GB", "mxnet")]
        self.assertAlmostEqual(mean["all"]["mean"], 0.884, delta=5e-4)

    def test_study_of_own_results(self):
        latencies = self.at / "latencies.csv"
        latencies.write_text("framework,model,batch,mean_ms\nengine,mnist,1,0.075\nengine,other,1,2\n")
        document = json.loads(run("study", MNIST, "--results", MNIST_RESULTS, "--latency", latencies, "--json", "-").stdout)
        bounds = json.loads(run("analyze", MNIST, "--results", MNIST_RESULTS, "--json", "-").stdout)["models"][0]["bounds_ms"]
        (row,) = document["rows"]
        self.assertEqual((row["model"], row["framework"], row["latency_ms"]), ("MNIST", "engine", 0.075))
        self.assertAlmostEqual(row["ratios"]["library"], bounds["library"] / 0.075)
        self.assertAlmostEqual(row["speedups"]["fusion"], bounds["library"] / bounds["library_fused"])
        self.assertTrue(any("other" in note for note in document["notes"]), document["notes"])

    def test_study_keeps_machines_of_one_name_apart(self):
        def results(name, **machine):
            document = json.loads(MNIST_RESULTS.read_text())
            document["context"].update({f"machine/{key}": value for key, value in machine.items()})
            (self.at / name).write_text(json.dumps(document))

        def devices():
            rows = json.loads(run("study", MNIST, "--results", self.at, "--json", "-").stdout)["rows"]
            return [row["device"] for row in rows]

        results("one.json")
        results("same.json", affinity="1")
        self.assertEqual(devices(), ["A machine with invented figures"])
        results("more.json", cores="2")
        self.assertEqual(devices(), ["A machine with invented figures, 1 core", "A machine with invented figures, 2 cores"])

    def test_study_reads_logs_without_a_trace_and_printed_tables(self):
        data = pathlib.Path(__file__).parent.parent / "data" / "2019"
        shutil.copy(data / "mxnet_b32_ResNet050-v1.cudnn.log.gz", self.at)
        shutil.copy(data / "resnet50_v100_b32.csv.gz", self.at)
        (self.at / "manifest.csv").write_text("file,model,device,batch\nresnet50_v100_b32.csv.gz,ResNet050-v1,Tesla_V100-SXM2-16GB,32\n")
        document = json.loads(run("study", MODELS / "zoo2019" / "ResNet050-v1.onnx", "--results", data / "resnet50_v100_b32.json.gz", "--profile", self.at, "--rules", "2019", "--json", "-").stdout)
        (row,) = document["rows"]
        self.assertEqual((row["framework"], row["latency_ms"]), ("mxnet", None))
        # docs/figures.md: three calls of 398 us where 371 us is best, three of 397 where 389 is: the others are the best.
        self.assertGreater(row["chosen_over_best"], 1.001)
        self.assertLess(row["chosen_over_best"], 1.01)
        sources = {account["source"]: account["bounds_ms"] for account in document["accounts"]}
        self.assertAlmostEqual(sources["database"]["library"], 33.624781, delta=2e-5)
        self.assertAlmostEqual(sources["printed"]["library"], 33.624781)  # the table's last row
        self.assertEqual(document["notes"][:-1], [])  # the last one is of the data's known defects

    def test_study_says_what_is_wrong(self):
        broken = self.at / "broken.csv"
        broken.write_text("model,mean_ms\nMNIST,fast\n")
        self.fails(2, ["give --results"], "study", MNIST)
        self.fails(1, ["broken.csv: line 2", "'fast'"], "study", MNIST, "--results", MNIST_RESULTS, "--latency", broken)
        (self.at / "none").mkdir()
        self.fails(1, ["no databases, tables or totals of 2019"], "study", MNIST, "--results", self.at / "none", "--rules", "2019")
        self.fails(1, ["expected a folder"], "study", MNIST, "--results", MNIST_RESULTS, "--profile", broken)
        self.fails(1, ["nothing to study"], "study", MODELS / "modern" / "resnet50.onnx", "--results", MNIST_RESULTS, "--quiet")

    def test_tensors_have_types_and_shapes(self):
        shapes = {tensor["name"]: (tensor["type"], tensor["shape"], tensor["constant"])
                  for tensor in json.loads(run("layers", MNIST, "--tensors", "--json", "-").stdout)["models"][0]["tensors"]}
        # A 5x5 convolution whose padding keeps 28x28, then pooling by 2 and by 3, and a product with 10 digits.
        self.assertEqual(shapes["Input3"], ("f32", [1, 1, 28, 28], False))
        self.assertEqual(shapes["Parameter5"], ("f32", [8, 1, 5, 5], True))
        self.assertEqual(shapes["Pooling66_Output_0"], ("f32", [1, 8, 14, 14], False))
        self.assertEqual(shapes["Pooling160_Output_0"], ("f32", [1, 16, 4, 4], False))
        self.assertEqual(shapes["Plus214_Output_0"], ("f32", [1, 10], False))
        rows = list(csv.DictReader(io.StringIO(run("layers", MNIST, "--tensors", "--csv", "-").stdout)))
        self.assertEqual({row["tensor"]: row["shape"] for row in rows}["Plus214_Output_0"], "1x10")
        self.assertRegex(run("layers", MNIST, "--tensors").stdout, r"(?m)^  f32 +8x1x5x5 +constant +Parameter5$")
        self.assertTrue(run("layers", SYMBOLIC, "--tensors").stderr.endswith(f"try: benanza layers {SYMBOLIC} --tensors --dim seq=512\n"))

    def test_lacking_sizes_are_asked_for_once_as_a_command_to_copy(self):
        command = ["analyze", SYMBOLIC, "--results", MNIST_RESULTS, "--batch", "2"]
        result = run(*command)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr.splitlines(), [
            f"benanza: {SYMBOLIC}: dimensions of its inputs are not bound: 'seq' (--dim seq=VALUE)",
            f"try: benanza analyze {SYMBOLIC} --results {MNIST_RESULTS} --batch 2 --dim seq=512"])
        tried = subprocess.run(self.copied(result.stderr), shell=True, capture_output=True, text=True, check=True)
        self.assertIn("seq 512", tried.stdout)

    def test_lacking_sizes_of_a_set_come_in_a_file(self):
        models = [shutil.copy(SYMBOLIC, self.at / name) for name in ("a.onnx", "it's b.onnx")]
        result = run("bound", *models, MNIST, "--machine", MODELS.parent / "machines" / "h100_sxm5.json", cwd=self.at)
        self.assertEqual(result.returncode, 1)
        self.assertIn("; and 1 more model lacks sizes", result.stderr)
        tried = subprocess.run(self.copied(result.stderr), shell=True, capture_output=True, text=True, check=True, cwd=self.at)
        self.assertEqual(tried.stdout.count("seq 512"), 2)
        self.assertEqual(json.loads((self.at / "shapes.json").read_text()), {name: {"dim": {"seq": 512}} for name in ("a.onnx", "it's b.onnx")})

    def copied(self, stderr):
        """The command of the last line, of this program."""
        words = stderr.splitlines()[-1].removeprefix("try: ")
        return words.replace("benanza ", f"{PROGRAM} ", 1)

    def test_what_is_assumed_is_said_in_one_line(self):
        model = MODELS / "hard" / "resnet50_batch_symbolic.onnx"
        result = run("layers", model, "--json", "-")
        self.assertEqual(result.stderr, "benanza: resnet50_batch_symbolic.onnx: assumed batch=1 (--batch and --dim say another size)\n")
        summary = json.loads(result.stdout)["models"][0]
        self.assertEqual((summary["assumed"], summary["dims"], summary["open"]), ({"batch": 1}, {"batch": 1}, []))
        self.assertEqual(run("layers", model, "--quiet").stderr, "")
        bound = run("layers", model, "--batch", "1", "--json", "-")
        self.assertEqual((bound.stderr, json.loads(bound.stdout)["models"][0]["assumed"]), ("", {}))

    def test_layers_of_open_sizes_have_symbols(self):
        result = run("layers", SYMBOLIC, "--all")
        self.assertEqual(result.returncode, 0)
        self.assertIn("FLOPs unknown: seq not bound", result.stdout)
        self.assertRegex(result.stdout, r"MatMul/f32/a=\[seq\]x768/b=768x3072")
        self.assertTrue(result.stderr.endswith(f"try: benanza layers {SYMBOLIC} --all --dim seq=512\n"))
        document = json.loads(run("layers", SYMBOLIC, "--json", "-", "--quiet").stdout)
        at_128 = json.loads(run("layers", SYMBOLIC, "--dim", "seq=128", "--json", "-").stdout)
        summary, bound = document["models"][0], at_128["models"][0]
        self.assertEqual((summary["open"], summary["flops"], summary["partial"]), (["seq"], None, True))
        self.assertEqual([summary[key] for key in ("layers", "unique_layers")], [bound[key] for key in ("layers", "unique_layers")])
        # Each symbolic signature, with the symbol's size put in, is one of the bound model.
        sized = {re.sub(r"\[(?:(\d+)\*)?seq(?:\*seq)?\]", lambda found: str(int(found[1] or 1) * 128 ** found[0].count("seq")), layer["signature"]): layer["count"] for layer in document["layers"]}
        self.assertEqual(sized, {layer["signature"]: layer["count"] for layer in at_128["layers"]})

    def test_sizes_from_files(self):
        array = self.at / "ids.npy"
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 64), }".ljust(117) + "\n"
        array.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        name = [entry for entry in ("input_ids", "ids") if run("layers", SYMBOLIC, "--dims-from", f"{entry}={array}").returncode == 0][0]
        summary = json.loads(run("layers", SYMBOLIC, "--dims-from", f"{name}={array}", "--json", "-").stdout)["models"][0]
        self.assertEqual((summary["dims"], summary["open"]), ({"batch": 2, "seq": 64}, []))
        self.fails(1, ["not a NumPy file"], "layers", SYMBOLIC, "--dims-from", f"{name}={SYMBOLIC}")
        array.write_bytes(array.read_bytes()[:40])
        self.fails(1, ["its header has no shape"], "layers", SYMBOLIC, "--dims-from", f"{name}={array}")

        shapes = self.at / "shapes.json"
        shapes.write_text(json.dumps({SYMBOLIC.name: {"dim": {"seq": 32}}, "*": {"batch": 3, "dim": {"seq": 16, "height": 8}}}))
        of = lambda *arguments: json.loads(run("layers", SYMBOLIC, "--shapes", shapes, *arguments, "--json", "-").stdout)["models"][0]["dims"]
        self.assertEqual(of(), {"batch": 3, "seq": 32})
        shapes.write_text('{"*": {"batch": 3.0, "dim": {"seq": 3.2e1}}}')  # as a script that computes sizes writes them
        self.assertEqual(of(), {"batch": 3, "seq": 32})
        self.assertEqual(of("--batch", "5", "--dim", "seq=8"), {"batch": 5, "seq": 8})
        for text, says in (("{", "not JSON"), ("[]", "expected an object"), ('{"*": {"dims": {}}}', "unknown key 'dims'"),
                           ('{"*": {"batch": 0}}', "expected a whole number from 1"), ('{"*": {"batch": 1.5}}', "found 1.5, expected a whole number from 1"),
                           ('{"*": {"batch": 1e30}}', "found 1e+30, expected a whole number from 1"), ('{"*": {"batch": "3"}}', "expected a whole number from 1"), ('{"*": {"input": {"x": 3}}}', "expected a shape"),
                           (json.dumps({SYMBOLIC.stem: {"dim": {"seq": 8, "height": 8}}}), "no symbolic dimension 'height'")):
            shapes.write_text(text)
            self.fails(1, ["shapes.json", says], "layers", SYMBOLIC, "--shapes", shapes, "--quiet")

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

    def test_doubtful_rows_are_marked(self):
        run_file = json.loads(MNIST_RESULTS.read_text())
        of_conv = [row for row in run_file["benchmarks"] if row["name"].endswith("hot/Conv/f32/x=1x8x14x14/w=16x8x5x5/pads=2x2x2x2/post=bias")]
        of_conv[0]["noisy"] = 1
        noisy = self.at / "noisy.json"
        noisy.write_text(json.dumps(run_file))
        table, csv_text = (run("analyze", MNIST, "--results", noisy, *more).stdout for more in ((), ("--csv", "-")))
        self.assertIn("  ~ 1 of ", table)
        self.assertEqual([line.split("~")[1].split()[0] for line in table.splitlines() if "us~" in line], ["x1"])
        marked = [row for row in csv.DictReader(io.StringIO(csv_text)) if row["noisy"] == "1"]
        self.assertTrue(marked and all("16x8x5x5" in row["signature"] for row in marked))
        self.assertIn("(noisy)", run("analyze", MNIST, "--results", noisy, "--plans").stdout)

    def test_rungs_with_a_plan_that_saves_multiplications_are_marked(self):
        # The fastest plan of the second convolution with its bias: only the fused rungs have that layer.
        results = json.loads(MNIST_RESULTS.read_text())
        (fastest,) = [row for row in results["benchmarks"] if row["name"] == "example/direct,threads=1/hot/Conv/f32/x=1x8x14x14/w=16x8x5x5/pads=2x2x2x2/post=bias"]
        fastest["saves_multiplications"] = 1
        saving = self.at / "saving.json"
        saving.write_text(json.dumps(results))
        result = run("analyze", MNIST, "--results", saving, "--json", self.at / "bound.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        marked = re.findall(r"^  (library[a-z ]*?)  .* W$", result.stdout, re.MULTILINE)
        self.assertEqual(marked, ["library fused parallel", "library fused", "library fused resident"])
        self.assertIn("\n  W: some plans save multiplications (Winograd, FFT)\n", result.stdout)
        self.assertRegex(result.stdout, r"\n  direct algorithms alone: at least [0-9.]+ [mu]s \(rungs with W: maybe less\)\n")
        (model,) = json.loads((self.at / "bound.json").read_text())["models"]
        self.assertEqual(model["saves_multiplications"], ["library_fused_parallel", "library_fused", "library_fused_resident"])
        self.assertNotRegex(run("analyze", MNIST, "--results", MNIST_RESULTS).stdout, r"(?m) W$|^  W ")

    def test_the_ladder_names_what_it_assumes(self):
        always = "\n  assumed: direct matrix products, any convolution algorithm, packed weights,\n    free layouts"
        self.assertIn(always + ", huge pages, one NUMA node, no SMT\n", run("analyze", MNIST, "--results", MNIST_RESULTS).stdout)
        # Rungs of declared figures are analytic: they know neither pages nor processors.
        declared = run("analyze", MNIST, "--machine", MODELS.parent / "machines" / "t4.json").stdout
        self.assertIn(always + "\n", declared)
        self.assertNotIn("huge pages", declared)

    def test_rows_say_what_is_read_of_compressed_weights_and_of_tables(self):
        model = self.at / "embedding.onnx"
        model.write_bytes(embedding_of_f16())
        result = run("analyze", model, "--results", MNIST_RESULTS, "--json", self.at / "bound.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        # One row of the table, 64 numbers, is certain; all of w is read. f16 is stored, f32 is read.
        self.assertIn("\n  2 of 2 layers: the file stores 4.22 kB of weights, the plans read 8.45 kB\n", result.stdout)
        self.assertIn("\n  1 of 2 layers look up rows: 256 B are certain to be read, 103 kB expected\n", result.stdout)
        rows = json.loads((self.at / "bound.json").read_text())["models"][0]["rows"]
        self.assertEqual(sorted((row["signature"].split("/")[0], row["form"]) for row in rows), [("Gather", "fused"), ("Gather", "single"), ("MatMul", "fused"), ("MatMul", "single")])
        for row in rows:
            if row["signature"].startswith("Gather/"):
                self.assertEqual(row["weights"], {"stored": 64 * 2, "read": 64 * 4})
                self.assertEqual(row["lookup"]["certain"], 64 * 4)
                self.assertAlmostEqual(row["lookup"]["expected"], 1000 * (1 - 0.999 ** 512) * 64 * 4, places=3)
            else:
                self.assertEqual(row["weights"], {"stored": 64 * 32 * 2, "read": 64 * 32 * 4})
                self.assertNotIn("lookup", row)
        quantized = run("analyze", MODELS / "hard" / "resnet50_qdq_i8.onnx", "--results", MNIST_RESULTS).stdout
        self.assertRegex(quantized, r"\n  \d+ of \d+ layers: the plans read compressed weights, [\d.]+ MB\n")
        self.assertNotRegex(run("analyze", MNIST, "--results", MNIST_RESULTS).stdout, "the plans read|look up rows")

    def test_csv_and_json_parse(self):
        result = run("layers", MNIST, "--csv", "-")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertGreater(len(rows), 5)
        self.assertTrue(all(int(row["count"]) >= 1 for row in rows))

    def test_analyze_writes_a_line_for_each_call_as_csv(self):
        result = run("analyze", MNIST, "--results", MNIST_RESULTS, "--csv", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        header, *rows = csv.reader(io.StringIO(result.stdout))
        self.assertEqual(header, ["model", "form", "signature", "count", "status", "backend", "algorithm", "cache", "p10_ms", "median_ms", "floor_ms", "flops", "bytes", "critical", "noisy", "contended"])
        self.assertTrue(all(len(row) == len(header) for row in rows))
        forms = [row[1] for row in rows]
        # 11 nodes less the Reshape; fused: two convolutions, the relu of the second by itself, two poolings, the product
        self.assertEqual((forms.count("single"), forms.count("fused"), len(rows)), (10, 6, 16))
        times = {row[2]: row[8] for row in rows}
        self.assertAlmostEqual(float(times["Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2"]), 0.01)      # 10000 ns

    def absent_backends(self, database):
        """What `machine` says that this program was built without, as `bound` says it."""
        told = run("machine", "--database", database, "--json", "-")
        absent = "not in this build; needs "
        return [{"name": backend["name"], "needs": backend["reason"].removeprefix(absent)} for backend in json.loads(told.stdout)["machine"]["backends"] if backend["reason"].startswith(absent)]

    def test_machine_tells_what_would_be_measured_on(self):
        database, told = known_machine()
        self.assertEqual(told.returncode, 0, told.stderr)
        document = json.loads(told.stdout)
        for key in ("device", "isa", "cores", "affinity", "caches", "memory_bytes", "system", "backends", "warnings"):
            self.assertIn(key, document["machine"])
        self.assertGreaterEqual(document["machine"]["cores"], 1)
        self.assertIn("native", [backend["name"] for backend in document["machine"]["backends"] if backend["available"]])
        for backend in document["machine"]["backends"]:
            if backend["name"] in ("cuda", "cublas", "cudnn") and not HAS_GPU:
                self.assertFalse(backend["available"])
                self.assertRegex(backend["reason"], r"\A[^\n]+\Z")
        for row in document["ceilings"]:
            self.assertGreater(row["value"], 0, row)
        quantities = {row["quantity"] for row in document["ceilings"]}
        self.assertLessEqual({"Peak/f32", "Bandwidth/memory", "Timer/floor"}, quantities)
        self.assertEqual("Timer/round_trip" in quantities, document["machine"]["cores"] > 1)
        files = sorted(database.iterdir())
        rows = list(csv.reader(io.StringIO(run("machine", "--database", database, "--csv", "-").stdout)))
        self.assertEqual(rows[0], ["quantity", "threads", "value", "algorithm", "in_front_bytes"])
        self.assertEqual([row[:2] for row in rows[1:]], [[row["quantity"], str(row["threads"])] for row in document["ceilings"]])
        table = run("machine", "--database", database).stdout
        for text in (document["machine"]["device"], "backends", "ceiling", *quantities):
            self.assertIn(text, table)
        names = [backend["name"] for backend in document["machine"]["backends"]]
        self.assertEqual(sorted(names), ["cublas", "cuda", "cudnn", "mpi", "native", "nccl", "onednn", "openblas"])
        built = [backend for backend in document["machine"]["backends"] if not backend["reason"].startswith("not in this build")]
        self.assertEqual(run("--version").stdout.splitlines()[1:], [f"  {backend['name']} {backend['version']}" for backend in built])
        for backend in self.absent_backends(database):
            self.assertTrue(backend["needs"])
            self.assertRegex(table, rf"\n  {backend['name']} +not available: not in this build; needs {re.escape(backend['needs'])}\n")
        self.assertEqual(sorted(database.iterdir()), files, "known ceilings were measured again")
        self.assertNotIn("warning", run("machine", "--database", database, "--quiet").stdout)

    def test_the_environment_of_openmp_changes_nothing_and_a_real_restriction_is_named(self):
        database = self.at / "openmp"
        shutil.copytree(known_machine()[0], database)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_"))}
        machine = functools.partial(run, "machine", "--database", database, "--json", "-")
        plain = json.loads(machine(env=clean).stdout)["machine"]
        files = sorted(database.iterdir())
        for variables in ({"OMP_PROC_BIND": "true"}, {"OMP_NUM_THREADS": "1"}, {"OMP_PROC_BIND": "close", "OMP_PLACES": "{0}", "OMP_NUM_THREADS": "1"}, {"GOMP_CPU_AFFINITY": "0"},
                          {"ONEDNN_MAX_CPU_ISA": "SSE41"}, {"DNNL_MAX_CPU_ISA": "SSE41"}, {"OPENBLAS_CORETYPE": "Nehalem"}, {"NVIDIA_TF32_OVERRIDE": "1"},
                          {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2"}):  # fmt: skip
            told = machine(env=clean | variables)
            self.assertEqual(told.returncode, 0, told.stderr)
            document = json.loads(told.stdout)["machine"]
            for key in ("cores", "affinity", "caches", "isa", "backends"):
                self.assertEqual(document[key], plain[key], variables)
            self.assertNotIn("settings", document)
            self.assertFalse(any("affinity mask" in text for text in document["warnings"]) and len(os.sched_getaffinity(0)) == os.cpu_count(), variables)
        self.assertEqual(sorted(database.iterdir()), files, "it was taken for another machine, and its ceilings were measured")
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2:
            return
        bound = functools.partial(os.sched_setaffinity, 0, allowed[:1])
        document = json.loads(machine(env=clean, preexec_fn=bound).stdout)["machine"]
        self.assertEqual((document["cores"], document["affinity"]), (1, str(allowed[0])))
        self.assertIn(f"the affinity mask of the process leaves 1 of {len(allowed)} processors", document["warnings"])
        refused = run("bound", MNIST, "--threads", "2", "--database", database, env=clean, preexec_fn=bound)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"--threads 2: expected at most 1: the affinity mask of the process leaves 1 of {len(allowed)} processors", refused.stderr)

    def control_group(self, processors):
        """A function that moves a process into a new control group with this quota. Skips the test where none can be made."""
        period = 100_000
        for mount, quota in (("/sys/fs/cgroup", {"cpu.max": f"{int(processors * period)} {period}"}),
                             ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": str(period), "cpu.cfs_quota_us": str(int(processors * period))})):  # fmt: skip
            group = pathlib.Path(mount) / f"benanza-{os.getpid()}"
            try:
                group.mkdir()
                self.addCleanup(group.rmdir)
                for file, text in quota.items():
                    with open(group / file, "r+") as setting:  # a control group's own file
                        setting.write(text)
                return lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
            except OSError:
                continue
        self.skipTest("no control group can be made here")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_the_quota_of_its_own_control_group_limits_its_threads(self):
        allowed = len(os.sched_getaffinity(0))
        refused = run("bound", MNIST, "--threads", "2", "--database", self.at / "db", preexec_fn=self.control_group(0.5))
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn(f"--threads 2: expected at most 1: the quota of its cgroup leaves 1 of {allowed} processors", refused.stderr)

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

    def test_standalone_suites_are_folders_of_library_calls(self):
        folder = self.at / "suite"
        made = run("generate", MNIST, "--standalone", "-o", folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertTrue({"CMakeLists.txt", "main.cpp", "suite.hpp", "onednn_convolution.cpp", "openblas_product.cpp"} <= {f.name for f in folder.iterdir()})
        banner = (folder / "main.cpp").read_text().splitlines()[0]
        self.assertRegex(banner, r"benanza generate .*MNIST.onnx --standalone --name suite --backend onednn,openblas,native`")
        self.assertEqual(run("generate", MNIST, "--standalone", "--backend", "cuda", "-o", self.at / "gpu").returncode, 0)
        rows = (self.at / "gpu" / "cudnn_convolution.cpp").read_text()
        self.assertIn("CUDNN_DATA_FLOAT, .math = CUDNN_FMA_MATH", rows)   # f32 and f16, as in the paper
        self.assertIn("CUDNN_DATA_HALF", rows)
        self.fails(2, ["folder"], "generate", MNIST, "--standalone", "-o", "-")
        self.fails(2, ["Benanza's own"], "generate", MNIST, "--standalone", "--backend", "native", "-o", folder)
        self.fails(2, ["one device"], "generate", MNIST, "--standalone", "--backend", "onednn,cudnn", "-o", folder)

    def test_types_are_an_axis_of_a_suite(self):
        both = run("generate", MNIST, "--type", "f32,f16", "-o", "-").stdout
        self.assertIn("--type f32,f16", both.splitlines()[0])
        single = run("generate", MNIST, "-o", "-").stdout
        self.assertEqual(both.count(".x = {1, 1, 28, 28}"), 2 * single.count(".x = {1, 1, 28, 28}"))
        self.assertIn("--type f32,f16", run("generate", MNIST, "--backend", "cuda", "-o", "-").stdout.splitlines()[0])
        self.fails(2, ["'f17'"], "generate", MNIST, "--type", "f32,f17", "-o", "-")

    def test_a_suite_of_what_results_lack(self):
        complete = run("generate", MNIST, "--missing-from", MNIST_RESULTS, "-o", "-")
        self.assertEqual(complete.returncode, 1)
        self.assertIn("lack none of these layers", complete.stderr)
        partial = run("analyze", MNIST, "--batch", "2", "--results", MNIST_RESULTS)
        command = re.search(r"a suite of what the results lack: benanza (generate .*) -o missing.cpp", partial.stderr)
        self.assertIsNotNone(command, partial.stderr)
        missing = run(*shlex.split(command[1]), "-o", "-")
        self.assertEqual(missing.returncode, 0, missing.stderr)
        self.assertIn("--missing-from", missing.stdout.splitlines()[0])
        self.assertIn(".x = {2, 1, 28, 28}", missing.stdout)
        self.assertNotIn("a suite of what", run("analyze", MNIST, "--results", MNIST_RESULTS).stderr)
        self.assertNotIn("a suite of what", run("analyze", MNIST, "--batch", "2", "--results", MNIST_RESULTS, "--quiet").stderr)
        self.fails(1, ["nowhere.json"], "generate", MNIST, "--missing-from", "nowhere.json", "-o", "-")

    def test_sweeps_over_batches_and_dimensions(self):
        swept = run("analyze", MNIST, "--batch", "1,2,4", "--results", MNIST_RESULTS, "--json", "-")
        self.assertEqual(swept.returncode, 0, swept.stderr)
        document = json.loads(swept.stdout)
        self.assertEqual([model["batch"] for model in document["models"]], [1, 2, 4])
        sweep = document["sweeps"][0]
        self.assertEqual((sweep["axis"], [point["value"] for point in sweep["points"]]), ("batch", [1, 2, 4]))
        for point, model in zip(sweep["points"], document["models"]):
            self.assertEqual(point["bound_ms"], model["bounds_ms"][sweep["rung"]])
        first = sweep["points"][0]
        self.assertAlmostEqual(first["throughput_per_s"] * first["latency_ms"], 1000)
        self.assertIsNone(sweep["points"][1]["throughput_per_s"], "batch 2 was not measured")
        self.assertIsNone(sweep["last_gain"])
        table = run("analyze", MNIST, "--batch", "1,2,4", "--results", MNIST_RESULTS).stdout
        self.assertIn("over batch", table)
        rows = list(csv.DictReader(io.StringIO(run("analyze", MNIST, "--batch", "1,2,4", "--results", MNIST_RESULTS, "--csv", "-").stdout)))
        self.assertEqual([row["value"] for row in rows], ["1", "2", "4"])
        lengths = json.loads(run("layers", SYMBOLIC, "--batch", "1,2", "--dim", "seq=128,256", "--json", "-").stdout)["models"]
        self.assertEqual([(model["batch"], model["dims"]["seq"]) for model in lengths], [(1, 128), (2, 128), (1, 256), (2, 256)])
        self.assertEqual(lengths[1]["macs"], 2 * lengths[0]["macs"])
        self.fails(2, ["--dim", "NAME=VALUE"], "layers", SYMBOLIC, "--dim", "128,256")

    def test_the_page_is_one_file_with_the_figures_of_the_json(self):
        page = self.at / "page.html"
        result = run("analyze", MNIST, "--results", MNIST_RESULTS, "--html", page, "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = page.read_text()
        self.assertEqual(re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text), [])
        self.assertEqual(text.count("</script>"), 2)
        shown = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])["models"][0]
        model = json.loads(result.stdout)["models"][0]
        for key in ("bounds_ms", "median_ms", "uncertainty", "coverage", "coverage_fused", "missing", "flops"):
            self.assertEqual(shown[key], model[key])
        self.assertEqual(len(shown["rows"]), len(model["rows"]))
        self.fails(2, ["stdout"], "analyze", MNIST, "--results", MNIST_RESULTS, "--html", "-", "--json", "-")

    def test_traces_are_in_the_trace_event_format(self):
        file = self.at / "trace.json"
        self.assertEqual(run("analyze", MNIST, "--results", MNIST_RESULTS, "--trace", file).returncode, 0)
        document = json.loads(file.read_text())
        ends, events = {}, [event for event in document["traceEvents"] if event["ph"] != "M"]
        for event in events:
            self.assertEqual(event["ph"], "X")
            for key in ("name", "cat", "ts", "dur", "pid", "tid", "args"):
                self.assertIn(key, event)
            track = (event["pid"], event["tid"])
            self.assertGreaterEqual(event["ts"], ends.get(track, 0) - 1e-6, "a track goes back")
            self.assertGreaterEqual(event["dur"], 0)
            ends[track] = event["ts"] + event["dur"]
        about = document["otherData"]["models"][0]
        named = {event["pid"] for event in document["traceEvents"] if event["name"] == "process_name"}
        self.assertEqual(named, {1, 2})
        self.assertAlmostEqual(sum(event["dur"] for event in events if event["pid"] == 1), 1e3 * about["sequential_ms"], delta=0.002)
        self.assertGreaterEqual(about["parallel_ms"] * (1 + 1e-9), about["library_fused_parallel_ms"])

    def test_dot_is_drawn_by_graphviz(self):
        file = self.at / "graph.dot"
        self.assertEqual(run("analyze", MNIST, "--results", MNIST_RESULTS, "--dot", file).returncode, 0)
        self.assertIn("#c73e3a", file.read_text())
        if shutil.which("dot"):
            drawn = subprocess.run(["dot", "-Tsvg", str(file)], capture_output=True, text=True, check=False)
            self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
            self.assertIn("<svg", drawn.stdout)

    def test_reproducers_need_a_layer_and_a_plan(self):
        conv, out = "Conv/f32/x=1x3x8x8/w=8x3x3x3", ["-o", "-"]
        self.assertIn("jit:avx2", run("generate", "--reproducer", conv, "--plan", "onednn/jit:avx2,threads=1", *out).stdout)
        self.fails(1, ["character 1", "Cnv"], "generate", "--reproducer", "Cnv/f32", "--plan", "onednn/jit", *out)
        self.fails(1, ["no result", "benanza measure", "--plan"], "generate", "--reproducer", conv, "--database", self.at, *out)
        foreign = run("generate", "--reproducer", conv, "--plan", "onednn/nonsense,threads=1", *out)  # another machine may have it
        self.assertEqual(foreign.returncode, 0)
        if has_onednn():
            self.assertRegex(foreign.stderr, r"warning: --plan: onednn .* has no 'nonsense,threads=1'.*\n  .*threads=1")
        other = run("generate", "--reproducer", "Resize/f32/x=1x3x8x8/y=1x3x16x16", "--plan", "onednn/jit,threads=1", *out)
        self.assertEqual(other.returncode, 2)
        self.assertIn("no call of onednn for Resize", other.stderr)
        self.fails(2, ["BACKEND/ALGORITHM"], "generate", "--reproducer", conv, "--plan", "jit", *out)
        self.fails(2, ["not models"], "generate", MNIST, "--reproducer", conv, *out)
        self.fails(2, ["--reproducer"], "generate", *out)

    def settle(self, files):
        """What a machine leaves that is quiet throughout: no doubt about a winner, every round counts."""
        for file in files:
            results = json.loads(file.read_text())
            results["context"].pop("other_processes_percent", None)
            for row in results["benchmarks"]:
                row.pop("noisy", None)
                if row.pop("contended", None):
                    row["samples"] = max(1, row.get("samples", 0))
                if rounds := row.get("rounds_ns"):
                    slowest = max((time for time in rounds if time is not None), default=row["real_time"])
                    row["rounds_ns"] = [slowest if time is None else time for time in rounds]
            file.write_text(json.dumps(results))

    @measuring
    def test_bound_then_database_then_analyze(self):
        database = self.at / "results"
        first = run("bound", MNIST, "--database", database, "--budget", "4s", "--json", self.at / "first.json")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("library fused", first.stdout)
        for line in first.stdout.splitlines():
            self.assertLessEqual(len(line), 120, line)
        document = json.loads((self.at / "first.json").read_text())
        analyzed = lambda: json.loads(run("analyze", MNIST, "--results", database, "--json", "-").stdout)["models"]  # noqa: E731
        self.assertEqual(analyzed(), document["models"])
        for _ in range(4):  # a session whose budget ended before its rounds is followed by another one
            files = sorted(database.iterdir())
            # Otherwise the next session measures winners in doubt again, and how many there are depends on the machine.
            self.settle(files)
            second = run("bound", MNIST, "--database", database, "--json", "-")
            if sorted(database.iterdir()) == files:
                break
        self.assertEqual(sorted(database.iterdir()), files, "a known model was measured again")
        model = json.loads(second.stdout)["models"][0]
        self.assertEqual(analyzed(), [model])
        self.assertFalse(model["partial"], model["missing"])
        self.assertEqual(model["coverage"]["missing"], 0)
        self.assertLessEqual(model["bounds_ms"]["library_fused"], model["bounds_ms"]["library"])
        self.assertLessEqual(model["bounds_ms"]["roofline"], model["bounds_ms"]["library_fused"])
        self.assertLessEqual(model["bounds_ms"]["library_fused"], model["bounds_ms"]["library_fused_resident"])
        states = {row["cache"] for row in model["rows"] if row["status"] == "measured"}
        self.assertLessEqual(states, {"hot", "cold-weights"})
        for row in model["rows"]:
            if row["signature"].startswith("Conv/") and has_onednn():  # who else has convolutions
                self.assertIn("cold_weights", row)
        lines = csv.DictReader(io.StringIO(run("bound", MNIST, "--database", database, "--csv", "-").stdout))
        self.assertEqual([(line["form"], line["signature"]) for line in lines], [(row["form"], row["signature"]) for row in model["rows"]])
        needed = re.search(r"measured \d+ of (\d+)[;,] .*kept in", first.stdout)[1]
        known = run("bound", MNIST, "--database", database, "--assert-latency", "library_fused=10s")
        self.assertEqual(known.returncode, 0)
        self.assertRegex(known.stdout, rf"measured 0 of {needed}, the rest known: [\d.]+ (s|min) saved; took 0\.0 s, kept in")
        # Those of the processor alone, less those for collectives, which no model needs.
        absent = [backend for backend in self.absent_backends(database) if backend["name"] in ("onednn", "openblas")]
        self.assertEqual(document["machine"].get("missing_backends", []), absent)
        said = ", ".join(f"{backend['name']} (needs {backend['needs']})" for backend in absent)
        self.assertEqual([line for line in known.stdout.splitlines() if line.startswith("not in this build")], [f"not in this build: {said}"] if absent else [])
        self.assertEqual(run("bound", MNIST, "--database", database, "--assert-latency", "library_fused=1ns").returncode, 4)
        if has_onednn():  # one plan for each layer, thread count and cache state is the library's first answer
            names = [row["name"].split("/", 3) for row in json.loads(files[0].read_text())["benchmarks"] if row.get("advised")]
            self.assertTrue(names)
            self.assertEqual({name[0] for name in names}, {"onednn"})
            self.assertEqual(len({(name[1].rpartition("threads=")[2], *name[2:]) for name in names}), len(names))
            (studied,) = json.loads(run("study", MNIST, "--results", database, "--json", "-").stdout)["rows"]
            self.assertGreaterEqual(studied["advised_ms"], studied["bounds_ms"]["library"])
            self.assertAlmostEqual(studied["speedups"]["algorithms"], studied["advised_ms"] / studied["bounds_ms"]["library"])
        plans = run("analyze", MNIST, "--results", database, "--plans", "--json", "-")
        for row in json.loads(plans.stdout)["models"][0]["rows"]:
            if row["status"] == "measured":
                timed = [plan["p10_ms"] for plan in row["plans"] if "excluded" not in plan]
                self.assertEqual(timed, sorted(timed))
        whole = files[0].read_bytes()
        cut = self.at / "cut.json"
        cut.write_bytes(whole[:200])
        self.fails(1, ["cut.json"], "analyze", MNIST, "--results", cut)
        broken = self.at / "broken"
        shutil.copytree(database, broken)
        shutil.copy(cut, broken)
        for command in (["bound", MNIST], ["gap", MNIST, "--latency", "1ms"], ["machine"], ["measure", "Unary/f32/fn=relu/x=4096", "--budget", "100ms"]):
            result = run(*command, "--database", broken)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(re.findall("warning: not read: .*cut.json", result.stderr)), 1, result.stderr)
            self.assertNotIn("not read", run(*command, "--database", broken, "--quiet").stderr)
        other = MODELS / "zoo2019" / "Squeezenet-v1.1.onnx"
        partial = run("analyze", other, "--results", database, "--require-complete")
        self.assertEqual(partial.returncode, 3)
        self.assertIn("partial", partial.stdout)

    def test_what_a_budget_left_untried_is_said(self):
        results = json.loads(MNIST_RESULTS.read_text())
        timed = next(row for row in results["benchmarks"] if row["name"].endswith("/post=bias,relu") and "rounds_ns" in row)
        backend, _, rest = timed["name"].partition("/")
        untried = "not tried: the budget gave this layer no more time"
        row = {"name": f"{backend}/another,{rest.split(',', 1)[1]}", "run_type": "iteration", "threads": timed["threads"], "error_occurred": True, "error_message": untried}
        results["benchmarks"].append(row)
        (self.at / "some.json").write_text(json.dumps(results))
        result = run("analyze", MNIST, "--results", self.at / "some.json", "--plans", "--json", self.at / "bound.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads((self.at / "bound.json").read_text())["models"][0]["rows"]:
            self.assertEqual(row.get("untried", 0), sum(plan.get("excluded") == untried for plan in row.get("plans", [])))
        self.assertRegex(result.stdout, r"  1 of \d+ layers, \d+ % of the time: the budget left some plans untried\n")
        self.assertNotIn("untried", run("analyze", MNIST, "--results", MNIST_RESULTS).stdout)

    @measuring
    def test_known_layers_are_timed_again(self):
        database = self.at / "results"
        for _ in range(4):  # a slow or busy machine leaves layers to further sessions
            first = run("bound", MNIST, "--database", database, "--budget", "4s", "--require-complete")
            if first.returncode != 3:
                break
        self.assertIn(first.returncode, (0, 3), first.stderr)  # without totals, layers are known all the same
        files = set(database.iterdir())
        result = run("bound", MNIST, "--database", database, "--rounds", "--budget", "6s")
        self.assertEqual(result.returncode, 0, result.stderr)
        [second] = set(database.iterdir()) - files
        selections = [json.loads(file.read_text())["benchmarks"] for file in files]
        before, after = [row for rows in selections for row in rows], json.loads(second.read_text())["benchmarks"]
        timed = {row["name"] for row in after if "rounds_ns" in row}
        self.assertTrue(timed)
        self.assertLessEqual(timed, {row["name"] for row in before if not row.get("error_occurred")})
        self.assertLess(len(after), max(map(len, selections)) / 2, "known layers were selected anew")
        self.fails(2, ["--repeat"], "bound", MNIST, "--database", database, "--rounds", "--repeat")

    @measuring
    def test_a_layer_is_measured_by_its_signature(self):
        signature = "Unary/f32/fn=relu/x=4096"
        result = run("measure", signature, "--database", self.at / "db", "--budget", "5s", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        [layer] = json.loads(result.stdout)["layers"]
        self.assertTrue(any(plan.get("chosen") for plan in layer["plans"]))
        for plan in layer["plans"]:
            self.assertTrue(plan["excluded"] if "excluded" in plan else plan["p10_ms"] > 0)
            self.assertEqual(plan["cache"], "hot")  # it has no weights
        self.fails(1, ["Convolution"], "measure", "Convolution/f32/x=1", "--database", self.at / "db")
        self.fails(2, ["--cache"], "measure", signature, "--database", self.at / "db", "--cache", "lukewarm")

    @unittest.skipUnless(has_onednn(), "without oneDNN")
    def test_a_limit_of_a_library_s_instruction_set_is_ignored_or_stated_with_the_rows(self):
        limited = {**os.environ, "ONEDNN_MAX_CPU_ISA": "SSE41", "GLIBC_TUNABLES": "glibc.cpu.x86_shstk=off"}
        runs = {}
        for isolation, environment in (("--isolate", os.environ), ("--isolate", limited), ("--no-isolate", limited)):
            database = self.at / f"db{len(runs)}"
            result = run("measure", "Conv/f32/x=1x16x8x8/w=16x16x3x3", "--backend", "onednn", "--threads", "1", "--budget", "4s", "--database", database, isolation, env=environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            [file] = database.iterdir()
            document = json.loads(file.read_text())
            runs[len(runs)] = document["context"], {row["name"] for row in document["benchmarks"] if row["name"].startswith("onednn/")}
        (plain, plans), (cleared, same), (own, also_same) = runs.values()
        wide = [any("avx" in name for name in names) for names in (plans, same, also_same)]  # a short budget may leave out other plans
        self.assertEqual(wide, wide[:1] * 3)
        for key in ("backend/onednn", "machine/isa", "machine/family", "machine/microcode", "machine/hypervisor"):
            self.assertEqual(plain.get(key), cleared.get(key))
        self.assertNotIn("machine/settings", plain)
        self.assertNotIn("machine/settings", cleared)
        self.assertEqual(own["machine/settings"], "GLIBC_TUNABLES=glibc.cpu.x86_shstk=off")  # the loader had read it

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
        empty = self.at / "no_rows.json"
        empty.write_text(json.dumps(json.loads(old.read_text()) | {"benchmarks": []}))
        result = run("db", "diff", old, empty, "--model", MNIST, "--fail-on", "slower")
        self.assertEqual(result.returncode, 4)
        self.assertIn("nothing can be compared", result.stderr)
        self.fails(2, ["machine=TEXT"], "db", "diff", old, new, "--before", "onednn")
        self.fails(2, ["both sides are the same"], "db", "diff", old)
        self.fails(1, ["nowhere: no such file"], "db", "diff", old, "nowhere")
        document = json.loads(run("db", "diff", old, new, "--model", MNIST, "--json", "-").stdout)
        verdicts = {layer["signature"] + " " + layer["verdict"] for layer in document["layers"]}
        self.assertIn("Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2/post=bias,relu slower", verdicts)   # 11000 -> 12100 ns
        self.assertIn("MatMul/f32/a=1x256/b=256x10/b_constant=1 same", verdicts)                       # 1000 -> 1010 ns
        self.assertLessEqual({"library", "library_fused", "library_parallel", "library_fused_parallel"}, set(document["models"][0]["rungs"]))

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
        (self.at / "two" / "cut.json").write_text((RESULTS / "mnist.json").read_text()[:300])
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
        self.assertEqual((result.returncode, result.stdout), (0, "1 file, 25 rows: nothing wrong; runs disagree on 0\n"))
        text = sound.read_text()
        (self.at / "db" / "cut.json").write_text(text[: len(text) // 2])
        self.copy("mnist.json", "db/nan.json", ('"p10_ns":10000.0', '"p10_ns":NaN'), ('"real_time":10000.0', '"real_time":Infinity'))
        self.copy("mnist.json", "db/launch.json", ('"samples":8,"calls_per_sample":10,"rounds_ns":[10000.0', '"samples":8,"launch_ns":NaN,"calls_per_sample":10,"rounds_ns":[10000.0'))
        self.copy("mnist.json", "db/unsigned.json", ("hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2\"", 'hot/"'))
        self.copy("mnist.json", "db/version.json", ('"backend/example": "1"', '"backend/other": "1"'))
        (self.at / "db" / ".killed.json.tmp").write_text("{")
        result = run("db", "verify", self.at / "db")
        self.assertEqual(result.returncode, 1)
        for said in ("cut.json: byte ", "unsigned.json: row 4: 'example/direct,threads=1/hot/', expected",
                     "version.json: backend 'example' has rows, but the context names no version", ".killed.json.tmp: a temporary file",
                     "launch.json: example/direct,threads=1/hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2: launch_ns is not a number",
                     "real_time is Infinity, expected a positive number", "6 things wrong"):
            self.assertIn(said, result.stdout)
        listed = json.loads(run("db", "list", self.at / "db", "--json", "-").stdout)
        self.assertEqual([entry["refused"] for entry in listed["runs"] if entry["file"].endswith("nan.json")], [1])   # no time, not a time of 0

    def test_a_row_that_verify_calls_wrong_is_not_used(self):
        name = "Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2"
        begin = f'"name":"example/direct,threads=1/hot/{name}",'
        lines = (RESULTS / "mnist.json").read_text().splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if begin in line)
        changes = {"unit": (('"time_unit":"ns"', '"time_unit":"us"'), "quantiles out of order"),
                   "samples": (('"samples":8', '"samples":0'), "no sample that counts"),
                   "median": (('"median_ns":10000.0', '"median_ns":9000.0'), "quantiles out of order"),
                   "wander": (('"samples":8', '"wander":1e300,"samples":8'), "wander that is not from 0 to 1000"),
                   "cv": (('"samples":8', '"cv":1e300,"samples":8'), "cv that is not from 0 to 1000"),
                   "round": (('"rounds_ns":[10000.0', '"rounds_ns":[1e300'), "a round that is not from 1 ps to 1 year"),
                   "short": (('"rounds_ns":[10000.0,', '"rounds_ns":['), "7 rounds, others of the run have 8"),
                   "empty": (('"rounds_ns":[', '"rounds_ns":[],"old":['), "has no rounds"),
                   "absent": (('"rounds_ns":[', '"old":['), "has no rounds")}
        for change, ((old, new), said) in changes.items():
            self.assertIn(old, lines[at])
            wrong = self.at / f"{change}.json"
            wrong.write_text("".join([*lines[:at], lines[at].replace(old, new), *lines[at + 1:]]))
            verified = run("db", "verify", wrong)
            self.assertEqual(verified.returncode, 1, change)
            self.assertEqual(len([line for line in verified.stdout.splitlines() if f"hot/{name} " in line and said in line]), 1, verified.stdout)
            analyzed = run("analyze", MNIST, "--results", wrong, "--json", "-")
            self.assertIn(f"{wrong}: partly unreadable: example/direct,threads=1/hot/{name} ", analyzed.stderr)
            self.assertIn(f"{wrong}: no hot row can be used of 1 layer, whose cold-weights or cold rows count instead, first of {name}", analyzed.stderr)
            rows = [row for row in json.loads(analyzed.stdout)["models"][0]["rows"] if row["signature"] == name]
            self.assertEqual({row["cache"] for row in rows}, {"cold-weights"}, change)
            compared = run("db", "diff", wrong, RESULTS / "mnist.json")
            self.assertIn("partly unreadable", compared.stderr)
            self.assertLess(max(map(len, compared.stdout.splitlines())), 200)

    def test_a_row_that_is_there_twice_counts_once(self):
        lines = (RESULTS / "mnist.json").read_text().splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if "hot/MatMul/f32/a=1x256/b=256x10/b_constant=1\"" in line)
        twice = self.at / "twice.json"
        twice.write_text("".join([*lines[:at + 1], lines[at].replace("1000.0", "900.0"), *lines[at + 1:]]))
        self.assertIn("is there twice: the first one counts", run("db", "verify", twice).stdout)
        analyzed = run("analyze", MNIST, "--results", twice, "--json", "-")
        self.assertIn("is there twice: the first one counts", analyzed.stderr)
        row = next(row for row in json.loads(analyzed.stdout)["models"][0]["rows"] if row["signature"] == "MatMul/f32/a=1x256/b=256x10/b_constant=1")
        self.assertAlmostEqual(row["p10_ms"], 0.001)

    def test_figures_that_cannot_be_are_refused_or_left_out(self):
        timer = self.copy("mnist.json", "timer.json", ('Timer/floor","run_type":"iteration","threads":1,"iterations":1,"real_time":20.0', 'Timer/floor","run_type":"iteration","threads":1,"iterations":1,"real_time":1e300'))
        compared = run("db", "diff", timer, RESULTS / "mnist.json")
        self.assertIn("Timer/floor: its time is not from 1 ps to 1 year", compared.stderr)
        self.assertLess(max(map(len, compared.stdout.splitlines())), 200)
        self.assertIn("Timer/floor: its time is not from 1 ps to 1 year", run("db", "verify", timer).stdout)
        latencies = self.at / "latencies.csv"
        latencies.write_text("framework,model,batch,mean_ms\nengine,mnist,1,1e300\n")
        self.fails(1, ["latencies.csv: line 2: mean_ms is '1e300', expected 0 or a time from 1 ps to 1 year"], "study", MNIST, "--results", MNIST_RESULTS, "--latency", latencies)
        self.fails(2, ["--latency: '1e300s', expected a time from 1 ps to 1 year"], "gap", MNIST, "--results", MNIST_RESULTS, "--latency", "1e300s")
        self.fails(2, ["--budget: '1e-300s', expected a time from 1 ps to 1 year"], "bound", MNIST, "--budget", "1e-300s", "--database", self.at)

    def test_the_kernels_of_a_row_are_shown_with_its_plan(self):
        kernel = {"name": "void gather<float, 2>(float const*, int)", "grid": [25, 16, 1], "block": [8, 32, 1], "registers": 66, "static_shared_bytes": 6400, "time_ns": 4000.0}
        counted = kernel | {"dram_read_bytes": 123e6, "dram_write_bytes": 103e6, "flops": {"f32": 7.55e9, "tensor f16": 4096}, "occupancy": 0.3125}
        held = ('"samples":8,"calls_per_sample":10,"rounds_ns":[11000.0', f'"kernels":{json.dumps([counted, kernel, kernel])},"samples":8,"calls_per_sample":10,"rounds_ns":[11000.0')
        results = self.copy("mnist.json", "kernels.json", held)
        page = self.at / "page.html"
        table = run("analyze", MNIST, "--results", results, "--plans", "--html", page)
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("  void gather<float, 2>(float const*, int)\n    4.00 us, 25x16x1 blocks of 8x32x1, 66 registers, 6.40 kB shared\n"
                      "    DRAM 123 MB read, 103 MB written; f32 7.55 GFLOP; tensor f16 4.10 kFLOP;\n    occupancy 31 %\n  void gather<float, 2>(float const*, int) x2\n", table.stdout)
        self.assertTrue(all(len(line) <= 80 for line in table.stdout.splitlines() if "x16x1" in line or "DRAM" in line), table.stdout)
        plans = json.loads(run("analyze", MNIST, "--results", results, "--plans", "--json", "-").stdout)
        found = [plan["kernels"] for row in plans["models"][0]["rows"] for plan in row.get("plans", []) if "kernels" in plan]
        self.assertEqual([each["grid"] for each in found[0]], [[25, 16, 1]] * 3)
        self.assertEqual(found[0][0]["flops"], {"f32": 7.55e9, "tensor f16": 4096})
        self.assertNotIn("flops", found[0][1])
        self.assertIn("25x16x1 blocks of 8x32x1", page.read_text())

    def test_kernels_that_only_one_of_two_results_launches_are_shown(self):
        kernel = {"name": "gather", "grid": [25, 16, 1], "block": [8, 32, 1], "registers": 66, "static_shared_bytes": 6400, "time_ns": 4000.0}
        def with_kernels(name, kernels):
            return self.copy("mnist.json", name, ('"samples":8,"calls_per_sample":10,"rounds_ns":[11000.0',
                                                  f'"kernels":{json.dumps(kernels)},"samples":8,"calls_per_sample":10,"rounds_ns":[11000.0'))
        before = with_kernels("before.json", [kernel, kernel])
        after = with_kernels("after.json", [kernel | {"time_ns": 4100.0}, kernel | {"grid": [50, 16, 1]}])
        table = run("db", "diff", before, after).stdout
        self.assertIn("\nkernels: 2 of 2 layers launch others\n", table)
        self.assertIn("         - gather\n           4.00 us, 25x16x1 blocks of 8x32x1, 66 registers, 6.40 kB shared\n"
                      "         + gather\n           4.00 us, 50x16x1 blocks of 8x32x1, 66 registers, 6.40 kB shared\n", table)
        self.assertTrue(all(len(line) <= 80 for line in table.splitlines()[3:]), table)
        changed = [layer["kernels"] for layer in json.loads(run("db", "diff", before, after, "--json", "-").stdout)["layers"] if "kernels" in layer]
        self.assertEqual([[each["grid"] for each in changed[0][side]] for side in ("gone", "new")], [[[25, 16, 1]], [[50, 16, 1]]])
        self.assertIn("gather 25x16x1 blocks of 8x32x1,gather 50x16x1 blocks of 8x32x1\n", run("db", "diff", before, after, "--csv", "-").stdout)
        self.assertNotIn("kernels:", run("db", "diff", RESULTS / "mnist.json", after).stdout)   # one side does not know them

    def test_what_a_library_s_heuristic_chooses_is_marked(self):
        advised = ('"samples":8,"calls_per_sample":10,"rounds_ns":[20500.0', '"advised":1,"samples":8,"calls_per_sample":10,"rounds_ns":[20500.0')
        results = self.copy("mnist.json", "advised.json", advised)
        marked = [line for line in run("analyze", MNIST, "--results", results, "--plans").stdout.splitlines() if line.endswith("(advised)")]
        self.assertTrue(marked and all(line.startswith("   20.5 us") for line in marked), marked)

    def test_what_is_left_out_of_results_is_said_once_a_file(self):
        self.copy("mnist.json", "db/wrong.json", ("hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2\"", 'hot/"'), ('"real_time":10500.0', '"real_time":-5'))
        cut = self.at / "db" / "cut.json"
        cut.write_text((RESULTS / "mnist.json").read_text()[:300])
        result = run("analyze", MNIST, "--results", self.at / "db")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(re.findall("warning: not read: .*cut.json", result.stderr)), 1, result.stderr)
        self.assertEqual(re.findall("warning: .*wrong.json: partly unreadable: (row [0-9]+): .*; (and [0-9]+ more); ", result.stderr),
                         [("row 4", "and 2 more")], result.stderr)
        self.assertEqual(run("analyze", MNIST, "--results", self.at / "db", "--quiet").stderr, "")
        self.assertIn("wrong.json: partly unreadable", run("db", "list", self.at / "db").stderr)
        self.fails(1, ["cut.json: byte"], "analyze", MNIST, "--results", cut)      # named itself
        (self.at / "db" / "wrong.json").unlink()
        self.fails(1, ["the files hold no results; not read: ", "cut.json"], "analyze", MNIST, "--results", self.at / "db")

    def test_a_row_above_its_ceilings_raises_them_and_one_far_above_is_left_out(self):
        # 2 x 28 x 28 x 8 x 25 operations and less at the edges, in 0.01 us: above 20 TFLOP/s, with a peak of 100 GFLOP/s.
        row = "example/direct,threads=1/hot/Conv/f32/x=1x1x28x28/w=8x1x5x5/pads=2x2x2x2"
        damaged = self.copy("mnist.json", "damaged.json", ('"real_time":10000.0', '"real_time":10.0'), ('"min_ns":10000.0', '"min_ns":10.0'))
        result = run("analyze", MNIST, "--results", damaged)
        self.assertIn(f"{row}: beats the machine's ceilings", result.stderr)
        self.assertNotIn("was raised", result.stdout)
        verified = run("db", "verify", damaged)
        self.assertEqual(verified.returncode, 1)
        self.assertIn(f"{row}: beats the machine's ceilings", verified.stdout)

    @measuring
    def test_ceilings_that_rows_contradict_are_measured_again(self):
        # A peak that was measured while another program had one of the cores is too low for good, unless it is measured again.
        database = self.at / "db"
        peaks = lambda file: {row["name"]: row["flops_per_second"] for row in json.loads(file.read_text())["benchmarks"] if "/fma:" in row["name"]}  # noqa: E731
        measure = lambda columns: run("measure", f"MatMul/f32/a=512x512/b=512x{columns}", "--threads", 1, "--budget", "2s", "--database", database)  # noqa: E731
        measure(512)
        first = next(database.glob("*.json"))
        document = json.loads(first.read_text())
        for row in document["benchmarks"]:
            if "/Peak/" in row["name"]:
                row["flops_per_second"] /= 6
                row["real_time"] *= 6
        first.write_text(json.dumps(document))
        for columns in (256, 384, 320, 448, 192):  # a product that is timed in a slow phase contradicts nothing
            known = set(database.glob("*.json"))
            measure(columns)
            [latest] = set(database.glob("*.json")) - known
            if peaks(latest):
                break
        for name, value in peaks(latest).items():
            self.assertGreater(value, 2.25 * peaks(first)[name])
        self.assertTrue(peaks(latest))

    def test_a_row_that_raised_a_ceiling_is_named(self):
        row = "example/direct,threads=1/hot/Conv/f32/x=1x8x14x14/w=16x8x5x5/pads=2x2x2x2"
        raised = self.copy("mnist.json", "raised.json", ("machine/fma,threads=1/hot/Peak/f32", f"machine/{row}/hot/Peak/f32"))
        result = run("analyze", MNIST, "--results", raised, "--json", self.at / "bound.json")
        self.assertIn(f"  the f32 peak was raised to 100 GFLOP/s by\n    {row}\n", result.stdout)
        long = row.replace("/w=", "/" + "long=1/" * 20 + "w=")
        raised = self.copy("mnist.json", "long.json", ("machine/fma,threads=1/hot/Peak/f32", f"machine/{long}/hot/Peak/f32"))
        shown = run("analyze", MNIST, "--results", raised).stdout
        self.assertIn(f"  the f32 peak was raised to 100 GFLOP/s by\n    {long[:73]}...\n", shown)
        self.assertLessEqual(max(map(len, shown.splitlines())), 80)
        self.assertIn(f"    {long}\n", run("analyze", MNIST, "--results", raised, "--all").stdout)
        machine = json.loads((self.at / "bound.json").read_text())["machine"]
        self.assertEqual(machine["reached_by"], {"f32_flops_per_s": row, "memory_bytes_per_s": "read,threads=1"})
        self.assertNotIn("was raised", run("analyze", MNIST, "--results", MNIST_RESULTS).stdout)

    def test_a_declared_machine_gives_the_analytic_rungs_alone(self):
        machine = MODELS.parent / "machines" / "t4.json"
        resnet = MODELS / "modern" / "resnet50.onnx"
        document = json.loads(run("bound", resnet, "--machine", machine, "--json", "-").stdout)
        self.assertEqual(document["machine"]["declared"], str(machine))
        model = document["models"][0]
        known = {key for key, value in model["bounds_ms"].items() if value is not None}
        self.assertEqual(known, {"model_floor", "direct_floor", "roofline", "roofline_parallel", "roofline_memory"})
        self.assertEqual((model["median_ms"], model["missing"], model["partial"]), ({}, [], False))
        # FLOPs over 8.1 TFLOP/s, which is more than (weights - 18 MB on the chip) / 320 GB/s
        self.assertGreaterEqual(model["bounds_ms"]["direct_floor"], 2 * 0.9 * model["macs"] / 8.1e12 * 1e3)
        self.assertEqual(json.loads(run("analyze", resnet, "--machine", machine, "--json", "-").stdout), document)
        self.assertEqual(run("bound", resnet, "--machine", machine, "--require-complete").returncode, 3)   # no library was timed
        swept = run("bound", resnet, "--machine", machine, "--batch", "1,8").stdout
        self.assertIn("declared in", swept)
        self.assertRegex(swept, r"over batch +model floor\n")
        page = self.at / "declared.html"
        run("bound", resnet, "--machine", machine, "--html", page)
        self.assertIn('"headline":"model_floor"', page.read_text())
        self.assertIn('"declared":', page.read_text())
        self.fails(2, ["--machine"], "bound", resnet, "--machine", machine, "--threads", 2)
        self.fails(2, ["either --results (measured) or --machine (declared)"], "analyze", resnet)
        self.fails(1, ["absent.json"], "bound", resnet, "--machine", "absent.json")

    def test_a_full_disk_is_said_and_costs_no_old_file(self):
        report, database = self.at / "out.json", self.at / "full"
        report.write_text("old")
        database.mkdir()
        full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
        result = run("analyze", MNIST, "--results", RESULTS / "mnist.json", "--json", report, preexec_fn=full)
        self.assertEqual((result.returncode, report.read_text()), (5, "old"), result.stderr)
        self.assertIn("out.json': File too large", result.stderr)
        result = run("bound", MNIST, "--no-isolate", "--database", database, "--budget", "1s", preexec_fn=full)
        self.assertEqual(result.returncode, 5)
        self.assertIn("File too large", result.stderr.splitlines()[-1])
        self.assertIn("library fused", result.stdout)                  # what was measured is not lost
        self.assertNotIn("kept in", result.stdout)
        self.assertEqual(list(database.iterdir()), [])

    def stopped(self, database, sign, is_time, **options):
        """Exit code and terminal of a session that gets a signal, or several, when what was shown says that it is time."""
        signs = sign if isinstance(sign, tuple) else (sign,)
        shown, terminal = pty.openpty()  # on a terminal the program says how far it is
        with subprocess.Popen([PROGRAM, "bound", str(MODELS / "zoo2019" / "Squeezenet-v1.1.onnx"), "--database", str(database), "--budget", "60s"],
                              stdout=subprocess.DEVNULL, stderr=terminal, **options) as process:
            os.close(terminal)
            errors = ""
            while text := self.read(shown):
                errors += text
                if is_time(errors):
                    for one in signs:
                        process.send_signal(one)
                        time.sleep(0.1)  # or the system merges them
                    break
            while text := self.read(shown):
                errors += text
        os.close(shown)
        return process.returncode, errors

    def test_progress_shows_the_bound_as_soon_as_every_layer_has_a_time(self):
        number = re.compile(r"s left  library fused (resident )?\d[\d.]* ms")
        returncode, errors = self.stopped(self.at / "results", signal.SIGINT, number.search)
        self.assertEqual(returncode, 130, errors)

    def test_interrupt_keeps_what_was_measured(self):
        database = self.at / "results"
        for number, sign, code in ((1, signal.SIGINT, 130), (2, signal.SIGTERM, 143)):
            returncode, errors = self.stopped(database, sign, lambda shown: re.search(r"select .* [3-9]/", shown))  # some layers have rows by now
            self.assertEqual(returncode, code, errors)
            self.assertEqual(len(list(database.glob("*.json*"))), number)
            said = re.search(r"benanza: interrupted: (\d+) of (\d+) layers measured, kept in " + re.escape(str(database)), errors)
            self.assertTrue(said, errors)
            self.assertTrue(0 < int(said[1]) <= int(said[2]), said[0])
        self.assertTrue(json.loads(run("db", "list", database, "--json", "-").stdout))

    def own_temporary_folder(self):
        """The environment of a program whose temporary files lie in a folder of this test, and the folder."""
        temporary = self.at / "temporary"
        temporary.mkdir()
        return {**os.environ, "TMPDIR": str(temporary)}, temporary

    def test_two_interrupts_keep_what_was_measured_and_leave_nothing_behind(self):
        database = self.at / "results"
        environment, temporary = self.own_temporary_folder()
        returncode, errors = self.stopped(database, (signal.SIGINT, signal.SIGINT), lambda shown: re.search(r"select .* [3-9]/", shown), env=environment)
        self.assertIn(returncode, (-signal.SIGINT, 130), errors)  # it may be done with stopping by then
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertGreater(json.loads(run("db", "list", database, "--json", "-").stdout)["runs"][0]["timed"], 0)

    def test_a_killed_session_leaves_what_it_had(self):
        database = self.at / "results"
        environment, temporary = self.own_temporary_folder()
        returncode, errors = self.stopped(database, signal.SIGKILL, lambda shown: any(database.glob("*.json")), env=environment)
        self.assertEqual(returncode, -signal.SIGKILL, errors)
        # Its worker is gone, and the next session removes the worker's folder.
        abandoned = list(temporary.iterdir())
        self.assertEqual(len(abandoned), 1)
        self.assertFalse([pid for pid in pathlib.Path("/proc").iterdir() if pid.name.isdigit() and self.works_in(pid, abandoned[0])])
        run("measure", "Unary/f32/fn=relu/x=64", "--budget", "1ms", "--database", self.at / "other", env=environment)
        self.assertEqual(list(temporary.iterdir()), [])
        left = run("analyze", MODELS / "zoo2019" / "Squeezenet-v1.1.onnx", "--results", database, "--json", "-")
        self.assertEqual(left.returncode, 0, left.stderr)
        model = json.loads(left.stdout)["models"][0]
        self.assertGreater(model["coverage"]["measured"] + model["coverage_fused"]["measured"], 0)

    @staticmethod
    def works_in(process, folder):
        """Whether a process was started with this folder and is alive."""
        try:
            return str(folder).encode() in (process / "cmdline").read_bytes()
        except OSError:
            return False

    @staticmethod
    def read(terminal):
        """What a terminal shows next; nothing when the program behind it is gone."""
        try:
            return os.read(terminal, 4096).decode(errors="replace")  # a character may be cut
        except OSError:
            return ""


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    unittest.main(argv=[sys.argv[0], *[name for name in sys.argv[3:] if not name.startswith("--")]], verbosity=2)
