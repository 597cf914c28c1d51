#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in headless Chromium. page_test.py PROGRAM SOURCE OUT: screenshots of each look go to OUT; exit code 77 without a Chromium."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

from browser import Browser, find_chromium

PROGRAM, SOURCE, OUT = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
MODELS, RESULTS = SOURCE / "examples" / "models", SOURCE / "examples" / "results" / "mnist.json"
MNIST = MODELS / "zoo2019" / "MNIST.onnx"
SIZES = {"desktop": {"width": 1200, "height": 900}, "phone": {"width": 390, "height": 844, "phone": True}}
HOSTILE = "</script><b>&\"'"


def analyze(*arguments):
    result = subprocess.run([PROGRAM, "analyze", *map(str, arguments), "--results", str(RESULTS), "--quiet"], capture_output=True, text=True, check=False)
    if result.returncode:
        raise AssertionError(result.stderr)
    return result.stdout


def time_text(ms):
    """As src/format/numbers.cpp has it, with the micro sign."""
    def digits(value):
        before = len(str(int(value))) if value >= 1 else -len(re.match(r"0\.(0*)", f"{value:.12f}")[1])
        return f"{value:.{min(max(3 - before, 0), 3)}f}"
    for least, factor, unit in ((1000, 1e-3, "s"), (0.1, 1, "ms"), (1e-4, 1e3, "µs")):
        if ms >= least:
            return f"{digits(ms * factor)} {unit}"
    return "0 ms" if ms == 0 else f"{digits(ms * 1e6)} ns"


def field(number, content):
    """A protobuf field: a varint or length-delimited bytes."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    content = content.encode() if isinstance(content, str) else content
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def relu_named(name):
    """A model of one Relu on 1x8 floats whose node, values and graph are called `name` (onnx.proto: ModelProto and what it holds)."""
    tensor = field(1, 1) + field(2, field(1, field(1, 1)) + field(1, field(1, 8)))
    node = field(1, "x" + name) + field(2, "y" + name) + field(3, name) + field(4, "Relu")
    graph = field(1, node) + field(2, "g") + field(11, field(1, "x" + name) + field(2, field(1, tensor))) + field(12, field(1, "y" + name) + field(2, field(1, tensor)))
    length = bytes([len(graph) & 127 | 128, len(graph) >> 7])
    return field(1, 8) + field(8, field(2, 13)) + bytes([7 << 3 | 2]) + length + graph


LONG = "Conv/f32/x=1x256x14x14/w=256x256x3x3/pads=1x1x1x1/post=bias,add(1x256x14x14),relu"
# What MNIST and its invented results do not have: an answer to every question, with names as long as those of real layers.
ANSWERS = {
    "parallel": {"gain_ms": 0.4, "side_by_side_ms": 0.1, "critical_path": ["a", "b"], "groups_off_path": 7},
    "algorithms": [
        {"layer": "resnetv17_stage3_conv12_fwd_with_a_very_long_name_of_its_own", "signature": LONG, "library": "cudnn", "chosen": "implicit_gemm", "math": "",
         "best": "cudnn implicit_precomp_gemm,threads=1", "chosen_ms": 1.5, "best_ms": 1.2, "count": 2, "gain_ms": 0.6, "uncertainty_ms": 0.02},
        {"layer": "", "signature": "", "library": "cublas", "chosen": "algo7", "math": "", "best": "", "chosen_ms": None, "best_ms": None, "count": 1, "gain_ms": None, "uncertainty_ms": None}],
    "fusions": [{"pattern": "Conv + BatchNorm + add + relu", "count": 16, "done": 3, "unknown": 0, "gain_ms": 2.5, "open_ms": 1.6, "nodes": ["a"]}],
    "types": [{"type": "bf16", "measured": True, "bound_ms": 30, "compared_ms": 61.8, "gain_ms": 31.8, "uncertainty_ms": 1.5}, {"type": "i8", "measured": False, "bound_ms": 10, "compared_ms": 34, "gain_ms": 24, "uncertainty_ms": None}],
    "layouts": [{"layout": "aBcd8b", "layers": 12, "gain_ms": 3.5, "calls": []}],
    "library": [{"signature": LONG, "backend": "onednn", "algorithm": "brgconv:avx2,src=aBcd8b,dst=aBcd8b,threads=2", "count": 5, "time_ms": 1.4, "roofline_ms": 0.9, "gain_ms": 2.5}] * 12,
    "backends": [{"signature": LONG, "from": "openblas", "to": "onednn", "count": 3, "from_ms": 2.5, "to_ms": 2, "gain_ms": 1.5}],
    "joint": {"type": "bf16", "latency_ms": 28, "uncertainty_ms": 1, "steps": [
        {"what": "no overhead between layers", "change": "overhead", "gain_ms": 3.1, "latency_ms": 71.7}, {"what": "best algorithms", "change": "algorithm", "gain_ms": 9.6, "latency_ms": 62.1},
        {"what": "other parts of the gap", "change": None, "gain_ms": -0.3, "latency_ms": 62.4}, {"what": "in bf16", "change": "type", "gain_ms": 34.4, "latency_ms": 28}]},
}


def with_questions(page):
    """The page with those answers in its data."""
    found = re.search(r'(<script type="application/json" id="data">)(.*?)(</script>)', page, re.DOTALL)
    data = json.loads(found[2])
    data["gap"]["questions"] = ANSWERS
    return page[: found.start(2)] + json.dumps(data).replace("<", "\\u003c") + page[found.end(2) :]


# A witness as `bound --witness --check --json` has it, with two calls and a change of layout.
WITNESS = {
    "p10_ms": 0.05, "median_ms": 0.06, "uncertainty": 0.012, "executions": 900, "discarded": 4, "round_trip_us": 0.33, "usual_round_trip_us": 0.1, "distant": True, "one_graph": False,
    "sequences_tried": 9, "threads": 2, "tightness": 1.3, "representative": False, "slower_plans_ms": 0.002, "saved_by_orders_ms": 0.003, "layout_changes_alone_ms": 0.001,
    "switches_ms": 0, "layout_changes_ms": 0.002, "reference_ms": 0.004, "calls_ms": 0.05, "peak_bytes": 40000, "all_tensors_bytes": 90000, "difference": 3e-7, "unequal": 0.0005,
    "check": {"calls": 2, "nodes": ["Convolution110", "Plus112"], "plan": "onednn brgconv:avx2,src=aBcd8b,dst=aBcd8b,threads=2", "difference": 2e-6, "tolerance": 1e-4},
    "calls": [{"nodes": ["Convolution110", "Plus112"], "plan": "onednn brgconv:avx2,src=aBcd8b,dst=aBcd8b,threads=2", "layer": None, "layout_plan": None, "alone_ms": 0.02, "fastest_ms": 0.018, "in_place_ms": 0.03, "once_ms": 0.03},
              {"nodes": ["Plus112_Output"], "plan": "layout", "layer": "Transpose/f32/x=2x8x196/perm=0x2x1", "layout_plan": "native move,threads=2", "alone_ms": 0.001, "fastest_ms": None, "in_place_ms": 0.002, "once_ms": 0.002},
              {"nodes": ["Pooling160"], "plan": "reference", "layer": None, "layout_plan": None, "alone_ms": None, "fastest_ms": None, "in_place_ms": 0.004, "once_ms": 0.004}],
}


def with_witness(page, witness):
    """The page of a gap with a witness in its data."""
    found = re.search(r'(<script type="application/json" id="data">)(.*?)(</script>)', page, re.DOTALL)
    data = json.loads(found[2])
    model, given = data["models"][0], "refused" not in witness
    data["rungs"] += ["library_chained", "witness"]
    model["bounds_ms"].update(library_chained=0.042 if given else None, witness=witness.get("p10_ms"))
    if given:
        model["median_ms"]["witness"], model["uncertainty"]["witness"] = witness["median_ms"], witness["uncertainty"]
    model["witness"] = data["gap"]["witness"] = witness
    return page[: found.start(2)] + json.dumps(data).replace("<", "\\u003c") + page[found.end(2) :]


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        OUT.mkdir(parents=True, exist_ok=True)
        cls.one, cls.many, cls.sweep = OUT / "one.html", OUT / "many.html", OUT / "sweep.html"
        cls.json = json.loads(analyze(MNIST, "--html", cls.one, "--json", "-"))["models"][0]
        analyze(MODELS / "zoo2019", "--html", cls.many)
        analyze(MNIST, "--batch", "1,2,4", "--html", cls.sweep)
        cls.gap = OUT / "gap.html"
        gap = subprocess.run([PROGRAM, "gap", str(MNIST), "--results", str(RESULTS), "--profile", str(SOURCE / "examples" / "profiles" / "mnist.csv"), "--latency", "75us", "--quiet",
                              "--html", str(cls.gap), "--json", "-"], capture_output=True, text=True, check=True)
        cls.gap_json = json.loads(gap.stdout)["gaps"][0]
        cls.questions = OUT / "questions.html"
        cls.questions.write_text(with_questions(cls.gap.read_text(encoding="utf-8")), encoding="utf-8")
        cls.witness, cls.refused = OUT / "witness.html", OUT / "refused.html"
        cls.witness.write_text(with_witness(cls.gap.read_text(encoding="utf-8"), WITNESS), encoding="utf-8")
        cls.refused.write_text(with_witness(cls.gap.read_text(encoding="utf-8"), {"refused": "control flow: node 'a' (If)"}), encoding="utf-8")
        cls.memory = OUT / "memory.html"
        memory = subprocess.run([PROGRAM, "memory", str(MODELS / "training" / "mobilenet_v3_large.onnx"), "--training", "--capacity", "80GB", "--html", str(cls.memory), "--json", "-"],
                                capture_output=True, text=True, check=True)
        cls.memory_json = json.loads(memory.stdout)["models"][0]
        training, machine = MODELS / "training", SOURCE / "examples" / "machines" / "a100_sxm4_40gb.json"
        cls.memory_sweep, cls.scale = OUT / "memory_sweep.html", OUT / "scale.html"
        cls.memory_sweep_json = cls.told("memory", training / "mobilenet_v3_large.onnx", "--training", "--batch", "8,16,32", "--machine", machine, "--capacity", "1GB", "--html", cls.memory_sweep)
        cls.scale_json = cls.told("scale", training / "resnet50.onnx", "--machine", machine, "--batch", "32", "--workers", "4", "--html", cls.scale)["models"][0]
        cls.study = OUT / "study.html"
        study = subprocess.run([PROGRAM, "study", str(MODELS / "zoo2019"), "--results", str(SOURCE / "tests" / "data" / "2019" / "study"), "--rules", "2019", "--quiet",
                                "--html", str(cls.study), "--json", "-"], capture_output=True, text=True, check=True)
        cls.study_json = json.loads(study.stdout)
        cls.predict = OUT / "predict.html"
        machines, table = MODELS.parent / "machines", SOURCE / "tests" / "data" / "2019" / "resnet50_v100_b32.csv.gz"
        predict = subprocess.run([PROGRAM, "predict", str(MODELS / "zoo2019" / "ResNet050-v1.onnx"), "--batch", "32", "--rules", "2019", "--from", str(table), "--from-machine", str(machines / "v100_sxm2.json"),
                                  *(text for device in ("t4", "titan_xp", "l4") for text in ("--to", str(machines / f"{device}.json"))), "--price", "0.35,0.2,0.8", "--quiet",
                                  "--html", str(cls.predict), "--json", "-"], capture_output=True, text=True, check=True)
        cls.predict_json = json.loads(predict.stdout)["models"][0]
        cls.browser = Browser(find_chromium())

    @staticmethod
    def told(*command):
        return json.loads(subprocess.run([PROGRAM, *map(str, command), "--quiet", "--json", "-"], capture_output=True, text=True, check=True).stdout)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def opened(self, file, fragment="", **look):
        self.browser.open(file.resolve().as_uri() + fragment, **look)
        self.assertEqual(self.browser.evaluate("document.documentElement.dataset.ready"), "yes")

    def texts(self, selector):
        return self.browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def test_the_gap_is_the_one_of_the_report(self):
        self.opened(self.gap, **SIZES["desktop"])
        self.assertEqual(self.texts("[data-gap=latency]"), [time_text(self.gap_json["latency_ms"])])
        self.assertEqual(self.texts("[data-gap=gap]"), [time_text(self.gap_json["gap_ms"])])
        self.assertEqual(len(self.texts(".waterfall .fall-row.more, .waterfall .fall-row.less, .waterfall .fall-row.open")), len(self.gap_json["parts"]))
        self.assertEqual(len(self.texts("table.advice tbody tr")), len(self.gap_json["advice"]))
        self.assertEqual(len(self.texts("table.parts tbody tr")), len(self.gap_json["parts"]))

    def test_a_witness_is_a_rung_and_a_table_of_its_calls(self):
        self.opened(self.witness, **SIZES["desktop"])
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('.ladder .rung')].map(r => r.dataset.rung).slice(-2)"), ["library_chained", "witness"])
        # By what they take more than the fastest plan: 12, 4 and 2 µs.
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('table.witness tbody tr')].map(r => r.cells[1].textContent)"), [time_text(ms) for ms in (0.03, 0.004, 0.002)])
        # 75 µs over 60 µs
        self.assertEqual(self.texts("[data-gap=witness]"), [f"The model was executed from the plans of the bound in {time_text(0.06)}: the engine could be 1.25 times as fast."])
        self.assertIn("witness, executed", self.texts(".waterfall .label"))
        self.opened(self.refused, **SIZES["desktop"])
        self.assertEqual((self.texts("table.witness"), self.texts("[data-gap=witness]")), ([], []))
        self.assertEqual(sum("control flow: node 'a' (If)" in text for text in self.texts(".warning")), 2)

    def test_every_answered_question_has_its_table(self):
        # a table shows ten rows at most; the parallel one has its four figures, the joint one the measured time and its steps
        for page, questions in ((self.gap, self.gap_json["questions"]), (self.questions, ANSWERS)):
            with self.subTest(page=page.name):
                self.opened(page, **SIZES["desktop"])
                expected = {name: min(10, len(questions[name])) for name in ("algorithms", "fusions", "types", "layouts", "library", "backends") if questions[name]}
                expected["parallel"] = 4
                shown = self.browser.evaluate("Object.fromEntries([...document.querySelectorAll('table[data-question]')].map(t => [t.dataset.question, t.tBodies[0].rows.length]))")
                self.assertEqual(shown, expected)
                steps = self.texts("ol[data-question=joint] .long")
                self.assertEqual(steps[1:], [time_text(step["latency_ms"]) for step in questions["joint"]["steps"]])
        self.assertEqual(self.texts("ol[data-question=joint] .when")[1:], ["3.10 ms", "9.60 ms", "costs 0.300 ms", "34.4 ms"])
        self.assertIn("2 more in the JSON report", self.texts("section .note"))

    def test_every_look_fits_asks_for_nothing_and_complains_of_nothing(self):
        whole = (self.one, self.gap, self.witness, self.refused, self.study, self.questions, self.memory, self.memory_sweep, self.scale, self.predict)
        for page in (*whole, self.many, self.sweep):
            for name, size in SIZES.items():
                for dark in (False, True):
                    look = f"{page.stem}_{name}_{'dark' if dark else 'light'}"
                    with self.subTest(look=look):
                        self.opened(page, "" if page in whole else "#m0", dark=dark, **size)
                        self.browser.screenshot(OUT / f"{look}.png")
                        self.assertEqual(self.browser.errors, [])
                        self.assertEqual([url for url in self.browser.requests if not url.startswith(("file:", "data:"))], [])
                        wide = self.browser.evaluate(f"""[...document.body.querySelectorAll('*')].filter(e => !e.closest('.wide') && e.getBoundingClientRect().right > {size["width"]} + 1)
                                                        .map(e => e.tagName + '.' + e.getAttribute('class') + ' ' + e.getBoundingClientRect().right).slice(0, 5)""")
                        self.assertEqual(wide, [])
                        self.assertEqual(self.browser.evaluate("document.documentElement.scrollWidth"), size["width"])

    def test_a_bound_without_any_rung_has_its_layers(self):
        page = OUT / "no_rung.html"
        self.told("bound", MNIST, "--machine", MODELS.parent / "machines" / "t4.json", "--type", "tf32", "--html", page)  # which has no tf32
        self.opened(page, **SIZES["desktop"])
        self.assertEqual(self.browser.errors, [])
        self.assertIn("No rung that has a path is known.", self.texts(".empty"))
        self.assertGreater(len(self.texts(".layers tbody tr")), 0)

    def test_a_study_draws_each_ratio_and_each_mean(self):
        self.opened(self.study, **SIZES["desktop"])
        rows = [row for row in self.study_json["rows"] if (row["framework"], row["batch"]) == ("mxnet", 1) and "library" in row["ratios"]]
        marks = self.browser.evaluate("[...document.querySelectorAll('svg.ratios circle')].map(c => [c.dataset.model, c.dataset.device, c.classList.contains('hollow')])")
        self.assertEqual(sorted(marks), sorted([row["model"], row["device"], row["missing_layers"] > 0] for row in rows))
        self.assertEqual(len(rows), 59)  # 30 models on the V100, 29 on the T4
        means = {(mean["quantity"], mean["batch"]) for mean in self.study_json["means"] if mean["device"].startswith("Tesla V100") and mean["framework"] is None}
        drawn = {tuple(pair) for pair in self.browser.evaluate("[...document.querySelectorAll('svg.speedups circle')].map(c => [c.dataset.name, Number(c.dataset.batch)])")}
        self.assertTrue(drawn)
        self.assertLessEqual(drawn, means)
        self.assertIn(("algorithms", 32), drawn)
        self.browser.evaluate("(() => { const list = document.querySelector('select[aria-label=batch]'); list.value = '32'; list.dispatchEvent(new Event('change')) })()")
        self.browser.settle()
        self.assertEqual(len(self.texts("svg.ratios circle")), sum((row["framework"], row["batch"]) == ("mxnet", 32) and "library" in row["ratios"] for row in self.study_json["rows"]))
        self.browser.evaluate("document.querySelector('details.model').open = true")
        self.browser.settle()
        self.assertEqual(len(self.texts("table.every tbody tr")), len(self.study_json["rows"]))
        self.assertEqual(len(self.texts("table.claims tbody tr")), len(self.study_json["claims"]))

    def test_memory_is_stacked_to_its_peak(self):
        self.opened(self.memory, **SIZES["desktop"])
        self.assertEqual(self.browser.evaluate("document.querySelector('[data-peak]').dataset.peak"), str(self.memory_json["peak_bytes"]))
        there = [name for name, most in self.memory_json["most_at_once"].items() if most > 0]
        self.assertEqual(sorted(self.browser.evaluate("[...document.querySelectorAll('svg.memory path')].map(p => p.getAttribute('class').match(/m-(\\w+)/)[1])")), sorted(there))
        # The areas reach up to the peak: the uppermost point of all is the peak over the axis.
        top = self.browser.evaluate("Math.min(...[...document.querySelectorAll('svg.memory path')].map(p => p.getBBox().y))")
        self.assertAlmostEqual(top, 300 - (300 - 22) / 1.06, delta=0.5)

    def test_a_prediction_has_a_bar_and_an_interval_for_each_device(self):
        self.opened(self.predict, **SIZES["desktop"])
        targets = self.predict_json["targets"]
        bars = self.browser.evaluate("[...document.querySelectorAll('svg.devices rect.bar')].map(r => [r.dataset.device, r.getBBox().width])")
        self.assertEqual([device for device, _ in bars], [f"{self.predict_json['origin']} (measured)", *(target["device"] for target in targets)])
        # All bars have one scale, that of the measured one.
        scale = bars[0][1] / self.predict_json["origin_ms"]
        for (_, width), target in zip(bars[1:], targets):
            self.assertAlmostEqual(width, target["total_ms"] * scale, delta=0.5)
        lines = self.browser.evaluate("[...document.querySelectorAll('svg.devices path.interval')].map(p => p.getBBox().width)")
        self.assertEqual(len(lines), len(targets))  # what was measured has none
        for width, target in zip(lines, targets):
            self.assertAlmostEqual(width, (target["high_ms"] - target["low_ms"]) * scale, delta=0.5)
        self.assertEqual([text.split(" – ")[0] for text in self.texts("#content table:first-of-type tbody tr td:nth-child(2)")][: len(targets)], [time_text(target["total_ms"]) for target in targets])

    def test_a_sweep_of_memory_has_a_bar_and_a_throughput_for_each_batch(self):
        self.opened(self.memory_sweep, **SIZES["desktop"])
        models = self.memory_sweep_json["models"]
        # The axis of 276 px goes up to 1.08 times the largest of each: bytes of the bars, throughput of the dots.
        heights = self.browser.evaluate("""Object.values([...document.querySelectorAll('svg.memory-sweep rect')].reduce((bars, r) => {
            bars[r.getAttribute('x')] = (bars[r.getAttribute('x')] ?? 0) + r.getBBox().height; return bars }, {}))""")
        dots = self.browser.evaluate("[...document.querySelectorAll('svg.memory-sweep circle')].map(c => 306 - c.cy.baseVal.value)")
        for drawn, key in ((sorted(heights), "peak_bytes"), (dots, "inputs_per_second")):
            self.assertEqual(len(drawn), len(models))
            for pixels, model in zip(drawn, models):
                self.assertAlmostEqual(pixels, 276 * model[key] / (1.08 * max(one[key] for one in models)), delta=0.5)
        self.assertEqual(self.texts("svg.memory-sweep .knee-name"), ["capacity"])

    def test_a_dot_is_where_workers_are_as_fast_as_one(self):
        self.opened(self.scale, **SIZES["desktop"])
        # The efficiency is 1 / n there; the axis has 302 px for 100 %.
        dots = self.browser.evaluate("[...document.querySelectorAll('svg.curves circle')].map(c => (320 - c.cy.baseVal.value) / 302)")
        self.assertEqual([round(dot, 6) for dot in dots], [round(1 / curve["workers"], 6) for curve in self.scale_json["curves"]])
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('path[data-workers]')].map(p => Number(p.dataset.workers))"), [curve["workers"] for curve in self.scale_json["curves"]])

    def test_it_prints(self):
        self.opened(self.one, media="print")
        self.browser.print_to(OUT / "one.pdf")
        self.assertGreater((OUT / "one.pdf").stat().st_size, 10_000)
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.querySelector('.controls')).display"), "none")

    def test_figures_are_those_of_the_json(self):
        self.opened(self.one)
        for name, bound in self.json["bounds_ms"].items():
            if bound is None or name == "direct_floor":  # not a rung
                self.assertEqual(self.texts(f".rung[data-rung={name}] .value"), [])
                continue
            shown = self.texts(f".rung[data-rung={name}] .value")[0]
            self.assertEqual(shown.split(" ±")[0], time_text(bound), name)
        rows = {row["signature"]: row for row in self.json["rows"] if row["form"] == "fused"}
        self.assertEqual(len(self.texts(".layers tbody tr[data-row]")), len(rows))
        shown = self.browser.evaluate("""(() => { for (const button of document.querySelectorAll('.open')) button.click();
            return [...document.querySelectorAll('.layers tbody tr[data-row]')].map(tr => [tr.nextSibling.querySelector('code').textContent,
              tr.querySelector('.c-total').textContent, tr.querySelector('.c-count').textContent, tr.classList.contains('critical')]) })()""")
        for signature, total, count, critical in shown:
            row = rows[signature]
            self.assertEqual((count, critical), (f"×{row['count']}", row["critical"]))
            # a row that was not measured has no p10_ms in the JSON: its floor stands in
            self.assertEqual(total, time_text(row.get("p10_ms", row["floor_ms"]) * row["count"]))
        counts = self.texts(".coverage")[0]
        for status in ("measured", "modelled", "free", "missing"):
            self.assertIn(f"{status} {self.json['coverage'][status]}", counts)

    def test_a_row_opens_to_every_plan_where_they_were_asked_for(self):
        page = OUT / "plans.html"
        model = json.loads(analyze(MNIST, "--plans", "--html", page, "--json", "-"))["models"][0]
        self.opened(page)
        shown = self.browser.evaluate("""(() => { for (const button of document.querySelectorAll('.open')) button.click();
            return [...document.querySelectorAll('.layers tbody tr[data-row]')].map(tr => [tr.nextSibling.querySelector('code').textContent,
              [...tr.nextSibling.querySelectorAll('.facts li')].map(li => li.textContent)]) })()""")
        plans = {row["signature"]: row.get("plans", []) for row in model["rows"] if row["form"] == "fused"}
        self.assertGreater(max(map(len, plans.values())), 1)
        for signature, lines in shown:
            self.assertEqual(len(lines), len(plans[signature]), signature)
            for line, plan in zip(lines, plans[signature]):
                self.assertIn(f"{plan['backend']} {plan['algorithm']}", line)
                self.assertTrue(line.startswith(time_text(plan["p10_ms"]) if "excluded" not in plan else "excluded"), line)
        self.opened(self.one)
        self.assertEqual(self.browser.evaluate("(() => { document.querySelector('.open').click(); return document.querySelectorAll('.layers .facts li').length })()"), 0)

    def test_sort_and_filter(self):
        self.opened(self.one)
        column = "[...document.querySelectorAll('.layers tbody tr[data-row]')].map(tr => tr.dataset.row)"
        by_time = self.browser.evaluate(column)
        rows = "data.models[0].objects"
        self.assertEqual(by_time, self.browser.evaluate(f"{column}.map(Number).sort((a, b) => {rows}[b].total - {rows}[a].total).map(String)"))
        click = "[...document.querySelectorAll('.layers th button')].find(b => b.textContent === 'count').click()"
        for direction, sign in (("descending", 1), ("ascending", -1)):
            self.browser.evaluate(click)
            counts = self.browser.evaluate(f"{column}.map(at => {rows}[at].count)")
            self.assertEqual(counts, sorted(counts, reverse=sign > 0))
            self.assertEqual(self.browser.evaluate("document.querySelector('.layers th.c-count').getAttribute('aria-sort')"), direction)
        typed = "(text) => { const f = document.querySelector('input[type=search]'); f.value = text; f.dispatchEvent(new Event('input')) }"
        self.browser.evaluate(f"({typed})('conv 5x5')")
        kept = self.texts(".layers tbody tr[data-row] .open")
        self.assertTrue(kept and len(kept) < len(by_time), kept)
        self.assertTrue(all("conv" in text.lower() and "5x5" in text for text in kept), kept)
        self.browser.evaluate(f"({typed})('nothing has this')")
        self.assertEqual(self.texts(".layers tbody tr[data-row]"), [])
        self.browser.evaluate(f"({typed})('')")
        self.browser.evaluate("[...document.querySelectorAll('.controls button')].find(b => b.textContent === 'single').click()")
        self.assertEqual(len(self.texts(".layers tbody tr[data-row]")), sum(row["form"] == "single" for row in self.json["rows"]))
        self.assertEqual(self.browser.errors, [])

    def test_keyboard_opens_a_row_and_walks_the_roofline(self):
        self.opened(self.one)
        self.browser.evaluate("document.querySelector('.open').focus()")
        self.browser.key("Enter")
        self.assertEqual(self.browser.evaluate("document.querySelector('.open').getAttribute('aria-expanded')"), "true")
        self.browser.evaluate("document.querySelector('svg.roofline').focus()")
        self.browser.key("ArrowRight")
        first = self.browser.evaluate("document.getElementById('tip').textContent")
        self.browser.key("ArrowRight")
        self.assertNotEqual(first, self.browser.evaluate("document.getElementById('tip').textContent"))
        self.browser.key("Escape")
        self.assertTrue(self.browser.evaluate("document.getElementById('tip').hidden"))

    def test_hover_over_the_roofline_names_the_layer(self):
        self.opened(self.one)
        x, y, row = self.browser.evaluate("""(() => { const dots = document.querySelectorAll('.dot'), dot = dots[dots.length - 1];
            dot.scrollIntoView({block: 'center'}); const box = dot.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2, dot.dataset.row] })()""")
        self.browser.settle()
        self.browser.move_to(x, y)
        self.browser.settle()
        self.assertIn(self.browser.evaluate(f"data.models[0].objects[{row}].words"), self.texts("#tip")[0])

    def test_several_models_open_one_by_one_and_sort(self):
        self.opened(self.many)
        names = self.texts(".models tbody a")
        self.assertEqual(len(names), 30)
        self.assertEqual(self.texts("details.model svg.ladder"), [])
        self.browser.evaluate("[...document.querySelectorAll('.models th button')][0].click()")
        self.assertEqual(self.texts(".models tbody a"), self.browser.evaluate(f"{json.dumps(names)}.sort((a, b) => a.localeCompare(b, 'en', {{numeric: true}}))"))
        self.browser.evaluate("document.querySelector('.models tbody a').click()")
        self.browser.settle()
        self.assertEqual(len(self.texts("details.model[open] svg.ladder")), 1)
        self.assertLess(self.many.stat().st_size, 3 << 20)
        self.assertEqual(self.browser.errors, [])

    def test_names_of_models_are_text(self):
        hostile = OUT / "hostile.onnx"
        hostile.write_bytes(relu_named(HOSTILE))
        page = OUT / "hostile.html"
        analyze(hostile, "--html", page, "--dot", OUT / "hostile.dot", "--trace", OUT / "hostile_trace.json")
        text = page.read_text()
        self.assertEqual(text.count("</script>"), 2)
        self.assertNotIn(HOSTILE, text)
        self.opened(page)
        self.assertEqual(self.browser.errors, [])
        self.assertEqual(self.texts("b:not([data-bound]):not(.warning b)"), [])
        self.browser.evaluate("for (const button of document.querySelectorAll('.open')) button.click()")
        self.assertIn("</script><b>", "".join(self.texts(".facts, .path")))
        json.loads((OUT / "hostile_trace.json").read_text())


if __name__ == "__main__":
    if not find_chromium():
        print("skipped: no chromium on the path (apt-get install chromium)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
