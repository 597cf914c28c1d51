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
OPERAND |= {"celu/alpha=0.75": lambda x: F.celu(x, 0.75), "selu/alpha=1.6732632423543772/beta=1.0507009873554805": F.selu, "thresholded_relu/alpha=0.7": lambda x: F.threshold(x, 0.7, 0.0)}
OPERAND |= {"shrink/alpha=0.4/beta=0.4": lambda x: F.softshrink(x, 0.4)}
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

for groups in (2, 4):  # 4: one group a channel, instance normalisation
    x, scale, bias = torch.randn(3, 4, 5), torch.rand(4) + 0.5, torch.randn(4)
    grouped = x.reshape(3, groups, -1)
    _, dy, grads = of(lambda x, w, b, g=groups: F.group_norm(x, g, w, b, 1e-5), x, scale, bias)
    show(f"NormGradient/f64/of=group/x=3x4x5/groups={groups}", [dy, x, scale, grouped.mean(2), grouped.var(2, correction=0)], grads)
x = torch.randn(3, 4, 5)
_, dy, grads = of(lambda x: F.group_norm(x, 2, eps=1e-5), x)
grouped = x.reshape(3, 2, -1)
show("NormGradient/f64/of=group/x=3x4x5/groups=2/affine=0", [dy, x, grouped.mean(2), grouped.var(2, correction=0)], grads)
x, scale = torch.randn(3, 7), torch.rand(7) + 0.5
_, dy, grads = of(lambda x, w: F.rms_norm(x, (7,), w, 1e-5), x, scale)
show("NormGradient/f64/of=rms/x=3x7/bias=0", [dy, x, scale, x.square().mean(1)], grads)
_, dy, grads = of(lambda x: F.rms_norm(x, (7,), eps=1e-5), x)
show("NormGradient/f64/of=rms/x=3x7/affine=0/bias=0", [dy, x, x.square().mean(1)], grads)
mean, var = x.mean(1), x.var(1, correction=0)
_, dy, grads = of(lambda x, w: F.layer_norm(x, (7,), w, None, 1e-5), x, scale)
show("NormGradient/f64/of=layer/x=3x7/bias=0", [dy, x, scale, mean, var], grads)

x = torch.randn(2, 3, 7, 6)
for kernel, stride, pad, dilation in ((3, 2, 1, 1), (2, 2, 0, 1), (3, 1, 0, 2)):
    _, indices = F.max_pool2d(x, kernel, stride, pad, dilation, return_indices=True)
    _, dy, grads = of(lambda x, k=kernel, s=stride, p=pad, d=dilation: F.max_pool2d(x, k, s, p, d), x)
    text = f"x=2x3x7x6/kernel={kernel}x{kernel}" + (f"/pads={'x'.join([str(pad)] * 4)}" if pad else "") + (f"/strides={stride}x{stride}" if stride > 1 else "")
    show(f"PoolGradient/f64/{text}" + (f"/dilations={dilation}x{dilation}" if dilation > 1 else ""), [dy, indices], grads)
for kernel, stride, pad, include in ((3, 2, 1, True), (3, 2, 1, False), (2, 1, 0, False)):
    _, dy, grads = of(lambda x, k=kernel, s=stride, p=pad, i=include: F.avg_pool2d(x, k, s, p, count_include_pad=i), x)
    text = f"x=2x3x7x6/kernel={kernel}x{kernel}" + (f"/pads={'x'.join([str(pad)] * 4)}" if pad else "") + (f"/strides={stride}x{stride}" if stride > 1 else "")
    show(f"PoolGradient/f64/mode=average/{text}" + ("/include_pad=1" if include else ""), [dy], grads)
_, dy, grads = of(lambda x: F.adaptive_avg_pool2d(x, 1), x)
show("PoolGradient/f64/mode=average/x=2x3x7x6/kernel=7x6", [dy], grads)

scores, target, weight = torch.randn(4, 5), torch.tensor([0, 3, 3, 4]), torch.rand(5) + 0.5
pictures, places = torch.randn(2, 5, 3), torch.tensor([[0, 3, 1], [4, 4, 2]])
for x, at, shape in ((scores, target, "4x5x1"), (pictures, places, "2x5x3")):
    for reduction in ("mean", "sum", "none"):
        for weights in (None, weight):
            _, dy, grads = of(lambda x, r=reduction, w=weights, t=at: F.cross_entropy(x, t, w, reduction=r), x)
            rest = ([] if weights is None else [weights], "" if reduction == "mean" else f"/reduction={reduction}", "" if weights is None else "/weighted=1")
            show(f"LossGradient/f64/x={shape}/softmax=1{rest[1]}{rest[2]}", [dy, F.log_softmax(x, 1), at, *rest[0]], grads)
            _, dy, grads = of(lambda x, r=reduction, w=weights, t=at: F.nll_loss(x, t, w, reduction=r), x)
            show(f"LossGradient/f64/x={shape}{rest[1]}{rest[2]}", [dy, at, *rest[0]], grads)

table, at = torch.randn(6, 4), torch.tensor([5, 0, 5, 2, 5])
_, dy, grads = of(lambda x: F.embedding(at, x), table)
show("GatherGradient/f64/x=1x6x4/indices=5", [dy, at], grads)
_, dy, grads = of(lambda x: x[:, at], torch.randn(3, 6, 2))
show("GatherGradient/f64/x=3x6x2/indices=5", [dy, at], grads)

for mode, size, options in (("nearest", (6, 9), {}), ("bilinear", (7, 5), {"align_corners": False}), ("bilinear", (5, 8), {"align_corners": True}), ("bicubic", (8, 8), {"align_corners": False})):
    _, dy, grads = of(lambda x, m=mode, s=size, o=options: F.interpolate(x, s, mode=m, **o), torch.randn(1, 2, 4, 4))
    name = {"nearest": "nearest/coordinates=asymmetric/rounding=floor", "bilinear": "linear", "bicubic": "cubic"}[mode] + ("/coordinates=align_corners" if options.get("align_corners") else "")
    show(f"ResizeGradient/f64/x=1x2x4x4/y=1x2x{size[0]}x{size[1]}/mode={name}".replace("/mode=nearest", ""), [dy], grads)

OPTIMIZERS = {
    "sgd": (lambda w: torch.optim.SGD([w], 1e-3), []),
    "momentum": (lambda w: torch.optim.SGD([w], 1e-3, momentum=0.9), ["momentum_buffer"]),
    "adam": (lambda w: torch.optim.Adam([w]), ["exp_avg", "exp_avg_sq"]),
    "adamw": (lambda w: torch.optim.AdamW([w]), ["exp_avg", "exp_avg_sq"]),
}
for rule, (make, names) in OPTIMIZERS.items():
    w = torch.randn(9, dtype=torch.float32).requires_grad_()
    before, w.grad = w.detach().clone(), torch.randn(9, dtype=torch.float32)
    optimizer = make(w)
    states = [torch.rand(9, dtype=torch.float32) * (0.01 if name == "exp_avg_sq" else 1) for name in names]
    optimizer.state[w].update({name: state.clone() for name, state in zip(names, states)})
    if len(names) == 2:
        optimizer.state[w]["step"] = torch.tensor(0.0)
    optimizer.step()
    show("OptimizerStep/f32" + ("" if rule == "sgd" else f"/rule={rule}") + "/x=9", [before, w.grad, *states], [w, *(optimizer.state[w][name] for name in names)])


def recurrence(cell, steps, batch, hidden, directions=1, reverse=False, linear=False, initial=False, every_step=True, last_h=False, last_c=False, to_initial=False):
    """ONNX's equations step by step; what the gates of each step add up from inputs and biases is drawn, and its gradient is the layer's."""
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[cell]
    r = torch.randn(directions, gates * hidden, hidden) / hidden**0.5
    added = torch.randn(directions, steps, batch, gates * hidden).requires_grad_()
    first = [torch.randn(directions, batch, hidden) if initial else torch.zeros(directions, batch, hidden) for _ in range(2)]
    h0, c0 = (tensor.requires_grad_() for tensor in first)
    y, cells, kept, of_state = {}, {}, {}, {}
    for way in range(directions):
        h, c = h0[way], c0[way]
        for t in reversed(range(steps)) if way == 1 or reverse else range(steps):
            a, product = added[way, t].chunk(gates, -1), [h @ part.T for part in r[way].chunk(gates, 0)]
            if cell == "rnn":
                h = torch.tanh(a[0] + product[0])
            elif cell == "lstm":
                i, o, f = (torch.sigmoid(a[g] + product[g]) for g in range(3))
                g = torch.tanh(a[3] + product[3])
                c = f * c + i * g
                h, kept[t, way] = o * torch.tanh(c), torch.cat((i, o, f, g), -1)
            else:
                z, reset = (torch.sigmoid(a[g] + product[g]) for g in range(2))
                share = product[2] + 0.3 if linear else (reset * h) @ r[way].chunk(gates, 0)[2].T
                share.retain_grad()
                n = torch.tanh(a[2] + (reset * share if linear else share))
                h, kept[t, way], of_state[t, way] = (1 - z) * n + z * h, torch.cat((z, reset, n, share) if linear else (z, reset, n), -1), share
            y[t, way], cells[t, way] = h, c
    stack = lambda parts: torch.stack([torch.stack([parts[t, way] for way in range(directions)]) for t in range(steps)])
    ends = [0 if way == 1 or reverse else steps - 1 for way in range(directions)]
    ys, cs = stack(y), stack(cells)
    results = [ys] * every_step + [torch.stack([ys[t, way] for way, t in enumerate(ends)])] * last_h + [torch.stack([cs[t, way] for way, t in enumerate(ends)])] * last_c
    dys = [torch.randn_like(result) for result in results]
    torch.autograd.backward(results, dys)
    dgates = added.grad
    if linear:
        shares = torch.stack([torch.stack([of_state[t, way].grad for t in range(steps)]) for way in range(directions)])
        dgates = torch.cat((dgates[..., : 2 * hidden], shares, dgates[..., 2 * hidden :]), -1)
    text = f"RecurrentGradient/f64{'' if cell == 'lstm' else '/cell=' + cell}/y={steps}x{batch}x{hidden}" + (f"/directions={directions}" if directions > 1 else "")
    for word, given in (("reverse", reverse), ("linear_before_reset", linear), ("initial_state", initial and cell != "rnn"), ("last_h", last_h), ("last_c", last_c), ("to_initial", to_initial)):
        text += ("/every_step=0" if word == "last_h" and not every_step else "") + (f"/{word}=1" if given else "")
    inputs = [*dys, r] + ([] if cell == "rnn" else [stack(kept)]) + [cs if cell == "lstm" else ys]
    inputs += [c0 if cell == "lstm" else h0] * (initial and cell != "rnn")
    show(text, inputs, [dgates] + ([h0.grad] + [c0.grad] * (cell == "lstm")) * to_initial)


for options in ({}, {"directions": 2, "last_h": True}, {"reverse": True, "initial": True, "last_h": True, "to_initial": True}):
    recurrence("lstm", 4, 2, 3, last_c=bool(options), **options)
    for linear in (False, True):
        recurrence("gru", 4, 2, 3, linear=linear, **options)
    recurrence("rnn", 4, 2, 3, **options)
recurrence("lstm", 1, 2, 3, every_step=False, last_c=True)
recurrence("gru", 3, 2, 3, every_step=False, last_h=True, initial=True)
