// SPDX-License-Identifier: Apache-2.0
// CeilingQuantity: what a ceiling limits: the peak of a data type, the bandwidth of a memory, or a time. Its text is
// `Peak/f32`, `Bandwidth/L2` or `Timer/floor`; only this header reads and writes such texts.
#pragma once

#include <benanza/model/data_type.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace benanza {

struct CeilingQuantity {
  enum class Kind : std::uint8_t {
    bandwidth,  ///< bytes/s of a memory
    peak,       ///< FLOP/s of a data type
    timer       ///< s: the timer's floor; a round trip between threads; on a device, an empty kernel in a chain
  };
  Kind kind = Kind::timer;
  std::string of{};  ///< the memory (`L2`), the data type (`f32`), or what is timed (`floor`)

  [[nodiscard]] static CeilingQuantity bandwidth(std::string memory) { return {Kind::bandwidth, std::move(memory)}; }
  [[nodiscard]] static CeilingQuantity peak(DataType type) { return {Kind::peak, std::string(name(type))}; }
  [[nodiscard]] static CeilingQuantity timer(std::string what) { return {Kind::timer, std::move(what)}; }
  /// Empty if the text is not a quantity.
  [[nodiscard]] static std::optional<CeilingQuantity> parse(std::string_view text) {
    for (const Kind kind : {Kind::bandwidth, Kind::peak, Kind::timer})
      if (const std::string_view prefix = facts(kind).prefix; text.starts_with(prefix))
        return CeilingQuantity{kind, std::string(text.substr(prefix.size()))};
    return std::nullopt;
  }

  [[nodiscard]] std::string text() const { return std::string(facts(kind).prefix) + of; }
  /// A peak's data type; empty for other quantities, and for a type of another version of Benanza.
  [[nodiscard]] std::optional<DataType> type() const {
    return kind == Kind::peak ? data_type_from_name(of) : std::nullopt;
  }
  [[nodiscard]] std::string_view unit() const { return facts(kind).unit; }
  /// The key of its value in a results file; empty for a time, which is the row's own time there.
  [[nodiscard]] std::string_view rate_key() const { return facts(kind).rate_key; }
  /// In the order of their texts.
  auto operator<=>(const CeilingQuantity&) const = default;

 private:
  struct Facts {
    std::string_view prefix{}, unit{}, rate_key{};
  };
  [[nodiscard]] static constexpr Facts facts(Kind kind) {
    constexpr std::array<Facts, 3> all{
        {{"Bandwidth/", "B/s", "bytes_per_second"}, {"Peak/", "FLOP/s", "flops_per_second"}, {"Timer/", "s", ""}}};
    return all[static_cast<std::size_t>(kind)];
  }
};

}  // namespace benanza
