#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the import of models takes: `benanza layers`, the ONNX library alone (onnx_alone) and onnx-tool on the same files.

  benchmarks/import.py [MODEL.onnx...]        default: the 44 of examples/models

Installs onnx-tool from PyPI into the user cache of benchmarks/engines (once), unless --without-onnx-tool leaves it out. Each program is a process for
all models together, one after the other in turns, so that a slow phase of the machine meets all of them. Prints seconds (least, median), the least
processor time and the most memory; and how many times as long as the ONNX library alone `benanza layers` takes. Run it on an otherwise idle machine.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "engines"))

import compare  # noqa: E402

BUILD = ROOT / "build" / "release"
PACKAGES = [package for package in compare.PACKAGES if package.startswith(("numpy==", "onnx=="))] + ["onnx-tool==1.0.1"]


def profile_by_onnx_tool(models):
    """Shapes and multiply-adds of each model."""
    import onnx_tool

    for path in models:
        try:
            graph = onnx_tool.Model(path).graph
            graph.shape_infer()
            graph.profile()
        except Exception as error:  # whatever it makes of a model, the others count
            print(f"{path}: onnx-tool: {type(error).__name__}: {error}", file=sys.stderr)


def measured(command, errors):
    """Seconds by the clock and of the processor, and megabytes of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]}: exit code {process.returncode}, expected 0")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def measure(models, turns, onnx_tool):
    programs = {
        "benanza layers": [BUILD / "benanza", "layers", *models],
        "onnx_alone": [BUILD / "benchmarks" / "onnx_alone", *models],
    }
    if onnx_tool:
        programs["onnx-tool"] = [sys.executable, __file__, "--worker", *models]
    samples = {name: [] for name in programs}
    for turn in range(turns):
        for name, command in programs.items():
            samples[name].append(measured(command, None if turn == 0 else subprocess.DEVNULL))
    print(f"{len(models)} models, {turns} turns, {PACKAGES[-1] + ', ' if onnx_tool else ''}{time.strftime('%Y-%m-%d')}")
    print(f"{'program':16}{'min s':>8}{'median s':>10}{'processor s':>13}{'peak MB':>9}")
    for name, runs in samples.items():
        seconds, processor, megabytes = zip(*runs)
        print(f"{name:16}{min(seconds):8.3f}{statistics.median(seconds):10.3f}{min(processor):13.3f}{max(megabytes):9.0f}")
    layers, alone = ([min(column) for column in zip(*samples[name])] for name in ("benanza layers", "onnx_alone"))
    print(f"benanza layers takes {layers[0] / alone[0]:.2f} times as long as onnx_alone, and {layers[1] / alone[1]:.2f} times its processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--turns", type=int, default=5, help="processes of each program (default: 5)")
    parser.add_argument("--without-onnx-tool", action="store_true", help="compare with the ONNX library alone; nothing is installed")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.without_onnx_tool and not compare.is_in_environment():
        compare.in_environment(__file__, PACKAGES)
    if arguments.worker:
        profile_by_onnx_tool(arguments.models)
    else:
        measure(arguments.models or compare.all_models(), arguments.turns, not arguments.without_onnx_tool)


if __name__ == "__main__":
    main()
