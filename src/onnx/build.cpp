// SPDX-License-Identifier: Apache-2.0
#include "build.hpp"

#include "banded.hpp"
#include "decompose.hpp"
#include "fold.hpp"
#include "inline_functions.hpp"
#include "proto.hpp"
#include "ramps.hpp"
#include "scan.hpp"
#include <benanza/model/fold_quantization.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <utility>

namespace benanza::importer {
namespace {

constexpr std::size_t least_visits = 50'000, visits_per_node = 20;

std::string canonical_domain(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

Value constant_value(const std::string& name, Constant constant) {
  return {.name = name,
          .type = constant.type,
          .dims = std::move(constant.dims),
          .constant = true,
          .literal = std::move(constant.literal),
          .banded = constant.banded,
          .sparse = constant.sparse,
          .stored = constant.stored,
          .ramps = std::move(constant.ramps)};
}

Tensor tensor_of(const Value& value) { return {.type = value.type, .dims = value.dims, .data = *value.literal}; }

}  // namespace

Visits::Visits(const onnx::ModelProto& model)
    : nodes(node_count(model.graph())), more(least_visits + visits_per_node * nodes) {}

Builder::Builder(const onnx::ModelProto& model, const Binding& binding, Visits& visits, LazyHistory* before,
                 History* record)
    : model_(model), binding_(binding), visits_(visits), before_(before), record_(record) {
  for (const auto& import : model.opset_import())
    opsets_[canonical_domain(import.domain())] = static_cast<int>(import.version());
}

Graph Builder::build() {
  Scope scope{.frame = root_, .parent = nullptr, .source = model_.graph()};
  const auto nodes = static_cast<std::size_t>(model_.graph().node_size()),
             initializers = static_cast<std::size_t>(model_.graph().initializer_size());
  root_.reserve(nodes + initializers + binding_.inputs.size(), nodes);
  root_.graph.batch = binding_.batch;
  root_.graph.dims = binding_.dims;
  root_.graph.assumed = binding_.assumed;
  add_initializers(scope);
  for (const auto& input : binding_.inputs) {
    Value value{.name = input.proto->name(), .type = input.type, .dims = input.dims, .data_dependent = input.opaque};
    try {
      (void)value.elements();
    } catch (const InputError& error) {
      throw LocatedError("input '" + value.name + "': " + error.what());
    }
    if (input.value) {
      value.constant = true;
      value.literal = Literal{.ints = {*input.value}, .floats = {}};
    }
    const ValueId id = input.opaque ? root_.add(std::move(value), input.proto->type()) : root_.add(std::move(value));
    if (!input.value) root_.graph.inputs.push_back(id);
    root_.facts[id].before_weights = true;
    scope.ids[input.proto->name()] = id;
    remember(scope, input.proto->name(), id);
  }
  walk(scope);
  root_.graph.outputs = outputs_of(scope);
  for (const ValueId id : root_.graph.outputs) output_dims_.push_back(root_.graph.values[id].dims);
  for (const auto& output : model_.graph().output()) root_.graph.output_names.push_back(output.name());
  if (!binding_.executable) fold_quantization(root_.graph);
  decompose(root_.graph, binding_.executable);
  if (binding_.training) warn_of_parameters();
  else if (!binding_.executable) note_exceptions();
  prune(root_.graph, binding_.executable);
  return std::move(root_.graph);
}

void Builder::add_initializers(Scope& scope) {
  scope.ids.reserve(static_cast<std::size_t>(scope.source.initializer_size() + scope.source.node_size()));
  if (scope.parent != nullptr && &scope.parent->source == &scope.source) return;  // a pass of a loop
  for (const auto& initializer : scope.source.initializer()) {
    Constant constant = decode(initializer);
    const ConstantKind kind = constant.kind;
    const std::optional<double> number = constant.number;
    const auto same = constant.same_bytes_as;
    Value value = constant_value(initializer.name(), std::move(constant));
    value.trained = binding_.training && is_float(value.type) && !value.dims.empty();
    const ValueId id = add_stored(scope, &initializer, std::move(value));
    scope.ids[initializer.name()] = id;
    scope.frame.facts[id].kind = kind;
    scope.frame.facts[id].number = number;
    if (same && std::cmp_less(*same, scope.source.initializer_size()))
      if (const auto earlier = scope.ids.find(scope.source.initializer(static_cast<int>(*same)).name());
          earlier != scope.ids.end())
        scope.frame.facts[id].equal_to = earlier->second;
    remember(scope, initializer.name(), id);
  }
}

/// A constant of the file. The passes of an unrolled loop share it.
ValueId Builder::add_stored(Scope& scope, const void* place, Value value) {
  if (unrolled_into_ == nullptr) return scope.frame.add(std::move(value));
  const auto [found, added] = stored_once_.try_emplace(place);
  if (added) found->second = unrolled_into_->add(std::move(value));
  return capture(scope.frame, *unrolled_into_, found->second);
}

std::vector<ValueId> Builder::outputs_of(const Scope& scope) {
  std::vector<ValueId> outputs;
  for (const auto& output : scope.source.output()) {
    const auto id = find_value(scope, output.name());
    if (!id) throw LocatedError("output '" + output.name() + "' is not made by any node");
    outputs.push_back(*id);
  }
  return outputs;
}

void Builder::walk(Scope& scope) {
  const bool is_pass = scope.parent != nullptr && &scope.parent->source == &scope.source;
  for (const auto& node : scope.source.node()) {
    try {
      if (is_pass && node.output_size() > 0 && scope.parent->ids.contains(node.output(0))) continue;
      if (visited_ >= visits_.nodes) {
        if (visits_.more == 0) throw LocatedError("its loops grow to more than " + std::to_string(visited_) + " nodes");
        --visits_.more;
      }
      visit(scope, node);
      ++visited_;
    } catch (const LocatedError&) {
      throw;
    } catch (const std::exception& error) {
      note_sizes(scope, node);
      note_scalars(scope, node);
      const std::string name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
      throw LocatedError("node '" + name + "' (" + node.op_type() + "): " + one_line(error.what()),
                         dynamic_cast<const ShapeError*>(&error) != nullptr);
    }
  }
}

void Builder::note_sizes(const Scope& scope, const onnx::NodeProto& proto) {
  sizes_at_error_.clear();
  for (const auto& name : proto.input()) {
    const auto id = name.empty() ? std::nullopt : find_value(scope, name);
    if (!id) continue;
    const Value& value = scope.frame.graph.values[*id];
    if (!value.constant) continue;
    sizes_at_error_.insert(sizes_at_error_.end(), value.dims.begin(), value.dims.end());
    if (value.literal)
      sizes_at_error_.insert(sizes_at_error_.end(), value.literal->ints.begin(), value.literal->ints.end());
  }
}

void Builder::note_scalars(const Scope& scope, const onnx::NodeProto& proto) {
  scalars_at_error_.clear();
  if (&scope.frame != &root_) return;
  const Graph& graph = root_.graph;
  std::vector<bool> reached(graph.values.size(), false);
  for (const auto& name : proto.input())
    if (const auto id = name.empty() ? std::nullopt : find_value(scope, name)) reached[*id] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node)
    if (std::any_of(node->outputs.begin(), node->outputs.end(), [&](const auto& id) { return id && reached[*id]; }))
      for (const auto& id : node->inputs)
        if (id) reached[*id] = true;
  for (const auto id : graph.inputs) {
    const Value& value = graph.values[id];
    const bool one = std::all_of(value.dims.begin(), value.dims.end(), [](auto size) { return size == 1; });
    if (reached[id] && one && !is_float(value.type) && value.type != DataType::string &&
        root_.facts[id].type->has_tensor_type())
      scalars_at_error_.push_back(value.name);
  }
}

int Builder::opset_of(const onnx::NodeProto& node) const {
  if (const auto own = own_version(node)) return *own;
  const auto found = opsets_.find(canonical_domain(node.domain()));
  return found == opsets_.end() ? 1 : found->second;
}

Builder::Operator Builder::find_operator(const std::string& domain, const std::string& op_type, int opset) {
  const auto [found, added] = operators_.try_emplace(domain + ":" + op_type + ":" + std::to_string(opset));
  if (added) {
    const auto* schema = onnx::OpSchemaRegistry::Schema(op_type, opset, domain);
    const OperatorFacts& facts = facts_of(domain, op_type);
    const bool is_absent = schema == nullptr || !schema->has_type_and_shape_inference_function();
    Rule rule = function_of(facts.shape);
    if (rule == nullptr && is_absent) rule = function_of(facts.absent_shape);
    found->second = {.schema = schema, .rule = rule, .facts = &facts};
  }
  return found->second;
}

bool Builder::deterministic(const Step& step) const {
  if (!step.node.domain.empty()) return step.op.schema != nullptr || step.op.rule != nullptr;
  if (step.op.facts->is(Trait::random)) return false;
  if (step.node.op_type != "Dropout" || step.inputs.size() < 3 || !step.inputs[2]) return true;
  const auto& training = step.scope.frame.graph.values[*step.inputs[2]].literal;
  return training && training->ints == std::vector<std::int64_t>{0};
}

void Builder::visit(Scope& scope, const onnx::NodeProto& proto) {
  Step step{.proto = proto, .scope = scope};
  Frame& frame = scope.frame;
  step.node.domain = canonical_domain(proto.domain());
  step.node.op_type = proto.op_type();
  step.node.opset = opset_of(proto);
  step.op = find_operator(step.node.domain, step.node.op_type, step.node.opset);
  step.inputs.reserve(static_cast<std::size_t>(proto.input_size()));
  step.constant = true;
  if (binding_.training) settle_untrained(scope, proto);
  for (const auto& name : proto.input()) {
    std::optional<ValueId> id;
    if (!name.empty()) {
      id = find_value(scope, name);
      if (!id) throw InputError("input '" + name + "' is not made by any earlier node");
      step.constant &= frame.graph.values[*id].constant;
      step.trained |= frame.graph.values[*id].trained;
      step.before_weights &= is_before_weights(frame, *id);
      step.data_dependent |= frame.graph.values[*id].data_dependent;
    }
    step.inputs.push_back(id);
  }
  if (visit_constant(step)) return;
  if (visit_compress(step)) return;
  if (step.node.domain.empty() && step.node.op_type == "Identity" && !step.inputs.empty() && step.inputs[0])
    return alias(step, 0, *step.inputs[0]);
  copy_attributes(proto, step.node);
  step.merge = deterministic(step);
  step.constant &= step.merge;
  for (Frame* at = &frame; at != nullptr && !step.merge; at = at->parent) at->repeatable = false;
  const bool of_constants = step.constant;
  if (step.trained && !step.op.facts->keeps_order()) step.constant = false;
  if (step.node.domain.empty() && step.node.op_type == "If") return visit_if(step);
  if (step.node.domain.empty() && step.node.op_type == "Loop") return visit_loop(step);
  if (step.node.domain.empty() && step.node.op_type == "Scan") return visit_scan(step);
  if (before_ && !of_constants) {
    adapt_sizes(step);
    adapt_constants(step);
  }
  if (visit_folded(step)) return;
  if (visit_sequence(step)) return;
  if (step.node.domain.empty() && step.node.op_type == "ScatterElements") note_filled(step);
  Types types;
  try {
    types = types_of(step);
  } catch (const std::exception& error) {
    throw ShapeError(error.what());
  }
  define(step, std::move(types));
}

bool Builder::visit_constant(Step& step) {
  if (step.node.op_type != "Constant" || !step.node.domain.empty() || step.proto.output_size() != 1) return false;
  if (step.proto.attribute_size() != 1)
    throw InputError(std::to_string(step.proto.attribute_size()) + " attributes, expected one value");
  const auto& attribute = step.proto.attribute(0);
  Constant constant;
  const auto list = [&](DataType type, auto first, auto last, auto member) {
    constant = {.type = type, .dims = {static_cast<std::int64_t>(last - first)}, .literal = Literal{}};
    ((*constant.literal).*member).assign(first, last);
  };
  switch (attribute.type()) {
    case onnx::AttributeProto::TENSOR: constant = decode(attribute.t()); break;
    case onnx::AttributeProto::INT:
      constant = {.type = DataType::i64, .dims = {}, .literal = Literal{.ints = {attribute.i()}, .floats = {}}};
      break;
    case onnx::AttributeProto::FLOAT:
      constant = {.type = DataType::f32, .dims = {}, .literal = Literal{.ints = {}, .floats = {attribute.f()}}};
      break;
    case onnx::AttributeProto::INTS:
      list(DataType::i64, attribute.ints().begin(), attribute.ints().end(), &Literal::ints);
      break;
    case onnx::AttributeProto::FLOATS:
      list(DataType::f32, attribute.floats().begin(), attribute.floats().end(), &Literal::floats);
      break;
    case onnx::AttributeProto::STRING:
      constant = {.type = DataType::string, .dims = {}, .literal = std::nullopt};
      break;
    case onnx::AttributeProto::STRINGS:
      constant = {.type = DataType::string, .dims = {attribute.strings_size()}, .literal = std::nullopt};
      break;
    default: throw InputError("attribute '" + attribute.name() + "' holds no constant");
  }
  const ConstantKind kind = constant.kind;
  const std::optional<double> number = constant.number;
  const ValueId id = add_stored(step.scope, &step.proto, constant_value(step.proto.output(0), std::move(constant)));
  step.scope.frame.facts[id].kind = kind;
  step.scope.frame.facts[id].number = number;
  alias(step, 0, id);
  return true;
}

/// Folds shape arithmetic: Shape and Size from the dimensions, the rest from the numbers.
bool Builder::visit_folded(Step& step) {
  if (!step.node.domain.empty() && step.node.domain != "com.microsoft") return false;
  auto& values = step.scope.frame.graph.values;
  std::vector<Tensor> results;
  const std::string op = detail::onnx_type(step.node);
  if ((op == "Shape" || op == "Size") && !step.inputs.empty() && step.inputs[0]) {
    if (!step.scope.frame.facts[*step.inputs[0]].type->has_tensor_type()) return false;
    if (binding_.executable && step.data_dependent) return false;
    const Dims& dims = values[*step.inputs[0]].dims;
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto bounded = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
    const std::int64_t first = bounded(step.node.attribute<std::int64_t>("start", 0)),
                       last = bounded(step.node.attribute<std::int64_t>("end", rank));
    if (op == "Size")
      results.push_back({.type = DataType::i64, .dims = {}, .data = {.ints = {element_count(dims)}, .floats = {}}});
    else {
      Dims part(dims.begin() + first, dims.begin() + std::max(first, last));
      results.push_back({.type = DataType::i64,
                         .dims = {static_cast<std::int64_t>(part.size())},
                         .data = {.ints = std::move(part), .floats = {}}});
    }
  } else {
    if (!step.constant) return false;
    if (binding_.executable && has_stored_shape(step)) step.node.attributes["fills_weight"] = std::int64_t{1};
    const Fold fold = find_fold(op);
    if (!fold) return false;
    for (const auto& id : step.inputs)
      if (id && !values[*id].literal) return false;
    std::vector<Tensor> tensors;
    tensors.reserve(step.inputs.size());
    std::vector<const Tensor*> inputs;
    for (const auto& id : step.inputs) {
      if (id) tensors.push_back(tensor_of(values[*id]));
      inputs.push_back(id ? &tensors.back() : nullptr);
    }
    std::optional<Tensor> value;
    if (const auto* attribute = find_attribute(step.proto, "value"); attribute && attribute->has_t())
      if (Constant constant = decode(attribute->t()); constant.literal)
        value = Tensor{.type = constant.type, .dims = constant.dims, .data = *constant.literal};
    step.node.outputs.resize(static_cast<std::size_t>(step.proto.output_size()));
    auto folded = fold({.node = step.node, .inputs = inputs, .value = value ? &*value : nullptr});
    if (!folded || folded->size() < static_cast<std::size_t>(step.proto.output_size())) return false;
    results = std::move(*folded);
    if (binding_.executable && op == "ConstantOfShape" && (is_float(results[0].type) || is_8_bit(results[0].type))) {
      // Weights that were left out of the file. An executor may use other numbers.
      if (is_float(results[0].type) && element_count(results[0].dims) <= kept_floats)
        step.literal = std::move(results[0].data);
      return false;
    }
  }
  for (int i = 0; i < step.proto.output_size(); ++i) {
    Tensor& result = results[static_cast<std::size_t>(i)];
    Value value{.name = step.proto.output(i),
                .type = result.type,
                .dims = std::move(result.dims),
                .constant = true,
                // The sizes of a weight do not change with its numbers.
                .trained = is_float(result.type) && (step.trained || (binding_.training && fills_weight(step))),
                .literal = std::move(result.data)};
    if (value.trained) value.origins = origins_of(step);
    define_value(step, step.proto.output(i), std::move(value));
  }
  if (is_float(results[0].type) && step.proto.output_size() == 1) {
    step.node.inputs = step.inputs;
    step.node.outputs = {step.scope.ids[step.proto.output(0)]};
    note_constant(step);
  }
  return true;
}

/// A constant into which others are scattered is no weight: whether it has one number everywhere is noted before its
/// numbers are dropped.
void Builder::note_filled(const Step& step) {
  if (step.inputs.empty() || !step.inputs[0]) return;
  Value& value = step.scope.frame.graph.values[*step.inputs[0]];
  if (value.constant && !value.banded) value.banded = filled(value, step.scope.frame.facts[*step.inputs[0]].number);
}

void Builder::define_value(Step& step, const std::string& name, Value value, const onnx::TypeProto* type) {
  if (name.empty()) return;
  Frame& frame = step.scope.frame;
  const ValueId id = type == nullptr ? frame.add(std::move(value)) : frame.add(std::move(value), *type);
  step.scope.frame.facts[id].maker = &step.proto;
  step.scope.frame.facts[id].before_weights = step.before_weights && step.node.bodies.empty();
  step.scope.ids[name] = id;
  remember(step.scope, name, id);
}

void Builder::alias(Step& step, int output, ValueId id) {
  const std::string& name = step.proto.output(output);
  if (name.empty()) return;
  step.scope.ids[name] = id;
  remember(step.scope, name, id);
}

void Builder::define(Step& step, Types types) {
  types.resize(static_cast<std::size_t>(step.proto.output_size()));
  std::vector<Value> values;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string& name = step.proto.output(static_cast<int>(i));
    values.push_back(name.empty() ? Value{} : settled(step, name, types[i]));
  }
  // A reshaped constant has the same numbers. Reshape's own rule has set the shape.
  if (step.constant && step.node.op_type == "Reshape" && step.node.domain.empty()) {
    const auto& x = step.scope.frame.graph.values[*step.inputs[0]];
    values[0].literal = x.literal;
  }
  if (step.literal) values.at(0).literal = std::move(step.literal);
  if (step.constant && step.node.domain.empty() && values.size() == 1 && !values[0].literal) {
    values[0].diagonals = diagonal_numbers(step.node, operands(step), values[0]);
    values[0].banded = banded_result(step.node, operands(step), values[0]);
    values[0].ramps = ramps_of_result(step.node, operands(step), values[0]);
  }
  emit(step, std::move(values), types);
}

/// The stored constants from which a constant is computed.
std::vector<ValueId> Builder::origins_of(const Step& step) {
  const auto& values = step.scope.frame.graph.values;
  std::vector<ValueId> origins;
  for (const auto& input : step.inputs) {
    if (!input || (values[*input].type == DataType::i64 && values[*input].literal)) continue;  // sizes, axes
    if (values[*input].origins.empty()) origins.push_back(*input);
    else origins.insert(origins.end(), values[*input].origins.begin(), values[*input].origins.end());
  }
  std::sort(origins.begin(), origins.end());
  origins.erase(std::unique(origins.begin(), origins.end()), origins.end());
  return origins;
}

/// Keeps the nodes that compute a constant. A node that fills a stored shape with a number is not kept: it may stand
/// for a weight that was left out of the file, and weights are read.
void Builder::note_constant(const Step& step) {
  if (binding_.executable || !step.node.bodies.empty()) return;
  const auto& stored = step.scope.source.initializer();
  const auto is_stored = [&](const auto& one) {
    return step.proto.input_size() > 0 && one.name() == step.proto.input(0);
  };
  if (step.node.op_type == "ConstantOfShape" && std::any_of(stored.begin(), stored.end(), is_stored)) return;
  step.scope.frame.graph.constant_nodes.push_back(step.node);
}

void Builder::emit(Step& step, std::vector<Value> values, const Types& types) {
  Frame& frame = step.scope.frame;
  if (!step.constant && !values.empty())
    if (const auto operand = unchanged_operand(step, values[0])) return alias(step, 0, *step.inputs[*operand]);
  if (!step.constant && step.merge && merged(step)) return;
  std::vector<ValueId> origins;
  double stored = 0;
  if (step.constant) {
    origins = origins_of(step);
    for (const ValueId id : origins) stored += frame.graph.values[id].bytes();
  }
  step.node.outputs.assign(values.size(), std::nullopt);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = step.proto.output(static_cast<int>(i));
    if (name.empty()) continue;
    values[i].constant = step.constant;
    values[i].trained = step.constant && (step.trained || (binding_.training && fills_weight(step)));
    if (stored < values[i].bytes()) values[i].origins = origins;
    define_value(step, name, std::move(values[i]), &types[i]);
    step.node.outputs[i] = step.scope.ids[name];
  }
  if (!step.constant && step.node.has_output(0) && passes_on(step, frame.graph.values[*step.node.outputs[0]])) {
    const auto before = frame.passed_on.find(*step.inputs[0]);
    frame.passed_on[*step.node.outputs[0]] = before == frame.passed_on.end() ? *step.inputs[0] : before->second;
  }
  inherit_position(step);
  step.node.inputs = step.inputs;
  if (step.constant) note_constant(step);
  // Keeps the information that a weight has 8 bits; fold_quantization drops the node.
  if (step.constant && step.node.op_type != "DequantizeLinear" && !binding_.executable) return;
  step.node.name = unique_name(frame, step.proto, unrolled_into_ != nullptr);
  note_combined_items(step);
  frame.graph.nodes.push_back(std::move(step.node));
}

}  // namespace benanza::importer
