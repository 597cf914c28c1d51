#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every code block of README.md, CONTRIBUTING.md and docs/ against the program and the sources. A block without a mark fails.

    blocks.py PROGRAM ROOT [DOCUMENT...]

The mark stands in the line in front of the block:

    <!-- test: run -->               commands. They run in a scratch copy of examples/, one after the other for each document, and must succeed.
                                     Lines that follow one with `$ ` in front are what that command prints; `...` stands for any lines.
    <!-- test: usage -->             commands that take long, or need a network or a GPU: that they, their subcommands and their options exist.
    <!-- test: measured COMMAND -->  what the command printed on some machine. It runs here with a short budget; figures, bars and the line of the
                                     machine may differ, names, counts and order may not.
    <!-- test: golden FILE -->       what a golden file holds; `...` as above.
    <!-- test: part-of FILE -->      lines that stand in a row in a source which is compiled, or a script which is run.
    <!-- test: names-in FILE... -->  in front of a table: what its first column has in `code` stands in these files as a string.
    <!-- test: rooms -->             in front of a table: the folders, and what each stands on, as tests/structure knows them.
    <!-- test: third-parties -->     in front of a table: where each is included, as tests/structure knows it.
    <!-- test: targets -->           in front of a table: folders and headers of include/benanza, and the CMake targets that they belong to. All
                                     others belong to the target of their name.
    <!-- test: picture -->           a drawing that names every stage of the data.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap

import markdown

ANY_LINES = "..."
TIME_LIMIT = 300
SHORT_BUDGET = ["--budget", "15s", "--quiet"]
TRIES = 6
TESTED = ("examples/", "tests/", "generated/", "scripts/", "cmake/", "src/", "include/")


def matches(expected, text):
    """Whether the text is what the lines say, `...` being any lines; empty lines at its end do not matter."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == ANY_LINES else re.escape(line) + r"[ ]*\n" for line in expected)
    return re.fullmatch(pattern, text.rstrip("\n") + "\n") is not None


def commands_of(lines):
    """(command, what it prints or None) of a block; a backslash continues a line, `#` begins a comment."""
    if not any(line.startswith("$ ") for line in lines):
        joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
        return [(line, None) for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    result = []
    for line in lines:
        if line.startswith("$ "):
            result.append((line[2:], []))
        else:
            result[-1][1].append(line)
    return result


def masked(line):
    """A line of a report without what another machine or moment may change: figures, bars, uncertainties and marks of plans."""
    line = re.sub(r"[█▉▊▋▌▍▎▏]+ *(± *([\d.]+|inf) %)?( [*~])?( W)?", "", line)
    line = re.sub(r"\d[\d.,]* ?(ns|us|ms|s|%|min)\b|\d[\d.,]* %", "#", line)
    return " ".join(re.sub(r"\d+\.\d+|\d+ threads?", "#", line).split())


def layer_of(line):
    """(`x5`, name as far as it is shown) of a line of the table of layers; None for other lines."""
    found = re.match(r"\s+[\d.]+ %\s+[\d.]+ \S+\s+(x\d+)\s+(?:[\d.]+ %|-)\s+(.+?)(?:\.\.\.)?\s+(?:modelled|missing|\S+ \S+)$", line)
    return found and (found[1], found[2].strip())


def is_layer(shown, printed):
    """Whether two lines are of one layer: tables of different width show different parts of a name."""
    return shown[0] == printed[0] and (shown[1].startswith(printed[1]) or printed[1].startswith(shown[1]))


def cells(lines):
    """The columns of each row of a table, without its head."""
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines[2:]]


def code_in(cell):
    return re.findall(r"`([^`]+)`", cell)


class Blocks:
    def __init__(self, program, root):
        self.root = pathlib.Path(root).resolve()
        self.program = pathlib.Path(program).resolve()
        self.helps = {}

    def complaints(self, only=()):
        for document in markdown.documents(self.root):
            if only and document.file not in only:
                continue
            for line in document.indented:
                yield f"{document.file}:{line}: a code block without a fence"
            with tempfile.TemporaryDirectory() as folder:
                self.at = pathlib.Path(folder)
                self.prepare()
                for part in [*document.blocks, *document.tables]:
                    for text in self.check(part):
                        yield f"{part.file}:{part.line}: {text}"

    def prepare(self):
        shutil.copytree(self.root / "examples", self.at / "examples")
        (self.at / "scripts").symlink_to(self.root / "scripts")
        for folder in ("bin", "build/release"):
            (self.at / folder).mkdir(parents=True)
            (self.at / folder / "benanza").symlink_to(self.program)
        self.environment = os.environ | {"PATH": f"{self.at / 'bin'}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.at / "cache"), "NO_COLOR": "1"}

    def check(self, part):
        kind, *rest = part.mark or [""]
        check = {"run": self.run, "usage": self.usage, "measured": self.measured, "golden": self.golden, "part-of": self.part_of,
                 "names-in": self.names_in, "rooms": self.rooms, "third-parties": self.third_parties,
                 "targets": self.targets, "picture": self.picture}.get(kind)
        if check is None:
            return ["no mark says how it is tested (tests/docs/blocks.py)" if not kind else f"'{kind}' is not a mark"]
        return list(check(part.lines, *rest))

    def shell(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.at, env=self.environment, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)

    def run(self, lines):
        for command, expected in commands_of(lines):
            done = self.shell(command)
            if done.returncode != 0:
                yield f"`{command}`: exit code {done.returncode}\n{done.stdout}{done.stderr}"
            elif expected is not None and not matches(expected, done.stdout):
                yield f"`{command}` prints\n{done.stdout}"

    def golden(self, lines, file):
        if not matches(lines, (self.root / file).read_text(encoding="utf-8")):
            yield f"is not what {file} holds"

    def part_of(self, lines, file):
        if not file.startswith(TESTED):
            yield f"{file} is not compiled or run by a test"
        block = textwrap.dedent("\n".join(lines)).splitlines()
        source = (self.root / file).read_text(encoding="utf-8").splitlines()
        windows = (source[i:i + len(block)] for i in range(len(source) - len(block) + 1))
        if not any(textwrap.dedent("\n".join(window)).splitlines() == block for window in windows):
            yield f"is not a part of {file}"

    def names_in(self, lines, *files):
        text = "".join(path.read_text(encoding="utf-8") for file in files for path in self.root.glob(file))
        for row in cells(lines):
            for name in code_in(row[0]):
                spelled = {f'"{word}"' for word in (name, name.replace(" ", "_"), name.removeprefix("com.microsoft."))}
                if not spelled & set(re.findall(r'"[^"\n]*"', text)):
                    yield f"'{name}' is not in {' '.join(files)}"

    def structure(self):
        sys.path.insert(0, str(self.root / "tests" / "structure"))
        import include_direction
        return include_direction

    def rooms(self, lines):
        """The first column of each row is a room, the last one what is right below it."""
        told = {code_in(row[0])[0]: code_in(row[-1]) for row in cells(lines)}
        if told != self.structure().ROOMS:
            yield f"tells of {told}, and not of {self.structure().ROOMS}"

    def third_parties(self, lines):
        told = {row[0]: code_in(row[1]) for row in cells(lines)}
        known = {name: places for name, _, places in self.structure().THIRD_PARTIES}
        if told != known:
            yield f"tells of {told}, and not of {known}"

    def targets(self, lines):
        texts = [path.read_text(encoding="utf-8") for folder in ("", "src/**/", "codegen/", "cmake/")
                 for pattern in ("CMakeLists.txt", "*.cmake") for path in self.root.glob(folder + pattern)]
        known = set(re.findall(r"(?:benanza_library\(|add_library\(benanza::|\b(?=\w+:\w+::))(\w+)", "\n".join(texts)))
        told = {name: [target.removeprefix("benanza::") for target in code_in(row[1])] for row in cells(lines) for name in code_in(row[0])}
        headers = {path.stem for path in (self.root / "include" / "benanza").iterdir()}
        yield from (f"there is no {name} in include/benanza" for name in told if name not in headers)
        for name in sorted(headers):
            yield from (f"{name}: no target is called benanza::{target}" for target in told.get(name, [name]) if target not in known)
        backends = {path.stem.split("_")[0] for path in (self.root / "include" / "benanza" / "backend").glob("*.hpp")}
        if backends != set(told.get("backend", backends)):
            yield f"backend: tells of {told['backend']}, and not of {sorted(backends)}"

    def picture(self, lines):
        drawn = set(re.findall(r"[a-z0-9]+", "\n".join(lines)))
        beside = {"umbrella", "original2019", "tool"}
        yield from (f"does not name {room}" for room in self.structure().ROOMS if room not in drawn | beside)

    def measured(self, lines, *command):
        if not self.has_onednn():
            return
        complaints = []
        for _ in range(TRIES):  # a machine that is not quiet or slow needs another session; what was measured is kept
            complaints = list(self.measured_once(lines, *command))
            if not complaints:
                break
        yield from complaints

    def measured_once(self, lines, *command):
        done = self.shell(shlex.join([*command, *SHORT_BUDGET, "--all"]))
        if done.returncode != 0:
            yield f"{shlex.join(command)}: exit code {done.returncode}\n{done.stderr}"
            return
        printed = done.stdout.splitlines()
        layers = [layer for layer in map(layer_of, printed) if layer]
        found = iter(masked(line) for line in printed)
        for line in lines:
            if not line.strip() or line.strip() == ANY_LINES:
                continue
            layer = layer_of(line)
            if layer:
                if not any(is_layer(layer, other) for other in layers):
                    yield f"no layer {' '.join(layer)} in\n{done.stdout}"
            elif "onednn" not in line and masked(line) not in found:
                yield f"'{line}' is not printed, or not there:\n{done.stdout}"
                return

    def has_onednn(self):
        """A build for ThreadSanitizer leaves it out."""
        return self.shell("benanza measure Unary/f32/fn=relu/x=64 --backend onednn --budget 1ms --quiet").returncode != 2

    def usage(self, lines):
        for command, expected in commands_of(lines):
            if expected is not None:
                yield "says what it prints, and is not run"
            for part in re.split(r"&&|\|", re.sub(r"\s#.*", "", command)):
                yield from self.check_words(shlex.split(part))

    def check_words(self, words):
        program, rest = words[0], words[1:]
        if program in ("benanza", "build/release/benanza"):
            yield from self.check_benanza(rest)
        elif program.startswith(("scripts/", "benchmarks/engines/")):
            yield from self.check_script(program, rest)
        elif program == "mpirun" and "benanza" in rest:
            yield from self.check_words(rest[rest.index("benanza"):])
        elif program == "gpu/gpu":  # scripts/gpu as it is packed
            yield from self.check_script("scripts/gpu", rest)
        elif program in ("cmake", "ctest"):
            yield from self.check_cmake(rest)
        elif program.startswith("build/release/benchmarks/"):
            yield from self.check_target(program.rsplit("/", 1)[1])
        elif program not in ("cd", "tar") and not program.endswith("/build/suite"):  # tests/codegen runs one that stands alone
            yield f"nobody knows '{program}'"

    def check_benanza(self, words):
        level = []
        for word in words:
            if word.startswith("-") or self.help_of(*level, word) is None:
                break
            level.append(word)
        if not level:
            yield f"benanza has no subcommand '{words[0] if words else ''}'"
            return
        known = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", self.help_of(*level)))
        for word in words:
            option = word.split("=")[0]
            if re.fullmatch(r"--?[a-z][a-z0-9-]*", option) and option not in known:
                yield f"benanza {' '.join(level)} has no option '{option}'"

    def help_of(self, *level):
        if level not in self.helps:
            if any(not re.fullmatch(r"[a-z]+", word) for word in level):
                return None
            done = subprocess.run([self.program, *level, "--help"], capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
            own = done.returncode == 0 and f"benanza {' '.join(level)} " in done.stdout
            self.helps[level] = done.stdout if own else None
        return self.helps[level]

    def check_script(self, script, words):
        path = self.root / script
        if not os.access(path, os.X_OK):
            yield f"{script} is not a program"
            return
        text = path.read_text(encoding="utf-8")
        for word in words:
            if script != "scripts/run" and re.fullmatch(r"--[a-z-]+|pack|run|lease", word) and word not in text:
                yield f"{script} does not know '{word}'"

    def check_cmake(self, words):
        presets = (self.root / "CMakePresets.json").read_text(encoding="utf-8")
        for option, value in zip(words, words[1:]):
            if option == "--preset" and f'"{value}"' not in presets:
                yield f"no preset is called '{value}'"
            if option == "--target":
                yield from self.check_target(value)

    def check_target(self, target):
        lists = (path.read_text(encoding="utf-8") for pattern in ("*/", "tests/package/*/") for path in self.root.glob(pattern + "CMakeLists.txt"))
        name = target.removeprefix("bench_")
        if not any(re.search(rf"\b({target}|{name})\b", text) for text in lists):
            yield f"no target is called '{target}'"


def main():
    found = list(Blocks(sys.argv[1], sys.argv[2]).complaints(sys.argv[3:]))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
