// SPDX-License-Identifier: Apache-2.0
// CounterHost: the half of CUPTI's Range Profiler API that needs no device: the metrics that a chip offers, the
// configuration that collects some of them, and the values that a device's counter image contains.
#pragma once

#include "counters.hpp"
#include "cupti.hpp"
#include <benanza/plan/backend.hpp>

#include <cupti_profiler_host.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::cuda {

class CounterHost {
 public:
  CounterHost(const CounterHost&) = delete;
  CounterHost& operator=(const CounterHost&) = delete;
  ~CounterHost();

  /// `chip` is CUPTI's name for it (GH100). `availability` is the device's image of its counters; if empty, all
  /// counters of the chip are assumed.
  [[nodiscard]] static std::variant<std::unique_ptr<CounterHost>, Unsupported> open(
      std::string chip, std::vector<std::uint8_t> availability = {});

  /// The chip's metrics, without roll-up.
  [[nodiscard]] std::variant<std::vector<std::string>, Unsupported> offered() const;
  /// The configuration that collects these counters. May be called once per host.
  [[nodiscard]] std::variant<std::vector<std::uint8_t>, Unsupported> configuration(
      std::span<const Counter> counters) const;
  /// The number of times that a kernel is replayed for a configuration.
  [[nodiscard]] std::variant<std::size_t, Unsupported> passes(std::span<std::uint8_t> configuration) const;
  /// The values of a range, one for each counter.
  [[nodiscard]] std::variant<std::vector<double>, Unsupported> values(std::span<const std::uint8_t> image,
                                                                      std::size_t range,
                                                                      std::span<const Counter> counters) const;

 private:
  struct Calls;
  CounterHost(const Calls& calls, std::string chip, std::vector<std::uint8_t> availability)
      : calls_(calls), chip_(std::move(chip)), availability_(std::move(availability)) {}
  /// Null if CUPTI is missing or too old; `why` says which.
  [[nodiscard]] static const Calls* calls_of_cupti(std::string& why);

  const Calls& calls_;
  std::string chip_;  ///< CUPTI reads it and the image for the lifetime of the object
  std::vector<std::uint8_t> availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// The metric names in the form that CUPTI's calls take.
[[nodiscard]] std::vector<const char*> names_of(std::span<const Counter> counters);

}  // namespace benanza::cuda
