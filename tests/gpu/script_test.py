#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/gpu without a GPU: dry runs, and stubs in place of the programs. script_test.py SCRIPTS LIST_OF_TESTS

A stub makes its time-out come at once: timeout(1) takes SIGALRM for it."""
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SCRIPTS, LIST = map(pathlib.Path, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))

from gpu_lease import leases, packing, runner, summary  # noqa: E402
from gpu_lease.archive import Archive  # noqa: E402

MIB = 2**20
H200 = "NVIDIA H200, GPU-11111111-2222, 580.1"
AT_H200 = "nvidia-h200-11111111-2222-580.1"

# A suite that writes what it was called for, and says how its session went.
SUITE = """#!/bin/bash
for argument; do
  case $argument in
    --benchmark_out=*) out=${argument#*=} ;;
    --benanza_done=*) done_list=${argument#*=} ;;
  esac
done
basename "$out" >> "$(dirname "$0")/asked.txt"
finish() { echo "$1" > "$out"; echo "a layer of $1" >> "$done_list"; exit "$2"; }
"""
ENDS = SUITE + "finish ended 0\n"
OVERRUNS = SUITE + "trap 'finish overrun 143' TERM\nkill -ALRM $PPID\nwhile kill -0 $PPID; do :; done\n"
IGNORES = SUITE + "trap '' TERM\necho begun > \"$out\"\nwhile kill -ALRM $PPID; do :; done\n"

# Tests that say which they are and where they look for libraries; those of cuBLAS fail until there is a file.
TESTS = """#!/bin/bash
folder=$(dirname "$0")
echo "$2" >> "$folder/tested.txt"
echo "$LD_LIBRARY_PATH" > "$folder/libraries.txt"
[ "$2" != "[#cublas_test]" ] || [ -e "$folder/repaired" ]
"""
MACHINE = """#!/bin/bash
while [ "$1" != --json ]; do shift; done
echo '{"machine": {"device": "NVIDIA H200", "driver": "580.1", "backends": []}, "ceilings": [{"quantity": "Peak/f16", "value": 9e14}]}' > "$2"
"""


class Packed(unittest.TestCase):
    """A folder as `gpu pack` makes it, of stubs, and a machine with one GPU."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.results = self.at / "results"
        self.path = [self.at / "bin", *os.environ["PATH"].split(":")]
        for part in ("bin", "programs"):
            (self.at / part).mkdir()
        packing.copy_script(SCRIPTS, self.at)
        shutil.copy(LIST, self.at / "programs" / "tests.txt")
        self.gpu(H200)

    def stub(self, name, text, place="programs"):
        (self.at / place / name).write_text(text)
        (self.at / place / name).chmod(0o755)

    def gpu(self, answer):
        self.stub("nvidia-smi", f'#!/bin/sh\necho "{answer}"\n', "bin")

    def call(self, *arguments):
        environment = os.environ | {"PATH": ":".join(map(str, self.path))}
        return subprocess.run([sys.executable, self.at / "gpu", *map(str, arguments)], capture_output=True, text=True, check=False, env=environment)

    def lines(self, file):
        return (self.at / file).read_text().splitlines()

    def names(self):
        with tarfile.open(self.results / "results.tgz") as files:
            return files.getnames()

    def packed_text(self, name):
        with tarfile.open(self.results / "results.tgz") as files:
            return files.extractfile(name).read().decode()


class Run(Packed):
    def run_part(self, part):
        result = self.call("run", self.results, 600, part)
        self.assertEqual(result.returncode, 0, result.stderr)

    def kept(self):
        return {file.name: gzip.decompress(file.read_bytes()).decode().strip() for file in (self.results / AT_H200).glob("*.json.gz")}

    def test_each_session_that_ended_is_kept(self):
        self.stub("gpu_modern_b1", ENDS)
        self.run_part("modern_b1")
        self.run_part("modern_b1")
        self.assertEqual(self.kept(), {"modern_b1-000.json.gz": "ended", "modern_b1-001.json.gz": "ended"})

    def test_a_session_that_was_interrupted_is_kept_with_what_its_list_says_is_finished(self):
        self.stub("gpu_modern_b1", OVERRUNS)
        self.run_part("modern_b1")
        self.stub("gpu_modern_b1", ENDS)
        self.run_part("modern_b1")
        self.assertEqual(self.kept(), {"modern_b1-000.json.gz": "overrun", "modern_b1-001.json.gz": "ended"})
        self.assertEqual(self.lines(f"results/{AT_H200}/modern_b1.done"), ["a layer of overrun", "a layer of ended"])

    def test_what_a_killed_session_left_is_given_to_the_next(self):
        self.stub("gpu_modern_b1", IGNORES)
        self.run_part("modern_b1")
        self.assertEqual(self.kept(), {})
        self.assertEqual(self.lines(f"results/{AT_H200}/modern_b1-000.json"), ["begun"])
        self.stub("gpu_modern_b1", ENDS)
        self.run_part("modern_b1")
        self.assertEqual(self.lines("programs/asked.txt"), ["modern_b1-000.json", "modern_b1-000.json"])
        self.assertEqual(self.kept(), {"modern_b1-000.json.gz": "ended"})

    def test_another_gpu_begins_anew_and_leaves_what_the_first_one_had(self):
        self.stub("gpu_modern_b1", IGNORES)
        self.run_part("modern_b1")
        self.gpu("NVIDIA H200, GPU-99999999-8888, 580.1")
        self.stub("gpu_modern_b1", ENDS)
        self.run_part("modern_b1")
        self.assertEqual(self.lines(f"results/{AT_H200}/modern_b1-000.json"), ["begun"])
        self.assertEqual(self.lines("results/nvidia-h200-99999999-8888-580.1/modern_b1.done"), ["a layer of ended"])

    def test_tests_that_passed_are_not_run_again(self):
        self.stub("gpu_tests", TESTS)
        self.run_part("tests")
        (self.at / "programs" / "repaired").touch()
        self.run_part("tests")
        self.run_part("tests")
        every = [f"[#{name}_test]" for name in LIST.read_text().split()]
        self.assertEqual(self.lines("programs/tested.txt"), every + ["[#cublas_test]"])

    def test_tests_that_hang_leave_time_for_the_others(self):
        self.stub("gpu_tests", TESTS + "trap '' TERM INT\nwhile [ \"$2\" = \"[#cuda_test]\" ] && kill -ALRM $PPID; do :; done\n")
        (self.at / "programs" / "repaired").touch()
        self.run_part("tests")
        self.assertEqual(self.lines(f"results/{AT_H200}/tests.passed"), [name for name in LIST.read_text().split() if name != "cuda"])

    def test_without_a_gpu_the_reason_is_one_line(self):
        self.stub("nvidia-smi", "#!/bin/sh\necho 'No devices were found'\nexit 6\n", "bin")
        result = self.call("run", self.results, 600)
        self.assertEqual((result.returncode, result.stderr), (1, "gpu: no GPU can be asked for: nvidia-smi: No devices were found\n"))


class Lease(Packed):
    def setUp(self):
        super().setUp()
        self.stub("gpu_tests", TESTS)
        self.stub("benanza", MACHINE)
        self.stub("compute-sanitizer", "#!/bin/sh\nexit 0\n", "bin")
        (self.at / "programs" / "repaired").touch()

    def lease(self, number=1):
        result = self.call("lease", number, self.results, 580)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_first_lease_runs_every_file_of_tests_and_says_what_passed(self):
        table = self.lease()
        names = LIST.read_text().split()
        self.assertIn("cuda_kernels", names)
        self.assertEqual(self.lines("programs/tested.txt"), [f"[#{name}_test]" for name in names])
        self.assertIn("tests     " + ", ".join(f"{name} passed" for name in names) + "; sanitizer: cuda_kernels passed\n", table)
        self.assertIn("peaks     f16 900 TFLOP/s\n", table)

    def test_what_did_not_pass_is_run_again_and_what_passed_is_not(self):
        (self.at / "programs" / "repaired").unlink()
        self.assertIn("cublas NOT PASSED (exit code 1)", self.lease())
        (self.at / "programs" / "repaired").touch()
        self.assertIn("cublas passed", self.lease())
        self.assertEqual(self.lines("programs/tested.txt").count("[#cublas_test]"), 2)
        self.assertEqual(self.lines("programs/tested.txt").count("[#cuda_test]"), 1)

    def test_tests_that_were_skipped_have_not_passed(self):
        self.stub("gpu_tests", "#!/bin/sh\necho 'warning: no device: this is skipped'\n")
        self.assertIn("cuda NOT PASSED (exit code 0, is skipped)", self.lease())

    def test_what_overruns_is_interrupted_and_costs_its_step_alone(self):
        self.stub("gpu_tests", TESTS + "trap 'exit 143' TERM\nif [ \"$2\" = \"[#cudnn_test]\" ]; then kill -ALRM $PPID; while kill -0 $PPID; do :; done; fi\n")
        table = self.lease()
        self.assertIn("cudnn NOT PASSED (exit code 143)", table)
        self.assertIn("cuda_kernels passed", table)

    def test_a_lease_that_is_killed_loses_one_step(self):
        kill = "kill -KILL $(ps -o ppid= -p $PPID)\n"  # the script, of which timeout is the child
        self.stub("gpu_tests", TESTS + f"if [ \"$2\" = \"[#cuda_kernels_test]\" ]; then {kill}fi\n")
        self.assertLess(self.call("lease", 1, self.results, 580).returncode, 0)
        done = self.packed_text(f"{AT_H200}/done.txt")
        self.assertIn("tests_cuda\n", done)
        self.assertNotIn("tests_cuda_kernels\n", done)

    def test_a_second_machine_joins_the_results_of_the_first_one(self):
        self.lease()
        first = [name for name in self.names() if name.startswith(AT_H200)]
        self.gpu("NVIDIA H100 80GB HBM3, GPU-99999999-8888, 580.1")
        self.lease()
        self.assertTrue(set(first) < set(self.names()))
        self.assertIn("nvidia-h100-80gb-hbm3-99999999-8888-580.1/tests_cuda.txt", self.names())

    def test_programs_find_the_libraries_of_every_python_on_the_path(self):
        wheels = self.at / "venv" / "packages"
        for part in ("cudnn", "cu13"):
            (wheels / "nvidia" / part / "lib").mkdir(parents=True)
        answer = json.dumps([str(wheels), str(wheels)])
        self.stub("python3", f"#!/bin/sh\necho '{answer}'\n", "bin")
        self.lease()
        places = self.lines("programs/libraries.txt")[0].split(":")
        self.assertEqual(places[:3], [str(self.at / "programs"), str(wheels / "nvidia/cu13/lib"), str(wheels / "nvidia/cudnn/lib")])


class DryRun(unittest.TestCase):
    """Each stub takes the whole of its limit and the time in which it could be killed: no lease can take longer."""

    def dry_run(self, number, seconds, out):
        stubs = runner.Stubs()
        lease = runner.Lease(out, seconds, stubs)
        with open(os.devnull, "w") as nothing:
            before, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), nothing, nothing
            try:
                lease.run(number, leases.steps(number, stubs))
            finally:
                sys.stdout, sys.stderr = before
        return stubs.seconds

    def check(self, out):
        self.assertEqual(sorted(file.name for file in out.iterdir()), ["results.tgz", "table.txt"])
        self.assertLess((out / "results.tgz").stat().st_size, 16 * MIB)
        self.assertLessEqual(len((out / "table.txt").read_text().splitlines()), 40)

    def test_leases_keep_to_their_time_their_size_and_their_number_of_files(self):
        for number in leases.LEASES:
            for seconds in (60, 580):
                with self.subTest(lease=number, seconds=seconds), tempfile.TemporaryDirectory() as folder:
                    out = pathlib.Path(folder)
                    self.assertLessEqual(self.dry_run(number, seconds, out), seconds)
                    self.check(out)

    def test_all_leases_in_one_folder_stay_one_small_file(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            for number in leases.LEASES:
                self.dry_run(number, 580, out)
            self.check(out)
            table = (out / "table.txt").read_text()
            self.assertIn("cuda_kernels passed", table)
            self.assertRegex(table, r"resnet50 +32 f16 +0.100 +0.400 +0.300 +0.350 +0.500 +0.500")

    def test_the_most_important_steps_come_first_in_a_short_lease(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            self.dry_run(2, 180, out)
            with tarfile.open(out / "results.tgz") as files:
                steps = files.extractfile("dry-run/steps.txt").read().decode()
        self.assertIn("bound_resnet50_b1_f16\tdone", steps)
        self.assertNotIn("bound_resnet50_b1_tf32", steps)


class Archives(unittest.TestCase):
    def test_the_largest_files_stay_out_and_those_of_the_database_last(self):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder) / "here"
            (at / "database").mkdir(parents=True)
            for name, kilobytes in (("database/run.json", 60), ("trace.json.gz", 50), ("small.txt", 1)):
                (at / name).write_bytes(random.Random(7).randbytes(kilobytes * 1000))
            archive = Archive(pathlib.Path(folder) / "results.tgz", 80_000)
            self.assertEqual(archive.write(at), [at / "trace.json.gz"])
            self.assertLess(archive.file.stat().st_size, 80_000)
            (at / "small.txt").write_text("changed")
            archive.write(at)
            archive.extract(pathlib.Path(folder) / "again")
            again = pathlib.Path(folder) / "again"
            self.assertEqual((again / "small.txt").read_text(), "changed")
            self.assertEqual((again / "database/run.json").read_bytes(), (at / "database/run.json").read_bytes())


class Size(unittest.TestCase):
    def test_a_pack_of_one_architecture_is_refused_above_40_mb(self):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            with (at / packing.ARCHIVE).open("wb") as file:
                file.truncate(41_000_000)
            with self.assertRaisesRegex(SystemExit, "41.0 MB, at most 40 MB"):
                packing.check_size(packing.size_of(at), "90")
            packing.check_size(packing.size_of(at), None)  # a pack of several architectures
            (at / packing.ARCHIVE).write_bytes(b"small")
            packing.check_size(packing.size_of(at), "90")


class Table(unittest.TestCase):
    def test_a_framework_that_does_other_work_is_marked(self):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            rungs = {"model_floor": 0.04, "library": 0.3, "library_fused": 0.2, "library_fused_resident": 0.25}
            for model in ("alike", "another"):
                bound = {"model": model, "batch": 1, "type": "f16", "partial": False, "macs": 4_000_000_000, "bounds_ms": rungs}
                (at / f"bound_{model}_b1_f16.json").write_text(json.dumps({"models": [bound]}))
            runs = [{"model": "alike", "batch": 1, "type": "f16", "mode": "eager", "median_ms": 0.8, "macs": 4_040_000_000},
                    {"model": "alike", "batch": 1, "type": "f16", "mode": "graph", "median_ms": 0.4},
                    {"model": "another", "batch": 1, "type": "f16", "mode": "eager", "median_ms": 0.8, "macs": 5_000_000_000}]
            (at / "frameworks.json").write_text(json.dumps({"runs": runs}))
            lines = summary.table(at).splitlines()
        # 0.2 / 0.4, 0.2 / 0.8
        self.assertIn("alike                         1 f16      0.040    0.300    0.200    0.250    0.800    0.400        -        0.50", lines)
        self.assertIn("another                       1 f16      0.040    0.300    0.200    0.250    0.800        -        -        0.25"
                      "  other work: 5.00 GMAC there, 4.00 here", lines)

    def test_more_lines_than_fit_are_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            runs = [{"model": f"m{i:02}", "batch": 1, "type": "f16", "mode": "eager", "median_ms": 1} for i in range(60)]
            (at / "frameworks.json").write_text(json.dumps({"runs": runs}))
            lines = summary.table(at).splitlines()
        # 4 lines of the machine, a head and 60 rows are 65, of which 39 and this one are printed.
        self.assertEqual((len(lines), lines[-1]), (40, "(26 more lines: the documents in results.tgz)"))


class ListOfTests(unittest.TestCase):
    def test_the_list_names_every_file_of_tests(self):
        files = pathlib.Path(__file__).parent.glob("*_test.cpp")
        self.assertEqual(sorted(LIST.read_text().split()), sorted(file.name.removesuffix("_test.cpp") for file in files))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
