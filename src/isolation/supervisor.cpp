// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/isolation/interrupt.hpp>
#include <benanza/isolation/supervisor.hpp>
#include <benanza/plan/beat.hpp>
#include <benanza/results/results.hpp>

#include <spawn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <span>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace benanza::bench {

namespace {

constexpr const char* variable = "BENANZA_SUPERVISED";
constexpr std::size_t longest_name = 4000, longest_reason = 500;
using Clock = std::chrono::steady_clock;

std::string crashing_plans_of(const std::string& file) { return file + ".crashing_plans"; }
std::string journal_of(const std::string& file) { return file + ".json"; }

/// A file of this process that goes with it.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    if (error) {
      const char* const given = std::getenv("TMPDIR");
      throw EnvironmentError(std::string("no folder for temporary files") +
                             (given ? ", TMPDIR is " + std::string(given) : "") + ": " + error.message());
    }
    name_ = (folder / "benanza-supervised-XXXXXX").string();
    const int descriptor = mkstemp(name_.data());
    if (descriptor < 0) throw EnvironmentError("cannot create " + name_ + ": " + std::strerror(errno));
    close(descriptor);
  }
  ~TemporaryFile() {
    std::error_code none;
    std::filesystem::remove(name_, none);
    std::filesystem::remove(crashing_plans_of(name_), none);
    std::filesystem::remove(journal_of(name_), none);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_{};
};

double number_of_line(const char* file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return std::strtod(line.c_str() + key.size(), nullptr);
  return 0;
}

double available_bytes() { return number_of_line("/proc/meminfo", "MemAvailable:") * 1024; }
double resident_bytes(pid_t child) {
  return number_of_line(("/proc/" + std::to_string(child) + "/status").c_str(), "VmRSS:") * 1024;
}

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / (1 << 30));
  return text;
}

/// `mask`: the signals that the child begins with blocked.
pid_t start(const std::vector<std::string>& argv, const std::string& file, const sigset_t& mask) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  environment.push_back(std::string(variable) + "=" + file);
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
  };
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv.front().c_str(), nullptr, &attributes, pointers(argv).data(),
                                 pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw EnvironmentError("cannot start " + argv.front() + ": " + std::strerror(error));
  return child;
}

}  // namespace

/// What both processes see.
struct Supervised::Shared {
  std::atomic<std::uint64_t> beats{0};
  std::atomic<std::int64_t> session_began{0};  ///< by the clock of the system, the same in all processes; 0: none has
  char row[longest_name + 1]{};
  char reason[longest_reason + 1]{};  ///< why the child gave up; empty: it did not
  char kept_in[PATH_MAX]{};           ///< of the session's rows so far; empty: none were kept
};

namespace {

void copy(std::string_view text, std::span<char> to) {
  text = text.substr(0, to.size() - 1);
  *std::copy(text.begin(), text.end(), to.begin()) = '\0';
}

/// Maps the shared file; `size` is made so long.
void* map(const std::string& file, std::size_t size) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(size)) != 0)
    throw EnvironmentError("cannot open " + file + ": " + std::strerror(errno));
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (data == MAP_FAILED) throw EnvironmentError("cannot map " + file + ": " + std::strerror(errno));
  return data;
}

/// How a child ended.
struct End {
  std::optional<int> code{};  ///< by itself
  std::string reason{};       ///< otherwise
};

/// The signals of `awaited`, which are blocked here: the child's end wakes, others are passed on to it.
End watch(pid_t child, const std::atomic<std::uint64_t>& beats, const SupervisorOptions& options, double most_memory,
          const sigset_t& awaited) {
  constexpr timespec seldom{.tv_sec = 0, .tv_nsec = 250'000'000};  // the child may be measuring on all processors
  std::uint64_t seen = beats;
  auto last_sign = Clock::now();
  std::string killed;
  siginfo_t from{};
  for (int status = 0, taken = 0;; taken = sigtimedwait(&awaited, &from, &seldom)) {
    // A terminal sends its interrupt to the child as well.
    const bool has_it = taken == SIGINT && from.si_code == SI_KERNEL;
    if (taken > 0 && taken != SIGCHLD && !has_it) kill(child, taken);
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFEXITED(status)) return {.code = WEXITSTATUS(status)};
      const int signal = WTERMSIG(status);
      if (!killed.empty()) return {.reason = killed};
      if (signal == SIGKILL) return {.reason = "killed, as the system does when memory runs out"};
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) return {.code = 128 + signal};
      return {.reason = std::string("crashed: ") + strsignal(signal)};
    }
    if (ended < 0 && errno != EINTR) throw EnvironmentError(std::string("waitpid failed: ") + std::strerror(errno));
    if (!killed.empty()) continue;
    if (beats != seen) {
      seen = beats;
      last_sign = Clock::now();
    }
    const double silence = std::chrono::duration<double>(Clock::now() - last_sign).count();
    if (silence > options.silence.value) {
      char text[80];
      std::snprintf(text, sizeof text, "hung: no sign of life for %.3g s", options.silence.value);
      killed = text;
    } else if (resident_bytes(child) > most_memory) {
      killed = "out of memory: the process grew beyond " + gibibytes(most_memory);
    }
    if (!killed.empty()) kill(child, SIGKILL);
  }
}

}  // namespace

int supervise(const std::vector<std::string>& argv, const SupervisorOptions& options) {
  const TemporaryFile file;
  auto* const shared = new (map(file.name(), sizeof(Supervised::Shared))) Supervised::Shared();
  const double most_memory = options.memory.value > 0 ? options.memory.value : 0.9 * available_bytes();
  sigset_t awaited = interrupts(), mask;  // the child decides what an interrupt means
  sigaddset(&awaited, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &awaited, &mask);
  const auto done = [&](int code) {
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    munmap(shared, sizeof(Supervised::Shared));
    return code;
  };
  for (int crashing_plans = 0;; ++crashing_plans) {
    shared->row[0] = shared->reason[0] = '\0';
    const pid_t child = start(argv, file.name(), mask);
    End end = watch(child, shared->beats, options,
                    most_memory > 0 ? most_memory : std::numeric_limits<double>::infinity(), awaited);
    if (shared->reason[0] != '\0') end = {.reason = shared->reason};
    if (end.code) return done(*end.code);
    const std::string row(shared->row);
    if (row.empty() || crashing_plans == options.most_crashes) {
      std::fprintf(stderr, "%s: %s, outside any row that could be left out\n", argv.front().c_str(),
                   end.reason.c_str());
      return done(5);
    }
    std::fprintf(stderr, "%s: %s in %s: going on without it\n", argv.front().c_str(), end.reason.c_str(), row.c_str());
    std::ofstream(crashing_plans_of(file.name()), std::ios::app) << row << '\t' << end.reason << '\n';
  }
}

std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> argv;
  for (std::string argument; std::getline(file, argument, '\0');) argv.push_back(std::move(argument));
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed || argv.empty()) throw EnvironmentError("cannot read /proc/self: how was this program started?");
  argv.front() = program.string();
  return argv;
}

std::unique_ptr<Supervised> Supervised::current() {
  const char* file = std::getenv(variable);
  if (file == nullptr || *file == '\0') return nullptr;
  return std::unique_ptr<Supervised>(new Supervised(file));
}

Supervised::Supervised(const std::string& file)
    : shared_(static_cast<Shared*>(map(file, sizeof(Shared)))), journal_(journal_of(file)) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a child without its supervisor must not keep an accelerator
  std::ifstream lines(crashing_plans_of(file));
  for (std::string line; std::getline(lines, line);)
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      crashing_plans_[line.substr(0, tab)] = line.substr(tab + 1);
  ++shared_->beats;
}

Supervised::~Supervised() {
  trying({});
  munmap(shared_, sizeof(Shared));
}

Seconds Supervised::left(Seconds budget) {
  constexpr double least_share = 0.05;
  const std::int64_t now = Clock::now().time_since_epoch().count();
  std::int64_t began = 0;
  if (shared_->session_began.compare_exchange_strong(began, now)) return budget;
  const double spent = std::chrono::duration<double>(Clock::duration(now - began)).count();
  return std::max(budget - Seconds{spent}, budget * least_share);
}

void Supervised::session_done() {
  std::error_code none;
  std::filesystem::remove(journal_, none);
  shared_->session_began = 0;
  shared_->kept_in[0] = '\0';
}

std::string Supervised::kept_in() const { return shared_->kept_in; }
void Supervised::keep_in(const std::string& file) { copy(file, shared_->kept_in); }

void Supervised::beat() { ++shared_->beats; }

void Supervised::trying(std::string_view row) {
  copy(row, shared_->row);
  ++shared_->beats;
}

void Supervised::give_up(std::string_view reason) {
  std::string line(reason);
  std::replace(line.begin(), line.end(), '\n', ' ');
  copy(line, shared_->reason);
  std::_Exit(5);  // a library that has lost its device may wait for it without end when the program ends
}

Run measure_supervised(std::span<const Wanted> wanted, std::span<const std::shared_ptr<const Backend>> backends,
                       MeasureOptions options) {
  const auto supervised = Supervised::current();
  if (!supervised) return measure(wanted, backends, options);
  options.crashing_plans = supervised->crashing_plans();
  options.trying = [&](std::string_view row) { supervised->trying(row); };
  const BeatListener listener([&] { supervised->beat(); });
  options.budget = supervised->left(options.budget);
  if (std::filesystem::exists(supervised->journal()))
    options.earlier = std::make_shared<const Run>(read_run(supervised->journal()));
  options.keep = [&, keep = options.keep](const Run& run) {
    write_run(run, supervised->journal());
    if (keep) keep(run);
  };
  try {
    Run run = measure(wanted, backends, options);
    supervised->session_done();
    return run;
  } catch (const DeviceLost& lost) {
    supervised->give_up(lost.what());
  }
}

}  // namespace benanza::bench
