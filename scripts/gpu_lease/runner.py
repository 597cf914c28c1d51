# SPDX-License-Identifier: Apache-2.0
"""Steps under a limit of time, each by itself, and what they leave in one file that is written anew after each of them."""
import dataclasses
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Callable

from . import machine, packing, stubs, summary
from .archive import Archive, write_whole

MOST_BYTES = 16_000_000  # size of results.tgz
GRACE = 10               # seconds from the interrupt to the kill
RESERVE = 10             # seconds for the last archive and the table
DONE = summary.DONE


@dataclasses.dataclass
class Step:
    name: str
    command: Callable[[float], list]  # from its limit in seconds
    weight: float = 1                 # its share of the time that is left, among the steps that are left
    least: float = 5                  # seconds; not begun with less
    most: float = 600                 # seconds
    refused: str = ""                 # what must not be in the output, whatever the exit code
    each_time: bool = False           # also when an earlier lease finished it


BEGIN = time.monotonic()  # start of the call: unpacking counts


class Programs:
    """The unpacked programs on a GPU."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = machine.program_environment(folder / "programs")
        self.now = lambda: time.monotonic() - BEGIN

    def identity(self):
        return machine.identity()

    def version(self):
        """Of what was packed: a step that other programs finished is run again."""
        archive = self.folder / packing.ARCHIVE
        return hashlib.sha256(archive.read_bytes()).hexdigest()[:12] if archive.exists() else "unpacked"

    def path(self, name):
        return str(self.folder / "programs" / name)

    def model(self, name):
        return str(self.folder / "models" / "modern" / f"{name}.onnx")

    def tests(self):
        return (self.folder / "programs" / "tests.txt").read_text().split()

    def has(self, name):
        return shutil.which(name) is not None if "/" not in name else os.access(name, os.X_OK)

    def python(self):
        """That has PyTorch, if any has."""
        return str(machine.python_with("torch") or sys.executable)

    def result_of(self, step, limit, at):
        """`done`, or what kept the step from it. Its output goes to a file of its name."""
        output = at / f"{step.name}.txt"
        code = self.execute(step.command(limit), limit, output, at / "log.txt")
        refused = bool(step.refused) and step.refused in output.read_text(errors="replace")
        return DONE if code == 0 and not refused else f"exit code {code}" + (f", {step.refused}" if refused else "")

    def execute(self, command, limit, output, log):
        """Interrupts the command at its limit, and kills it and its children a little later. Returns the exit code, which a signal makes 128 + its number."""
        is_python = str(command[0]).rsplit("/", 1)[-1].startswith("python")
        # `timeout` sends a signal to the whole group, and the program asks its worker to stop by another one: a second SIGINT would end the
        # worker at once, a second SIGTERM does not. Python ends in good order by SIGINT alone.
        signal = "INT" if is_python else "TERM"
        guarded = ["timeout", "--preserve-status", f"--signal={signal}", f"--kill-after={GRACE}", f"{limit:.0f}", *map(str, command)]
        with output.open("wb") as out, log.open("ab") as said:
            process = subprocess.Popen(guarded, stdin=subprocess.DEVNULL, stdout=out, stderr=said,
                                       env=None if is_python else self.environment)  # PyTorch finds its own libraries
            try:
                code = process.wait(limit + GRACE + 5)
            except subprocess.TimeoutExpired:  # a process that the driver holds does not even die of a kill
                process.kill()
                return 137
        return code if code >= 0 else 128 - code


class Stubs(Programs):
    """Stands for the programs in a dry run: each uses up its whole limit, on a clock that nobody waits for, and leaves as much as a real one."""

    def __init__(self):
        self.folder = pathlib.Path("pack")
        self.seconds = 0.0
        self.now = lambda: self.seconds

    def identity(self):
        return "dry-run"

    def version(self):
        return "dry-run"

    def tests(self):
        return ["cudnn", "cublas", "cuda", "cuda_kernels"]

    def has(self, name):
        return True

    def python(self):
        return "python3"

    def execute(self, command, limit, output, log):
        stubs.leave_output([str(part) for part in command], output)
        with log.open("a") as said:
            said.write(f"{' '.join(map(str, command))}\n")
        self.seconds += limit + GRACE
        return 0


def say(at, text):
    """On the terminal and in the log of a folder of results."""
    line = f"{time.strftime('%H:%M:%S', time.gmtime())} {text}"
    print(line, file=sys.stderr, flush=True)
    with (at / "log.txt").open("a") as log:
        log.write(line + "\n")


class Lease:
    """Runs the steps within a time, and writes OUT/results.tgz after each."""

    def __init__(self, out, seconds, programs):
        self.out, self.seconds, self.programs = out, seconds, programs

    def left(self):
        return self.seconds - self.programs.now()

    def run(self, number, steps):
        self.out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="gpu-lease-") as folder:
            self.everything = pathlib.Path(folder)
            self.results = Archive(self.out / "results.tgz", MOST_BYTES)
            self.results.extract(self.everything)
            self.at = self.everything / self.programs.identity()
            (self.at / "database").mkdir(parents=True, exist_ok=True)
            self.done_file = self.at / "done.txt"
            self.say(f"lease {number}: {self.seconds:.0f} s, {self.programs.identity()}")
            self.run_steps([step for step in steps(self.at) if step.each_time or not self.is_done(step)])
            self.say(f"used {self.seconds - self.left():.0f} of {self.seconds:.0f} s")
            table = summary.table(self.at)
            write_whole(self.out / "table.txt", table.encode())
            (self.at / "table.txt").write_text(table)
            self.archive()
            print(table, end="")

    def run_steps(self, steps):
        for i, step in enumerate(steps):
            share = step.weight / sum(other.weight for other in steps[i:])
            usable = self.left() - RESERVE
            limit = min(max(usable * share - GRACE, step.least), step.most)
            if limit + GRACE > usable:
                self.say(f"{step.name}: not begun")
                continue
            self.run_step(step, limit)
            self.archive()

    def run_step(self, step, limit):
        before = self.programs.now()
        result = self.programs.result_of(step, limit, self.at)
        took = f"{self.programs.now() - before:.0f} of {limit:.0f} s"
        if result == DONE:
            with self.done_file.open("a") as done:
                done.write(f"{self.programs.version()} {step.name}\n")
        with (self.at / "steps.txt").open("a") as steps:
            steps.write(f"{step.name}\t{result}\n")
        self.say(f"{step.name}: {result}, {took}")

    def is_done(self, step):
        return self.done_file.exists() and f"{self.programs.version()} {step.name}" in self.done_file.read_text().splitlines()

    def say(self, text):
        say(self.at, text)

    def archive(self):
        if left_out := self.results.write(self.everything):
            names = ", ".join(str(file.relative_to(self.everything)) for file in left_out)
            self.say(f"left out of results.tgz, which would exceed {MOST_BYTES / 1e6:.0f} MB: {names}")
