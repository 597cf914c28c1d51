// SPDX-License-Identifier: Apache-2.0
// Bound: one rung of a model's ladder, and the assertion on it that an engine's unit test makes. The matchers for
// Catch2 and GoogleTest (catch2.hpp, gtest.hpp) are thin wrappers of `Within`.
#pragma once

#include <benanza/model/units.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// The ladder, from the lowest rung to the highest (docs/measuring.md, "The ladder"). `roofline_memory` is an
/// indication, not a bound.
enum class RungName : std::uint8_t {
  model_floor,
  roofline_parallel,
  roofline,
  library_fused_parallel,
  library_parallel,
  library_fused,
  library,
  library_fused_resident,
  library_resident,
  roofline_memory
};
[[nodiscard]] constexpr std::array<std::string_view, 10> enum_names(RungName) {
  return {"model_floor",      "roofline_parallel", "roofline", "library_fused_parallel",
          "library_parallel", "library_fused",     "library",  "library_fused_resident",
          "library_resident", "roofline_memory"};
}
inline constexpr std::size_t rung_count = 10;
/// The rungs that are made of measured times; the others are analytic.
inline constexpr std::array measured_rungs{RungName::library_fused_parallel, RungName::library_parallel,
                                           RungName::library_fused,          RungName::library,
                                           RungName::library_fused_resident, RungName::library_resident};

struct Bound {
  std::string model{};
  RungName rung = RungName::library_fused;
  std::optional<Seconds> latency{};    ///< empty if the rung cannot be given
  std::vector<std::string> missing{};  ///< signatures without a result; if not empty, the bound is partial
  std::string doubt{};                 ///< why it is provisional (`Rung::doubt`); empty if it is not
  bool take_provisional = false;       ///< whether an assertion takes it although it is provisional

  [[nodiscard]] bool partial() const { return !missing.empty() || !latency; }
  [[nodiscard]] bool usable() const { return !partial() && (doubt.empty() || take_provisional); }
};

/// `is_within(1.2).of(bound)`: true for a latency of at most 1.2 times the bound; false for any latency while the bound
/// is partial, or provisional unless `take_provisional` is set.
class Within {
 public:
  Within(double factor, Bound bound) : factor_(factor), bound_(std::move(bound)) {}

  [[nodiscard]] bool holds(Seconds latency) const {
    return bound_.usable() && latency.value <= factor_ * bound_.latency->value;
  }
  /// The assertion in words, and for a partial bound what to do about it.
  [[nodiscard]] std::string describe() const {
    const std::string name =
        std::string(enum_names(bound_.rung)[static_cast<std::size_t>(bound_.rung)]) + " of " + bound_.model;
    if (bound_.usable())
      return "is within " + number(factor_) + " times " + number(bound_.latency->value * 1e3) + " ms, the " + name;
    if (!bound_.partial())
      return "is within " + number(factor_) + " times the " + name +
             ", but that bound is provisional: " + bound_.doubt +
             ". Run `benanza bound` on the model again while the machine is idle";
    std::string text = "is within " + number(factor_) + " times the " + name + ", but that bound is partial: ";
    text += bound_.missing.empty()
                ? "it was never measured"
                : (bound_.missing.size() == 1
                       ? "1 result is missing: "
                       : std::to_string(bound_.missing.size()) + " results are missing, the first: ") +
                      bound_.missing.front();
    return text + ". Run `benanza bound` on the model on this machine, or add the missing results";
  }

 private:
  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }
  double factor_;
  Bound bound_;
};

}  // namespace benanza
