# SPDX-License-Identifier: Apache-2.0
"""What a lease prints last: at most 40 lines of all that is known of the machine, of earlier leases too.

  NVIDIA H200, driver 580.159.04, CUDA 13.0
  tests     cudnn passed, cublas passed, cuda passed, cuda_kernels passed; sanitizer: cuda_kernels passed
  peaks     f16 790 TFLOP/s, tf32 395 TFLOP/s, f32 60.2 TFLOP/s, memory 4.20 TB/s
  timer     floor 0.50 us, launch 1.80 us
  model                     batch type     floor  library    fused resident    eager    graph  compile  fused/best
  resnet50                      1 f16      0.041    0.310    0.231    0.262    2.410    0.480    0.402        0.57
"""
import json

MOST_LINES = 40
DONE = "done"
MODES = ("eager", "graph", "compile")
TYPES = ("f16", "tf32", "f32")
SAME_WORK = 0.02  # by which multiply-adds of a framework's module and of the ONNX file may differ: what folding removes


def read(file):
    """A document; an empty one where a step left none, or was cut while it wrote."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {}


def results_of(at):
    """The last result of each step."""
    file = at / "steps.txt"
    return dict(line.split("\t") for line in file.read_text().splitlines()) if file.exists() else {}


def tests_line(results):
    def part(prefix):
        return ", ".join(f"{name.removeprefix(prefix)} {'passed' if result == DONE else f'NOT PASSED ({result})'}"
                         for name, result in results.items() if name.startswith(prefix))
    tests, sanitizer = part("tests_"), part("sanitizer_")
    return (tests or "not run") + (f"; sanitizer: {sanitizer}" if sanitizer else "")


def scaled(value, unit):
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def machine_lines(document):
    machine = document.get("machine", {})
    yield ", ".join(str(part) for part in (machine.get("device", "no answer of `benanza machine`"), machine.get("driver")) if part)
    for backend in machine.get("backends", []):
        if not backend["available"] and backend["name"] in ("cudnn", "cublas", "cuda"):
            yield f"NOT AVAILABLE: {backend['name']}: {backend['reason'][:200]}"
    rates, times = [], []
    for row in document.get("ceilings", []):
        kind, _, name = row["quantity"].partition("/")
        if kind == "Timer":
            times.append(f"{name} {row['value'] * 1e6:.2f} us")
        else:
            rates.append(f"{name} {scaled(row['value'], 'FLOP/s' if kind == 'Peak' else 'B/s')}")
    yield f"peaks     {', '.join(rates) or 'not measured'}"
    yield f"timer     {', '.join(times) or 'not measured'}"


def kernels_line(document):
    """Of how many kernels counters were read; without the driver's permission of none."""
    kernels = [kernel for layer in document.get("layers", []) for plan in layer["plans"] for kernel in plan.get("kernels", [])]
    return f"kernels   {len(kernels)} of {len(document.get('layers', []))} layers recorded, {sum('occupancy' in kernel for kernel in kernels)} counted: metrics.json"


def number(value):
    return f"{value:9.3f}" if value is not None else f"{'-':>9}"


def model_lines(at):
    """A line for each model, batch and type that has a bound or a framework's run."""
    rows = {}
    for file in sorted(at.glob("bound_*.json")):
        for model in read(file).get("models", []):
            rows.setdefault((model["model"], model["batch"], model["type"]), {})["bound"] = model
    for run in read(at / "frameworks.json").get("runs", []):
        rows.setdefault((run["model"], run["batch"], run["type"]), {})[run["mode"]] = run
    if rows:
        yield f"{'model':26}{'batch':>5} {'type':5}{'floor':>9}{'library':>9}{'fused':>9}{'resident':>9}" + "".join(f"{mode:>9}" for mode in MODES) + "  fused/best"
    for (model, batch, kind), row in sorted(rows.items(), key=lambda item: (item[0][1], item[0][0], TYPES.index(item[0][2]))):
        bound = row.get("bound", {})
        ms = bound.get("bounds_ms", {})
        times = {mode: row[mode].get("median_ms") for mode in MODES if mode in row}
        best = min((time for time in times.values() if time), default=None)
        fused = ms.get("library_fused")
        text = f"{model[:25]:26}{batch:5} {kind:5}" + "".join(number(ms.get(rung)) for rung in ("model_floor", "library", "library_fused", "library_fused_resident"))
        text += "".join(number(times.get(mode)) for mode in MODES) + (f"{fused / best:12.2f}" if fused and best else f"{'-':>12}")
        macs = [row[mode]["macs"] for mode in times if row[mode].get("macs")]
        if macs and bound.get("macs") and abs(macs[0] / bound["macs"] - 1) > SAME_WORK:
            text += f"  other work: {macs[0] / 1e9:.2f} GMAC there, {bound['macs'] / 1e9:.2f} here"
        yield text + ("  partial" if bound.get("partial") else "")


def table(at):
    document, results = read(at / "machine.json"), results_of(at)
    first, *rest = machine_lines(document)
    lines = [first, f"tests     {tests_line(results)}", *rest]
    if results.get("metrics") == DONE:
        lines.append(kernels_line(read(at / "metrics.json")))
    if "timer_study" in results:
        lines.append(f"study     {results['timer_study']}: timer_study.txt")
    failed = [f"{name}: {result}" for name, result in results.items() if result != DONE and not name.startswith(("tests_", "sanitizer_", "timer_study"))]
    if failed:
        lines.append(f"NOT DONE  {'; '.join(failed)}"[:400])
    lines += model_lines(at)
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1:] = [f"({len(lines) - MOST_LINES + 1} more lines: the documents in results.tgz)"]
    return "\n".join(lines) + "\n"
