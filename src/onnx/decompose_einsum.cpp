// SPDX-License-Identifier: Apache-2.0
// Einsum of three and more tensors: products of two at a time, in the order with the fewest multiply-adds. Axes that
// only a constant has are summed before a request.
#include "decompose.hpp"
#include "parts.hpp"
#include <benanza/base/detail/einsum_labels.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace benanza::importer {
namespace {

constexpr std::size_t most_operands = 10;  // of n operands, 3^n pairs of subsets are compared

using OperandSet = std::size_t;  ///< of operands, a bit for each

bool has_label(const std::string& term, char label) { return term.find(label) != std::string::npos; }

class Contraction {
 public:
  Contraction(Graph& graph, const Node& node, detail::EinsumTerms terms, bool executable)
      : graph_(graph), node_(node), terms_(std::move(terms)), executable_(executable), parts_(graph, node) {}

  /// False if the operands disagree about the size of a label.
  bool append_to(std::vector<Node>& nodes) {
    for (std::size_t i = 0; i < count(); ++i) {
      const Integers& dims = graph_.input(node_, i).dims;
      for (std::size_t k = 0; k < dims.size(); ++k) {
        std::int64_t& size = sizes_.try_emplace(terms_.operands[i][k], 1).first->second;
        if (size != 1 && dims[k] != 1 && size != dims[k]) return false;
        size = std::max(size, dims[k]);
      }
    }
    const OperandSet all = (OperandSet{1} << count()) - 1;
    find_order(all);
    const ValueId result = product(all).value;
    parts_.give(result, 0);
    parts_.append_to(nodes);
    return true;
  }

  /// Whether axes of a constant can be summed before a request.
  [[nodiscard]] bool sums_any_ahead() const {
    bool any = false;
    for (std::size_t i = 0; i < count(); ++i) any = any || sums_ahead(i);
    return any;
  }

 private:
  struct Order {
    double multiply_adds = 0, elements = 0;
    OperandSet first = 0;  ///< the other operands are the second factor

    bool operator<(const Order& other) const {
      return std::tie(multiply_adds, elements) < std::tie(other.multiply_adds, other.elements);
    }
  };
  struct Factor {
    ValueId value = 0;
    std::string term{};
  };

  [[nodiscard]] std::size_t count() const { return terms_.operands.size(); }

  /// The labels of a product that its result or another operand needs.
  [[nodiscard]] std::string term_of(OperandSet set) const {
    if (set == (OperandSet{1} << count()) - 1) return terms_.result;
    std::string own, others = terms_.result, term;
    for (std::size_t i = 0; i < count(); ++i) ((set >> i & 1) != 0 ? own : others) += terms_.operands[i];
    for (const char label : own)
      if (has_label(others, label) && !has_label(term, label)) term += label;
    return term;
  }

  [[nodiscard]] double elements_of(const std::string& term) const {
    double elements = 1;
    for (const char label : term) elements *= static_cast<double>(sizes_.at(label));
    return elements;
  }

  /// Whether a product can be computed before a request.
  [[nodiscard]] bool is_constant(OperandSet set) const {
    for (std::size_t i = 0; i < count(); ++i)
      if (const Value& x = graph_.input(node_, i); (set >> i & 1) != 0 && (!x.constant || x.trained)) return false;
    return true;
  }

  [[nodiscard]] bool sums_ahead(std::size_t i) const {
    const OperandSet set = OperandSet{1} << i;
    const std::size_t kept = term_of(set).size();
    return !executable_ && is_constant(set) && !is_constant((OperandSet{1} << count()) - 1) && kept > 0 &&
           kept < terms_.operands[i].size();
  }

  void find_order(OperandSet all) {
    std::vector<std::string> terms;
    for (OperandSet set = 0; set <= all; ++set) terms.push_back(term_of(set));
    orders_.resize(all + 1);
    for (OperandSet set = 1; set <= all; ++set) {
      if (std::has_single_bit(set)) continue;
      std::optional<Order> best;
      for (OperandSet first = (set - 1) & set; first != 0; first = (first - 1) & set) {
        const OperandSet second = set & ~first;
        if (first < second) continue;  // each pair once
        std::string labels = terms[first];
        for (const char label : terms[second])
          if (!has_label(labels, label)) labels += label;
        const Order order{
            orders_[first].multiply_adds + orders_[second].multiply_adds + (is_constant(set) ? 0 : elements_of(labels)),
            orders_[first].elements + orders_[second].elements + elements_of(terms[set]), first};
        if (!best || order < *best) best = order;
      }
      orders_[set] = *best;
    }
  }

  Factor product(OperandSet set) {
    if (std::has_single_bit(set)) {
      const auto i = static_cast<std::size_t>(std::countr_zero(set));
      return sums_ahead(i) ? summed(i) : Factor{*node_.inputs[i], terms_.operands[i]};
    }
    const OperandSet one = orders_[set].first, other = set & ~one;
    // The factor with the earlier operand comes first.
    const Factor a = product(std::countr_zero(one) < std::countr_zero(other) ? one : other),
                 b = product(std::countr_zero(one) < std::countr_zero(other) ? other : one);
    Factor result{.term = term_of(set)};
    Integers dims;
    for (const char label : result.term) dims.push_back(sizes_.at(label));
    const DataType type = graph_.output(node_, 0).type;
    if (is_constant(set) && !executable_) {
      result.value = parts_.constant(std::move(dims), {}, type);
      note_origins(result.value, set);
    } else {
      result.value = parts_.put("Einsum", {a.value, b.value}, std::move(dims),
                                {{"equation", a.term + "," + b.term + "->" + result.term}}, type);
    }
    return result;
  }

  /// A constant without the axes that no other operand and not the result has, and of repeated axes with the diagonal.
  Factor summed(std::size_t i) {
    const Value& x = graph_.input(node_, i);
    Factor result{.term = term_of(OperandSet{1} << i)};
    Integers dims;
    for (const char label : result.term) dims.push_back(x.dims[terms_.operands[i].find(label)]);
    const DataType type = x.type;
    result.value = parts_.constant(std::move(dims), {}, type);
    return result;
  }

  /// The stored constants, if they are smaller than their product.
  void note_origins(ValueId made, OperandSet set) {
    std::vector<ValueId> origins;
    double stored = 0;
    for (std::size_t i = 0; i < count(); ++i) {
      if ((set >> i & 1) == 0) continue;
      stored += graph_.input(node_, i).bytes();
      origins.push_back(*node_.inputs[i]);
    }
    if (stored < graph_.value(made).bytes()) graph_.values[made].origins = std::move(origins);
  }

  Graph& graph_;
  const Node& node_;
  detail::EinsumTerms terms_;
  bool executable_;
  Parts parts_;
  std::map<char, std::int64_t> sizes_{};
  std::vector<Order> orders_{};  ///< by set
};

}  // namespace

bool append_einsum_parts(Graph& graph, const Node& node, std::vector<Node>& nodes, bool executable) {
  if (!node.domain.empty() || node.op_type != "Einsum" || !node.has_output(0)) return false;
  if (node.inputs.size() < 2 || node.inputs.size() > most_operands) return false;
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has_input(i)) return false;
    ranks.push_back(graph.input(node, i).dims.size());
  }
  auto terms = detail::EinsumTerms::parse(node.attribute<std::string>("equation", ""), ranks);
  if (!terms) return false;
  Contraction contraction(graph, node, std::move(*terms), executable);
  if (node.inputs.size() == 2 && !contraction.sums_any_ahead()) return false;
  return contraction.append_to(nodes);
}

}  // namespace benanza::importer
