// SPDX-License-Identifier: Apache-2.0
// CounterHost: the half of CUPTI's Range Profiler API that needs no device: which metrics a chip offers, the
// configuration that collects some of them, and the values that a device's image of counters means.
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

  /// `chip` as CUPTI calls it (GH100). `availability`: the device's image of it; empty: all counters of the chip.
  [[nodiscard]] static std::variant<std::unique_ptr<CounterHost>, Unsupported> open(
      std::string chip, std::vector<std::uint8_t> availability = {});

  /// The chip's metrics, without roll-up.
  [[nodiscard]] std::variant<std::vector<std::string>, Unsupported> offered() const;
  /// The configuration that collects these. Once in the life of a host.
  [[nodiscard]] std::variant<std::vector<std::uint8_t>, Unsupported> configuration(
      std::span<const Counter> counters) const;
  /// How often a kernel is replayed for a configuration.
  [[nodiscard]] std::variant<std::size_t, Unsupported> passes(std::span<std::uint8_t> configuration) const;
  /// The values of a range, one for each counter.
  [[nodiscard]] std::variant<std::vector<double>, Unsupported> values(std::span<const std::uint8_t> image,
                                                                      std::size_t range,
                                                                      std::span<const Counter> counters) const;

 private:
  struct Calls;
  CounterHost(const Calls& calls, std::string chip, std::vector<std::uint8_t> availability)
      : calls_(calls), chip_(std::move(chip)), availability_(std::move(availability)) {}
  /// Null where CUPTI is missing or too old; `why` says which.
  [[nodiscard]] static const Calls* calls_of_cupti(std::string& why);

  const Calls& calls_;
  std::string chip_;  ///< CUPTI reads it and the image as long as the object lives
  std::vector<std::uint8_t> availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// The metrics as the calls of CUPTI want them.
[[nodiscard]] std::vector<const char*> names_of(std::span<const Counter> counters);

}  // namespace benanza::cuda
