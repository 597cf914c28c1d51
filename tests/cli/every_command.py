#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of a program with sanitizers, on models and files of all kinds: it succeeds or says what is wrong with its input.

    every_command.py PROGRAM ROOT [PART]...

ROOT is the folder of the sources. PART names parts of the test (all if none is given). A part fails if a command ends with a code that
docs/program.md does not state, is ended by a signal, takes too long, or if a sanitizer reports anything in one of its processes. `covered` fails if
the program has a command that no part runs.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
EXAMPLES, DATA = ROOT / "examples", ROOT / "tests" / "data"
SEEDS, FOUND = ROOT / "tests" / "fuzz" / "seeds", ROOT / "tests" / "fuzz" / "found"
SECONDS = 300           # for one command
ANSWERED = {0, 3}       # docs/program.md, "Exit codes": done, and done but incomplete
USUAL = {0, 1, 2, 3, 4, 5}
PLACES = {
    "machine": EXAMPLES / "machines" / "l4.json", "results": EXAMPLES / "results" / "mnist.json", "upgraded": EXAMPLES / "results" / "mnist_upgraded.json",
    "profile": EXAMPLES / "profiles" / "mnist.csv", "mnist": EXAMPLES / "models" / "zoo2019" / "MNIST.onnx", "latencies": EXAMPLES / "latencies.csv", "of_2019": DATA / "2019", "t4": EXAMPLES / "machines" / "t4.json",
}  # fmt: skip
TOO_LARGE = re.compile("AddressSanitizer: requested allocation size")  # it ends the program, where without it std::bad_alloc is thrown
RELU = "Unary/f32/fn=relu/x=64"
TIMED = "--backend native --threads 1 --budget 1s --database {out}/database"  # with less, no plan gets its turn

# On all models of folders together: a model costs less than a process.
INFERENCE = [
    "layers {models} --csv {out}/layers.csv --json {out}/layers.json --md {out}/layers.md",
    "layers {models} --fused --type bf16",
    "layers {models} --tensors",
    "bound {models} --machine {machine} --all --json {out}/bound.json --csv {out}/bound.csv --csv-rungs {out}/rungs.csv --md {out}/bound.md --html {out}/bound.html",
    "analyze {models} --results {results} --all --json {out}/bound.json --dot {out}/bound.dot --trace {out}/bound.trace",
    "generate {models} -o {out}/suite.cpp --backend onednn,openblas,native",
    "generate {models} --standalone -o {out}/suite",
    "memory {models} --json {out}/memory.json --html {out}/memory.html",
]
TRAINING = [
    "layers {models} --training --fused",
    "bound {models} --training --machine {machine} --all --json {out}/bound.json",
    "memory {models} --training --optimizer adam --precision mixed --recompute every:2 --machine {machine}",
    "generate {models} --training -o {out}/suite.cpp",
    "scale {models} --machine {machine} --workers 4 --bandwidth 10Gbps --json {out}/scale.json --html {out}/scale.html --trace {out}/scale.trace",
]
# On each model alone: a model that is refused ends the program. The first reads it; what it refuses, the others would refuse as it does.
ALONE = [
    "layers {model} --fused",
    "bound {model} --machine {machine}",
    "memory {model} --training --machine {machine}",
    "run {model} --output {out}/run --check",
]
# A run of these computes the same small nodes 2^16 times, or fills half a gigabyte, before it ends: minutes with sanitizers.
LONG_RUNS = {"loop_of_products_2_62", "loop_trip_2_62", "loop_without_end", "loops_8_deep_grow", "loops_nested_2_40", "product_2_25_squared"}
FILES = {  # on each file alone
    "machines": ["bound {mnist} --machine {file}"],
    "results": ["analyze {mnist} --results {file}", "db verify {file}", "db merge {file} --into {out}/merged"],
    "profile": ["gap {mnist} --results {results} --profile {file}"],
    "shapes": ["layers {mnist} --shapes {file}"],
    "npy": ["run {mnist} --input Input3={file}"],
}
ONCE = [
    "help", "help db diff", "--version", "man", "completion bash", "completion zsh", "completion fish", "nonsense",
    "gap {mnist} --results {results} --profile {profile} --latency 75us --all --json {out}/gap.json --csv {out}/gap.csv --md {out}/gap.md --html {out}/gap.html --dot {out}/gap.dot --trace {out}/gap.trace",
    "gap {mnist} --batch 1 --rules 2019 --results {of_2019}/mnist_v100_b1.csv.gz --profile {of_2019}/mxnet_b1_MNIST.nsys.sqlite.gz --profile {of_2019}/mxnet_b1_MNIST.cudnn.log.gz",
    "predict {mnist} --rules 2019 --device Tesla_V100-SXM2-16GB --from {of_2019}/layers_b1.csv.gz --to {t4} --target-results {of_2019}/layers_b1.csv.gz --html {out}/predict.html",
    "study {mnist} --results {results} --latency {latencies} --html {out}/study.html",
    "study {mnist} --results {of_2019}/study --rules 2019 --batch 1 --json {out}/study.json",
    "analyze {mnist} --rules 2019 --results {of_2019}/mnist_t4_b1.csv.gz",
    "layers {mnist} --known {results}",
    "db list {results} {upgraded} --all", "db verify {results} {upgraded}", "db merge {results} {upgraded} --into {out}/merged",
    "db diff {results} {upgraded} --model {mnist} --all --csv {out}/diff.csv",
]
# One after the other with one database. `machine --remeasure` and `bound --repeat` only measure for longer.
MEASURED = [
    "measure " + RELU + " Conv/f32/x=1x8x6x6/w=16x8x3x3/post=bias,relu " + TIMED + " --json {out}/measured.json",
    "machine --backend native --threads 1 --database {out}/database",
    "bound {mnist} " + TIMED + " --witness --weights random:1 --witness-time 1ms --check --html {out}/bound.html",
    "gap {mnist} --profile {profile} --prove " + TIMED,
    "generate --reproducer " + RELU + " --plan onednn/none,threads=1 -o {out}/reproducer.cpp",
    "db list {out}/database",
]


def finished(command, out, **places):
    """A command's arguments as text, its exit code, what it said on stderr, and the sanitizers' reports."""
    with tempfile.TemporaryDirectory() as folder:
        reports = pathlib.Path(folder) / "report"  # of each process: what measures does so in a worker, whose end is no end of the program
        given = os.environ.get("ASAN_OPTIONS", "")
        environment = os.environ | {"ASAN_OPTIONS": f"{given}:log_path={reports}:max_allocation_size_mb=4096", "UBSAN_OPTIONS": f"log_path={reports}:print_stacktrace=1",
                                    "XDG_CACHE_HOME": folder}
        models = [str(model) for model in places.pop("models", [])]
        arguments = [word for part in command.split() for word in (models if part == "{models}" else [part.format(out=out or folder, **PLACES, **places)])]
        shown = "benanza " + " ".join(arguments)
        try:
            ran = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
                                 env=environment, cwd=folder)
        except subprocess.TimeoutExpired:
            return shown, None, f"not finished after {SECONDS} s", []
        return shown, ran.returncode, ran.stderr, [file.read_text(errors="replace") for file in sorted(pathlib.Path(folder).glob("report.*"))]


def judged(command, codes, out=None, **places):
    """The exit code of a command that may end with these codes, and what is wrong with it; nothing if nothing is."""
    shown, code, said, reports = finished(command, out, **places)
    if reports:
        return code, [f"{shown}: {report[:6000]}\n" for report in reports if not TOO_LARGE.search(report)]
    return code, [] if code in codes else [f"{shown}: code {code}, expected one of {sorted(codes)}\n{said[-2000:]}\n"]


def each(commands, codes, **many):
    """Each command with each of the values of a place."""
    ((name, values),) = many.items()
    return [lambda command=command, value=value: judged(command, codes, **{name: value})[1] for value in values for command in commands]


def hostile(model):
    """What is wrong with the commands on a model of any kind, one after the other."""
    code, found = judged(ALONE[0], USUAL, model=model)
    for command in ALONE[1:] if code != 1 else []:
        if not (command.startswith("run ") and model.stem in LONG_RUNS):
            found += judged(command, USUAL, model=model)[1]
    return found


def files(kind):
    found = [file for folder in (EXAMPLES / kind, SEEDS / kind, FOUND / kind, DATA / "hostile" / kind) for file in folder.glob("*") if file.suffix != ".md"]
    return sorted(file for file in found if file.is_file())


def models(*folders):
    return [model for folder in folders for model in sorted((DATA / folder).glob("*.onnx"))]


def in_turn():
    with tempfile.TemporaryDirectory() as out:
        return [found for command in MEASURED for found in judged(command, ANSWERED, out)[1]]


def covered():
    """The program's commands that no part runs."""
    def commands(*command):
        text = subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True, check=True).stdout
        listed = command != ("help",) and re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
        names = re.findall(r"^  ([a-z]+)", listed[1], re.MULTILINE) if listed else []
        return [found for name in names for found in commands(*command, name)] or [" ".join(command)]

    run = INFERENCE + TRAINING + ALONE + ONCE + MEASURED + [command for listed in FILES.values() for command in listed]
    return [f"no part runs `benanza {name}`\n" for name in commands() if not any(command == name or command.startswith(name + " ") for command in run)]


PARTS = {
    "covered": lambda: [covered],
    "measured": lambda: [in_turn],
    "inference": lambda: each(INFERENCE, ANSWERED, models=[[PLACES["mnist"], *models("loops", "models", "floors")]]),
    "training": lambda: each(TRAINING, ANSWERED, models=[[PLACES["mnist"], *models("training")]]),
    "once": lambda: [lambda command=command: judged(command, {2} if command == "nonsense" else ANSWERED)[1] for command in ONCE],
    "hostile": lambda: [lambda model=model: hostile(model) for model in [*models("hostile"), *files("memory"), *files("run")]],
    "files": lambda: [run for kind, commands in FILES.items() for run in each(commands, USUAL, file=files(kind))],
}


def main():
    parts = sys.argv[3:] or list(PARTS)
    runs = [run for part in parts for run in PARTS[part]()]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = [text for texts in pool.map(lambda run: run(), runs) for text in texts]
    print("".join(found), f"{len(runs)} runs in {', '.join(parts)}: {len(found)} complaints", sep="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
