// SPDX-License-Identifier: Apache-2.0
#include "batch_axis.hpp"

#include "proto.hpp"
#include <benanza/base/detail/einsum_labels.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace benanza::importer {
namespace {

/// For each axis of a tensor, the axis of the graph's input that it is; -1 for others.
using Axes = std::vector<int>;

std::int64_t integer_of(const onnx::NodeProto& node, const char* name, std::int64_t otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

/// The axes of the first output of a node that reads tensor `x` as input `i`; empty if the node mixes them, or if that
/// is not known.
Axes axes_after(const onnx::NodeProto& node, int i, const Axes& x) {
  const std::string& op = node.op_type();
  const OperatorFacts& facts = facts_of(node.domain(), op);
  if (op == "Transpose") {
    const auto* perm = find_attribute(node, "perm");
    Axes y(x.rbegin(), x.rend());
    for (std::size_t k = 0; perm != nullptr && k < x.size(); ++k) {
      if (std::cmp_less_equal(perm->ints_size(), k)) return {};
      const auto from = perm->ints(static_cast<int>(k));
      if (from < 0 || std::cmp_greater_equal(from, x.size())) return {};
      y[k] = x[static_cast<std::size_t>(from)];
    }
    return y;
  }
  // An embedding: what is found for each index gets further axes.
  if (op == "Gather" && i == 1) {
    Axes y = x;
    y.push_back(-1);
    return y;
  }
  if ((op == "MatMul" && i == 0) || op == "Concat" || (op == "LayerNormalization" && i == 0)) {
    Axes y = x;
    const auto rank = static_cast<std::int64_t>(y.size());
    const std::int64_t axis = op == "Concat" ? integer_of(node, "axis", -1) : -1;
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    if (at >= 0 && at < rank) y[static_cast<std::size_t>(at)] = -1;
    return y;
  }
  const bool is_elementwise = facts.shape == ShapeRule::like_first || facts.is(Trait::broadcasts) ||
                              facts.gradient == Gradient::unary || facts.moves == Moves::unchanged ||
                              facts.moves == Moves::converted;
  if (is_elementwise || (i == 0 && (op == "Dropout" || op == "Slice" || op == "Split"))) return x;
  return {};
}

}  // namespace

std::optional<std::size_t> recurrent_batch_axis(const onnx::GraphProto& graph, const std::string& input,
                                                std::size_t rank) {
  std::map<std::string, Axes, std::less<>> known;
  Axes own(rank);
  std::iota(own.begin(), own.end(), 0);
  known.emplace(input, std::move(own));
  for (const auto& node : graph.node()) {
    for (int i = 0; i < node.input_size(); ++i) {
      const auto found = known.find(node.input(i));
      if (node.input(i).empty() || found == known.end()) continue;
      const Axes& x = found->second;
      if (facts_of(node.domain(), node.op_type()).is(Trait::recurrent)) {
        const std::size_t of_layout = integer_of(node, "layout", 0) != 0 ? 0 : 1;
        const bool is_length = i == 4;
        if ((i != 0 && i != 4 && i != 5 && i != 6) || x.size() != (is_length ? 1U : 3U)) continue;
        const int axis = x[is_length ? 0 : of_layout];
        if (axis >= 0) return static_cast<std::size_t>(axis);
      } else if (const Axes y = axes_after(node, i, x); !y.empty()) {
        for (const auto& output : node.output()) known.emplace(output, y);
      }
    }
  }
  return std::nullopt;
}

std::optional<double> product_size(const Node& node, std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                   std::span<const std::int64_t> y) {
  if (!node.domain.empty() || a.empty() || b.empty()) return std::nullopt;
  const auto count = [](std::span<const std::int64_t> dims) {
    return std::accumulate(dims.begin(), dims.end(), 1.0,
                           [](double n, auto dim) { return n * static_cast<double>(dim); });
  };
  if (node.op_type == "MatMul") return count(y) * static_cast<double>(a.back());
  if (node.op_type == "Gemm" && a.size() == 2)
    return count(y) * static_cast<double>(a[node.attribute<std::int64_t>("transA", 0) != 0 ? 0 : 1]);
  if (node.op_type == "Conv") return count(y) * count(b.subspan(1));
  if (node.op_type != "Einsum") return std::nullopt;
  const auto labels = detail::EinsumLabels::parse(node.attribute<std::string>("equation", ""), a.size(), b.size());
  if (!labels) return std::nullopt;
  double size = count(a);
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!detail::contains(labels->a, labels->b[i])) size *= static_cast<double>(b[i]);
  return size;
}

}  // namespace benanza::importer
