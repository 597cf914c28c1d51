// SPDX-License-Identifier: Apache-2.0
// The functions of all rules, and functions that every rule uses.
#include "rule_tables.hpp"

#include <algorithm>
#include <array>

namespace benanza::importer {

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (const auto dim : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

std::vector<std::int64_t> broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::vector<std::int64_t> dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1, db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1)
      throw InputError("shapes " + shape_text(a) + " and " + shape_text(b) + " do not broadcast");
    dims[dims.size() - 1 - i] = da == 1 ? db : da;
  }
  return dims;
}

namespace {

constexpr RuleEntry shared_rules[] = {
    {ShapeRule::like_first, like<0>},
    {ShapeRule::like_second, like<1>},
    {ShapeRule::broadcast, broadcast_of<0, 1>},
};

}  // namespace

Rule function_of(ShapeRule rule) {
  static const auto functions = [] {
    std::array<Rule, static_cast<std::size_t>(ShapeRule::count)> all{};
    for (const RuleTable& table :
         {RuleTable(shared_rules), attention_rules(), elementwise_rules(), ml_rules(), movement_rules(), old_rules(),
          product_rules(), recurrent_rules(), signal_rules(), training_rules(), window_rules()})
      for (const RuleEntry& entry : table) all[static_cast<std::size_t>(entry.rule)] = entry.function;
    return all;
  }();
  return functions[static_cast<std::size_t>(rule)];
}

}  // namespace benanza::importer
