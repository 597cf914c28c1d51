#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each public header by itself, and once more after itself (#pragma once).

    headers.py INCLUDE FOLDER [--without HEADER]... [--after FOLDER,...] -- COMPILER [OPTION]...

Several headers are compiled in one file if that changes nothing: each of them includes, directly or through others, whatever was included
before it. So a header that forgets an include fails, as it would alone. By the same rule, what many headers include is precompiled for these.
INCLUDE is the folder of public headers, FOLDER takes what is compiled; --after names folders of frameworks, which may be the
system's own and are searched last.

All headers are compiled as code that links the compiled libraries sees them (benanza/impl/inline.hpp); those that end with what impl/ has once more,
with that.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys

BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"\s*#\s*(include|if|ifdef|ifndef|elif|else|endif)\b\s*(<[^>]*>|\"[^\"]*\"|\w*)")
NO_CODE = re.compile(r"\s*(#.*|//.*)?$")
COMPILED = "BENANZA_COMPILED"
PRECOMPILED = ["benanza/op/ops.hpp", "benanza/model/graph.hpp", "benanza/op/operator.hpp"]  # what takes longest stands first
ANY, ALWAYS, FIRST = (lambda always, first: True), (lambda always, first: always), (lambda always, first: first)  # which includes count


def includes(text, defined):
    """What a header includes: (name, whether it does so under no condition, whether it also does so before all code)."""
    conditions, code = [], False  # of the blocks that are open: True, False or None, where it is not known
    for line in BLOCK_COMMENT.sub("", text).splitlines():
        code = code or not NO_CODE.match(line)
        found = DIRECTIVE.match(line)
        if not found:
            continue
        kind, word = found.groups()
        if kind == "ifndef" and word == COMPILED:
            conditions.append(not defined)
        elif kind in {"if", "ifdef", "ifndef"}:
            conditions.append(None)
        elif kind in {"elif", "else"}:
            conditions[-1] = None
        elif kind == "endif":
            conditions.pop()
        elif False not in conditions:
            always = None not in conditions and word.startswith("<")
            yield word.strip('<>"'), always, always and not code


class Headers:
    """The headers of a folder, by name, as they are where the functions of compiled libraries are only declared (`defined`), or not."""

    def __init__(self, texts, defined):
        self.direct = {name: list(includes(text, defined)) for name, text in texts.items()}
        self.reached, self.known = {}, {}

    def reach(self, name, counts):
        """Itself and all that it includes by includes that count: (always, first) of each says whether."""
        if (name, counts) not in self.reached:
            seen, open_headers = {name}, [name]
            while open_headers:
                for other, *which in self.direct.get(open_headers.pop(), []):
                    if other not in seen and counts(*which):
                        seen.add(other)
                        open_headers.append(other)
            self.reached[name, counts] = seen
        return self.reached[name, counts]

    def closure(self, name):
        """Itself and all that it may include."""
        return self.reach(name, ANY)

    def before_code(self, name):
        """Itself and all that is certainly included before its own code. What it includes may end with further includes, unless one leads back to it."""
        if name not in self.known:
            includes = (self.reach(other, ALWAYS) for other, _, first in self.direct.get(name, []) if first)
            self.known[name] = self.reach(name, FIRST).union(*(whole for whole in includes if name not in whole))
        return self.known[name]

    def may_precede(self, first, second):
        return self.closure(first) <= self.before_code(second)

    def chains(self, names):
        """The fewest lists in which each header may precede the next: a matching of headers with their successors, by augmenting paths."""
        names = sorted(names, key=lambda name: (len(self.before_code(name)), name))
        successors = {name: [other for other in names[at + 1 :] if self.may_precede(name, other)] for at, name in enumerate(names)}
        predecessor = {}

        def find(name, seen):
            for other in successors[name]:
                if other not in seen:
                    seen.add(other)
                    if other not in predecessor or find(predecessor[other], seen):
                        predecessor[other] = name
                        return True
            return False

        for name in names:
            find(name, set())
        for last in set(names) - set(predecessor.values()):
            chain = [last]
            while chain[-1] in predecessor:
                chain.append(predecessor[chain[-1]])
            yield chain[::-1]


def file_of(header):
    return header.replace("/", "@")  # no header has this in its name


def sources(texts):
    """What to compile: (file, options, headers), the longest first."""
    made = []
    for defined in (True, False):
        names = [name for name, text in texts.items() if defined or f"#ifndef {COMPILED}\n" in text]
        headers = Headers(texts, defined)
        groups = collections.defaultdict(list)
        for name in names:
            groups[next((first for first in PRECOMPILED if defined and first in texts and headers.may_precede(first, name)), "")].append(name)
        for precompiled, group in groups.items():
            options = [f"-D{COMPILED}"] * defined + (["-include", file_of(precompiled)] if precompiled else [])
            for chain in headers.chains(group):
                made.append((len(headers.closure(chain[-1])), file_of(chain[-1]) + (".cpp" if defined else ".defined.cpp"), options, chain))
    return [source for _, *source in sorted(made, reverse=True)]


class Compiler:
    def __init__(self, command, folder):
        self.command, self.folder = command, folder
        folder.mkdir(parents=True, exist_ok=True)

    def compile(self, file, text, options):
        """What the compiler says if it fails."""
        path = self.folder / file
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([*self.command, *options, file], cwd=self.folder, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stdout + done.stderr or f"{path}: exit code {done.returncode}\n"

    def precompile(self, header):
        file = file_of(header)
        return self.compile(file, f"#include <{header}>\n", [f"-D{COMPILED}", "-x", "c++-header", "-o", f"{file}.gch"])

    def check(self, file, options, headers):
        return self.compile(file, "".join(f"#include <{header}>\n" for header in headers) * 2, [*options, "-fsyntax-only"])


def failures(include, folder, command, without=()):
    """What the compiler said of each file that it did not compile. What has passed is compiled again only if something changed."""
    paths = {path.relative_to(include).as_posix(): path for path in include.rglob("*.hpp")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if name not in without}
    compiler = Compiler(command, folder)
    passed, state = folder / "passed", repr((command, sorted(texts.items()), pathlib.Path(__file__).read_text(encoding="utf-8")))
    digest = hashlib.sha256(state.encode()).hexdigest()
    if passed.exists() and passed.read_text(encoding="utf-8") == digest:
        return []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        said = list(pool.map(compiler.precompile, [header for header in PRECOMPILED if header in texts]))
        if not any(said):
            said = list(pool.map(lambda source: compiler.check(*source), sources(texts)))
    if not any(said):
        passed.write_text(digest, encoding="utf-8")
    return [text for text in said if text]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--after", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    after = [word for folder in options.after.split(",") if folder for word in ("-idirafter", folder)]
    found = failures(options.include, options.folder, [*options.command, f"-I{options.include}", *after], options.without)
    print("".join(found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
