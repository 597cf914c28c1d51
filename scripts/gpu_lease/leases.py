# SPDX-License-Identifier: Apache-2.0
"""What each lease does: its steps, the most important ones first."""
import sys

from .runner import Step

BACKENDS = "cudnn,cublas,cuda"  # each by its name: a bound without one of them is another bound
MODELS = ["resnet50", "bert_base_s128", "mobilenet_v3_large", "llama_160m_decode_p512", "llama_160m_prefill_s128", "whisper_tiny_encoder"]
LARGE = ["resnet50", "bert_base_s128"]  # also at batch 32
LEAST = {"resnet50": 45, "mobilenet_v3_large": 60}  # seconds for a bound; others take less
BATCH = 32
KINDS = ["f16", "tf32", "f32"]
COUNTED = ["Conv/f16/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=bias,relu", "Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=bias,relu",
           "MatMul/f16/a=128x768/b=768x3072/b_constant=1/post=bias", "Softmax/f16/x=12x128x128"]  # layers whose kernels are counted


def environment(programs, at):
    script = programs.folder / "gpu"
    return Step("environment", lambda limit: [sys.executable, script, "environment"], most=60, least=15, each_time=True)


def peaks(programs, at):
    """`cuda` stands for the libraries that are there: peaks are known also where one is not."""
    return Step("machine", lambda limit: [programs.path("benanza"), "machine", "--backend", "cuda", "--database", at / "database",
                                          "--json", at / "machine.json"], most=90, least=45, each_time=True)


def test(programs, name, *before):
    label = f"{'sanitizer' if before else 'tests'}_{name}"
    return Step(label, lambda limit: [*before, programs.path("gpu_tests"), "--filenames-as-tags", f"[#{name}_test]"],
                weight=2, least=20, refused="is skipped")


def bound(programs, at, model, batch, kind, weight=1):
    """The budget leaves time to read the model, to check plans and to write. On an H200, ResNet-50 was complete after 35 s in one run and not in
    another, MobileNetV3 was not after 36 s, and the others after 27 s."""
    name = f"bound_{model}_b{batch}_{kind}"
    return Step(name, lambda limit: [
        programs.path("benanza"), "bound", programs.model(model), "--backend", BACKENDS, "--batch", batch, "--type", kind,
        "--budget", f"{max(limit - 8, limit / 2):.0f}s", "--database", at / "database", "--json", at / f"{name}.json", "--require-complete"],
        weight=weight, least=LEAST.get(model, 35), most=120)


def witness(programs, at, model, kind):
    """By itself, since a fault of the device would cost the bound: the model executed as one graph, from the rows that there are."""
    name = f"witness_{model}_{kind}"
    return Step(name, lambda limit: [
        programs.path("benanza"), "bound", programs.model(model), "--backend", BACKENDS, "--batch", 1, "--type", kind, "--budget", "1s",
        "--witness", "--weights", "random:2020", "--database", at / "database", "--json", at / f"{name}.json"], weight=0.5, least=20, most=60)


def metrics(programs, at):
    """Kernels of a few layers with hardware counters, for which each of them is replayed."""
    return Step("metrics", lambda limit: [
        programs.path("benanza"), "measure", *COUNTED, "--backend", BACKENDS, "--budget", f"{max(limit / 2 / len(COUNTED), 1):.0f}s",
        "--metrics", "dram,flops,occupancy", "--database", at / "database", "--json", at / "metrics.json"], least=30, most=90)


def frameworks(programs, at, models, batch, kinds, modes, weight, least):
    """One process for all models where runs are quick, so that PyTorch is loaded once."""
    label = models[0] if len(models) == 1 else f"{len(models)}_models"
    return Step(f"frameworks_{label}_b{batch}_{'_'.join(modes)}", lambda limit: [
        programs.python(), programs.path("gpu_frameworks.py"), *models, "--batch", batch, "--types", ",".join(kinds), "--modes", ",".join(modes),
        "--json", at / "frameworks.json", "--traces", at / "traces"], weight=weight, least=least)


def compiled(programs, at, model, batch):
    """By itself: torch.compile tries many kernels for each layer, a minute or more for a model."""
    return frameworks(programs, at, [model], batch, ["f16", "tf32"], ["compile"], 1, 80)


def gap(programs, at, model, batch, kind):
    name = f"gap_{model}_b{batch}_{kind}"
    trace = at / "traces" / f"{model}_b{batch}_{kind}_eager.json.gz"
    return Step(name, lambda limit: [
        programs.path("benanza"), "gap", programs.model(model), "--profile", trace, "--batch", batch, "--type", kind,
        "--results", at / "database", "--json", at / f"{name}.json"], weight=0.5, most=30)


def trust(programs, at):
    yield environment(programs, at)
    yield peaks(programs, at)
    for name in programs.tests():
        yield test(programs, name)
    if programs.has("compute-sanitizer"):
        yield test(programs, "cuda_kernels", "compute-sanitizer", "--tool", "memcheck", "--error-exitcode", "9")
    yield metrics(programs, at)
    if programs.has(programs.path("timer_study")):
        # Two minutes, most of it idling, and it writes its document at the end.
        yield Step("timer_study", lambda limit: [programs.path("timer_study"), "--json", at / "timer_study.json"], weight=5, least=130, most=200)


def batch_1(programs, at):
    yield environment(programs, at)
    yield peaks(programs, at)
    for kind, weight in zip(KINDS, (2, 2, 1)):
        for model in MODELS:
            yield bound(programs, at, model, 1, kind, weight)
        for model in LARGE:
            yield witness(programs, at, model, kind)


def against_frameworks(programs, at):
    yield environment(programs, at)
    yield peaks(programs, at)
    for batch, weight in ((BATCH, 3), (1, 2)):
        for model in LARGE:
            for kind in ("f16", "tf32"):
                yield bound(programs, at, model, batch, kind, weight)
    yield frameworks(programs, at, LARGE, BATCH, ["f16", "tf32"], ["eager", "graph"], 2, 25)
    yield frameworks(programs, at, MODELS, 1, KINDS, ["eager", "graph"], 3, 40)
    for batch in (1, BATCH):
        for model in LARGE:
            yield gap(programs, at, model, batch, "f16")
    for batch in (1, BATCH):
        for model in LARGE:
            yield compiled(programs, at, model, batch)
    for model in MODELS:
        if model not in LARGE:
            yield compiled(programs, at, model, 1)


LEASES = {1: trust, 2: batch_1, 3: against_frameworks}


def steps(number, programs):
    """From the folder of the machine's results to the steps."""
    return lambda at: list(LEASES[number](programs, at))
