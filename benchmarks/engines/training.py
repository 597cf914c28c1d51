#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what Benanza counts of an iteration of training with what PyTorch counts, on models of torchvision.

  benchmarks/engines/training.py [NAME...]            what is counted; default: the list below
  benchmarks/engines/training.py --times [NAME...]    what it takes; default: the models of examples/models/training

Needs a Python with torch, torchvision and onnx (versions in gap.py). The first form exports each model in training mode at batch 2, runs forward and backward with
cross-entropy, and compares parameters, bytes of gradients, and the bytes of distinct storages that autograd saves with `benanza memory --training --saved
eager`; FLOPs of forward and backward as well, where nothing is grouped (PyTorch's counter forgets groups in the backward of convolutions) and there is no
attention (it passes over it on a processor). Prints a line a model; exit code 1 if one differs.

The second form times an iteration at batch 2 (forward, cross-entropy, backward, fused SGD) in PyTorch, eager and by `torch.compile`, turn by turn on the threads
of the bound, and compares 10th percentiles with `library fused` of `benanza bound --training`. It measures what the database lacks for `--budget`, then
rounds of whole iterations. Run it on an otherwise idle machine. The first call of a model compiles it, which takes minutes; the compiler's cache keeps that.
Exit code 1 if a bound is above PyTorch.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import compare

BATCH = 2
TURNS = 5
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


def compare_counts(names):
    import torch

    failed = 0
    for name in names or MODELS:
        module, x, loss_of = made(name)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{name}.onnx"
            torch.onnx.export(module, x, str(path), training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, opset_version=17, dynamo=False)
            command = [compare.PROGRAM, "memory", path, "--training", "--saved", "eager", "--batch", str(BATCH), "--quiet", "--json", "-"]
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



def iterations(name, threads, seconds):
    """Times in seconds of an iteration, eager and compiled, in turns."""
    import torch

    torch.manual_seed(2020)
    torch.set_num_threads(threads)
    module, x, loss_of = made(name)
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-4, fused=True)

    def run(forward):
        optimizer.zero_grad(set_to_none=True)
        loss_of(forward(x)).backward()
        optimizer.step()

    ways = {"eager": module, "torch.compile": torch.compile(module)}
    times = {way: [] for way in ways}
    for forward in ways.values():
        for _ in range(3):
            run(forward)
    for _ in range(TURNS):
        for way, forward in ways.items():
            end = time.perf_counter() + seconds / TURNS
            while time.perf_counter() < end:
                start = time.perf_counter()
                run(forward)
                times[way].append(time.perf_counter() - start)
    return times


def compare_times(arguments):
    import torch

    folder = compare.ROOT / "examples" / "models" / "training"
    compare.choose_processors(arguments)
    above, rows, said = 0, [], False
    for name in arguments.names or sorted(path.stem for path in folder.glob("*.onnx")):
        path = folder / f"{name}.onnx"
        compare.bounds_of([path], arguments, "--training", "--budget", arguments.budget)
        machine, bounds = compare.bounds_of([path], arguments, "--training", "--rounds", "--budget", f"{arguments.seconds:.0f}s")
        bound = next(iter(bounds.values()))
        if not said:
            print(f"{machine['device']} {machine['isa']}, {arguments.threads} threads, {time.strftime('%Y-%m-%d')}, torch {torch.__version__}, batch {BATCH}; p10 in ms")
            print(f"{'model':22}{'eager':>10}{'compile':>10}{'floor':>10}{'library':>10}{'fused':>10}{'fused/best':>12}  modelled, missing")
            said = True
        times = iterations(name, arguments.threads, arguments.seconds)
        engines, ms = {way: compare.p10(values) for way, values in times.items()}, bound["bounds_ms"]
        ratio = ms["library_fused"] / min(engines.values())
        above += ratio > 1
        print(f"{name:22}{engines['eager']:10.1f}{engines['torch.compile']:10.1f}{ms['model_floor']:10.1f}{ms['library']:10.1f}{ms['library_fused']:10.1f}{ratio:12.2f}"
              f"  {bound['coverage_fused']['modelled']}, {bound['coverage_fused']['missing']}{' <' if ratio > 1 else ''}", flush=True)
        rows.append({"model": name, "engines_ms": engines, "bounds_ms": ms, "ratio": ratio, "times_s": times})
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps({"machine": machine, "threads": arguments.threads, "torch": torch.__version__, "models": rows}, indent=1))
    return 1 if above else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of torchvision")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--threads", type=int, help="of PyTorch and of bounds (default: one for each core)")
    parser.add_argument("--seconds", type=float, default=20, help="for each model, eager, compiled, and for rounds of its bound (default: 20)")
    parser.add_argument("--budget", default="120s", help="for what the database lacks of a model (default: 120s)")
    parser.add_argument("--database", help="folder of results for `benanza bound`")
    parser.add_argument("--json", metavar="FILE", help="writes all times")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    return compare_times(arguments) if arguments.times else compare_counts(arguments.names)


if __name__ == "__main__":
    sys.exit(main())
