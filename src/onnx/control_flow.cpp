// SPDX-License-Identifier: Apache-2.0
// The part of Builder for If, Loop and Scan. Their bodies become separate graphs. If the passes of a Loop change sizes,
// they stand in its place instead (unroll.cpp).
#include "control_flow.hpp"

#include "build.hpp"
#include "decompose.hpp"
#include "fold.hpp"
#include "proto.hpp"
#include <benanza/model/detail/pass_numbers.hpp>
#include <benanza/model/fold_quantization.hpp>

#include <algorithm>

namespace benanza::importer {
namespace {

constexpr int deepest_body = 24, deepest_loop = 8;

/// A loop that encloses what is visited while this exists. Each level doubles the time of an analysis.
class Level {
 public:
  explicit Level(int& loops) : loops_(loops) {
    if (loops >= deepest_loop) throw InputError("loops are nested more than " + std::to_string(deepest_loop) + " deep");
    ++loops;
  }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { --loops_; }

 private:
  int& loops_;
};

std::optional<std::int64_t> scalar_of(const Frame& frame, const std::optional<ValueId>& id) {
  if (!id) return std::nullopt;
  const auto& literal = frame.graph.values[*id].literal;
  return literal && literal->ints.size() == 1 ? std::optional(literal->ints[0]) : std::nullopt;
}

/// The common lower bound of two shapes: the smaller size where they differ. If their ranks differ, the shape with
/// fewer elements.
Value smaller_of(const Value& a, const Value& b) {
  Value result = a;
  result.data_dependent = a.data_dependent || b.data_dependent || a.dims != b.dims;
  if (a.dims.size() != b.dims.size()) result.dims = a.elements() <= b.elements() ? a.dims : b.dims;
  else
    for (std::size_t i = 0; i < a.dims.size(); ++i) result.dims[i] = std::min(a.dims[i], b.dims[i]);
  return result;
}

}  // namespace

const onnx::GraphProto& Builder::body_of(const Step& step, const std::string& attribute) const {
  const auto* found = find_attribute(step.proto, attribute);
  if (found == nullptr || !found->has_g()) throw InputError("attribute '" + attribute + "' is missing");
  if (depth_ >= deepest_body) throw InputError("bodies are nested more than " + std::to_string(deepest_body) + " deep");
  return found->g();
}

std::unique_ptr<Frame> Builder::open_body(Step& step) {
  auto frame = std::make_unique<Frame>();
  frame->parent = &step.scope.frame;
  frame->inside_loop = step.scope.frame.inside_loop;
  return frame;
}

ValueId Builder::add_formal(Scope& scope, const std::string& name, Value value, const onnx::TypeProto* outer) {
  value.name = name;
  // A sequence stays a sequence; the input of a Scan is a slice of a tensor.
  const ValueId id = outer == nullptr ? scope.frame.add(std::move(value)) : scope.frame.add(std::move(value), *outer);
  scope.ids[name] = id;
  scope.frame.graph.inputs.push_back(id);
  remember(scope, name, id);
  return id;
}

void Builder::finish_body(Step& step, Scope& scope, const std::string& label) {
  ++depth_;
  add_initializers(scope);
  walk(scope);
  --depth_;
  Graph& graph = scope.frame.graph;
  graph.name = label;
  graph.batch = binding_.batch;
  graph.outputs = outputs_of(scope);
  step.merge &= scope.frame.repeatable;
  if (!binding_.executable) fold_quantization(graph);
  decompose(graph, binding_.executable);
  for (const auto& [here, outer] : graph.captures) step.constant &= step.scope.frame.graph.values[outer].constant;
  for (const auto& node : graph.nodes)
    step.constant &= node.domain.empty() && node.bodies.empty() && !node.op_type.starts_with("Random") &&
                     node.op_type != "Bernoulli" && node.op_type != "Multinomial";
  step.node.bodies.push_back({.label = label, .graph = std::move(graph)});
}

void Builder::finish_control_flow(Step& step, std::vector<Value> values, const Frame& body) {
  if (values.size() < to_size(step.proto.output_size()))
    throw InputError("its body gives " + std::to_string(values.size()) + " outputs, expected " +
                     std::to_string(step.proto.output_size()));
  values.resize(to_size(step.proto.output_size()));
  Types types;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].name = step.proto.output(static_cast<int>(i));
    (void)values[i].elements();
    // For an If and for a Loop's first outputs, a sequence in the body is a sequence outside.
    const auto& outputs = step.node.bodies.back().graph.outputs;
    const std::size_t inside = step.node.op_type == "Loop" ? i + 1 : i;
    const bool tensor = inside >= outputs.size() || body.facts[outputs[inside]].type->has_tensor_type();
    types.push_back(tensor ? make_type(values[i].type, values[i].dims) : *body.facts[outputs[inside]].type);
  }
  emit(step, std::move(values), types);
}

/// Replaces the If by this branch, with its own names and the values of the graph around it.
void Builder::put_in_place(Step& step, const onnx::GraphProto& branch) {
  Scope scope{.frame = step.scope.frame, .parent = &step.scope, .source = branch};
  ++depth_;
  add_initializers(scope);
  walk(scope);
  --depth_;
  const auto outputs = outputs_of(scope);
  if (outputs.size() < to_size(step.proto.output_size()))
    throw InputError("its branch gives " + std::to_string(outputs.size()) + " outputs, expected " +
                     std::to_string(step.proto.output_size()));
  for (int i = 0; i < step.proto.output_size(); ++i) alias(step, i, outputs[to_size(i)]);
}

/// The branch as a body. Null if its shapes do not fit: it is never taken with inputs of these sizes.
std::unique_ptr<Frame> Builder::try_branch(Step& step, const onnx::GraphProto& branch, const char* label) {
  if (impossible_.contains(&branch)) return nullptr;  // an enclosing If has been visited before
  const int depth = depth_;
  auto frame = open_body(step);
  Scope scope{.frame = *frame, .parent = &step.scope, .source = branch};
  try {
    finish_body(step, scope, label);
  } catch (const LocatedError& error) {
    if (!error.of_shapes) throw;
    depth_ = depth;
    impossible_[&branch] = error.what();
    return nullptr;
  }
  return frame;
}

void Builder::visit_if(Step& step) {
  const auto& then_branch = body_of(step, "then_branch");
  const auto& else_branch = body_of(step, "else_branch");
  if (const auto condition = step.inputs.empty() ? std::nullopt : scalar_of(step.scope.frame, step.inputs[0]))
    return put_in_place(step, *condition != 0 ? then_branch : else_branch);
  const auto then_frame = try_branch(step, then_branch, "then_branch");
  const auto else_frame = try_branch(step, else_branch, "else_branch");
  if (!then_frame && !else_frame) throw LocatedError(impossible_[&then_branch], true);
  if (!then_frame || !else_frame) {
    const auto& left_out = then_frame ? else_branch : then_branch;
    const std::string name = step.proto.name().empty() ? step.proto.output(0) : step.proto.name();
    root_.graph.warnings.push_back("the " + std::string(then_frame ? "else_branch" : "then_branch") + " of '" + name +
                                   "' (If) is left out, because its shapes do not fit: " + impossible_[&left_out]);
    step.node.bodies.clear();
    return put_in_place(step, then_frame ? then_branch : else_branch);
  }
  const Graph &taken = step.node.bodies[0].graph, &other = step.node.bodies[1].graph;
  if (taken.outputs.size() != other.outputs.size())
    throw InputError("its branches give " + std::to_string(taken.outputs.size()) + " and " +
                     std::to_string(other.outputs.size()) + " outputs");
  std::vector<Value> values;
  for (std::size_t i = 0; i < taken.outputs.size(); ++i) {
    const Value one = plain(taken.values[taken.outputs[i]]), two = plain(other.values[other.outputs[i]]);
    values.push_back(smaller_of(one, two));
    values.back().unknown_size = values.back().unknown_size || one.dims != two.dims;
  }
  finish_control_flow(step, std::move(values), *else_frame);
}

/// The body of a Loop with carried inputs of these sizes. `around` has the names that the body can see.
std::unique_ptr<Frame> Builder::build_pass(Step& step, const onnx::GraphProto& body, const Scope& around,
                                           std::span<const Dims> sizes) {
  Frame& outer = step.scope.frame;
  auto frame = open_body(step);
  frame->inside_loop = true;
  Scope scope{.frame = *frame, .parent = &around, .source = body};
  (void)add_formal(scope, body.input(0).name(), {.name = {}, .type = DataType::i64, .dims = {}});
  Value condition{.name = {}, .type = DataType::boolean, .dims = {}};
  // If it was true on entry and the body then returns a true one, it is true in every iteration.
  if (!step.inputs[1] || scalar_of(outer, step.inputs[1]) == 1) condition.literal = Literal{.ints = {1}, .floats = {}};
  condition.constant = condition.literal.has_value();
  (void)add_formal(scope, body.input(1).name(), condition);
  for (std::size_t i = 2; i < step.inputs.size(); ++i) {
    Value value = plain(outer.graph.values[*step.inputs[i]]);
    value.dims = sizes[i - 2];
    value.data_dependent |= binding_.executable;  // it has this size only in the first iteration
    const onnx::TypeProto* const type = outer.facts[*step.inputs[i]].type;
    (void)add_formal(scope, body.input(static_cast<int>(i)).name(), std::move(value), type);
  }
  step.node.bodies.clear();
  finish_body(step, scope, "body");
  return frame;
}

/// How many passes the Loop makes. Empty if the file does not determine it.
std::optional<std::int64_t> Builder::trip_count(const Step& step) {
  const Frame& outer = step.scope.frame;
  const Graph& body = step.node.bodies.back().graph;
  const auto limit = scalar_of(outer, step.inputs[0]);
  const auto first_condition = step.inputs[1] ? scalar_of(outer, step.inputs[1]) : std::optional<std::int64_t>(1);
  if (first_condition == 0 || (limit && *limit <= 0)) return 0;
  if (first_condition != 1 || (step.inputs[0] && !limit)) return std::nullopt;
  const auto passes = detail::PassNumbers(outer.graph, step.inputs, body).passes_while(body.outputs[0]);
  if (!passes || *passes == detail::PassNumbers::endless) return passes ? limit : std::nullopt;
  return std::min(*passes, limit.value_or(*passes));
}

// Inputs: trip count, condition, carried values. Body: iteration, condition, carried -> condition, carried, scan
// outputs.
void Builder::visit_loop(Step& step) {
  const auto& body = body_of(step, "body");
  const Level level(loops_);
  if (step.inputs.size() < 2) throw InputError("expected a trip count and a condition");
  const auto carried = static_cast<int>(step.inputs.size()) - 2;
  if (body.input_size() != carried + 2)
    throw InputError("its body has " + std::to_string(body.input_size()) + " inputs, expected " +
                     std::to_string(carried + 2));
  if (body.output_size() < carried + 1)
    throw InputError("its body has " + std::to_string(body.output_size()) + " outputs, expected " +
                     std::to_string(carried + 1) + " or more");
  std::vector<Dims> sizes;
  for (int i = 0; i < carried; ++i) {
    const auto& initial = step.inputs[to_size(i + 2)];
    if (!initial) throw InputError("carried value " + std::to_string(i) + " has no initial one");
    sizes.push_back(step.scope.frame.graph.values[*initial].dims);
  }
  const auto frame = build_pass(step, body, step.scope, sizes);
  step.node.trip_count = trip_count(step);
  if (!binding_.executable && step.node.trip_count.value_or(0) > 0 && change_of_sizes(step).any)
    return unroll(step, body);
  finish_loop(step, *frame);
}

void Builder::finish_loop(Step& step, const Frame& frame) {
  const Graph &outer = step.scope.frame.graph, &body = step.node.bodies.back().graph;
  const std::size_t carried = step.inputs.size() - 2;
  std::vector<Value> values;
  for (std::size_t i = 0; i < body.outputs.size() - 1; ++i) {
    const Value result = plain(body.values[body.outputs[i + 1]]);
    if (i < carried) {
      const Value initial = plain(outer.values[*step.inputs[i + 2]]);
      // A value that grows has at least its size after one iteration, if there is one.
      values.push_back(step.node.trip_count == 0 ? initial
                       : step.node.trip_count    ? result
                                                 : smaller_of(initial, result));
      values.back().data_dependent =
          values.back().data_dependent || (initial.dims != result.dims && step.node.trip_count != 0);
    } else {
      values.push_back(stacked(result, step.node.trip_count));
    }
  }
  step.constant &= step.node.trip_count.has_value();
  finish_control_flow(step, std::move(values), frame);
}

// Since operator set 9: states, then sequences. The body sees one element of each sequence along its axis. Operator set
// 8 has an optional vector of lengths before them and a batch as the first dimension of everything, over which it also
// loops.
void Builder::visit_scan(Step& step) {
  const auto& body = body_of(step, "body");
  const Level level(loops_);
  Frame& outer = step.scope.frame;
  const bool batched = step.node.opset < 9;
  const std::size_t skipped = batched ? 1 : 0;
  const auto stated = step.node.attribute<std::int64_t>("num_scan_inputs", 0);
  const std::size_t sequences = to_size(std::max<std::int64_t>(stated, 0));
  if (step.inputs.size() < sequences + skipped || sequences == 0)
    throw InputError("num_scan_inputs is " + std::to_string(stated) + " of " + std::to_string(step.inputs.size()) +
                     " inputs");
  const std::size_t states = step.inputs.size() - sequences - skipped;
  if (to_size(body.input_size()) != states + sequences)
    throw InputError("its body has " + std::to_string(body.input_size()) + " inputs, expected " +
                     std::to_string(states + sequences));
  if (to_size(body.output_size()) < states)
    throw InputError("its body has " + std::to_string(body.output_size()) + " outputs, expected " +
                     std::to_string(states) + " or more");
  const auto axes =
      step.node.attribute<std::vector<std::int64_t>>("scan_input_axes", std::vector<std::int64_t>(sequences, 0));
  const auto output_axes = step.node.attribute<std::vector<std::int64_t>>("scan_output_axes", {});
  if (axes.size() != sequences)
    throw InputError("scan_input_axes has " + std::to_string(axes.size()) + " values, expected " +
                     std::to_string(sequences));

  const auto frame = open_body(step);
  frame->inside_loop = true;
  Scope scope{.frame = *frame, .parent = &step.scope, .source = body};
  std::optional<std::int64_t> length;
  std::int64_t batch = 1;
  for (std::size_t i = 0; i < states + sequences; ++i) {
    const auto& input = step.inputs[i + skipped];
    if (!input) throw InputError("input " + std::to_string(i + skipped) + " is missing");
    Value value = plain(outer.graph.values[*input]);
    if (batched) {
      if (value.dims.empty())
        throw InputError("input " + std::to_string(i + skipped) + " is a scalar, expected a batch");
      batch = value.dims.front();
      value.dims.erase(value.dims.begin());
    }
    if (i >= states) {
      const std::size_t axis = normal_axis(axes[i - states], value.dims.size());
      if (length && *length != value.dims[axis])
        throw InputError("sequences of " + std::to_string(*length) + " and " + std::to_string(value.dims[axis]) +
                         " elements");
      length = value.dims[axis];
      value.dims.erase(value.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    (void)add_formal(scope, body.input(static_cast<int>(i)).name(), std::move(value));
  }
  finish_body(step, scope, "body");
  step.node.trip_count = checked_product(*length, batch);
  const Graph& graph = step.node.bodies.back().graph;
  std::vector<Value> values;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& result = graph.values[graph.outputs[i]];
    values.push_back(i < states
                         ? plain(result)
                         : stacked(result, length, i - states < output_axes.size() ? output_axes[i - states] : 0));
    if (batched) values.back().dims.insert(values.back().dims.begin(), batch);
  }
  finish_control_flow(step, std::move(values), *frame);
}

}  // namespace benanza::importer
