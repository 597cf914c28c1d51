#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch on a GPU: the modules that models of examples/models/modern were exported from, with random weights.

  gpu_frameworks.py resnet50 bert_base_s128 --batch 1 --types f16,tf32 --modes eager,graph,compile --json FILE [--traces FOLDER]

Modes: `eager`; `graph`, a CUDA graph of the eager module; `compile`, torch.compile(mode="max-autotune"). Types as Benanza has them: `f16` is the
module in half precision, sums in f32; `tf32` and `f32` are the module in f32 with TF32 switched on and off, in products and in convolutions.
Convolutional networks run channels last, with cuDNN's own search for algorithms, as PyTorch's tuning guide advises.

Each run is timed by CUDA events (`median_ms`, of 200 runs after warming up) and by the processor's clock around the run and the wait for it
(`wall_ms`). `macs` is what PyTorch's own counter says of the module, so that one sees whether module and ONNX file do the same work. FILE is
written anew after each run; what it has is not run again. With --traces, eager runs leave a profiler's trace for `benanza gap`.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

RUNS = 200
WARM_UP_SECONDS = 0.5  # time spent working, for the clocks
TRACE_WARM_UPS, TRACE_RUNS = 5, 10
PAST = 512             # tokens in the cache of the decode step


def vision(name):
    import torch
    import torchvision

    module = getattr(torchvision.models, name)().to(memory_format=torch.channels_last)
    return module, lambda batch: [torch.randn(batch, 3, 224, 224).to(memory_format=torch.channels_last)]


def bert():
    import torch
    import transformers

    return transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False), lambda batch: [torch.randint(0, 30522, (batch, 128))]


def llama():
    import transformers

    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=32000, hidden_size=768, intermediate_size=2048, num_hidden_layers=12, num_attention_heads=12, num_key_value_heads=4))


def prefill():
    import torch

    module = llama()
    module.config.use_cache = False
    return module, lambda batch: [torch.randint(0, 32000, (batch, 128))]


def whisper():
    import torch
    import transformers

    return transformers.WhisperModel(transformers.WhisperConfig()).get_encoder(), lambda batch: [torch.randn(batch, 80, 3000)]


def decode():
    """Token and cache: the keys and values of each layer."""
    import torch

    return llama(), lambda batch: [torch.randint(0, 32000, (batch, 1)), *(torch.randn(batch, 4, PAST, 64) for _ in range(2 * 12))]


MODELS = {
    "resnet50": lambda: vision("resnet50"),
    "mobilenet_v3_large": lambda: vision("mobilenet_v3_large"),
    "bert_base_s128": bert,
    "llama_160m_decode_p512": decode,
    "llama_160m_prefill_s128": prefill,
    "whisper_tiny_encoder": whisper,
}


def call_of(name, module, inputs):
    """One run of the module. That of a decode step begins with the same cache each time; the step itself appends to it."""
    if name != "llama_160m_decode_p512":
        return lambda: module(*inputs)
    import transformers

    token, past = inputs[0], list(zip(inputs[1::2], inputs[2::2]))
    cache = transformers.DynamicCache()
    for layer, (keys, values) in enumerate(past):
        cache.update(keys, values, layer)

    def call():
        for layer, (keys, values) in zip(cache.layers, past):
            layer.keys, layer.values = keys, values
        return module(input_ids=token, past_key_values=cache, use_cache=True)

    return call


def set_type(kind):
    """TF32 is set on either side: PyTorch's defaults differ between products and convolutions."""
    import torch

    for backend in (torch.backends.cuda.matmul, torch.backends.cudnn):
        backend.allow_tf32 = kind == "tf32"
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cudnn.benchmark = True


def prepared(name, batch, kind):
    """The module and its inputs on the device, in their type."""
    import torch

    torch.manual_seed(2020)
    module, make_inputs = MODELS[name]()
    module = module.eval().requires_grad_(False).cuda()
    inputs = [tensor.cuda() for tensor in make_inputs(batch)]
    if kind == "f16":
        module, inputs = module.half(), [tensor.half() if tensor.is_floating_point() else tensor for tensor in inputs]
    return module, inputs


def graph_of(call):
    """A run as the replay of a CUDA graph, as PyTorch's documentation of them captures one."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = call()  # lives as long as the graph
    return lambda: (graph.replay(), output)


def call_in_mode(mode, name, module, inputs):
    import torch

    if mode == "compile":
        torch._dynamo.reset()
        return call_of(name, torch.compile(module, mode="max-autotune"), inputs)
    call = call_of(name, module, inputs)
    return graph_of(call) if mode == "graph" else call


def times_of(call):
    """Milliseconds of each run on the device and by the processor's clock."""
    import torch

    begin = time.perf_counter()
    while time.perf_counter() - begin < WARM_UP_SECONDS:
        call()
        torch.cuda.synchronize()
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    device, wall = [], []
    for _ in range(RUNS):
        before = time.perf_counter()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        wall.append((time.perf_counter() - before) * 1e3)
        device.append(start.elapsed_time(stop))
    return device, wall


def attention_flops(query, key, value, *_, **__):
    """FLOPs of both products, whatever the mask. PyTorch's own formula refuses keys that several heads share."""
    batch, heads, length, width = query
    return 2 * batch * heads * length * key[-2] * (width + value[-1])


def macs_of(call):
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    kernels = ("flash", "efficient", "cudnn")
    formulas = {getattr(torch.ops.aten, f"_scaled_dot_product_{kernel}_attention"): attention_flops for kernel in kernels}
    with FlopCounterMode(display=False, custom_mapping=formulas) as counter:
        call()
    return counter.get_total_flops() // 2


def write_trace(call, file):
    import torch
    from torch.profiler import ProfilerActivity, schedule

    file.parent.mkdir(parents=True, exist_ok=True)
    with torch.profiler.profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        record_shapes=True,
        schedule=schedule(wait=0, warmup=TRACE_WARM_UPS, active=TRACE_RUNS, repeat=1),
        on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(file)),
    ) as profiler:
        for _ in range(TRACE_WARM_UPS + TRACE_RUNS):
            call()
            torch.cuda.synchronize()
            profiler.step()


def run(name, batch, kind, mode, traces):
    """What is known of one run: its times, or the reason why there are none."""
    import torch

    result = {"model": name, "batch": batch, "type": kind, "mode": mode}
    try:
        set_type(kind)
        with torch.inference_mode():
            module, inputs = prepared(name, batch, kind)
            call = call_in_mode(mode, name, module, inputs)
            device, wall = times_of(call)
            result |= {"median_ms": statistics.median(device), "p10_ms": statistics.quantiles(device, n=10)[0],
                       "wall_ms": statistics.median(wall), "runs": RUNS}
            if mode == "eager":
                result["macs"] = macs_of(call)
                if traces:
                    write_trace(call, traces / f"{name}_b{batch}_{kind}_eager.json.gz")
    except Exception as error:  # whatever a framework throws costs this run alone
        result["error"] = f"{type(error).__name__}: {error}"[:1000]
    finally:
        torch.cuda.empty_cache()
    return result


def environment():
    import importlib.metadata

    import torch

    packages = {name: importlib.metadata.version(name) for name in ("torch", "torchvision", "transformers", "triton")}
    return packages | {"cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(), "device": torch.cuda.get_device_name()}


def key_of(entry):
    return tuple(entry[key] for key in ("model", "batch", "type", "mode"))


def read(file):
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {"runs": []}


def write(document, file):
    part = file.with_name(f".{file.name}.part")
    part.write_text(json.dumps(document, indent=1))
    os.replace(part, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = lambda choices: lambda text: [choices[choices.index(part)] for part in text.split(",")]
    parser.add_argument("models", nargs="+", choices=list(MODELS))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--types", type=names(["f16", "tf32", "f32"]), default=["f16", "tf32"])
    parser.add_argument("--modes", type=names(["eager", "graph", "compile"]), default=["eager", "graph"])
    parser.add_argument("--json", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--traces", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    document = read(arguments.json)
    document["environment"] = environment()
    known = {key_of(entry) for entry in document["runs"] if "error" not in entry}
    failed = False
    for kind in arguments.types:
        for name in arguments.models:
            for mode in arguments.modes:
                if (name, arguments.batch, kind, mode) in known:
                    continue
                result = run(name, arguments.batch, kind, mode, arguments.traces)
                document["runs"] = [entry for entry in document["runs"] if key_of(entry) != key_of(result)] + [result]
                write(document, arguments.json)
                print(*key_of(result), result.get("error") or f"{result['median_ms']:.3f} ms, {result['wall_ms']:.3f} ms with its launches", flush=True)
                failed = failed or "error" in result
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
