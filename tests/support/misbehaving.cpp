// SPDX-License-Identifier: Apache-2.0
// A child that crashes, hangs, allocates more and more memory and gives up, one row each; writes what became of its
// rows, of its budget and of its forerunners' journal to the file that it is given.
#include <benanza/isolation/interrupt.hpp>
#include <benanza/isolation/supervisor.hpp>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

int main(int argc, char** argv) {
  const auto supervised = benanza::bench::Supervised::current();
  if (supervised == nullptr || argc < 2) return 2;
  if (argc > 2 && std::string(argv[2]) == "outside") raise(SIGABRT);
  if (argc > 2) {  // the number of a signal
    const benanza::bench::InterruptWatch watch;
    kill(getppid(), std::stoi(argv[2]));
    while (!watch.interrupted()) std::this_thread::yield();
    return watch.exit_code();
  }
  std::vector<std::vector<char>> eaten;
  std::string report;
  const bool cut = supervised->left({100}).value < 100;
  std::ofstream(supervised->journal(), std::ios::app) << "child\n";
  if (cut) report += "kept in " + supervised->kept_in() + "\n";
  else supervised->keep_in("the first child's file");
  for (const std::string row : {"first", "crashes", "hangs", "eats", "loses", "last"}) {
    if (const auto crashing_plan = supervised->crashing_plans().find(row);
        crashing_plan != supervised->crashing_plans().end()) {
      report += row + ": " + crashing_plan->second + "\n";
      continue;
    }
    supervised->trying(row);
    if (row == "crashes") {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an error report and an exit code of it
      raise(SIGSEGV);
    }
    if (row == "loses") supervised->give_up("lost the device");
    while (row == "hangs") pause();
    while (row == "eats") {
      eaten.emplace_back(std::size_t{4} << 20, 'x');
      supervised->trying(row);  // it lives
    }
    report += row + ": measured\n";
  }
  if (cut) report += "budget: what is left\n";
  std::ifstream lines(supervised->journal());
  for (std::string line; std::getline(lines, line);) report += line + "\n";
  lines.close();
  supervised->session_done();
  if (supervised->left({100}).value == 100 && !std::ifstream(supervised->journal()) && supervised->kept_in().empty())
    report += "next session: whole\n";
  std::ofstream(argv[1]) << report;
  return 42;
}
