#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users expect of any program of a command line: the version, help, names that are misspelt.

    conventions_test.py PROGRAM EXAMPLES [Conventions.test_...]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PROGRAM, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
MNIST = EXAMPLES / "models" / "zoo2019" / "MNIST.onnx"
COMMANDS = [[], *([name] for name in ("bound", "run", "layers", "generate", "analyze", "gap", "study", "memory", "scale", "predict", "measure", "machine", "db", "completion", "man")),
            *(["db", name] for name in ("list", "verify", "merge", "diff"))]  # fmt: skip


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False, **options)


def sections(*command):
    """The sections of a command's help by their titles, each as the first columns of its entries."""
    found = {}
    for line in run(*command, "--help").stdout.splitlines():
        if title := re.fullmatch(r"([A-Z][A-Za-z ]+):", line):
            entries = found.setdefault(title[1], [])
        elif found and (entry := re.match(r"  (\S.*?)(  |$)", line)):
            entries.append(entry[1])
    return found


def options(*command):
    """All names of a command's options."""
    return [name for entries in sections(*command).values() for entry in entries for name in re.findall(r"(?:^|, )(--?[a-z-]+|-V)", entry)]


class Conventions(unittest.TestCase):
    def misspelt(self, says, *arguments):
        ran = run(*arguments)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (2, "", f"benanza: {says}\n"))

    def test_the_version_names_the_program_and_the_libraries(self):
        first, *libraries = run("--version").stdout.splitlines()
        self.assertRegex(first, r"\Abenanza \d+\.\d+\.\d+( \([^() ]+\))?\Z")
        self.assertIn("native", [line.split()[0] for line in libraries])
        for line in libraries:
            self.assertRegex(line, r"\A  [a-z]+ \S+\Z")
        self.assertEqual(run("-V").stdout, run("--version").stdout)

    def test_help_before_a_command_is_its_help(self):
        for command in COMMANDS:
            asked = run("help", *command)
            self.assertEqual((asked.returncode, asked.stderr), (0, ""))
            self.assertEqual(asked.stdout, run(*command, "--help").stdout)
            self.assertIn("Usage: " + " ".join(["benanza", *command]) + " ", asked.stdout)

    def test_help_fits_80_columns(self):
        for command in COMMANDS:
            for line in run(*command, "--help").stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_help_has_groups_of_options(self):
        self.assertEqual([*sections("bound")], ["Arguments", "Options", "Model", "Training", "Measuring", "Reports", "Exit codes", "Environment", "Examples"])
        self.assertIn("-b, --batch N,...", sections("bound")["Model"])
        self.assertIn("--frozen NAME", sections("bound")["Training"])
        self.assertIn("--database DIR", sections("bound")["Measuring"])
        for command in ("bound", "memory", "predict", "scale", "study"):
            self.assertIn("--html FILE", sections(command)["Reports"])
        self.assertEqual(sections()["Commands"], [*(command[0] for command in COMMANDS if len(command) == 1), "help"])
        self.assertEqual(sections("db")["Commands"], [command[1] for command in COMMANDS if len(command) == 2])

    def test_help_states_the_exit_codes_and_variables_that_apply(self):
        self.assertEqual(sections("bound")["Exit codes"], ["0", "1", "2", "3", "4", "5", "130"])
        self.assertEqual(sections("layers")["Exit codes"], ["0", "1", "2", "5"])
        self.assertEqual(sections("db", "diff")["Exit codes"], ["0", "1", "2", "4", "5"])
        self.assertEqual(sections("run")["Environment"], ["BENANZA_READ_SECONDS", "BENANZA_READ_MB", "BENANZA_RUN_MB"])
        self.assertEqual(sections("db", "list")["Environment"], ["XDG_CACHE_HOME", "NO_COLOR"])

    def test_misspelt_names_are_answered_with_the_nearest(self):
        self.misspelt("no subcommand is called 'bond'; did you mean bound? (see benanza --help)", "bond", MNIST)
        self.misspelt("no subcommand is called 'bnd'; did you mean bound? (see benanza --help)", "bnd", MNIST)
        self.misspelt("no subcommand is called 'analyse'; did you mean analyze? (see benanza --help)", "analyse")
        self.misspelt("no subcommand is called 'bond'; did you mean bound? (see benanza --help)", "help", "bond")
        self.misspelt("no subcommand is called 'mrege'; did you mean merge? (see benanza db --help)", "db", "mrege", "x")
        self.misspelt("no option is called '--bach'; did you mean --batch? (see benanza layers --help)", "layers", MNIST, "--bach", "3")
        self.misspelt("no option is called '--bach'; did you mean --batch? (see benanza layers --help)", "layers", MNIST, "--bach=3")
        self.misspelt("no option is called '--faill-on'; did you mean --fail-on? (see benanza db diff --help)", "db", "diff", "--faill-on", "slower")

    def test_an_option_is_named_before_what_is_lacking_because_of_it(self):
        self.misspelt("no option is called '--outptu'; did you mean --output? (see benanza generate --help)", "generate", MNIST, "--outptu=x.cpp")

    def test_names_like_no_other_are_answered_without_one(self):
        self.misspelt("no subcommand is called 'nonsense' (see benanza --help)", "nonsense")
        self.misspelt("no option is called '--nonsense' (see benanza layers --help)", "layers", MNIST, "--nonsense")
        self.misspelt("no subcommand is called 'worke' (see benanza --help)", "worke")  # the program calls its worker itself

    def test_no_option_takes_an_empty_value(self):
        """The value of a shell variable that is not set: --machine "$UNSET" does not mean this machine."""
        for command in COMMANDS:
            entries = [entry for part in sections(*command).values() for entry in part]
            valued = [found[1] for entry in entries if (found := re.match(r"(?:-\w, )?(--[a-z-]+) \S", entry))]
            for option in valued:
                ran = run(*command, option, "")
                self.assertEqual((ran.returncode, ran.stdout), (2, ""), f"{command} {option}")
                self.assertIn(option, ran.stderr)
        self.assertIn("--machine", [name for command in COMMANDS for name in options(*command)])
        self.assertEqual(run("layers", "").returncode, 2)

    def completed(self, *words):
        """What bash offers for the last word."""
        script = 'source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _benanza; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run([shutil.which("bash"), "-c", script, PROGRAM, "benanza", *words], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.completed("ma"), ["machine", "man"])
        self.assertEqual(self.completed("db", "d"), ["diff"])
        self.assertEqual(self.completed("bound", "x.onnx", "--b"), ["--budget", "--batch", "--backend"])
        self.assertEqual(self.completed("db", "diff", "--fail-on", "s"), ["slower", "same"])
        self.assertEqual(self.completed("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.completed("bound", "x"), [])                # bash then completes files
        self.assertEqual(self.completed("bound", "--json", ""), [])

    def test_every_option_of_help_is_completed_and_in_the_man_page(self):
        man = run("man").stdout.replace("\\-", "-")
        scripts = {shell: run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
        for command in COMMANDS:
            at = " ".join(command)
            self.assertLessEqual({*options(*command)}, {*self.completed(*command, "-")}, command)
            for name in options(*command):
                self.assertIn(f"'{name}:", scripts["zsh"])
                self.assertRegex(scripts["fish"], rf"complete -c benanza -n '__benanza_at {at}'.* {'-l ' + name[2:] if name.startswith('--') else '-s ' + name[1:]} ")
            if command not in ([], ["db"]):
                part = man[man.index(f".SS benanza {at} [OPTIONS]"):]
                for name in options(*command):
                    self.assertRegex(part.split(".SS", 2)[1], rf"\n\.B (.*, )?{name}\b")

    def test_shells_and_groff_read_what_is_generated(self):
        for shell, check in (("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])):
            if shutil.which(shell):
                read = subprocess.run([shell, *check], input=run("completion", shell).stdout, capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((read.returncode, read.stderr), (0, ""))
        if shutil.which("groff"):
            read = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=run("man").stdout, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((read.returncode, read.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
