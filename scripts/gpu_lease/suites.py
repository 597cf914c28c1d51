# SPDX-License-Identifier: Apache-2.0
"""`gpu run`: the tests, and the suites of both model sets, in a folder named after the GPU. Each call goes on where the last one ended."""
import gzip
import time

from . import leases, runner

SUITES = ["zoo2019_b1", "modern_b1", "zoo2019_b32", "modern_b32"]
PARTS = ["tests", *SUITES]
RESERVE = 45       # seconds for what ends late
ENDED_EARLY = (130, 143)  # by an interrupt or a time limit, with what there was written


class Run:
    def __init__(self, folder, results, seconds):
        self.programs = runner.Programs(folder)
        self.at = results / self.programs.identity()
        self.at.mkdir(parents=True, exist_ok=True)
        self.end = time.monotonic() + seconds
        self.seconds = seconds

    def left(self):
        return self.end - time.monotonic()

    def say(self, text):
        runner.say(self.at, text)

    def tests(self):
        """The tests of each file by themselves, so that one that hangs leaves time for the others. Those that passed are not run again."""
        passed = self.at / "tests.passed"
        for name in self.programs.tests():
            if passed.exists() and name in passed.read_text().split():
                continue
            limit = min(self.left() - runner.GRACE, self.seconds / 4)
            if limit < 1:
                self.say(f"tests of {name}: not begun")
                continue
            step = leases.test(self.programs, name)
            result = self.programs.result_of(step, limit, self.at)
            if result == runner.DONE:
                with passed.open("a") as names:
                    names.write(f"{name}\n")
                self.say(f"tests of {name}: passed")
            else:
                self.say(f"tests of {name}: {result}; see {step.name}.txt, the suites check every plan again")

    def suite(self, name, budget):
        """One session, ended by its own budget, or interrupted a little later. What a killed one left is taken up by the next one of the same name."""
        done = self.at / f"{name}.done"
        done.touch()
        file = self.at / f"{name}-{len(list(self.at.glob(f'{name}-*.json.gz'))):03}.json"
        self.say(f"{name}: {budget:.0f} s")
        command = [self.programs.path(f"gpu_{name}"), f"--benanza_budget={budget:.0f}s", f"--benanza_done={done}", f"--benchmark_out={file}"]
        code = self.programs.execute(command, budget + 25, self.at / f"{name}.txt", self.at / "log.txt")
        if file.exists() and code in (0, *ENDED_EARLY):
            file.with_suffix(".json.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
        self.say(f"{name}: exit code {code}")

    def parts(self, names):
        for i, name in enumerate(names):
            if self.left() < 60:
                self.say(f"not begun: {' '.join(names[i:])}")
                return
            share = max((self.left() - RESERVE) / (len(names) - i), 20)
            self.tests() if name == "tests" else self.suite(name, share)


def run(folder, results, seconds, parts):
    Run(folder, results, seconds).parts(parts or PARTS)
