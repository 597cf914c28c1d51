#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs of element-wise layers and reductions over rows that compilers turn into one loop: `library fused` against what others take.

  benchmarks/engines/pointwise.py [--threads 1,2] [--only REGEX]

Needs a Python with torch, onnx, onnxruntime and openvino (versions in compare.py and gap.py), and a C compiler. Each graph of GRAPHS has three sizes:
tiny, in the second-level cache, and in memory. Its rivals are `torch.compile` (Inductor's C++ backend), OpenVINO, ONNX Runtime, and a loop in C at
-O3 -march=native -ffast-math with OpenMP. All of them, and the bound, run turn by turn; the better of the 10th percentiles counts. Memory of engines
stays allocated between calls. Run it on an otherwise idle machine.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import compare
import layers

SIZES = {"tiny": (16, 64), "cache": (256, 512), "memory": (4096, 4096)}  # rows, elements of a row
TURNS = 2
SECONDS = 0.2
# Inputs x, z have all elements, r one for each row, v and u one for each element of a row. For each graph: its inputs, constants, nodes, results,
# a function of torch, and the loop over a row `i` in C, in which X, Z, R, V and U are the elements and S the row's second result.
GRAPHS = {
    "polynomial": ("x", "float a = {0.3}, float b = {0.7}",
                   "t = Mul(x, a) p = Add(t, b) q = Mul(p, x) s = Add(q, a) m = Mul(s, x) n = Add(m, b) o = Mul(n, p) y = Add(o, x)", "y",
                   lambda x: ((((x * 0.3 + 0.7) * x + 0.3) * x + 0.7) * (x * 0.3 + 0.7)) + x,
                   "for (j) { float p = X * 0.3f + 0.7f; Y = ((p * X + 0.3f) * X + 0.7f) * p + X; }"),
    "softmax": ("x", "int64[1] axis = {1}", "m = ReduceMax(x, axis) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, axis) y = Div(e, s)", "y",
                lambda x: (lambda e: e / e.sum(1, True))((x - x.amax(1, True)).exp()),
                "float m = -1e30f, s = 0; for (j) m = X > m ? X : m; for (j) s += Y = expf(X - m); for (j) Y /= s;"),
    "snake": ("x, r", "", "t = Mul(x, r) s = Sin(t) q = Mul(s, s) d = Div(q, r) y = Add(x, d)", "y",
              lambda x, r: x + (x * r).sin() ** 2 / r, "for (j) { float s = sinf(X * R); Y = X + s * s / R; }"),
    "length": ("x", "int64[1] axis = {1}", "n = ReduceL2(x, axis) y = Div(x, n)", "y",
               lambda x: x / x.norm(dim=1, keepdim=True), "float s = 0; for (j) s += X * X; s = sqrtf(s); for (j) Y = X / s;"),
    "gate": ("x, z", "", "t = Tanh(x) s = Sigmoid(z) y = Mul(t, s)", "y",
             lambda x, z: x.tanh() * z.sigmoid(), "for (j) Y = tanhf(X) / (1 + expf(-Z));"),
    "modulated norm": ("x, v, u", "float one = {1}, float epsilon = {0.00001}, int64[1] axis = {1}",
                       "m = ReduceMean(x, axis) c = Sub(x, m) q = Mul(c, c) w = ReduceMean(q, axis) e = Add(w, epsilon) s = Sqrt(e) n = Div(c, s) "
                       "f = Add(v, one) t = Mul(n, f) y = Add(t, u)", "y",
                       lambda x, v, u: (lambda c: c / ((c * c).mean(1, True) + 1e-5).sqrt() * (v + 1) + u)(x - x.mean(1, True)),
                       "float m = 0, w = 0; for (j) m += X; m /= L; for (j) w += (X - m) * (X - m); w = 1 / sqrtf(w / L + 1e-5f); "
                       "for (j) Y = (X - m) * w * (V + 1) + U;"),
    "two results": ("x, z", "", "s = Add(x, z) q = Sigmoid(s) y = Mul(q, x)", "y, s",
                    lambda x, z: ((x + z).sigmoid() * x, x + z), "for (j) { float s = X + Z; S = s; Y = X / (1 + expf(-s)); }"),
    "mean square": ("x, z", "", "d = Sub(x, z) q = Mul(d, d) y = ReduceMean<keepdims = 0>(q)", "y",
                    lambda x, z: ((x - z) ** 2).mean(), None),
    "softmax gradient": ("x, z", "int64[1] axis = {1}", "p = Mul(x, z) s = ReduceSum(p, axis) d = Sub(z, s) y = Mul(x, d)", "y",
                         lambda x, z: x * (z - (x * z).sum(1, True)), "float s = 0; for (j) s += X * Z; for (j) Y = X * (Z - s);"),
    "choice": ("x, z, v", "float one = {1}", "g = Greater(x, v) e = Erf(x) o = Add(e, one) p = Mul(x, o) y = Where(g, p, z)", "y",
               None, "for (j) Y = X > V ? X * (1 + erff(X)) : Z;"),
    "norm and tanh": ("x, z, v", "float epsilon = {0.000001}, int64[1] axis = {1}",
                      "s = Add(x, z) q = Mul(s, s) m = ReduceMean(q, axis) e = Add(m, epsilon) r = Sqrt(e) n = Div(s, r) t = Mul(n, v) y = Tanh(t)", "y",
                      lambda x, z, v: (lambda s: (s / ((s * s).mean(1, True) + 1e-6).sqrt() * v).tanh())(x + z),
                      "float q = 0; for (j) q += (X + Z) * (X + Z); q = 1 / sqrtf(q / L + 1e-6f); for (j) Y = tanhf((X + Z) * q * V);"),
    "sum of exponentials": ("x, z", "int64[1] axis = {1}", "e = Exp(x) p = Mul(e, z) s = ReduceSum(p, axis) y = Log(s)", "y",
                            lambda x, z: ((x.exp() * z).sum(1, True)).log(), "float s = 0; for (j) s += expf(X) * Z; y[i] = logf(s);"),
}
RIVALS = ["torch", "openvino", "onnxruntime", "c"]


def shapes_of(rows, row):
    return {"x": (rows, row), "z": (rows, row), "r": (rows, 1), "v": (1, row), "u": (1, row)}


def model_of(graph, rows, row):
    import onnx

    inputs, constants, nodes, results = graph[:4]
    shapes = shapes_of(rows, row)
    header = ", ".join(f"float[{shapes[name][0]}, {shapes[name][1]}] {name}" for name in inputs.split(", "))
    outputs = ", ".join(f"float {name}" for name in results.split(", "))
    text = f'<ir_version: 8, opset_import: ["" : 18]> g ({header}) => ({outputs})' + (f" <{constants}>" if constants else "") + f" {{ {nodes} }}"
    model = onnx.parser.parse_model(text)
    names = [output.name for output in model.graph.output]
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return onnx.shape_inference.infer_shapes(model)


def data_of(graph, rows, row):
    import numpy

    random = numpy.random.default_rng(compare.SEED)
    return {name: random.uniform(0.5, 1.5, shapes_of(rows, row)[name]).astype(numpy.float32) for name in graph[0].split(", ")}


def torch_run(name, graph, rows, row, threads):
    import torch

    torch.set_num_threads(threads)
    choice = lambda x, z, v: torch.where(x > v, x * (x.erf() + 1), z)
    function, arguments = torch.compile(graph[4] or choice), [torch.from_numpy(array) for array in data_of(graph, rows, row).values()]

    def run():
        with torch.no_grad():
            return function(*arguments)
    return run


def c_run(name, graph, rows, row, threads):
    import numpy

    if graph[5] is None:  # one sum over all rows
        loop = "#pragma omp parallel for reduction(+ : sum)\n for (long i = 0; i < N; ++i) for (j) sum += (X - Z) * (X - Z); y[0] = sum / ((double)N * L);"
    else:
        loop = f"#pragma omp parallel for\n for (long i = 0; i < N; ++i) {{ {graph[5]} }}"
    places = {"X": "x[i * L + j]", "Z": "z[i * L + j]", "R": "r[i]", "V": "v[j]", "U": "u[j]", "Y": "y[i * L + j]", "S": "second[i * L + j]"}
    loop = re.sub(r"\b([XZRVUYS])\b", lambda found: places[found.group(1)], loop).replace("for (j)", "for (long j = 0; j < L; ++j)")
    source = f"""#include <math.h>
void f(const float* x, const float* z, const float* r, const float* v, const float* u, float* restrict y, float* restrict second, long N, long L) {{
  float sum = 0;
  {loop}
  (void)sum;
}}
"""
    folder = tempfile.mkdtemp()
    (pathlib.Path(folder) / "loop.c").write_text(source)
    subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC", "loop.c", "-o", "loop.so", "-lm"], cwd=folder, check=True)
    function = ctypes.CDLL(os.path.join(folder, "loop.so")).f
    data = data_of(graph, rows, row)
    results = [numpy.zeros((rows, row), numpy.float32) for _ in range(2)]
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p) if array is not None else None
    arguments = [pointer(data.get(key)) for key in "xzrvu"] + [pointer(array) for array in results] + [ctypes.c_long(rows), ctypes.c_long(row)]
    return lambda: function(*arguments)


def work(rival, only, threads, folder):
    """A process of one rival: prints the milliseconds of each graph."""
    for name, graph in GRAPHS.items():
        for size, (rows, row) in SIZES.items():
            label = f"{name}, {size}"
            if not re.search(only, label):
                continue
            path = str(pathlib.Path(folder) / f"{re.sub(r'[^a-z]+', '_', label)}.onnx")
            if rival == "torch":
                run = torch_run(name, graph, rows, row, threads)
            elif rival == "c":
                run = c_run(name, graph, rows, row, threads)
            else:
                run = layers.LOAD[rival](path, threads, data_of(graph, rows, row))
            print(json.dumps({"graph": label, "ms": layers.timed(run, SECONDS)}), flush=True)


def times_of(rival, arguments, threads, cpus, folder):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592"}
    command = [sys.executable, __file__, "--worker", rival, "--only", arguments.only, "--threads", str(threads), "--folder", folder]
    result = subprocess.run(["taskset", "-c", compare.text_of(cpus), *command], check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return {line["graph"]: line["ms"] for line in map(json.loads, result.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default: 1,2)")
    parser.add_argument("--only", default="", metavar="REGEX", help="graphs whose names match, such as 'softmax, memory'")
    parser.add_argument("--budget", type=float, default=2, help="seconds of rounds for each graph (default: 2)")
    parser.add_argument("--database", help="folder of results for `benanza bound`")
    parser.add_argument("--json", metavar="FILE", help="writes everything")
    parser.add_argument("--worker", choices=RIVALS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker, arguments.only, int(arguments.threads), arguments.folder)
    import onnx

    machine = compare.document_of(["machine"], arguments)["machine"]
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, graph in GRAPHS.items():
            for size, (rows, row) in SIZES.items():
                label = f"{name}, {size}"
                if re.search(arguments.only, label):
                    files[label] = str(pathlib.Path(folder) / f"{re.sub(r'[^a-z]+', '_', label)}.onnx")
                    onnx.save(model_of(graph, rows, row), files[label])
        for threads in map(int, arguments.threads.split(",")):
            cpus = compare.cpus_of(machine["affinity"])[:threads]
            best = {label: {} for label in files}
            for turn in range(TURNS):
                command = ["bound", *files.values(), "--threads", str(threads), "--rounds", "--budget", f"{arguments.budget * len(files):.0f}s"]
                document = compare.document_of(command, arguments)
                for label, model in zip(files, document["models"]):
                    best[label]["fused"] = min(model["bounds_ms"]["library_fused"] or 1e9, best[label].get("fused", 1e9))
                    best[label]["roofline"] = model["bounds_ms"]["roofline"]
                for rival in RIVALS:
                    for label, ms in times_of(rival, arguments, threads, cpus, folder).items():
                        best[label][rival] = min(ms, best[label].get(rival, 1e9))
            print(f"{machine['device']} {machine['isa']}, {threads} threads, {time.strftime('%Y-%m-%d')}; p10 in us")
            columns = ["roofline", "fused", *RIVALS]
            print(f"{'graph':30}" + "".join(f"{column:>12}" for column in columns) + f"{'fused/best':>12}")
            for label, row in best.items():
                ratio = row["fused"] / min(row[rival] for rival in RIVALS)
                print(f"{label:30}" + "".join(f"{row[column] * 1e3:12.1f}" for column in columns) + f"{ratio:12.2f}", flush=True)
                everything.append({"graph": label, "threads": threads, "ms": row, "ratio": ratio})
            if arguments.json:
                pathlib.Path(arguments.json).write_text(json.dumps({"machine": machine, "graphs": everything}, indent=1))


if __name__ == "__main__":
    main()
