// SPDX-License-Identifier: Apache-2.0
// Epilogue groups: a convolution, matrix product, resize, batch norm or element-wise function with all following layers
// that fit into its epilogue: folded batch norm or bias, residual add, activation, gates, in the orders that exporters
// write.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/fusion/pattern.hpp>

namespace benanza::detail {

/// The shape of a broadcast operand in terms of another factorisation of the same elements: `result` are the dimensions
/// that the operand broadcasts to, and `folded` those of the layer. Nothing if the operand has no such shape.
[[nodiscard]] inline std::optional<TensorShape> fold_operand(const std::vector<std::int64_t>& result,
                                                             const std::vector<std::int64_t>& operand,
                                                             const TensorShape& folded) {
  const Dims aligned = padded(operand, result.size());
  if (aligned.size() != result.size()) return std::nullopt;
  TensorShape shape;
  std::size_t r = 0, f = 0;
  while (r < result.size() || f < folded.size()) {  // blocks of both with an equal product
    std::int64_t left = r < result.size() ? result[r] : 1, right = f < folded.size() ? folded[f] : 1;
    std::size_t r_end = std::min(r + 1, result.size()), f_end = std::min(f + 1, folded.size());
    while (left != right) {
      if (left < right && r_end < result.size()) left *= result[r_end++];
      else if (right < left && f_end < folded.size()) right *= folded[f_end++];
      else return std::nullopt;
    }
    bool ones = true, whole = true;
    for (std::size_t i = r; i < r_end; ++i) {
      ones = ones && aligned[i] == 1;
      whole = whole && aligned[i] == result[i];
    }
    if (!ones && !whole) return std::nullopt;
    for (std::size_t i = f; i < f_end; ++i) shape.push_back(whole ? folded[i] : 1);
    r = r_end;
    f = f_end;
  }
  return shape;
}

/// Grows one group from its head.
class EpilogueGroup {
 public:
  EpilogueGroup(const LayerGraph& graph, std::size_t head)
      : graph_(&graph), layer_(unfolded(graph, head)), members_{head} {
    y_ = operands(layer_).outputs[0].shape;
  }

  /// Whether a group that ends with layer `at` may go on.
  [[nodiscard]] static bool may_go_on(const LayerGraph& graph, std::size_t at) {
    const auto next = only_consumer(graph, graph.layers[at].outputs[0]);
    if (!next) return false;
    const Layer& layer = graph.layers[*next].layer;
    return std::holds_alternative<op::View>(layer) || std::holds_alternative<op::Unary>(layer) ||
           std::holds_alternative<op::Binary>(layer) || std::holds_alternative<op::BatchNorm>(layer) ||
           std::holds_alternative<op::Cast>(layer) || std::holds_alternative<op::Dequantize>(layer) ||
           std::holds_alternative<op::Quantize>(layer);
  }

  /// Adds following layers as long as they fit. Returns the group and its pieces.
  [[nodiscard]] std::optional<Match> match() {
    while (step()) {
    }
    if (pieces_.empty()) return std::nullopt;
    Match match{.members = members_};
    match.members.resize(pieces_.back().count);             // a view at the end is not a part of it
    match.pieces.assign(pieces_.rbegin(), pieces_.rend());  // the whole first, then shorter and shorter prefixes
    return match;
  }

 private:
  /// The signatures of element-wise layers have folded shapes. While a group grows, its operands need the tensors' own
  /// shapes.
  static Layer unfolded(const LayerGraph& graph, std::size_t head) {
    const Occurrence& at = graph.layers[head];
    Layer layer = *at.layer;
    const auto& result = graph.tensors[at.outputs[0]].dims;
    const auto shape_of = [&](const std::optional<TensorId>& id) {
      return TensorShape(std::span<const std::int64_t>(padded(graph.tensors[*id].dims, result.size())));
    };
    if (result.size() > TensorShape::capacity || at.inputs.empty() || !at.inputs[0]) return layer;
    if (auto* unary = std::get_if<op::Unary>(&layer); unary && unary->post.empty())
      unary->x = TensorShape(std::span<const std::int64_t>(result));
    if (auto* binary = std::get_if<op::Binary>(&layer); binary && binary->post.empty()) {
      auto shapes =
          std::vector{shape_of(at.inputs[0]), shape_of(at.inputs[binary->same ? 0 : second_operand(*binary)])};
      const auto folded = collapse(shapes);
      if (folded[0] != binary->a || folded[1] != binary->b)
        std::swap(shapes[0], shapes[1]);  // the larger operand comes first if operands commute
      const auto& again = collapse(shapes);
      if (again[0] != binary->a || again[1] != binary->b) return layer;  // broadcast along an axis (before opset 7)
      binary->a = shapes[0];
      binary->b = shapes[1];
    }
    return layer;
  }

  /// Each quantised operand is followed by its scale and zero point.
  static std::size_t second_operand(const op::Binary& binary) { return binary.scaled ? 3 : 1; }

  bool step() {
    const TensorId result = graph_->layers[members_.back()].outputs[0];
    if (graph_->layers[members_.back()].outputs.size() != 1) return false;
    const auto at = only_consumer(*graph_, result);
    if (!at) return false;
    const Occurrence& next = graph_->layers[*at];
    if (std::holds_alternative<op::View>(*next.layer) && next.outputs.size() == 1) {
      members_.push_back(*at);
      return true;
    }
    const Occurrence& head = graph_->layers[members_[0]];
    if (next.repeat != head.repeat || next.branches != head.branches) return false;
    std::optional<Layer> grown = converted(next.layer);
    if (!grown && stored_type(type(next.layer)) != running_type()) return false;
    if (const auto* unary = std::get_if<op::Unary>(&*next.layer)) grown = with_unary(*unary);
    if (const auto* binary = std::get_if<op::Binary>(&*next.layer)) grown = with_binary(next, *binary, result);
    if (const auto* norm = std::get_if<op::BatchNorm>(&*next.layer)) grown = with_batch_norm(*norm);
    if (!grown) return false;
    layer_ = *grown;
    members_.push_back(*at);
    pieces_.push_back({0, members_.size(), folded_layer()});
    return true;
  }

  /// Type of the result so far: the type of the head, except that a quantised product may have a different result type.
  [[nodiscard]] DataType running_type() const {
    return is_8_bit(type(layer_)) ? operands(layer_).outputs[0].type : stored_type(type(layer_));
  }

  /// The quantised product that also converts its result as it writes it: the sums of an integer product become floats,
  /// or a result is dequantised or quantised by one scale.
  [[nodiscard]] std::optional<Layer> converted(const Layer& next) const {
    const DataType running = running_type();
    std::optional<DataType> to;
    const auto* cast = std::get_if<op::Cast>(&next);
    if (cast && running == DataType::i32 && cast->type == running && is_float(cast->to)) to = cast->to;
    const auto* dequantize = std::get_if<op::Dequantize>(&next);
    if (dequantize && dequantize->type == running && dequantize->x[0] == 1 && dequantize->x[2] == 1 &&
        dequantize->block == 0)
      to = dequantize->to;
    const auto* quantize = std::get_if<op::Quantize>(&next);
    if (quantize && !quantize->dynamic && quantize->type == running && quantize->x[0] == 1 && quantize->x[2] == 1 &&
        quantize->block == 0)
      to = quantize->to;
    if (!to || !is_8_bit(type(layer_))) return std::nullopt;
    Layer grown = layer_;
    const auto give = [&](auto& product) { product.y_type = if_other(*to, product.type); };
    if (auto* conv = std::get_if<op::Conv>(&grown)) give(*conv);
    else if (auto* product = std::get_if<op::MatMul>(&grown)) give(*product);
    else return std::nullopt;
    return grown;
  }

  [[nodiscard]] std::optional<Layer> appended(std::span<const PostOp> ops) const {
    Layer grown = layer_;
    const bool fits = std::visit(
        [&](auto& op) {
          if constexpr (requires { op.post; }) {
            if (op.post.size() + ops.size() > Epilogue::capacity) return false;
            for (const auto& one : ops) op.post.push_back(one);
            return true;
          } else {
            return false;
          }
        },
        grown);
    return fits ? std::optional(grown) : std::nullopt;
  }

  [[nodiscard]] std::optional<Layer> with_unary(const op::Unary& unary) const {
    if (is_predicate(unary.fn)) return std::nullopt;
    std::vector<PostOp> ops{PostOp(unary.fn, unary.alpha, unary.beta)};
    ops.insert(ops.end(), unary.post.begin(), unary.post.end());
    return unary.post.empty() ? appended(ops) : std::nullopt;
  }

  [[nodiscard]] std::optional<Layer> with_binary(const Occurrence& next, const op::Binary& binary,
                                                 TensorId running) const {
    if (is_8_bit(binary.type) && !binary.scaled) return std::nullopt;  // wraps around
    if (is_predicate(binary.fn) || binary.same || !binary.post.empty()) return std::nullopt;
    const std::size_t second = second_operand(binary);
    if (next.inputs.size() <= second || (!binary.scaled && next.inputs.size() != 2) || !next.inputs[0] ||
        !next.inputs[second])
      return std::nullopt;
    const bool swapped = *next.inputs[second] == running;
    const LayerTensor& operand = graph_->tensors[*next.inputs[swapped ? 0 : second]];
    const auto& result = graph_->tensors[running].dims;
    if (graph_->tensors[next.outputs[0]].dims != result &&
        element_count(graph_->tensors[next.outputs[0]].dims) != element_count(result))
      return std::nullopt;
    if (operand.dims.size() > result.size() && element_count(operand.dims) != element_count(result))
      return std::nullopt;
    const bool commutes = binary.fn == ElementwiseFn::add || binary.fn == ElementwiseFn::mul ||
                          binary.fn == ElementwiseFn::max || binary.fn == ElementwiseFn::min;
    const auto seen =
        collapse(std::vector<Dims>{result, operand.dims});  // other shapes if an old file broadcasts along an axis
    const bool same_way =
        seen[0] == Dims(binary.a.begin(), binary.a.end()) && seen[1] == Dims(binary.b.begin(), binary.b.end());
    const bool other_way =
        seen[1] == Dims(binary.a.begin(), binary.a.end()) && seen[0] == Dims(binary.b.begin(), binary.b.end());
    if (!same_way && !other_way) return std::nullopt;
    PostOp op(binary.fn, TensorShape{}, swapped && !commutes);
    const bool whole = element_count(operand.dims) == element_count(result);
    const auto shape = whole ? std::optional(y_) : fold_operand(result, operand.dims, y_);
    if (!shape) return std::nullopt;
    if (!whole) op.shape = *shape;
    if (operand.constant && !op.swapped && is_channel_vector(*shape)) op = per_channel(binary.fn);
    return appended(std::array{op});
  }

  /// For inference batch norm is one multiply-add per channel. After a convolution or product with constant weights its
  /// scale goes into the weights and its shift into the bias.
  [[nodiscard]] std::optional<Layer> with_batch_norm(const op::BatchNorm& norm) const {
    if (!norm.post.empty()) return std::nullopt;
    bool foldable = false;
    const auto bias_only = [](const Epilogue& post) { return post.empty() || (post.size() == 1 && post[0] == bias); };
    if (const auto* conv = std::get_if<op::Conv>(&layer_)) foldable = conv->w_constant && bias_only(conv->post);
    if (const auto* conv = std::get_if<op::ConvTranspose>(&layer_))
      foldable = conv->w_constant && bias_only(conv->post);
    if (const auto* product = std::get_if<op::MatMul>(&layer_))
      foldable = product->b_constant && bias_only(product->post) && y_.size() == 2;
    if (!foldable || norm.x[0] != y_[0] || norm.x[1] != y_[1])
      return std::nullopt;  // channels of another view do not correspond to channels here
    return epilogue(layer_)->empty() ? appended(std::array{bias}) : layer_;
  }

  [[nodiscard]] bool is_channel_vector(const TensorShape& shape) const {
    std::size_t channel = 0;
    if (std::holds_alternative<op::Conv>(layer_) || std::holds_alternative<op::ConvTranspose>(layer_) ||
        std::holds_alternative<op::BatchNorm>(layer_))
      channel = 1;
    else if (std::holds_alternative<op::MatMul>(layer_)) channel = shape.size() - 1;
    else return false;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != (i == channel ? y_[i] : 1)) return false;
    return true;
  }

  /// Signatures of element-wise heads have folded shapes, so that equal work has an equal signature.
  [[nodiscard]] Layer folded_layer() const {
    Layer result = layer_;
    if (auto* unary = std::get_if<op::Unary>(&result)) fold(unary->post, {&unary->x});
    if (auto* binary = std::get_if<op::Binary>(&result)) fold(binary->post, {&binary->a, &binary->b});
    return result;
  }
  static void fold(Epilogue& post, std::initializer_list<TensorShape*> shapes);

  const LayerGraph* graph_;
  Layer layer_;
  TensorShape y_{};
  std::vector<std::size_t> members_;
  std::vector<Piece> pieces_{};  // longer and longer prefixes
};

inline void EpilogueGroup::fold(Epilogue& post, std::initializer_list<TensorShape*> shapes) {
  std::vector<TensorShape> all;
  for (const auto* shape : shapes) all.push_back(*shape);
  for (const auto& op : post)
    if (!op.shape.empty()) all.push_back(op.shape);
  all = collapse(all);
  std::size_t i = 0;
  for (auto* shape : shapes) *shape = all[i++];
  Epilogue folded;
  for (PostOp op : post) {
    if (!op.shape.empty()) op.shape = all[i++];
    folded.push_back(op);
  }
  post = folded;
}

/// The gate of a product (SwiGLU: silu(x w1) * (x w3)) is also one element-wise call, for libraries that do not gate in
/// the epilogue: an activation and the product with a tensor of the same shape.
inline void add_gates(const LayerGraph& graph, Match& match) {
  for (std::size_t i = 1; i + 1 < match.members.size(); ++i) {
    if (!std::holds_alternative<op::Unary>(*graph.layers[match.members[i]].layer)) continue;
    const auto gate = EpilogueGroup(graph, match.members[i]).match();
    if (!gate) continue;
    for (const auto& piece : gate->pieces) {
      const auto* unary = std::get_if<op::Unary>(&*piece.layer);
      const bool gates = unary != nullptr && piece.count == 2 && gate->members[1] == match.members[i + 1] &&
                         unary->post[0] == PostOp(ElementwiseFn::mul, TensorShape{});
      if (gates) match.pieces.push_back({i, 2, piece.layer});
    }
  }
}

/// The layers after a resize can also be one element-wise call, for libraries that have no such epilogue.
inline void add_followers(const LayerGraph& graph, Match& match) {
  std::size_t first = 1;
  while (std::holds_alternative<op::View>(*graph.layers[match.members[first]].layer)) ++first;
  const auto rest = EpilogueGroup(graph, match.members[first]).match();
  if (!rest) return;
  for (const auto& piece : rest->pieces)
    if (first + piece.count <= match.members.size()) match.pieces.push_back({first, piece.count, piece.layer});
}

/// Heads are matrix products and convolutions.
[[nodiscard]] inline std::optional<Match> match_product_epilogue(const LayerGraph& graph, std::size_t at) {
  const Layer& layer = graph.layers[at].layer;
  if (!std::holds_alternative<op::Conv>(layer) && !std::holds_alternative<op::ConvTranspose>(layer) &&
      !std::holds_alternative<op::MatMul>(layer))
    return std::nullopt;
  if (!EpilogueGroup::may_go_on(graph, at)) return std::nullopt;
  auto match = EpilogueGroup(graph, at).match();
  if (match) add_gates(graph, *match);
  return match;
}

/// Whether the layer after a resize could also end an element-wise chain that computes its other operand. Every backend
/// has plans for such chains; few have plans for a resize with an epilogue.
[[nodiscard]] inline bool ends_another_chain(const LayerGraph& graph, std::size_t at) {
  const auto next = only_consumer(graph, graph.layers[at].outputs[0]);
  if (!next || !std::holds_alternative<op::Binary>(*graph.layers[*next].layer)) return false;
  for (const auto& input : graph.layers[*next].inputs) {
    const auto maker = only_producer(graph, input);
    if (!maker || *maker == at || !only_consumer(graph, *input)) continue;
    const Layer& layer = graph.layers[*maker].layer;
    if (std::holds_alternative<op::Unary>(layer) || std::holds_alternative<op::Binary>(layer) ||
        std::holds_alternative<op::BatchNorm>(layer))
      return true;
  }
  return false;
}

/// Heads are resizes, batch norms and element-wise layers: chains that the products have left.
[[nodiscard]] inline std::optional<Match> match_elementwise_chain(const LayerGraph& graph, std::size_t at) {
  const Layer& layer = graph.layers[at].layer;
  const bool resizes = std::holds_alternative<op::Resize>(layer);
  if (!resizes && !std::holds_alternative<op::BatchNorm>(layer) && !std::holds_alternative<op::Unary>(layer) &&
      !std::holds_alternative<op::Binary>(layer))
    return std::nullopt;
  if (!EpilogueGroup::may_go_on(graph, at) || (resizes && ends_another_chain(graph, at))) return std::nullopt;
  auto match = EpilogueGroup(graph, at).match();
  if (match && resizes) add_followers(graph, *match);
  return match;
}

}  // namespace benanza::detail
