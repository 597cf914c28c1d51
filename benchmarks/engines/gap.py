#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of real engines' gaps Benanza explains: ONNX Runtime, OpenVINO and, for resnet50 and bert_base_s128, PyTorch, profiled on the same
models, threads and machine.

  benchmarks/engines/gap.py [MODEL.onnx...]        default: the 44 of examples/models

Installs the engines from PyPI into a user cache (once), measures what `benanza bound` lacks, then profiles each model in each engine (at
least 30 runs after warming up: ONNX Runtime's own profile, OpenVINO's counters of each layer as its benchmark_app writes them, PyTorch's Kineto trace) and runs
`benanza gap` on what they wrote. Run it on an otherwise idle machine.

Prints for each engine its latency, the gap to library_fused, how much of it named causes explain, and the largest cause. Exit code 1 if a model
could not be profiled or compared, or if less than 80 % of a gap of ONNX Runtime that exceeds 10 % is explained.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import compare

WARM_UPS = 5
LEAST_RUNS = 30
LEAST_GAP = 0.10        # share of the bound: noise decides below it
LEAST_EXPLAINED = 0.80


def timed(run, seconds, warm=lambda: None):
    """Latencies in seconds of at least LEAST_RUNS runs; `warm` is called after the warm-ups."""
    for _ in range(WARM_UPS):
        run()
    warm()
    times, end = [], time.perf_counter() + seconds
    while len(times) < LEAST_RUNS or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def profile_onnxruntime(path, threads, seconds, folder):
    """The options of `benanza gap` that say what the engine did."""
    feed = compare.inputs_of(path)
    session = compare.onnxruntime_session(path, threads, folder / "onnxruntime")
    timed(lambda: session.run(None, feed), seconds)
    return ["--profile", session.end_profiling(), "--warm-ups", str(WARM_UPS)]


def profile_openvino(path, threads, seconds, folder):
    """Its counters are averages over all runs since the model was compiled: those of the warm-ups are taken out, and the latency is an average too."""
    feed = compare.inputs_of(path)
    request = compare.openvino_request(path, threads, feed, PERF_COUNT=True)

    def totals(runs):
        """Time of each node in milliseconds, over this many runs."""
        return {(info.node_name, str(info.status).rsplit(".", 1)[-1], info.node_type, info.exec_type):
                (info.real_time.total_seconds() * 1e3 * runs, info.cpu_time.total_seconds() * 1e3 * runs)
                for info in request.profiling_info}

    before = {}
    times = timed(lambda: request.infer(feed), seconds, warm=lambda: before.update(totals(WARM_UPS)))
    file = folder / "openvino.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=";", lineterminator=";\n")
        writer.writerow(["layerName", "execStatus", "layerType", "execType", "realTime (ms)", "cpuTime (ms)"])
        for key, after in totals(WARM_UPS + len(times)).items():
            writer.writerow([*key, *(f"{max(0, end - begin) / len(times):.6f}" for begin, end in zip(before.get(key, (0, 0)), after))])
    return ["--profile", str(file), "--latency", f"{statistics.mean(times) * 1e6:.3f}us"]


def pytorch_model(name):
    """The module that a model of examples/models was exported from, with random weights, and its input."""
    import torch

    if name == "resnet50":
        import torchvision

        return torchvision.models.resnet50(), [torch.randn(1, 3, 224, 224)]
    if name == "bert_base_s128":
        import transformers

        return transformers.BertModel(transformers.BertConfig()), [torch.ones(1, 128, dtype=torch.long)]
    raise ValueError(f"no PyTorch module is known for {name}")


def profile_pytorch(path, threads, seconds, folder):
    import torch
    from torch.profiler import ProfilerActivity, schedule

    torch.manual_seed(2020)
    torch.set_num_threads(threads)
    module, inputs = pytorch_model(pathlib.Path(path).stem)
    module.eval()
    file = folder / "pytorch.json"
    with torch.inference_mode(), torch.profiler.profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        schedule=schedule(wait=0, warmup=WARM_UPS, active=LEAST_RUNS, repeat=1),
        on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(file)),
    ) as profiler:
        for _ in range(WARM_UPS + LEAST_RUNS):
            module(*inputs)
            profiler.step()
    return ["--profile", str(file)]


PROFILERS = {"onnxruntime": profile_onnxruntime, "openvino": profile_openvino, "pytorch": profile_pytorch}
TORCH = ["torch==2.13.0", "torchvision==0.28.0", "transformers==5.23.0"]


def packages_of(engines):
    return compare.PACKAGES + (TORCH if "pytorch" in engines else [])


def work(engine, path, cpus, seconds, folder):
    """A process of one engine: profiles the model, prints the options."""
    os.sched_setaffinity(0, cpus)
    print(json.dumps(PROFILERS[engine](path, len(cpus), seconds, pathlib.Path(folder))))


def gap_of(path, engine, arguments, *more):
    """The gap's JSON, or the reason why there is none. `more`: further options of `benanza gap`."""
    with tempfile.TemporaryDirectory() as folder:
        own = path if engine == "pytorch" else compare.with_weights(path, folder)
        command = [sys.executable, __file__, "--worker", engine, "--cpus", compare.text_of(arguments.cpus), "--seconds", str(arguments.seconds), "--folder", folder, own]
        worker = subprocess.run(command, capture_output=True, text=True, check=False)
        if worker.returncode:
            return (worker.stderr.strip().splitlines() or ["it ended"])[-1]
        options = json.loads(worker.stdout.splitlines()[-1])
        command = [compare.PROGRAM, "gap", path, *options, "--threads", str(arguments.threads), "--rung", "library_fused", "--quiet", "--json", "-", *more]
        if arguments.database:
            command += ["--database", arguments.database]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return json.loads(result.stdout)["gaps"][0] if result.returncode == 0 else result.stderr.strip()


def row_of(model, engine, gap):
    """A line of the table, whether there is a gap of which parts are known, and whether it is explained well enough."""
    if isinstance(gap, str):
        return f"{model[:25]:26}{engine:12} {gap}", False, False
    if gap["gap_ms"] is None or gap["explained"] is None:
        return f"{model[:25]:26}{engine:12} {gap['outside'] or gap['total_only'] or 'no gap'}", False, False
    causes = [part for part in gap["parts"] if part["time_ms"] > 0]
    largest = max(causes, key=lambda part: part["time_ms"], default=None)
    share = gap["gap_ms"] / gap["bound_ms"]
    explained = gap["explained"]
    counts = share > LEAST_GAP
    good = not counts or explained >= LEAST_EXPLAINED
    text = f"{model[:25]:26}{engine:12}{gap['latency_ms']:10.3f}{gap['bound_ms']:10.3f}{share:8.0%}{explained:11.0%}"
    if largest:
        item = largest["items"][0] if largest["items"] else None
        text += f"  {largest['words']} {largest['time_ms']:.3f}" + (f" ({item['name']} {item['time_ms']:.3f})" if item else "")
    return text + ("" if good else "  <"), True, good


def profile(arguments):
    models = arguments.models or compare.all_models()
    compare.choose_processors(arguments)
    machine, bounds = compare.bounds_of(models, arguments)
    names = {pathlib.Path(file).name: bound["model"] for file, bound in bounds.items()}
    print(f"{machine['device']} {machine['isa']}, {arguments.threads} threads, {time.strftime('%Y-%m-%d')}, "
          f"{', '.join(packages_of(arguments.engines)[2:])}; medians in ms (OpenVINO: means), gap to library_fused")
    print(f"{'model':26}{'engine':12}{'latency':>10}{'bound':>10}{'gap':>8}{'explained':>11}  largest cause (largest part of it)")
    rows, profiled, all_good, explained = [], 0, True, {engine: [0, 0] for engine in arguments.engines}
    for path in models:
        model = names[pathlib.Path(path).name]
        for engine in arguments.engines:
            gap = gap_of(path, engine, arguments)
            text, known, good = row_of(model, engine, gap)
            print(text, flush=True)
            profiled += known
            if known and gap["gap_ms"] > LEAST_GAP * gap["bound_ms"]:
                explained[engine][1] += 1
                explained[engine][0] += good
            all_good = all_good and known and (good or engine != "onnxruntime")
            rows.append({"model": model, "engine": engine, "gap": gap})
    print(f"profiled {profiled} of {len(rows)}")
    for engine, (enough, count) in explained.items():
        print(f"{engine}: at least {LEAST_EXPLAINED:.0%} explained of {enough} of {count} gaps that exceed {LEAST_GAP:.0%}")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"machine": machine, "threads": arguments.threads, "packages": packages_of(arguments.engines), "gaps": rows}, indent=1))
    return 0 if all_good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--threads", type=int, help="of engines and bounds (default: one for each core)")
    parser.add_argument("--seconds", type=float, default=2, help="for each model in each engine, if 30 runs take less (default: 2)")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=compare.ENGINES, help="of onnxruntime,openvino,pytorch (default: the first two)")
    parser.add_argument("--database", help="folder of results for `benanza bound` and `benanza gap`")
    parser.add_argument("--json", metavar="FILE", help="writes everything")
    parser.add_argument("--worker", choices=list(PROFILERS), help=argparse.SUPPRESS)
    parser.add_argument("--cpus", type=compare.cpus_of, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not compare.is_in_environment():
        compare.in_environment(__file__, packages_of(arguments.engines))
    if arguments.worker:
        work(arguments.worker, arguments.models[0], arguments.cpus, arguments.seconds, arguments.folder)
        return 0
    return profile(arguments)


if __name__ == "__main__":
    sys.exit(main())
