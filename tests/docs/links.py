#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a document points to what is not there, or a comment cites a document or a section that does not exist.

    links.py ROOT

A citation is `docs/FILE.md`, or `docs/FILE.md, "Section"`, in a source, a script or a CMake file; README.md and CONTRIBUTING.md may be cited in the
same way. README has at most 1,200 words.
"""
import pathlib
import re
import sys

import markdown

MOST_WORDS = 1200
FOLDERS = ["include", "src", "codegen", "benchmarks", "examples", "scripts", "cmake", "tests"]
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".inc", ".in", ".py", ".js", ".css", ".txt", ".cmake", ""}
CITATION = re.compile(r"(?<![\w/])(docs/\w+\.md|README\.md|CONTRIBUTING\.md)(?:,? \(?\"([^\"]+)\")?")
COMMENT = re.compile(r"\n\s*(?://[/!]?<?|#)\s*")
OWN = {"tests/docs"}  # they speak of citations


def broken_links(root, documents):
    by_file = {document.file: document for document in documents}
    for document in documents:
        for line, target in document.links:
            if re.match(r"[a-z]+://|mailto:", target):
                continue
            name, _, anchor = target.partition("#")
            path = (pathlib.PurePosixPath(document.file).parent / name).as_posix() if name else document.file
            path = re.sub(r"^[^/]+/\.\./", "", path)
            if name and not (root / path).exists():
                yield f"{document.file}:{line}: links to {target}, which does not exist"
            elif anchor and anchor not in by_file.get(path, document).anchors:
                yield f"{document.file}:{line}: links to {target}, a heading that does not exist"


def missing_files(root, documents):
    """Paths in `code` that do not exist; headers may be named without include/benanza."""
    for document in documents:
        for line, name in document.paths:
            if not (root / name).exists() and not (root / "include" / "benanza" / name).exists():
                yield f"{document.file}:{line}: names {name}, which does not exist"


def citations(text):
    """(document, section or None) of each citation. Text in comments may go on in the next line."""
    for found in CITATION.finditer(COMMENT.sub(" ", "\n" + text)):
        yield found[1], found[2]


def broken_citations(root, documents):
    by_file = {document.file: document for document in documents}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            file = path.relative_to(root).as_posix()
            if not path.is_file() or path.suffix not in SUFFIXES or any(file.startswith(own) for own in OWN):
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            for name, section in citations(text):
                beside = name == "README.md" and (path.parent / name).exists()
                if name not in by_file:
                    if not beside:
                        yield f"{file}: cites {name}, which does not exist"
                elif section and section not in by_file[name].headings:
                    yield f"{file}: cites {name}, \"{section}\": there is no such section"


def complaints(root):
    root = pathlib.Path(root)
    documents = markdown.documents(root)
    result = [*broken_links(root, documents), *missing_files(root, documents), *broken_citations(root, documents)]
    words = len((root / "README.md").read_text(encoding="utf-8").split())
    if words > MOST_WORDS:
        result.append(f"README.md: {words} words, at most {MOST_WORDS} expected: details belong in docs/")
    return result


def main():
    found = complaints(sys.argv[1])
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
