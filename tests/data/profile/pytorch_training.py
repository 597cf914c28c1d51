#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records iterations of training in PyTorch, and says what its phases take.

  tests/data/profile/pytorch_training.py NAME FILE.json.gz [--compile] [--steps 6]
  tests/data/profile/pytorch_training.py --sum FILE.json.gz

The first form needs a Python with torch and torchvision. NAME is a model of torchvision, at batch 2 with cross-entropy and SGD, on two threads. From what
torch.profiler wrote it keeps the complete events of operators and annotations, with their shapes: nothing of the machine, and no time of the day.

Both forms print, of the last step in microseconds, the outermost events of its thread by phase: what autograd's engine runs, what the optimizer's annotations
enclose, all others; and by operator what the gradients of convolutions take. tests/gap/gap_phases_test.cpp compares with these sums.
"""
import argparse
import collections
import gzip
import json
import os
import pathlib
import tempfile

WARM_UPS = 4
BATCH = 2


def recorded(name, compiled, steps):
    os.environ["TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE"] = "1"  # else fused kernels are in no record
    import torch
    import torchvision
    from torch.profiler import ProfilerActivity, schedule

    torch.manual_seed(2020)
    torch.set_num_threads(2)
    module = torchvision.models.get_model(name, weights=None).train()
    optimizer = torch.optim.SGD(module.parameters(), lr=1e-4)
    x, target = torch.randn(BATCH, 3, 224, 224), torch.zeros(BATCH, dtype=torch.long)
    forward = torch.compile(module) if compiled else module
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.json"
        with torch.profiler.profile(
            activities=[ProfilerActivity.CPU],
            record_shapes=True,
            schedule=schedule(wait=0, warmup=WARM_UPS, active=steps, repeat=1),
            on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(file)),
        ) as profiler:
            for _ in range(WARM_UPS + steps):
                optimizer.zero_grad(set_to_none=True)
                torch.nn.functional.cross_entropy(forward(x), target).backward()
                optimizer.step()
                profiler.step()
        return json.loads(file.read_text())


def trimmed(trace):
    kept = [event for event in trace["traceEvents"] if event.get("ph") == "X" and event.get("cat") in ("cpu_op", "user_annotation")]
    begin = min(event["ts"] for event in kept)
    threads = {}
    events = []
    for event in kept:
        shapes = {key: event["args"][key] for key in ("Input Dims", "Input type") if any(event["args"].get("Input Dims", []))}
        events.append({"ph": "X", "cat": event["cat"], "name": event["name"], "pid": 1, "tid": threads.setdefault(event["tid"], len(threads) + 1),
                       "ts": round(event["ts"] - begin, 3), "dur": event["dur"], "args": shapes})  # fmt: skip
    return {"schemaVersion": 1, "deviceProperties": [], "record_shapes": 1, "displayTimeUnit": "ms", "traceEvents": events}


def phase_of(name):
    if name.startswith("autograd::engine"):
        return "backward"
    return "update" if name.startswith("Optimizer.") else "forward"


def say_sums(events):
    steps = [event for event in events if event["name"].startswith("ProfilerStep")]
    last = max(steps, key=lambda event: event["ts"])
    inside = [event for event in events if event is not last and last["ts"] <= event["ts"] < last["ts"] + last["dur"] and event["tid"] == last["tid"]]
    phases, end = collections.Counter(), 0
    for event in sorted(inside, key=lambda event: (event["ts"], -event["dur"])):
        if event["ts"] >= end:
            phases[phase_of(event["name"])] += event["dur"]
            end = event["ts"] + event["dur"]
    print(f"{len(steps)} steps; the last one takes {last['dur']:.3f}")
    for phase, time in phases.items():
        print(f"{phase:10} {time:14.3f}")
    print(f"{'between':10} {last['dur'] - sum(phases.values()):14.3f}")
    for name in ("aten::conv2d", "aten::convolution_backward", "Optimizer.step#SGD.step"):
        found = [event["dur"] for event in inside if event["name"] == name]
        print(f"{name}: {len(found)}, {sum(found):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--sum", action="store_true", help="only says the sums of a file")
    arguments = parser.parse_args()
    if not arguments.sum:
        trace = trimmed(recorded(arguments.name, arguments.compile, arguments.steps))
        arguments.file.write_bytes(gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), 9, mtime=0))
    say_sums(json.loads(gzip.decompress(arguments.file.read_bytes()))["traceEvents"])


if __name__ == "__main__":
    main()
