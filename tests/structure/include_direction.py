#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the include lines of a source tree and fails on one that goes the wrong way.

    include_direction.py ROOT

A third party is seen in one place only; public headers see none; a room includes itself and the rooms below it; the header of a family of
operators never includes another's; what many include is light; a room that could be header-only is; what impl/ has is compiled
once; benanza.hpp names the targets of what it includes. Each wrong line is printed as `file:line: what, why`.
"""
import pathlib
import re
import sys

# Third party: headers, and the only places that include them. A place is a folder, or a file.
THIRD_PARTIES = [
    ("ONNX", r"onnx/|onnx\.", ["src/onnx", "benchmarks/onnx_alone.cpp"]),
    ("protobuf", r"google/protobuf/", ["src/onnx", "benchmarks/onnx_alone.cpp"]),
    ("nlohmann/json", r"nlohmann/", ["src/results", "src/profile", "src/format/json_values.hpp", "src/report/db/db_json.cpp", "src/tool/sizes.cpp", "benchmarks/timer_study.cpp"]),
    ("simdjson", r"simdjson", ["src/results", "src/profile", "src/original2019"]),
    ("zlib", r"zlib\.h", ["src/results", "src/profile"]),
    ("SQLite", r"sqlite3", ["src/profile/sqlite_database.hpp"]),
    ("Google Benchmark", r"benchmark/", ["src/bench", "benchmarks", "codegen/standalone"]),
    ("oneDNN", r"oneapi/|dnnl", ["src/backend/onednn", "codegen/standalone"]),
    ("OpenBLAS", r"cblas|openblas|lapacke", ["src/backend/openblas", "codegen/standalone"]),
    ("MPI", r"mpi\.h", ["src/backend/mpi"]),
    ("CUDA", r"cuda|cudnn|cublas|nvml|cupti", ["src/backend/cudnn", "src/backend/cublas", "src/backend/cuda", "src/backend/nccl", "codegen/standalone"]),
    ("NCCL", r"nccl", ["src/backend/nccl"]),
    ("CLI11", r"CLI/", ["src/tool"]),
    ("fmt", r"fmt/", ["src/format", "src/report", "src/tool", "codegen", "benchmarks/timer_study.cpp"]),
    ("hwloc", r"hwloc", ["src/plan", "src/ceilings", "src/measure"]),
    ("Catch2", r"catch2/", ["include/benanza/catch2.hpp"]),
    ("GoogleTest", r"(gmock|gtest)/", ["include/benanza/gtest.hpp"]),
]

# The rooms of src/ and include/benanza/, each with the rooms right below it. A room includes itself and whatever is below.
ROOMS = {
    "model": [],
    "results": ["model"],
    "fusion": ["model"],
    "training": ["model"],
    "memory": ["training"],
    "scale": ["bounds", "training"],
    "onnx": ["model"],
    "codegen": ["model"],
    "profile": ["results"],
    "plan": ["results"],
    "reference": ["plan"],
    "execution": ["reference", "onnx", "bounds"],
    "backend": ["plan"],
    "ceilings": ["plan"],
    "sampling": ["ceilings"],
    "measure": ["sampling", "reference"],
    "isolation": ["measure"],
    "bench": ["isolation"],
    "bounds": ["results", "fusion"],
    "predict": ["bounds"],
    "gap": ["bounds", "profile"],
    "study": ["gap"],
    "original2019": ["study", "predict"],
    "format": ["model"],
    "report": ["format", "study", "memory", "scale", "predict"],
    "session": ["isolation", "bounds", "backend"],
    "umbrella": ["report", "session", "onnx"],
    "tool": ["report", "session", "codegen", "umbrella", "execution", "original2019"],
}

# Public headers outside of a room's folder.
ROOM_OF_HEADER = {"error": "model", "version": "model", "op": "model", "operators": "model", "base": "model", "inline": "model", "catch2": "bounds", "gtest": "bounds", "benanza": "umbrella"}

# Within the model: from the lowest level to the highest; a header includes its own level and lower ones. What is not named is on top.
LEVELS = [
    r"inline|error|version|model/(detail/band|data_type|ramp|tensor_shape|units|elementwise)",
    r"model/(graph|critical_path)|op/operator|operators/.*|base/detail/(?!field_text).*",
    r"model/(epilogue|fused_node|cost)",
    r"op/.*|base/detail/field_text|model/expression",
    r"model/(detail/)?(ask|layer|layer_signature)|model/(layer_set|shared_layer)",
]

# Who must compile fast: headers, and what they must not include, directly or through others. A generated suite compiles in a second where only
# the libraries themselves are installed. Types compile in a second, without what computes them.
COMPUTATION = ["bounds/analyze", "bounds/make_schedule", "bounds/make_sweeps", "bounds/detail", "impl/bounds"]
SLOW = ["regex", "iostream", "fstream", "sstream", "chrono", "thread", "functional"]
LIGHT = [
    ("generated suites", ["bench/run_suite", "plan/backend"],
     ["onnx", "codegen", "results/results", "bounds/analysis", "report/report", "fusion", "model/layer_graph", "catch2", "gtest"]),
    ("the types of the ladder", ["bounds/analysis", "bounds/bound", "bounds/schedule", "bounds/sweep"],
     [*COMPUTATION, *SLOW, "filesystem", "variant", "fusion", "op/ops", "model/graph", "results/results"]),
    ("the types of gaps", ["gap/gap"], [*COMPUTATION, *SLOW, "variant", "fusion", "op/ops", "model/graph", "results/results"]),
    ("the signatures of reports", ["report/report", "report/gap_report", "report/db_report"], COMPUTATION),
    ("the facade", ["benanza"], ["original2019", "study", "predict", "scale", "training", "memory/memory_profile"]),
    ("what analyses", ["bounds/analyze"], ["regex", "iostream", "fstream", "sstream", "chrono", "thread"]),
]

FOLDERS = ["include", "src", "codegen", "benchmarks", "examples"]
STANDARD = re.compile(r"[a-z_0-9]+$")
SYSTEM = re.compile(r"(sys/\w+|\w+)\.h$")  # POSIX and the compiler's intrinsics
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes_of(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found[1] == "<", found[2]


def served(header):
    """The header that a file of impl/ belongs to."""
    return header.removeprefix("impl/").removesuffix("_inl")


def level(header):
    header = served(header)
    for number, pattern in enumerate(LEVELS):
        if re.fullmatch(pattern, header):
            return number
    return len(LEVELS)


def room_of_header(header):
    first = served(header).split("/")[0]
    return ROOM_OF_HEADER.get(first, first)


def room_of_source(file):
    found = re.match(r"src/([^/]+)/|(codegen)/", file)
    return (found[1] or found[2]) if found else None


def rooms_below(room):
    below = set()
    open_rooms = [room]
    while open_rooms:
        for lower in ROOMS[open_rooms.pop()]:
            if lower not in below:
                below.add(lower)
                open_rooms.append(lower)
    return below


def is_upward(here, there):
    """Whether an include runs from a room to one that is not below it. Rooms that the table does not know are an error."""
    for room in (here, there):
        if room not in ROOMS:
            return f"no room {room}: tests/structure/include_direction.py lists them"
    return None if there == here or there in rooms_below(here) else f"{here} does not stand on {there}"


def is_at(file, place):
    return file == place or file.startswith(place + "/")


def wrong_edge(file, angled, included, root):
    """Why this include is wrong; None if it is not."""
    public = re.fullmatch(r"include/benanza/(.+)\.hpp", file)
    if not angled:
        if public:
            return "public headers include each other as <benanza/...>"
        part = re.match(r"(src/backend/[^/]+|src/[^/]+|[^/]+)/", file)[1]
        if included.startswith("../"):
            return "files of a part are included from its folder, others as \"ROOM/...\""
        if any(path.exists() for path in [(root / file).parent / included, root / part / included]):
            return None
        if part == "examples" or not (root / "src" / included).exists():
            return "there is no such header that is not installed" if part != "examples" else "examples include what is installed"
        return is_upward(room_of_source(file), included.split("/")[0]) if room_of_source(file) else None
    ours = re.fullmatch(r"benanza/(.+)\.hpp", included)
    if ours:
        if not (root / "include" / included).exists():
            return "there is no such header"
        source = room_of_source(file)
        if source:
            return is_upward(source, room_of_header(ours[1]))
        if not public:
            return None
        here, there = public[1], ours[1]
        upward = is_upward(room_of_header(here), room_of_header(there))
        if upward:
            return upward
        if level(there) > level(here):
            return "a lower level includes a higher one"
        here, there = served(here), served(there)
        if here.startswith("op/") and here not in {"op/ops", there} and re.match(r"op/(?!operator$|detail/)", there):
            return "a family of operators includes another one"
        return None
    for name, pattern, places in THIRD_PARTIES:
        if re.match(pattern, included):
            return None if any(is_at(file, place) for place in places) else f"{name} is seen only in {', '.join(places)}"
    if STANDARD.match(included):
        return None
    if public:
        return "public headers see the standard library and Benanza only"
    return None if SYSTEM.match(included) else "a third party that no rule knows: tests/structure/include_direction.py lists where each belongs"


def reached_from(start, root):
    """Every header that a public one includes, directly or through others, with a way to it."""
    seen, open_headers = {start: start}, [start]
    while open_headers:
        header = open_headers.pop()
        path = root / "include" / "benanza" / f"{header}.hpp"
        for _, _, included in includes_of(path) if path.exists() else ():
            ours = re.fullmatch(r"benanza/(.+)\.hpp", included)
            name = ours[1] if ours else included
            if name not in seen:
                seen[name] = f"{seen[header]} > {name}"
                if ours:
                    open_headers.append(name)
    return seen


def too_heavy(root):
    """Ways from what must compile fast to what must not be in it."""
    for who, starts, heavy in LIGHT:
        for start in starts:
            for header, way in reached_from(start, root).items():
                if any(is_at(header, place) for place in heavy):
                    yield f"include/benanza/{start}.hpp: {who} must not see {header}: {way}"


def sources_of(room, root):
    folders = [root / "src" / room] + ([root / room] if room == "codegen" else [])
    return [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in {".hpp", ".cpp", ".cu", ".cuh"}]


def wraps(room, root):
    """Whether a room sees a third party, the system or a device."""
    third_parties = re.compile("|".join(pattern for _, pattern, _ in THIRD_PARTIES))
    return any(third_parties.match(included) or SYSTEM.match(included)
               for path in sources_of(room, root) for _, angled, included in includes_of(path) if angled)


IMPLEMENTATION = re.compile(r"#include <(benanza/impl/\S+_inl\.hpp)>\n")
END = re.compile(rf"#ifndef BENANZA_COMPILED\n(?:{IMPLEMENTATION.pattern})+#endif\n\Z")


def compiles_headers(path):
    """Whether a source only compiles what impl/ has (benanza/impl/inline.hpp)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return all(not line or line.startswith(("//", "#include <benanza/impl/")) for line in lines)


def wrong_implementations(root):
    """Files of impl/ that no header ends with, or that not exactly one source compiles; headers that include one elsewhere than at their end."""
    include, compiled, ends = root / "include", {}, set()
    for path in sorted((root / "src").rglob("*.cpp")):
        for name in IMPLEMENTATION.findall(path.read_text(encoding="utf-8")):
            compiled.setdefault(name, []).append(path.relative_to(root).as_posix())
    for path in sorted(include.rglob("*.hpp")):
        text = path.read_text(encoding="utf-8")
        end = END.search(text)
        ends |= set(IMPLEMENTATION.findall(end[0] if end else ""))
        if IMPLEMENTATION.search(text[: end.start()] if end else text):
            yield f"{path.relative_to(root)}: includes what impl/ has elsewhere than at its end, where BENANZA_COMPILED is not defined"
    for path in sorted(include.glob("benanza/impl/**/*_inl.hpp")):
        name = path.relative_to(include).as_posix()
        sources = compiled.get(name, [])
        if name not in ends:
            yield f"include/{name}: no header ends with it"
        if [room_of_source(source) for source in sources] != [room_of_header(name.removeprefix("benanza/"))]:
            yield f"include/{name}: compiled by {sources or 'nothing'}, not by one source of its room"


def needlessly_compiled(root):
    """Sources of rooms that could be header-only: they wrap nothing, and stand on no compiled room but `results`, whose rows are plain data,
    and `model`, which opens files for the rooms that read them."""
    compiled = {room for room in ROOMS if wraps(room, root)}
    for room in ROOMS:
        if not compiled & ({room} | rooms_below(room) - {"results", "model"}):
            for path in sources_of(room, root):
                if compiles_headers(path):
                    continue
                yield f"{path.relative_to(root)}: {room} is pure computation: header-only"


def facade_differs(root):
    """Rooms that benanza.hpp shows and whose targets it does not tell one to link."""
    facade, lists = root / "include/benanza/benanza.hpp", root / "CMakeLists.txt"
    if not facade.exists() or not lists.exists():
        return
    linked = re.search(r"target_link_libraries\(benanza_analyzer INTERFACE ([^)]*)\)", lists.read_text(encoding="utf-8"))
    rooms = {name.removeprefix("benanza_") for name in linked[1].split()} | set(re.findall(r"benanza::(\w+)", facade.read_text(encoding="utf-8")))
    rooms |= {below for room in rooms & set(ROOMS) for below in rooms_below(room)}
    for number, _, included in includes_of(facade):
        if room_of_header(included.removeprefix("benanza/").removesuffix(".hpp")) not in rooms:
            yield f"include/benanza/benanza.hpp:{number}: includes {included}, whose target the comment does not name"


def wrong_edges(root):
    root = pathlib.Path(root)
    result = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".hpp", ".cpp", ".cu", ".cuh", ".inc", ".in"}:
                continue
            file = path.relative_to(root).as_posix()
            for number, angled, included in includes_of(path):
                why = wrong_edge(file, angled, included, root)
                if why:
                    result.append(f"{file}:{number}: includes {included}: {why}")
    return result + [*too_heavy(root), *needlessly_compiled(root), *wrong_implementations(root), *facade_differs(root)]


def main():
    found = wrong_edges(sys.argv[1])
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
