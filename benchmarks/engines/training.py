#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what Benanza counts of an iteration of training with what PyTorch counts, on models of torchvision.

  benchmarks/engines/training.py [NAME...]        default: the list below

Needs a Python with torch, torchvision and onnx (versions in gap.py). Exports each model in training mode at batch 2, runs forward and backward with
cross-entropy, and compares parameters, bytes of gradients, and the bytes of distinct storages that autograd saves with `benanza memory --training --saved
eager`; FLOPs of forward and backward as well, where nothing is grouped (PyTorch's counter forgets groups in the backward of convolutions) and there is no
attention (it passes over it on a processor). Prints a line a model; exit code 1 if one differs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "benanza"
BATCH = 2
MODELS = [
    "alexnet", "convnext_tiny", "deeplabv3_mobilenet_v3_large", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "fcn_resnet50", "googlenet",
    "inception_v3", "lraspp_mobilenet_v3_large", "maxvit_t", "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_large", "regnet_y_400mf", "resnet50",
    "resnext50_32x4d", "shufflenet_v2_x1_0", "squeezenet1_0", "swin_t", "vgg11_bn", "vit_b_16", "wide_resnet50_2",
]  # fmt: skip

# Where Benanza counts otherwise, and why (docs/training.md, "Checked").
KNOWN = {"maxvit_t": "average pools behind a Pad, and copies of permuted operands"}


def made(name):
    """The module, its input and its loss."""
    import torch
    import torchvision

    class Pictures(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x)["out"]

    options = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    segments = name.startswith(("fcn", "deeplab", "lraspp"))
    if segments:
        options["weights_backbone"] = None
    module = torchvision.models.get_model(name, weights=None, **options)
    size = 128 if segments else 299 if name == "inception_v3" else 224
    places = (BATCH, size, size) if segments else (BATCH,)
    target = torch.zeros(places, dtype=torch.long)
    return (Pictures(module) if segments else module).train(), torch.randn(BATCH, 3, size, size), lambda y: torch.nn.functional.cross_entropy(y, target)


def counted(module, x, loss_of):
    """What PyTorch counts of one iteration."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    owned = {tensor.untyped_storage().data_ptr() for tensor in [*module.parameters(), *module.buffers()]}
    saved, alive = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in owned:
            saved[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
        return tensor

    with FlopCounterMode(display=False) as forward, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_of(module(x))
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    return {
        "parameters": sum(parameter.numel() for parameter in module.parameters()),
        "gradients": sum(parameter.numel() * parameter.element_size() for parameter in module.parameters()),
        "saved": sum(saved.values()),
        "flops": forward.get_total_flops() + backward.get_total_flops(),
    }


def has_attention_or_groups(module):
    import torch

    return any((isinstance(part, torch.nn.Conv2d) and part.groups > 1) or isinstance(part, torch.nn.MultiheadAttention) for part in module.modules())


def main():
    import torch

    warnings.filterwarnings("ignore")
    failed = 0
    for name in sys.argv[1:] or MODELS:
        module, x, loss_of = made(name)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{name}.onnx"
            torch.onnx.export(module, x, str(path), training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, opset_version=17, dynamo=False)
            command = [PROGRAM, "memory", path, "--training", "--saved", "eager", "--batch", str(BATCH), "--quiet", "--json", "-"]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            failed += 1
            print(f"{name:30} {result.stderr.strip()}")
            continue
        ours, theirs = json.loads(result.stdout)["models"][0], counted(module, x, loss_of)
        checks = {
            "parameters": (ours["parameters"], theirs["parameters"]),
            "gradients": (ours["most_at_once"]["gradients"], theirs["gradients"]),
            "saved": (ours["kept_bytes"], theirs["saved"]),
        }
        wrong = [f"{key} {a} instead of {b}" for key, (a, b) in checks.items() if a != b]
        flops = 2 * ours["macs"]
        if not has_attention_or_groups(module) and abs(flops / theirs["flops"] - 1) > 1e-3:
            wrong.append(f"FLOPs {flops} instead of {theirs['flops']}")
        failed += bool(wrong) and name not in KNOWN
        wrong += [KNOWN[name]] if wrong and name in KNOWN else []
        print(f"{name:30} {theirs['saved']:>12} bytes saved  " + ("; ".join(wrong) or "equal"), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
