// SPDX-License-Identifier: Apache-2.0
// Converts the fields of operators to text and back: what signatures, JSON and reports write and the parser reads.
// There is one pair of functions per type of field; `for_each_set_field` finds the fields that have to be written.
#pragma once

#include <benanza/base/detail/inline_text.hpp>
#include <benanza/model/data_type.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/expression.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace benanza::detail {

/// An enumeration that has a function `enum_names(E)`, which returns the word for each enumerator, in order.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { enum_names(e)[0] } -> std::convertible_to<std::string_view>;
};

template <NamedEnum E>
[[nodiscard]] constexpr std::string_view enum_name(E e) {
  return enum_names(e)[static_cast<std::size_t>(e)];
}
template <NamedEnum E>
[[nodiscard]] constexpr std::optional<E> enum_from_name(std::string_view text) {
  const auto& names = enum_names(E{});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

// Classes rather than lambdas: a lambda would be compiled for each operator, these are compiled for each type of field.

/// Records where the fields of an operator are stored, in order.
struct FieldPlaces {
  std::array<const void*, 32> at{};
  std::size_t count = 0;

  template <class Field>
  constexpr void operator()(std::string_view, const Field& field) {
    at[count++] = &field;
  }
};

template <class Visit>
struct VisitSetField {
  Visit& visit;
  const FieldPlaces& defaults;
  std::size_t count = 0;

  template <class Field>
  constexpr void operator()(std::string_view key, const Field& field) {
    if (field != *static_cast<const Field*>(defaults.at[count++])) visit(key, field);
  }
};

/// Calls `visit(key, value)` for each field of an operator that is not at its default, in order.
template <class Op, class Visit>
constexpr void for_each_set_field(const Op& op, Visit&& visit) {
  const Op defaults{};
  FieldPlaces places;
  Op::fields(defaults, places);
  Op::fields(op, VisitSetField<std::remove_reference_t<Visit>>{visit, places});
}

// Writing.

inline void append_text(std::string& out, std::integral auto number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}
inline void append_text(std::string& out, bool truth) { out += truth ? '1' : '0'; }
/// The shortest text that reads back as the same number, without '+'.
inline void append_text(std::string& out, double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number == 0 ? 0.0 : number).ptr;
  std::copy_if(digits.data(), end, std::back_inserter(out), [](char c) { return c != '+'; });
}
inline void append_text(std::string& out, DataType type) { out += name(type); }
inline void append_text(std::string& out, NamedEnum auto e) { out += enum_name(e); }
inline void append_text(std::string& out, const InlineText& text) { out += text.view(); }
template <std::size_t N>
void append_text(std::string& out, const InlineInts<N>& list) {
  if (list.empty()) out += "none";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += 'x';
    append_text(out, list[i]);
  }
}
template <class T>
void append_text(std::string& out, const std::optional<T>& value) {
  if (value) append_text(out, *value);
  else out += "none";
}
/// `bias`, `relu`, `clip:0:6`, `add` (a tensor of the result's own shape), `mul:channel`, `mul:1x64x1x1`,
/// `sub:1x1:swapped`.
inline void append_text(std::string& out, const PostOp& op) {
  if (op == bias) {
    out += "bias";
    return;
  }
  out += enum_name(op.fn);
  if (is_binary(op.fn)) {
    if (op.channel) out += ":channel";
    else if (!op.shape.empty()) append_text(out += ':', op.shape);
    if (op.swapped) out += ":swapped";
  } else if (op.alpha != 0 || op.beta != 0) {
    append_text(out += ':', op.alpha);
    if (op.beta != 0) append_text(out += ':', op.beta);
  }
}
inline void append_text(std::string& out, const Epilogue& post) {
  if (post.empty()) out += "none";
  for (std::size_t i = 0; i < post.size(); ++i) {
    if (i > 0) out += ',';
    append_text(out, post[i]);
  }
}
/// `f32` (all dimensions), `f32:1x768`.
inline void append_text(std::string& out, const ExpressionInput& input) {
  append_text(out, input.type);
  if (!input.shape.empty()) append_text(out += ':', input.shape);
}
inline constexpr std::string_view choice_word = "where", conversion_word = "cast", reduction_prefix = "row_";
/// `exp:2`, `clip:2:0:6`, `sub:0:3`, `where:0:1:2`, `cast:2:f16`, `row_sum:4`.
inline void append_text(std::string& out, const ExpressionStep& step) {
  switch (step.kind) {
    case StepKind::function: out += enum_name(step.fn); break;
    case StepKind::choice: out += choice_word; break;
    case StepKind::conversion: out += conversion_word; break;
    case StepKind::reduction: (out += reduction_prefix) += enum_name(step.reduce); break;
  }
  for (std::size_t i = 0; i < step.operands(); ++i) append_text(out += ':', step.of[i]);
  if (step.kind == StepKind::conversion) append_text(out += ':', step.to);
  if (step.alpha != 0 || step.beta != 0) append_text(out += ':', step.alpha);
  if (step.beta != 0) append_text(out += ':', step.beta);
}
template <class T>
void append_text(std::string& out, const std::vector<T>& list) {
  if (list.empty()) out += "none";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    append_text(out, list[i]);
  }
}

// Reading. Each function takes all of `text`. It returns nothing on success, otherwise what was expected.

using Expected = std::optional<std::string_view>;

/// Splits off the text before the first `separator`.
[[nodiscard]] constexpr std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

inline Expected read_text(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return "a whole number";
  return std::nullopt;
}
inline Expected read_text(std::string_view text, bool& truth) {
  if (text != "0" && text != "1") return "0 or 1";
  truth = text == "1";
  return std::nullopt;
}
inline Expected read_text(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number != number) return "a number";
  return std::nullopt;
}
inline Expected read_text(std::string_view text, DataType& type) {
  const auto found = data_type_from_name(text);
  if (!found) return "an element type such as f32";
  type = *found;
  return std::nullopt;
}
template <NamedEnum E>
Expected read_text(std::string_view text, E& e) {
  const auto found = enum_from_name<E>(text);
  if (!found) return "one of this field's words";
  e = *found;
  return std::nullopt;
}
inline Expected read_text(std::string_view text, InlineText& word) {
  word = InlineText(text);
  if (text.empty() || word.view() != text) return "at most 48 of A-Za-z0-9_.-";
  return std::nullopt;
}
template <std::size_t N>
Expected read_text(std::string_view text, InlineInts<N>& list) {
  constexpr Expected sizes = "whole numbers joined by x";
  list = {};
  if (text == "none") return std::nullopt;
  while (true) {
    const bool last = text.find('x') == std::string_view::npos;
    std::int64_t number = 0;
    if (list.size() == N || read_text(take_until(text, 'x'), number)) return sizes;
    list.push_back(number);
    if (last) return std::nullopt;
  }
}
template <class T>
Expected read_text(std::string_view text, std::optional<T>& value) {
  value.reset();
  if (text == "none") return std::nullopt;
  return read_text(text, value.emplace());
}
inline Expected read_text(std::string_view text, PostOp& op) {
  op = {};
  if (text == "bias") {
    op = bias;
    return std::nullopt;
  }
  const auto fn = enum_from_name<ElementwiseFn>(take_until(text, ':'));
  if (!fn) return "steps such as bias,relu";
  op.fn = *fn;
  for (int word = 0; !text.empty(); ++word) {
    const std::string_view token = take_until(text, ':');
    if (!is_binary(op.fn)) {
      if (word > 1 || read_text(token, word == 0 ? op.alpha : op.beta)) return "at most two numbers after the function";
    } else if (token == "swapped" && !op.swapped) {
      op.swapped = true;
    } else if (token == "channel" && word == 0) {
      op.channel = true;
    } else if (word > 0 || read_text(token, op.shape) || op.shape.empty()) {
      return "channel, swapped or an operand's shape";
    }
  }
  return std::nullopt;
}
inline Expected read_text(std::string_view text, Epilogue& post) {
  post = {};
  if (text == "none") return std::nullopt;
  while (true) {
    const bool last = text.find(',') == std::string_view::npos;
    PostOp op;
    if (const auto expected = read_text(take_until(text, ','), op)) return expected;
    if (post.size() == Epilogue::capacity) return "at most eight steps";
    post.push_back(op);
    if (last) return std::nullopt;
  }
}
inline Expected read_text(std::string_view text, ExpressionInput& input) {
  input = {};
  const bool has_shape = text.find(':') != std::string_view::npos;
  if (const auto expected = read_text(take_until(text, ':'), input.type)) return expected;
  if (has_shape && (read_text(text, input.shape) || input.shape.empty())) return "the shape of an input";
  return std::nullopt;
}
inline Expected read_text(std::string_view text, ExpressionStep& step) {
  step = {};
  std::string_view word = take_until(text, ':');
  if (word == choice_word) {
    step.kind = StepKind::choice;
  } else if (word == conversion_word) {
    step.kind = StepKind::conversion;
  } else if (word.starts_with(reduction_prefix)) {
    step.kind = StepKind::reduction;
    const auto reduce = enum_from_name<op::ReduceFn>(word.substr(reduction_prefix.size()));
    if (!reduce) return "a reduction such as row_sum";
    step.reduce = *reduce;
  } else {
    const auto fn = enum_from_name<ElementwiseFn>(word);
    if (!fn) return "steps such as mul:0:1";
    step.fn = *fn;
  }
  for (std::size_t i = 0; i < step.operands(); ++i) {
    std::int64_t number = 0;
    if (read_text(take_until(text, ':'), number) || number < 0) return "the numbers of a step's operands";
    step.of[i] = static_cast<std::size_t>(number);
  }
  if (step.kind == StepKind::conversion) return read_text(text, step.to);
  if (!text.empty() && read_text(take_until(text, ':'), step.alpha)) return "at most two numbers behind the operands";
  if (!text.empty() && read_text(text, step.beta)) return "at most two numbers behind the operands";
  return std::nullopt;
}
template <class T>
Expected read_text(std::string_view text, std::vector<T>& list) {
  list.clear();
  if (text == "none") return std::nullopt;
  while (true) {
    const bool last = text.find(',') == std::string_view::npos;
    if (const auto expected = read_text(take_until(text, ','), list.emplace_back())) return expected;
    if (last) return std::nullopt;
  }
}

}  // namespace benanza::detail
