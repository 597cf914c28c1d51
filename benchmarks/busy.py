#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether bounds that are measured on a busy machine hold: compares them with those of an idle one.

  benchmarks/busy.py QUIET.json [--models MODEL.onnx...] [--kinds loops,one,memory,compiler,quota] [--budget 45s]

QUIET.json: a document of `benanza bound --json` of the same models, measured on this machine while it was idle. For each model and each kind of
disturbance, `benanza bound` measures with an empty database and as many threads while the disturbance runs. Kinds:

  loops     an endless loop on every processor
  one       an endless loop on the last processor
  memory    a process that copies 256 MiB in a loop
  compiler  a C++ compiler that compiles a large source in a loop
  quota     a control group that grants half a processor (needs root, and a QUIET.json of `--threads 1`)

Prints, for `library_fused`, the quiet value, the busy one with its interval, their ratio, and whether the interval contains the quiet value. The last
lines count, for each kind, how many values are within 15 % and how many intervals contain the quiet value. Exit code 1 if fewer than nine of ten do.
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build" / "release" / "benanza"
RUNG = "library_fused"
WANTED_DISTANCE, WANTED_SHARE = 0.15, 0.9
GROUPS = pathlib.Path("/sys/fs/cgroup")
PR_SET_PDEATHSIG = 1  # prctl(2)
LOOP = "while True: pass"
COPY = "a = bytearray(1 << 28)\nb = memoryview(bytearray(1 << 28))\nwhile True: a[:] = b"
SOURCE = "#include <regex>\n#include <map>\nstd::map<std::string, std::regex> a;\n"


def child(*command, cpu=None):
    """A process of its own group, on one processor if `cpu` is given. It ends with this script, even if that is killed."""
    def start():
        os.setsid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
    return subprocess.Popen(command, preexec_fn=start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def disturbance(kind, folder):
    """Yields the words in front of the command that is measured."""
    cpus = sorted(os.sched_getaffinity(0))
    prefix, children, group = [], [], None
    if kind == "loops":
        children = [child(sys.executable, "-c", LOOP, cpu=cpu) for cpu in cpus]
    elif kind == "one":
        children = [child(sys.executable, "-c", LOOP, cpu=cpus[-1])]
    elif kind == "memory":
        children = [child(sys.executable, "-c", COPY)]
    elif kind == "compiler":
        source = folder / "source.cpp"
        source.write_text(SOURCE)
        children = [child("sh", "-c", f"while true; do c++ -O2 -c {source} -o {folder}/source.o; done")]
    elif kind == "quota":
        unified = (GROUPS / "cgroup.controllers").exists()  # control groups of version 2
        group = (GROUPS if unified else GROUPS / "cpu") / "benanza-busy"
        group.mkdir(exist_ok=True)
        (group / ("cpu.max" if unified else "cpu.cfs_quota_us")).write_text("50000 100000" if unified else "50000")
        prefix = ["sh", "-c", f"echo $$ > {group}/cgroup.procs && exec \"$@\"", "sh"]
    try:
        yield prefix
    finally:
        for process in children:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if group:
            group.rmdir()


def measure(model, kind, budget, threads):
    with tempfile.TemporaryDirectory() as folder, disturbance(kind, pathlib.Path(folder)) as prefix:
        result = pathlib.Path(folder) / "bound.json"
        command = [*prefix, PROGRAM, "bound", model, "--database", pathlib.Path(folder) / "results", "--budget", budget, "--threads", threads, "--quiet", "--json", result]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        return json.loads(result.read_text())["models"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("quiet")
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--kinds", default="loops,one,memory,compiler")
    parser.add_argument("--budget", default="45s")
    arguments = parser.parse_args()
    quiet = json.loads(pathlib.Path(arguments.quiet).read_text())["models"]
    by_file = {pathlib.Path(model["file"]).stem: model for model in quiet}
    models = arguments.models or [model["file"] for model in quiet]
    good = True
    for kind in arguments.kinds.split(","):
        near = held = count = 0
        for file in models:
            before = by_file[pathlib.Path(file).stem]
            model = measure(file, kind, arguments.budget, before["threads"])
            expected, bound = before["bounds_ms"][RUNG], model["bounds_ms"][RUNG]
            count += 1
            if bound is None or expected is None:
                print(f"{kind:9} {model['model'][:26]:26} no value: {model['missing'][:1]}", flush=True)
                continue
            if RUNG not in model["uncertainty"]:  # no interval: floors make up a part of it
                print(f"{kind:9} {model['model'][:26]:26} quiet {expected:9.4g} ms  busy {bound:9.4g} ms, {model['floor_share'][RUNG]:.0%} of it floors")
                continue
            half = model["uncertainty"][RUNG]
            of_quiet = before["uncertainty"][RUNG]
            contains = abs(bound - expected) <= (half ** 2 * bound ** 2 + of_quiet ** 2 * expected ** 2) ** 0.5
            near += abs(bound / expected - 1) <= WANTED_DISTANCE
            held += contains
            reason = model.get("provisional", {}).get(RUNG, "")
            print(f"{kind:9} {model['model'][:26]:26} quiet {expected:9.4g} ms  busy {bound:9.4g} ms +- {half:6.1%}  ratio {bound / expected:5.2f}  "
                  f"{'contains' if contains else 'MISSES'}  {reason}", flush=True)
        print(f"{kind}: {near} of {count} within {WANTED_DISTANCE:.0%}, {held} of {count} intervals contain the quiet value")
        good = good and near >= WANTED_SHARE * count and held >= WANTED_SHARE * count
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
