// SPDX-License-Identifier: Apache-2.0
// Movement that needs no call: operands of Concat and Transpose that are written directly to their positions, and
// results of Slice, Split, Transpose, Expand and a look-up by a constant that are read from the operand's memory.
#pragma once

#include <benanza/fusion/detail/shared_input.hpp>
#include <benanza/fusion/detail/strided_view.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Turns layers of movement that can be done in place into views, in the order of the graph.
class MovementInPlace {
 public:
  explicit MovementInPlace(LayerGraph& graph) : graph_(&graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_->layers.size(); ++i) {
      Occurrence& at = graph_->layers[i];
      if (at.outputs.empty()) continue;
      if (at.members.size() > 1) {
        note_parts(at);
      } else if (std::holds_alternative<op::View>(*at.layer)) {
        const auto found = at.inputs.empty() || !at.inputs[0] ? views_.end() : views_.find(*at.inputs[0]);
        if (found != views_.end()) views_.emplace(at.outputs[0], found->second);
      } else if (is_written_in_place(i)) {
        written_.insert(i);
        make_view(at);
      } else if (auto views = taken_views(at); !views.empty()) {
        views_.merge(views);
        make_view(at);
      }
    }
  }

 private:
  using Views = std::map<TensorId, StridedView>;

  [[nodiscard]] std::int64_t elements(TensorId id) const { return element_count(graph_->tensors[id].dims); }
  [[nodiscard]] StridedView view_of(TensorId id) const {
    const auto found = views_.find(id);
    return found != views_.end() ? found->second : StridedView::dense(elements(id));
  }
  static void make_view(Occurrence& at) {
    const auto all = operands(at.layer);
    at.layer = op::View{.type = type(at.layer), .rule = op::ViewRule::no_op, .x = {all.outputs[0].elements()}};
    at.pieces.clear();
  }

  /// Records the results of one product that lie side by side.
  void note_parts(const Occurrence& at) {
    const auto* product = std::get_if<op::MatMul>(&*at.layer);
    const auto* conv = std::get_if<op::Conv>(&*at.layer);
    if (at.outputs.size() < 2 || (product == nullptr && conv == nullptr)) return;
    const std::int64_t total = product ? product->n() : conv->w[0], all = operands(at.layer).outputs[0].elements();
    for (const TensorId part : at.outputs)
      views_.emplace(part, view_of_part(at.layer, elements(part), elements(part) / (all / total), total));
  }

  /// The views of a movement layer's results in the memory of its operand, if all layers that read them accept that.
  [[nodiscard]] Views taken_views(const Occurrence& at) const {
    if (!is_movement(at.layer) && !std::holds_alternative<op::Gather>(*at.layer)) return {};
    if (at.inputs.empty() || !at.inputs[0] || bits(type(at.layer)) < 8) return {};
    const StridedView x = view_of(*at.inputs[0]);
    std::vector<StridedView> parts;
    if (const auto* transpose = std::get_if<op::Transpose>(&*at.layer)) parts = transposed(x, *transpose);
    if (const auto* split = std::get_if<op::Split>(&*at.layer)) parts = split_up(x, *split);
    if (const auto* slice = std::get_if<op::Slice>(&*at.layer)) parts = sliced(x, *slice);
    if (const auto* expand = std::get_if<op::Expand>(&*at.layer)) parts = expanded(x, *expand);
    if (const auto* gather = std::get_if<op::Gather>(&*at.layer); gather && at.inputs.size() > 1 && at.inputs[1])
      if (graph_->tensors[*at.inputs[1]].constant) parts = picked(x, *gather);
    Views views;
    std::size_t next = 0;
    for (const TensorId output : at.outputs) {
      if (elements(output) == 0) continue;
      if (next == parts.size() || !all_read_as(*graph_, output, parts[next])) return {};
      views.emplace(output, parts[next++]);
    }
    return views;
  }

  static std::vector<StridedView> transposed(const StridedView& x, const op::Transpose& op) {
    const auto strides = x.strides_of(op.x);
    if (!strides) return {};
    Dims dims, permuted;
    for (const auto axis : op.perm) {
      dims.push_back(op.x[static_cast<std::size_t>(axis)]);
      permuted.push_back((*strides)[static_cast<std::size_t>(axis)]);
    }
    return {{dims, permuted}};
  }
  static std::vector<StridedView> split_up(const StridedView& x, const op::Split& op) {
    std::int64_t total = 0;
    for (const auto size : op.sizes) total += size;
    std::vector<StridedView> parts;
    for (const auto size : op.sizes)
      if (const auto part = x.part(total, op.inner, size)) parts.push_back(*part);
    return parts;
  }
  static std::vector<StridedView> sliced(const StridedView& x, const op::Slice& op) {
    auto strides = x.strides_of(op.x);
    if (!strides) return {};
    for (std::size_t i = 0; i < op.steps.size(); ++i) {
      if (op.steps[i] < 0) return {};
      (*strides)[i] *= op.steps[i];
    }
    return {{Dims(op.y.begin(), op.y.end()), *strides}};
  }
  static std::vector<StridedView> expanded(const StridedView& x, const op::Expand& op) {
    auto strides = x.strides_of(op.x);
    if (!strides) return {};
    for (std::size_t i = 0; i < op.x.size(); ++i)
      if (op.x[i] == 1) (*strides)[i] = 0;
    return {{Dims(op.y.begin(), op.y.end()), *strides}};
  }
  static std::vector<StridedView> picked(const StridedView& x, const op::Gather& op) {
    const auto part = op.indices == 1 ? x.part(op.x[1], op.x[2], 1) : std::nullopt;
    return part ? std::vector{*part} : std::vector<StridedView>{};
  }

  /// Whether all operands of a Concat, or the operand of a Transpose, can be written directly to their positions in the
  /// result.
  [[nodiscard]] bool is_written_in_place(std::size_t i) const {
    const Occurrence& at = graph_->layers[i];
    if (bits(type(at.layer)) < 8) return false;
    if (const auto* transpose = std::get_if<op::Transpose>(&*at.layer))
      return at.inputs[0] && is_written_there(*at.inputs[0], i, i, turned(*transpose));
    const auto* concat = std::get_if<op::Concat>(&*at.layer);
    if (concat == nullptr || concat->in_place) return false;
    const std::int64_t row = concat->total() * concat->inner;
    return std::all_of(at.inputs.begin(), at.inputs.end(), [&](const auto& input) {
      if (!input) return false;
      const std::int64_t mine = elements(*input) / concat->outer;
      return mine == 0 || is_written_there(*input, i, i, StridedView::rows(concat->outer, mine, row));
    });
  }

  /// The view of a transpose's operand in the memory of its result.
  static StridedView turned(const op::Transpose& op) {
    Dims strides(op.x.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = op.perm.size(); i-- > 0;) {
      const auto axis = static_cast<std::size_t>(op.perm[i]);
      strides[axis] = stride;
      stride *= op.x[axis];
    }
    return {Dims(op.x.begin(), op.x.end()), strides};
  }

  /// Whether a layer that is not opaque, and runs as often as the layer `whole` that moves its result, can write it to
  /// `place`. Tensor `id` must not be stored elsewhere, and no other layer may read it unless `place` is dense.
  /// `reader`: the layer `whole`, or the view on the way to it.
  [[nodiscard]] bool is_written_there(TensorId id, std::size_t reader, std::size_t whole,
                                      const StridedView& place) const {
    const LayerTensor& tensor = graph_->tensors[id];
    const auto maker = only_producer(*graph_, id);
    if (tensor.output || tensor.constant || !maker) return false;
    if (std::count(tensor.consumers.begin(), tensor.consumers.end(), reader) != 1) return false;
    for (const std::size_t other : tensor.consumers)
      if (other != reader && (!place.is_dense() || has_own_place(other, whole))) return false;
    const Occurrence& at = graph_->layers[*maker];
    const Occurrence& mover = graph_->layers[whole];
    const bool is_written_alone = at.outputs.size() == 1 || std::holds_alternative<op::Expression>(*at.layer);
    if (at.repeat != mover.repeat || at.branches != mover.branches || !is_written_alone || is_opaque(at.layer) ||
        is_in_place(at.layer))
      return false;
    if (written_.contains(*maker)) return place.is_dense();
    if (views_.contains(id)) return false;
    if (is_free(at.layer))
      return at.inputs[0] && elements(*at.inputs[0]) == elements(id) &&
             is_written_there(*at.inputs[0], *maker, whole, place);
    const auto all = operands(at.layer);
    const auto result =
        static_cast<std::size_t>(std::find(at.outputs.begin(), at.outputs.end(), id) - at.outputs.begin());
    return result < all.outputs.size() && all.outputs[result].elements() == elements(id) &&
           takes(at.layer, all.outputs[result], place);
  }

  /// Whether a reader of a tensor determines its place: movement in place, or a layer that updates it.
  [[nodiscard]] bool has_own_place(std::size_t reader, std::size_t whole) const {
    const Occurrence& at = graph_->layers[reader];
    if (reader == whole || written_.contains(reader) || is_in_place(at.layer)) return true;
    if (!is_free(at.layer) || at.outputs.empty()) return false;
    const auto& readers = graph_->tensors[at.outputs[0]].consumers;
    return std::any_of(readers.begin(), readers.end(), [&](std::size_t next) { return has_own_place(next, whole); });
  }

  LayerGraph* graph_;
  Views views_{};                    // tensors stored in the memory of others
  std::set<std::size_t> written_{};  // layers whose operands are written to their positions in the results
};

inline void move_in_place(LayerGraph& fused) { MovementInPlace(fused).run(); }

}  // namespace benanza::detail
