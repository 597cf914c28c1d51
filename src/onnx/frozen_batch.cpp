// SPDX-License-Identifier: Apache-2.0
// The part of Builder that propagates a new batch through Reshape, Expand and constants (rebatch.hpp says why).
#include "batch_axis.hpp"
#include "build.hpp"
#include "fold.hpp"
#include "proto.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace benanza::importer {
namespace {

/// The integers of a tensor that became `dims` along one axis, if they are equal or that axis had one place.
std::optional<Literal> repeated(const Dims& old_dims, const Dims& dims, const Literal& literal) {
  constexpr std::int64_t most = 8192;
  const auto axis = changed_axis(old_dims, dims);
  if (!axis || literal.ints.empty() || element_count(dims) > most) return std::nullopt;
  const auto other = [&](std::int64_t one) { return one != literal.ints.front(); };
  if (std::none_of(literal.ints.begin(), literal.ints.end(), other))
    return Literal{.ints = std::vector(static_cast<std::size_t>(element_count(dims)), literal.ints.front()),
                   .floats = {}};
  if (old_dims[*axis] != 1) return std::nullopt;
  const std::int64_t block = element_count(std::span(dims).subspan(*axis + 1));
  Literal result;
  for (auto from = literal.ints.begin(); from != literal.ints.end(); from += block)
    for (std::int64_t i = 0; i < dims[*axis]; ++i) result.ints.insert(result.ints.end(), from, from + block);
  return result;
}

}  // namespace

void Builder::remember(const Scope& scope, const std::string& name, ValueId id) {
  if (!record_) return;
  const Value& value = scope.frame.graph.values[id];
  PastValue past{.dims = value.dims, .ints = std::nullopt};
  if (value.literal && !is_float(value.type)) past.ints = value.literal->ints;
  (*record_)[&scope.source].insert_or_assign(name, std::move(past));
}

const PastValue* Builder::past(const Scope& scope, const std::string& name) const {
  if (!before_) return nullptr;
  const History& history = before_->get();
  for (const Scope* at = &scope; at != nullptr; at = at->parent)
    if (at->ids.contains(name) || at == &scope) {
      const auto body = history.find(&at->source);
      if (body == history.end()) continue;
      if (const auto found = body->second.find(name); found != body->second.end()) return &found->second;
    }
  return nullptr;
}

Builder::Types Builder::reshape_types(Step& step) {
  auto& values = step.scope.frame.graph.values;
  if (!step.inputs[0] || !step.inputs[1]) throw InputError("expected data and a target");
  if (!values[*step.inputs[1]].literal) return inferred_types(step);
  const DataType type = values[*step.inputs[0]].type;
  const Dims x = values[*step.inputs[0]].dims, target = values[*step.inputs[1]].literal->ints;
  const PastValue* old_x = past(step.scope, step.proto.input(0));
  const PastValue* old_target = past(step.scope, step.proto.input(1));
  const PastValue* old_y = past(step.scope, step.proto.output(0));
  // A target that was computed from the input's shape already follows the batch.
  if (old_x && old_y && old_target && old_target->ints == target && old_x->dims != x) {
    const auto known = within_.find({&step.scope.frame, *step.inputs[0]});
    const Within within = known == within_.end() ? 1 : known->second;
    for (const auto& candidate : rebatched_targets(old_x->dims, x, within, *binding_.old_batch, old_y->dims, target)) {
      if (!accepted_by_consumers(step, candidate.dims)) continue;
      step.within = candidate.within;
      resize_constant(step, 1, {static_cast<std::int64_t>(target.size())});
      values[*step.inputs[1]].literal = Literal{.ints = candidate.dims, .floats = {}};
      return {make_type(type, candidate.dims)};
    }
  }
  return {make_type(type, resolved_target(x, target, step.node.attribute<std::int64_t>("allowzero", 0) != 0))};
}

Builder::Types Builder::expand_types(Step& step) {
  auto& values = step.scope.frame.graph.values;
  if (step.inputs.size() != 2 || !step.inputs[0] || !step.inputs[1]) throw InputError("expected data and a shape");
  if (!values[*step.inputs[1]].literal) return inferred_types(step);
  const Dims x = values[*step.inputs[0]].dims;
  Dims target = values[*step.inputs[1]].literal->ints;
  const PastValue* old_x = past(step.scope, step.proto.input(0));
  const PastValue* old_target = past(step.scope, step.proto.input(1));
  if (const auto axis =
          old_x && old_target && old_target->ints == target ? changed_axis(old_x->dims, x) : std::nullopt) {
    const std::size_t from_right = x.size() - *axis;
    if (from_right <= target.size() && target[target.size() - from_right] == old_x->dims[*axis]) {
      target[target.size() - from_right] = x[*axis];
      resize_constant(step, 1, {static_cast<std::int64_t>(target.size())});
      values[*step.inputs[1]].literal = Literal{.ints = target, .floats = {}};
    }
  }
  for (const auto size : target)
    if (size < 0) throw InputError("shape " + shape_text(target) + " holds a negative size");
  return {make_type(values[*step.inputs[0]].type, broadcast_shapes(x, target))};
}

/// Makes input `input` a constant of other dimensions, for this node only.
void Builder::resize_constant(Step& step, std::size_t input, Dims dims) {
  Frame& frame = step.scope.frame;
  auto literal = std::exchange(frame.graph.values[*step.inputs[input]].literal, std::nullopt);
  Value value = frame.graph.values[*step.inputs[input]];
  frame.graph.values[*step.inputs[input]].literal = std::move(literal);
  if (value.origins.empty() && element_count(dims) > value.elements()) value.origins = {*step.inputs[input]};
  value.dims = std::move(dims);
  value.stored.reset();
  value.banded.reset();
  value.diagonals.reset();
  step.inputs[input] = frame.add(std::move(value));
}

/// The same, with the integers of one image for each image.
void Builder::repeat_constant(Step& step, std::size_t input, const Dims& dims) {
  auto& values = step.scope.frame.graph.values;
  const Value& old = values[*step.inputs[input]];
  auto literal = old.literal ? repeated(old.dims, dims, *old.literal) : std::nullopt;
  resize_constant(step, input, dims);
  values[*step.inputs[input]].literal = std::move(literal);
}

/// Adapts the batch in the `sizes` of a Resize and in the ends of a Slice that takes all of it.
void Builder::adapt_sizes(Step& step) {
  auto& values = step.scope.frame.graph.values;
  const std::string& op = step.node.op_type;
  if ((op != "Resize" && op != "Slice") || !step.node.domain.empty() || step.inputs.empty() || !step.inputs[0]) return;
  const PastValue* old = past(step.scope, step.proto.input(0));
  const auto axis = old ? changed_axis(old->dims, values[*step.inputs[0]].dims) : std::nullopt;
  const std::size_t which = op == "Resize" ? 3 : 2;
  const auto ints = [&](std::size_t i) {
    const bool known = i < step.inputs.size() && step.inputs[i] && values[*step.inputs[i]].literal;
    return known ? values[*step.inputs[i]].literal->ints : std::vector<std::int64_t>();
  };
  std::vector<std::int64_t> sizes = ints(which);
  if (!axis || sizes.empty()) return;
  const std::vector<std::int64_t> starts = op == "Slice" ? ints(1) : Dims(sizes.size(), 0),
                                  axes = op == "Slice" ? ints(3) : step.node.attribute<Dims>("axes", {});
  const PastValue* old_sizes = past(step.scope, step.proto.input(static_cast<int>(which)));
  if (!old_sizes || old_sizes->ints != sizes) return;
  const std::size_t rank = old->dims.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t at = i < axes.size() ? normal_axis(axes[i], rank) : i;
    if (at != *axis || sizes[i] != old->dims[at] || i >= starts.size() || starts[i] != 0) continue;
    sizes[i] = values[*step.inputs[0]].dims[at];
    resize_constant(step, which, {static_cast<std::int64_t>(sizes.size())});
    values[*step.inputs[which]].literal = Literal{.ints = sizes, .floats = {}};
  }
}

/// Adapts constants of the old batch that are combined with values of the new one: a class token in a Concat, the
/// initial state of an LSTM.
void Builder::adapt_constants(Step& step) {
  auto& values = step.scope.frame.graph.values;
  if (!step.node.domain.empty() || step.constant) return;
  const std::string& op = step.node.op_type;
  // as_strided is exported as a Gather from the flattened value, with indices for the elements of one batch.
  if (op == "Gather" && step.inputs.size() == 2 && step.inputs[0] && step.inputs[1] &&
      values[*step.inputs[1]].constant) {
    const PastValue* old = past(step.scope, step.proto.input(0));
    Dims dims = values[*step.inputs[1]].dims;
    if (!old || old->dims.size() != 1 || dims.size() < 2 || dims[0] != *binding_.old_batch ||
        old->dims == values[*step.inputs[0]].dims)
      return;
    dims[0] = binding_.batch;
    return resize_constant(step, 1, std::move(dims));
  }
  // Positions for each image of the batch.
  if ((op == "GatherElements" || op == "GatherND") && step.inputs.size() == 2 && step.inputs[0] && step.inputs[1] &&
      values[*step.inputs[1]].constant) {
    const PastValue* old = past(step.scope, step.proto.input(0));
    const Dims& x = values[*step.inputs[0]].dims;
    const auto axis = old ? changed_axis(old->dims, x) : std::nullopt;
    Dims dims = values[*step.inputs[1]].dims;
    if (!axis || *axis >= dims.size() || dims[*axis] != old->dims[*axis]) return;
    const bool follows = op == "GatherND"
                             ? static_cast<std::int64_t>(*axis) < step.node.attribute<std::int64_t>("batch_dims", 0)
                             : *axis != normal_axis(step.node.attribute<std::int64_t>("axis", 0), x.size());
    if (!follows) return;
    dims[*axis] = x[*axis];
    return repeat_constant(step, 1, dims);
  }
  // A mask that has one number for each image of the batch, such as that of stochastic depth. Other tensors that are
  // drawn may be weights.
  if (step.op.facts->is(Trait::random)) {
    const std::int64_t old = *binding_.old_batch;
    if (old < 2 || step.inputs.size() != 1 || !step.inputs[0] || !values[*step.inputs[0]].constant) return;
    Dims dims = values[*step.inputs[0]].dims;
    if (dims.size() < 2 || dims[0] != old || element_count(dims) != old) return;
    dims[0] = binding_.batch;
    return resize_constant(step, 0, std::move(dims));
  }
  const bool concat = op == "Concat", recurrent = step.op.facts->is(Trait::recurrent),
             broadcasting = step.op.facts->is(Trait::broadcasts);
  const auto is_constant = [&](const auto& input) { return input && values[*input].constant; };
  if ((!concat && !recurrent && !broadcasting) || std::none_of(step.inputs.begin(), step.inputs.end(), is_constant))
    return;
  for (std::size_t from = 0; from < step.inputs.size(); ++from) {
    if (!step.inputs[from] || values[*step.inputs[from]].constant) continue;
    const PastValue* old = past(step.scope, step.proto.input(static_cast<int>(from)));
    const Dims x = values[*step.inputs[from]].dims;
    const auto axis = old ? changed_axis(old->dims, x) : std::nullopt;
    if (!axis) continue;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      if (!step.inputs[i] || !values[*step.inputs[i]].constant) continue;
      Dims dims = values[*step.inputs[i]].dims;
      std::size_t at = dims.size();
      if (recurrent && (i == 5 || i == 6) && from == 0 && dims.size() == 3)
        at = step.node.attribute<std::int64_t>("layout", 0) != 0 ? 0 : 1;
      if (recurrent && i == 4 && from == 0) at = 0;  // the length of each sequence
      if (concat && dims.size() == x.size() &&
          *axis != normal_axis(step.node.attribute<std::int64_t>("axis", 1), x.size()))
        at = *axis;
      // If operands are broadcast, a size of 1 fits every batch.
      if (broadcasting && dims.size() >= x.size() - *axis && old->dims[*axis] != 1)
        at = dims.size() - (x.size() - *axis);
      if (at >= dims.size() || dims[at] != old->dims[*axis]) continue;
      dims[at] = x[*axis];
      if (recurrent && i == 4) repeat_constant(step, i, dims);
      else resize_constant(step, i, std::move(dims));
    }
  }
}

/// Whether the nodes that read this output could work with `candidate`. This excludes shapes of a frozen Reshape that
/// the next matrix product does not accept.
bool Builder::accepted_by_consumers(Step& step, const Dims& candidate) {
  Scope& scope = step.scope;
  const std::string& name = step.proto.output(0);
  for (const auto* consumer : consumers_of(scope, name)) {
    const std::string& op = consumer->op_type();
    if ((op != "Gemm" && op != "MatMul") || consumer->input_size() < 2) continue;
    const bool first = consumer->input(0) == name;
    const auto other = find_value(scope, consumer->input(first ? 1 : 0));
    if (!other) continue;
    const Dims& dims = scope.frame.graph.values[*other].dims;
    const auto flag = [&](const char* key) {
      const auto* attribute = find_attribute(*consumer, key);
      return attribute != nullptr && attribute->i() != 0;
    };
    try {
      if (first) (void)product_shape(candidate, dims, flag("transA"), flag("transB"));
      else (void)product_shape(dims, candidate, flag("transA"), flag("transB"));
    } catch (const InputError&) {
      return false;
    }
  }
  return true;
}

/// If the changed axis of an output is like that of an input, the batch has the same position within it.
void Builder::inherit_position(Step& step) {
  if (step.within && *step.within != 1 && step.node.outputs[0])
    within_[{&step.scope.frame, *step.node.outputs[0]}] = *step.within;
  if (!before_ || within_.empty() || step.node.op_type == "Reshape") return;
  auto& frame = step.scope.frame;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (!step.inputs[i]) continue;
    const auto known = within_.find({&frame, *step.inputs[i]});
    const PastValue* old_x = past(step.scope, step.proto.input(static_cast<int>(i)));
    if (known == within_.end() || !old_x) continue;
    const Within within = known->second;
    const Dims& x = frame.graph.values[*step.inputs[i]].dims;
    const auto axis = changed_axis(old_x->dims, x);
    if (!axis) continue;
    for (std::size_t k = 0; k < step.node.outputs.size(); ++k) {
      if (!step.node.outputs[k]) continue;
      const PastValue* old_y = past(step.scope, step.proto.output(static_cast<int>(k)));
      const Dims& y = frame.graph.values[*step.node.outputs[k]].dims;
      const auto changed = old_y ? changed_axis(old_y->dims, y) : std::nullopt;
      if (changed && y[*changed] == x[*axis] && old_y->dims[*changed] == old_x->dims[*axis])
        within_[{&frame, *step.node.outputs[k]}] = within;
    }
  }
}

/// The items of a batch are independent requests, so their work grows as their number does. A product that takes more
/// compares them: an attention over all rows of all items, or a correlation of each with each. A recurrent operator
/// whose sequences become longer reads the items one after the other.
void Builder::note_combined_items(const Step& step) {
  if (step.inputs.size() < 2 || !step.inputs[0] || !step.inputs[1] || !step.node.has_output(0)) return;
  const auto& values = step.scope.frame.graph.values;
  const auto dims_of = [&](ValueId id) -> const Dims& { return values[id].dims; };
  const Dims& x = dims_of(*step.inputs[0]);
  const auto found = [&](double excess) {
    excess_ += excess;
    if (combines_items_.empty()) combines_items_ = "'" + step.node.name + "' (" + step.node.op_type + ")";
  };
  if (step.op.facts->is(Trait::recurrent)) {
    may_combine_items_ = true;
    const PastValue* old = before_ ? past(step.scope, step.proto.input(0)) : nullptr;
    const std::size_t along = step.node.attribute<std::int64_t>("layout", 0) != 0 ? 1 : 0;
    if (old != nullptr && x.size() == 3 && old->dims.size() == 3 && x[along] != old->dims[along])
      found(std::numeric_limits<double>::infinity());
    return;
  }
  const auto size = product_size(step.node, x, dims_of(*step.inputs[1]), dims_of(*step.node.outputs[0]));
  if (!size) return;
  const bool is_of_computed = !values[*step.inputs[0]].constant && !values[*step.inputs[1]].constant;
  may_combine_items_ = may_combine_items_ || is_of_computed;
  if (!before_) return;
  const double batches = static_cast<double>(binding_.batch) / static_cast<double>(*binding_.old_batch);
  products_ += *size * std::max(1.0, 1 / batches);  // at the larger batch
  if (!is_of_computed) return;
  const PastValue* a = past(step.scope, step.proto.input(0));
  const PastValue* b = past(step.scope, step.proto.input(1));
  const PastValue* y = past(step.scope, step.proto.output(0));
  if (a == nullptr || b == nullptr || y == nullptr || y->dims.size() != dims_of(*step.node.outputs[0]).size()) return;
  const auto old_size = product_size(step.node, a->dims, b->dims, y->dims);
  if (!old_size || *old_size <= 0) return;
  const double less = std::min(*old_size, *size), more = std::max(*old_size, *size),
               growth = std::max(batches, 1 / batches);
  constexpr double rounding = 1e-4;
  if (more > less * growth * (1 + rounding)) found(more - less * growth);
}

std::string Builder::combines_items() const {
  constexpr double share = 0.01;
  return excess_ > share * products_ ? combines_items_ : std::string();
}

bool Builder::batch_reaches_output() const {
  if (!before_) return false;
  const History& history = before_->get();
  const auto body = history.find(&model_.graph());
  if (body == history.end()) return false;
  for (int i = 0; i < model_.graph().output_size() && i < static_cast<int>(output_dims_.size()); ++i) {
    const auto old = body->second.find(model_.graph().output(i).name());
    if (old != body->second.end() && old->second.dims != output_dims_[static_cast<std::size_t>(i)]) return true;
  }
  return false;
}

}  // namespace benanza::importer
