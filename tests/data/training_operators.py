#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks of single operators into training/, in the form of training_networks.py, with what PyTorch makes of them.

  tests/data/training_operators.py [NAME...]        written with torch 2.15.0 and onnx 1.23.2

Each part of a network is an operator that reads parameters of its own, and a function of PyTorch that computes the same. The result is all parts in one
row, times the input x. The network `losses` computes its own loss.
"""
import pathlib
import sys

import numpy
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent / "training"
OPSET = 28


class Network:
    """An ONNX graph of parts, and the parameters that PyTorch computes them from."""

    def __init__(self):
        self.nodes, self.constants, self.parameters, self.parts = [], [], {}, []

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def part(self, name, op, function, *operands, settings=(), **attributes):
        """`operands`: the numbers of the parameters, its first inputs; `settings`: inputs behind them, "" for one that is left out."""
        names = [f"{name}.{i}" for i in range(len(operands))]
        for key, numbers in zip(names, operands):
            self.parameters[key] = torch.as_tensor(numbers, dtype=torch.float32).clone().requires_grad_()
            self.constant(key, self.parameters[key].detach().numpy())
        fixed = [self.constant(f"{name}.setting.{i}", value) if len(numpy.shape(value)) or value != "" else "" for i, value in enumerate(settings)]
        self.nodes.append(helper.make_node(op, names + fixed, [name], name=name, **attributes))
        self.nodes.append(helper.make_node("Reshape", [name, "row"], [f"{name}.row"], name=f"{name}.row"))
        self.parts.append((f"{name}.row", lambda: function(*(self.parameters[key] for key in names)).reshape(1, -1)))

    def parts_of(self, name, function, operand, places, settings=(), **attributes):
        """SplitToSequence, and a SequenceAt for each of the places: a part each. `function` returns the parts that are taken."""
        key, sequence = f"{name}.0", f"{name}.sequence"
        self.parameters[key] = operand.clone().requires_grad_()
        self.constant(key, operand.numpy())
        self.nodes.append(helper.make_node("SplitToSequence", [key, *(self.constant(f"{name}.split", value) for value in settings)], [sequence], name=name, **attributes))
        for i, place in enumerate(places):
            taken, index = f"{name}.at.{place}", self.constant(f"{name}.place.{i}", numpy.int64(place))
            self.nodes.append(helper.make_node("SequenceAt", [sequence, index], [taken], name=taken))
            self.nodes.append(helper.make_node("Reshape", [taken, "row"], [f"{taken}.row"], name=f"{taken}.row"))
            self.parts.append((f"{taken}.row", lambda i=i: function(self.parameters[key])[i].reshape(1, -1)))

    def forward(self):
        return torch.cat([function() for _, function in self.parts], 1)

    def save(self, name, x):
        self.constant("row", numpy.array([1, -1], dtype=numpy.int64))
        self.nodes.append(helper.make_node("Concat", [row for row, _ in self.parts], ["all"], name="all", axis=1))
        self.nodes.append(helper.make_node("Mul", ["all", "x"], ["y"], name="y"))
        write(name, self.nodes, self.constants, {"x": x}, ("y", list(x.shape)))


def write(name, nodes, constants, inputs, output):
    kinds = {torch.float32: TensorProto.FLOAT, torch.int64: TensorProto.INT64}
    given = [helper.make_tensor_value_info(key, kinds[value.dtype], list(value.shape)) for key, value in inputs.items()]
    graph = helper.make_graph(nodes, name, given, [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, FOLDER / f"{name}.onnx")


AXIS = (numpy.array([1], dtype=numpy.int64),)
LAST = (numpy.int64(1),)


def reductions():
    """Rows with one zero and with two, rows of zeros, ties."""
    net, randn = Network(), torch.randn
    rows = [[1.5, -2, 0.5, 3], [2, 0, -1.5, 4], [0, 3, 0, -1], [0.5, 0.25, -4, 2]]
    ties = [[1, 3, 3, -2], [0.5, 0.5, 0.5, 0.5], [2, -1, -1, -1], [4, 1, 0, 2]]
    net.part("ReduceProd", "ReduceProd", lambda x: x.prod(1), rows, settings=AXIS, keepdims=0)
    net.part("ReduceProd.all", "ReduceProd", lambda x: x.flatten().prod(0), [[1.5, -2], [0, 3]], keepdims=0)
    net.part("ReduceL2", "ReduceL2", lambda x: torch.linalg.vector_norm(x, dim=1), [[3, 4, -1], [0, 0, 0], [0, 2, 0]], settings=AXIS)
    net.part("ReduceL1", "ReduceL1", lambda x: torch.linalg.vector_norm(x, 1, dim=1), rows, settings=AXIS)
    net.part("ReduceMax", "ReduceMax", lambda x: x.amax(1), ties, settings=AXIS)
    net.part("ReduceMin", "ReduceMin", lambda x: x.amin(1), ties, settings=AXIS, keepdims=0)
    net.part("ReduceLogSum", "ReduceLogSum", lambda x: x.sum(1).log(), torch.rand(3, 4) + 0.5, settings=AXIS)
    net.part("ReduceSumSquare", "ReduceSumSquare", lambda x: x.square().sum(1), randn(3, 4), settings=AXIS)
    net.part("ReduceLogSumExp", "ReduceLogSumExp", lambda x: x.logsumexp(1), randn(3, 4), settings=AXIS)
    net.part("Max", "Max", torch.maximum, [[1, 2, 3], [-1, 0, 1]], [[1, 0, 3], [2, 0, -1]])
    net.part("Min", "Min", torch.minimum, [[1, 2, 3], [-1, 0, 1]], [1, 2, 0])
    net.part("Max.three", "Max", lambda a, b, c: torch.stack((a, b, c)).amax(0), [1, 2, 3, 0.5], [1, 5, 3, -1], [1, 5, 2, 0])
    net.part("Mean", "Mean", lambda a, b, c: (a + b + c) / 3, randn(2, 3), randn(3), randn(2, 1))
    net.part("CumSum", "CumSum", lambda x: x.flip(1).cumsum(1).flip(1), randn(2, 4), settings=LAST, reverse=1)
    net.part("CumProd", "CumProd", lambda x: x.cumprod(1), rows, settings=LAST)
    net.part("CumProd.back", "CumProd", lambda x: x.flip(1).cumprod(1).flip(1), rows, settings=LAST, reverse=1)
    net.part("CumProd.before", "CumProd", lambda x: F.pad(x[:, :-1], (1, 0), value=1).cumprod(1), rows, settings=LAST, exclusive=1)
    return net


def elementwise():
    net, randn, rand = Network(), torch.randn, torch.rand
    for name in ("Cosh", "Sinh", "Atan", "Asinh", "Softsign", "Sin", "Mish"):
        net.part(name, name, getattr(F, name.lower(), None) or getattr(torch, name.lower()), randn(2, 3))
    for name in ("Asin", "Acos", "Atanh", "Tan"):
        net.part(name, name, getattr(torch, name.lower()), 1.6 * rand(2, 3) - 0.8)
    net.part("Acosh", "Acosh", torch.acosh, rand(2, 3) + 1.2)
    net.part("Shrink", "Shrink", lambda x: F.softshrink(x, 0.4), randn(2, 4), lambd=0.4, bias=0.4)
    net.part("ThresholdedRelu", "ThresholdedRelu", lambda x: F.threshold(x, 0.3, 0.0), randn(2, 4), alpha=0.3)
    net.part("Mod", "Mod", lambda x: torch.fmod(x, 0.7), 4 * randn(2, 3), settings=(numpy.array([0.7], dtype=numpy.float32),), fmod=1)
    net.part("SwiGLU", "SwiGLU", lambda a, b: a * torch.sigmoid(0.5 * a) * b, randn(2, 3), randn(2, 3), alpha=0.5)
    net.part("Dropout", "Dropout", lambda x: x * 1, randn(2, 3), settings=(numpy.float32(0), numpy.bool_(True)))
    return net


def normalizations():
    net, randn, rand = Network(), torch.randn, torch.rand
    net.part("MeanVariance", "MeanVarianceNormalization", lambda x: (x - x.mean((0, 2, 3), True)) / x.var((0, 2, 3), correction=0, keepdim=True).sqrt(), randn(2, 3, 2, 4), axes=[0, 2, 3])
    net.part("LpNormalization", "LpNormalization", lambda x: F.normalize(x, dim=1), randn(2, 5, 2), axis=1, p=2)
    net.part("LpNormalization.1", "LpNormalization", lambda x: F.normalize(x, p=1, dim=-1), randn(3, 4), axis=-1, p=1)
    net.part("RMS", "RMSNormalization", lambda x, w: F.rms_norm(x, (6,), w, 1e-5), randn(2, 3, 6), rand(6) + 0.5, epsilon=1e-5)
    net.part("Group", "GroupNormalization", lambda x, w, b: F.group_norm(x, 2, w, b, 1e-5), randn(2, 4, 3, 2), rand(4) + 0.5, randn(4), num_groups=2, epsilon=1e-5)
    net.part("Layer", "LayerNormalization", lambda x, w, b: F.layer_norm(x, (3, 4), w, b, 1e-5), randn(2, 3, 4), rand(3, 4) + 0.5, randn(3, 4), axis=1, epsilon=1e-5)
    net.part("Instance", "InstanceNormalization", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), randn(2, 3, 5), rand(3) + 0.5, randn(3), epsilon=1e-5)
    angles = torch.arange(4.0)[:, None] * torch.tensor([1.0, 0.2, 0.05])
    cos, sin = angles.cos().expand(2, 4, 3).contiguous(), angles.sin().expand(2, 4, 3).contiguous()

    def rotated(x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos[:, None] - b * sin[:, None], a * sin[:, None] + b * cos[:, None]), -1)

    net.part("Rotary", "RotaryEmbedding", rotated, randn(2, 2, 4, 6), settings=(cos.numpy(), sin.numpy()))
    return net


def products():
    """Products with factors."""
    net, randn = Network(), torch.randn
    net.part("Gemm", "Gemm", lambda a, b, c: 0.5 * a @ b.T + 2 * c, randn(3, 4), randn(5, 4), randn(5), transB=1, alpha=0.5, beta=2.0)
    net.part("Gemm.turned", "Gemm", lambda a, b, c: 3 * a.T @ b - c, randn(4, 2), randn(4, 3), randn(2, 1), transA=1, alpha=3.0, beta=-1.0)
    net.part("Gemm.no_bias", "Gemm", lambda a, b: 0.25 * a @ b, randn(2, 4), randn(4, 3), alpha=0.25)
    net.part("MatMul", "MatMul", torch.matmul, randn(2, 1, 3, 4), randn(2, 4, 2))
    net.part("MatMul.vector", "MatMul", torch.matmul, randn(2, 3, 4), randn(4))
    return net


def places():
    net, randn = Network(), torch.randn
    index = torch.tensor([[0, 2, 1], [3, 0, 0]])
    net.part("ScatterElements", "ScatterElements", lambda x, u: x.scatter(1, index[:, :2], u), randn(2, 4), randn(2, 2))
    net.nodes[-2].input.insert(1, net.constant("ScatterElements.at", index[:, :2].numpy()))
    net.nodes[-2].attribute.append(helper.make_attribute("axis", 1))
    net.part("ScatterElements.add", "ScatterElements", lambda x, u: x.scatter_add(1, index, u), randn(2, 4), randn(2, 3), axis=1, reduction="add")
    net.nodes[-2].input.insert(1, net.constant("ScatterElements.add.at", index.numpy()))
    rows = torch.tensor([[1], [3]])
    net.part("ScatterND", "ScatterND", lambda x, u: x.index_copy(0, rows[:, 0], u), randn(4, 2), randn(2, 2))
    net.nodes[-2].input.insert(1, net.constant("ScatterND.at", rows.numpy()))
    pairs = torch.tensor([[0, 1], [2, 0], [2, 0]])
    net.part("GatherND", "GatherND", lambda x: x[pairs[:, 0], pairs[:, 1]], randn(3, 2, 2), settings=(pairs.numpy(),))
    net.part("GatherElements", "GatherElements", lambda x: x.gather(1, index), randn(2, 4), settings=(index.numpy(),), axis=1)
    net.part("CenterCropPad", "CenterCropPad", lambda x: F.pad(x[1:4], (1, 2)), randn(5, 3), settings=(numpy.array([3, 6], dtype=numpy.int64),))
    net.part("CenterCropPad.even", "CenterCropPad", lambda x: F.pad(x[1:3], (1, 1)), randn(5, 2), settings=(numpy.array([2, 4], dtype=numpy.int64),))
    net.part("Tile", "Tile", lambda x: x.repeat(2, 3), randn(2, 2), settings=(numpy.array([2, 3], dtype=numpy.int64),))
    net.part("SpaceToDepth", "SpaceToDepth", lambda x: x.reshape(1, 2, 2, 2, 2, 2).permute(0, 3, 5, 1, 2, 4), randn(1, 2, 4, 4), blocksize=2)
    return net


def paddings():
    net, x = Network(), torch.randn(1, 2, 4, 5)
    around = (numpy.array([0, 0, 1, 2, 0, 0, 3, 1], dtype=numpy.int64),)
    for mode, of_torch in (("reflect", "reflect"), ("edge", "replicate"), ("wrap", "circular")):
        net.part(mode, "Pad", lambda x, mode=of_torch: F.pad(x, (2, 1, 1, 3), mode=mode), x, settings=around, mode=mode)
    net.part("far", "Pad", lambda x: F.pad(x, (7, 6), mode="replicate"), torch.randn(2, 3), settings=(numpy.array([0, 7, 0, 6], dtype=numpy.int64),), mode="edge")
    net.part("cut", "Pad", lambda x: F.pad(x, (-1, 2)), torch.randn(2, 4), settings=(numpy.array([0, -1, 0, 2], dtype=numpy.int64),))
    net.part("axes", "Pad", lambda x: F.pad(x, (1, 0), mode="reflect"), torch.randn(2, 4), settings=(numpy.array([1, 0], dtype=numpy.int64), "", numpy.array([-1], dtype=numpy.int64)), mode="reflect")
    net.parts_of("chunks", lambda x: x.split(2, 1)[::2], torch.randn(2, 6), (0, 2), (numpy.int64(2),), axis=1)
    net.parts_of("sizes", lambda x: x.split((2, 2), 0)[::-1], torch.randn(4, 2), (1, -2), (numpy.array([2, 2], dtype=numpy.int64),), axis=0)
    net.parts_of("unbound", lambda x: (x[:, 2], x[:, 0]), torch.randn(2, 3), (2, 0), axis=1, keepdims=0)
    return net


def losses():
    """SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss, weighted, with a class that is not counted, as the model's output."""
    x, w, v = torch.randn(5, 4), torch.randn(4, 3).requires_grad_(), torch.randn(4, 3, 2).requires_grad_()
    labels, places = torch.tensor([0, 2, 1, 1, 2]), torch.tensor([[0, 2], [1, 1], [2, 0], [1, 2]])
    weights = torch.tensor([0.5, 2.0, 1.0])
    inputs = {"x": x, "labels": labels, "places": places, "weights": weights}
    node = helper.make_node
    nodes = [
        node("MatMul", ["x", "w"], ["scores"], name="scores"),
        node("SoftmaxCrossEntropyLoss", ["scores", "labels", "weights"], ["first"], name="first", reduction="mean", ignore_index=1),
        node("LogSoftmax", ["v"], ["logs"], name="logs", axis=1),
        node("NegativeLogLikelihoodLoss", ["logs", "places", "weights"], ["second"], name="second", reduction="sum"),
        node("Add", ["first", "second"], ["loss"], name="loss"),
    ]
    write("losses", nodes, [numpy_helper.from_array(p.detach().numpy(), key) for key, p in (("w", w), ("v", v))], inputs, ("loss", []))
    loss = F.cross_entropy(x @ w, labels, weights, ignore_index=1) + F.nll_loss(F.log_softmax(v, 1), places, weights, reduction="sum")
    return inputs, {"w": w, "v": v}, loss


def line(*words, tensor):
    return " ".join([*words, *(f"{number:.8g}" for number in tensor.detach().double().flatten().tolist())])


def main():
    for name in sys.argv[1:] or ("reductions", "elementwise", "normalizations", "products", "places", "paddings", "losses"):
        torch.manual_seed(11)
        made = globals()[name]()
        if isinstance(made, Network):
            parameters, y = made.parameters, made.forward()
            x = torch.rand_like(y) + 0.5
            made.save(name, x)
            wanted = torch.randn_like(y)
            loss, inputs = F.mse_loss(y * x, wanted), {"x": x}
        else:
            inputs, parameters, loss = made
        loss.backward()
        lines = [f"loss {'mse' if isinstance(made, Network) else 'own'} {loss.item():.8g}"]
        lines += [line("input", key, tensor=value) for key, value in inputs.items()]
        if isinstance(made, Network):
            lines.append(line("target", tensor=wanted))
        for key, parameter in parameters.items():
            lines += [line("gradient", key, tensor=parameter.grad), line("updated", key, tensor=parameter - 1e-3 * parameter.grad)]
        (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
