#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/bootstrap: nothing of a download runs before its sum is compared, and a terminal is asked before packages are installed.

  bootstrap_test.py SCRIPTS      the folder of the scripts

Packages come from a folder, and programs that would change the system only write down that they were called.
"""

import hashlib
import io
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()

# Programs in front of the system's: a processor for which there is neither oneDNN nor CUDA, so ONNX is all that is downloaded.
PROGRAMS = {
    "uname": "echo another",
    "cmake": 'case "$1" in --version) echo cmake version 99.0 ;; *) echo "cmake $*" >> "$CALLS" ;; esac',
    "protoc": "echo protoc of the test",
    "apt-get": 'echo "apt-get $*" >> "$CALLS"',
    "sudo": '"$@"',
    "dpkg-query": '[ "$INSTALLED" = no ] || for name in "$@"; do echo "installed $name"; done',
}

# What the archive is built with, as ONNX's is, and is in no index; or a build script that writes down that it was run.
BUILT_BY_OTHERS = '[build-system]\nrequires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"\n'
BUILT_BY_ITSELF = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
BUILD_SCRIPT = 'import os\nopen(os.environ["CALLS"], "a").write("build script\\n")\n'
METADATA = "Metadata-Version: 2.1\nName: onnx\nVersion: {version}\n"


def archive(version, built):
    """The bytes of an archive of sources of ONNX."""
    files = {
        "pyproject.toml": built,
        "own.py": BUILD_SCRIPT,
        "PKG-INFO": METADATA.format(version=version),
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.26)\n",
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"onnx-{version}/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


class Bootstrap(unittest.TestCase):
    VERSION = "7.8.9"

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name in ("scripts", "programs", "index"):
            (self.folder / name).mkdir()
        for name in ("bootstrap", "lib.bash"):
            shutil.copy(SCRIPTS / name, self.folder / "scripts")
        for name, text in PROGRAMS.items():
            program = self.folder / "programs" / name
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        self.calls = self.folder / "calls"
        self.calls.touch()
        self.environment = {
            "PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "BENANZA_CACHE": str(self.folder / "cache"),
            "CALLS": str(self.calls),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.folder / "index"),
        }
        self.offer(BUILT_BY_OTHERS)

    def offer(self, built):
        """An archive in the index, and its sum in downloads.txt."""
        data = archive(self.VERSION, built)
        (self.folder / "index" / f"onnx-{self.VERSION}.tar.gz").write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        (self.folder / "scripts" / "downloads.txt").write_text(f"onnx=={self.VERSION} \\\n    --hash=sha256:{digest}\n")

    def command(self, *options):
        return ["bash", str(self.folder / "scripts" / "bootstrap"), *options]

    def run_without_terminal(self, *options):
        return subprocess.run(self.command(*options), env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)

    def run_on_terminal(self, answer, *options):
        """The exit code, and what is on the terminal."""
        ours, terminal = pty.openpty()
        with subprocess.Popen(self.command(*options), env=self.environment, stdin=terminal, stdout=subprocess.DEVNULL,
                              stderr=terminal) as process:
            os.close(terminal)
            os.write(ours, answer)
            shown = b""
            try:
                while part := os.read(ours, 4096):
                    shown += part
            except OSError:  # the other end was closed
                pass
        os.close(ours)
        return process.returncode, shown.decode()

    def called(self, word):
        return [line for line in self.calls.read_text().splitlines() if word in line]

    def test_nothing_else_is_downloaded_to_build_an_archive(self):
        ran = self.run_without_terminal()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(f"onnx-{self.VERSION}", ran.stdout)
        self.assertTrue(self.called("cmake --build"))

    def test_an_archive_with_another_sum_is_refused_before_it_is_read(self):
        listed = (self.folder / "scripts" / "downloads.txt").read_text()
        self.offer(BUILT_BY_ITSELF)
        (self.folder / "scripts" / "downloads.txt").write_text(listed)
        ran = self.run_without_terminal()
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("DO NOT MATCH THE HASHES", ran.stderr)
        self.assertEqual(self.calls.read_text(), "")

    def test_a_package_without_a_sum_is_refused(self):
        (self.folder / "scripts" / "downloads.txt").write_text(f"onnx=={self.VERSION}\n")
        ran = self.run_without_terminal()
        self.assertNotEqual(ran.returncode, 0)
        self.assertEqual(self.calls.read_text(), "")

    def test_a_terminal_is_asked_before_packages_are_installed(self):
        self.environment["INSTALLED"] = "no"
        code, shown = self.run_on_terminal(b"n\n")
        self.assertEqual(code, 1, shown)
        self.assertIn("libprotobuf-dev", shown)
        self.assertEqual(self.called("apt-get"), [])
        code, shown = self.run_on_terminal(b"y\n")
        self.assertEqual(code, 0, shown)
        self.assertIn("libprotobuf-dev", self.called("apt-get install")[0])

    def test_nothing_is_asked_with_yes_or_without_a_terminal(self):
        self.environment["INSTALLED"] = "no"
        code, shown = self.run_on_terminal(b"", "--yes")
        self.assertEqual(code, 0, shown)
        self.assertTrue(self.called("apt-get install"))
        self.calls.write_text("")
        ran = self.run_without_terminal()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("libprotobuf-dev", ran.stderr)
        self.assertTrue(self.called("apt-get install"))


class Downloads(unittest.TestCase):
    def test_every_package_has_a_version_and_a_sum(self):
        text = (SCRIPTS / "downloads.txt").read_text().replace("\\\n", " ")
        packages = [line for line in text.splitlines() if line and not line.startswith("#")]
        self.assertTrue(packages)
        for line in packages:
            self.assertRegex(line, r"^[a-z0-9_-]+==[0-9.]+ .*--hash=sha256:[0-9a-f]{64}\b")


if __name__ == "__main__":
    unittest.main()
