#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups of nodes that an engine executes as one and for which the bound has several calls: what fusion still lacks.

  benchmarks/engines/fusions.py [MODEL.onnx...]        default: the 44 of examples/models

Profiles each model in ONNX Runtime, and in OpenVINO where it is installed or named by --engines, with all graph optimisations, as gap.py does. Where
one record of the profile serves several groups of the fused form, its operators make a line. Lines of equal operators are counted together, over all
models, and sorted by the engine's time. `bound` is the time of the calls that stand in: measured, or the roofline of what was not measured.

What the engine splits further than the bound is in `gap.py`. Nothing is said about records that `benanza gap` finds no layers for.
"""
import argparse
import collections
import importlib.util
import json
import pathlib
import sys

import compare
import gap

LINES = 40


def packages_of(engines):
    name = lambda package: package.split("==")[0]
    return [package for package in compare.PACKAGES if name(package) not in compare.ENGINES or name(package) in engines]


def installed_engines():
    return [engine for engine in compare.ENGINES if engine == "onnxruntime" or importlib.util.find_spec(engine)]


def groups_of(found):
    """From the JSON of a gap: what one record does and several groups of the bound."""
    for group in found["groups"]:
        if len(group["records"]) == 1 and len(group["signatures"]) > 1 and len(group["layers"]) > 1:
            yield group


def add(lines, model, engine, found):
    """Adds the groups of one model; how many there are."""
    count = 0
    for group in groups_of(found):
        record = found["records"][group["records"][0]]
        line = lines[engine, group["pattern"]]
        line["count"] += 1
        line["engine_ms"] += group["engine_ms"]
        line["bound_ms"] += group["bound_ms"] or 0
        line["models"].setdefault(model, []).append({"node": group["name"], "record": record["name"], "op": record["op"], "engine_ms": group["engine_ms"],
                                                     "bound_ms": group["bound_ms"], "signatures": group["signatures"]})
        count += 1
    return count


def text_of(engine, pattern, line):
    models = sorted(line["models"], key=lambda model: -sum(group["engine_ms"] for group in line["models"][model]))
    first = line["models"][models[0]][0]
    more = f" and {len(models) - 1} more" if len(models) > 1 else ""
    return (f"{line['engine_ms']:10.3f}{line['bound_ms']:10.3f}{line['count']:7}  {engine:12} {pattern}  [{first['op'] or first['record']}; "
            f"{models[0]}{more}, first {first['node']}]")


def census(arguments):
    models = arguments.models or compare.all_models()
    compare.choose_processors(arguments)
    lines = collections.defaultdict(lambda: {"count": 0, "engine_ms": 0.0, "bound_ms": 0.0, "models": {}})
    profiled = 0
    for path in models:
        for engine in arguments.engines:
            found = gap.gap_of(path, engine, arguments, "--budget", arguments.budget)
            name = pathlib.Path(path).stem
            if not isinstance(found, str) and found["bound_ms"] is None:  # then it has no groups either
                found = "the bound is incomplete: measure the layers first (benanza bound), or give a longer --budget"
            if isinstance(found, str):
                print(f"{name}: {engine}: {found}", file=sys.stderr)
                continue
            profiled += 1
            print(f"{name}: {engine}: {add(lines, name, engine, found)} groups", file=sys.stderr)
            if arguments.json:
                document = [{"engine": of, "pattern": pattern, **line} for (of, pattern), line in lines.items()]
                pathlib.Path(arguments.json).write_text(json.dumps({"threads": arguments.threads, "packages": packages_of(arguments.engines), "groups": document}, indent=1))
    print(f"{'engine ms':>10}{'bound ms':>10}{'count':>7}  {'engine':12} operators [record; models]")
    for (engine, pattern), line in sorted(lines.items(), key=lambda entry: -entry[1]["engine_ms"])[:arguments.lines]:
        print(text_of(engine, pattern, line))
    return 0 if profiled == len(models) * len(arguments.engines) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL.onnx")
    parser.add_argument("--threads", type=int, help="of engines and bounds (default: one for each core)")
    parser.add_argument("--seconds", type=float, default=1, help="for each model in each engine, if 30 runs take less (default: 1)")
    parser.add_argument("--engines", type=lambda text: text.split(","), help="of onnxruntime,openvino (default: those that are installed)")
    parser.add_argument("--budget", default="1s", help="for layers of a model that were not measured yet (default: 1s)")
    parser.add_argument("--lines", type=int, default=LINES, help=f"that are printed (default: {LINES})")
    parser.add_argument("--database", help="folder of results for `benanza gap`")
    parser.add_argument("--json", metavar="FILE", help="writes every group with its signatures")
    arguments = parser.parse_args()
    if not compare.is_in_environment():
        compare.in_environment(__file__, packages_of(arguments.engines or ["onnxruntime"]))
    arguments.engines = arguments.engines or installed_engines()
    return census(arguments)


if __name__ == "__main__":
    sys.exit(main())
