#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instruction sets and numbers of threads of one processor as devices: predicts models from one on another, and measures them there.

  benchmarks/predict_isa.py measure FOLDER DEVICE [MODEL.onnx...] [--budget 60s]    DEVICE: SSE41,1  AVX2,2  AVX512_CORE,2 ...
  benchmarks/predict_isa.py compare FOLDER [MODEL.onnx...] [--json FILE]

`measure` takes the rows of the layers by oneDNN with ONEDNN_MAX_CPU_ISA (default: the 44 models of examples/models), once for each device, on an
otherwise idle machine; it may be repeated to go on where a budget ended. `compare` predicts each model on each device from each other one by
`benanza predict`: the rows of the target are those of all other models, without any layer that the model has itself. What is predicted is
compared with the total of the model's own rows on the target, over the layers that both devices have. Prints the mean error by pair.
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("BENANZA") or ROOT / "build" / "release" / "benanza")
MODELS = sorted((ROOT / "examples" / "models" / "zoo2019").glob("*.onnx")) + sorted((ROOT / "examples" / "models" / "modern").glob("*.onnx"))


def measure(options):
    isa, threads = options.device.split(",")
    database = pathlib.Path(options.folder) / options.device
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": isa}
    command = [PROGRAM, "bound", *options.models, "--backend", "onednn", "--threads", threads, "--cache", "hot", "--budget", options.budget, "--database", database, "--json", os.devnull]
    return subprocess.run(command, env=environment, check=False).returncode


def predict(model, origin, target, threads):
    """The only target of `benanza predict`; nothing where the origin has no row of the model."""
    command = [PROGRAM, "predict", model, "--from", origin, "--to", target, "--from-threads", threads[0], "--to-threads", threads[1], "--json", "-", "--quiet"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(f"{model.stem}: {result.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(result.stdout)["models"][0]["targets"][0]


def signature_of(row):
    """`backend/algorithm/cache state/signature`."""
    return row["name"].split("/", 3)[3]


def without(signatures, database, folder):
    """The results of a database without the rows of these layers."""
    for file in sorted(pathlib.Path(database).glob("*.json")):
        document = json.loads(file.read_text())
        document["benchmarks"] = [row for row in document["benchmarks"] if row["name"].count("/") < 3 or signature_of(row) not in signatures]
        (pathlib.Path(folder) / file.name).write_text(json.dumps(document))
    return folder


def compared(model, origin, target):
    """Predicted and measured total of a model in ms, over the layers that have both, and the share of the time by the database."""
    threads = [path.name.split(",")[1] for path in (origin, target)]
    known = predict(model, origin, target, threads)
    if known is None:
        return None
    own = {layer["signature"]: layer for layer in known["layers"] if layer["method"] == "measured" and layer["origin_ms"] is not None}
    if not own:
        return None
    with tempfile.TemporaryDirectory() as folder:
        predicted = predict(model, origin, without(set(own), target, folder), threads)
    if predicted is None:
        return None
    total = {"predicted": 0, "measured": 0, "by database": 0, "layers": 0}
    for layer in predicted["layers"]:
        if layer["signature"] not in own or layer["time_ms"] is None:
            continue
        total["predicted"] += layer["time_ms"] * layer["count"]
        total["measured"] += own[layer["signature"]]["time_ms"] * layer["count"]
        total["by database"] += layer["time_ms"] * layer["count"] if layer["method"] == "database ratio" else 0
        total["layers"] += layer["count"]
    if total["measured"] == 0:
        return None
    return total | {"model": model.stem, "from": origin.name, "to": target.name, "interval": predicted["high_ms"] / predicted["total_ms"]}


def compare(options):
    devices = sorted(path for path in pathlib.Path(options.folder).iterdir() if path.is_dir())
    rows = []
    print(f"{'from':>16} {'to':>16} {'models':>7} {'mean error':>11} {'worst':>9} {'by database':>12}  worst model")
    for origin, target in itertools.permutations(devices, 2):
        found = [one for one in (compared(pathlib.Path(model), origin, target) for model in options.models) if one]
        if not found:
            continue
        rows += found
        errors = [abs(one["predicted"] / one["measured"] - 1) for one in found]
        share = sum(one["by database"] for one in found) / sum(one["predicted"] for one in found)
        worst = found[errors.index(max(errors))]["model"]
        print(f"{origin.name:>16} {target.name:>16} {len(found):>7} {100 * statistics.fmean(errors):>9.1f} % {100 * max(errors):>7.1f} % {100 * share:>10.1f} %  {worst}", flush=True)
    if not rows:
        sys.exit("no model has rows on two devices")
    errors = [abs(one["predicted"] / one["measured"] - 1) for one in rows]
    print(f"all: {len({one['model'] for one in rows})} models, {len(devices)} devices, mean error {100 * statistics.fmean(errors):.1f} %, median {100 * statistics.median(errors):.1f} %")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("folder")
    measuring.add_argument("device")
    measuring.add_argument("models", nargs="*", default=MODELS)
    measuring.add_argument("--budget", default="60s")
    comparing = commands.add_parser("compare")
    comparing.add_argument("folder")
    comparing.add_argument("models", nargs="*", default=MODELS)
    comparing.add_argument("--json")
    options = parser.parse_args()
    return measure(options) if options.command == "measure" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
