// SPDX-License-Identifier: Apache-2.0
// Scales the time of a layer from one device to another by the properties of both: wave scaling (Yu, Gao, Golikov,
// Pekhimenko: Habitat, A Runtime-Based Computational Performance Predictor for Deep Neural Network Training, USENIX ATC
// 2021, equations 1 to 3). A part `g` of a layer is bound by memory, and the rest by processors.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>
#include <benanza/results/device_record.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace benanza {

/// The rates of a device that scaling uses for one data type.
struct DeviceRates {
  BytesPerSecond bandwidth{};
  double processors = 1;  ///< multiprocessors; 1 for a CPU
  double rate = 0;        ///< the clock in Hz; for a CPU its measured peak in FLOP/s
  FlopsPerSecond peak{};  ///< for the ridge of the roofline

  /// FLOPs per byte above which arithmetic takes longer than memory.
  [[nodiscard]] double ridge() const { return peak.value / bandwidth.value; }
};

/// The share of a layer's time that memory determines, g: 1 without arithmetic, 1/2 at the ridge of the target, towards
/// 0 beyond it. `intensity` and `ridge` are in FLOPs per byte.
[[nodiscard]] inline double memory_weight(double intensity, double ridge) {
  return intensity < ridge ? 1 - intensity / (2 * ridge) : ridge / (2 * intensity);
}

/// T_d / T_o = (D_o/D_d)^g (S_o/S_d C_o/C_d)^(1-g), for a layer of many waves. With a fixed weight, it falls with each
/// rate of the target. The weight of a target is not fixed: a higher clock moves its ridge, so that memory determines
/// more of the time, and if the target is faster than the origin in arithmetic by more than e times what it is in
/// memory, the predicted time rises. In the same way, it may rise with the bandwidth.
[[nodiscard]] inline double large_wave_ratio(const DeviceRates& from, const DeviceRates& to, double weight) {
  return std::pow(from.bandwidth.value / to.bandwidth.value, weight) *
         std::pow(from.processors * from.rate / (to.processors * to.rate), 1 - weight);
}

/// T_d / T_o = ceil(B/W_d) / ceil(B/W_o) (D_o/D_d W_d/W_o)^g (C_o/C_d)^(1-g), for a kernel of B blocks of which W run
/// at once on each device: multiprocessors times blocks on each of them.
[[nodiscard]] inline double wave_ratio(const DeviceRates& from, const DeviceRates& to, double weight,
                                       std::int64_t blocks, std::int64_t wave_from, std::int64_t wave_to) {
  const auto waves = [blocks](std::int64_t wave) { return static_cast<double>((blocks + wave - 1) / wave); };
  const double size = static_cast<double>(wave_to) / static_cast<double>(wave_from);
  return waves(wave_to) / waves(wave_from) * std::pow(from.bandwidth.value / to.bandwidth.value * size, weight) *
         std::pow(from.rate / to.rate, 1 - weight);
}

/// The rates of both devices of a prediction for a type, or why the formulas have no basis.
struct RatesOfBoth {
  std::optional<DeviceRates> from{}, to{};
  std::string reason{};  ///< empty if both are there
};

namespace detail {

inline DeviceRates rates_of_accelerator(const DeviceRecord& record, FlopsPerSecond peak) {
  return {.bandwidth = record.best_known_bandwidth(),
          .processors = static_cast<double>(record.processors->count),
          .rate = record.clock()->hz,
          .peak = peak};
}

inline std::optional<FlopsPerSecond> peak_for_ridge(const DeviceRecord& record, DataType type) {
  if (const auto peak = record.peak(type)) return peak;
  const auto declared = record.ceilings.peaks.find(type);
  if (declared == record.ceilings.peaks.end()) return std::nullopt;
  return declared->second;
}

/// Why a CPU has no basis. A vendor's peak assumes that all cores run at the highest clock of a single core. How far
/// all cores together stay below it differs too much between CPUs for a prediction.
inline std::string not_measured(const DeviceRecord& record, const std::string& what) {
  return "no " + what + " was measured on " + record.device +
         ": CPUs do not reach their declared figures, so results of it (--target-results) or `measured` in its record "
         "are needed";
}

}  // namespace detail

/// Accelerators scale by multiprocessors and clocks, CPUs by measured peaks; neither scales to the other. A record
/// without processors is neither.
[[nodiscard]] inline RatesOfBoth rates_of(const DeviceRecord& from, const DeviceRecord& to, DataType type) {
  RatesOfBoth rates;
  for (const auto* record : {&from, &to})
    if (!record->processors) {
      rates.reason = "the record of " + record->device + " has no processors";
      return rates;
    }
  if (from.accelerator() != to.accelerator()) {
    rates.reason = "no formula leads from a CPU to an accelerator or back";
    return rates;
  }
  const std::string name_of_type(name(type));
  for (const auto* record : {&from, &to}) {
    auto& made = record == &from ? rates.from : rates.to;
    if (from.accelerator()) {
      const auto peak = detail::peak_for_ridge(*record, type);
      if (!record->clock()) rates.reason = "the record of " + record->device + " has no clock";
      else if (!peak) rates.reason = "the record of " + record->device + " has no peak of " + name_of_type;
      else made = detail::rates_of_accelerator(*record, *peak);
    } else if (const auto peak = record->measured_peaks.find(type); peak == record->measured_peaks.end()) {
      rates.reason = detail::not_measured(*record, "peak of " + name_of_type);
    } else if (!record->measured_bandwidth) {
      rates.reason = detail::not_measured(*record, "bandwidth");
    } else {
      made = DeviceRates{
          .bandwidth = record->best_known_bandwidth(), .rate = peak->second.value, .peak = {peak->second.value}};
    }
    if (!made) return rates;
  }
  return rates;
}

}  // namespace benanza
