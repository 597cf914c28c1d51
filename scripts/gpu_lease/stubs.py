# SPDX-License-Identifier: Apache-2.0
"""What the programs leave in a dry run: documents of the right form and about the size of real ones, their numbers random digits."""
import json
import pathlib
import random

DATABASE_BYTES, TRACE_BYTES, TEXT_BYTES = 800_000, 200_000, 20_000


def digits(count):
    return f"{random.getrandbits(4 * count):x}"


def value_of(command, option):
    return command[command.index(option) + 1] if option in command else None


def write(command, document):
    pathlib.Path(value_of(command, "--json")).write_text(json.dumps(document))


def machine(command):
    ceilings = [{"quantity": name, "value": value} for name, value in (
        ("Peak/f16", 1e15), ("Peak/tf32", 5e14), ("Peak/f32", 6e13), ("Bandwidth/memory", 4e12), ("Timer/floor", 5e-7), ("Timer/launch", 2e-6))]
    write(command, {"machine": {"device": "no device: a dry run", "driver": "none", "backends": []}, "ceilings": ceilings})


def bound(command):
    model = {"model": pathlib.Path(command[2]).stem, "batch": int(value_of(command, "--batch")), "type": value_of(command, "--type"), "partial": False,
             "macs": 10**9, "bounds_ms": {"model_floor": 0.1, "library": 0.4, "library_fused": 0.3, "library_fused_resident": 0.35}, "rows": digits(300_000)}
    write(command, {"models": [model]})
    (pathlib.Path(value_of(command, "--database")) / f"{digits(12)}.json").write_text(digits(DATABASE_BYTES))


def measure(command):
    kernel = {"name": digits(100), "grid": [1, 1, 1], "block": [128, 1, 1], "registers": 32, "time_ms": 0.01, "occupancy": 0.5}
    write(command, {"layers": [{"plans": [{"kernels": [kernel]}]}]})


def frameworks(command):
    file = pathlib.Path(value_of(command, "--json"))
    document = json.loads(file.read_text()) if file.exists() else {"runs": []}
    traces = pathlib.Path(value_of(command, "--traces"))
    traces.mkdir(exist_ok=True)
    batch = int(value_of(command, "--batch"))
    for model in command[2:command.index("--batch")]:
        for kind in value_of(command, "--types").split(","):
            for mode in value_of(command, "--modes").split(","):
                document["runs"].append({"model": model, "batch": batch, "type": kind, "mode": mode, "median_ms": 0.5, "macs": 10**9})
                if mode == "eager":
                    (traces / f"{model}_b{batch}_{kind}_{mode}.json.gz").write_bytes(random.randbytes(TRACE_BYTES))
    file.write_text(json.dumps(document))


def leave_output(command, output):
    output.write_text(digits(TEXT_BYTES))
    program = pathlib.Path(command[1] if command[0] == "python3" else command[0]).name
    if program == "gpu_frameworks.py":
        frameworks(command)
    elif program == "timer_study":
        write(command, {"layers": digits(100_000)})
    elif program == "benanza":
        {"machine": machine, "bound": bound, "measure": measure, "gap": lambda gap: write(gap, {"gaps": digits(300_000)})}[command[1]](command)
