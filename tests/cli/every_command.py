#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of a program with sanitizers, on every file of folders: it succeeds or says in one line why not.

    every_command.py PROGRAM EXAMPLES MODELS... [--files FOLDER...]

MODELS: folders with *.onnx; each model is given to every command that takes one. FILES: folders with files of any kind; each is given to every
option that reads one. EXAMPLES: the project's examples, for what else a command needs. A sanitizer ends a program with a code of its own.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

SANITIZER = 99  # the exit code upon a finding
SECONDS = 300   # for one command
USUAL = range(6)  # docs/program.md, "Exit codes"

MODEL_COMMANDS = [
    "layers {model} --csv - --batch 3 --type bf16",
    "bound {model} --machine {machine} --json {out}/bound.json --html {out}/bound.html",
    "bound {model} --machine {machine} --training --all",
    "analyze {model} --results {results} --dot {out}/analyze.dot",
    "gap {model} --results {results} --latency 1ms",
    "generate {model} -o {out}/suite.cpp --backend onednn,openblas,native",
    "generate {model} --standalone -o {out}/suite",
    "memory {model} --json {out}/memory.json",
    "memory {model} --training --machine {machine}",
    "scale {model} --machine {machine} --workers 4 --bandwidth 10Gbps",
    "run {model} --output {out}/run --check",
]
FILE_COMMANDS = [
    "bound {mnist} --machine {file}",
    "analyze {mnist} --results {file}",
    "gap {mnist} --results {results} --profile {file}",
    "layers {mnist} --shapes {file}",
    "run {mnist} --input Input3={file}",
    "db merge {file} --into {out}/merged",
]


def complaint(program, text, places):
    """What is wrong with a command; nothing if nothing is. A model of the examples is not refused."""
    with tempfile.TemporaryDirectory() as out:
        arguments = [part.format(out=out, **places) for part in text.split()]
        environment = dict(os.environ, ASAN_OPTIONS=f"exitcode={SANITIZER}:allocator_may_return_null=0:max_allocation_size_mb=4096",
                           UBSAN_OPTIONS=f"exitcode={SANITIZER}:print_stacktrace=1", XDG_CACHE_HOME=out)
        try:
            ran = subprocess.run([program, *arguments], capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False,
                                 stdin=subprocess.DEVNULL, env=environment, cwd=out)
        except subprocess.TimeoutExpired:
            return f"{' '.join(arguments)}: not finished after {SECONDS} s"
    if ran.returncode in (USUAL if places.get("model") != places["mnist"] else [0, 3]):
        return None
    return f"{' '.join(arguments)}: code {ran.returncode}\n{ran.stderr[-6000:]}"


def main():
    program, examples, *folders = sys.argv[1:]
    program = pathlib.Path(program).resolve()
    examples = pathlib.Path(examples).resolve()
    middle = folders.index("--files") if "--files" in folders else len(folders)
    models = sorted(model.resolve() for folder in folders[:middle] for model in pathlib.Path(folder).glob("*.onnx"))
    files = sorted(file.resolve() for folder in folders[middle + 1:] for file in pathlib.Path(folder).glob("*") if file.is_file())
    places = {"machine": examples / "machines" / "l4.json", "results": examples / "results" / "mnist.json",
              "mnist": examples / "models" / "zoo2019" / "MNIST.onnx"}
    runs = [(text, {**places, "model": model}) for model in [places["mnist"], *models] for text in MODEL_COMMANDS]
    runs += [(text, {**places, "file": file}) for file in files for text in FILE_COMMANDS]
    complaints = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda run: complaint(program, *run), runs):
            if found:
                complaints += 1
                print(found, flush=True)
    print(f"{len(runs)} commands on {len(models)} models and {len(files)} other files, {complaints} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
