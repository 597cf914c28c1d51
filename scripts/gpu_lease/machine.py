# SPDX-License-Identifier: Apache-2.0
"""The GPU machine: which GPU it is, where its Pythons keep NVIDIA's libraries, which versions it has."""
import functools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess

PACKAGES = r"torch|torchvision|transformers|triton|onnx|onnxruntime|nvidia-.*"


def answer(*command, seconds=20):
    """What a command says, or why it says nothing."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]}: {error}"
    return (result.stdout + result.stderr).strip()


def identity():
    """Name, number and driver of the GPU as one name of a folder: results of two GPUs, or of two drivers, are never in one."""
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
    command = ["nvidia-smi", "--query-gpu=name,uuid,driver_version", "--format=csv,noheader", "-i", wanted]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SystemExit(f"gpu: no GPU can be asked for: {error}") from error
    fields = [field.strip() for field in result.stdout.strip().split(",")]
    if result.returncode != 0 or len(fields) != 3:
        raise SystemExit(f"gpu: no GPU can be asked for: nvidia-smi: {(result.stderr or result.stdout).strip()}")
    name, uuid, driver = fields
    return re.sub(r"[^a-z0-9.]+", "-", f"{name} {uuid.removeprefix('GPU-')} {driver}".lower())


@functools.cache
def pythons():
    """Each python3 on the PATH, with the folders of its packages."""
    found = {}
    for folder in os.get_exec_path():
        python = pathlib.Path(folder) / "python3"
        if python in found or not os.access(python, os.X_OK):
            continue
        code = "import json, sysconfig; print(json.dumps([sysconfig.get_path('purelib'), sysconfig.get_path('platlib')]))"
        try:
            paths = json.loads(answer(str(python), "-c", code).splitlines()[-1])
        except (IndexError, ValueError):
            continue  # no Python that runs
        found[python] = [pathlib.Path(path) for path in dict.fromkeys(paths)]
    return found


def library_folders():
    """Where the wheels of NVIDIA's libraries lie: cuDNN in nvidia/cudnn/lib, CUDA 13 in nvidia/cu13/lib."""
    folders = [folder for packages in pythons().values() for place in packages for folder in sorted(place.glob("nvidia/*/lib"))]
    return list(dict.fromkeys(folders))


def program_environment(programs):
    """What the packed programs need to find libraries: those beside them, then the wheels'."""
    before = os.environ.get("LD_LIBRARY_PATH")
    places = [programs, *library_folders(), *([before] if before else [])]
    return os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, places))}


def python_with(package):
    """The first python3 that has a package; None if none has."""
    return next((python for python, places in pythons().items() if any((place / package).is_dir() for place in places)), None)


def versions(python):
    code = ("import importlib.metadata as m, re\n"
            f"for d in sorted(m.distributions(), key=lambda d: d.name.lower()):\n"
            f"    if re.fullmatch(r'{PACKAGES}', d.name.lower()): print('  ', d.name, d.version)")
    return answer(str(python), "-c", code)


def environment_report():
    """Lines, as they are found: a machine that answers slowly leaves those that it gave in time."""
    yield from (f"system: {platform.platform()}", f"processor: {answer('lscpu')}", "")
    for command in (["nvidia-smi"], ["nvidia-smi", "-q", "-d", "CLOCK,POWER,TEMPERATURE,PERFORMANCE,ECC,MEMORY"], ["nvcc", "--version"],
                    ["compute-sanitizer", "--version"]):
        yield from (f"$ {' '.join(command)}", answer(*command) if shutil.which(command[0]) else "not on the PATH", "")
    for python in pythons():
        yield from (f"{python}: {answer(str(python), '--version')}", versions(python))
    yield from ("", "folders of NVIDIA's libraries:", *(f"  {folder}" for folder in library_folders()))
