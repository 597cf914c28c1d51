#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `benanza run` computes with what ONNX Runtime computes: the same model, weights and inputs.

  benchmarks/engines/outputs.py [MODEL.onnx...]            default: the 44 of examples/models
  benchmarks/engines/outputs.py --write FILE MODEL...      writes a few numbers of ONNX Runtime's outputs, for tests

Installs ONNX and ONNX Runtime from PyPI into a user cache (once). Inputs are random, and so are weights that a ConstantOfShape fills, by the scheme
of compare.py, which `benanza run --weights random:SEED` has too. Prints for each model the largest difference of an output, relative to its largest
magnitude, and whether it is allowed: 1e-3 in f32, 2e-2 in 16 bits, equal integers; or twice the difference between ONNX Runtime without and with its
optimisations, which round in other places, if that is more (in quantised models, a rounding to the other side is a whole step). `ORT` is that
difference. A model proves nothing if all of its outputs are zero, or if ONNX Runtime differs from itself by more than 0.1 in one of them. Then prints
the largest difference of each type. Exit code 1 if an output is wrong or a model fails.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import compare

PACKAGES = [package for package in compare.PACKAGES if not package.startswith("openvino")]
ALLOWED = {"float64": 1e-3, "float32": 1e-3, "float16": 2e-2, "bfloat16": 2e-2}
ALLOWED_OF_ENGINE = 2  # times the difference of the engine from itself
MOST_OF_ENGINE = 0.1  # above this, nothing can be told from its outputs
NOTHING = "proves nothing"
WRITTEN = 6  # numbers of each output


def onnxruntime_outputs(path, feed, threads=1, optimized=False):
    """Name -> array of the outputs that are tensors. Graph optimisations change results (other roundings)."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    results = dict(zip([output.name for output in session.get_outputs()], session.run(None, feed)))
    return {name: result for name, result in results.items() if hasattr(result, "dtype")}  # not sequences


def file_name(name, taken):
    """As the program names its files."""
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name.encode()[:100].decode("latin1"))
    stem = "_" + stem if not stem or stem[0] in ".-" else stem
    result, i = stem, 2
    while result in taken:
        result, i = f"{stem}-{i}", i + 1
    taken.add(result)
    return result + ".npy"


def benanza_outputs(arguments, path, feed, names, folder):
    """The same from the program, and the last lines that it said of the reference."""
    import numpy

    command = [str(arguments.program), "run", path, "--quiet", "--output", f"{folder}/out", "--threads", str(arguments.threads)]
    command += ["--weights", f"random:{compare.SEED}", *arguments.options]
    for i, (name, array) in enumerate(feed.items()):
        file = f"{folder}/input_{i}.npy"
        numpy.save(file, array)
        command += ["--input", f"{name}={file}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError((result.stderr.strip() or result.stdout.strip()).splitlines()[-1])
    taken = set()
    said = [line for line in result.stdout.splitlines() if line.startswith(("by the reference", "no layer"))]
    return {name: numpy.load(f"{folder}/out/{file_name(name, taken)}") for name in names}, said[0]


def difference(expected, got):
    """Relative to the largest magnitude; what is not finite has to be so in both."""
    import numpy

    if expected.shape != got.shape:
        return float("inf")
    a, b = expected.astype(numpy.float64), got.astype(numpy.float64)
    finite = numpy.isfinite(a)
    if not numpy.array_equal(a[~finite], b[~finite], equal_nan=True):
        return float("inf")
    a, b = a[finite], b[finite]
    if a.size == 0:
        return 0.0
    largest = numpy.abs(a).max()
    return float(numpy.abs(a - b).max() / (largest if largest > 0 else 1))


def allowed(dtype, of_engine):
    """The largest difference that is right. `of_engine`: what the engine differs from itself by."""
    return max(ALLOWED.get(dtype, 0), ALLOWED_OF_ENGINE * of_engine if of_engine <= MOST_OF_ENGINE else 0)


def judged(expected, optimized, got):
    """The word for a model, and for each type the largest differences: of the program, and of the engine from itself. The three are outputs by name."""
    is_right, is_told, worst = True, any(array.any() for array in expected.values()), {}
    for output, array in expected.items():
        dtype = str(array.dtype)
        found, of_engine = difference(array, got[output]), difference(array, optimized[output])
        if allowed(dtype, of_engine) < found < float("inf") and of_engine > MOST_OF_ENGINE:  # not another shape
            is_told = False
        else:
            is_right &= found <= allowed(dtype, of_engine)
        worst[dtype] = tuple(map(max, worst.get(dtype, (0, 0)), (found, of_engine)))
    return ("right" if is_told else NOTHING) if is_right else "WRONG", worst


def compare_model(arguments, path):
    """Prints the line of one model. Returns its word ("" where it failed), and the largest differences of each type."""
    name = pathlib.Path(path).stem[:30]
    with tempfile.TemporaryDirectory() as folder:
        try:
            feed = compare.inputs_of(path)
            copy = compare.with_weights(path, folder)
            expected, optimized = onnxruntime_outputs(copy, feed), onnxruntime_outputs(copy, feed, optimized=True)
            got, said = benanza_outputs(arguments, path, feed, expected, folder)
        except Exception as error:  # an engine that refuses the model: the next one may be fine
            print(f"{name:31}{str(error).strip().splitlines()[-1]}", flush=True)
            return "", {}
    word, worst = judged(expected, optimized, got)
    text = ", ".join(f"{dtype} {found:.1e} (ORT {of_engine:.1e})" for dtype, (found, of_engine) in worst.items())
    print(f"{name:31}{word:16}{text:50}{said}", flush=True)
    return word, worst


def compare_models(arguments, models):
    """Prints a line for each model and the totals. Returns whether none is wrong and none failed. `models`: paths."""
    words, worst = [], {}
    for path in models:
        word, found = compare_model(arguments, path)
        words.append(word)
        for dtype, values in found.items():
            worst.setdefault(dtype, []).append(values)
    print(f"{words.count('right')} of {len(words)} models are right, {words.count(NOTHING)} prove nothing, {words.count('WRONG')} are wrong, {words.count('')} failed")
    for dtype, values in sorted(worst.items()):
        most, of_engine = map(max, zip(*values))
        print(f"{dtype}: in {len(values)} models, differs by {most:.1e} of the largest magnitude at most; ONNX Runtime from itself by {of_engine:.1e}")
    return not words.count("WRONG") and not words.count("")


def write_expected(models, file):
    """A line `model | output | index=number ...` for each output, with the largest magnitude as its first number."""
    import numpy

    lines = ["# ONNX Runtime's outputs with the random inputs and weights of compare.py: benchmarks/engines/outputs.py --write"]
    for path in models:
        with tempfile.TemporaryDirectory() as folder:
            outputs = onnxruntime_outputs(compare.with_weights(path, folder), compare.inputs_of(path))
        for name, array in outputs.items():
            flat = array.reshape(-1).astype(numpy.float64)
            places = sorted({int(i) for i in numpy.linspace(0, flat.size - 1, WRITTEN)})
            numbers = " ".join(f"{i}={flat[i]:.8g}" for i in places)
            relative = pathlib.Path(path).resolve().relative_to(compare.ROOT / "examples" / "models")
            lines.append(f"{relative} | {name} | {numpy.abs(flat).max():.8g} {numbers}")
    pathlib.Path(file).write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--program", type=pathlib.Path, default=compare.PROGRAM, help="default: build/release/benanza")
    parser.add_argument("--options", nargs="*", default=[], help="of `benanza run`, such as --options=--check")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--here", action="store_true", help="with the packages of the Python that runs this")
    arguments = parser.parse_args()
    if not arguments.here and not compare.is_in_environment():
        compare.in_environment(__file__, PACKAGES)
    models = arguments.models or compare.all_models()
    if arguments.write:
        return write_expected(models, arguments.write)
    return sys.exit(0 if compare_models(arguments, models) else 1)


if __name__ == "__main__":
    main()
