// SPDX-License-Identifier: Apache-2.0
#include "declared_inputs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <unordered_set>

namespace benanza::importer {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// False for `?`, `-1` and an empty text, which exporters write for an unknown size.
bool is_name(std::string_view symbol) { return std::any_of(symbol.begin(), symbol.end(), is_letter); }

Dim dim_of(const onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return {.size = dim.dim_value()};
  if (dim.has_dim_param() && is_name(dim.dim_param())) return {.symbol = dim.dim_param()};
  return {.anonymous = true};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<DeclaredInput> declared_inputs(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> variable;
  for (const auto& input : graph.input()) variable.insert(input.name());
  for (const auto& initializer : graph.initializer()) variable.erase(initializer.name());
  std::vector<DeclaredInput> inputs;
  std::set<std::string> taken;
  for (const auto& input : graph.input()) {
    if (!variable.contains(input.name())) continue;
    DeclaredInput& result = inputs.emplace_back(DeclaredInput{.proto = &input});
    if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) continue;
    result.dims.emplace();
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      result.dims->push_back(dim_of(dim));
      taken.insert(result.dims->back().symbol);
    }
  }
  for (auto& input : inputs)
    for (std::size_t i = 0; input.dims && i < input.dims->size(); ++i) {
      Dim& dim = (*input.dims)[i];
      if (!dim.anonymous) continue;
      dim.symbol = input.proto->name() + "." + std::to_string(i);
      while (!taken.insert(dim.symbol).second) dim.symbol += "_";
    }
  return inputs;
}

bool says_batch(std::string_view symbol) {
  const std::string name = lower(symbol);
  return name.find("batch") != std::string::npos || name == "bs" || name == "bsz" || name == "b";
}

bool says_other(std::string_view symbol) {
  constexpr std::array words{"audio", "box",   "channel", "edge",   "feature", "frame", "height", "length",
                             "node",  "pixel", "point",   "sample", "seq",     "time",  "token",  "width"};
  const std::string name = lower(symbol);
  return !says_batch(symbol) && std::any_of(words.begin(), words.end(),
                                            [&](const char* word) { return name.find(word) != std::string::npos; });
}

std::optional<Sum> as_sum(std::string_view symbol) {
  if (symbol.find('+') == std::string_view::npos) return std::nullopt;
  Sum sum;
  while (true) {
    const std::size_t end = std::min(symbol.find('+'), symbol.size());
    const std::string_view part = trimmed(symbol.substr(0, end));
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (part.empty() || part.find_first_of("*/-()") != std::string_view::npos) return std::nullopt;
    if (error == std::errc{} && stop == part.data() + part.size() && number < (std::int64_t{1} << 31))
      sum.number += number;
    else if (is_name(part)) sum.symbols.emplace_back(part);
    else return std::nullopt;
    if (end == symbol.size()) return sum;
    symbol.remove_prefix(end + 1);
  }
}

}  // namespace benanza::importer
