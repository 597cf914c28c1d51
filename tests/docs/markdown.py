# SPDX-License-Identifier: Apache-2.0
"""Reads what the tests of the documents look at: headings, links, code blocks and tables, and the marks in front of them.

A mark is an HTML comment on the line in front of a code block or a table: `<!-- test: run -->`. blocks.py says what each one means.
"""
import dataclasses
import pathlib
import re

FENCE = re.compile(r"^```(\w*)\s*$")
MARK = re.compile(r"^<!-- test: (.+) -->$")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_SPAN = re.compile(r"`[^`]*`")
FOLDERS = r"include|src|codegen|generated|examples|benchmarks|tests|scripts|cmake|docs"
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]*|[\w-]+/[\w/-]+\.(?:hpp|cpp))`")
OF_READER = re.compile("mine|NAME")   # a file that the reader is to write
LIST_ITEM = re.compile(r"^\s*([-*]|\d+\.) ")


@dataclasses.dataclass
class Part:
    """A code block or a table: its lines, where the first one is, and the words of its mark."""
    file: str
    line: int
    lines: list
    mark: list


@dataclasses.dataclass
class Document:
    file: str
    headings: list
    anchors: set
    links: list          # (line, target)
    paths: list          # (line, path) in code
    blocks: list
    tables: list         # those that have a mark
    indented: list       # lines of code blocks without a fence


def documents(root):
    """README, CONTRIBUTING and everything in docs/."""
    root = pathlib.Path(root)
    files = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    return [read(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in files]


def anchor_of(heading):
    """As GitHub makes it."""
    text = re.sub(r"[^\w\- ]", "", heading.lower())
    return text.replace(" ", "-")


def read(file, text):
    result = Document(file, [], set(), [], [], [], [], [])
    mark, block, table, in_list, blank = [], None, None, False, True
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if block is not None:
            if fence:
                result.blocks.append(block)
                block = None
            else:
                block.lines.append(line)
            continue
        if fence:
            block, mark, table = Part(file, number + 1, [], mark), [], None
            continue
        if line.startswith("|") and mark and table is None:
            table = Part(file, number, [], mark)
            result.tables.append(table)
            mark = []
        if line.startswith("|") and table is not None:
            table.lines.append(line)
        elif not line.startswith("|"):
            table = None
        found = MARK.match(line)
        if found:
            mark = found[1].split()
        elif line.strip() and not line.startswith("|"):
            mark = []
        in_list = bool(LIST_ITEM.match(line)) or (in_list and (not line.strip() or line.startswith(" ")))
        if line.startswith("    ") and line.strip() and blank and not in_list:
            result.indented.append(number)
        blank = not line.strip()
        heading = HEADING.match(line)
        if heading:
            result.headings.append(heading[1])
            anchor, count = anchor_of(heading[1]), 0
            while anchor in result.anchors:
                count += 1
                anchor = f"{anchor_of(heading[1])}-{count}"
            result.anchors.add(anchor)
        result.paths += [(number, path) for path in PATH.findall(line) if not OF_READER.search(path)]
        result.links += [(number, target) for target in LINK.findall(CODE_SPAN.sub("", line))]
    if block is not None:
        result.blocks.append(block)
    return result
