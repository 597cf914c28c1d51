# SPDX-License-Identifier: Apache-2.0
"""The command `benanza` of the wheel: becomes the program that the wheel holds."""

import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).parent / "bin" / "benanza"
    os.execv(program, [str(program), *sys.argv[1:]])
