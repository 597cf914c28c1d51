#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates a suite that stands alone, compiles it by CMake alone, runs it, and has its results analysed.

    standalone_suite.py PROGRAM MODEL BACKENDS FOLDER PREFIX,...

Without a GPU, the suite of its libraries has to end with one line that says so.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

program, model, backends, folder, prefix = sys.argv[1:]
folder = pathlib.Path(folder)


def run(*command, code=0):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if code is not None and done.returncode != code:
        sys.exit(f"{command}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done


shutil.rmtree(folder, ignore_errors=True)
run(program, "generate", model, "--standalone", "--backend", backends, "-o", folder)
for file in folder.iterdir():
    for line in file.read_text().splitlines():
        if re.match(r"\s*#\s*include", line) and "benanza" in line:
            sys.exit(f"{file}: includes Benanza: {line}")
run("cmake", "-S", folder, "-B", folder / "build", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
    "-DCMAKE_PREFIX_PATH=" + prefix.replace(",", ";"))
run("cmake", "--build", folder / "build", "-j2")
suite = folder / "build" / "suite"

if "cudnn" in backends:
    done = run(suite, code=None)
    if done.returncode == 1:
        if not re.fullmatch(r"no device: [^\n]+\n", done.stderr):
            sys.exit(f"expected one line that says why there is no device, found\n{done.stderr}")
    elif done.returncode != 0:
        sys.exit(done.stderr)
    sys.exit(0)

# The flags of Google Benchmark are effective: a filter, a short time, repetitions.
results = folder / "results.json"
run(suite, "--suite_threads=1", "--suite_cache=hot", "--benchmark_min_time=0.001", "--benchmark_repetitions=3",
    f"--benchmark_out={results}", "--benchmark_filter=hot/")
rows = json.loads(results.read_text())["benchmarks"]
single = [row for row in rows if row["run_type"] == "iteration" and not row.get("error_occurred")]
if not single or {row["repetition_index"] for row in single} != {0, 1, 2}:
    sys.exit(f"expected three repetitions of each row, found {rows[:3]}")
for row in single:
    if not (row["FLOP/s"] >= 0 and row["bytes/s"] > 0 and row["items_per_second"] > 0):
        sys.exit(f"a row without its counters: {row}")
few = run(suite, "--benchmark_list_tests", "--benchmark_filter=openblas/gemm").stdout.splitlines()
if not few or not all(line.startswith("openblas/gemm") for line in few):
    sys.exit(f"a filter without effect: {few}")

# Likely winners come first: one plan of each layer that the library has, before a second one of any.
listed = run(suite, "--suite_threads=1", "--suite_cache=hot", "--benchmark_list_tests", "--benchmark_filter=^onednn/[^n].*/Conv").stdout.splitlines()
layers = [line.split("/hot/")[1] for line in listed]
if len(layers) == len(set(layers)) or len(set(layers[: len(set(layers))])) != len(set(layers)):
    sys.exit(f"expected all layers before a second plan of one, found {listed}")

# A budget that is over when the first row begins leaves all of them out, in words that `benanza` knows.
none = folder / "none.json"
done = run(suite, "--suite_threads=1", "--suite_cache=hot", "--suite_budget=0.001ms", f"--benchmark_out={none}", "--benchmark_filter=^openblas/gemm")
reasons = {row["error_message"] for row in json.loads(none.read_text())["benchmarks"]}
if reasons != {"not tried: the budget gave this layer no more time"} or "left no time for" not in done.stderr:
    sys.exit(f"expected rows without time, found {reasons}\n{done.stderr}")
run(suite, "--suite_budget=2", code=2)

# A suite that was killed leaves a file without its end: the whole rows count.
text = results.read_text()
ends = [match.end() for match in re.finditer(r"\n    }", text)]
for count in (1, len(ends) // 2, len(ends) - 1):
    for more in (0, 40):
        cut = folder / "cut.json"
        cut.write_text(text[: ends[count - 1] + more])
        told = run(program, "analyze", model, "--results", cut).stderr
        if f"whole records: {count}" not in told:
            sys.exit(f"{count} whole rows and {more} bytes: {told}")

# What the environment says of OpenMP changes nothing.
bound = folder / "bound.json"
run("env", "OMP_PROC_BIND=true", "OMP_NUM_THREADS=1", suite, "--suite_threads=1", "--suite_cache=hot", "--benchmark_min_time=0.001",
    f"--benchmark_out={bound}", "--benchmark_filter=openblas/gemm")
plain, told = (json.loads(file.read_text())["context"] for file in (results, bound))
for key in ("machine/cores", "machine/affinity"):
    if told[key] != plain[key]:
        sys.exit(f"{key} is {plain[key]}, and {told[key]} with OMP_PROC_BIND")

# Every layer has a line for each library: a time, or why there is none.
names = {tuple(row["name"].split("/")[:1]) + (re.search(r"/hot/(.*?)(/repeats|/real_time|$)", row["name"])[1],) for row in rows
         if row["run_type"] == "iteration"}
signatures = {signature for _, signature in names}
for signature in signatures:
    for backend in backends.split(","):
        if (backend, signature) not in names:
            sys.exit(f"no line of {backend} for {signature}")

run(program, "db", "verify", results)

# And the results are results like any others: the bound counts every layer that the suite measured.
analysis = json.loads(run(program, "analyze", model, "--results", results, "--json", "-").stdout)
measured = {row["signature"] for row in analysis["models"][0]["rows"] if row["status"] == "measured"}
expected = {re.search(r"/hot/(.*?)/(repeats|real_time)", row["name"])[1] for row in single}
if not measured or not measured <= expected:
    sys.exit(f"analyze counts {measured}, the suite measured {expected}")
if analysis["models"][0]["partial"]:
    sys.exit(f"the bound lacks {analysis['models'][0]['missing']}")
