# SPDX-License-Identifier: Apache-2.0
"""The pack: programs, models and the script, in two files and a folder. What belongs to it, CMake says (gpu_pack/ in the build folder)."""
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

MOST_BYTES = 40_000_000  # for one architecture
ARCHIVE = "pack.tar.xz"
# The programs share most of their code. A dictionary that holds several of them saves more than slower searching does.
COMPRESSION = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 128 << 20}]
SYSTEMS_OWN = re.compile(r"/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux[^/]*|libcuda|libnvidia-[^/]*)\.so")
NVIDIA = ["libcudnn*.so.9", "libcublas*.so.1[23]", "libcudart.so.1[23]", "libnvrtc*.so.1[23]*", "libcupti.so.1[23]"]

BUILD = r"""
set -euo pipefail
source "$1/lib.bash"
shift
prepare --tests >&2
configure release -DBENANZA_BUILD_TESTS=ON -DBENANZA_BUILD_BENCHMARKS=ON -DBENANZA_CUDA=ON -DBENANZA_CUDNN=ON -DBENANZA_CUBLAS=ON "$@" >&2
build release --target gpu_pack >&2
echo "$prefix"
"""


def needed_libraries(programs):
    """Shared libraries that are neither the system's C and C++ runtime nor the driver's."""
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    if missing := re.findall(r"(\S+) => not found", said):
        raise SystemExit(f"gpu: not found: {', '.join(sorted(set(missing)))}")
    return sorted({file for file in re.findall(r"=> (/\S+)", said) if not SYSTEMS_OWN.search(file)})


def copy_libraries(folder, places):
    """NVIDIA's libraries, each from the first place that has it."""
    folder.mkdir(exist_ok=True)
    for place in places:
        for pattern in NVIDIA:
            for file in sorted(place.glob(pattern)):
                if not (folder / file.name).exists():
                    shutil.copy(file, folder)
    missing = [pattern for pattern in NVIDIA if not list(folder.glob(pattern))]
    if missing:
        raise SystemExit(f"gpu: no {', '.join(missing)} in {', '.join(map(str, places))}: CUDA_HOME tells where the toolkit is")


def write_archive(root, build, file):
    """Programs without symbols, the libraries that they need, the models, the list of tests and the Python program that runs frameworks."""
    programs = [pathlib.Path(line) for line in (build / "gpu_pack" / "programs.txt").read_text().split("\n") if line]
    with (tempfile.TemporaryDirectory() as folder, lzma.open(file, "wb", filters=COMPRESSION) as compressed,
          tarfile.open(fileobj=compressed, mode="w") as archive):
        for program in programs:
            stripped = pathlib.Path(folder) / program.name
            subprocess.run(["strip", "--strip-unneeded", "-o", stripped, program], check=True)
            archive.add(stripped, f"programs/{program.name}")
        for library in needed_libraries(programs):
            archive.add(pathlib.Path(library).resolve(), f"programs/{pathlib.Path(library).name}")
        archive.add(build / "gpu_pack" / "tests.txt", "programs/tests.txt")
        archive.add(root / "benchmarks" / "engines" / "gpu_frameworks.py", "programs/gpu_frameworks.py")
        for models in ("modern", "zoo2019"):
            archive.add(root / "examples" / "models" / models, f"models/{models}")


def size_of(folder):
    """What travels: without the libraries that --with-libraries adds, and without what a call has unpacked."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and "programs" not in file.relative_to(folder).parts)


def copy_script(scripts, folder):
    shutil.copy(scripts / "gpu", folder / "gpu")
    shutil.copytree(scripts / "gpu_lease", folder / "gpu_lease", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


def pack(scripts, folder, arch, with_libraries):
    root = scripts.parent
    options = [f"-DCMAKE_CUDA_ARCHITECTURES={arch}-real"] if arch else []
    built = subprocess.run(["bash", "-c", BUILD, "pack", scripts, *options], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode != 0:
        raise SystemExit(built.returncode)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "programs", ignore_errors=True)
    write_archive(root, root / "build" / "release", folder / ARCHIVE)
    copy_script(scripts, folder)
    size = size_of(folder)
    if with_libraries:
        toolkit = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
        fetched = [pathlib.Path(place) / "lib" for place in built.stdout.strip().split(";")]
        copy_libraries(folder / "programs", [toolkit / "lib64", toolkit / "lib", toolkit / "extras" / "CUPTI" / "lib64", *fetched])
    print(f"packed {size / 1e6:.1f} MB in {folder}", file=sys.stderr)
    check_size(size, arch)


def check_size(size, arch):
    """`arch`: the only architecture; none where the pack is for several."""
    if arch and size > MOST_BYTES:
        raise SystemExit(f"gpu: the pack has {size / 1e6:.1f} MB, at most {MOST_BYTES / 1e6:.0f} MB expected for one architecture")


def unpack(folder):
    """The pack's folder with its programs unpacked."""
    archive, mark = folder / ARCHIVE, folder / "programs" / "unpacked"
    if archive.exists() and (not mark.exists() or mark.stat().st_mtime < archive.stat().st_mtime):
        with tarfile.open(archive) as files:
            files.extractall(folder)
        mark.touch()
    if not (folder / "programs").is_dir():
        raise SystemExit(f"gpu: no programs in {folder}: this is for the folder that `gpu pack` makes")
    return folder
