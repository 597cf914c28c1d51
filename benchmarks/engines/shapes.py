#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each line of tests/data/onnxruntime_shapes.txt in ONNX Runtime and compares the shapes with those of the line.

  benchmarks/engines/shapes.py [--write]        --write puts ONNX Runtime's shapes into the file

Installs ONNX and ONNX Runtime from PyPI into a user cache (once).
"""
import argparse
import re
import sys

import compare

FILE = compare.ROOT / "tests" / "data" / "onnxruntime_shapes.txt"
PACKAGES = [package for package in compare.PACKAGES if not package.startswith("openvino")]


def shapes_of(opset, inputs, constants, node):
    """Runs the node on numbers of its own; every input is a constant, since some kernels ask for that."""
    import numpy
    import onnx
    import onnxruntime

    text = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]> g ({inputs}) => (float y) <{constants}> {{ {node} }}'
    model = onnx.parser.parse_model(re.sub(r" <> ", " ", text))
    graph, random = model.graph, numpy.random.default_rng(2020)
    for value in graph.input:
        tensor = value.type.tensor_type
        shape, dtype = [d.dim_value for d in tensor.shape.dim], onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        numbers = random.random(shape) if numpy.issubdtype(dtype, numpy.floating) else numpy.ones(shape)
        graph.initializer.append(onnx.numpy_helper.from_array(numpy.asarray(numbers).astype(dtype), value.name))
    del graph.input[:], graph.output[:]
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in graph.node[0].output)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return "; ".join("x".join(map(str, output.shape)) or "scalar" for output in session.run(None, {}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if not compare.is_in_environment():
        compare.in_environment(__file__, PACKAGES)
    lines, different = [], 0
    for line in FILE.read_text().splitlines():
        if not line.startswith("#"):
            *case, expected = (field.strip() for field in line.split("|"))
            found = shapes_of(*case)
            if found != expected:
                different += 1
                print(f"{case[-1]}: {found}, the file has {expected or 'none'}")
            line = " | ".join([*case, found])
        lines.append(line)
    if arguments.write:
        FILE.write_text("\n".join(lines) + "\n")
    else:
        sys.exit(f"{different} lines differ" if different else None)


if __name__ == "__main__":
    main()
