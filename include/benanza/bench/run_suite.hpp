// SPDX-License-Identifier: Apache-2.0
// run_suite: the one function that a generated translation unit calls. One Google Benchmark for each row,
// `<backend>/<algorithm>/<cache state>/<signature>`, of one iteration with manual time: rows of a session are measured
// together (measure.hpp), so the session runs first, for the rows that the filter leaves, and each benchmark replays
// its own: p10 as the time, the rest as counters. Includes neither ONNX, protobuf nor JSON.
#pragma once

#include <benanza/model/suite.hpp>

namespace benanza::bench {

/// Understands every Google Benchmark flag (`--help` lists those that replayed rows make inert) and
/// those that begin with `--benanza_`, which `--help` explains. A layer that a backend cannot run is a skipped
/// benchmark with the reason.
/// `--benchmark_list_tests` measures nothing. `--benchmark_out` is written as `write_run` writes (results.hpp), with
/// the machine's ceilings. Returns the program's exit code: 0; 2 for wrong usage; 5 when the environment failed, after
/// the report if only a file could not be written; 130 when interrupted (128 + the number of another signal), with what
/// was measured so far reported and written.
int run_suite(const Suite& suite, int argc, char** argv);

}  // namespace benanza::bench
