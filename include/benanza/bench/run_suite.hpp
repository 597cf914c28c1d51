// SPDX-License-Identifier: Apache-2.0
// run_suite: the only function that a generated translation unit calls. There is one Google Benchmark per row,
// `<backend>/<algorithm>/<cache state>/<signature>`, of one iteration with manual time. Rows of a session are measured
// together (measure.hpp), so the session runs first, for the rows that pass the filter. Each benchmark then replays its
// own row: p10 as the time, the rest as counters. Includes none of ONNX, protobuf and JSON.
#pragma once

#include <benanza/model/suite.hpp>

namespace benanza::bench {

/// Accepts every Google Benchmark flag (`--help` lists those that have no effect on replayed rows) and those that begin
/// with `--benanza_`, which `--help` explains. A layer that a backend cannot run is a skipped benchmark with the
/// reason. `--benchmark_list_tests` measures nothing. The file of `--benchmark_out` is written as by `write_run`
/// (results.hpp), with the machine's ceilings. Returns the program's exit code: 0; 2 for wrong usage; 5 if the
/// environment failed, after the report if only a file could not be written; 130 if interrupted (128 + the number of
/// another signal), with what was measured so far reported and written.
int run_suite(const Suite& suite, int argc, char** argv);

}  // namespace benanza::bench
