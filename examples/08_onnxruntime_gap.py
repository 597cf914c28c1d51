#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run of ONNX Runtime loses against the bounds, where, and what would help: a profile, handed to `benanza gap`.

  examples/08_onnxruntime_gap.py MODEL.onnx [OPTION of benanza gap...]        such as --html gap.html

For models with inputs of floats and fixed shapes. Needs the packages onnxruntime and numpy; the profile stays in the current folder.
"""
import argparse
import os
import pathlib
import subprocess
import sys

BENANZA = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "benanza"
THREADS, WARM_UPS, RUNS = len(os.sched_getaffinity(0)), 5, 30


def main(model, gap_options):
    import numpy
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {x.name: numpy.random.standard_normal(x.shape).astype(numpy.float32) for x in session.get_inputs()}
    for _ in range(WARM_UPS + RUNS):
        session.run(None, feed)
    profile = session.end_profiling()
    command = [BENANZA, "gap", model, "--profile", profile, "--warm-ups", str(WARM_UPS), "--threads", str(THREADS), *gap_options]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s MODEL.onnx [OPTION of benanza gap...]", formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("model", metavar="MODEL.onnx")
    known, gap_options = parser.parse_known_args()
    sys.exit(main(known.model, gap_options))
