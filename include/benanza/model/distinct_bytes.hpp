// SPDX-License-Identifier: Apache-2.0
// DistinctBytes: how much of the stored tensors behind its operands a layer touches.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <variant>

namespace benanza::detail {

/// Distinct bytes that a set of tensors stands for: no base counts more often than it has bytes.
class DistinctBytes {
 public:
  explicit DistinctBytes(const LayerGraph& graph) : graph_(&graph) {}
  /// Adds what a reader of `tensor` fetches when it touches `touched` bytes of it and needs a share of them.
  void add(TensorId tensor, Bytes touched, double needed = 1) {
    const LayerTensor& t = graph_->tensors[tensor];
    Bytes behind{};
    for (const auto& share : t.behind) behind += share.bytes;
    const double whole = t.constant ? t.bytes().value : behind.value;  // a constant may be stored in fewer bytes
    const double part = whole > 0 ? needed * std::min(1.0, touched.value / whole) : 0;
    for (const auto& share : t.behind) {
      Bytes& sum = bytes_[share.base];
      sum = std::min(graph_->tensors[share.base].bytes(), sum + share.bytes * part);
    }
  }
  [[nodiscard]] Bytes weights() const { return sum(true); }
  [[nodiscard]] Bytes activations() const { return sum(false); }
  [[nodiscard]] const std::map<TensorId, Bytes>& by_base() const { return bytes_; }

 private:
  [[nodiscard]] Bytes sum(bool constant) const {
    Bytes total{};
    for (const auto& [base, bytes] : bytes_)
      if (graph_->tensors[base].constant == constant) total += bytes;
    return total;
  }
  const LayerGraph* graph_;
  std::map<TensorId, Bytes> bytes_{};
};

/// Bytes of result `i` that a layer writes: all of it, unless its operator updates what is there.
[[nodiscard]] inline Bytes touched_output(const LayerTensor& tensor, const Layer& layer, std::size_t i) {
  const Operands all = operands(layer);
  if (i >= all.outputs.size() || !all.outputs[i].touched) return tensor.bytes();
  return std::min(tensor.bytes(), Bytes{static_cast<double>(all.outputs[i].touched_bytes())});
}

/// Whether input `i` is a list of sizes, axes or places, or a limit, which the file holds: a program has it in its code
/// and reads it from no memory.
[[nodiscard]] inline bool is_setting(const LayerTensor& tensor, const Layer& layer, std::size_t i) {
  if (i == 0 || !tensor.constant) return false;
  if (std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Fourier>(layer))
    return element_count(tensor.dims) == 1;  // a limit of Clip; a length, a step or an axis, but not a window
  const auto is_any_of = [&]<class... Ops>(const std::variant<Ops...>*) {
    return (std::holds_alternative<Ops>(layer) || ...);
  };
  using TakeSettings = std::variant<op::Reduce, op::Cumulative, op::TopK, op::Split, op::Slice, op::Pad, op::Trilu,
                                    op::OneHot, op::Expand, op::Tile, op::Resize>;
  return is_any_of(static_cast<const TakeSettings*>(nullptr));
}

/// Bytes of input `i` that a layer touches: all of it, unless its operator reads a part of its first operand (Gather,
/// Slice, strides), of the keys and values that it attends to, or of a table of angles; or reads nothing (EyeLike asks
/// for a shape alone; what has an unknown size may be empty).
[[nodiscard]] inline Bytes touched_input(const LayerTensor& tensor, const Layer& layer, std::size_t i) {
  const Operands all = operands(layer);
  if (all.inputs.empty() || is_setting(tensor, layer, i)) return {};
  if (i != 0) {
    if (const auto* attention = std::get_if<op::Attention>(&layer)) {
      constexpr std::size_t first_angles = 7;  // GroupQueryAttention: from here on tables with a row for each position
      if (i >= first_angles && tensor.dims.size() == 2 && tensor.dims[0] > attention->q[2])
        return tensor.bytes() * (static_cast<double>(attention->q[2]) / static_cast<double>(tensor.dims[0]));
      return tensor.bytes() * (static_cast<double>(attention->seen_keys()) / static_cast<double>(attention->k[2]));
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
