// SPDX-License-Identifier: Apache-2.0
// Writes and reads the signatures of all operators: the functions that model/layer_signature.hpp declares.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/error.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/model/detail/ask.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/op/ops.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace benanza {

namespace detail {

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
[[nodiscard]] Layer read_operator(SignatureReader& reader) {
  if constexpr (I == std::variant_size_v<Layer>) {
    reader.fail(0, reader.part(), "an operator such as Conv");
  } else {
    using Op = std::variant_alternative_t<I, Layer>;
    if (reader.part() == Op::kind) return Layer(std::in_place_index<I>, reader.template read<Op>());
    return read_operator<I + 1>(reader);
  }
}

}  // namespace detail

BENANZA_INLINE Layer parse_layer(std::string_view text) {
  detail::SignatureReader reader(text);
  return detail::read_operator(reader);
}

BENANZA_INLINE LayerSignature::LayerSignature() : LayerSignature(Layer{}) {}

BENANZA_INLINE LayerSignature::LayerSignature(const Layer& layer)
    : operator_(layer.index()),
      text_(detail::ask<std::string>(layer, [](const auto& op) { return detail::signature_text(op); })) {}

}  // namespace benanza
