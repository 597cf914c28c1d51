// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <benanza/error.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/plan/kernel_settings.hpp>

#include <spawn.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace benanza::isolation {

namespace {

/// What follows a key in the first line that begins with it.
std::string after_key(const std::string& file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return {};
}

/// The same as a number, which the file gives in KiB.
Bytes kibibytes_of_line(const std::string& file, const std::string& key) {
  return {std::strtod(after_key(file, key).c_str(), nullptr) * 1024};
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const auto& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  sigset_t blocked, ask_to_stop;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, signal);
  sigemptyset(&ask_to_stop);
  sigaddset(&ask_to_stop, SIGTERM);  // the child handles it, even if this process ignores it
  std::vector<char*> variables;      // what is set for the user's engine is not for a measurement
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!is_kernel_setting(*variable)) variables.push_back(*variable);
  variables.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setsigdefault(&attributes, &ask_to_stop);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(&process_, argv.front(), nullptr, &attributes, argv.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw EnvironmentError("cannot start " + command.front() + ": " + std::strerror(error));
}

ChildProcess::~ChildProcess() {
  if (end_) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ProcessEnd> ChildProcess::ended() {
  if (end_) return end_;
  int status = 0;
  const pid_t ended = waitpid(process_, &status, WNOHANG);
  if (ended == process_)
    end_ = WIFEXITED(status) ? ProcessEnd{.code = WEXITSTATUS(status)} : ProcessEnd{.signal = WTERMSIG(status)};
  else if (ended < 0 && errno != EINTR) throw EnvironmentError(std::string("waitpid failed: ") + std::strerror(errno));
  return end_;
}

void ChildProcess::send(int signal) { kill(process_, signal); }

Bytes ChildProcess::resident() const {
  return kibibytes_of_line("/proc/" + std::to_string(process_) + "/status", "VmRSS:");
}

bool ChildProcess::stopped() const {  // "T (stopped)" or "t (tracing stop)" (proc_pid_status(5))
  const std::string state = after_key("/proc/" + std::to_string(process_) + "/status", "State:");
  return state.find_first_of("Tt") == state.find_first_not_of(" \t") && !state.empty();
}

Bytes available_memory() { return kibibytes_of_line("/proc/meminfo", "MemAvailable:"); }

}  // namespace benanza::isolation
