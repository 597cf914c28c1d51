// SPDX-License-Identifier: Apache-2.0
// A worker that crashes, hangs, allocates more and more memory and loses its device, one row each. Its run reports what
// happened to its rows and what it was asked to do.
#include "isolation/supervised.hpp"
#include <benanza/isolation/interrupt.hpp>
#include <benanza/plan/kernel_settings.hpp>
#include <benanza/version.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::isolation;

/// Tries the row of this name; the row misbehaves if its name says so.
void try_row(Supervised& supervised, const std::string& what, const std::string& name) {
  supervised.trying(name);
  if (what == "crashes") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn it into an error report and an exit code
    raise(SIGSEGV);
  }
  if (what == "loses") supervised.give_up("lost the\ndevice");
  while (what == "hangs") pause();
  std::vector<std::vector<char>> eaten;
  while (what == "eats") {
    eaten.emplace_back(std::size_t{4} << 20, 'x');
    supervised.trying(name);  // it is alive, and slower than the supervisor's checks of its memory
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

/// usage: misbehaving WHAT FOLDER
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string what = argv[1];
  const InterruptWatch interrupt;
  Supervised supervised(argv[2]);
  const Request request = read_request(supervised.folder());
  if (what == "outside") raise(SIGABRT);
  if (what == "leaves") return 7;
  if (what == "throws") {
    supervised.failed("wrong on purpose");
    return 2;
  }
  Run run{.tool = std::string(version), .machine = {.device = "none", .cores = 1}};
  if (what == "stops") {  // as by Ctrl-Z, until somebody continues it
    run.warnings.push_back(std::to_string(getpid()));
    supervised.trying("lib/stopped,threads=1/hot/Unary/f32/x=3");
    supervised.keep(run);
    raise(SIGSTOP);
  }
  for (char** variable = environ; what == "settings" && *variable != nullptr; ++variable)
    if (is_kernel_setting(*variable)) run.warnings.emplace_back(*variable);
  if (what == "waits") {
    supervised.show({.phase = "select", .done = 3, .total = 4, .what = "a layer"});
    while (!interrupt.interrupted()) std::this_thread::yield();
    run.warnings.push_back("asked to stop");
  }
  if (request.options.budget.value < 100) run.warnings.push_back("budget: what is left");
  if (request.options.earlier)
    run.warnings.push_back(std::to_string(request.options.earlier->rows.size()) + " earlier rows");
  for (const std::string each : {"first", "crashes", "hangs", "eats", "loses", "last"}) {
    if (what != "rows") break;
    Measurement row{.backend = "lib",
                    .algorithm = each + ",threads=1",
                    .signature = "Unary/f32/x=3",
                    .samples = 1,
                    .times = MeasuredTimes{.p10 = {1}}};
    const auto& crashing = request.options.crashing_plans;
    if (const auto found = crashing.find(row.name()); found != crashing.end()) row.exclude_for(found->second);
    else try_row(supervised, each, row.name());
    run.rows.push_back(std::move(row));
    supervised.keep(run);
  }
  write_run(run, run_of(supervised.folder()));
  supervised.trying({});
  supervised.finished();
  if (what == "ends badly") raise(SIGABRT);
  return 0;
}
