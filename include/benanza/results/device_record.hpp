// SPDX-License-Identifier: Apache-2.0
// DeviceRecord: what a device consists of and how fast it may run: what a prediction needs to know about a device in
// addition to measured rows. A machine file (machine_file.hpp) declares it, each figure with its source:
//
//   "names": ["Tesla T4"],                     as the device names itself in results
//   "processors": { "kind": "SM", "count": 40, "lanes": { "f32": 64 }, "threads": 1024, "registers": 65536,
//                   "shared_bytes": 65536, "blocks": 16, "compute_capability": "7.5", "source": "..." },
//   "clocks": { "base": { "hz": 5.85e8, "source": "..." }, "boost": { "hz": 1.59e9, "source": "..." } },
//   "memory": { ..., "measured": { "bytes_per_s": 2.39e11, "source": "..." } }
//
// For a CPU `processors` has "kind": "core", "count", "isa" and "lanes", and a peak may have
// "measured": { "flops_per_s", "source" }.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>
#include <benanza/results/machine.hpp>
#include <benanza/results/results.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// base: guaranteed by the vendor; boost: the highest; load: what the device runs at under load, if a source gives it.
enum class ClockKind : std::uint8_t { base, boost, load };
[[nodiscard]] constexpr std::array<std::string_view, 3> enum_names(ClockKind) { return {"base", "boost", "load"}; }

/// A figure and its source.
struct SourcedFigure {
  double value = 0;
  std::string source{};
};

/// What one streaming multiprocessor holds at once.
struct SmLimits {
  int major = 0, minor = 0;  ///< compute capability
  std::int64_t threads = 0, registers = 0, shared_bytes = 0, blocks = 0;
};

struct Processors {
  bool accelerator = false;
  std::int64_t count = 0;                    ///< streaming multiprocessors, or cores
  std::map<DataType, std::int64_t> lanes{};  ///< multiply-adds of one of them per clock
  std::string isa{};                         ///< instruction set of cores
  std::optional<SmLimits> limits{};          ///< limits of multiprocessors
  std::string source{};
};

struct DeviceClock {
  ClockKind kind = ClockKind::base;
  double hz = 0;
};

struct DeviceRecord {
  std::string file{};  ///< empty if made from results
  std::string device{};
  std::vector<std::string> names{};  ///< as the device names itself in results
  std::optional<Processors> processors{};
  std::map<ClockKind, SourcedFigure> clocks{};
  SourcedFigure bandwidth{};                           ///< theoretical memory bandwidth, in bytes/s
  std::optional<SourcedFigure> measured_bandwidth{};   ///< bytes/s
  std::map<DataType, SourcedFigure> measured_peaks{};  ///< FLOP/s
  Ceilings ceilings{};                                 ///< for floors

  /// Whether results under this device name are of this device; `_` stands for a blank, as in the tables of 2019.
  [[nodiscard]] bool is_called(std::string_view name) const;
  [[nodiscard]] bool accelerator() const { return processors && processors->accelerator; }
  /// The clock that predictions use: under load, else base, else boost; empty if the record has none.
  [[nodiscard]] std::optional<DeviceClock> clock() const;
  /// 2 FLOPs per lane and clock; empty if the lanes of the type or the clock are not known.
  [[nodiscard]] std::optional<FlopsPerSecond> peak(DataType type) const;
  /// The measured bandwidth if a source has it, else the theoretical one.
  [[nodiscard]] BytesPerSecond best_known_bandwidth() const;
};

/// Reads a machine file. Throws InputError as `read_machine_file` does, and for an invalid part of those above.
[[nodiscard]] DeviceRecord read_device_record(const std::string& file);

/// The record of the machine that the results are from, with measured peaks and bandwidth at this many threads; for an
/// accelerator it has no clocks and limits. Throws InputError if no bandwidth of its memory was measured.
[[nodiscard]] DeviceRecord measured_record(const ResultDatabase& results, int threads);

}  // namespace benanza
