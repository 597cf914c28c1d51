// SPDX-License-Identifier: Apache-2.0
// Reads a results file. The library that reads it is compiled as a part of this project.
#include <benanza/results/results.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const benanza::Run run = benanza::read_run(argv[1]);
  std::printf("%zu rows\n", run.rows.size());
  return run.rows.empty() ? 1 : 0;
}
