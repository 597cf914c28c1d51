// SPDX-License-Identifier: Apache-2.0
// DistinctBytes: how many bytes a layer touches of the stored tensors behind its operands.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// Distinct bytes that a set of tensors refers to: for each base, at most as many bytes count as it has.
class DistinctBytes {
 public:
  explicit DistinctBytes(const LayerGraph& graph) : graph_(&graph) {}
  /// Adds what a reader of `tensor` fetches if it touches `touched` bytes of it and needs a share of them.
  void add(TensorId tensor, Bytes touched, double needed = 1) {
    const LayerTensor& t = graph_->tensors[tensor];
    Bytes behind{};
    for (const auto& share : t.behind) behind += share.bytes;
    const double whole = t.constant ? t.bytes().value : behind.value;  // a constant may be stored in fewer bytes
    const double part = whole > 0 ? needed * std::min(1.0, touched.value / whole) : 0;
    for (const auto& share : t.behind) {
      Bytes& sum = of(share.base);
      sum = std::min(graph_->tensors[share.base].bytes(), sum + share.bytes * part);
    }
  }
  [[nodiscard]] Bytes weights() const { return sum(true); }
  [[nodiscard]] Bytes activations() const { return sum(false); }
  /// In the order of the bases.
  [[nodiscard]] std::span<const std::pair<TensorId, Bytes>> by_base() const { return bytes_; }

 private:
  [[nodiscard]] Bytes& of(TensorId base) {
    if (bytes_.empty()) bytes_.reserve(4);  // most layers read no more tensors
    const auto is_before = [](const auto& one, TensorId id) { return one.first < id; };
    auto at = std::lower_bound(bytes_.begin(), bytes_.end(), base, is_before);
    if (at == bytes_.end() || at->first != base) at = bytes_.insert(at, {base, Bytes{}});
    return at->second;
  }
  [[nodiscard]] Bytes sum(bool constant) const {
    Bytes total{};
    for (const auto& [base, bytes] : bytes_)
      if (graph_->tensors[base].constant == constant) total += bytes;
    return total;
  }
  const LayerGraph* graph_;
  std::vector<std::pair<TensorId, Bytes>> bytes_{};
};

/// Bytes of result `i` that a layer writes: all of it, unless its operator updates a result in place, or may do so.
[[nodiscard]] inline Bytes touched_output(const LayerTensor& tensor, const SharedLayer& layer, std::size_t i) {
  if (const auto* opaque = std::get_if<op::Opaque>(&*layer);
      opaque && i > 0 && facts_of(opaque->op.view()).is(Trait::keeps_cache))
    return {};
  const Operands& all = operands(layer);
  if (i >= all.outputs.size() || !all.outputs[i].touched) return tensor.bytes();
  return std::min(tensor.bytes(), Bytes{static_cast<double>(all.outputs[i].touched_bytes())});
}

/// Whether input `i` is a list of sizes, axes or positions, or a limit, that the file contains. A program has it in its
/// code and does not read it from memory.
[[nodiscard]] inline bool is_setting(const LayerTensor& tensor, const Layer& layer, std::size_t i) {
  if (i == 0 || !tensor.constant) return false;
  if (const auto* opaque = std::get_if<op::Opaque>(&layer)) return facts_of(opaque->op.view()).is_setting(i);
  if (std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Fourier>(layer))
    return element_count(tensor.dims) == 1;  // a limit of Clip; a length, a step or an axis, but not a window
  if (std::holds_alternative<op::Attention>(layer)) return !is_float(tensor.type) && tensor.dims.size() < 2;  // lengths
  const auto is_any_of = [&]<class... Ops>(const std::variant<Ops...>*) {
    return (std::holds_alternative<Ops>(layer) || ...);
  };
  using TakeSettings = std::variant<op::Reduce, op::Cumulative, op::TopK, op::Split, op::Slice, op::Pad, op::Trilu,
                                    op::OneHot, op::Expand, op::Tile, op::Resize>;
  return is_any_of(static_cast<const TakeSettings*>(nullptr));
}

/// The share of operand `i` of attention that queries see. For a cache, this is the share of its rows that hold keys
/// from before the call. For the call's own keys and values, it is the share from the first one that any query sees.
[[nodiscard]] inline double seen_share(const std::vector<std::int64_t>& dims, const op::Attention& attention,
                                       std::size_t i) {
  const auto& k = attention.k;
  const std::int64_t first = attention.first_key(0), last = attention.last_key(attention.q[2] - 1);
  const std::size_t rank = dims.size();
  std::int64_t rows = k[2], seen = last - first;
  const bool is_mask = to_shape(padded(dims, 4)) == attention.mask;
  if (i > 2 && rank >= 4 && !is_mask) {  // a cache, which may have capacity for more keys than it holds
    rows = dims[rank - 2];
    seen = std::min({last, k[2] - attention.q[2], rows}) - first;
  } else if (i <= 2 && rank <= 4) {
    rows = element_count(dims) / std::max<std::int64_t>(1, k[0] * k[1] * (i == 1 ? k[3] : attention.v[3]));
    if (rows < k[2]) seen = last - std::max(first, k[2] - rows);
  }
  return rows > 0 ? static_cast<double>(std::clamp<std::int64_t>(seen, 0, rows)) / static_cast<double>(rows) : 1;
}

/// Bytes of input `i` that a layer touches. This is all of it, unless its operator reads only a part of its first
/// operand (Gather, Slice, strides), of the keys and values that it attends to, or of a table of angles. It is 0
/// for weights that are only written, and if the layer may read nothing (EyeLike needs only a shape; a tensor of
/// unknown size may be empty; data may choose).
[[nodiscard]] inline Bytes touched_input(const LayerTensor& tensor, const SharedLayer& shared, std::size_t i) {
  const Layer& layer = shared;
  const Operands& all = operands(shared);
  if (all.inputs.empty() || is_setting(tensor, layer, i)) return {};
  if (const auto* opaque = std::get_if<op::Opaque>(&layer); opaque && !facts_of(opaque->op.view()).reads_all(i))
    return {};
  if (const auto* step = std::get_if<op::OptimizerStep>(&layer); step && step->master && i % (step->updated() + 1) == 0)
    return {};  // rounded from the weight in f32
  if (i != 0) {
    if (const auto* attention = std::get_if<op::Attention>(&layer)) {
      constexpr std::size_t first_angles = 7;  // GroupQueryAttention: tables from here on, one row per position
      if (i >= first_angles && tensor.dims.size() == 2 && tensor.dims[0] > attention->q[2])
        return tensor.bytes() * (static_cast<double>(attention->q[2]) / static_cast<double>(tensor.dims[0]));
      return tensor.bytes() * seen_share(tensor.dims, *attention, i);
    }
    if (std::holds_alternative<op::Where>(layer))
      return std::min(tensor.bytes(), Bytes{static_cast<double>(all.inputs[i].touched_bytes())});
    if (std::holds_alternative<op::Rotary>(layer))
      return std::min(tensor.bytes(), Bytes{static_cast<double>(all.inputs[1].bytes())});
    return tensor.bytes();
  }
  if (!all.inputs[0].touched) return tensor.bytes();
  return std::min(tensor.bytes(), Bytes{static_cast<double>(all.inputs[0].touched_bytes())});
}

}  // namespace benanza::detail
