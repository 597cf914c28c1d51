#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares shapes and multiply-adds of single operators with ONNX Runtime, at every operator set.

  benchmarks/engines/operators.py [--draws N] [--seed N] [--only OPERATOR,...] [--sample FILE]

Draws nodes with random attributes: each of ONNX's operators that has a kind (docs/operators.md), at each operator set from 1 to the newest that exists.
Shapes come from ONNX Runtime without optimisations, or from ONNX's reference evaluator for what ONNX Runtime refuses; multiply-adds are counted on these
shapes by the definition of the operator. `benanza layers` reads all cases in a few calls. Prints each difference, and ends with 1 if there is one. Cases in
which an engine deviates from a sentence of the specification, and Benanza does not, are counted with that sentence. --sample writes some hundred of the
cases, as tests/data/operators.txt has them. Installs ONNX and ONNX Runtime from PyPI into a user cache (once).
"""
import argparse
import collections
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import compare

PACKAGES = [package for package in compare.PACKAGES if not package.startswith("openvino")]
FILES_OF_A_CALL = 400
NEWEST_OF_ENGINE = 26  # ONNX Runtime refuses newer operator sets than its own, also where no operator is another
OF_A_SAMPLE = 2  # cases of an operator

# What the specification says where ONNX Runtime or the reference evaluator computes another shape.
SAME = "SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] / strides[i])` for each axis `i`"
AXIS = "If necessary the right-hand-side argument will be broadcasted to match the shape of left-hand-side argument"


class Draw(random.Random):
    """Random parts of cases at one operator set."""

    def __init__(self, seed, version):
        super().__init__(seed)
        self.version = version

    def size(self, least=1, most=6):
        return self.randint(least, most)

    def sizes(self, count, least=1, most=6):
        return [self.size(least, most) for _ in range(count)]

    def flag(self):
        return self.randint(0, 1)

    def shape(self, least_rank=1, most_rank=4):
        return self.sizes(self.randint(least_rank, most_rank))

    def axis(self, rank, negative_from=11):
        return self.randint(-rank if self.version >= negative_from else 0, rank - 1)

    def axes(self, rank, negative_from=11, least=1):
        chosen = sorted(self.sample(range(rank), self.randint(least, rank)))
        return [axis - rank if self.version >= negative_from and self.flag() else axis for axis in chosen]

    def broadcast(self, shape):
        """A shape that broadcasts to this one."""
        cut = self.randint(0, len(shape))
        return [size if self.flag() else 1 for size in shape[cut:]]


class Case:
    """A node: inputs are (type, shape), constants (type, shape, numbers), None an input that is left out. `macs` counts multiply-adds, given the shapes of
    the outputs. `specified`: a sentence of the specification, and the shape of the outputs that it gives."""

    def __init__(self, op, inputs, attributes=None, outputs=1, macs=None, specified=None):
        self.op, self.inputs, self.attributes, self.outputs, self.specified = op, inputs, attributes or {}, outputs, specified
        self.macs = macs or (lambda shapes: 0)

    def text(self, names):
        """inputs | constants | node, in the notation of ONNX's parser; attributes that this version does not have are left out"""
        inputs, constants, operands = [], [], []
        for letter, operand in zip("abcdefghijkl", self.inputs):
            operands.append(letter if operand else '""')
            if operand and len(operand) == 2:
                inputs.append(f"{operand[0]}{dims_text(operand[1])} {letter}")
            elif operand:
                constants.append(f"{operand[0]}{dims_text(operand[1])} {letter} = {{{', '.join(map(str, operand[2]))}}}")
        while operands and operands[-1] == '""':
            operands.pop()
        attributes = ", ".join(f"{key} = {attribute_text(value)}" for key, value in self.attributes.items() if value is not None and key in names)
        outputs = ", ".join("yzuvw"[:self.outputs])
        node = f"{outputs} = {self.op} {f'<{attributes}> ' if attributes else ''}({', '.join(operands)})"
        return f"{', '.join(inputs)} | {', '.join(constants)} | {node}"


def dims_text(shape):
    return f"[{', '.join(map(str, shape))}]" if shape else ""


def attribute_text(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return str(value)


def floats(shape):
    return ("float", shape)


def integers(numbers, shape=None):
    return ("int64", [len(numbers)] if shape is None else shape, numbers)


GENERATORS = {}


def of(*operators):
    """The function draws cases of these operators: function(draw, operator)."""
    def keep(function):
        GENERATORS.update((op, function) for op in operators)
        return function
    return keep


def windows(draw, spatial, x, kernel, dilated=True):
    """Attributes of windows that fit into x."""
    dilations = draw.sizes(spatial, 1, 2) if dilated and draw.flag() else [1] * spatial
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, kernel)]
    pads = [draw.randint(0, k - 1) for k in kernel * 2] if draw.flag() else [0] * 2 * spatial
    for i in range(spatial):
        x[2 + i] = max(x[2 + i], reach[i] - pads[i] - pads[i + spatial], 1)
    auto = draw.choice(["NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if auto != "NOTSET":
        for i in range(spatial):
            x[2 + i] = max(x[2 + i], reach[i])
    told = {"strides": draw.sizes(spatial, 1, 4), "dilations": None if set(dilations) == {1} else dilations}
    return told | ({"auto_pad": auto} if auto != "NOTSET" else {"pads": pads} if any(pads) else {})


@of("MaxPool", "AveragePool", "LpPool")
def pool(draw, op):
    spatial = draw.randint(1, 3)
    x, kernel = draw.sizes(2, 1, 3) + draw.sizes(spatial, 1, 12), draw.sizes(spatial, 1, 4)
    dilated = draw.version >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op]
    attributes = {"kernel_shape": kernel, "ceil_mode": draw.flag(), "count_include_pad": draw.flag()} | windows(draw, spatial, x, kernel, dilated)
    same = x[:2] + [-(-size // stride) for size, stride in zip(x[2:], attributes["strides"])]
    return Case(op, [floats(x)], attributes, 1 + (op == "MaxPool" and draw.version >= 8 and draw.flag()),
                specified=(SAME, same) if attributes.get("auto_pad", "").startswith("SAME") else None)


@of("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def global_pool(draw, op):
    return Case(op, [floats(draw.sizes(2 + draw.randint(1, 3)))])


def product_of(*lists):
    return math.prod(math.prod(one) for one in lists)


@of("Conv", "ConvInteger", "QLinearConv")
def convolution(draw, op):
    spatial, group = draw.randint(1, 3), draw.choice([1, 1, 2, 3])
    if op != "Conv":
        spatial = 2
    kernel = draw.sizes(spatial, 1, 4)
    x = [draw.size(1, 3), group * draw.size(1, 3)] + draw.sizes(spatial, 1, 12)
    w = [group * draw.size(1, 3), x[1] // group] + kernel
    attributes = {"kernel_shape": kernel if draw.flag() or draw.version < 2 else None, "group": group} | windows(draw, spatial, x, kernel)
    scale, zero = ("float", [], [0.5]), ("uint8", [], [1])
    inputs = {"Conv": [floats(x), floats(w)] + [floats(w[:1])] * draw.flag(),
              "ConvInteger": [("uint8", x), ("uint8", w)],
              "QLinearConv": [("uint8", x), scale, zero, ("uint8", w), scale, zero, scale, zero]}[op]
    return Case(op, inputs, attributes, macs=lambda shapes: product_of(shapes[0], w[1:]))


@of("ConvTranspose")
def transposed_convolution(draw, op):
    spatial, group = draw.randint(1, 3), draw.choice([1, 1, 2])
    kernel, strides, dilations = draw.sizes(spatial, 1, 4), draw.sizes(spatial, 1, 3), draw.sizes(spatial, 1, 2)
    x = [draw.size(1, 2), group * draw.size(1, 3)] + draw.sizes(spatial, 2, 6)
    w = [x[1], draw.size(1, 3)] + kernel
    more = [draw.randint(0, max(s, d) - 1) for s, d in zip(strides, dilations)] if draw.flag() else None
    attributes = {"kernel_shape": kernel if draw.flag() or draw.version < 2 else None, "group": group, "strides": strides, "dilations": dilations,
                  "output_padding": more}
    form = draw.choice(["pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID", "output_shape"])
    whole = [s * (n - 1) + (m or 0) + d * (k - 1) + 1 for n, k, s, d, m in zip(x[2:], kernel, strides, dilations, more or [0] * spatial)]
    if form == "pads":
        attributes["pads"] = [draw.randint(0, (size - 1) // 2) for size in whole * 2]
    elif form == "output_shape":
        attributes["output_shape"] = [draw.randint(max(n, size - 2), max(n, size)) for n, size in zip(x[2:], whole)]
        if draw.flag():
            attributes["auto_pad"] = draw.choice(["SAME_UPPER", "SAME_LOWER"])
    else:
        attributes["auto_pad"] = form
    return Case(op, [floats(x), floats(w)], attributes, macs=lambda shapes: product_of(x, w[1:]))


@of("DeformConv")
def deformed_convolution(draw, op):
    group, kernel = draw.choice([1, 2]), draw.sizes(2, 1, 3)
    x, w = [1, 2 * group, 8, 9], [2 * group, 2] + kernel
    attributes = {"group": group, "strides": draw.sizes(2, 1, 2), "pads": draw.sizes(4, 0, 1)}
    y = [(x[2 + i] + attributes["pads"][i] + attributes["pads"][2 + i] - kernel[i]) // attributes["strides"][i] + 1 for i in range(2)]
    return Case(op, [floats(x), floats(w), floats([1, 2 * math.prod(kernel)] + y)], attributes, macs=lambda shapes: product_of(shapes[0], w[1:]))


@of("MatMul", "MatMulInteger", "QLinearMatMul")
def product(draw, op):
    m, k, n, batch = *draw.sizes(3), draw.shape(0, 2)
    a, b = draw.broadcast(batch) + [m, k], batch + [k, n]
    if op == "MatMul" and draw.randint(0, 3) == 0:
        a = [k]
    if op == "MatMul" and draw.randint(0, 3) == 0:
        b = [k]
    scale, zero = ("float", [], [0.5]), ("uint8", [], [1])
    inputs = {"MatMul": [floats(a), floats(b)], "MatMulInteger": [("uint8", a), ("uint8", b)],
              "QLinearMatMul": [("uint8", a), scale, zero, ("uint8", b), scale, zero, scale, zero]}[op]
    return Case(op, inputs, macs=lambda shapes: product_of(shapes[0]) * k)


@of("Gemm")
def gemm(draw, op):
    m, k, n = draw.sizes(3)
    left, right = draw.flag(), draw.flag()
    inputs = [floats([k, m] if left else [m, k]), floats([n, k] if right else [k, n])]
    if draw.version < 7:
        inputs.append(floats([m, n]))
    elif draw.version < 11 or draw.flag():
        inputs.append(floats(draw.broadcast([m, n])))
    return Case(op, inputs, {"transA": left, "transB": right, "alpha": 0.5}, macs=lambda shapes: m * k * n)


@of("Einsum")
def einsum(draw, op):
    equation = draw.choice(["ij,jk->ik", "bij,bjk->bik", "...ij,...jk->...ik", "ij,jk,kl->il", "ii->i", "ij->ji", "bij,bkj->bik", "i,j->ij", "ij,ij->",
                            "bhd,bd,hd->b", "a,ab,bc,c->", "ij->", "ij,jk"])
    sizes = {letter: draw.size(1, 9) for letter in "abcdhijkl"}
    shapes = [[size for letter in term for size in ([2, 3] if letter == "." else [sizes[letter]])] for term in
              equation.split("->")[0].replace("...", ".").split(",")]
    return Case(op, [floats(shape) for shape in shapes], {"equation": equation}, macs=lambda _: einsum_macs(equation, sizes))


def einsum_macs(equation, sizes):
    """The fewest multiply-adds over all orders of pairs; indices that occur in one operand only are summed before."""
    left, _, right = equation.replace("...", "XY").partition("->")
    sizes = sizes | {"X": 2, "Y": 3}
    terms = left.split(",")
    if "->" not in equation:
        right = "".join(letter for letter in set(left) - {","} if left.count(letter) == 1)

    def fewest(operands):
        if len(operands) == 1:
            return 0
        best = math.inf
        for i in range(len(operands)):
            for j in range(i):
                rest = [operand for k, operand in enumerate(operands) if k not in (i, j)]
                needed = set(right).union(*rest)
                a, b = operands[i], operands[j]
                left_a, left_b = a & (needed | b), b & (needed | a)
                cost = math.prod(sizes[letter] for letter in left_a | left_b)
                best = min(best, cost + fewest(rest + [(a | b) & needed]))
        return best

    return fewest([set(term) for term in terms])


@of("Attention")
def attention(draw, op):
    batch, heads, shared, tokens, past, head, depth = *draw.sizes(2, 1, 2), draw.choice([1, 2]), *draw.sizes(4, 2, 5)
    split = [("float", [batch, heads * shared, tokens, head]), ("float", [batch, heads, past, head]), ("float", [batch, heads, past, depth])]
    joined = [("float", [batch, n, h * d]) for _, (_, h, n, d) in split]
    attributes = {"is_causal": draw.flag()}
    if draw.flag():
        return Case(op, split, attributes, macs=lambda _: batch * heads * shared * tokens * past * (head + depth))
    return Case(op, joined, attributes | {"q_num_heads": heads * shared, "kv_num_heads": heads},
                macs=lambda _: batch * heads * shared * tokens * past * (head + depth))


@of("RotaryEmbedding")
def rotary(draw, op):
    batch, heads, tokens, half = draw.sizes(4)
    x = [batch, heads, tokens, 2 * half] if draw.flag() else [batch, tokens, heads * 2 * half]
    return Case(op, [floats(x), floats([batch, tokens, half]), floats([batch, tokens, half])],
                {"num_heads": heads if len(x) == 3 else None, "interleaved": draw.flag()})


@of("LSTM", "GRU", "RNN")
def recurrent(draw, op):
    tokens, batch, width, hidden = draw.sizes(4)
    direction, gates = draw.choice(["forward", "reverse", "bidirectional"]), {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    count, layout = 1 + (direction == "bidirectional"), draw.flag() if draw.version >= 14 and op == "RNN" else 0
    x = [batch, tokens, width] if layout else [tokens, batch, width]
    inputs = [floats(x), floats([count, gates * hidden, width]), floats([count, gates * hidden, hidden])]
    return Case(op, inputs + [floats([count, 2 * gates * hidden])] * draw.flag(), {"hidden_size": hidden, "direction": direction, "layout": layout or None},
                2 + (op == "LSTM" and draw.flag()), macs=lambda _: count * tokens * batch * gates * hidden * (width + hidden))


@of("DFT")
def fourier(draw, op):
    batch, size, one_sided = *draw.sizes(2, 2, 8), draw.flag()
    x = [batch, size, draw.size(2, 5), 1 if one_sided else draw.choice([1, 2])]
    axis = draw.randint(1, 2)
    length = integers([draw.size(2, 9)], []) if draw.flag() else None
    inputs = [floats(x), length] + ([integers([axis], [])] if draw.version >= 20 else [])
    return Case(op, inputs, {"axis": axis if draw.version < 20 else None, "onesided": one_sided})


@of("STFT")
def short_fourier(draw, op):
    frame = draw.size(4, 8)
    return Case(op, [floats([2, draw.size(20, 40), 1]), integers([draw.size(1, 5)], []), floats([frame])], {"onesided": draw.flag()})


@of("BatchNormalization")
def batch_norm(draw, op):
    x = draw.sizes(2) + draw.sizes(draw.randint(1, 3))
    attributes = {"epsilon": 0.01} | ({"is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]} if draw.version < 7 else {})
    if draw.version >= 14 and draw.flag():
        return Case(op, [floats(x)] + [floats(x[1:2])] * 4, {"training_mode": 1}, 3)
    return Case(op, [floats(x)] + [floats(x[1:2])] * 4, attributes)


@of("InstanceNormalization", "GroupNormalization")
def group_norm(draw, op):
    groups = draw.size(1, 3)
    x = [draw.size(1, 3), groups * draw.size(1, 3)] + draw.sizes(draw.randint(1, 3), 2)
    scale = x[1] if op.startswith("Instance") or draw.version >= 21 else groups
    return Case(op, [floats(x), floats([scale]), floats([scale])], {"num_groups": groups})


@of("LayerNormalization", "RMSNormalization")
def layer_norm(draw, op):
    x = draw.shape(1, 4)
    axis = draw.axis(len(x))
    return Case(op, [floats(x), floats(x[axis:])], {"axis": axis}, draw.randint(1, 3) if op.startswith("Layer") else 1)


@of("LRN")
def lrn(draw, op):
    return Case(op, [floats(draw.sizes(4))], {"size": draw.choice([1, 3, 5])})


@of("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def along_axis(draw, op):
    x = draw.shape(1, 4)
    return Case(op, [floats(x)], {"axis": draw.axis(len(x))})


@of("MeanVarianceNormalization")
def mean_variance(draw, op):
    x = draw.sizes(4)
    return Case(op, [floats(x)], {"axes": draw.axes(4, 99) if draw.flag() else None})


@of("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(draw, op):
    x = draw.sizes(2, 2) + draw.sizes(draw.randint(0, 2))
    target = ("int64", x[:1] + x[2:], [draw.randint(0, x[1] - 1) for _ in range(product_of(x[:1], x[2:]))])
    return Case(op, [floats(x), target], {"reduction": draw.choice(["none", "mean", "sum"])}, 1 + (op.startswith("Soft") and draw.flag()))


@of(*("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish IsInf IsNaN LeakyRelu Log Mish Neg Reciprocal "
      "Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Identity Dropout").split())
def unary(draw, op):
    attributes = {"is_test": 1 if op == "Dropout" and draw.version < 7 else None, "consumed_inputs": [0] if draw.version < 6 else None}
    return Case(op, [floats(draw.shape(0, 4))], attributes)


@of("Not", "BitwiseNot")
def unary_of_bits(draw, op):
    return Case(op, [("bool" if op == "Not" else "int32", draw.shape(0, 4))])


@of("SwiGLU")
def gated(draw, op):
    return Case(op, [floats(draw.shape(1, 4))] * 2)


@of("Clip")
def clip(draw, op):
    limits = [("float", [], [-1]), ("float", [], [1])] if draw.version >= 11 else []
    return Case(op, [floats(draw.shape(0, 4))] + limits, {"min": -1.0, "max": 1.0})


@of(*"Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Mod Mul Or Pow PRelu Sub Xor".split())
def binary(draw, op):
    integer = op.startswith("Bitwise") or op in ("Mod", "Equal")
    kind = {"And": "bool", "Or": "bool", "Xor": "bool", "BitShift": "uint32"}.get(op, "int32" if integer else "float")
    a, attributes = draw.shape(0, 4), {"direction": "LEFT"}
    b = draw.broadcast(a)
    if draw.version < 7 and op != "PRelu":
        start = draw.randint(0, len(a))
        b = a[start:draw.randint(start, len(a))] if draw.flag() else a
        attributes |= {"broadcast": 1, "axis": start} if b != a else {}
    elif op == "PRelu" and draw.version < 7:
        a, b = draw.shape(2, 4), [1]
    elif op != "PRelu" and draw.flag():
        a, b = b, a
    return Case(op, [(kind, a), (kind, b)], attributes, specified=(AXIS, a) if "axis" in attributes else None)


@of("Sum", "Mean", "Max", "Min")
def nary(draw, op):
    whole = draw.shape(0, 4)
    return Case(op, [floats(whole if draw.version < 8 else draw.broadcast(whole)) for _ in range(draw.randint(1, 4))])


@of("Where")
def where(draw, op):
    whole = draw.shape(0, 4)
    return Case(op, [("bool", draw.broadcast(whole)), floats(whole), floats(draw.broadcast(whole))])


@of(*(f"Reduce{name}" for name in "Mean Sum Max Min Prod L1 L2 LogSum LogSumExp SumSquare".split()))
def reduce(draw, op):
    x = draw.shape(1, 4)
    axes = draw.axes(len(x)) if draw.flag() else None
    given = draw.version >= (13 if op == "ReduceSum" else 18)
    attributes = {"keepdims": draw.choice([0, 1, None]), "axes": None if given else axes, "noop_with_empty_axes": draw.flag() if given else None}
    return Case(op, [floats(x)] + ([integers(axes)] if given and axes else []), attributes)


@of("ArgMax", "ArgMin")
def arg_max(draw, op):
    x = draw.shape(1, 4)
    return Case(op, [floats(x)], {"axis": draw.axis(len(x)), "keepdims": draw.flag(), "select_last_index": draw.flag()})


@of("CumSum", "CumProd")
def cumulative(draw, op):
    x = draw.shape(1, 4)
    return Case(op, [floats(x), ("int64", [], [draw.axis(len(x))])], {"exclusive": draw.flag(), "reverse": draw.flag()})


@of("TopK")
def top_k(draw, op):
    x = draw.shape(1, 4)
    axis = draw.axis(len(x))
    k = draw.randint(1, x[axis])
    return Case(op, [floats(x)] + ([integers([k])] if draw.version >= 10 else []), {"axis": axis, "k": k}, 2)


@of("Transpose")
def transpose(draw, op):
    x = draw.shape(1, 5)
    return Case(op, [floats(x)], {"perm": draw.sample(range(len(x)), len(x)) if draw.flag() else None})


@of("DepthToSpace", "SpaceToDepth")
def depth(draw, op):
    block, (n, c, h, w) = draw.size(1, 3), draw.sizes(4, 1, 3)
    x = [n, c * block * block, h, w] if op.startswith("Depth") else [n, c, h * block, w * block]
    return Case(op, [floats(x)], {"blocksize": block, "mode": draw.choice(["DCR", "CRD"])})


@of("Concat")
def concat(draw, op):
    x = draw.shape(1 if draw.version >= 4 else 2, 4)
    axis = draw.axis(len(x)) if draw.version >= 4 else 1
    parts = [x[:axis % len(x)] + [draw.size()] + x[axis % len(x) + 1:] for _ in range(draw.randint(1, 4))]
    return Case(op, [floats(part) for part in parts], {"axis": axis})


@of("Split")
def split(draw, op):
    x = draw.shape(1, 4)
    axis, sizes = draw.axis(len(x)), draw.sizes(draw.randint(1, 4), 1, 3)
    if draw.version >= 2 and draw.flag():  # equal parts
        sizes = [draw.size()] * len(sizes)
    equal = draw.version >= 2 and len(set(sizes)) == 1 and draw.flag()
    x[axis] = sum(sizes)
    attributes = {"axis": axis, "split": None if equal else sizes, "num_outputs": len(sizes) if equal else None}
    return Case(op, [floats(x)] + ([integers(sizes)] if draw.version >= 13 and not equal else []), attributes, len(sizes))


@of("Slice")
def slice_of(draw, op):
    x = draw.shape(1, 4)
    axes = draw.axes(len(x), 10)
    starts, ends = [[draw.randint(-x[axis] - 1, x[axis] + 1) for axis in axes] for _ in range(2)]
    if draw.version < 10:
        return Case(op, [floats(x)], {"axes": axes, "starts": starts, "ends": ends})
    return Case(op, [floats(x), integers(starts), integers(ends), integers(axes), integers([draw.choice([-2, -1, 1, 1, 2, 3]) for _ in axes])])


@of("Pad")
def pad(draw, op):
    x = draw.shape(1, 4)
    mode = draw.choice(["constant", "reflect", "edge"])
    pads = [0 if mode == "reflect" and size == 1 else draw.randint(0, min(2, size - 1) if mode == "reflect" else 3) for size in x * 2]
    if draw.version < 11:
        return Case(op, [floats(x)], {"mode": mode, "paddings" if draw.version < 2 else "pads": pads})
    axes = draw.axes(len(x)) if draw.version >= 18 and draw.flag() else None
    if axes:
        pads = [pads[axis % len(x) + shift] for shift in (0, len(x)) for axis in axes]
    return Case(op, [floats(x), integers(pads)] + ([None, integers(axes)] if axes else []), {"mode": mode})


@of("CenterCropPad")
def center(draw, op):
    x = draw.shape(1, 4)
    axes = draw.axes(len(x))
    return Case(op, [floats(x), integers(draw.sizes(len(axes)))], {"axes": axes})


@of("Trilu")
def trilu(draw, op):
    return Case(op, [floats(draw.shape(2, 4))], {"upper": draw.flag()})


def indices(draw, shape, limit):
    return ("int64", shape, [draw.randint(0, limit - 1) for _ in range(product_of(shape))])


@of("Gather")
def gather(draw, op):
    x = draw.shape(1, 4)
    axis = draw.axis(len(x))
    return Case(op, [floats(x), indices(draw, draw.shape(0, 3), x[axis])], {"axis": axis})


@of("GatherElements")
def gather_elements(draw, op):
    x = draw.shape(1, 4)
    axis, y = draw.axis(len(x)), [draw.randint(1, size) for size in x]
    return Case(op, [floats(x), indices(draw, y, x[axis])], {"axis": axis})


@of("GatherND")
def gather_nd(draw, op):
    x = draw.shape(1, 4)
    batch = draw.randint(0, len(x) - 1) if draw.version >= 12 else 0
    depth = draw.randint(1, len(x) - batch)
    return Case(op, [floats(x), indices(draw, x[:batch] + draw.shape(0 if batch else 1, 2) + [depth], 1)], {"batch_dims": batch})


@of("OneHot")
def one_hot(draw, op):
    x = draw.shape(1, 3)
    return Case(op, [indices(draw, x, 4), integers([draw.size(2, 9)]), ("float", [2], [0, 1])], {"axis": draw.randint(-len(x) - 1, len(x))})


@of("ScatterElements", "Scatter")
def scatter_elements(draw, op):
    x = draw.shape(1, 4)
    axis = draw.axis(len(x))
    y = [1 if i == axis % len(x) else draw.randint(1, size) for i, size in enumerate(x)]
    return Case(op, [floats(x), indices(draw, y, x[axis]), floats(y)], {"axis": axis})


@of("ScatterND")
def scatter_nd(draw, op):
    x = draw.shape(1, 4)
    count, depth = 1, draw.randint(1, len(x))
    return Case(op, [floats(x), indices(draw, [count, depth], 1), floats([count] + x[depth:])])


@of("TensorScatter")
def tensor_scatter(draw, op):
    batch, heads, cached, head = draw.sizes(4, 2)
    return Case(op, [floats([batch, heads, cached, head]), floats([batch, heads, 1, head])], {"axis": -2})


@of("Expand")
def expand(draw, op):
    whole = draw.shape(1, 4)
    x = draw.broadcast(whole)
    return Case(op, [floats(x), integers([1 if size in x and draw.flag() and len(x) == len(whole) and x[i] == size else size for i, size in enumerate(whole)])])


@of("Tile")
def tile(draw, op):
    x = draw.shape(1, 4)
    if draw.version < 6:
        axis = draw.randint(0, len(x) - 1)
        return Case(op, [floats(x), ("float", [1], [draw.size()]), ("float", [1], [axis])])
    return Case(op, [floats(x), integers(draw.sizes(len(x), 1, 3))])


@of("Resize", "Upsample")
def resize(draw, op):
    x = [1, draw.size(1, 3)] + draw.sizes(2, 2, 8)
    scales = [1.0, 1.0] + [draw.choice([1.0, 1.5, 2.0, 2.6, 3.0]) for _ in range(2)]
    if op == "Resize" and draw.flag():
        scales[2:] = [draw.choice([0.5, 0.6, 1.0, 1.3]) for _ in range(2)]
    given, mode = ("float", [4], scales), draw.choice(["nearest", "linear"])
    if op == "Upsample":
        old = {"width_scale": scales[3], "height_scale": scales[2], "mode": "bilinear" if mode == "linear" else mode}
        return Case(op, [floats(x)] + [given] * (draw.version >= 9), old if draw.version < 7 else {"scales": scales, "mode": mode})
    if draw.version < 11:
        return Case(op, [floats(x), given], {"mode": mode})
    roi = None if draw.version >= 13 else ("float", [0], [])
    if draw.flag():
        return Case(op, [floats(x), roi, given], {"mode": mode})
    empty = None if draw.version >= 13 else ("float", [0], [])
    if draw.version >= 18 and draw.flag():
        policy = draw.choice(["stretch", "not_larger", "not_smaller"])
        return Case(op, [floats(x), roi, empty, integers(draw.sizes(2, 1, 12))], {"mode": mode, "axes": [2, 3], "keep_aspect_ratio_policy": policy})
    return Case(op, [floats(x), roi, empty, integers(x[:2] + draw.sizes(2, 1, 12))], {"mode": mode})


@of("GridSample")
def grid_sample(draw, op):
    spatial = 2 if draw.version < 20 else draw.randint(2, 3)
    x = draw.sizes(2 + spatial)
    return Case(op, [floats(x), floats([x[0]] + draw.sizes(spatial) + [spatial])], {"align_corners": draw.flag()})


@of("RoiAlign")
def roi_align(draw, op):
    count, attributes = draw.size(), {"output_height": draw.size(), "output_width": draw.size()}
    return Case(op, [floats([1] + draw.sizes(3, 2)), floats([count, 4]), indices(draw, [count], 1)], attributes)


@of("ConstantOfShape")
def constant_of_shape(draw, op):
    return Case(op, [integers(draw.shape(0, 4))])


@of("Range")
def range_of(draw, op):
    return Case(op, [integers([number], []) for number in (draw.randint(-4, 4), draw.randint(5, 20), draw.size(1, 4))])


@of("EyeLike")
def eye(draw, op):
    return Case(op, [floats(draw.sizes(2))], {"k": draw.randint(-2, 2)})


@of("HannWindow", "HammingWindow", "BlackmanWindow")
def window_of(draw, op):
    return Case(op, [integers([draw.size(2, 20)], [])], {"periodic": draw.flag()})


@of("Cast")
def cast(draw, op):
    return Case(op, [floats(draw.shape(0, 4))], {"to": "INT32" if draw.version < 6 else 6})


@of("CastLike")
def cast_like(draw, op):
    return Case(op, [floats(draw.shape(0, 4)), ("int32", [2])])


@of("QuantizeLinear", "DequantizeLinear")
def quantize(draw, op):
    x = draw.shape(1, 4)
    axis = draw.axis(len(x))
    kind = "float" if op.startswith("Quant") else "uint8"
    if draw.version >= 13 and draw.flag():
        scales, zeros = ("float", [x[axis]], [0.5] * x[axis]), ("uint8", [x[axis]], [1] * x[axis])
        return Case(op, [(kind, x), scales, zeros], {"axis": axis})
    return Case(op, [(kind, x), ("float", [], [0.5]), ("uint8", [], [1])])


@of("DynamicQuantizeLinear")
def dynamic_quantize(draw, op):
    return Case(op, [floats(draw.shape(1, 4))], outputs=3)


@of("Reshape")
def reshape(draw, op):
    x = draw.shape(1, 4)
    y = draw.sample(x, len(x))
    cut = draw.randint(0, len(y))
    y = y[:cut] + [product_of(y[cut:])]
    if draw.flag():
        y[draw.randint(0, len(y) - 1)] = -1
    if x[0] == y[0] and draw.flag():
        y[0] = 0
    return Case(op, [floats(x)] + ([integers(y)] if draw.version >= 5 else []), {"shape": y})


@of("Flatten")
def flatten(draw, op):
    x = draw.shape(1, 4)
    return Case(op, [floats(x)], {"axis": draw.randint(-len(x) if draw.version >= 11 else 0, len(x))})


@of("Squeeze", "Unsqueeze")
def squeeze(draw, op):
    x = draw.shape(2, 4)
    axes = draw.axes(len(x))
    if op == "Squeeze":
        for axis in axes:
            x[axis] = 1
        if draw.flag():
            axes = None
    elif draw.version >= 11:
        axes = sorted(axis % len(x) for axis in axes)
    if axes is None or draw.version < 13:
        return Case(op, [floats(x)], {"axes": axes})
    return Case(op, [floats(x), integers(axes)])


@of("BitCast")
def bit_cast(draw, op):
    return Case(op, [floats(draw.shape(0, 4))], {"to": 6})


def model_of(line):
    """The model of a line of text, without types of its outputs."""
    import onnx

    version, inputs, constants, node = (field.strip() for field in line.split("|")[:4])
    outputs = [name.strip() for name in node.split("=")[0].split(",")]
    header = f'<ir_version: {8 if int(version) < 22 else 10}, opset_import: ["" : {version}]>'
    told = f"<{constants}>" if constants else ""
    model = onnx.parser.parse_model(f"{header} g ({inputs}) => ({', '.join(f'float {name}' for name in outputs)}) {told} {{ {node} }}")
    for output in model.graph.output:
        output.ClearField("type")
    return model


def shapes_by(model):
    """(shapes, who computed them) or (None, why nobody does)"""
    import numpy
    import onnx
    import onnxruntime
    from onnx.reference import ReferenceEvaluator

    generator, feed = numpy.random.default_rng(2020), {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        feed[value.name] = numpy.asarray(generator.random([d.dim_value for d in tensor.shape.dim]) * 2).astype(dtype)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    version = model.opset_import[0].version
    since = onnx.defs.get_schema(model.graph.node[0].op_type, version).since_version
    if since <= NEWEST_OF_ENGINE:
        copy.opset_import[0].version = min(version, NEWEST_OF_ENGINE)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
            return [list(result.shape) for result in session.run(None, feed)], "ONNX Runtime"
        except Exception as error:  # pylint: disable=broad-exception-caught
            why = str(error)
    else:
        why = "a newer operator set"
    try:
        return [list(numpy.shape(result)) for result in ReferenceEvaluator(copy).run(None, feed)], "the reference evaluator"
    except Exception as error:  # pylint: disable=broad-exception-caught
        return None, f"{why}; {error}"


def read_by_benanza(files):
    """name -> (shapes, MACs) or what the program said; a file that it refuses is left out of the next call"""
    found, left = {}, list(files)
    while left:
        calls = [subprocess.run([compare.PROGRAM, "layers", *left, *more, "--json", "-"], capture_output=True, text=True, check=False)
                 for more in ([], ["--tensors"])]
        if all(call.returncode == 0 for call in calls):
            layers, tensors = (json.loads(call.stdout)["models"] for call in calls)
            for summary, model in zip(layers, tensors):
                shapes = {tensor["name"]: tensor["shape"] for tensor in model["tensors"]}
                found[model["file"]] = ([shapes.get(name) for name in model["outputs"]], summary["macs"])
            break
        told = next(call.stderr for call in calls if call.returncode != 0)
        refused = next((file for file in left if str(file) in told), None)
        if refused is None:
            sys.exit(told)
        found[str(refused)] = told.strip().splitlines()[-1].split(str(refused) + ": ")[-1]
        left.remove(refused)
    return found


def draw_lines(draws, seed, only):
    """line -> case"""
    import onnx

    newest, lines = onnx.defs.onnx_opset_version(), {}
    for op, generator in GENERATORS.items():
        for version in range(1, newest + 1):
            try:
                schema = onnx.defs.get_schema(op, version)
            except onnx.defs.SchemaError:
                continue
            if schema.deprecated or (only and op not in only):
                continue
            for i in range(draws):
                case = generator(Draw(f"{seed} {op} {version} {i}", version), op)
                lines[f"{version} | {case.text(schema.attributes)}"] = case
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2, help="cases of an operator at an operator set")
    parser.add_argument("--seed", type=int, default=2020)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--sample", type=pathlib.Path)
    arguments = parser.parse_args()
    if not compare.is_in_environment():
        compare.in_environment(__file__, PACKAGES)
    counted, deviations, unread, differences, sample = *(collections.Counter() for _ in range(3)), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        for line, case in draw_lines(arguments.draws, arguments.seed, arguments.only).items():
            model = model_of(line)
            shapes, who = shapes_by(model)
            counted[who if shapes else "nobody"] += 1
            if not shapes:
                unread[f"{case.op}: {who.splitlines()[0][:200]}"] += 1
                continue
            file = pathlib.Path(folder) / f"case{len(cases)}.onnx"
            file.write_bytes(model.SerializeToString())
            cases.append((line, case, file, shapes, case.macs(shapes), who))
        found = {}
        for i in range(0, len(cases), FILES_OF_A_CALL):
            found |= read_by_benanza([file for _, _, file, *_ in cases[i:i + FILES_OF_A_CALL]])
        for line, case, file, shapes, macs, who in cases:
            told = found[str(file)]
            if told == (shapes, macs):
                if who == "ONNX Runtime":
                    sample.setdefault(case.op, []).append(f"{line} | {'; '.join('x'.join(map(str, shape)) or 'scalar' for shape in shapes)} | {macs}")
                continue
            if case.specified and told == ([case.specified[1]] * case.outputs, macs):
                deviations[f'{who} deviates from "{case.specified[0]}"'] += 1
                continue
            differences += 1
            print(f"{line}\n    {who}: {shapes}, {macs} MACs; Benanza: {told}")
    for line, count in unread.most_common():
        print(f"not compared, {count} times: {line}", file=sys.stderr)
    for line, count in deviations.most_common():
        print(f"{count} times: {line}")
    print(f"{len(cases)} cases compared: {dict(counted)}; {differences} differences")
    if arguments.sample:
        chosen = [line for lines in sample.values() for line in random.Random(arguments.seed).sample(lines, min(len(lines), OF_A_SAMPLE))]
        head = ("# Shapes that ONNX Runtime computes, and multiply-adds: operator set | inputs | constants | node | shapes of its outputs | multiply-adds.\n"
                "# Written by benchmarks/engines/operators.py --sample.\n")
        arguments.sample.write_text(head + "\n".join(chosen) + "\n")
    sys.exit(1 if differences else None)


if __name__ == "__main__":
    main()
