#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Closes a gap that `benanza gap` shows: LRN layers, which ONNX Runtime computes on one core without vectors, as operators that it does well.

  examples/07_replace_lrn.py MODEL.onnx NEW.onnx

LRN of size n over channels is y = x / (k + alpha/n * sum of x^2 over n channels)^beta (ONNX operators, LRN). The sum with its factor and k is a
1x1 convolution of x^2 whose weights are a band and whose bias is k; a power of 0.75 is two square roots. Needs the packages onnx and numpy.
"""
import sys

import numpy
import onnx
from onnx import helper, numpy_helper


def shapes_of(model):
    graph = onnx.shape_inference.infer_shapes(model).graph
    return {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in [*graph.input, *graph.value_info]}


def band(channels, size, value):
    """Row c has `value` at the channels whose squares count for c: (size - 1) // 2 in front of it, the rest of them behind."""
    weights = numpy.zeros((channels, channels, 1, 1), numpy.float32)
    for c in range(channels):
        weights[c, max(0, c - (size - 1) // 2):c + size // 2 + 1] = value
    return weights


def replacement(node, channels):
    """Nodes and weights that compute what an LRN node does."""
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    alpha, beta, k, size = attributes.get("alpha", 1e-4), attributes.get("beta", 0.75), attributes.get("bias", 1.0), attributes["size"]
    x, y, name = node.input[0], node.output[0], node.name or node.output[0]
    weights = [
        numpy_helper.from_array(band(channels, size, alpha / size), name + "/band"),
        numpy_helper.from_array(numpy.full(channels, k, numpy.float32), name + "/k"),
    ]
    nodes = [
        helper.make_node("Mul", [x, x], [name + "/square"], name + "/square"),
        helper.make_node("Conv", [name + "/square", name + "/band", name + "/k"], [name + "/sum"], name + "/sum", kernel_shape=[1, 1]),
    ]
    if beta == 0.75:
        nodes += [
            helper.make_node("Sqrt", [name + "/sum"], [name + "/half"], name + "/half"),
            helper.make_node("Sqrt", [name + "/half"], [name + "/quarter"], name + "/quarter"),
            helper.make_node("Mul", [name + "/half", name + "/quarter"], [name + "/power"], name + "/power"),
        ]
    else:
        weights.append(numpy_helper.from_array(numpy.array(beta, numpy.float32), name + "/beta"))
        nodes.append(helper.make_node("Pow", [name + "/sum", name + "/beta"], [name + "/power"], name + "/power"))
    return [*nodes, helper.make_node("Div", [x, name + "/power"], [y], name + "/divide")], weights


def main(source, target):
    model = onnx.load(source)
    shapes = shapes_of(model)
    nodes, replaced = [], 0
    for node in model.graph.node:
        if node.op_type != "LRN":
            nodes.append(node)
            continue
        made, weights = replacement(node, shapes[node.input[0]][1])
        nodes += made
        model.graph.initializer.extend(weights)
        if model.ir_version < 4:
            model.graph.input.extend(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims) for tensor in weights)
        replaced += 1
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, target)
    print(f"{replaced} LRN layers replaced")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
