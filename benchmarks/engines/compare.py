#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Benanza's bounds with real engines: ONNX Runtime and OpenVINO on the same models, threads and machine.

  benchmarks/engines/compare.py [MODEL.onnx...]        default: the 44 of examples/models

Installs both engines from PyPI into a user cache (once), measures the layers with `benanza bound`, then takes model by model: rounds of its bound
(`--rounds`), and both engines, one process an engine, turn by turn, so that a slow phase of the machine meets all of them. Times
are the 10th percentile over all runs, as the bounds are. Run it on an otherwise idle machine.

Engines compute in f32 with all their graph optimisations, on the processors that the bounds were measured on: one of each core. Models get random
weights first: those of examples/models have none. Prints a table and writes all of it with --json, anew after each model. With --witness the bound is
executed too (`benanza bound --witness`), and held against the faster engine; ~ marks a witness whose threads were far from each other all the time.
"""
import argparse
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("BENANZA") or ROOT / "build" / "release" / "benanza")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "benanza"
PACKAGES = ["numpy==2.4.6", "onnx==1.23.2", "onnxruntime==1.32.0", "openvino==2026.4.1"]
ENGINES = ["onnxruntime", "openvino"]
VALUES = {"sr": 16000}  # scalar inputs for which not every number will do: a sampling rate
TURNS = 5
SEED = 2020  # seeds inputs and weights
WITNESS = ["--witness", "--weights", f"random:{SEED}", "--witness-time", "15s"]  # about as long as engines take
LEAST_RUNS = 2  # in a turn
CALLS_FOR_BOUND = 400  # calls of the whole model: 80 rounds in both forms, caches warm and without weights
LEAST_SECONDS_FOR_BOUND, MOST_SECONDS_FOR_BOUND = 15, 60  # a round of many small layers takes longer than their calls
LEAST_CALLS_FOR_BOUND = 40  # however long they take: a total needs a few rounds


def inputs_of(path):
    """Random inputs for a model; a dimension without a size is 1."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    weights = {initializer.name for initializer in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    return random_inputs(inputs, {value.name: [dimension.dim_value or 1 for dimension in value.type.tensor_type.shape.dim] for value in inputs})


def random_bits(count, name, seed=SEED):
    """64 bits for each element of a tensor: the scheme of include/benanza/execution/random_tensor.hpp."""
    import numpy

    def mixed(z):
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return z ^ (z >> numpy.uint64(31))

    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    base = mixed(numpy.array([(seed + state) % 2**64], numpy.uint64))
    return mixed(base + numpy.uint64(0x9E3779B97F4A7C15) * numpy.arange(1, count + 1, dtype=numpy.uint64))


def random_numbers(shape, name, seed=SEED):
    """Numbers that are close to normally distributed, by the same scheme, in double precision."""
    import numpy

    bits = random_bits(int(numpy.prod(shape)), name, seed)
    parts = sum((bits >> numpy.uint64(shift) & numpy.uint64(0xFFFF)).astype(numpy.int64) for shift in (0, 16, 32, 48))
    return ((parts - 2 * 0xFFFF) * (3 ** 0.5 / 0x10000)).reshape(shape)


def random_inputs(inputs, shapes):
    """Random arrays of these shapes for inputs of a graph: indices that are in range of any vocabulary for integers, numbers for the rest."""
    import numpy
    import onnx

    feed = {}
    for value in inputs:
        shape, dtype = shapes[value.name], onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if value.name in VALUES:
            feed[value.name] = numpy.full(shape, VALUES[value.name], dtype)
        elif numpy.issubdtype(dtype, numpy.floating):
            feed[value.name] = random_numbers(shape, value.name).astype(dtype)
        elif dtype == bool:
            feed[value.name] = numpy.ones(shape, dtype)
        elif dtype == object:
            feed[value.name] = numpy.full(shape, "a", dtype)
        else:
            feed[value.name] = (random_bits(int(numpy.prod(shape)), value.name) & numpy.uint64(1)).reshape(shape).astype(dtype)
    return feed


def with_weights(path, folder, seed=SEED):
    """A copy of the model in `folder` in which every tensor that a ConstantOfShape of an initializer fills is one of random numbers: files of
    examples/models come without their weights, and engines would make one product of several whose weights are all equal. Spread as He initialisation spreads them, what has one
    number for each channel around the value that was there, so that no number overflows or becomes denormal on its way through the network."""
    import numpy
    import onnx

    model = onnx.load(path)
    graph = model.graph
    shapes = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.INT64}
    filled = [node for node in graph.node if node.op_type == "ConstantOfShape" and node.input[0] in shapes]
    for node in filled:
        value = onnx.numpy_helper.to_array(node.attribute[0].t) if node.attribute else numpy.zeros(1, numpy.float32)
        shape = shapes[node.input[0]]
        own = random_numbers(shape, node.output[0], seed)
        if value.dtype in (numpy.int8, numpy.uint8):
            limits = numpy.iinfo(value.dtype)
            array = numpy.clip(float(value[0]) + numpy.rint(20 * own), limits.min, limits.max)
        elif not numpy.issubdtype(value.dtype, numpy.floating):
            array = numpy.full(shape, value[0])
        elif len(shape) < 2:
            array = float(value[0]) * (1 + 0.1 * own)
        else:
            array = (2 / float(numpy.prod(shape[1:]) if len(shape) > 2 else shape[0])) ** 0.5 * own
        graph.initializer.append(onnx.numpy_helper.from_array(array.astype(value.dtype), node.output[0]))
        graph.node.remove(node)
    copy = str(pathlib.Path(folder) / pathlib.Path(path).name)
    onnx.save(model, copy, save_as_external_data=True, location="weights")
    return copy


def onnxruntime_session(path, threads, profile=None):
    """`profile`: how the names of profile files begin; None: no profile is taken."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def load_onnxruntime(path, threads, feed):
    session = onnxruntime_session(path, threads)
    return lambda: session.run(None, feed)


def openvino_request(path, threads, feed, **properties):
    import openvino

    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: value.shape for name, value in feed.items()})
    compiled = core.compile_model(model, "CPU", {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": "f32",
        **properties,
    })
    return compiled.create_infer_request()


def load_openvino(path, threads, feed):
    request = openvino_request(path, threads, feed)
    return lambda: request.infer(feed)


def all_models():
    return [file for folder in ("zoo2019", "modern") for file in sorted(glob.glob(f"{ROOT}/examples/models/{folder}/*.onnx"))]


def work(engine, path, cpus):
    """A process of one engine: loads the model, then answers each line `SECONDS` with the times of its runs."""
    os.sched_setaffinity(0, cpus)
    run = {"onnxruntime": load_onnxruntime, "openvino": load_openvino}[engine](path, len(cpus), inputs_of(path))
    for _ in range(3):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        times, end = [], time.perf_counter() + float(line)
        while len(times) < LEAST_RUNS or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(json.dumps(times), flush=True)


class Worker:
    """A process of one engine with one model. What it says on stderr goes to a file: nobody reads a pipe meanwhile, and a full one would stop it."""

    def __init__(self, engine, path, cpus):
        self.said = tempfile.TemporaryFile("w+", errors="replace")
        command = [sys.executable, __file__, "--worker", engine, "--cpus", text_of(cpus), path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True)
        self.is_ready = self.process.stdout.readline().strip() == "ready"
        self.times = []

    def turn(self, seconds):
        """Adds the times of one turn; whether there are any: the process may have died."""
        try:
            self.process.stdin.write(f"{seconds}\n")
            self.process.stdin.flush()
            self.times += json.loads(self.process.stdout.readline())
        except (OSError, ValueError):  # a broken pipe; nothing that could be parsed
            return False
        return True

    def end(self):
        """Ends the process. Returns its last words, or the signal that killed it."""
        try:
            self.process.stdin.close()
        except OSError:
            pass  # it died with a question unread
        self.process.stdout.read()
        code = self.process.wait()
        self.said.seek(0)
        words = self.said.read().strip().splitlines()
        self.said.close()
        return f"killed by signal {-code}" if code < 0 else words[-1] if words else f"it ended with exit code {code}"


def measure(path, cpus, seconds):
    """Times in seconds of each engine, or the reason why there are none."""
    workers, result = {}, {}
    for engine in ENGINES:
        worker = Worker(engine, path, cpus)
        if worker.is_ready:
            workers[engine] = worker
        else:
            result[engine] = worker.end()
    for _ in range(TURNS):
        for engine, worker in list(workers.items()):
            if not worker.turn(seconds / TURNS):
                result[engine] = workers.pop(engine).end()
    for engine, worker in workers.items():
        worker.end()
        result[engine] = worker.times
    return result


def p10(times):
    return statistics.quantiles(times, n=10, method="inclusive")[0] * 1e3 if len(times) > 1 else times[0] * 1e3


def text_of(cpus):
    return ",".join(map(str, cpus))


def cpus_of(text):
    return [int(cpu) for cpu in text.split(",")]


def document_of(command, arguments):
    """What the program says as JSON."""
    command = [PROGRAM, *command, "--json", "-"]
    if arguments.database:
        command += ["--database", arguments.database]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def choose_processors(arguments):
    """Those that the program takes, one of each core: engines that shared a core with themselves would be slower."""
    machine = document_of(["machine"], arguments)["machine"]
    arguments.threads = arguments.threads or machine["cores"]
    arguments.cpus = cpus_of(machine["affinity"])[:arguments.threads]


def bounds_of(models, arguments, *options):
    document = document_of(["bound", *models, "--threads", str(arguments.threads), *options], arguments)
    return document["machine"], {model["file"]: model for model in document["models"]}


def compare(arguments):
    models = arguments.models or all_models()
    choose_processors(arguments)
    machine, bounds = bounds_of(models, arguments, *(["--budget", arguments.budget] if arguments.budget else []))
    print(f"{machine['device']} {machine['isa']}, {arguments.threads} threads, {time.strftime('%Y-%m-%d')}, "
          f"{', '.join(PACKAGES[2:])}; p10 in ms")
    print(f"{'model':26}{'ONNX RT':>9}{'OpenVINO':>9}{'floor':>9}{'library':>9}{'fused':>9}{'resident':>9}"
          + (f"{'chained':>9}{'witness':>9}{'/resident':>10}{'/best':>7}" if arguments.witness else "") + f"{'fused/best':>12}")
    rows, below, witnessed = [], 0, []
    for path in models:
        bound = next(entry for file, entry in bounds.items() if pathlib.Path(file).name == pathlib.Path(path).name)
        call = (bound["bounds_ms"]["library_fused"] or bound["bounds_ms"]["model_floor"]) / 1e3
        seconds = max(min(CALLS_FOR_BOUND * call, MOST_SECONDS_FOR_BOUND), LEAST_CALLS_FOR_BOUND * call, LEAST_SECONDS_FOR_BOUND)
        bound = next(iter(bounds_of([path], arguments, "--rounds", "--budget", f"{seconds:.0f}s", *WITNESS * arguments.witness)[1].values()))
        with tempfile.TemporaryDirectory() as folder:
            times = measure(with_weights(path, folder), arguments.cpus, arguments.seconds)
        engines = {engine: p10(value) for engine, value in times.items() if isinstance(value, list)}
        for engine, value in times.items():
            if isinstance(value, str):
                print(f"{bound['model']}: {engine}: {value}", file=sys.stderr)
        ms = bound["bounds_ms"]
        best = min(engines.values()) if engines else None
        ratio = ms["library_fused"] / best if best and ms["library_fused"] else None
        below += bool(ratio and ratio <= 1)
        number = lambda value: f"{value:9.3f}" if value is not None else f"{'-':>9}"
        print(f"{bound['model'][:25]:26}" + "".join(number(value) for value in (
            engines.get("onnxruntime"), engines.get("openvino"), ms["model_floor"], ms["library"], ms["library_fused"], ms["library_fused_resident"]))
            + (witness_text(bound, best, witnessed) if arguments.witness else "") + (f"{ratio:12.2f}" if ratio else f"{'-':>12}") + (" <" if ratio and ratio > 1 else ""), flush=True)
        rows.append({"model": bound["model"], "engines_ms": engines, "bounds_ms": ms, "ratio": ratio, "witness_distant": is_distant(bound),
                     "times_s": {engine: value for engine, value in times.items() if isinstance(value, list)}})
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps({"machine": machine, "threads": arguments.threads, "packages": PACKAGES, "models": rows}, indent=1))
    print(f"library fused is at or below the faster engine on {below} of {len(rows)} models")
    if witnessed:
        of_resident = [ratio for ratio, _ in witnessed]
        print(f"the witness is at or below the faster engine on {sum(ratio <= 1 for _, ratio in witnessed)} of {len(witnessed)} models; "
              f"witness / library fused resident: median {statistics.median(of_resident):.2f}, at most {max(of_resident):.2f}")


def is_distant(bound):
    return bool((bound.get("witness") or {}).get("distant"))


def witness_text(bound, best, witnessed):
    """Columns of the executed bound; adds its ratios to `library fused resident` and to the faster engine."""
    ms = bound["bounds_ms"]
    chained, witness, resident = ms.get("library_chained"), ms["witness"], ms["library_fused_resident"]
    number = lambda value, width, digits: f"{value:{width}.{digits}f}" if value is not None else f"{'-':>{width}}"
    ratios = [witness / other if witness and other else None for other in (resident, best)]
    if None not in ratios:
        witnessed.append(ratios)
    return number(chained, 9, 3) + number(witness, 9, 3) + ("~" if is_distant(bound) else " ") + number(ratios[0], 9, 2) + number(ratios[1], 7, 2)


def is_in_environment():
    return pathlib.Path(sys.prefix).resolve() == (CACHE / "engines").resolve()


def in_environment(script, packages=PACKAGES):
    """Runs a script again with the available engines."""
    place = CACHE / "engines"
    python, recipe = place / "bin" / "python", place / "packages"
    there = recipe.read_text().split() if recipe.exists() else []
    if missing := [package for package in packages if package not in there]:
        print(f"installing {', '.join(missing)} into {place}", file=sys.stderr)
        if not there:
            venv.create(place, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *missing], check=True)
        name = lambda package: package.split("==")[0]
        others = [package for package in there if name(package) not in map(name, missing)]
        recipe.write_text("\n".join([*others, *missing]))
    os.execv(python, [python, script, *sys.argv[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--threads", type=int, help="of engines and bounds (default: one for each core)")
    parser.add_argument("--seconds", type=float, default=4, help="for each model in each engine (default: 4)")
    parser.add_argument("--budget", help="of the first pass over all layers, e.g. 120s (default: that of `benanza bound`)")
    parser.add_argument("--witness", action="store_true", help="executes the bound as well")
    parser.add_argument("--database", help="folder of results for `benanza bound`")
    parser.add_argument("--json", metavar="FILE", help="writes everything, single runs included")
    parser.add_argument("--worker", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--cpus", type=cpus_of, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not is_in_environment():
        in_environment(__file__)
    if arguments.worker:
        work(arguments.worker, arguments.models[0], arguments.cpus)
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
