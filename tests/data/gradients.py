#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes gradients.txt: gradients of small layers as PyTorch's autograd computes them, in double precision.

  tests/data/gradients.py > tests/data/gradients.txt        written with torch 2.13.0

A line `layer SIGNATURE` each, then a line `in` for each operand and `out` for each result, row-major.
"""
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(7)


def show(signature, inputs, outputs):
    print("layer", signature)
    for word, tensors in (("in", inputs), ("out", outputs)):
        for tensor in tensors:
            print(word, *(repr(number) for number in tensor.detach().flatten().tolist()))


def of(function, x, *others):
    """The result, a random gradient of it, and the gradients of all operands."""
    operands = [tensor.clone().requires_grad_() for tensor in (x, *others)]
    y = function(*operands)
    dy = torch.randn_like(y)
    return y, dy, torch.autograd.grad(y, operands, dy)


RESULT = {"relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "exp": torch.exp, "sqrt": torch.sqrt, "reciprocal": torch.reciprocal}
RESULT |= {"elu/alpha=0.7": lambda x: F.elu(x, 0.7), "leaky_relu/alpha=0.1": lambda x: F.leaky_relu(x, 0.1)}
OPERAND = {"abs": torch.abs, "cos": torch.cos, "sin": torch.sin, "erf": torch.erf, "log": torch.log, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}
OPERAND |= {"hard_swish": F.hardswish, "mish": F.mish, "softplus": F.softplus, "softsign": F.softsign, "swish/alpha=1": F.silu, "clip/alpha=-0.5/beta=0.25": lambda x: x.clamp(-0.5, 0.25)}
for functions, by_result in ((RESULT, True), (OPERAND, False)):
    for text, function in functions.items():
        name, _, rest = text.partition("/")
        x = 2 * torch.randn(9)
        if name in ("sqrt", "log", "reciprocal"):
            x = x.abs() + 0.5
        y, dy, (dx,) = of(function, x)
        show(f"UnaryGradient/f64/fn={name}/x=9" + ("/" + rest if rest else ""), [dy, y if by_result else x], [dx])

for log in (False, True):
    for shape, axis in (((4, 5, 1), 1), ((2, 3, 4), 1)):
        y, dy, (dx,) = of(lambda x, log=log, axis=axis: (F.log_softmax if log else F.softmax)(x, axis), torch.randn(*shape))
        show(f"SoftmaxGradient/f64/x={'x'.join(map(str, shape))}" + ("/log=1" if log else ""), [dy, y], [dx])

for affine in (True, False):
    x, scale, bias = torch.randn(3, 4, 5), torch.rand(4) + 0.5, torch.randn(4)
    mean, var = x.mean((0, 2)), x.var((0, 2), correction=0)
    _, dy, grads = of(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True, eps=1e-5), x, scale, bias) if affine else of(lambda x: F.batch_norm(x, None, None, training=True, eps=1e-5), x)
    show("NormGradient/f64/x=3x4x5" + ("" if affine else "/affine=0"), [dy, x, *([scale] if affine else []), mean, var], grads)
    x, scale, bias = torch.randn(3, 7), torch.rand(7) + 0.5, torch.randn(7)
    mean, var = x.mean(1), x.var(1, correction=0)
    _, dy, grads = of(lambda x, w, b: F.layer_norm(x, (7,), w, b, 1e-5), x, scale, bias) if affine else of(lambda x: F.layer_norm(x, (7,), eps=1e-5), x)
    show("NormGradient/f64/of=layer/x=3x7" + ("" if affine else "/affine=0"), [dy, x, *([scale] if affine else []), mean, var], grads)

for x, w, pad, stride, dilation, group in (((2, 3, 5, 6), (4, 3, 3, 3), 1, 1, 1, 1), ((1, 4, 7, 6), (6, 2, 3, 2), 1, 2, 1, 2), ((2, 4, 6, 6), (4, 1, 3, 3), 2, 1, 2, 4)):
    x, w = torch.randn(*x), torch.randn(*w)
    _, dy, (dx, dw) = of(lambda x, w, s=stride, p=pad, d=dilation, g=group: F.conv2d(x, w, None, s, p, d, g), x, w)
    text = f"x={'x'.join(map(str, x.shape))}/w={'x'.join(map(str, w.shape))}/pads={'x'.join([str(pad)] * 4)}"
    text += (f"/strides={stride}x{stride}" if stride > 1 else "") + (f"/dilations={dilation}x{dilation}" if dilation > 1 else "") + (f"/group={group}" if group > 1 else "")
    show(f"ConvGradient/f64/{text}", [dy, w], [dx])
    show(f"ConvGradient/f64/of=weights/{text}", [x, dy], [dw])
