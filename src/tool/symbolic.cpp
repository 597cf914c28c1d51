// SPDX-License-Identifier: Apache-2.0
#include "symbolic.hpp"

#include <benanza/base/detail/saturated.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <string_view>

namespace benanza::tool {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A text, split into its numbers and the text between them.
struct TextParts {
  std::vector<std::string> between{};
  std::vector<std::int64_t> numbers{};

  explicit TextParts(std::string_view text) : between(1) {
    for (std::size_t i = 0; i < text.size();) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
      if (!is_digit(text[i]) || error != std::errc{}) {
        between.back() += text[i++];
        continue;
      }
      i = static_cast<std::size_t>(end - text.data());
      numbers.push_back(number);
      between.emplace_back();
    }
  }
};

/// A number of the base text, and its value if one symbol has another size.
struct NumberAt {
  const TextAt* at;
  std::int64_t number;
};

/// The power of the symbol's size with which a number grows; empty if it grows with neither the first nor the second.
std::optional<int> power(std::int64_t base, const NumberAt& change) {
  const auto as = [](std::int64_t number) { return static_cast<double>(number); };
  const double number = as(change.number), from = as(change.at->from), to = as(change.at->to);
  if (number * from == as(base) * to) return 1;
  if (number * from * from == as(base) * to * to) return 2;
  return std::nullopt;
}

std::string formula(std::int64_t base, const std::vector<NumberAt>& changes) {
  std::string names, product;
  bool known = true;
  std::int64_t divisor = 1;
  for (const auto& change : changes) {
    const std::string& symbol = change.at->symbol;
    names += (names.empty() ? "" : ", ") + symbol;
    const auto times = power(base, change);
    known = known && times;
    for (int i = 0; i < times.value_or(0); ++i) {
      product += (product.empty() ? "" : "*") + symbol;
      divisor *= change.at->from;
    }
  }
  if (!known) return "[f(" + names + ")]";
  const std::int64_t common = std::gcd(base, divisor);
  const std::int64_t factor = base / common;
  divisor /= common;
  return "[" + (factor == 1 ? "" : std::to_string(factor) + "*") + product +
         (divisor == 1 ? "" : "/" + std::to_string(divisor)) + "]";
}

using FormOf = LayerGraph ModelLayers::*;

/// A layer's first node, and an index that distinguishes nodes of equal names in bodies.
using Place = std::pair<std::string, std::size_t>;

std::map<Place, const Occurrence*> by_place(const LayerGraph& graph) {
  std::map<std::string, std::size_t> seen;
  std::map<Place, const Occurrence*> result;
  for (const auto& at : graph.layers) result[{at.nodes.front(), seen[at.nodes.front()]++}] = &at;
  return result;
}

/// The model with another size for one symbol.
struct Variant {
  TextAt at{};  ///< without text
  ModelLayers model{};
  std::map<Place, const Occurrence*> layers{};
};

ModelLayers model_at(ModelAt model, const UnboundError& error, const std::string& symbol = {}, std::int64_t size = 0) {
  for (const auto& [name, likely] : error.likely) model.point.dims[name] = name == symbol ? size : likely;
  return both_forms(load_graph(model));
}

/// Empty if only the proposed size is compatible with the others.
std::optional<Variant> variant(const ModelAt& model, const UnboundError& error, const std::string& symbol,
                               std::int64_t likely) {
  for (const std::int64_t size : {2 * likely, likely + 64, likely + 32, likely / 2, likely + 1}) {
    if (size < 1) continue;
    try {
      return Variant{.at = {.symbol = symbol, .from = likely, .to = size},
                     .model = model_at(model, error, symbol, size)};
    } catch (const InputError&) {
      // This size is not compatible; another one may be.
    }
  }
  return std::nullopt;
}

}  // namespace

std::string symbolic_text(const std::string& base, const std::vector<TextAt>& others) {
  const TextParts parts(base);
  std::vector<std::vector<NumberAt>> changes(parts.numbers.size());
  std::string unlike;
  for (const auto& other : others) {
    const TextParts there(other.text);
    if (there.between != parts.between) unlike += (unlike.empty() ? "" : ", ") + other.symbol;
    else
      for (std::size_t i = 0; i < parts.numbers.size(); ++i)
        if (there.numbers[i] != parts.numbers[i]) changes[i].push_back({&other, there.numbers[i]});
  }
  if (!unlike.empty()) return parts.between.front() + "[f(" + unlike + ")]";
  std::string text = parts.between.front();
  for (std::size_t i = 0; i < parts.numbers.size(); ++i)
    text += (changes[i].empty() ? std::to_string(parts.numbers[i]) : formula(parts.numbers[i], changes[i])) +
            parts.between[i + 1];
  return text;
}

std::optional<SymbolicModel> symbolic_model(const ModelAt& model, const UnboundError& error, bool fused) {
  if (error.likely.empty()) return std::nullopt;
  const FormOf form = fused ? &ModelLayers::fused : &ModelLayers::single;
  SymbolicModel result{.likely = model_at(model, error)};
  std::vector<Variant> variants;
  for (const auto& [symbol, likely] : error.likely) {
    result.open.push_back(symbol);
    if (auto other = variant(model, error, symbol, likely)) variants.push_back(std::move(*other));
  }
  for (auto& other : variants) other.layers = by_place(other.model.*form);
  std::map<std::string, std::size_t> known;
  std::map<std::string, std::size_t> seen;
  for (const auto& at : (result.likely.*form).layers) {
    const Place place{at.nodes.front(), seen[at.nodes.front()]++};
    const auto text = [&](const auto& text_of) {
      std::vector<TextAt> others;
      for (const auto& other : variants) {
        others.push_back(other.at);
        const auto found = other.layers.find(place);
        others.back().text = found == other.layers.end() ? std::string() : text_of(found->second->layer);
      }
      return symbolic_text(text_of(at.layer), others);
    };
    const std::string key = text([](const Layer& layer) { return signature(layer).text(); });
    const auto [found, added] = known.try_emplace(key, result.layers.size());
    if (added)
      result.layers.push_back({.signature = key,
                               .words = text([](const Layer& layer) { return describe(layer); }),
                               .user = {.model = result.likely.single.model, .node = at.nodes.front()}});
    detail::add_saturated(result.layers[found->second].user.count, at.repeat);
  }
  return result;
}

}  // namespace benanza::tool
