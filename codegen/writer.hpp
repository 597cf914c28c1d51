// SPDX-License-Identifier: Apache-2.0
// Writer: values as C++ source text. One `append_code` for each type of field that operators have, as
// base/detail/field_text.hpp has one `append_text`; text from a model enters the code only through `as_comment` and
// `as_word`.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/layer_set.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::codegen {

/// Text for the rest of a `//` line: characters other than printable ASCII, backslashes, and a `?` that follows a `?`
/// (trigraphs) become `_`. Long text is truncated.
[[nodiscard]] inline std::string as_comment(std::string_view text) {
  constexpr std::size_t longest = 400;
  std::string result;
  for (char c : text.substr(0, longest)) {
    const bool plain = c >= ' ' && c <= '~' && c != '\\' && !(c == '?' && result.ends_with('?'));
    result += plain ? c : '_';
  }
  if (text.size() > longest) result += "...";
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

/// Text that is safe in a string literal or a file name.
[[nodiscard]] inline std::string as_word(std::string_view text) {
  std::string result;
  for (char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    result += plain ? c : '_';
  }
  return result;
}

/// `x3 single, x1 fused`; for a layer of neither form, the number of groups of which it is a part: `x2 part`.
[[nodiscard]] inline std::string occurrences(const Users& user) {
  std::string text;
  const auto append = [&](std::int64_t count, std::string_view form) {
    if (count == 0) return;
    text += (text.empty() ? "x" : ", x") + std::to_string(count) + " " + std::string(form);
  };
  append(user.count, "single");
  append(user.fused, "fused");
  if (text.empty()) append(user.parts, "part");
  return text;
}

/// `GatherNd` becomes `gather_nd`.
[[nodiscard]] inline std::string snake_case(std::string_view kind) {
  std::string result;
  for (char c : kind) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !result.empty()) result += '_';
    result += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// A type's name as it is written inside namespace benanza: `op::PoolMode`. Both compilers end it with `;` or `]`.
template <class T>
[[nodiscard]] constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  constexpr std::string_view outer = "benanza::";
  if (text.starts_with(outer)) text.remove_prefix(outer.size());
  return text;
}
static_assert(type_name<DataType>() == "DataType");

inline void append_code(std::string& out, std::int64_t number) { detail::append_text(out, number); }
inline void append_code(std::string& out, bool truth) { out += truth ? "true" : "false"; }
/// Shortest text that reads back as the same number, on any machine.
inline void append_code(std::string& out, double number) {
  if (std::isinf(number)) out += number < 0 ? "-infinity" : "infinity";
  else detail::append_text(out, number);
}
inline void append_code(std::string& out, DataType type) {
  out += "DataType::";
  out += type == DataType::boolean ? "boolean" : name(type);  // the only name that is a keyword
}
/// The code needs `using enum ElementwiseFn`.
inline void append_code(std::string& out, ElementwiseFn fn) { out += detail::enum_name(fn); }
template <detail::NamedEnum E>
void append_code(std::string& out, E e) {
  out += type_name<E>();
  out += "::";
  out += detail::enum_name(e);
}
template <class T>
void append_code(std::string& out, const std::optional<T>& value) {
  if (value) append_code(out, *value);
  else out += "{}";
}
template <std::size_t N>
void append_code(std::string& out, const InlineInts<N>& list) {
  out += '{';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    append_code(out, list[i]);
  }
  out += '}';
}
inline void append_code(std::string& out, const InlineText& text) { out += '"' + std::string(text.view()) + '"'; }
/// `bias`, `relu`, `{clip, 0, 6}`, `add`, `per_channel(mul)`, `{mul, {1, 64, 1, 1}}`.
inline void append_code(std::string& out, const PostOp& op) {
  const std::string fn(detail::enum_name(op.fn));
  if (op == bias) {
    out += "bias";
  } else if (is_binary(op.fn) && op.channel) {
    out += "per_channel(" + fn + (op.swapped ? ", true)" : ")");
  } else if (is_binary(op.fn) && (op.swapped || !op.shape.empty())) {
    out += '{' + fn + ", ";
    if (op.shape.size() < 2) out += "TensorShape";  // {64} alone would be a number, {} ambiguous
    append_code(out, op.shape);
    out += op.swapped ? ", true}" : "}";
  } else if (!is_binary(op.fn) && (op.alpha != 0 || op.beta != 0)) {
    append_code(out += '{' + fn + ", ", op.alpha);
    if (op.beta != 0) append_code(out += ", ", op.beta);
    out += '}';
  } else {
    out += fn;
  }
}
inline void append_code(std::string& out, const Epilogue& post) {
  out += '{';
  for (std::size_t i = 0; i < post.size(); ++i) {
    if (i > 0) out += ", ";
    append_code(out, post[i]);
  }
  out += '}';
}

inline void append_code(std::string& out, const ExpressionInput& input) {
  append_code(out += "ExpressionInput{", input.type);
  if (!input.shape.empty()) append_code(out += ", ", input.shape);
  out += '}';
}
/// `ExpressionStep{.fn = add, .of = {0, 1}}`: the fields that the kind of step has.
inline void append_code(std::string& out, const ExpressionStep& step) {
  append_code(out += "ExpressionStep{.kind = ", step.kind);
  if (step.kind == StepKind::function) append_code(out += ", .fn = ", step.fn);
  if (step.kind == StepKind::reduction) append_code(out += ", .reduce = ", step.reduce);
  if (step.kind == StepKind::conversion) append_code(out += ", .to = ", step.to);
  out += ", .of = {";
  for (std::size_t i = 0; i < step.operands(); ++i) {
    if (i > 0) out += ", ";
    detail::append_text(out, step.of[i]);
  }
  out += '}';
  if (step.alpha != 0) append_code(out += ", .alpha = ", step.alpha);
  if (step.beta != 0) append_code(out += ", .beta = ", step.beta);
  out += '}';
}
template <class T>
void append_code(std::string& out, const std::vector<T>& list) {
  out += '{';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    append_code(out, list[i]);
  }
  out += '}';
}

/// `{.x = {4096}, .fn = relu}`.
template <class Op>
[[nodiscard]] std::string initializer(const Op& op) {
  std::string code = "{";
  detail::for_each_set_field(op, [&code](std::string_view key, const auto& value) {
    if (code.size() > 1) code += ", ";
    code += '.';
    code += key;
    append_code(code += " = ", value);
  });
  return code + '}';
}

}  // namespace benanza::codegen
