// SPDX-License-Identifier: Apache-2.0
// Machine: the hardware that was measured on; Ceilings: what was measured about it. A machine's identity is hardware,
// instruction set, memory and affinity. Measured peaks and clocks are rows, not identity, and thread counts belong to
// algorithms.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace benanza {

/// One cache level over the usable cores.
struct CacheLevel {
  int level = 1;
  Bytes total{};  ///< sum over all instances that the usable cores reach
  bool operator==(const CacheLevel&) const = default;
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
  std::map<std::string, std::string>
      state{};  ///< clocks, power, modes ... of an accelerator; recorded, but not part of the identity

  /// Calls run on an accelerator that one thread of the processor drives.
  [[nodiscard]] bool is_device() const { return !driver.empty(); }

  /// The memory size in GiB, rounded up to a power of two, because it may change while a virtual machine runs.
  [[nodiscard]] std::int64_t most_gib() const {
    std::int64_t most = 1;
    while (static_cast<double>(most) * (1 << 30) < memory.value) most *= 2;
    return most;
  }

  /// Canonical text of the identity; rows of different ids never share a total.
  [[nodiscard]] std::string id() const {
    std::string text = device + "|" + isa + "|cores=" + std::to_string(cores) + "|cpus=" + affinity;
    for (const auto& cache : caches)
      text += "|L" + std::to_string(cache.level) + "=" + std::to_string(static_cast<std::int64_t>(cache.total.value));
    text += "|memory_gib<=" + std::to_string(most_gib());
    return driver.empty() ? text : text + "|driver=" + driver;
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
