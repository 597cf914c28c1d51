#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a name is spelled the British way, or a file about operators has no name of a family.

    names.py ROOT

Names are those of files and the identifiers of C++, CUDA C++, Python and CMake; comments and strings may be British.
"""
import pathlib
import re
import sys

# The operators' vocabulary: a file is FAMILY, or FAMILY_part where a family has several; `gradients` are of several families.
FAMILIES = ["attention", "collective", "convolution", "elementwise", "generation", "indexing", "loss", "movement", "normalization",
            "optimizer", "pooling", "product", "quantization", "recurrent", "reduction", "sampling", "transform", "trees"]
# The folders with files about operators, and the names of their other files.
ROOMS = {
    "include/benanza/op": {"opaque", "operator", "ops"},
    "include/benanza/operators/detail": {"tables"},
    "include/benanza/training/detail/gradients": set(),
    "src/reference": {"agree", "evaluate", "function", "gradients", "index", "query", "reference", "training"},
    "src/backend/native": {"backend", "blocked", "chain", "context", "gradients", "isa", "kernels", "parts", "scalar", "strided_copy",
                           "tile_epilogue", "widened"},
    "src/backend/native/kernels": {"gradients", "math", "simd"},
    "src/backend/onednn": {"backend", "candidates", "draft", "families", "fold", "gradients", "library", "memory_layout", "post_ops",
                           "primitive_plan", "quantization_scales"},
    "src/backend/cudnn": {"backend", "candidates", "descriptors", "draw", "families", "gradient_drawing", "gradients", "graph_drawing", "graphs",
                          "inverse_deviation", "library", "no_graphs"},
}

# Not "modelled": a status that reports and their JSON write so.
BRITISH = re.compile(
    "(?:canonical|dequant|factor|general|initial|linear|local|material|maxim|minim|normal|optim|organ|parallel|penal|quant|random|recogn"
    "|sanit|serial|special|stabil|standard|summar|synchron|token|util|vector)is(?!m|t)"
    "|behaviour|cancell(?=ed|ing)|catalogue|centre|colour|favour|fulfil(?!l)|grey|labell|licence|neighbour|signall|travell", re.IGNORECASE)

CXX = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/|([A-Za-z_]\w*)', re.DOTALL)
SCRIPT = re.compile(r'(""").*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*|([A-Za-z_]\w*)', re.DOTALL)
FOLDERS = ["benchmarks", "cmake", "codegen", "examples", "include", "python", "scripts", "src", "tests"]
DATA = ["examples/models", "tests/data", "tests/fuzz/found", "tests/fuzz/seeds", "tests/golden"]


def british(path, text):
    """The identifiers of a source that are spelled the British way."""
    tokens = CXX if path.suffix in {".cpp", ".hpp", ".cu", ".cuh", ".inc"} else SCRIPT
    names = {token[2] for token in tokens.finditer(text) if token[2]}
    return sorted(name for name in names if BRITISH.search(name))


def wrong_names(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            file = path.relative_to(root)
            if not path.is_file() or any(file.is_relative_to(data) for data in DATA):
                continue
            if BRITISH.search(file.as_posix()):
                yield f"{file}: the file's name is spelled the British way"
            if path.suffix in {".cpp", ".hpp", ".cu", ".cuh", ".inc", ".py", ".cmake"} or path.name == "CMakeLists.txt":
                for name in british(path, path.read_text(encoding="utf-8")):
                    yield f"{file}: {name} is spelled the British way"
    for room, others in ROOMS.items():
        for path in sorted((root / room).glob("*.?pp")):
            if path.stem not in others and not any(re.fullmatch(rf"{family}(_\w+)?", path.stem) for family in FAMILIES):
                yield f"{path.relative_to(root)}: has no name of a family"


def main():
    found = list(wrong_names(pathlib.Path(sys.argv[1])))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
