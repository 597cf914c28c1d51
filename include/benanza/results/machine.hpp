// SPDX-License-Identifier: Apache-2.0
// Machine: the hardware that was measured on; Ceilings: what was measured about it. A machine's identity is its
// processor, caches, affinity and hypervisor, and the settings that change the libraries' kernels. The size of the
// memory is a condition, which may change while a virtual machine runs. Measured peaks and clocks are rows, not
// identity, and thread counts belong to algorithms.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

/// One cache level over the usable cores.
struct CacheLevel {
  int level = 1;
  Bytes total{};  ///< sum over all instances that the usable cores reach
  bool operator==(const CacheLevel&) const = default;
};

/// One fact of a machine's identity, such as `stepping` and `1`.
struct MachineFact {
  std::string name{}, value{};
  bool operator==(const MachineFact&) const = default;
};

struct Machine {
  std::string device{};              ///< as the hardware names itself
  std::string isa{};                 ///< widest vector extension the libraries may use: avx2, avx512_core_amx ...; for
                                     ///< an accelerator its architecture and processors: sm_90,sms=132
  int cores = 1;                     ///< usable: one thread for each physical core of one NUMA node; 1 for a device
  std::string affinity{};            ///< the processors: `0,1`; for a device its UUID
  std::vector<CacheLevel> caches{};  ///< innermost first
  Bytes memory{};
  std::string system{};  ///< operating system, hypervisor if known
  std::string driver{};  ///< accelerator driver, with its CUDA version; empty: the processor itself
  /// The processor by its own numbers, in the words of /proc/cpuinfo, and who runs it: `none` or `KVM`. Empty: not
  /// stated, as by Benanza before these were recorded, and for an accelerator.
  std::string family{}, model{}, stepping{}, microcode{}, hypervisor{};
  std::string
      settings{};  ///< environment variables that change kernels (plan/kernel_settings.hpp); empty: none was set
  std::map<std::string, std::string>
      state{};  ///< an accelerator's clocks, power, modes ..., `nice`; recorded, not part of the identity

  /// Calls run on an accelerator that one thread of the processor drives.
  [[nodiscard]] bool is_device() const { return !driver.empty(); }

  /// The memory size in GiB, rounded up to a power of two: tells machines of one name apart in a text.
  [[nodiscard]] std::int64_t most_gib() const {
    std::int64_t most = 1;
    while (static_cast<double>(most) * (1 << 30) < memory.value) most *= 2;
    return most;
  }

  /// The identity, without facts that are not stated.
  [[nodiscard]] std::vector<MachineFact> facts() const {
    std::vector<MachineFact> all{
        {"device", device}, {"isa", isa}, {"cores", std::to_string(cores)}, {"cpus", affinity}};
    for (const auto& cache : caches)
      all.push_back({"L" + std::to_string(cache.level), std::to_string(static_cast<std::int64_t>(cache.total.value))});
    for (const auto& [name, value] :
         {std::pair("family", &family), std::pair("model", &model), std::pair("stepping", &stepping),
          std::pair("microcode", &microcode), std::pair("hypervisor", &hypervisor), std::pair("driver", &driver),
          std::pair("settings", &settings)})
      if (!value->empty()) all.push_back({name, *value});
    return all;
  }
  /// Canonical text of the identity: device, instruction set, and the other facts by name.
  [[nodiscard]] std::string id() const {
    std::string text;
    for (const auto& fact : facts()) {
      if (!text.empty()) text += '|';
      text += fact.name == "device" || fact.name == "isa" ? fact.value : fact.name + "=" + fact.value;
    }
    return text;
  }
  /// Whether rows of older versions lack this fact.
  [[nodiscard]] static bool may_be_unstated(std::string_view fact) {
    return fact == "family" || fact == "model" || fact == "stepping" || fact == "microcode" || fact == "hypervisor";
  }
  /// Names of the facts in which another machine differs from this one; empty: both are the same machine, and their
  /// rows share totals. What one of the two does not state about its processor is not compared, so that rows of older
  /// versions count.
  [[nodiscard]] std::vector<std::string> differences(const Machine& other) const {
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (auto& fact : facts()) values[fact.name].first = std::move(fact.value);
    for (auto& fact : other.facts()) values[fact.name].second = std::move(fact.value);
    std::vector<std::string> names;
    for (const auto& [name, both] : values) {
      if (may_be_unstated(name) && (both.first.empty() || both.second.empty())) continue;
      if (both.first != both.second) names.push_back(name);
    }
    return names;
  }
  bool operator==(const Machine&) const = default;
};

/// Bandwidth behind a set of caches: data that does not fit into them has to cross it.
struct BandwidthLevel {
  std::string name{};          ///< where the data comes from: L2, L3, memory
  Bytes in_front{};            ///< C: all caches up to this level of every core that may hold the data
  BytesPerSecond bandwidth{};  ///< best seen over read, write, copy and triad (docs/measuring.md, "Ceilings")
  std::string reached_by{};    ///< the row that has this bandwidth, as `CeilingRow::algorithm`
};

/// The ceilings at one thread count: running maxima, measured on the machine.
struct Ceilings {
  std::map<DataType, FlopsPerSecond> peaks{};
  std::map<DataType, std::string> reached_by{};  ///< the row that reached each peak, as `CeilingRow::algorithm`
  std::vector<BandwidthLevel> levels{};
  Seconds timer_floor{};
  Seconds round_trip{};  ///< usual time of a cache line between the threads; 0: one thread, or not measured

  /// max over levels of (max(0, R - C) + max(0, W - C)) / bandwidth: C bytes may be resident at the start, and C may be
  /// left dirty at the end. Zero if everything fits into the innermost caches.
  [[nodiscard]] Seconds memory_floor(Bytes read, Bytes written) const {
    Seconds floor{};
    for (const auto& level : levels) {
      const double crossing =
          std::max(0.0, read.value - level.in_front.value) + std::max(0.0, written.value - level.in_front.value);
      if (level.bandwidth.value > 0) floor = std::max(floor, Bytes{crossing} / level.bandwidth);
    }
    return floor;
  }
  /// FLOPs over the peak of their type; zero for a type whose peak was not measured (nothing is claimed).
  [[nodiscard]] Seconds arithmetic_floor(DataType type, Flops flops) const {
    const auto peak = peaks.find(type);
    return peak == peaks.end() || peak->second.value <= 0 ? Seconds{} : flops / peak->second;
  }
  /// The bandwidth of main memory; zero if there is none.
  [[nodiscard]] BytesPerSecond memory_bandwidth() const {
    return levels.empty() ? BytesPerSecond{} : levels.back().bandwidth;
  }
};

}  // namespace benanza
