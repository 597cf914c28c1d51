// SPDX-License-Identifier: Apache-2.0
// What generated suites of earlier versions call.
#pragma once

#include <benanza/bench/run_suite.hpp>

namespace benanza::bench {

inline int run(const Suite& suite, int argc, char** argv) { return run_suite(suite, argc, argv); }

}  // namespace benanza::bench
