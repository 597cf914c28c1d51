#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network with the Attention operator of ONNX, causal: tests/data/training/causal.onnx and causal.txt.

  tests/data/training_causal.py        written with numpy 2.4.6 and onnx 1.23.2

The loss is computed by NumPy in long double, its gradients by central differences, and the updated weights by a step of SGD.
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).parent / "training"
BATCH, HEADS, TOKENS, DEPTH, CLASSES = 2, 2, 5, 3, 4
RATE = 0.001  # op::OptimizerStep


def forward(x, weights, target):
    q, k, v = (x @ weights[name] for name in ("wq", "wk", "wv"))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(np.longdouble(DEPTH))
    scores = np.where(np.tri(TOKENS, dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    y = (shares / shares.sum(-1, keepdims=True)) @ v @ weights["wo"]
    return np.mean((y - target) ** 2)


def line(what, name, numbers):
    return " ".join([what, *([name] if name else []), *(f"{number:.9g}" for number in np.ravel(numbers))])


def main():
    random = np.random.default_rng(3)
    shapes = {"wq": (DEPTH, DEPTH), "wk": (DEPTH, DEPTH), "wv": (DEPTH, DEPTH), "wo": (DEPTH, CLASSES)}
    stored = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    x = random.normal(size=(BATCH, HEADS, TOKENS, DEPTH)).astype(np.float32)
    target = random.normal(size=(BATCH, HEADS, TOKENS, CLASSES)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", w], [name]) for w, name in (("wq", "q"), ("wk", "k"), ("wv", "v"))]
    nodes += [helper.make_node("Attention", ["q", "k", "v"], ["o"], is_causal=1), helper.make_node("MatMul", ["o", "wo"], ["y"])]
    graph = helper.make_graph(
        nodes, "causal",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, target.shape)],
        [onnx.numpy_helper.from_array(numbers, name) for name, numbers in stored.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, FOLDER / "causal.onnx")

    weights = {name: numbers.astype(np.longdouble) for name, numbers in stored.items()}
    lines = [line("loss", "mse", [forward(x.astype(np.longdouble), weights, target)]), line("input", "x", x), line("target", "", target)]
    step = np.longdouble(1e-5)
    for name, numbers in weights.items():
        gradient = np.zeros_like(numbers)
        for at in np.ndindex(numbers.shape):
            given = numbers[at]
            losses = []
            for numbers[at] in (given + step, given - step):
                losses.append(forward(x.astype(np.longdouble), weights, target))
            numbers[at] = given
            gradient[at] = (losses[0] - losses[1]) / (2 * step)
        lines += [line("gradient", name, gradient), line("updated", name, numbers - RATE * gradient)]
    (FOLDER / "causal.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
