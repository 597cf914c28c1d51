#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes training_ort/: training graphs that ONNX Runtime makes of small networks.

  tests/data/training_ort.py        written with onnxruntime-training 1.19.2, onnx 1.16.2, numpy 1.26.4 (Python 3.11)

onnxruntime.training imports torch, of any version. NETWORK_LOSS.onnx is training_model.onnx, which has forward, loss, backward and the
accumulation of gradients. OPTIMIZER.onnx is optimizer_model.onnx, which is
the same for all networks.
"""
import pathlib
import shutil
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.training import artifacts

FOLDER = pathlib.Path(__file__).resolve().parent / "training_ort"
RANDOM = np.random.default_rng(0)


def weight(name, *dims):
    return numpy_helper.from_array((RANDOM.standard_normal(dims) * 0.1).astype(np.float32), name)


def constant(name, value, kind=np.int64):
    return numpy_helper.from_array(np.array(value, kind), name)


def model(opset, nodes, inputs, result, parameters, others):
    """ONNX Runtime wants all outputs that the gradients of a node read, and BatchNormalization of operator set 14."""
    nodes = [helper.make_node(kind, ins, outs, name=outs[0] + "_node", domain="com.microsoft" if kind == "Gelu" else "", **attributes)
             for kind, ins, outs, attributes in nodes]
    inputs = [helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in inputs]
    outputs = [helper.make_tensor_value_info(result[0], TensorProto.FLOAT, result[1])]
    graph = helper.make_graph(nodes, "network", inputs, outputs, parameters + others)
    made = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)])
    onnx.checker.check_model(made)
    return made, [one.name for one in parameters]


def convolutions():
    nodes = [("Conv", ["x", "w1", "b1"], ["c1"], {"pads": [1] * 4}),
             ("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1", "new_mean", "new_variance"], {"training_mode": 1}),
             ("Relu", ["n1"], ["r1"], {}),
             ("MaxPool", ["r1"], ["p1", "places"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
             ("Conv", ["p1", "w2"], ["c2"], {"pads": [1] * 4, "strides": [2, 2]}),
             ("GlobalAveragePool", ["c2"], ["g"], {}),
             ("Flatten", ["g"], ["f"], {}),
             ("Dropout", ["f", "ratio", "training"], ["d", "mask"], {}),
             ("Gemm", ["d", "w3", "b3"], ["y"], {"transB": 1})]
    parameters = [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("scale", 8), weight("shift", 8), weight("w2", 16, 8, 3, 3),
                  weight("w3", 10, 16), weight("b3", 10)]
    others = [weight("mean", 8), constant("variance", np.ones(8), np.float32), constant("ratio", 0.1, np.float32),
              constant("training", True, np.bool_)]
    return model(14, nodes, [("x", TensorProto.FLOAT, [2, 3, 16, 16])], ("y", [2, 10]), parameters, others)


def transformer():
    """Sequences of any number and length: 8 channels, 2 heads, 20 words."""
    nodes = [("Gather", ["words", "ids"], ["e"], {}),
             ("Shape", ["ids"], ["sizes"], {}),
             ("Slice", ["sizes", "one", "two"], ["length"], {}),
             ("Slice", ["places", "zero", "length", "zero"], ["p"], {}),
             ("Add", ["e", "p"], ["a"], {}),
             ("LayerNormalization", ["a", "scale1", "shift1"], ["l1", "mean1", "inverse1"], {}),
             ("MatMul", ["l1", "w_qkv"], ["qkv"], {}),
             ("Split", ["qkv", "thirds"], ["q0", "k0", "v0"], {"axis": 2})]
    for one in "qkv":
        nodes += [("Reshape", [one + "0", "heads"], [one + "1"], {}),
                  ("Transpose", [one + "1"], [one + "2"], {"perm": [0, 2, 3, 1] if one == "k" else [0, 2, 1, 3]})]
    nodes += [("MatMul", ["q2", "k2"], ["s0"], {}),
              ("Div", ["s0", "root"], ["s1"], {}),
              ("Softmax", ["s1"], ["s2"], {"axis": -1}),
              ("MatMul", ["s2", "v2"], ["o0"], {}),
              ("Transpose", ["o0"], ["o1"], {"perm": [0, 2, 1, 3]}),
              ("Reshape", ["o1", "merged"], ["o2"], {}),
              ("MatMul", ["o2", "w_o"], ["o3"], {}),
              ("Add", ["o3", "b_o"], ["o4"], {}),
              ("Add", ["a", "o4"], ["r"], {}),
              ("LayerNormalization", ["r", "scale2", "shift2"], ["l2", "mean2", "inverse2"], {}),
              ("MatMul", ["l2", "w_up"], ["u0"], {}),
              ("Add", ["u0", "b_up"], ["u1"], {}),
              ("Gelu", ["u1"], ["u2"], {}),
              ("MatMul", ["u2", "w_down"], ["d0"], {}),
              ("Add", ["d0", "b_down"], ["d1"], {}),
              ("Add", ["r", "d1"], ["z"], {}),
              ("MatMul", ["z", "w_head"], ["y0"], {}),
              ("Reshape", ["y0", "rows"], ["y"], {})]
    parameters = [weight("words", 20, 8), weight("places", 10, 8), weight("scale1", 8), weight("shift1", 8), weight("w_qkv", 8, 24),
                  weight("w_o", 8, 8), weight("b_o", 8), weight("scale2", 8), weight("shift2", 8), weight("w_up", 8, 32),
                  weight("b_up", 32), weight("w_down", 32, 8), weight("b_down", 8), weight("w_head", 8, 20)]
    others = [constant("zero", [0]), constant("one", [1]), constant("two", [2]), constant("thirds", [8, 8, 8]),
              constant("heads", [0, -1, 2, 4]), constant("merged", [0, -1, 8]), constant("rows", [-1, 20]), constant("root", 2, np.float32)]
    return model(17, nodes, [("ids", TensorProto.INT64, ["batch", "length"])], ("y", ["rows_of_all", 20]), parameters, others)


def pyramid():
    """Two convolutions side by side, and their joined results at twice the size."""
    nodes = [("Conv", ["x", "w1"], ["c1"], {}),
             ("Sigmoid", ["c1"], ["s1"], {}),
             ("Conv", ["x", "w2"], ["c2"], {}),
             ("Tanh", ["c2"], ["t2"], {}),
             ("Concat", ["s1", "t2"], ["j"], {"axis": 1}),
             ("Resize", ["j", "", "scales"], ["u"], {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}),
             ("ReduceSum", ["u", "axes"], ["y"], {"keepdims": 0})]
    parameters = [weight("w1", 4, 3, 1, 1), weight("w2", 6, 3, 1, 1)]
    others = [constant("scales", [1, 1, 2, 2], np.float32), constant("axes", [2, 3])]
    return model(13, nodes, [("x", TensorProto.FLOAT, [2, 3, 8, 8])], ("y", [2, 10]), parameters, others)


def write(name, network, loss, optimizer):
    made, parameters = network
    with tempfile.TemporaryDirectory() as folder:
        artifacts.generate_artifacts(made, requires_grad=parameters, loss=loss, optimizer=optimizer, artifact_directory=folder)
        shutil.copy(pathlib.Path(folder) / "training_model.onnx", FOLDER / (name + ".onnx"))
        shutil.copy(pathlib.Path(folder) / "optimizer_model.onnx", FOLDER / (optimizer.name.lower() + ".onnx"))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    losses, optimizers = artifacts.LossType, artifacts.OptimType
    write("convolutions_cross_entropy", convolutions(), losses.CrossEntropyLoss, optimizers.AdamW)
    write("transformer_mse", transformer(), losses.MSELoss, optimizers.SGD)
    write("pyramid_mse", pyramid(), losses.MSELoss, optimizers.SGD)
