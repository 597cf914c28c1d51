// The processor: which cores are used, how a call is timed, and what the results say of the machine.
#include "processor.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sched.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <utility>

namespace {

/// The first word or line of a file of the system; empty where there is none.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// `0-3,8` as numbers.
std::vector<int> numbers_of(const std::string& list) {
  std::vector<int> result;
  for (std::size_t at = 0; at < list.size();) {
    std::size_t used = 0;
    const int first = std::stoi(list.substr(at), &used);
    int last = first;
    at += used;
    if (at < list.size() && list[at] == '-') {
      last = std::stoi(list.substr(at + 1), &used);
      at += used + 1;
    }
    for (int number = first; number <= last; ++number) result.push_back(number);
    ++at;
  }
  return result;
}

std::string cpu_folder(int cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/"; }

/// Threads that run without being stopped by the quota of this process's control group, or of one that encloses it
/// (version 2, cgroups(7)): one for each whole processor, at least one.
std::size_t threads_of_quota() {
  double least = CPU_SETSIZE;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.compare(0, 4, "0::/") != 0) continue;
    for (std::string group = line.substr(3);; group.resize(group.rfind('/'))) {
      std::ifstream limit("/sys/fs/cgroup" + group + "/cpu.max");
      std::string quota;
      double period = 0;
      if (limit >> quota >> period && quota != "max" && period > 0) least = std::min(least, std::stod(quota) / period);
      if (group.empty()) break;
    }
  }
  return static_cast<std::size_t>(std::max(1.0, least));
}

}  // namespace

const std::vector<int>& cpus() {
  static const std::vector<int> found = [] {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    static_cast<void>(sched_getaffinity(0, sizeof allowed, &allowed));
    std::vector<int> usable;
    for (int node = 0; usable.empty() && node < 64; ++node)
      for (const int cpu : numbers_of(line_of("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist")))
        if (CPU_ISSET(cpu, &allowed)) usable.push_back(cpu);
    for (int cpu = 0; usable.empty() && cpu < CPU_SETSIZE; ++cpu)  // a system that hides its nodes
      if (CPU_ISSET(cpu, &allowed)) usable.push_back(cpu);
    std::vector<int> result;
    std::set<std::string> cores;
    for (const int cpu : usable) {
      const std::string siblings = line_of(cpu_folder(cpu) + "topology/thread_siblings_list");
      if (siblings.empty() || cores.insert(siblings).second) result.push_back(cpu);
    }
    result.resize(std::min(result.size(), threads_of_quota()));
    return result;
  }();
  return found;
}

namespace {

/// Bytes of each cache level, over all caches that the cores reach.
const std::map<int, double>& caches() {
  static const std::map<int, double> found = [] {
    std::map<int, double> result;
    std::set<std::pair<int, std::string>> counted;
    for (const int cpu : cpus()) {
      for (int i = 0; i < 16; ++i) {
        const std::string folder = cpu_folder(cpu) + "cache/index" + std::to_string(i) + "/";
        const std::string level = line_of(folder + "level"), size = line_of(folder + "size");
        if (level.empty() || size.empty() || line_of(folder + "type") == "Instruction") continue;
        const int number = std::stoi(level);
        if (!counted.insert({number, line_of(folder + "shared_cpu_list")}).second) continue;
        result[number] += std::stod(size) * (size.back() == 'M' ? 1 << 20 : 1 << 10);
      }
    }
    return result;
  }();
  return found;
}

/// The value of the first line `key : value` of a file.
std::string entry_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.compare(0, key.size(), key) != 0 || colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

/// The widest vector extension, as oneDNN names it.
std::string widest_isa() {
  const std::string flags = " " + entry_of("/proc/cpuinfo", "flags") + " ";
  const auto has = [&](const std::string& flag) { return flags.find(" " + flag + " ") != std::string::npos; };
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl")) {
    if (has("amx_tile") && (has("amx_bf16") || has("amx_int8"))) return "avx512_core_amx";
    if (has("avx512_fp16")) return "avx512_core_fp16";
    if (has("avx512_bf16")) return "avx512_core_bf16";
    return has("avx512_vnni") ? "avx512_core_vnni" : "avx512_core";
  }
  if (has("avx2") && has("fma")) return has("avx_vnni") ? "avx2_vnni" : "avx2";
  if (has("avx")) return "avx";
  if (has("sse4_1")) return "sse41";
  return has("sse2") ? "sse2" : has("asimd") ? "asimd" : "generic";
}

/// What the results say of the machine: `benanza analyze` tells machines apart by it.
void describe_machine() {
  using benchmark::AddCustomContext;
  const std::string name = entry_of("/proc/cpuinfo", "model name");
  AddCustomContext("machine/device", name.empty() ? "unknown processor" : name);
  AddCustomContext("machine/isa", widest_isa());
  AddCustomContext("machine/cores", std::to_string(cpus().size()));
  std::string list;
  for (const int cpu : cpus()) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  AddCustomContext("machine/affinity", list);
  for (const auto& [level, bytes] : caches())
    AddCustomContext("machine/L" + std::to_string(level) + "_bytes", std::to_string(static_cast<std::int64_t>(bytes)));
  const std::string memory = entry_of("/proc/meminfo", "MemTotal");
  AddCustomContext("machine/memory_bytes", std::to_string(memory.empty() ? 0 : std::stoll(memory) * 1024));
  utsname system{};
  if (uname(&system) == 0) AddCustomContext("machine/system", std::string(system.sysname) + " " + system.release);
}

}  // namespace

void use_threads(int count) {
  omp_set_num_threads(count);
#pragma omp parallel num_threads(count)
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus()[static_cast<std::size_t>(omp_get_thread_num()) % cpus().size()], &set);
    static_cast<void>(sched_setaffinity(0, sizeof set, &set));
  }
}

Pages::Pages(std::size_t bytes)
    : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (data_ == MAP_FAILED) throw Skipped("no memory for the operands");
  static_cast<void>(madvise(data_, bytes, MADV_HUGEPAGE));
}

Pages::~Pages() { static_cast<void>(munmap(data_, bytes_)); }

std::size_t Buffers::add(const void* contents, std::size_t bytes, bool weights) {
  const std::size_t stride = (std::max<std::size_t>(bytes, 1) + 63) / 64 * 64;
  // Operands that begin at one place of their pages would meet in the same sets of a cache.
  Operand operand{.offset = operands_.size() * 1088, .stride = stride, .cold = is_cold(cache_, weights)};
  operand.data = std::make_shared<Pages>(operand.offset + stride);
  operands_.push_back(operand);
  if (bytes > 0) std::memcpy(at(operands_.size() - 1, 0), contents, bytes);
  return operands_.size() - 1;
}

void Buffers::spread() {
  std::size_t cold = 0;
  double beyond = 0;
  for (const auto& operand : operands_) cold += operand.cold ? operand.stride : 0;
  for (const auto& level : caches()) beyond += level.second;
  copies_ = copies_beyond(beyond, cold);
  for (auto& operand : operands_) {
    if (!operand.cold) continue;
    Operand spread = operand;
    spread.data = std::make_shared<Pages>(operand.offset + operand.stride * copies_);
    for (std::size_t copy = 0; copy < copies_; ++copy)
      std::memcpy(spread.data->data() + operand.offset + copy * operand.stride, operand.data->data() + operand.offset,
                  operand.stride);
    operand = spread;
  }
}

/// Wall-clock time. The first call is not timed: it loads and touches what the later ones find.
void run_timed(benchmark::State& state, const Ready& ready) {
  ready.call(0);
  std::size_t copy = 0;
  for (auto _ : state) {
    ready.call(copy);
    if (++copy == ready.copies) copy = 0;
  }
}

int run_suite(int argc, char** argv, const std::function<void()>& add_all) {
  describe_machine();
  return run_all(argc, argv, [&] {
    auto& threads = options().threads;
    const auto at = wanted_plan.rfind("threads=");
    if (threads.empty() && at != std::string_view::npos) threads = {std::atoi(wanted_plan.data() + at + 8)};
    if (threads.empty())
      threads = cpus().size() > 1 ? std::vector<int>{1, static_cast<int>(cpus().size())} : std::vector<int>{1};
    add_all();
  });
}
