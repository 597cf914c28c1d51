#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That Doxygen makes the reference without a warning, with a page for each class that its first page names, and with all C++ examples.

    api_reference.py DOXYGEN DOXYFILE HTML_FOLDER ROOT
"""
import pathlib
import re
import subprocess
import sys

doxygen, doxyfile, html, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
made = subprocess.run([doxygen, doxyfile], cwd=root, capture_output=True, text=True, check=False)
if made.returncode != 0:
    sys.exit(made.stdout + made.stderr)
first = (html / "index.html").read_text(encoding="utf-8")
names = re.findall(r"benanza::(\w+)", (root / "docs" / "reference.dox").read_text(encoding="utf-8").split("A header belongs")[0])
wrong = [f"the first page has no link for benanza::{name}" for name in names if not re.search(rf'<a class="el" href="[^"]*"[^>]*>benanza::{name}', first)]
listed = (html / "examples.html").read_text(encoding="utf-8")
wrong += [f"no page of examples/{path.name}" for path in sorted((root / "examples").glob("[0-9]*.cpp")) if path.name not in listed]
if len(names) < 7 or wrong:
    sys.exit("\n".join(wrong or ["the first page names no classes"]))
print(f"{len(names)} names, all with a page; {len(list(html.glob('struct*.html'))) + len(list(html.glob('class*.html')))} pages of classes")
