// SPDX-License-Identifier: Apache-2.0
#include "ceilings/caches.hpp"
#include "plan/cpu_set.hpp"
#include "plan/processor.hpp"
#include "plan/topology.hpp"
#include <benanza/measure/measure.hpp>
#include <benanza/plan/kernel_settings.hpp>

#include <hwloc.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <sys/utsname.h>

namespace benanza::measure {

namespace {

/// The value of the first line `key : value` of a file.
std::string line_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    const auto begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin, line.find_last_not_of(" \t") - begin + 1);
  }
  return {};
}

std::string device_name(hwloc_topology_t topology) {
  if (std::string name = line_of("/proc/cpuinfo", "model name"); !name.empty()) return name;
  for (hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_MACHINE}) {
    const auto* object = hwloc_get_obj_by_type(topology, type, 0);
    const char* name =
        object == nullptr ? nullptr : hwloc_obj_get_info_by_name(const_cast<hwloc_obj_t>(object), "CPUModel");
    if (name != nullptr && *name != '\0') return name;
  }
  return "unknown processor";
}

std::string system_name() {
  utsname names{};
  std::string text = uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "unknown";
#if defined(__x86_64__)
  if (const std::string vendor = hypervisor(); !vendor.empty() && vendor != "none") text += ", " + vendor;
#endif
  return text;
}

std::string joined(std::span<const int> numbers) {
  std::string text;
  for (const int number : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

}  // namespace

Machine this_machine(int threads) {
  std::span<const int> cpus = benanza::cpus();
  if (threads > 0) cpus = cpus.first(std::min(cpus.size(), static_cast<std::size_t>(threads)));
  const Topology topology = load_topology();
  Machine machine{.device = device_name(topology.get()),
                  .isa = processor_isa(),
                  .cores = static_cast<int>(cpus.size()),
                  .affinity = joined(cpus),
                  .memory = {static_cast<double>(hwloc_get_root_obj(topology.get())->total_memory)},
                  .system = system_name(),
                  .hypervisor = hypervisor(),
                  .settings = kernel_settings()};
  // The second key of each is that of ARM.
  const auto number = [](const std::string& key, const std::string& other) {
    const std::string value = line_of("/proc/cpuinfo", key);
    return value.empty() ? line_of("/proc/cpuinfo", other) : value;
  };
  machine.family = number("cpu family", "CPU implementer");
  machine.model = number("model\t", "CPU part");
  machine.stepping = number("stepping", "CPU revision");
  machine.microcode = number("microcode", "CPU variant");
  std::map<int, Bytes> levels;
  for (const auto& cache : ceilings::caches_of(cpus)) levels[cache.level] += cache.size;
  for (const auto& [level, total] : levels) machine.caches.push_back({level, total});
  return machine;
}

}  // namespace benanza::measure
