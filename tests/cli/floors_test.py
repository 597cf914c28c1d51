#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model floor of small models against the least time that can be counted by hand: floors_test.py PROGRAM

The machine is declared: 1 TFLOP/s in each type and 100 GB/s, and nothing on the chip. A model takes at least the larger of its operations / 1e12 and of the
bytes that it reads and writes / 1e11 seconds. A multiply-add is two operations; floats have 4 bytes, indices 8. tests/floors has more such models.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from onnx_file import BOOL, F16, F32, I4, I8, I32, I64, U8, graph, model, node, tensor, value

PROGRAM = sys.argv[1]
MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models"
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
FLOPS_PER_S, BYTES_PER_S = 1e12, 1e11
TYPES = ("f32", "f64", "f16", "bf16", "i8", "i4")
SOURCE = {"source": "round numbers"}
MACHINE = {
    "schema": 1,
    "device": "round numbers",
    "peaks": {name: {"flops_per_s": FLOPS_PER_S} | SOURCE for name in TYPES},
    "memory": {"bytes": 1 << 34, "bytes_per_s": BYTES_PER_S} | SOURCE,
}


def one_row(weights, result, body, opset=21):
    """x, one row of 512 floats, by weights of 512 x 256: y."""
    return model(graph("g", body + weights + node("MatMul", ["x", result], "y"), [value("x", F32, [1, 512])], [value("y", F32, [1, 256])]), opset)


def microsoft(op_type, inputs, *outputs, **attributes):
    return node(op_type, inputs, *outputs, domain="com.microsoft", **attributes)


class Floors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.machine = self.at / "machine.json"
        self.machine.write_text(json.dumps(MACHINE))

    def bound(self, file):
        model_file = self.at / "m.onnx"
        model_file.write_bytes(file)
        told = subprocess.run([PROGRAM, "bound", model_file, "--machine", self.machine, "--quiet", "--json", "-"], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        (found,) = json.loads(told.stdout)["models"]
        return found

    def check(self, file, flops, bytes_moved, any_algorithm=1):
        """That the floor of direct algorithms, which `flops` counts, is not above the least, nor far below it, and that nothing of the model is unknown."""
        found = self.bound(file)
        least = max(flops / FLOPS_PER_S, bytes_moved / BYTES_PER_S)
        floor, direct = (found["bounds_ms"][name] / 1e3 for name in ("model_floor", "direct_floor"))
        self.assertLessEqual(floor, direct)
        self.assertGreaterEqual(floor, any_algorithm * direct * (1 - 1e-9))
        self.assertLessEqual(direct, least * (1 + 1e-9))
        self.assertGreaterEqual(direct, 0.9 * least)
        self.assertFalse(found["partial"], found["missing"])
        return found

    def test_convolutions_count_by_any_algorithm(self):
        # Published counts of multiply-adds are 4.09e9 and 15.47e9 (tests/unit/op_window_test.cpp). Zeros around the images take off 7.91 / 8.18 of them. Each
        # 3x3 convolution of stride 1 needs one product for each output instead of nine.
        self.machine.write_text(json.dumps(MACHINE | {"memory": {"bytes": 1 << 34, "bytes_per_s": 1e18} | SOURCE}))
        for name, least, direct in (("modern/resnet50.onnx", 4.92e9, 7.91e9), ("zoo2019/VGG16.onnx", 3.68e9, 29.97e9)):
            bounds = self.bound((MODELS / name).read_bytes())["bounds_ms"]
            self.assertAlmostEqual(bounds["model_floor"] / 1e3 * FLOPS_PER_S / least, 1, delta=0.005)
            self.assertAlmostEqual(bounds["direct_floor"] / 1e3 * FLOPS_PER_S / direct, 1, delta=0.005)

    def test_weights_of_f16_behind_a_cast_have_two_bytes(self):
        # 512 x 256 weights; one row of x, 512 floats, and of y, 256.
        file = one_row(tensor("w", F16, [512, 256]), "v", node("Cast", ["w"], "v", to=F32))
        self.check(file, 2 * 512 * 256, 4 * 512 + 2 * 512 * 256 + 4 * 256)

    def test_weights_of_i8_behind_a_dequantization_have_one_byte(self):
        # A scale of 4 bytes and a zero point of one byte for each of 256 columns.
        weights = tensor("w", I8, [512, 256]) + tensor("s", F32, [256]) + tensor("z", I8, [256])
        file = one_row(weights, "v", node("DequantizeLinear", ["w", "s", "z"], "v", axis=1))
        self.check(file, 2 * 512 * 256, 4 * 512 + 512 * 256 + 5 * 256 + 4 * 256)

    def test_weights_of_i4_in_blocks_have_half_a_byte(self):
        # A scale of 4 bytes for each block of 32 rows of a column: 16 x 256.
        weights = tensor("w", I4, [512, 256]) + tensor("s", F32, [16, 256])
        file = one_row(weights, "v", node("DequantizeLinear", ["w", "s"], "v", axis=0, block_size=32))
        self.check(file, 2 * 512 * 256, 4 * 512 + 512 * 256 / 2 + 4 * 16 * 256 + 4 * 256)

    def test_of_256_tokens_the_logits_of_the_last_are_needed(self):
        # One row of x, 64 floats, by 64 x 1000; the program has the index. All 256 rows would take 12.6 times as long.
        body = tensor("i", I64, [1], [255]) + node("MatMul", ["x", "w"], "h") + node("Gather", ["h", "i"], "y", axis=0)
        file = model(graph("g", body, [value("x", F32, [256, 64]), value("w", F32, [64, 1000])], [value("y", F32, [1, 1000])]))
        self.check(file, 2 * 64 * 1000, 4 * (64 + 64 * 1000 + 1000))

    def test_of_197_tokens_the_first_is_needed(self):
        # One row each of two products, 32 x 48 and 48 x 16.
        body = (tensor("from", I64, [1], [0]) + tensor("to", I64, [1], [1]) + tensor("axis", I64, [1], [1]) + node("MatMul", ["x", "a"], "h")
                + node("MatMul", ["h", "b"], "g") + node("Slice", ["g", "from", "to", "axis"], "y"))
        inputs = [value("x", F32, [1, 197, 32]), value("a", F32, [32, 48]), value("b", F32, [48, 16])]
        file = model(graph("g", body, inputs, [value("y", F32, [1, 1, 16])]))
        self.check(file, 2 * (32 * 48 + 48 * 16), 4 * (32 + 32 * 48 + 48 * 16 + 16))

    def test_causal_attention_computes_the_pairs_that_are_seen(self):
        # 2,048 tokens of one head of depth 64. A token sees itself and those before it: 1 + 2 + ... + 2048 pairs. A pair takes 2 (64 + 64) operations of two
        # products and 6 of scale and softmax: scale, maximum, difference, exponential, sum, quotient. q, k, v and y have 2048 x 64 floats.
        names = [value(name, F32, [1, 1, 2048, 64]) for name in ("q", "k", "v", "y")]
        file = model(graph("g", node("Attention", ["q", "k", "v"], "y", is_causal=1), names[:3], names[3:]), opset=23)
        self.check(file, 2048 * 2049 / 2 * (2 * (64 + 64) + 6), 4 * 4 * 2048 * 64)

    def test_an_update_in_place_moves_what_it_writes(self):
        # One row of 64 floats, read and written, and its place; a copy of the cache, 4096 x 64, would take 4,000 times as long.
        inputs = [value("c", F32, [4096, 64]), value("p", I64, [1, 1]), value("r", F32, [1, 64])]
        file = model(graph("g", node("ScatterND", ["c", "p", "r"], "y"), inputs, [value("y", F32, [4096, 64])]))
        self.check(file, 0, 4 * 64 + 8 + 4 * 64)

    def test_what_does_not_change_in_a_loop_is_computed_once(self):
        # 50 passes of h = h + c w with h and c of 256 x 64 and w of 64 x 64: one product and 50 sums. 50 products would take 36 times as long.
        passes = (node("Identity", ["go"], "on") + node("MatMul", ["c", "w"], "p") + node("Add", ["h", "p"], "h2"))
        inside = graph("b", passes, [value("i", I64), value("go", BOOL), value("h", F32, [256, 64])], [value("on", BOOL), value("h2", F32, [256, 64])])
        body = tensor("n", I64, [], [50]) + tensor("w", F32, [64, 64]) + node("Loop", ["n", "", "x"], "y", body=inside)
        file = model(graph("g", body, [value("x", F32, [256, 64]), value("c", F32, [256, 64])], [value("y", F32, [256, 64])]))
        self.check(file, 2 * 256 * 64 * 64 + 50 * 256 * 64, 4 * (2 * 256 * 64 + 64 * 64 + 256 * 64))

    def test_zeros_around_an_image_are_not_multiplied(self):
        # 3 taps at 8 places with a zero at each end: 6 x 3 + 2 x 2 = 22 along each axis, instead of 24: 1.19 in all. 16 channels to 32.
        body = (tensor("p", I64, [8], [0, 0, 1, 1, 0, 0, 1, 1]) + tensor("w", F32, [32, 16, 3, 3]) + node("Pad", ["x", "p"], "v")
                + node("Conv", ["v", "w"], "y"))
        file = model(graph("g", body, [value("x", F32, [1, 16, 8, 8])], [value("y", F32, [1, 32, 8, 8])]))
        self.check(file, 2 * 32 * 16 * 22 * 22, 4 * (16 * 64 + 32 * 16 * 9 + 32 * 64), any_algorithm=8 * 8 / (22 * 22))

    def test_rows_of_an_embedding_may_be_one(self):
        # 512 indices, the row of 64 floats that all of them may name, and 512 rows of the result.
        body = tensor("w", F32, [1000, 64]) + node("Gather", ["w", "i"], "y", axis=0)
        file = model(graph("g", body, [value("i", I64, [512])], [value("y", F32, [512, 64])]))
        self.check(file, 0, 8 * 512 + 4 * 64 + 4 * 512 * 64)

    def test_nodes_of_com_microsoft_have_arithmetic(self):
        # In each of them it takes longer than the bytes, so that the floor shows it.
        # Attention: 128 tokens of 64 floats by 64 x 192 and a bias; 4 heads of depth 16, 128 x 128 pairs of 2 (16 + 16) + 6 operations.
        body = tensor("w", F32, [64, 192]) + tensor("b", F32, [192]) + microsoft("Attention", ["x", "w", "b"], "y", num_heads=4)
        file = model(graph("g", body, [value("x", F32, [1, 128, 64])], [value("y", F32, [1, 128, 64])]))
        flops = 2 * 128 * 64 * 192 + 128 * 192 + 128 * 128 * 4 * (2 * (16 + 16) + 6)
        self.check(file, flops, 4 * (128 * 64 + 64 * 192 + 192 + 128 * 64))
        # FusedMatMul: 512 x 256 by 256 x 512, the first one transposed.
        body = microsoft("FusedMatMul", ["x", "w"], "y", transA=1)
        file = model(graph("g", body, [value("x", F32, [256, 512]), value("w", F32, [256, 512])], [value("y", F32, [512, 512])]))
        self.check(file, 2 * 512 * 256 * 512, 4 * (2 * 256 * 512 + 512 * 512))
        # MatMulNBits: 128 x 256 by 256 x 512 weights of half a byte, with a scale for each of 8 blocks of 32 of a column.
        body = (tensor("w", U8, [512, 8, 16]) + tensor("s", F32, [512 * 8])
                + microsoft("MatMulNBits", ["x", "w", "s"], "y", K=256, N=512, bits=4, block_size=32))
        file = model(graph("g", body, [value("x", F32, [1, 128, 256])], [value("y", F32, [1, 128, 512])]))
        self.check(file, 2 * 128 * 256 * 512, 4 * 128 * 256 + 256 * 512 / 2 + 4 * 8 * 512 + 4 * 128 * 512)
        # GroupQueryAttention: one token behind 1,023 in a cache, 64 heads of depth 64 that share keys and values: 1,024 pairs of a head. Read are 64 queries,
        # a key, a value, two caches and two i32; the new caches hold inputs as they are.
        row = 4 * 64
        body = microsoft("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "l", "t"], "y", "a", "b", num_heads=64, kv_num_heads=1)
        inputs = [value("q", F32, [1, 1, 4096]), value("k", F32, [1, 1, 64]), value("v", F32, [1, 1, 64]), value("pk", F32, [1, 1, 1023, 64]),
                  value("pv", F32, [1, 1, 1023, 64]), value("l", I32, [1]), value("t", I32)]
        outputs = [value("y", F32, [1, 1, 4096]), value("a", F32, [1, 1, 1024, 64]), value("b", F32, [1, 1, 1024, 64])]
        self.check(model(graph("g", body, inputs, outputs)), 64 * 1024 * (2 * (64 + 64) + 6), 64 * row + 2 * row + 2 * 1023 * row + 2 * 4 + 64 * row)

    def test_the_sums_of_a_product_start_with_its_bias(self):
        # 30 layers of 4 x 4 weights for 65,536 rows. A sum of each would take 1.13 times as long.
        body, last = b"", "x"
        for layer in map(str, range(30)):
            body += tensor("w" + layer, F32, [4, 4]) + tensor("b" + layer, F32, [4]) + node("Gemm", [last, "w" + layer, "b" + layer], "y" + layer)
            last = "y" + layer
        file = model(graph("g", body, [value("x", F32, [65536, 4])], [value(last, F32, [65536, 4])]))
        self.check(file, 30 * 2 * 65536 * 16, 4 * (2 * 65536 * 4 + 30 * 20))

    def test_a_comparison_with_a_range_picks_rows(self):
        # 128 rows of 256 floats, whose indices a request has; all may be the same row, or outside of the table of 4096.
        body = (tensor("r", I64, [4096], range(4096)) + tensor("w", F32, [4096, 256]) + node("Equal", ["i", "r"], "e") + node("Cast", ["e"], "h", to=F32)
                + node("MatMul", ["h", "w"], "y"))
        self.check(model(graph("g", body, [value("i", I64, [128, 1])], [value("y", F32, [128, 256])])), 0, 8 * 128 + 4 * 128 * 256)

    def test_a_choice_by_position_changes_one_row_in_place(self):
        # One row of 1024 floats, read and written, and its position; a copy of the cache, 4096 x 1024, would take 2,000 times as long.
        body = tensor("r", I64, [4096, 1], range(4096)) + node("Equal", ["r", "p"], "e") + node("Where", ["e", "n", "c"], "y")
        inputs = [value("c", F32, [4096, 1024]), value("n", F32, [1, 1024]), value("p", I64, [1, 1])]
        self.check(model(graph("g", body, inputs, [value("y", F32, [4096, 1024])])), 0, 4 * 1024 + 8 + 4 * 1024)

    def test_a_model_names_what_its_floor_may_count_too_much(self):
        # 512 x 512 by 512 x 256 weights without a function in between are 512 x 256, for 64 rows.
        body = (tensor("a", F32, [512, 512]) + tensor("b", F32, [512, 256]) + node("MatMul", ["x", "a"], "p") + node("MatMul", ["p", "b"], "y"))
        file = model(graph("g", body, [value("x", F32, [64, 512])], [value("y", F32, [64, 256])]))
        (found,) = self.bound(file)["floor_exceptions"]
        self.assertEqual(found["flops"], 2 * 64 * 512 * 512)
        self.assertEqual(found["bytes"], 0)
        self.assertIn("can be multiplied in advance", found["kind"])
        table = subprocess.run([PROGRAM, "bound", self.at / "m.onnx", "--machine", self.machine, "--quiet"], capture_output=True, text=True, timeout=600, check=False)
        self.assertIn(f"floor at most 33.6 MFLOP too high at '{found['node']}':", " ".join(table.stdout.split()))
        # A function in between: nothing is named.
        body = body.replace(node("MatMul", ["p", "b"], "y"), node("Relu", ["p"], "q") + node("MatMul", ["q", "b"], "y"))
        file = model(graph("g", body, [value("x", F32, [64, 512])], [value("y", F32, [64, 256])]))
        self.assertNotIn("floor_exceptions", self.bound(file))

    def test_files(self):
        # expected.json has the least work of any correct implementation with direct algorithms, or the multiply-adds, and how they were counted. A bound
        # that is partial is a bound nevertheless.
        for file in sorted([*DATA.glob("floors/*.onnx"), *DATA.glob("loops/*.onnx")]):
            expected = json.loads((file.parent / "expected.json").read_text())[file.stem]
            with self.subTest(file.stem):
                if "macs" in expected:
                    told = subprocess.run([PROGRAM, "layers", file, "--json", "-"], capture_output=True, text=True, timeout=600, check=True)
                    (found,) = json.loads(told.stdout)["models"]
                    self.assertEqual(found["macs"], expected["macs"])
                else:
                    found = self.bound(file.read_bytes())
                    least = max(expected["flops"] / FLOPS_PER_S, expected["bytes"] / BYTES_PER_S)
                    floor, direct = (found["bounds_ms"][name] / 1e3 for name in ("model_floor", "direct_floor"))
                    convolves = file.stem in ("atrous_space_to_batch", "sparse_convolution")  # by any algorithm: at least their bytes
                    self.assertLessEqual(floor, direct)
                    self.assertGreaterEqual(floor, 0.5 * (expected["bytes"] / BYTES_PER_S if convolves else direct))
                    self.assertLessEqual(direct, least * (1 + 1e-9))
                    self.assertGreaterEqual(direct, 0.5 * least)
                self.assertEqual(found["partial"], file.stem == "gqa_shared_buffer")

    def test_passes_that_wait_for_each_other_read_their_weights_again(self):
        # h = relu(h v) w, 50 times: 50 readings of two matrices of 256 x 256. What does not wait, x u, takes one reading.
        passes = (node("Identity", ["go"], "on") + node("MatMul", ["h", "v"], "p") + node("Relu", ["p"], "r") + node("MatMul", ["r", "w"], "q")
                  + node("MatMul", ["x", "u"], "s") + node("Add", ["q", "s"], "h2"))
        inside = graph("b", passes, [value("i", I64), value("go", BOOL), value("h", F32, [1, 256])], [value("on", BOOL), value("h2", F32, [1, 256])])
        weights = b"".join(tensor(name, F32, [256, 256]) for name in "uvw")
        body = tensor("n", I64, [], [50]) + weights + node("Loop", ["n", "", "x"], "y", body=inside)
        file = model(graph("g", body, [value("x", F32, [1, 256])], [value("y", F32, [1, 256])]))
        self.check(file, 101 * 2 * 256 * 256 + 100 * 256, 4 * (101 * 256 * 256 + 2 * 256))
        # Caches of the size of u may hold u or y, and one of the two matrices that the passes read.
        caches = 4 * 256 * 256
        self.machine.write_text(json.dumps(MACHINE | {"on_chip": {"L2": {"bytes": caches} | SOURCE}}))
        self.check(file, 0, 4 * (3 * 256 * 256 + 256) - caches + 49 * (2 * caches - caches))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
