// SPDX-License-Identifier: Apache-2.0
// draft_expression: the expression that a group of layers of the single form computes. Softmax, norms over rows and
// reductions of several steps are written out, so that they share a row's passes with the steps around them. Views only
// rename: dimensions are those of all steps together, refined until each tensor has or lacks each of them as a whole.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/fusion/detail/step_space.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/op/elementwise_expression.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// What an input of an expression is: a tensor, or the number that a norm adds to a variance.
struct ExpressionSource {
  TensorId tensor = 0;
  std::optional<std::size_t> epsilon_of{};  ///< a layer of the single form; then `tensor` does not count
};

struct DraftedExpression {
  op::Expression layer{};
  std::vector<ExpressionSource> inputs{};  ///< in the order of `layer.in`
};

/// Draws up one expression. Each needs its own instance.
class ExpressionDraft {
 public:
  explicit ExpressionDraft(const LayerGraph& single) : single_(&single) {}

  /// `members`: layers of the single form, in order. `pieces`: if one covers several members and is a function of one
  /// tensor, it becomes one step. `results`: the tensors that the call writes, in order. Returns nothing if one call
  /// cannot compute the members.
  [[nodiscard]] std::optional<DraftedExpression> of(std::span<const std::size_t> members, std::span<const Piece> pieces,
                                                    std::span<const TensorId> results) {
    const auto parts = parts_of(members, pieces);
    if (!measure(parts) || !refine(parts)) return std::nullopt;
    for (const Part& part : parts)
      if (!add(part)) return std::nullopt;
    return assemble(results);
  }

 private:
  struct Part {
    const Layer* layer = nullptr;
    std::size_t member = 0;  ///< the first of them
    std::vector<std::optional<TensorId>> inputs{};
    TensorId output = 0;
  };
  struct Value {
    ExpressionInput input{};  ///< if it is one
    ExpressionSource source{};
    TensorId root = 0;                     ///< the tensor whose elements it has, through views
    std::optional<ExpressionStep> step{};  ///< otherwise; its operands are indices of `values_`
    DataType type = DataType::f32;
    bool by_row = false;
    std::uint64_t digest = 0;  ///< equal for equal computations of inputs that look alike
  };

  [[nodiscard]] const Dims& dims(TensorId id) const { return single_->tensors[id].dims; }
  [[nodiscard]] DataType type_of(TensorId id) const { return stored_type(single_->tensors[id].type); }

  [[nodiscard]] std::vector<Part> parts_of(std::span<const std::size_t> members, std::span<const Piece> pieces) const {
    std::vector<Part> parts;
    for (std::size_t k = 0; k < members.size();) {
      const Piece* function = nullptr;
      for (const Piece& piece : pieces) {
        const auto* unary = std::get_if<op::Unary>(&*piece.layer);
        if (piece.first == k && piece.count > 1 && piece.first + piece.count <= members.size() && unary != nullptr &&
            unary->post.empty() && (function == nullptr || piece.count > function->count))
          function = &piece;
      }
      if (function != nullptr) {
        if (auto part = whole(members.subspan(k, function->count), *function->layer)) {
          parts.push_back(std::move(*part));
          k += function->count;
          continue;
        }
      }
      const Occurrence& at = single_->layers[members[k]];
      parts.push_back({.layer = &*at.layer,
                       .member = members[k],
                       .inputs = at.inputs,
                       .output = at.outputs.empty() ? 0 : at.outputs[0]});
      ++k;
    }
    return parts;
  }

  /// Members that are one function of one tensor.
  [[nodiscard]] std::optional<Part> whole(std::span<const std::size_t> members, const Layer& layer) const {
    Part part{.layer = &layer, .member = members.front(), .output = single_->layers[members.back()].outputs.at(0)};
    std::set<TensorId> made;
    for (const auto member : members) {
      for (const auto& input : single_->layers[member].inputs) {
        if (!input || made.contains(*input) || single_->tensors[*input].scalar) continue;
        if (!part.inputs.empty() && part.inputs[0] != input) return std::nullopt;
        part.inputs = {input};
      }
      made.insert(single_->layers[member].outputs.begin(), single_->layers[member].outputs.end());
    }
    return part.inputs.empty() ? std::nullopt : std::optional(std::move(part));
  }

  /// Finds how many elements the expression has, and how many of them a row has.
  [[nodiscard]] bool measure(const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      if (is_view(part)) continue;
      const auto space = step_space(*part.layer);
      if (!space || (space->row && row_ && *space->row != *row_)) return false;
      if (space->row) row_ = space->row;
      elements_ = std::max(elements_, space->elements);
    }
    return elements_ > 1 && row_ != 1;
  }
  [[nodiscard]] static bool is_view(const Part& part) { return std::holds_alternative<op::View>(*part.layer); }
  [[nodiscard]] bool reduces() const { return row_.has_value(); }
  [[nodiscard]] bool is_row_sized(std::int64_t elements) const { return reduces() && elements == elements_ / *row_; }

  /// Finds dimensions such that those of each step's result are products of some of them.
  [[nodiscard]] bool refine(const std::vector<Part>& parts) {
    std::set<std::int64_t> ends{elements_};  // products of the last dimensions
    if (reduces()) ends.insert(*row_);
    const auto note = [&](const Dims& sizes, std::int64_t product) {
      for (std::size_t i = sizes.size(); i-- > 0;) ends.insert(product *= sizes[i]);
    };
    for (const Part& part : parts) {
      if (is_view(part)) continue;
      const Dims& result = dims(part.output);
      const std::int64_t count = element_count(result);
      if (count == elements_) note(result, 1);
      else if (is_row_sized(count)) note(result, *row_);
      else return false;
      if (std::holds_alternative<op::Reduce>(*part.layer)) note(dims(*part.inputs.at(0)), 1);
    }
    std::int64_t before = 1;
    for (const auto end : ends) {
      if (end == before) continue;
      if (end % before != 0) return false;
      sizes_.insert(sizes_.begin(), end / before);
      if (reduces() && end == *row_) inner_ = sizes_.size();
      before = end;
    }
    if (!reduces()) inner_ = sizes_.size();
    return !sizes_.empty() && sizes_.size() <= TensorShape::capacity;
  }

  /// The shape of an operand, in terms of `sizes_`, that broadcasts to a result with these dimensions.
  [[nodiscard]] std::optional<Dims> placed(const Dims& operand, const Dims& result, bool by_row) const {
    if (operand.size() > result.size()) return std::nullopt;
    const Dims aligned = padded(operand, result.size());
    Dims shape = sizes_;
    std::size_t at = sizes_.size();
    if (by_row) {
      at -= inner_;
      std::fill(shape.begin() + static_cast<std::ptrdiff_t>(at), shape.end(), 1);
    }
    for (std::size_t i = result.size(); i-- > 0;) {
      if (aligned[i] != result[i] && aligned[i] != 1) return std::nullopt;
      for (std::int64_t product = 1; product < result[i];) {
        if (at == 0) return std::nullopt;
        product *= sizes_[--at];
        if (aligned[i] != result[i]) shape[at] = 1;
      }
    }
    return shape;
  }

  /// The value of an operand of a step whose result has these dimensions.
  [[nodiscard]] std::optional<std::size_t> operand(const std::optional<TensorId>& id, const Dims& result) {
    return id ? operand(*id, dims(*id), result) : std::nullopt;
  }
  /// An operand with one number for each channel, which is the second dimension.
  [[nodiscard]] std::optional<std::size_t> channels(const Part& part, std::size_t i) {
    const Dims& result = dims(part.output);
    if (i >= part.inputs.size() || !part.inputs[i] || result.size() < 2) return std::nullopt;
    if (element_count(dims(*part.inputs[i])) != result[1]) return std::nullopt;
    Dims aligned(result.size() - 1, 1);
    aligned[0] = result[1];
    return operand(*part.inputs[i], aligned, result);
  }
  /// `own`: the operand's dimensions.
  [[nodiscard]] std::optional<std::size_t> operand(TensorId id, const Dims& own, const Dims& result) {
    const bool by_row = element_count(result) != elements_;
    const auto shape = placed(own, result, by_row);
    if (!shape) return std::nullopt;
    Dims rows = sizes_;
    std::fill(rows.end() - static_cast<std::ptrdiff_t>(inner_), rows.end(), 1);
    if (const auto made = made_.find(id); made != made_.end()) {
      const bool fits = values_[made->second].by_row ? *shape == rows : !by_row && *shape == sizes_;
      return fits ? std::optional(made->second) : std::nullopt;
    }
    const auto root = roots_.find(id);
    return input({.type = type_of(id), .shape = *shape == sizes_ ? TensorShape{} : TensorShape(*shape)},
                 {.tensor = root != roots_.end() ? root->second : id},
                 std::all_of(shape->end() - static_cast<std::ptrdiff_t>(inner_), shape->end(),
                             [](auto size) { return size == 1; }));
  }

  std::size_t input(const ExpressionInput& input, const ExpressionSource& source, bool by_row) {
    const TensorId root = source.epsilon_of ? 0 : root_of(source.tensor);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!values_[i].step && values_[i].input == input && values_[i].root == root &&
          values_[i].source.epsilon_of == source.epsilon_of)
        return i;
    std::uint64_t digest = mixed(17, static_cast<std::uint64_t>(input.type));
    for (const auto size : input.shape) digest = mixed(digest, static_cast<std::uint64_t>(size));
    values_.push_back(
        {.input = input, .source = source, .root = root, .type = input.type, .by_row = by_row, .digest = digest});
    return values_.size() - 1;
  }

  /// The tensor whose elements a tensor has in the same order, behind all views.
  [[nodiscard]] TensorId root_of(TensorId id) const {
    while (single_->tensors[id].producers.size() == 1) {
      const Occurrence& maker = single_->layers[single_->tensors[id].producers[0]];
      const bool is_same = std::holds_alternative<op::View>(*maker.layer) && !maker.inputs.empty() && maker.inputs[0] &&
                           maker.outputs.size() == 1 && type_of(*maker.inputs[0]) == type_of(id) &&
                           element_count(dims(*maker.inputs[0])) == element_count(dims(id));
      if (!is_same) break;
      id = *maker.inputs[0];
    }
    return id;
  }

  /// Steps from Fowler, Noll and Vo's hash FNV-1a, for words in place of bytes.
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t digest, std::uint64_t word) {
    digest = (digest ^ word) * 1099511628211U;
    return digest ^ digest >> 29U;
  }
  [[nodiscard]] static bool commutes(const ExpressionStep& step) {
    using enum ElementwiseFn;
    if (step.kind != StepKind::function) return false;
    return step.fn == add || step.fn == mul || step.fn == max || step.fn == min || step.fn == equal ||
           step.fn == logical_and || step.fn == logical_or || step.fn == logical_xor;
  }

  std::size_t add(ExpressionStep step) {
    if (commutes(step) && values_[step.of[1]].digest < values_[step.of[0]].digest) std::swap(step.of[0], step.of[1]);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (values_[i].step == step) return i;
    Value value{.step = step, .type = values_[step.of[step.kind == StepKind::choice ? 1 : 0]].type, .by_row = true};
    std::uint64_t digest = mixed(static_cast<std::uint64_t>(step.kind), static_cast<std::uint64_t>(step.fn));
    digest = mixed(mixed(digest, static_cast<std::uint64_t>(step.reduce)), static_cast<std::uint64_t>(step.to));
    for (std::size_t i = 0; i < step.operands(); ++i) {
      digest = mixed(digest, values_[step.of[i]].digest);
      value.by_row = value.by_row && values_[step.of[i]].by_row;
    }
    if (step.kind == StepKind::function && is_predicate(step.fn)) value.type = DataType::boolean;
    if (step.kind == StepKind::conversion) value.type = step.to;
    if (step.kind == StepKind::reduction) value.by_row = true;
    value.digest = digest;
    values_.push_back(value);
    return values_.size() - 1;
  }
  std::size_t function(ElementwiseFn fn, std::size_t a, std::size_t b = 0) { return add({.fn = fn, .of = {a, b}}); }
  std::size_t reduced(op::ReduceFn reduce, std::size_t a) {
    return add({.kind = StepKind::reduction, .reduce = reduce, .of = {a}});
  }

  /// Adds the steps of a layer. False if it does not fit.
  [[nodiscard]] bool add(const Part& part) {
    if (is_view(part)) {
      if (part.inputs.empty() || !part.inputs[0]) return false;
      const TensorId from = *part.inputs[0];
      if (element_count(dims(from)) != element_count(dims(part.output)) || type_of(from) != type_of(part.output))
        return false;
      if (const auto made = made_.find(from); made != made_.end()) made_[part.output] = made->second;
      else roots_[part.output] = roots_.contains(from) ? roots_[from] : from;
      return true;
    }
    const auto value = std::visit([&](const auto& op) { return steps_of(op, part); }, *part.layer);
    if (!value || values_.size() > op::Expression::most_inputs + op::Expression::most_steps) return false;
    const std::int64_t count = element_count(dims(part.output));
    if (values_[*value].type != type_of(part.output) || (values_[*value].by_row != (count != elements_) && reduces()))
      return false;
    made_[part.output] = *value;
    return true;
  }

  using Made = std::optional<std::size_t>;
  template <class Op>
  [[nodiscard]] Made steps_of(const Op&, const Part&) {
    return std::nullopt;
  }
  [[nodiscard]] Made steps_of(const op::Unary& unary, const Part& part) {
    const auto x = operand(part.inputs.at(0), dims(part.output));
    if (!x) return std::nullopt;
    return add({.fn = unary.fn, .of = {*x}, .alpha = unary.alpha, .beta = unary.beta});
  }
  [[nodiscard]] Made steps_of(const op::Binary& binary, const Part& part) {
    if (part.inputs.size() != 2 || !part.inputs[0] || !part.inputs[1]) return std::nullopt;
    const auto seen = collapse(std::vector<Dims>{dims(*part.inputs[0]), dims(*part.inputs[1])});
    const auto is = [](const Dims& sizes, const TensorShape& shape) {
      return std::equal(sizes.begin(), sizes.end(), shape.begin(), shape.end());
    };  // other shapes if an old file broadcasts along an axis
    if (!(is(seen[0], binary.a) && is(seen[1], binary.b)) && !(is(seen[1], binary.a) && is(seen[0], binary.b)))
      return std::nullopt;
    const auto a = operand(part.inputs[0], dims(part.output)), b = operand(part.inputs[1], dims(part.output));
    return a && b ? Made(function(binary.fn, *a, *b)) : std::nullopt;
  }
  [[nodiscard]] Made steps_of(const op::Nary& nary, const Part& part) {
    Made value = operand(part.inputs.at(0), dims(part.output));
    for (std::size_t i = 1; i < part.inputs.size() && value; ++i) {
      const auto next = operand(part.inputs[i], dims(part.output));
      value = next ? Made(function(nary.fn, *value, *next)) : std::nullopt;
    }
    return value;
  }
  [[nodiscard]] Made steps_of(const op::Where&, const Part& part) {
    if (part.inputs.size() != 3) return std::nullopt;
    const auto c = operand(part.inputs[0], dims(part.output)), x = operand(part.inputs[1], dims(part.output)),
               y = operand(part.inputs[2], dims(part.output));
    if (!c || !x || !y) return std::nullopt;
    return add({.kind = StepKind::choice, .of = {*c, *x, *y}});
  }
  [[nodiscard]] Made steps_of(const op::Cast& cast, const Part& part) {
    const auto x = operand(part.inputs.at(0), dims(part.output));
    if (!x) return std::nullopt;
    return add({.kind = StepKind::conversion, .to = stored_type(cast.to), .of = {*x}});
  }
  [[nodiscard]] Made steps_of(const op::Reduce& reduce, const Part& part) {
    using enum ElementwiseFn;
    using Fn = op::ReduceFn;
    const auto x = operand(part.inputs.at(0), dims(*part.inputs.at(0)));
    if (!x || values_[*x].by_row) return std::nullopt;
    if (reduce.fn == Fn::l2) return function(sqrt, reduced(Fn::sum_square, *x));
    if (reduce.fn == Fn::log_sum) return function(log, reduced(Fn::sum, *x));
    if (reduce.fn != Fn::log_sum_exp) return reduced(reduce.fn, *x);
    const std::size_t most = reduced(Fn::max, *x);
    return function(add_, function(log, reduced(Fn::sum, function(exp, function(sub, *x, most)))), most);
  }
  [[nodiscard]] Made steps_of(const op::Softmax& softmax, const Part& part) {
    using enum ElementwiseFn;
    const auto x = operand(part.inputs.at(0), dims(part.output));
    if (!x || values_[*x].by_row) return std::nullopt;
    const std::size_t below = function(sub, *x, reduced(op::ReduceFn::max, *x)), power = function(exp, below);
    const std::size_t sum = reduced(op::ReduceFn::sum, power);
    return softmax.log ? function(sub, below, function(log, sum)) : function(mul, power, function(reciprocal, sum));
  }
  /// 1 / sqrt(variance + epsilon)
  [[nodiscard]] std::size_t inverse_deviation(std::size_t variance, const Part& part) {
    using enum ElementwiseFn;
    const std::size_t epsilon = input({.type = values_[variance].type, .shape = TensorShape::filled(sizes_.size(), 1)},
                                      {.epsilon_of = part.member}, true);
    return function(reciprocal, function(sqrt, function(add_, variance, epsilon)));
  }
  /// x - mean (or x), divided by its deviation.
  [[nodiscard]] Made normalized(const Part& part, bool subtracts) {
    using enum ElementwiseFn;
    const auto x = operand(part.inputs.at(0), dims(part.output));
    if (!x || values_[*x].by_row) return std::nullopt;
    const std::size_t centered = subtracts ? function(sub, *x, reduced(op::ReduceFn::mean, *x)) : *x;
    const std::size_t variance = reduced(op::ReduceFn::mean, function(square, centered));
    return function(mul, centered, inverse_deviation(variance, part));
  }
  [[nodiscard]] Made steps_of(const op::BatchNorm&, const Part& part) {
    using enum ElementwiseFn;
    const auto x = operand(part.inputs.at(0), dims(part.output));
    const auto scale = channels(part, 1), bias_value = channels(part, 2), mean = channels(part, 3),
               variance = channels(part, 4);
    if (!x || !scale || !bias_value || !mean || !variance) return std::nullopt;
    const std::size_t factor = function(mul, *scale, inverse_deviation(*variance, part));
    return function(add_, function(mul, function(sub, *x, *mean), factor), *bias_value);
  }
  [[nodiscard]] Made steps_of(const op::GroupNorm&, const Part& part) {
    const auto y = normalized(part, true);
    const auto scale = channels(part, 1), shift = channels(part, 2);
    if (!y || !scale || !shift) return std::nullopt;
    return function(add_, function(ElementwiseFn::mul, *y, *scale), *shift);
  }
  [[nodiscard]] Made steps_of(const op::LayerNorm& norm, const Part& part) {
    using enum ElementwiseFn;
    const auto made = normalized(part, !norm.rms);
    if (!made) return std::nullopt;
    std::size_t y = *made;
    std::size_t next = norm.first_weight();
    for (const auto& [has, fn] : {std::pair(norm.scale, mul), std::pair(norm.bias, add_)}) {
      if (!has) continue;
      while (next < part.inputs.size() && !part.inputs[next]) ++next;
      const auto weight = next < part.inputs.size() ? operand(part.inputs[next++], dims(part.output)) : std::nullopt;
      if (!weight) return std::nullopt;
      y = function(fn, y, *weight);
    }
    return y;
  }
  static constexpr ElementwiseFn add_ = ElementwiseFn::add;  ///< `add` is a function here

  /// Numbers the values in an order that does not depend on the order of the layers, and folds dimensions.
  [[nodiscard]] std::optional<DraftedExpression> assemble(std::span<const TensorId> results) {
    DraftedExpression draft;
    op::Expression& layer = draft.layer;
    std::vector<std::size_t> inputs, steps;
    std::vector<bool> is_seen(values_.size(), false);
    std::vector<std::size_t> written;
    for (const auto id : results) {
      const auto made = made_.find(id);
      if (made == made_.end() || !values_[made->second].step) return std::nullopt;
      written.push_back(made->second);
      visit(made->second, is_seen, inputs, steps);
    }
    if (written.size() > TensorShape::capacity) return std::nullopt;
    std::vector<std::size_t> number(values_.size(), 0);
    for (std::size_t i = 0; i < inputs.size(); ++i) number[inputs[i]] = i;
    for (std::size_t i = 0; i < steps.size(); ++i) number[steps[i]] = inputs.size() + i;
    for (const auto value : inputs) {
      layer.in.push_back(values_[value].input);
      draft.inputs.push_back(values_[value].source);
    }
    for (const auto value : steps) {
      ExpressionStep step = *values_[value].step;
      for (std::size_t i = 0; i < step.operands(); ++i) step.of[i] = number[step.of[i]];
      for (std::size_t i = step.operands(); i < step.of.size(); ++i) step.of[i] = 0;
      layer.steps.push_back(step);
    }
    for (const auto value : written) layer.out.push_back(static_cast<std::int64_t>(number[value]));
    fold(layer);
    layer.type = layer.own_type();
    return layer.consistent() ? std::optional(std::move(draft)) : std::nullopt;
  }

  void visit(std::size_t value, std::vector<bool>& is_seen, std::vector<std::size_t>& inputs,
             std::vector<std::size_t>& steps) const {
    if (is_seen[value]) return;
    is_seen[value] = true;
    const auto& step = values_[value].step;
    if (!step) return inputs.push_back(value);
    for (std::size_t i = 0; i < step->operands(); ++i) visit(step->of[i], is_seen, inputs, steps);
    steps.push_back(value);
  }

  /// Joins adjacent dimensions that each input has or lacks together. Rows stay apart from what they consist of.
  void fold(op::Expression& layer) const {
    const std::size_t outer = sizes_.size() - inner_;
    const auto has = [&](const ExpressionInput& input, std::size_t axis) {
      return input.shape.empty() || input.shape[axis] != 1;
    };
    std::vector<std::size_t> first;  // for each joined dimension, the first of its parts
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      const bool joins = !first.empty() && !(reduces() && axis == outer) &&
                         std::all_of(layer.in.begin(), layer.in.end(), [&](const ExpressionInput& input) {
                           return has(input, axis) == has(input, axis - 1);
                         });
      if (!joins) first.push_back(axis);
    }
    const auto joined = [&](std::span<const std::int64_t> sizes) {
      TensorShape shape = TensorShape::filled(first.size(), 1);
      for (std::size_t k = 0, axis = 0; axis < sizes.size(); ++axis) {
        if (k + 1 < first.size() && axis == first[k + 1]) ++k;
        shape[k] *= sizes[axis];
      }
      return shape;
    };
    for (auto& input : layer.in)
      if (!input.shape.empty()) input.shape = joined(std::span(input.shape.begin(), input.shape.size()));
    layer.x = joined(sizes_);
    layer.rows = reduces() ? std::count_if(first.begin(), first.end(), [&](auto axis) { return axis < outer; }) : 0;
  }

  const LayerGraph* single_;
  std::int64_t elements_ = 0;
  std::optional<std::int64_t> row_{};
  Dims sizes_{};           ///< refined dimensions
  std::size_t inner_ = 0;  ///< how many of them a row has; all of them without reductions
  std::vector<Value> values_{};
  std::map<TensorId, std::size_t> made_{};  ///< tensors that steps compute
  std::map<TensorId, TensorId> roots_{};    ///< views of inputs
};

}  // namespace benanza::detail
