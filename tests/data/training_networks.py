#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes training/: small networks, and what an iteration of their training makes in PyTorch.

  tests/data/training_networks.py [NAME...]        written with torch 2.13.0 and onnx 1.23.2

NAME.onnx is the network in training mode with its weights. NAME.txt has a line `loss KIND VALUE`, a line `input NAME` for each input, `target`, and for
each parameter its gradient and what a step of SGD (rate 0.001) leaves: `gradient NAME`, `updated NAME`; numbers row-major.
"""
import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent / "training"


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.deep = nn.Conv2d(4, 4, 3, stride=2, padding=1, groups=4, bias=False)
        self.wide, self.last = nn.Conv2d(4, 6, (1, 3), dilation=(1, 2)), nn.Linear(6, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 3, 2, 1)
        x = F.hardswish(self.deep(F.avg_pool2d(x, 2, 1, 1, count_include_pad=False)))
        return self.last(F.silu(self.wide(F.pad(x, (2, 2, 0, 1)))).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(7, 8), nn.Parameter(torch.randn(5, 8) * 0.1)
        self.norm, self.project, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.up, self.down, self.head = nn.Linear(8, 12), nn.Linear(12, 8), nn.Linear(8, 4)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        q, k, v = self.project(self.norm(x)).reshape(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(q @ k.transpose(-1, -2) * 0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(2, 5, 8))
        x = x + self.down(F.gelu(self.up(x)))
        return self.head(x)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up = nn.GroupNorm(2, 4), nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)
        self.each, self.slope = nn.InstanceNorm2d(3, affine=True), nn.PReLU(3)
        self.wide, self.last = nn.Conv2d(3, 4, 1), nn.Conv2d(1, 1, 1)

    def forward(self, x):
        x = self.slope(self.each(self.up(self.norm(x))))
        x = F.interpolate(x, scale_factor=2, mode="bilinear") + F.interpolate(x, scale_factor=2, mode="nearest")
        return torch.sigmoid(self.last(F.pixel_shuffle(F.leaky_relu(self.wide(x), 0.1), 2)))


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.v = nn.Parameter(torch.rand(3, 8) + 0.5), nn.Parameter(torch.randn(3, 8))

    def forward(self, x):
        w, v = self.w * x, self.v + x
        parts = [torch.exp(v), torch.log(w), torch.sqrt(w), torch.tanh(v), torch.sin(v), torch.cos(v), torch.erf(v), F.softplus(v), F.elu(v, 0.7), F.celu(v, 0.8)]
        parts += [F.selu(v), F.hardsigmoid(v), v.abs(), v.clamp(-0.5, 0.6), 1 / w, w**2, w**1.5, w / (1 + v * v), torch.maximum(v, w), torch.minimum(v, w)]
        parts += [torch.where(v > 0, v, 0.3 * w), torch.atan(v), torch.acos(0.3 * torch.tanh(v)), torch.tan(0.2 * v)]
        y = sum(parts)
        y = y + y.mean(1, keepdim=True) + y.amax(1, keepdim=True) + torch.logsumexp(v, 1, keepdim=True) + v.norm(dim=1, keepdim=True) + v.abs().sum(1, keepdim=True)
        return y * torch.log_softmax(v, 1) - F.normalize(w, dim=1)


class Movements(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.table = nn.Parameter(torch.randn(4, 6)), nn.Parameter(torch.randn(5, 3))

    def forward(self, x):
        w = self.w * x
        a, b = torch.split(w, (2, 4), 1)
        picked = self.table[torch.tensor([4, 0, 4])]
        y = torch.cat((b[:, ::2], a.repeat(1, 2), F.pad(a, (1, 0)), w[1:2].expand(4, 6)), 1)
        y = y + torch.gather(w, 1, torch.tensor([[0, 5, 5, 1] + [2] * 11] * 4))
        y = y + torch.cumsum(w, 1)[:, :1] + torch.topk(w, 2, dim=1)[0].sum(1, keepdim=True) + torch.tril(w[:, :4]).sum(1, keepdim=True)
        return torch.einsum("ij,kl->il", y, picked) + (w.reshape(2, 2, 6).transpose(0, 1) @ w.reshape(2, 6, 2)).sum()


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(1, 5, 6, 6) + 0.5)
        self.rms = nn.Parameter(torch.rand(6) + 0.5)

    def forward(self, x):
        y = F.local_response_norm(self.w * x, 3, alpha=0.3, beta=0.75, k=1.0)
        y = F.lp_pool2d(y, 2, 2, 2) + F.max_pool2d(y, 2) + F.adaptive_max_pool2d(y, 1)
        z = self.w * torch.rsqrt(self.w.square().mean(-1, keepdim=True) + 1e-5) * self.rms
        return y + z[:, :, ::2, 1::2]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.both, self.gated, self.plain = nn.LSTM(3, 4, bidirectional=True), nn.GRU(8, 5), nn.RNN(5, 4)
        self.start, self.last = nn.Parameter(torch.randn(1, 2, 5)), nn.Linear(4, 3)

    def forward(self, x):
        x, (_, cells) = self.both(x)
        x, state = self.gated(x, self.start)
        return self.last(self.plain(torch.tanh(x) + state)[0][-1] + cells[1])


class Frozen(nn.Module):
    """A batch normalisation that is not trained, between convolutions."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(2, 4, 3), nn.Conv2d(4, 3, 1)
        for name in ("weight", "bias", "mean", "var"):
            self.register_buffer(name, torch.rand(4) + 0.5)

    def forward(self, x):
        weight, bias, mean, var = (buffer.reshape(1, -1, 1, 1) for buffer in (self.weight, self.bias, self.mean, self.var))
        scale = weight * (var + 1e-5).rsqrt()
        return self.last(F.relu(self.first(x) * scale + (bias - mean * scale))).mean((2, 3))


class Zeroed(nn.Module):
    """The keys' part of a bias is put to zero in the forward pass, as version 2 of Swin does; keys are rotated."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 9)

    def forward(self, x):
        bias = self.project.bias.clone()
        bias[3:6].zero_()
        q, k, v = F.linear(x, self.project.weight, bias).chunk(3, -1)
        angle = torch.arange(5.0)[:, None] * torch.tensor([1.0, 0.1, 0.3])
        k = k * angle.cos() + torch.cat((-k[..., 1:], k[..., :1]), -1) * angle.sin()
        return F.gelu(F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-1, -2) @ v, approximate="tanh")


NETWORKS = {
    "convolutions": (Convolutions, lambda: torch.randn(3, 2, 11, 10), "cross-entropy", lambda: torch.tensor([0, 2, 1])),
    "attention": (Attention, lambda: torch.tensor([[0, 6, 3, 3, 1], [2, 2, 5, 4, 3]]), "cross-entropy", lambda: torch.randint(0, 4, (10,))),
    "decoder": (Decoder, lambda: torch.randn(2, 4, 3, 4), "mse", None),
    "functions": (Functions, lambda: torch.rand(3, 8) + 0.2, "mse", None),
    "movements": (Movements, lambda: torch.randn(4, 6), "mse", None),
    "frozen": (Frozen, lambda: torch.randn(2, 2, 6, 5), "cross-entropy", lambda: torch.tensor([1, 2])),
    "recurrent": (Recurrent, lambda: torch.randn(6, 2, 3), "cross-entropy", lambda: torch.tensor([2, 0])),
    "zeroed": (Zeroed, lambda: torch.randn(2, 5, 4), "mse", None),
    "windows": (Windows, lambda: torch.rand(2, 5, 6, 6) + 0.5, "mse", None),
}


def line(*words, tensor):
    return " ".join([*words, *(f"{number:.8g}" for number in tensor.detach().double().flatten().tolist())])


def main():
    warnings.filterwarnings("ignore")
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or NETWORKS:
        make, data, kind, target = NETWORKS[name]
        torch.manual_seed(11)
        module, x = make().train(), data()
        torch.onnx.export(
            module, x, str(FOLDER / f"{name}.onnx"), training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, opset_version=17, dynamo=False,
            input_names=["x"], output_names=["y"],
        )  # fmt: skip
        module.train()
        optimizer = torch.optim.SGD(module.parameters(), 1e-3)
        y = module(x)
        wanted = target() if target else torch.randn_like(y)
        loss = F.cross_entropy(y.reshape(-1, y.shape[-1]), wanted) if kind == "cross-entropy" else F.mse_loss(y, wanted)
        loss.backward()
        optimizer.step()
        lines = [f"loss {kind} {loss.item():.8g}", line("input", "x", tensor=x), line("target", tensor=wanted)]
        for key, parameter in module.named_parameters():
            lines += [line("gradient", key, tensor=parameter.grad), line("updated", key, tensor=parameter)]
        (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
