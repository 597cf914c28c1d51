// SPDX-License-Identifier: Apache-2.0
#include <hwloc.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <sys/utsname.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "caches.hpp"
#include <benanza/measure/measure.hpp>
#include <benanza/plan/cpu_set.hpp>
#include <benanza/plan/topology.hpp>

namespace benanza::bench {

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

#if defined(__x86_64__)
/// CPUID leaf 7, subleaf 0 and 1; bits from the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
/// CPUID.
struct Leaf7 {
  unsigned ebx = 0, ecx = 0, edx = 0, eax1 = 0;
  Leaf7() {
    unsigned eax = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && eax >= 1) __get_cpuid_count(7, 1, &eax1, &b, &c, &d);
  }
};

/// Whether the system saves the tile registers (XCR0 bits 17 and 18).
bool saves_tiles() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3U) == 3U;
}

std::string hypervisor() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx >> 31) == 0) return {};
  __cpuid(0x40000000, eax, ebx, ecx, edx);  // vendor of the hypervisor, by convention
  std::string vendor;
  for (unsigned word : {ebx, ecx, edx})
    for (int i = 0; i < 4; ++i)
      if (const char c = static_cast<char>(word >> 8 * i & 0xFF); c > ' ' && c < 127) vendor += c;
  for (const std::string_view name : {"KVM", "VMware", "Xen", "Microsoft"})
    if (vendor.starts_with(name)) return std::string(name);  // some names are repeated to fill twelve letters
  return vendor.empty() ? "a hypervisor" : vendor;
}
#endif

/// Uses oneDNN's names.
std::string widest_isa() {
#if defined(__x86_64__)
  const Leaf7 leaf;
  const bool core = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (core) {
    constexpr unsigned amx_tile = 1U << 24, amx_bf16 = 1U << 22, amx_int8 = 1U << 25, fp16 = 1U << 23, bf16 = 1U << 5,
                       vnni = 1U << 11;
    if ((leaf.edx & amx_tile) != 0 && (leaf.edx & (amx_bf16 | amx_int8)) != 0 && saves_tiles())
      return "avx512_core_amx";
    if ((leaf.edx & fp16) != 0) return "avx512_core_fp16";
    if ((leaf.eax1 & bf16) != 0) return "avx512_core_bf16";
    if ((leaf.ecx & vnni) != 0) return "avx512_core_vnni";
    return "avx512_core";
  }
  constexpr unsigned avx_vnni = 1U << 4;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return (leaf.eax1 & avx_vnni) != 0 ? "avx2_vnni" : "avx2";
  if (__builtin_cpu_supports("avx")) return "avx";
  return __builtin_cpu_supports("sse4.1") ? "sse41" : "sse2";
#elif defined(__ARM_FEATURE_SVE)
  return "sve";
#elif defined(__aarch64__)
  return "asimd";
#else
  return "generic";
#endif
}

std::string system_name() {
  utsname names{};
  std::string text = uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "unknown";
#if defined(__x86_64__)
  if (const std::string vendor = hypervisor(); !vendor.empty()) text += ", " + vendor;
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

std::vector<Cache> caches_of(std::span<const int> cpus) {
  static_cast<void>(benanza::cpus());  // reads the affinity before any thread is bound
  const Topology topology = load_topology();
  std::map<std::pair<int, const hwloc_obj*>, Cache> found;
  for (const int cpu : cpus) {
    for (auto* object = hwloc_get_pu_obj_by_os_index(topology.get(), static_cast<unsigned>(cpu)); object != nullptr;
         object = object->parent) {
      if (hwloc_obj_type_is_dcache(object->type) == 0) continue;
      auto& cache = found[{static_cast<int>(object->attr->cache.depth), object}];
      cache.level = static_cast<int>(object->attr->cache.depth);
      cache.size = {static_cast<double>(object->attr->cache.size)};
      cache.cpus.push_back(cpu);
    }
  }
  std::vector<Cache> result;
  for (auto& [key, cache] : found)
    if (cache.size.value > 0) result.push_back(std::move(cache));
  std::stable_sort(result.begin(), result.end(), [](const Cache& a, const Cache& b) {
    return std::pair(a.level, a.cpus) < std::pair(b.level, b.cpus);
  });
  return result;
}

Machine this_machine(int threads) {
  std::span<const int> cpus = benanza::cpus();
  if (threads > 0) cpus = cpus.first(std::min(cpus.size(), static_cast<std::size_t>(threads)));
  const Topology topology = load_topology();
  Machine machine{.device = device_name(topology.get()),
                  .isa = widest_isa(),
                  .cores = static_cast<int>(cpus.size()),
                  .affinity = joined(cpus),
                  .memory = {static_cast<double>(hwloc_get_root_obj(topology.get())->total_memory)},
                  .system = system_name()};
  std::map<int, Bytes> levels;
  for (const auto& cache : caches_of(cpus)) levels[cache.level] += cache.size;
  for (const auto& [level, total] : levels) machine.caches.push_back({level, total});
  return machine;
}

}  // namespace benanza::bench
