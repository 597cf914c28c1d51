// SPDX-License-Identifier: Apache-2.0
// LayerSignature: a layer as canonical text, `Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=bias,relu`. It is the
// layer's identity and its key in results. It is not a hash: two signatures are equal exactly if every field that
// determines speed is equal. Kind and element type come first, then each field that is not at its default, in the
// operator's order. The text uses only `A-Za-z0-9_.,=:x/-`, so that a pasted name works as a --benchmark_filter.
#pragma once

#include <benanza/op/ops.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace benanza {

/// Version of the grammar, written into every file that holds signatures.
inline constexpr int signature_version = 1;

namespace detail {

/// Order in which digits compare as numbers: `x=9` before `x=10`. Different texts are never equal.
[[nodiscard]] constexpr std::strong_ordering natural_order(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = [&](std::string_view text, std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && is_digit(text[end])) ++end;
    while (from < end && text[from] == '0') ++from;
    return text.substr(from, end - from);
  };
  std::size_t i = 0;  // where they begin to differ, or where the number begins in which they do
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  while (i > 0 && is_digit(a[i - 1])) --i;
  std::size_t j = i;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] <=> b[j];
      ++i, ++j;
      continue;
    }
    const auto left = digits(a, i), right = digits(b, j);
    if (left.size() != right.size()) return left.size() <=> right.size();
    if (left != right) return left <=> right;
    while (i < a.size() && is_digit(a[i])) ++i;
    while (j < b.size() && is_digit(b[j])) ++j;
  }
  if (a.size() - i != b.size() - j) return a.size() - i <=> b.size() - j;
  return a <=> b;
}

}  // namespace detail

/// The layer that a signature describes. Fields may be in any order, and fields at their default may be present. Throws
/// InputError that states what was found at which character and what was expected.
[[nodiscard]] Layer parse_layer(std::string_view text);

/// Identity of a layer, in the order of suites and reports: operators in the order of the list of operators, then by
/// text in natural order.
class LayerSignature {
 public:
  static constexpr int version = signature_version;

  LayerSignature();
  explicit LayerSignature(const Layer& layer);
  /// Canonical for any spelling of `text`. Throws as `parse_layer` does.
  [[nodiscard]] static LayerSignature parse(std::string_view text) { return LayerSignature(parse_layer(text)); }

  [[nodiscard]] const std::string& text() const { return text_; }
  bool operator==(const LayerSignature&) const = default;
  std::strong_ordering operator<=>(const LayerSignature& other) const {
    if (operator_ != other.operator_) return operator_ <=> other.operator_;
    return detail::natural_order(text_, other.text_);
  }

 private:
  std::size_t operator_;
  std::string text_;
};

[[nodiscard]] inline LayerSignature signature(const Layer& layer) { return LayerSignature(layer); }

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/layer_signature_inl.hpp>
#endif
