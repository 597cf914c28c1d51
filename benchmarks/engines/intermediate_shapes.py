#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the shape of each tensor of a model as Benanza infers it with the shape that ONNX Runtime computes.

  benchmarks/engines/intermediate_shapes.py [MODEL.onnx...]        default: those of benchmarks/wild.py, examples/models and ONNX's own cases

Runs each model at the sizes that `benanza layers --tensors` assumes or proposes, in ONNX Runtime without its optimisations and with every tensor of the
graph as an output. A model with symbolic sizes is run a second time at others, the first of these that both accept: all sizes doubled, 32 more each, one
more each, only those that were assumed doubled. A case of ONNX's gets the inputs that are beside it. A shape that depends on data has to be at most what ONNX Runtime computes in
each dimension. Fetches and installs what lacks, as wild.py does. Ends with 1 where a shape differs.
"""
import argparse
import collections
import json
import math
import pathlib
import sys
import tempfile

import compare

sys.path.insert(0, str(compare.ROOT / "benchmarks"))

import wild  # noqa: E402

MOST_ELEMENTS = 1 << 28  # sum over all tensors of a model: larger ones take too much memory
NEWEST_IR_VERSION, NEWEST_OPSET = 10, 26  # that ONNX Runtime is given: it refuses newer ones than its own, also where no operator is another
LEVELS = ["ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_LAYOUT", "ORT_ENABLE_ALL"]
MOST_OF_A_CONSTANT = 1 << 16  # elements: those of shape arithmetic, not weights


def default_models():
    cases = sorted(str(file) for folder in (compare.CACHE / "deps").glob("onnx-cases-*") for file in folder.rglob("*.onnx"))
    examples = sorted(str(file) for file in (compare.ROOT / "examples" / "models").rglob("*.onnx"))
    return wild.fetch(compare.CACHE / "wild") + examples + cases


def given_inputs(path, inputs):
    """The inputs that lie beside a case of ONNX's, by name."""
    import onnx
    from onnx import numpy_helper

    feed = {}
    for i, value in enumerate(inputs):
        file = path.parent / "test_data_set_0" / f"input_{i}.pb"
        if not file.exists():
            continue
        kind = value.type.WhichOneof("value")
        message, read = {"tensor_type": (onnx.TensorProto, numpy_helper.to_array), "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
                         "optional_type": (onnx.OptionalProto, numpy_helper.to_optional)}[kind]
        feed[value.name] = read(message.FromString(file.read_bytes()))
    return feed


def tensors_of(path, feed, values, dims=None):
    """Benanza's view of the model, at the sizes `dims`: (its entry in the JSON document or None, what it said)"""
    command = ["layers", path, "--tensors"]
    for symbol, size in (dims or {}).items():
        command += ["--dim", f"{symbol}={size}"]
    for name, array in feed.items():
        if getattr(array, "shape", ()):
            command += ["--input", f"{name}={'x'.join(map(str, array.shape))}"]
    for name, value in values.items():
        command += ["--value", f"{name}={value}"]
    document, said = wild.program(*command)
    if document is None and (sizes := wild.proposed_sizes(said)):
        document, said = wild.program(*command, *(word for symbol, size in sizes.items() for word in ("--dim", f"{symbol}={size}")))
    numbers = {name: int(array) for name, array in feed.items() if getattr(array, "shape", None) == () and array.dtype.kind in "iub"}
    if document is None and numbers:
        document, said = wild.program(*command, *(word for name, number in numbers.items() for word in ("--value", f"{name}={number}")))
    return (document["models"][0] if document else None), said


def run_in_engine(model, feed, names):
    """Values of `names` by name; every other output of the graph is dropped."""
    import onnx
    import onnxruntime

    model.ir_version = min(model.ir_version, NEWEST_IR_VERSION)
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx"):
            opset.version = min(opset.version, NEWEST_OPSET)
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = {value.name for value in session.get_inputs()}
    return dict(zip(names, session.run(names, {name: array for name, array in feed.items() if name in wanted})))


def differs(tensor, found):
    """Whether ONNX Runtime's shape contradicts Benanza's."""
    shape = tensor["shape"]
    if tensor["depends_on_data"]:
        return len(shape) != len(found) or any(least > size for least, size in zip(shape, found))
    return shape != list(found)


def optimized(path, level, folder):
    """The file that ONNX Runtime's optimisations of that level make of a model; None where it refuses the model or the file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath = str(pathlib.Path(folder) / f"{path.stem}.{level}.onnx")
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:  # what ONNX Runtime raises has no common class
        return None
    return pathlib.Path(options.optimized_model_filepath)


def models_of(path, arguments, folder):
    """The model, and with --optimized what ONNX Runtime makes of it."""
    yield path
    for level in LEVELS if arguments.optimized else []:
        if (file := optimized(path, level, folder)) and file.stat().st_size:
            yield file
            file.unlink()


def other_sizes(entry):
    """Sizes to try for a model that was compared at those of `entry`."""
    dims, assumed = entry.get("dims", {}), entry.get("assumed", {})
    changed = [{symbol: change(size) for symbol, size in dims.items()} for change in (lambda n: 2 * n, lambda n: n + 32, lambda n: n + 1)]
    if assumed:
        changed.append(dims | {symbol: 2 * size for symbol, size in assumed.items()})
    return [sizes for sizes in changed if sizes]


def examine(path):
    """For each set of sizes: (what became of the model, counts, lines to print)"""
    entry, result = examine_at(path)
    yield result
    if result[0] != "compared" or (path.parent / "test_data_set_0").exists():
        return
    for sizes in other_sizes(entry):
        _, (outcome, counts, lines) = examine_at(path, sizes)
        if outcome == "compared":
            yield "compared at other sizes", counts, [f"at {sizes}", *lines]
            return
    if other_sizes(entry):
        yield "no other sizes fit", {}, []


def examine_at(path, dims=None):
    """(Benanza's entry, (what became of the model, counts, lines to print))"""
    import onnx
    import onnx.inliner

    model = onnx.load(path, load_external_data=False)
    weights = {initializer.name for initializer in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    feed = given_inputs(path, inputs)
    values = {} if feed else {value.name: compare.VALUES[value.name] for value in inputs if value.name in compare.VALUES}
    entry, said = tensors_of(path, feed, values, dims)
    if entry is None:
        return None, ("refused", {}, [said.splitlines()[0] if said else "no reason given"])
    tensors = {tensor["name"]: tensor for tensor in entry["tensors"]}
    tensors |= {output.name: tensors[name] for output, name in zip(model.graph.output, entry["outputs"])}
    if sum(math.prod(tensor["shape"]) for tensor in tensors.values()) > MOST_ELEMENTS:
        return entry, ("too large", {}, [])
    try:
        onnx.load_external_data_for_model(model, str(path.parent))
        if not feed:
            shapes = {name: tensor["shape"] for name, tensor in tensors.items()} | {name: [] for name in values}
            feed = compare.random_inputs(inputs, shapes)
        if model.functions:
            model = onnx.inliner.inline_local_functions(model)
        made = {name for node in model.graph.node for name in node.output if name}
        names = [name for name in made if name in tensors and not (tensors[name]["constant"] and math.prod(tensors[name]["shape"]) > MOST_OF_A_CONSTANT)]
        found = run_in_engine(model, feed, names) if names else {}
    except Exception as error:  # what ONNX Runtime raises has no common class
        return entry, ("engine refused", {}, [str(error).splitlines()[0]])
    counts, lines = collections.Counter(), []
    for name, array in found.items():
        if not hasattr(array, "shape"):
            continue  # a sequence, a map, an optional that is empty
        tensor = tensors[name]
        wrong = differs(tensor, array.shape)
        counts["different" if wrong else "depending on data" if tensor["depends_on_data"] else "equal"] += 1
        if wrong:
            lines.append(f"{name}: ONNX Runtime {list(array.shape)}, Benanza {'at least ' if tensor['depends_on_data'] else ''}{tensor['shape']}")
    return entry, ("compared", counts, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--program", type=pathlib.Path, default=compare.PROGRAM, help="(default: build/release/benanza)")
    parser.add_argument("--optimized", action="store_true", help="also the files that ONNX Runtime's optimisations of each level write")
    parser.add_argument("--all", action="store_true", help="also prints why models were refused, and models that agree")
    parser.add_argument("--json", metavar="FILE", help="writes what became of each model")
    arguments = parser.parse_args()
    if not compare.is_in_environment():
        compare.in_environment(__file__, wild.PACKAGES)
    compare.PROGRAM = arguments.program.resolve()
    outcomes, total, rows = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for path in (model for file in arguments.models or default_models() for model in models_of(pathlib.Path(file), arguments, folder)):
            for outcome, counts, lines in examine(path):
                outcomes[outcome] += 1
                total.update(counts)
                rows.append({"file": str(path), "outcome": outcome, "tensors": counts, "lines": lines})
                if arguments.all or counts.get("different"):
                    print(f"{path}: {outcome}{''.join(f', {count} {what}' for what, count in counts.items())}", flush=True)
                    print("".join(f"  {line}\n" for line in lines), end="", flush=True)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1))
    print(f"{sum(outcomes.values())} runs: {', '.join(f'{count} {outcome}' for outcome, count in outcomes.items())}")
    print(f"{sum(total.values())} tensors: {', '.join(f'{count} {what}' for what, count in total.items())}")
    sys.exit(1 if total["different"] else 0)


if __name__ == "__main__":
    main()
