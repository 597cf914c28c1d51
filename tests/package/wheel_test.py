#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel of an install tree, installs it in an empty environment, and runs python_test.py there.

    wheel_test.py TREE TOOLS SOURCE FOLDER    the install tree, the folder of the build tools and of NumPy, the sources, where to work
"""
import os
import pathlib
import shutil
import subprocess
import sys
import venv

tree, tools, source, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:])
shutil.rmtree(folder, ignore_errors=True)
environment = {**os.environ, "CMAKE_PREFIX_PATH": str(tree), "PYTHONPATH": str(tools)}


def run(*command, **settings):
    subprocess.run([str(word) for word in command], check=True, env=environment, **settings)


run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder / "wheels", source)
venv.create(folder / "venv", with_pip=True)
python = folder / "venv" / "bin" / "python"
run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", *(folder / "wheels").glob("*.whl"))
run(python, source / "tests" / "package" / "python_test.py", source / "examples", source / "tests" / "cli", cwd=folder)
