// SPDX-License-Identifier: Apache-2.0
// LayerSignature: a layer as canonical text, `Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1/post=bias,relu`. It is the
// layer's identity and its key in results. It is not a hash: two signatures are equal exactly if every field that
// determines speed is equal. Kind and element type come first, then each field that is not at its default, in the
// operator's order. The text uses only `A-Za-z0-9_.,=:x/-`, so that a pasted name works as a --benchmark_filter.
#pragma once

#include <benanza/detail/field_text.hpp>
#include <benanza/error.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/op/ops.hpp>

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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
  std::size_t i = 0, j = 0;
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

/// Appends `/key=value`. Not a lambda, as in field_text.hpp.
struct FieldWriter {
  std::string& text;

  template <class Field>
  void operator()(std::string_view key, const Field& field) {
    if (key == "type") return;
    text += '/';
    text += key;
    append_text(text += '=', field);
  }
};

template <class Op>
[[nodiscard]] std::string signature_text(const Op& op) {
  std::string text(Op::kind);
  append_text(text += '/', op.type);
  for_each_set_field(op, FieldWriter{text});
  return text;
}

/// Parses a signature; every error gives the position.
class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) { next(); }

  [[nodiscard]] std::string_view part() const { return part_; }
  [[nodiscard]] bool done() const { return done_; }
  void next() {
    done_ = behind_ > text_.size();
    begin_ = std::min(behind_, text_.size());
    part_ = text_.substr(begin_, text_.find('/', begin_) - begin_);
    behind_ = begin_ + part_.size() + 1;
  }
  /// Throws: `found` is at character `offset` of the current part, counted from 1.
  [[noreturn]] void fail(std::size_t offset, std::string_view found, std::string_view expected) const {
    const auto shown = [](std::string_view from) {
      std::string result(from.substr(0, 200));
      for (char& c : result)
        if (c < ' ' || c > '~') c = '?';
      return result + (from.size() > 200 ? "..." : "");
    };
    throw InputError("signature '" + shown(text_) + "', character " + std::to_string(begin_ + offset + 1) + ": " +
                     (found.empty() ? "nothing" : "'" + shown(found) + "'") + ", expected " + std::string(expected));
  }
  template <class Op>
  [[nodiscard]] Op read() {
    Op op{};
    next();
    if (const auto expected = read_text(part_, op.type)) fail(0, part_, *expected);
    std::string seen;  // keys, each between slashes
    for (next(); !done_; next()) {
      std::string_view value = part_;
      const std::string_view key = take_until(value, '=');
      const std::size_t behind_key = key.size() + 1;
      bool known = false;
      Op::fields(op, [&](std::string_view name, auto& field) {
        if (name != key || key == "type") return;
        known = true;
        if (behind_key > part_.size()) fail(part_.size(), {}, "= and a value");
        if (const auto expected = read_text(value, field)) fail(behind_key, value, *expected);
      });
      if (!known) fail(0, key, "a field of " + std::string(Op::kind));
      const std::string marked = "/" + std::string(key) + "/";
      if (seen.find(marked) != std::string::npos) fail(0, key, "each field once");
      seen += marked;
    }
    if (!op.consistent()) {
      begin_ = 0;
      fail(0, Op::kind, "sizes that fit together");
    }
    static_cast<void>(cost(op));  // throws InputError if a count exceeds 64 bits
    return op;
  }

 private:
  std::string_view text_;
  std::string_view part_{};
  std::size_t begin_ = 0, behind_ = 0;
  bool done_ = false;
};

template <std::size_t I = 0>
[[nodiscard]] Layer read_layer(SignatureReader& reader) {
  if constexpr (I == std::variant_size_v<Layer>) {
    reader.fail(0, reader.part(), "an operator such as Conv");
  } else {
    using Op = std::variant_alternative_t<I, Layer>;
    if (reader.part() == Op::kind) return Layer(std::in_place_index<I>, reader.template read<Op>());
    return read_layer<I + 1>(reader);
  }
}

}  // namespace detail

/// The layer that a signature describes. Fields may be in any order, and fields at their default may be present. Throws
/// InputError that states what was found at which character and what was expected. This is a template, so that the
/// readers of all operators are compiled only where a signature is read: in other files they took a fifth of the
/// compile time.
template <std::convertible_to<std::string_view> Text>
[[nodiscard]] Layer parse_layer(const Text& text) {
  detail::SignatureReader reader(text);
  return detail::read_layer(reader);
}

/// Identity of a layer, in the order of suites and reports: operators in the order of the list of operators, then by
/// text in natural order.
class LayerSignature {
 public:
  static constexpr int version = signature_version;

  LayerSignature() : LayerSignature(Layer{}) {}
  explicit LayerSignature(const Layer& layer)
      : operator_(layer.index()),
        text_(detail::ask<std::string>(layer, [](const auto& op) { return detail::signature_text(op); })) {}
  /// Canonical for any spelling of `text`. Throws as `parse_layer` does.
  template <std::convertible_to<std::string_view> Text>
  [[nodiscard]] static LayerSignature parse(const Text& text) {
    return LayerSignature(parse_layer(text));
  }

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
