// SPDX-License-Identifier: Apache-2.0
// LayerPool: lets equal layers share one object.
#pragma once

#include <benanza/detail/field_text.hpp>
#include <benanza/model/shared_layer.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace benanza::detail {

/// The hash of the fields of an operator.
class FieldHash {
 public:
  template <class Field>
  void operator()(std::string_view, const Field& field) {
    add(field);
  }
  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  template <class Field>
  requires(std::is_integral_v<Field> || std::is_enum_v<Field>) void add(Field field) {
    constexpr std::size_t multiplier = 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
    value_ = (value_ ^ static_cast<std::size_t>(field)) * multiplier;
    value_ ^= value_ >> 32U;
  }
  void add(double field) { add(std::hash<double>{}(field)); }
  void add(const InlineText& text) { add(std::hash<std::string_view>{}(text.view())); }
  template <std::size_t N>
  void add(const InlineInts<N>& list) {
    for (const auto each : list) add(each);
    add(list.size());
  }
  template <class Field>
  void add(const std::optional<Field>& field) {
    add(field.has_value());
    if (field) add(*field);
  }
  void add(const Epilogue& post) {
    for (const PostOp& each : post) {
      add(each.fn);
      add(each.alpha);
      add(each.beta);
      add(each.shape);
    }
  }
  std::size_t value_ = 0;
};

/// Lets equal layers share one object. It holds one copy of each; the layers that it returns may outlive it.
class LayerPool {
 public:
  /// The layer that is equal to this one, if there was one before.
  [[nodiscard]] SharedLayer shared(const SharedLayer& layer) { return find_or_add(layer); }
  [[nodiscard]] SharedLayer shared(const Layer& layer) { return find_or_add(layer); }

 private:
  [[nodiscard]] const SharedLayer& find_or_add(const auto& layer) {
    const std::size_t hash = hash_of(layer);
    const auto [first, last] = layers_.equal_range(hash);
    for (auto each = first; each != last; ++each)
      if (each->second == layer) return each->second;
    return layers_.emplace(hash, layer)->second;
  }
  [[nodiscard]] static std::size_t hash_of(const Layer& layer) {
    return ask<std::size_t>(layer, [&](const auto& op) {
      FieldHash hash;
      hash("", layer.index());
      std::decay_t<decltype(op)>::fields(op, hash);
      return hash.value();
    });
  }
  std::unordered_multimap<std::size_t, SharedLayer> layers_{};
};

}  // namespace benanza::detail
