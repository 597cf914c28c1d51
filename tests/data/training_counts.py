#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes training_counts/: small networks as PyTorch's exporters write them, and what PyTorch counts of an iteration of each.

  tests/data/training_counts.py        written with torch 2.9.1 and onnx 1.23.2

expected.json has by NAME.onnx the parameters, the FLOPs of convolutions and products in forward and backward (torch.utils.flop_counter), and the bytes of
distinct storages that autograd saves, with the mean squared error as the loss.
"""
import json
import math
import pathlib

import onnx
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

FOLDER = pathlib.Path(__file__).resolve().parent / "training_counts"


class Graph(nn.Module):
    """Messages along the edges of a graph, added up at their targets. The exporter writes CastLike with the features as the type."""

    def __init__(self):
        super().__init__()
        self.layers, self.out = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)]), nn.Linear(8, 3)
        edges = torch.randint(0, 6, (2, 20), generator=torch.Generator().manual_seed(1))
        self.register_buffer("source", edges[0])
        self.register_buffer("target", edges[1])

    def forward(self, x):
        for layer in self.layers:
            x = torch.zeros_like(x).scatter_add(0, self.target[:, None].expand(-1, 8), F.relu(layer(x))[self.source])
        return self.out(x)


class Decoder(nn.Module):
    """A causal mask and a table of sinusoids, which the exporter writes like parameters."""

    def __init__(self, length=16, width=8):
        super().__init__()
        self.words, self.norm, self.project, self.head = nn.Embedding(11, width), nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, 11)
        angles = torch.arange(length)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(10000) / width))
        self.register_buffer("table", torch.stack((angles.sin(), angles.cos()), -1).reshape(1, length, width))

    def forward(self, tokens):
        x = self.words(tokens) + self.table
        q, k, v = self.project(self.norm(x)).chunk(3, -1)
        mask = torch.full((tokens.shape[1], tokens.shape[1]), float("-inf")).triu(1)
        return self.head(x + torch.softmax(q @ k.transpose(-1, -2) * 0.35 + mask, -1) @ v)


class States(nn.Module):
    """Recurrent layers, whose initial states of zeros the exporter writes."""

    def __init__(self):
        super().__init__()
        self.layers, self.last, self.out = nn.LSTM(4, 6, 2), nn.GRU(6, 5), nn.Linear(5, 2)

    def forward(self, x):
        return self.out(self.last(self.layers(x)[0])[0])


class Cell(nn.Module):
    """A recurrent cell in steps. The exporter writes SplitToSequence and SequenceAt."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(6, 5), nn.Linear(5, 2)

    def forward(self, x):
        h = x[0, :, :5]
        for step in x:
            h = self.cell(step, h)
        return self.out(h)


class Groups(nn.Module):
    """The exporter writes both norms as InstanceNormalization, with ones and zeros."""

    def __init__(self):
        super().__init__()
        self.first, self.group, self.each = nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.InstanceNorm2d(8)
        self.second, self.out = nn.Conv2d(8, 8, 3), nn.Linear(8, 4)

    def forward(self, x):
        x = F.relu(self.each(self.group(self.first(x))))
        return self.out(self.second(F.pad(x, (1, 1, 1, 1), mode="reflect")).mean((2, 3)))


class Folded(nn.Module):
    """What an export for inference folds and merges."""

    def __init__(self):
        super().__init__()
        self.first, self.one, self.second, self.two = nn.Conv2d(2, 4, 3, bias=False), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, bias=False), nn.BatchNorm2d(4)
        self.before, self.middle, self.after, self.out = nn.LayerNorm(4), nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 3)

    def forward(self, x):
        x = F.relu(self.two(self.second(F.relu(self.one(self.first(x))))))
        return self.out(self.after(self.middle(self.before(x.mean((2, 3))))))


def counted(module, x):
    module.train()
    owned = {tensor.untyped_storage().data_ptr() for tensor in [*module.parameters(), *module.buffers()]}
    saved, alive = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned:
            saved[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
        return tensor

    with FlopCounterMode(display=False) as forward, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = module(x)
        loss = F.mse_loss(y, torch.zeros_like(y))
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    return {"parameters": sum(p.numel() for p in module.parameters()), "saved_bytes": sum(saved.values()), "flops": forward.get_total_flops() + backward.get_total_flops()}


def strip(path):
    """Removes what the exporter tells of its own run, such as the lines of this script that it came from."""
    model = onnx.load(path)
    model.doc_string = ""
    for message in [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output, *model.graph.initializer]:
        del message.metadata_props[:]
        message.doc_string = ""
    onnx.save(model, path)


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(3)
    networks = {"graph": (Graph(), torch.randn(6, 8)), "decoder": (Decoder(), torch.zeros(2, 16, dtype=torch.long)), "states": (States(), torch.randn(3, 2, 4)), "cell": (Cell(), torch.randn(3, 2, 6)), "groups": (Groups(), torch.randn(2, 3, 6, 6)), "folded": (Folded(), torch.randn(2, 2, 7, 7))}
    expected = {}
    for name, (module, x) in networks.items():
        expected[name] = counted(module, x)
        if name == "states":
            del expected[name]["saved_bytes"], expected[name]["flops"]  # not known of LSTM and GRU
        if name == "cell":
            del expected[name]["saved_bytes"]  # GRUCell computes in place
        module.eval()
        torch.onnx.export(module, (x,), str(FOLDER / f"{name}_script.onnx"), dynamo=False, opset_version=18)
        torch.onnx.export(module, (x,), str(FOLDER / f"{name}.onnx"), dynamo=True, external_data=False, optimize=name not in ("graph", "cell"))
        if name not in ("groups", "folded"):
            (FOLDER / f"{name}_script.onnx").unlink()
        for path in FOLDER.glob(f"{name}*.onnx"):
            strip(path)
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
