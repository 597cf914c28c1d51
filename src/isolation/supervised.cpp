// SPDX-License-Identifier: Apache-2.0
#include "supervised.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace benanza::isolation {

Supervised::Supervised(std::filesystem::path folder) : folder_(std::move(folder)), state_(folder_, false) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a child without its parent must not keep an accelerator
  wake_ = open(pipe_of(folder_).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (wake_ < 0 && errno == ENXIO) std::_Exit(5);  // the parent ended before this process was set to end with it
  ++state_->beats;
}

Supervised::~Supervised() {
  if (wake_ >= 0) close(wake_);
}

void Supervised::trying(std::string_view row) {
  state_->row.set(row);
  ++state_->beats;
}

void Supervised::show(const measure::Progress& progress) {
  state_->progress.set(progress);
  ++state_->beats;
}

void Supervised::failed(std::string_view error) {
  state_->error.set(error);
  if (wake_ < 0) std::fprintf(stderr, "%s\n", state_->error.get().c_str());
}

void Supervised::keep(const Run& run) {
  write_run(run, run_of(folder_));
  if (wake_ < 0) return;
  const std::uint64_t kept = ++state_->kept;
  static_cast<void>(write(wake_, "k", 1) < 0);
  constexpr std::chrono::seconds longest{10};  // in case the parent is stopped
  const auto end = std::chrono::steady_clock::now() + longest;
  while (state_->taken < kept && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Supervised::give_up(std::string_view reason) {
  std::string line(reason);
  std::replace(line.begin(), line.end(), '\n', ' ');
  state_->reason.set(line);
  std::_Exit(5);  // at the program's end, a library that has lost its device may wait for it forever
}

}  // namespace benanza::isolation
