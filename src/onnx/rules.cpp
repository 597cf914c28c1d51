// SPDX-License-Identifier: Apache-2.0
// The lookup in all families, and functions that every rule uses.
#include "rule_tables.hpp"

#include <algorithm>

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

Rule find_in(std::initializer_list<RuleTable> tables, const std::string& name) {
  for (const auto& table : tables) {
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.op_type == name; });
    if (found != table.end()) return found->rule;
  }
  return nullptr;
}

std::string full_name(std::string_view domain, std::string_view op_type) {
  return domain.empty() ? std::string(op_type) : std::string(domain) + "." + std::string(op_type);
}

}  // namespace

Rule find_rule(std::string_view domain, std::string_view op_type) {
  return find_in({attention_rules(), elementwise_rules(), ml_rules(), movement_rules(), product_rules(),
                  recurrent_rules(), signal_rules(), training_rules(), window_rules()},
                 full_name(domain, op_type));
}

Rule find_gap_rule(std::string_view domain, std::string_view op_type) {
  return find_in({gap_rules()}, full_name(domain, op_type));
}

}  // namespace benanza::importer
