#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single layers: the best plan of all libraries against ONNX Runtime and OpenVINO. Shows where the pool of libraries lacks a kernel.

  benchmarks/engines/layers.py [--threads 1,2] [--only REGEX]

Each line of LAYERS becomes a model with random weights. An engine's time is that of its runs, less those of a model that does nothing, and less the
changes of layout that its own profile tells of: inside a network it would keep the layout. Benanza's time is `library fused` of the same model: the best plan, or the best plans where a layer is written in several nodes. Engines
run twice, before and after the rounds of the bound; the better of both 10th percentiles counts. Run it on an otherwise idle machine.

Prints a line for each layer, the worst first, and writes all of it with --json.
"""
import argparse
import collections
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import compare

SILU = "s = Sigmoid(c) y = Mul(c, s)"
GELU = "d = Div(c, root) e = Erf(d) f = Add(e, one) g = Mul(c, f) y = Mul(g, half)"
GELU_CONSTANTS = "float root = {1.41421356}, float one = {1}, float half = {0.5}"
ATTENTION = "s = MatMul(q, k) t = Mul(s, scale) p = Softmax<axis = -1>(t) y = MatMul(p, v)"
RMS = "a = Mul(x, x) m = ReduceMean<axes = [-1]>(a) e = Add(m, epsilon) r = Sqrt(e) i = Reciprocal(r) n = Mul(x, i) y = Mul(n, w)"
ROTARY = """h = Slice(x, zero, middle, last) t = Slice(x, middle, end, last) m = Neg(t) r = Concat<axis = -1>(m, h)
            a = Mul(x, cos) b = Mul(r, sin) y = Add(a, b)"""
ROTARY_INDICES = "int64[1] zero = {0}, int64[1] middle = {32}, int64[1] end = {64}, int64[1] last = {3}"


def conv(x, w, attributes="", bias=False, then=""):
    """A convolution. Windows are padded to keep the size, unless `attributes` have pads."""
    extent = [int(size) for size in w.split(",")]
    if "pads" not in attributes:
        dilations = re.search(r"dilations = \[(\d+), (\d+)\]", attributes)
        steps = [int(step) for step in dilations.groups()] if dilations else [1, 1]
        half = [(size - 1) * step // 2 for size, step in zip(extent[2:], steps)]
        attributes += f", pads = [{half[0]}, {half[1]}, {half[0]}, {half[1]}]"
    attributes = attributes.removeprefix(", ")
    constants = f"float[{w}] w" + (f", float[{extent[0]}] b" if bias or then else "")
    node = f"Conv<{attributes}>(x, w{', b' if bias or then else ''})"
    return f"float[{x}] x", constants, f"c = {node} {then}" if then else f"y = {node}"


def product(m, k, n, then="", constants=""):
    """A product with weights and a bias."""
    node = f"p = MatMul(x, w) {'c' if then else 'y'} = Add(p, b) {then}"
    return f"float[{m}, {k}] x", f"float[{k}, {n}] w, float[{n}] b" + (f", {constants}" if constants else ""), node


LAYERS = {
    "MatMul 128x512x512": product(128, 512, 512),
    "MatMul 128x2048x512": product(128, 2048, 512),
    "MatMul 128x512x2048": product(128, 512, 2048),
    "MatMul 784x256x256": product(784, 256, 256),
    "MatMul 3136x64x256": product(3136, 64, 256),
    "MatMul 197x768x768": product(197, 768, 768),
    "MatMul 128x768x3072 GELU": product(128, 768, 3072, GELU, GELU_CONSTANTS),
    "MatMul 512x512x2048 SiLU": product(512, 512, 2048, SILU),
    "MatMul 49x384x1536": product(49, 384, 1536),
    "MatMul 1x1024x4096": product(1, 1024, 4096),
    "MatMul 4x768x3072": product(4, 768, 3072),
    "MatMul 16x768x768": product(16, 768, 768),
    "MatMul of 12 heads": ("float[1, 12, 128, 64] a, float[1, 12, 64, 128] b", "", "y = MatMul(a, b)"),
    "attention 12x128x64": ("float[1, 12, 128, 64] q, float[1, 12, 64, 128] k, float[1, 12, 128, 64] v", "float scale = {0.125}", ATTENTION),
    "attention 8x1024x64": ("float[1, 8, 1024, 64] q, float[1, 8, 64, 1024] k, float[1, 8, 1024, 64] v", "float scale = {0.125}", ATTENTION),
    "attention of one token": ("float[1, 12, 1, 64] q, float[1, 12, 64, 512] k, float[1, 12, 512, 64] v", "float scale = {0.125}", ATTENTION),
    "Conv 3x3 32 groups of 4": conv("1, 128, 56, 56", "128, 4, 3, 3", "group = 32", True, "y = Relu(c)"),
    "Conv 3x3 32 groups of 8": conv("1, 256, 28, 28", "256, 8, 3, 3", "group = 32", True, "y = Relu(c)"),
    "Conv 3x3 32 groups of 16": conv("1, 512, 14, 14", "512, 16, 3, 3", "group = 32", True, "y = Relu(c)"),
    "Conv 3x3 32 groups of 32": conv("1, 1024, 7, 7", "1024, 32, 3, 3", "group = 32", True, "y = Relu(c)"),
    "Conv 3x3 4 groups of 24": conv("1, 96, 28, 28", "96, 24, 3, 3", "group = 4"),
    "Conv 11x41 of 1 channel": conv("1, 1, 161, 400", "32, 1, 11, 41", "strides = [2, 2], pads = [5, 20, 5, 20]", True),
    "Conv 11x21 behind it": conv("1, 32, 81, 200", "32, 32, 11, 21", "strides = [1, 2], pads = [5, 10, 5, 10]", True),
    "Conv 7x7 of 3 channels": conv("1, 3, 224, 224", "64, 3, 7, 7", "strides = [2, 2], pads = [3, 3, 3, 3]", True, "y = Relu(c)"),
    "Conv 3x3 of 3 channels": conv("1, 3, 224, 224", "32, 3, 3, 3", "strides = [2, 2], pads = [1, 1, 1, 1]", True, SILU),
    "Conv 11x11 of 3 channels": conv("1, 3, 224, 224", "64, 3, 11, 11", "strides = [4, 4], pads = [2, 2, 2, 2]", True, "y = Relu(c)"),
    "Conv 16x16 patches": conv("1, 3, 224, 224", "768, 3, 16, 16", "strides = [16, 16], pads = [0, 0, 0, 0]", True),
    "Conv 3x1 of 80 channels": conv("1, 80, 1, 3000", "384, 80, 1, 3", "", True),
    "Conv 1x1 SiLU": conv("1, 128, 40, 40", "128, 128, 1, 1", "", True, SILU),
    "Conv 1x1 SiLU wide": conv("1, 256, 20, 20", "512, 256, 1, 1", "", True, SILU),
    "Conv 1x1 16 to 96": conv("1, 16, 112, 112", "96, 16, 1, 1", "", True, SILU),
    "Conv 1x1 320 to 1280": conv("1, 320, 7, 7", "1280, 320, 1, 1", "", True, SILU),
    "Conv 1x1 1024 to 256": conv("1, 1024, 100, 100", "256, 1024, 1, 1", "", True, "y = Relu(c)"),
    "Conv 3x3 64": conv("1, 64, 56, 56", "64, 64, 3, 3", "", True, "y = Relu(c)"),
    "Conv 3x3 64 SiLU": conv("1, 64, 80, 80", "64, 64, 3, 3", "", True, SILU),
    "Conv 3x3 512": conv("1, 512, 7, 7", "512, 512, 3, 3", "", True, "y = Relu(c)"),
    "Conv 3x3 128 stride 2": conv("1, 128, 56, 56", "256, 128, 3, 3", "strides = [2, 2], pads = [1, 1, 1, 1]", True, "y = Relu(c)"),
    "Conv 3x3 dilated 2": conv("1, 256, 33, 33", "256, 256, 3, 3", "dilations = [2, 2]", True, "y = Relu(c)"),
    "Conv 3x3 dilated 5, 100x100": conv("1, 256, 100, 100", "256, 256, 3, 3", "dilations = [5, 5]", True, "y = Relu(c)"),
    "Conv 3x3 dilated 12": conv("1, 512, 33, 33", "256, 512, 3, 3", "dilations = [12, 12]", True, "y = Relu(c)"),
    "Conv 3x3 dilated 6, 2048": conv("1, 2048, 33, 33", "128, 2048, 3, 3", "dilations = [6, 6]", True),
    "Conv 3x3 dilated 24, 2048": conv("1, 2048, 33, 33", "128, 2048, 3, 3", "dilations = [24, 24]", True),
    "depthwise 3x3": conv("1, 144, 56, 56", "144, 1, 3, 3", "group = 144", True, SILU),
    "depthwise 3x3 stride 2": conv("1, 96, 112, 112", "96, 1, 3, 3", "group = 96, strides = [2, 2], pads = [1, 1, 1, 1]", True, "y = Relu(c)"),
    "depthwise 5x5": conv("1, 672, 14, 14", "672, 1, 5, 5", "group = 672", True, SILU),
    "depthwise 5x5 stride 2": conv("1, 240, 28, 28", "240, 1, 5, 5", "group = 240, strides = [2, 2], pads = [2, 2, 2, 2]", True, "y = Relu(c)"),
    "depthwise 7x7": conv("1, 96, 56, 56", "96, 1, 7, 7", "group = 96", True),
    "depthwise 1x31": conv("1, 256, 1, 400", "256, 1, 1, 31", "group = 256", True, SILU),
    "ConvTranspose 4x4": ("float[1, 256, 16, 16] x", "float[256, 128, 4, 4] w, float[128] b", "y = ConvTranspose<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w, b)"),
    "ConvTranspose 2x2": ("float[1, 128, 64, 64] x", "float[128, 64, 2, 2] w, float[64] b", "y = ConvTranspose<strides = [2, 2]>(x, w, b)"),
    "QLinearConv 3x3 64": ("uint8[1, 64, 56, 56] x", "float xs, uint8 xz, int8[64, 64, 3, 3] w, float ws, int8 wz = {0}, float ys, uint8 yz",
                           "y = QLinearConv<pads = [1, 1, 1, 1]>(x, xs, xz, w, ws, wz, ys, yz)"),
    "LSTM 64x1x256": ("float[64, 1, 256] x", "float[1, 1024, 256] w, float[1, 1024, 256] r, float[1, 2048] b", "y = LSTM<hidden_size = 256>(x, w, r, b)"),
    "GRU 64x1x256": ("float[64, 1, 256] x", "float[1, 768, 256] w, float[1, 768, 256] r, float[1, 1536] b", "y = GRU<hidden_size = 256, linear_before_reset = 1>(x, w, r, b)"),
    "LayerNorm 197x768": ("float[1, 197, 768] x", "float[768] w, float[768] b", "y = LayerNormalization<axis = -1>(x, w, b)"),
    "residual + LayerNorm": ("float[1, 197, 768] u, float[1, 197, 768] v", "float[768] w, float[768] b", "x = Add(u, v) y = LayerNormalization<axis = -1>(x, w, b)"),
    "RMSNorm 128x2048": ("float[1, 128, 2048] x", "float epsilon = {0.00001}, float[2048] w", RMS),
    "rotary 12x128x64": ("float[1, 12, 128, 64] x", f"float[1, 1, 128, 64] cos, float[1, 1, 128, 64] sin, {ROTARY_INDICES}", ROTARY),
    "Softmax 12x128x128": ("float[12, 128, 128] x", "", "y = Softmax<axis = -1>(x)"),
    "Softmax 1x50257": ("float[1, 50257] x", "", "y = Softmax<axis = -1>(x)"),
    "GELU 128x3072": ("float[128, 3072] c", GELU_CONSTANTS, GELU),
    "Add 256x56x56": ("float[1, 256, 56, 56] a, float[1, 256, 56, 56] b", "", "c = Add(a, b) y = Relu(c)"),
    "MaxPool 3x3 stride 2": ("float[1, 64, 112, 112] x", "", "y = MaxPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x)"),
    "MaxPool 5x5": ("float[1, 256, 20, 20] x", "", "y = MaxPool<kernel_shape = [5, 5], pads = [2, 2, 2, 2]>(x)"),
    "AveragePool 3x3": ("float[1, 128, 28, 28] x", "", "y = AveragePool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x)"),
    "GlobalAveragePool": ("float[1, 2048, 7, 7] x", "", "y = GlobalAveragePool(x)"),
    "Resize nearest 2": ("float[1, 128, 40, 40] x", "float[4] scales = {1, 1, 2, 2}",
                         'y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , scales)'),
    "Resize linear 2": ("float[1, 64, 64, 64] x", "float[4] scales = {1, 1, 2, 2}", 'y = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel">(x, , scales)'),
    "Transpose 0213": ("float[1, 128, 12, 64] x", "", "y = Transpose<perm = [0, 2, 1, 3]>(x)"),
}
NOTHING = ("float[1] x", "", "y = Neg(x)")
OPSET = 17
SECONDS = 0.12           # runs of a layer in an engine; half as many seconds for profiled ones
LEAST_RUNS = 8
COMPILATIONS = 4
LAYOUT_CHANGES = {"Reorder", "ReorderInput", "ReorderOutput"}


def model_of(text):
    """A model of one line: constants that the line gives no value get random ones, spread as compare.with_weights spreads them."""
    import numpy
    import onnx

    inputs, constants, nodes = text
    given = [one for one in re.split(r",\s*(?=[a-z])", constants) if one]
    declared = ", ".join(one for one in given if "=" in one)
    random = [one for one in given if "=" not in one]
    header = f'<ir_version: 8, opset_import: ["" : {OPSET}]> g ({", ".join([inputs, *random])}) => (float y)'
    model = onnx.parser.parse_model(header + (f" <{declared}>" if declared else "") + f" {{ {nodes} }}")
    graph = model.graph
    names = [one.split()[-1] for one in random]
    for value in [value for value in graph.input if value.name in names]:
        tensor = value.type.tensor_type
        shape, dtype = [d.dim_value for d in tensor.shape.dim], onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        numbers = compare.random_numbers(shape, value.name)
        if not numpy.issubdtype(dtype, numpy.floating):
            numbers = numpy.rint(20 * numpy.abs(numbers))
        elif len(shape) > 1:
            numbers *= (2 / float(numpy.prod(shape[1:]) if len(shape) > 2 else shape[0])) ** 0.5
        else:
            numbers = 1 + 0.1 * numbers
        graph.initializer.append(onnx.numpy_helper.from_array(numpy.asarray(numbers).astype(dtype), value.name))
        graph.input.remove(value)
    del graph.output[:]
    graph.output.append(onnx.ValueInfoProto(name="y"))
    return onnx.shape_inference.infer_shapes(model)


def timed(run, seconds):
    for _ in range(3):
        run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < LEAST_RUNS or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return compare.p10(times)


def layout_onnxruntime(path, threads, feed, folder):
    """Milliseconds of changes of layout by the engine's profile: the 10th percentile of each node over its runs."""
    session = compare.onnxruntime_session(path, threads, pathlib.Path(folder) / "profile")
    timed(lambda: session.run(None, feed), SECONDS / 2)
    file = session.end_profiling()
    times = collections.defaultdict(list)
    for event in json.loads(pathlib.Path(file).read_text()):
        if event.get("args", {}).get("op_name") in LAYOUT_CHANGES and event["name"].endswith("_kernel_time"):
            times[event["name"]].append(event["dur"] / 1e6)
    os.remove(file)
    return sum(map(compare.p10, times.values()))


def layout_openvino(path, threads, feed, _):
    """The same. Its counters are means over all runs since the model was compiled: the least of several compilations."""
    sums = []
    for _ in range(COMPILATIONS):
        request = compare.openvino_request(path, threads, feed, PERF_COUNT=True)
        timed(lambda: request.infer(feed), SECONDS / 2 / COMPILATIONS)
        sums.append(sum(info.real_time.total_seconds() for info in request.profiling_info if info.node_type in LAYOUT_CHANGES))
    return min(sums) * 1e3


LOAD = {"onnxruntime": compare.load_onnxruntime, "openvino": compare.load_openvino}
LAYOUT = {"onnxruntime": layout_onnxruntime, "openvino": layout_openvino}


def work(engine, folder, cpus):
    """A process of one engine: prints for each model the milliseconds of a run, and those of changes of layout in it."""
    os.sched_setaffinity(0, cpus)
    for path in sorted(pathlib.Path(folder).glob("*.onnx")):
        try:
            feed = compare.inputs_of(path)
            run = timed(LOAD[engine](str(path), len(cpus), feed), SECONDS)
            layout = LAYOUT[engine](str(path), len(cpus), feed, folder)
            print(json.dumps({"layer": path.stem, "run_ms": run, "layout_ms": layout}), flush=True)
        except Exception as error:  # whatever an engine throws costs this layer alone
            print(json.dumps({"layer": path.stem, "error": str(error).strip().splitlines()[0]}), flush=True)


def engines_of(folder, cpus):
    """Times of each engine: {engine: {layer: milliseconds}}."""
    result = {}
    for engine in compare.ENGINES:
        command = [sys.executable, __file__, "--worker", engine, "--cpus", compare.text_of(cpus), "--folder", str(folder)]
        lines = [json.loads(line) for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()]
        nothing = next(line["run_ms"] for line in lines if line["layer"] == "nothing")
        for line in lines:
            if "error" in line:
                print(f"{line['layer']}: {engine}: {line['error']}", file=sys.stderr)
        result[engine] = {line["layer"]: line["run_ms"] - nothing - line["layout_ms"]
                          for line in lines if "error" not in line and line["layer"] != "nothing"}
    return result


def compare_layers(arguments, names, folder, threads):
    cpus = arguments.cpus[:threads]
    files = [str(folder / f"{name}.onnx") for name in names.values()]
    first = engines_of(folder, cpus)
    options = ["--rounds", "--budget", f"{arguments.budget * len(files):.0f}s"]
    document = compare.document_of(["bound", *files, "--threads", str(threads), *options], arguments)
    second = engines_of(folder, cpus)
    bounds = {pathlib.Path(model["file"]).stem: model for model in document["models"]}
    rows = []
    for name, stem in names.items():
        engines = {engine: min(times[stem] for times in (first[engine], second[engine]) if stem in times)
                   for engine in first if stem in first[engine] or stem in second[engine]}
        model = bounds[stem]
        ms = model["bounds_ms"]["library_fused"]
        best = min(engines.values(), default=None)
        rows.append({"layer": name, "threads": threads, "engines_ms": engines, "bound_ms": ms, "ratio": ms / best if best and ms else None,
                     "floor_ms": model["bounds_ms"]["model_floor"], "model": model})
    return rows


def engine_versions():
    return [f"{engine} {importlib.metadata.version(engine)}" for engine in compare.ENGINES]


def print_rows(rows, machine):
    threads = rows[0]["threads"]
    print(f"{machine['device']} {machine['isa']}, {threads} threads, {time.strftime('%Y-%m-%d')}, {', '.join(engine_versions())}; p10 in us")
    print(f"{'layer':28}{'ONNX RT':>10}{'OpenVINO':>10}{'floor':>10}{'fused':>10}{'fused/best':>12}")
    number = lambda value: f"{value * 1e3:10.1f}" if value is not None else f"{'-':>10}"
    for row in sorted(rows, key=lambda row: -(row["ratio"] or 0)):
        print(f"{row['layer']:28}" + "".join(number(value) for value in (
            row["engines_ms"].get("onnxruntime"), row["engines_ms"].get("openvino"), row["floor_ms"], row["bound_ms"]))
            + (f"{row['ratio']:12.2f}" if row["ratio"] else f"{'-':>12}") + (" <" if row["ratio"] and row["ratio"] > 1 else ""))
    known = [row for row in rows if row["ratio"]]
    print(f"library fused is at or below the faster engine on {sum(row['ratio'] <= 1 for row in known)} of {len(known)} layers", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default: 1,2)")
    parser.add_argument("--only", default="", metavar="REGEX", help="layers whose names match")
    parser.add_argument("--budget", type=float, default=1, help="seconds of rounds for each layer (default: 1)")
    parser.add_argument("--database", help="folder of results for `benanza bound`")
    parser.add_argument("--json", metavar="FILE", help="writes everything")
    parser.add_argument("--worker", choices=compare.ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--cpus", type=compare.cpus_of, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not compare.is_in_environment():
        compare.in_environment(__file__)
    if arguments.worker:
        work(arguments.worker, arguments.folder, arguments.cpus)
        return
    import onnx

    names = {name: re.sub(r"\W+", "_", name) for name in LAYERS if re.search(arguments.only, name)}
    machine = compare.document_of(["machine"], arguments)["machine"]
    arguments.cpus = compare.cpus_of(machine["affinity"])
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, stem in [*names.items(), ("nothing", "nothing")]:
            onnx.save(model_of(LAYERS.get(name, NOTHING)), folder / f"{stem}.onnx")
        for threads in map(int, arguments.threads.split(",")):
            rows += compare_layers(arguments, names, folder, threads)
            print_rows([row for row in rows if row["threads"] == threads], machine)
            if arguments.json:
                pathlib.Path(arguments.json).write_text(json.dumps({"machine": machine, "packages": engine_versions(), "layers": rows}, indent=1))


if __name__ == "__main__":
    main()
