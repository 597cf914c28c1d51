// SPDX-License-Identifier: Apache-2.0
// StridedView: the layout of a tensor in memory that it shares with others, and which layers have calls that read or
// write it there. Such calls express strides with leading dimensions in BLAS, with the strides of memory descriptors in
// oneDNN, and with a distance between rows in our own kernels.
#pragma once

#include <benanza/fusion/pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// Dimensions, the outermost first, and the distance in elements between neighbours along each. A stride of 0 repeats
/// elements. It is kept in the shortest form: no dimension is 1, and none continues the one before it.
class StridedView {
 public:
  StridedView(const Dims& dims, const Dims& strides) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      if (!dims_.empty() && strides_.back() == strides[i] * dims[i]) {
        dims_.back() *= dims[i];
        strides_.back() = strides[i];
      } else {
        dims_.push_back(dims[i]);
        strides_.push_back(strides[i]);
      }
    }
  }
  [[nodiscard]] static StridedView dense(std::int64_t elements) { return {{elements}, {1}}; }
  /// Rows of `columns` elements each that begin `stride` elements apart.
  [[nodiscard]] static StridedView rows(std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    return {{rows, columns}, {stride, 1}};
  }

  /// Whether all elements are contiguous.
  [[nodiscard]] bool is_dense() const { return dims_.empty() || (dims_.size() == 1 && strides_[0] == 1); }
  /// How many elements are contiguous at least.
  [[nodiscard]] std::int64_t run() const { return dims_.empty() || strides_.back() != 1 ? 1 : dims_.back(); }

  /// The first `taken` elements along an axis of `size` elements, each of which has `inner` elements. The start of the
  /// part does not matter. Nothing if the axis has no single stride.
  [[nodiscard]] std::optional<StridedView> part(std::int64_t size, std::int64_t inner, std::int64_t taken) const {
    const auto behind = cut(inner);
    const auto axis = behind ? behind->first.cut(size) : std::nullopt;
    if (!axis || axis->second.dims_.size() > 1) return std::nullopt;
    Dims dims = axis->first.dims_, strides = axis->first.strides_;
    dims.push_back(taken);
    strides.push_back(size == 1 ? 0 : axis->second.strides_[0]);
    dims.insert(dims.end(), behind->second.dims_.begin(), behind->second.dims_.end());
    strides.insert(strides.end(), behind->second.strides_.begin(), behind->second.strides_.end());
    return StridedView(dims, strides);
  }

  /// Strides of `inner`, which are the innermost dimensions of the same elements. Nothing if these dimensions cannot be
  /// expressed with one stride each.
  [[nodiscard]] std::optional<Dims> strides_of(std::span<const std::int64_t> inner) const {
    Dims result(inner.size(), 0);
    std::size_t at = dims_.size();
    std::int64_t left = 1, stride = 1;
    for (std::size_t i = inner.size(); i-- > 0;) {
      if (inner[i] == 1) continue;
      if (left == 1) {
        if (at == 0) return std::nullopt;
        left = dims_[--at];
        stride = strides_[at];
      }
      if (left % inner[i] != 0) return std::nullopt;
      result[i] = stride;
      stride *= inner[i];
      left /= inner[i];
    }
    return result;
  }

 private:
  /// The outer dimensions, and the innermost ones, which have `inner` elements together.
  [[nodiscard]] std::optional<std::pair<StridedView, StridedView>> cut(std::int64_t inner) const {
    Dims outer_dims = dims_, outer_strides = strides_, dims, strides;
    while (inner > 1) {
      if (outer_dims.empty()) return std::nullopt;
      std::int64_t& size = outer_dims.back();
      if (inner % size != 0 && size % inner != 0) return std::nullopt;
      const std::int64_t taken = std::min(size, inner);
      dims.insert(dims.begin(), taken);
      strides.insert(strides.begin(), outer_strides.back());
      inner /= taken;
      size /= taken;
      outer_strides.back() *= taken;
      if (size > 1) continue;
      outer_dims.pop_back();
      outer_strides.pop_back();
    }
    return std::pair(StridedView(outer_dims, outer_strides), StridedView(dims, strides));
  }

  Dims dims_{}, strides_{};
};

/// The least number of bytes that a call accesses at once. Shorter contiguous runs take more time than was measured.
inline constexpr std::int64_t least_run_bytes = 64;

/// Whether it is a matrix with contiguous rows or, if `either`, with contiguous columns.
[[nodiscard]] inline bool is_matrix(const StridedView& view, std::int64_t rows, std::int64_t columns, bool either) {
  const auto strides = view.strides_of(Dims{rows, columns});
  if (!strides) return false;
  const auto lies = [&](std::size_t inner, std::int64_t size, std::int64_t others) {
    return (size == 1 || (*strides)[inner] == 1) && (others == 1 || (*strides)[1 - inner] >= size);
  };
  return lies(1, columns, rows) || (either && lies(0, rows, columns));
}

/// Whether a layer updates one of its operands.
[[nodiscard]] inline bool is_in_place(const Layer& layer) {
  return std::visit(
      [](const auto& op) {
        if constexpr (requires { op.in_place; }) return op.in_place;
        else return false;
      },
      layer);
}

/// Whether calls for a layer accept `view` for one of its operands or for its result. Matrix products accept a stride
/// between rows, attention strides between heads and tokens, norms and softmax one between rows. Layers that compute or
/// move element by element accept runs of at least a cache line.
[[nodiscard]] inline bool takes(const Layer& layer, const Operand& operand, const StridedView& view) {
  if (view.is_dense()) return true;
  const TensorShape& shape = operand.shape;
  const auto is_unit_row = [&](std::size_t inner) {
    if (shape.size() < inner) return false;
    const auto strides = view.strides_of(std::span(shape.end() - inner, inner));
    return strides && (shape.back() == 1 || strides->back() == 1);
  };
  if (const auto* product = std::get_if<op::MatMul>(&layer))
    return is_float(product->type) &&
           is_matrix(view, shape[shape.size() - 2], shape.back(), operand.name == "a" || operand.name == "b");
  if (const auto* attention = std::get_if<op::Attention>(&layer)) {
    const std::string_view name = operand.name;
    if (name != "q" && name != "k" && name != "v" && name != "y") return false;
    const bool by_tokens = name == "q"   ? attention->q_tokens_first
                           : name == "k" ? attention->k_tokens_first
                           : name == "v" ? attention->v_tokens_first
                                         : attention->y_tokens_first;
    return is_unit_row(by_tokens ? 3 : 2);
  }
  if (std::holds_alternative<op::LayerNorm>(layer) || std::holds_alternative<op::Rotary>(layer)) return is_unit_row(1);
  if (const auto* softmax = std::get_if<op::Softmax>(&layer)) {
    const auto strides = view.strides_of(Dims{softmax->x[1]});
    return softmax->x[2] == 1 && strides && strides->back() == 1;
  }
  const bool by_elements = std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Binary>(layer) ||
                           std::holds_alternative<op::Expression>(layer) || std::holds_alternative<op::Gather>(layer) ||
                           is_movement(layer);
  return by_elements && view.run() * bits(operand.type) / 8 >= least_run_bytes;
}

/// Whether a tensor with these dimensions has an operand's shape, except that dimensions may be split or joined.
[[nodiscard]] inline bool has_shape_of(const std::vector<std::int64_t>& dims, const TensorShape& shape) {
  const auto ends_of_runs = [](const auto& sizes) {
    std::vector<std::int64_t> ends;
    std::int64_t product = 1;
    for (std::size_t i = sizes.size(); i-- > 0;)
      if (sizes[i] != 1) ends.push_back(product *= sizes[i]);
    return ends;
  };
  const auto a = ends_of_runs(dims), b = ends_of_runs(shape);
  return std::includes(a.begin(), a.end(), b.begin(), b.end()) || std::includes(b.begin(), b.end(), a.begin(), a.end());
}

/// Whether a layer accepts `view` for tensor `id`, whichever operand that may be: operands with as many elements and
/// the same shape, or with any shape if none has the same.
[[nodiscard]] inline bool reads_as(const LayerGraph& graph, const Occurrence& at, TensorId id,
                                   const StridedView& view) {
  if (is_in_place(at.layer)) return false;
  if (view.is_dense()) return true;
  const auto& dims = graph.tensors[id].dims;
  std::vector<Operand> places = operands(at.layer).inputs;
  std::erase_if(places, [&](const Operand& o) { return o.constant || o.elements() != element_count(dims); });
  const auto has_shape = [&](const Operand& operand) { return has_shape_of(dims, operand.shape); };
  if (std::any_of(places.begin(), places.end(), has_shape)) std::erase_if(places, std::not_fn(has_shape));
  return !places.empty() &&
         std::all_of(places.begin(), places.end(), [&](const Operand& o) { return takes(at.layer, o, view); });
}

/// Whether all layers that read a tensor, possibly through views, accept `view` for it.
[[nodiscard]] inline bool all_read_as(const LayerGraph& graph, TensorId id, const StridedView& view) {
  const LayerTensor& tensor = graph.tensors[id];
  return !tensor.output && std::all_of(tensor.consumers.begin(), tensor.consumers.end(), [&](std::size_t reader) {
    const Occurrence& at = graph.layers[reader];
    if (!is_free(at.layer)) return reads_as(graph, at, id, view);
    return at.inputs[0] == id && at.outputs.size() == 1 && all_read_as(graph, at.outputs[0], view);
  });
}

}  // namespace benanza::detail
