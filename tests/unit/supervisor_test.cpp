// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/isolation/supervisor.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace benanza;

TEST_CASE("a crash, a hang, a runaway allocation and a lost device cost a row each; the rest is measured") {
  const auto file = std::filesystem::temp_directory_path() / ("benanza-misbehaving-" + std::to_string(getpid()));
  const bench::SupervisorOptions options{.silence = {1}, .memory = {200e6}};
  CHECK(bench::supervise({BENANZA_MISBEHAVING, file.string()}, options) == 42);
  std::ostringstream report;
  report << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  CHECK(report.str() ==
        "kept in the first child's file\n"
        "first: measured\n"
        "crashes: crashed: Segmentation fault\n"
        "hangs: hung: no sign of life for 1 s\n"
        "eats: out of memory: the process grew beyond 0.2 GiB\n"
        "loses: lost the device\n"
        "last: measured\n"
        "budget: what is left\n"
        "child\nchild\nchild\nchild\nchild\n"
        "next session: whole\n");
}

TEST_CASE("a crash outside any row ends the run") {
  CHECK(bench::supervise({BENANZA_MISBEHAVING, "/dev/null", "outside"}, {}) == 5);
}

TEST_CASE("a signal to the supervisor alone reaches the child, whose exit code counts") {
  const auto stopped_by = [](const std::string& signal) {
    return bench::supervise({BENANZA_MISBEHAVING, "/dev/null", signal}, {});
  };
  CHECK(stopped_by("15") == 143);  // 128 + SIGTERM, a time limit's
  CHECK(stopped_by("2") == 130);   // SIGINT, of `kill`
}

TEST_CASE("a program that nobody supervises knows no crashing plans") {
  CHECK(bench::Supervised::current() == nullptr);
}
