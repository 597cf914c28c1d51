// SPDX-License-Identifier: Apache-2.0
// Prediction: the time of a model on a device, from rows that were measured on another: layer by layer and in total,
// with the method and an interval of every figure. A predicted time has a status of its own: it is not a row, enters no
// database and no rung, and no assertion uses it. `predict` (make_prediction.hpp) makes it.
#pragma once

#include <benanza/model/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// In order of trust.
enum class PredictionMethod : std::uint8_t {
  measured,        ///< a row of the target itself: not predicted
  database_ratio,  ///< by the nearest layers that were measured on both devices
  wave,            ///< by the geometry of the kernels that ran
  large_wave,      ///< by FLOPs and bytes
  no_basis         ///< no time is given
};
inline constexpr std::size_t prediction_method_count = 5;
[[nodiscard]] constexpr std::array<std::string_view, prediction_method_count> enum_names(PredictionMethod) {
  return {"measured", "database ratio", "wave", "large wave", "no basis"};
}

/// A time, and the limits between which it lies with a probability of 90 %.
struct PredictedTime {
  Seconds time{}, low{}, high{};
  PredictedTime& operator+=(const PredictedTime& other) {
    time += other.time;
    low += other.low;
    high += other.high;
    return *this;
  }
  friend PredictedTime operator*(const PredictedTime& a, double factor) {
    return {a.time * factor, a.low * factor, a.high * factor};
  }
};

/// A unique layer of the model.
struct PredictedLayer {
  std::string signature{};
  std::int64_t count = 0;           ///< occurrences, times the passes of enclosing loops
  std::string node{};               ///< the first
  std::optional<Seconds> origin{};  ///< one call, measured; empty: the origin has no row of it
  PredictionMethod method = PredictionMethod::no_basis;
  std::optional<PredictedTime> time{};  ///< one call; empty: no basis
  std::string reason{};                 ///< why no better method has a basis
  Seconds floor{};                      ///< one call on the target
  bool raised = false;                  ///< the method gave less than the floor

  [[nodiscard]] std::optional<Seconds> total() const {
    if (!time) return std::nullopt;
    return time->time * static_cast<double>(count);
  }
};

/// A model on one target.
struct Prediction {
  std::string model{}, file{};
  std::int64_t batch = 1;
  std::string target{};                  ///< the device
  std::string record{};                  ///< its file; empty if made from measured results
  std::string clocks{};                  ///< clocks in the formulas: `boost 1530 MHz to base 585 MHz`; empty if none
  std::optional<double> price{};         ///< price of the target per hour, in the user's currency
  Seconds origin_time{};                 ///< sum over the layers for which the origin has rows
  PredictedTime total{};                 ///< sum over the layers that have a basis
  std::vector<PredictedLayer> layers{};  ///< by share of the time; those without a basis last
  std::array<std::int64_t, prediction_method_count> count{};  ///< occurrences by method
  std::array<Seconds, prediction_method_count> time{};
  std::int64_t raised = 0;  ///< occurrences whose prediction was raised to the floor

  [[nodiscard]] std::int64_t count_of(PredictionMethod method) const { return count[static_cast<std::size_t>(method)]; }
  [[nodiscard]] Seconds time_of(PredictionMethod method) const { return time[static_cast<std::size_t>(method)]; }
  /// Whether a layer has no basis, so that the total lacks it.
  [[nodiscard]] bool partial() const { return count_of(PredictionMethod::no_basis) > 0; }
  /// Items per second; empty if the total is partial.
  [[nodiscard]] std::optional<double> throughput() const {
    if (partial() || !(total.time.value > 0)) return std::nullopt;
    return static_cast<double>(batch) / total.time.value;
  }
  /// Items per unit of the currency.
  [[nodiscard]] std::optional<double> throughput_per_cost() const {
    const auto items = throughput();
    if (!items || !price) return std::nullopt;
    return *items * 3600 / *price;
  }
};

/// A model on all targets.
struct PredictedModel {
  std::string model{}, file{};
  std::int64_t batch = 1;
  std::string origin{};             ///< the device that was measured
  Seconds origin_time{};            ///< time of the same layers there, without those for which it has no row
  std::int64_t origin_missing = 0;  ///< occurrences for which it has no row
  std::vector<Prediction> targets{};
};

}  // namespace benanza
