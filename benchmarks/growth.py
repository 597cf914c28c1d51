#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How processor time grows with the number of nodes, for graphs of several shapes.

  benchmarks/growth.py [--program PATH] [--nodes N] [--shape NAME...] [--command NAME...]
  benchmarks/growth.py --nodes 8000 --at-most 1.6        fails if time grows faster than nodes to the power of 1.6

Each command reads a graph of N / 4 nodes and one of N nodes. Prints, for the large one, seconds of processor time (all threads), megabytes and kilobytes
per node; and the exponent of growth between the two (1: linear, 2: quadratic), from processor time without what a graph of a few nodes takes. Other programs
slow a processor down, so a test measures an exponent that is too large again, up to five times.
"""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from onnx_file import BOOL, F32, I64, file_of, function, graph, node, tensor, value, wire  # noqa: E402

SIZE = 8  # of square matrices: weights, inputs and results
FEW = 64  # nodes of a graph that costs little more than the start of a program
STEP = 4  # between the two graphs
TRIES = 5
LEAST_SECONDS = 0.05  # less than this tells nothing about growth


def matrix(name):
    return value(name, F32, [SIZE, SIZE])


def weights(count):
    return [tensor(f"w{i}", F32, [SIZE, SIZE]) for i in range(count)]


def file(parts, outputs):
    """A model of these nodes and tensors with the input x. Outputs without a description are matrices."""
    return file_of(b"".join(parts), [matrix("x")], [matrix(each) if isinstance(each, str) else each for each in outputs])


def chain(count):
    """Products with weights of their own, and a Relu after each."""
    parts, last = weights(count // 2), "x"
    for i in range(count // 2):
        parts += [node("MatMul", [last, f"w{i}"], f"p{i}"), node("Relu", [f"p{i}"], f"r{i}")]
        last = f"r{i}"
    return file(parts, [last])


def elementwise(count):
    """Element-wise functions, one after the other."""
    names = ["x"] + [f"y{i}" for i in range(count)]
    return file([node(("Sigmoid", "Tanh")[i % 2], [names[i]], names[i + 1]) for i in range(count)], [names[-1]])


def residual(count):
    """Sums of a tensor and a function of it."""
    parts, last = [], "x"
    for i in range(count // 2):
        parts += [node("Sigmoid", [last], f"f{i}"), node("Add", [last, f"f{i}"], f"s{i}")]
        last = f"s{i}"
    return file(parts, [last])


def wide(count):
    """Branches of one input, added up in pairs."""
    parts = weights(count // 2) + [node("Mul", ["x", f"w{i}"], f"b{i}") for i in range(count // 2)]
    level = [f"b{i}" for i in range(count // 2)]
    while len(level) > 1:
        sums = [f"{a}+" for a in level[:-1:2]]
        parts += [node("Add", [a, b], s) for a, b, s in zip(level[::2], level[1::2], sums)]
        level = sums + (level[-1:] if len(level) % 2 else [])
    return file(parts, level)


def fan_in(count):
    """One Concat of functions of one input."""
    names = [f"b{i}" for i in range(count - 1)]
    parts = weights(count - 1) + [node("Mul", ["x", f"w{i}"], name) for i, name in enumerate(names)]
    return file(parts + [node("Concat", names, "y", axis=0)], [value("y", F32, [SIZE * (count - 1), SIZE])])


def products(count):
    """Products of one input, each an output."""
    return file(weights(count) + [node("MatMul", ["x", f"w{i}"], f"y{i}") for i in range(count)], [f"y{i}" for i in range(count)])


def merged_products(count):
    """Products of one input, each with a reader that can read it from a merged product."""
    parts = weights(count // 2) + [node("MatMul", ["x", f"w{i}"], f"p{i}") for i in range(count // 2)]
    return file(parts + [node("Softmax", [f"p{i}"], f"y{i}") for i in range(count // 2)], [f"y{i}" for i in range(count // 2)])


def joined_products(count):
    """One Concat of products of one input."""
    names = [f"b{i}" for i in range(count - 1)]
    parts = weights(count - 1) + [node("MatMul", ["x", f"w{i}"], name) for i, name in enumerate(names)]
    return file(parts + [node("Concat", names, "y", axis=0)], [value("y", F32, [SIZE * (count - 1), SIZE])])


def attributes(count):
    """Functions of one input that differ only in an attribute."""
    return file([node("Elu", ["x"], f"y{i}", alpha=1.0 + i) for i in range(count)], [f"y{i}" for i in range(count)])


def outputs(count):
    """A Split with many results, and a function of each."""
    rows = [f"r{i}" for i in range(count - 1)]
    parts = [tensor("w", F32, [SIZE * (count - 1), SIZE]), tensor("parts", I64, [count - 1], [SIZE] * (count - 1)), node("Gemm", ["w", "x"], "all")]
    parts += [node("Split", ["all", "parts"], *rows, axis=0)] + [node("Sigmoid", [row], f"y{i}") for i, row in enumerate(rows)]
    return file(parts, [f"y{i}" for i in range(count - 1)])


def functions(count):
    """Calls of functions that call functions: each of five calls the one before it twice."""
    def call(level, a, b):
        return node(f"f{level}", [a], b, domain="own", field=7)

    made = function("f0", ["a"], ["b"], node("Sigmoid", ["a"], "m", field=7) + node("Tanh", ["m"], "b", field=7), "own")
    for level in range(1, 5):
        made += function(f"f{level}", ["a"], ["b"], call(level - 1, "a", "m") + call(level - 1, "m", "b"), "own")
    names = ["x"] + [f"y{i}" for i in range(count // 32)]
    calls = [node("f4", [names[i]], names[i + 1], domain="own") for i in range(count // 32)]
    return file(calls, [names[-1]]) + wire(8, wire(1, "own") + wire(2, 1)) + made


def loop(count):
    """A loop whose body reads many tensors from around it."""
    parts = weights(count // 2) + [node("Mul", ["x", f"w{i}"], f"o{i}") for i in range(count // 2)]
    body, last = node("Identity", ["go"], "go_on"), "state"
    for i in range(count // 2):
        body += node("Add", [last, f"o{i}"], f"s{i}")
        last = f"s{i}"
    pass_inputs = [value("pass", I64), value("go", BOOL), matrix("state")]
    parts += [tensor("trips", I64, [], [3]), node("Loop", ["trips", "", "x"], "y", body=graph("body", body, pass_inputs, [value("go_on", BOOL), matrix(last)]))]
    return file(parts, ["y"])


SHAPES = {make.__name__: make for make in [chain, elementwise, residual, wide, fan_in, products, merged_products, joined_products, attributes, outputs,
                                           functions, loop]}


def commands(machine):
    """Arguments behind the path of a model. A shape that a command refuses is left out."""
    bound = ["bound", "--machine", machine]
    return {"layers": ["layers"], "bound": bound, "generate": ["generate", "-o", os.devnull], "memory": ["memory", "--capacity", "1000TB"]}


def used(program, arguments, path):
    """Processor seconds and megabytes of a run of the program, or the last line of its error."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program, *arguments, path], stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{pathlib.Path(path).stem}: {' '.join(arguments)}: exit code {process.returncode}: {errors.read().decode().strip()[-300:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def measure(program, arguments, files, at_most):
    """Seconds and megabytes of the largest of three files, and the exponent of growth between the last two, if they take long enough to tell."""
    for _ in range(TRIES if at_most else 1):
        (start, _), (less, _), (more, megabytes) = (used(program, arguments, path) for path in files)
        exponent = math.log(max(more - start, LEAST_SECONDS) / max(less - start, LEAST_SECONDS), STEP)
        if not at_most or exponent <= at_most:
            break
    return more, megabytes, exponent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build" / "release" / "benanza")
    parser.add_argument("--nodes", type=int, default=200_000, help="of the larger graph (default: 200000)")
    parser.add_argument("--shape", action="append", choices=SHAPES, help="default: all")
    parser.add_argument("--command", action="append", choices=list(commands("")), help="default: all")
    parser.add_argument("--at-most", type=float, metavar="EXPONENT")
    options = parser.parse_args()
    too_fast = []
    print(f"{'shape':18}{'command':10}{'seconds':>9}{'MB':>7}{'kB/node':>9}{'exponent':>10}")
    for name in options.shape or SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, f"{name}{count}.onnx") for count in (FEW, options.nodes // STEP, options.nodes)]
            for path, count in zip(files, (FEW, options.nodes // STEP, options.nodes)):
                pathlib.Path(path).write_bytes(SHAPES[name](count))
            for command, arguments in commands(str(ROOT / "examples" / "machines" / "t4.json")).items():
                if options.command and command not in options.command:
                    continue
                seconds, megabytes, exponent = measure(options.program, arguments, files, options.at_most)
                print(f"{name:18}{command:10}{seconds:9.2f}{megabytes:7.0f}{megabytes * 1e3 / options.nodes:9.2f}{exponent:10.2f}", flush=True)
                if options.at_most and exponent > options.at_most:
                    too_fast.append(f"{name}, {command}: {exponent:.2f}")
    if too_fast:
        sys.exit(f"processor time grows faster than nodes to the power of {options.at_most}: " + "; ".join(too_fast))


if __name__ == "__main__":
    main()
