#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What benchmarks/engines/gpu_frameworks.py does around PyTorch, which a mock stands for. frameworks_test.py ROOT"""
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest
from contextlib import redirect_stdout
from unittest import mock

ROOT = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "benchmarks" / "engines"), str(ROOT / "scripts")]

import gpu_frameworks  # noqa: E402
from gpu_lease import leases  # noqa: E402


class Frameworks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "frameworks.json"
        self.torch = mock.MagicMock()
        self.torch.cuda.Event.return_value.elapsed_time.side_effect = (i % 3 + 1.0 for i in range(10**6))  # ms: 1, 2, 3, 1 ...
        self.torch.utils.flop_counter.FlopCounterMode.return_value.__enter__.return_value.get_total_flops.return_value = 8_000
        self.calls = []
        modules = {"torch": self.torch, "torch.utils.flop_counter": self.torch.utils.flop_counter, "torch.profiler": self.torch.profiler}
        for patch in (mock.patch.dict(sys.modules, modules), mock.patch.object(gpu_frameworks, "WARM_UP_SECONDS", 0),
                      mock.patch.object(gpu_frameworks, "environment", dict),
                      mock.patch.object(gpu_frameworks, "prepared", lambda name, batch, kind: (lambda: self.calls.append((name, kind)), []))):
            patch.start()
            self.addCleanup(patch.stop)

    def main(self, *arguments):
        with mock.patch.object(sys, "argv", ["gpu_frameworks.py", *arguments, "--json", str(self.file)]), redirect_stdout(io.StringIO()):
            return gpu_frameworks.main()

    def runs(self):
        return json.loads(self.file.read_text())["runs"]

    def test_the_time_is_the_median_of_200_runs(self):
        self.assertEqual(self.main("resnet50", "--types", "f16", "--modes", "eager"), 0)
        run, = self.runs()
        self.assertEqual((run["runs"], run["median_ms"], run["macs"]), (200, 2.0, 4_000))  # 2 FLOPs for each multiply-add
        self.assertEqual(len(self.calls), 200 + 1)  # timed, counted

    def test_tf32_is_set_for_products_and_convolutions_alike(self):
        for kind, allowed in (("tf32", True), ("f32", False), ("f16", False)):
            gpu_frameworks.set_type(kind)
            self.assertIs(self.torch.backends.cuda.matmul.allow_tf32, allowed)
            self.assertIs(self.torch.backends.cudnn.allow_tf32, allowed)

    def test_what_is_known_is_not_run_again(self):
        self.main("resnet50", "--types", "f16", "--modes", "eager")
        before = len(self.calls)
        self.main("resnet50", "--types", "f16", "--modes", "eager,graph")
        self.assertEqual([run["mode"] for run in self.runs()], ["eager", "graph"])
        self.assertEqual(len(self.calls) - before, 3 + 1)  # warm-up and capture; replays call no module

    def test_what_a_framework_throws_costs_that_run_alone_and_is_tried_again(self):
        self.torch.compile.side_effect = RuntimeError("no kernel")
        self.assertEqual(self.main("resnet50", "bert_base_s128", "--types", "f16", "--modes", "compile,eager"), 1)
        self.assertEqual([("error" in run, run["mode"]) for run in self.runs()], [(True, "compile"), (False, "eager")] * 2)
        self.torch.compile.side_effect = lambda module, mode: module
        self.assertEqual(self.main("resnet50", "bert_base_s128", "--types", "f16", "--modes", "compile"), 0)
        self.assertFalse(any("error" in run for run in self.runs()))

    def test_a_decode_step_begins_with_the_same_cache_each_time(self):
        layers, seen = [], []
        update = lambda keys, values, layer: layers.append(types.SimpleNamespace(keys=keys, values=values))
        transformers = mock.MagicMock()
        transformers.DynamicCache.return_value = mock.MagicMock(layers=layers, update=update)

        def module(input_ids, past_key_values, use_cache):
            seen.append([(layer.keys, layer.values) for layer in past_key_values.layers])
            past_key_values.layers[0].keys = "longer"

        with mock.patch.dict(sys.modules, {"transformers": transformers}):
            call = gpu_frameworks.call_of("llama_160m_decode_p512", module, ["token", "k0", "v0", "k1", "v1"])
            call()
            call()
        self.assertEqual(seen, [[("k0", "v0"), ("k1", "v1")]] * 2)

    def test_attention_whose_heads_share_keys_counts_those_of_the_queries(self):
        # 12 heads of 64 over 513 keys: 2 products of 12 * 513 * 64 multiply-adds, 2 FLOPs each.
        self.assertEqual(gpu_frameworks.attention_flops((1, 12, 1, 64), (1, 4, 513, 64), (1, 4, 513, 64)), 4 * 12 * 513 * 64)

    def test_every_model_of_the_leases_has_a_module_and_a_file(self):
        self.assertEqual(set(leases.MODELS), set(gpu_frameworks.MODELS))
        for model in leases.MODELS:
            self.assertTrue((ROOT / "examples" / "models" / "modern" / f"{model}.onnx").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
