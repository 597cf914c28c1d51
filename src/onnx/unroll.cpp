// SPDX-License-Identifier: Apache-2.0
// The part of Builder for Loops that carry values of changing sizes. Their passes stand in the graph one after the
// other, in place of the Loop. When the sizes stay as they are, a Loop of the passes that are left follows. If there
// are too many passes, and if each changes the sizes by as much as the pass before, Loops of several passes with their
// mean sizes follow: what a pass costs is then the mean as well, or less, as products of sizes are convex.
#include "build.hpp"
#include "control_flow.hpp"
#include "proto.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace benanza::importer {
namespace {

constexpr std::int64_t most_passes = 1024;                // of one loop
constexpr std::int64_t most_nodes = 10'000;               // of the passes of all loops
constexpr std::int64_t most_loops = 64, least_loops = 8;  // in place of the other passes

}  // namespace

struct Builder::Unrolled {
  const onnx::GraphProto& body;
  Scope around;             ///< what all passes share: the constants of the body
  std::int64_t passes = 0;  ///< that stand in place of the loop
  UnrolledLoop states{};
  /// What the passes collect: for each pass, or with the number of passes if several are collected in one value.
  struct Collected {
    ValueId value = 0;
    bool of_several = false;
  };
  std::vector<std::vector<Collected>> collected{};

  void note_states(const Ids& inputs) { states.states.emplace_back(inputs.begin() + 2, inputs.end()); }
};

Builder::SizeChange Builder::change_of_sizes(const Step& step) {
  const Graph& body = step.node.bodies.back().graph;
  SizeChange change;
  for (std::size_t i = 0; i + 2 < step.inputs.size(); ++i) {
    const Dims &before = body.values[body.inputs[i + 2]].dims, &after = body.values[body.outputs[i + 1]].dims;
    change.any = change.any || before != after;
    change.is_known = change.is_known && (before == after || !body.values[body.outputs[i + 1]].data_dependent);
    Dims& step_of_value = change.steps.emplace_back();
    if (before.size() != after.size()) change.shrinks = change.any = true;
    else
      for (std::size_t axis = 0; axis < before.size(); ++axis) {
        step_of_value.push_back(after[axis] - before[axis]);
        change.grows = change.grows || after[axis] > before[axis];
        change.shrinks = change.shrinks || after[axis] < before[axis];
      }
  }
  return change;
}

/// One pass, with its own number and sizes.
void Builder::add_pass(Step& step, Unrolled& loop) {
  Scope scope{.frame = step.scope.frame, .parent = &loop.around, .source = loop.body};
  const auto add_number = [&](const std::string& name, DataType type, std::int64_t number) {
    Value value{
        .name = name, .type = type, .dims = {}, .constant = true, .literal = Literal{.ints = {number}, .floats = {}}};
    scope.ids[name] = scope.frame.add(std::move(value));
  };
  add_number(loop.body.input(0).name(), DataType::i64, loop.passes);
  add_number(loop.body.input(1).name(), DataType::boolean, 1);
  for (std::size_t i = 2; i < step.inputs.size(); ++i)
    scope.ids[loop.body.input(static_cast<int>(i)).name()] = *step.inputs[i];
  unrolled_nodes_ += loop.body.node_size();
  const int depth = depth_++;
  try {
    walk(scope);
  } catch (...) {
    depth_ = depth;
    throw;
  }
  depth_ = depth;
  const std::vector<ValueId> outputs = outputs_of(scope);
  const std::size_t carried = step.inputs.size() - 2;
  std::copy_n(outputs.begin() + 1, carried, step.inputs.begin() + 2);
  for (std::size_t k = 0; k < loop.collected.size(); ++k)
    loop.collected[k].push_back({outputs[1 + carried + k], false});
  ++loop.passes;
  loop.note_states(step.inputs);
}

/// An odd number of passes as a Loop with the sizes of the middle one. False if its sizes are not the expected ones.
bool Builder::add_passes(Step& step, Unrolled& loop, std::int64_t count) {
  const std::size_t carried = step.inputs.size() - 2;
  const std::vector<Dims> by_pass = change_of_sizes(step).steps;
  const auto after = [&](std::int64_t passes) {
    std::vector<Dims> sizes;
    for (std::size_t i = 0; i < carried; ++i) {
      Dims& dims = sizes.emplace_back(step.scope.frame.graph.values[*step.inputs[i + 2]].dims);
      for (std::size_t axis = 0; axis < dims.size(); ++axis) dims[axis] += passes * by_pass[i][axis];
    }
    return sizes;
  };
  auto& proto = made_nodes_.emplace_back();
  proto.set_op_type("Loop");
  const std::string name = step.proto.name().empty() ? step.proto.output(0) : step.proto.name();
  proto.set_name(name + "/" + std::to_string(loop.passes));
  for (int i = 0; i + 1 < loop.body.output_size(); ++i) proto.add_output(proto.name() + "/" + std::to_string(i));
  Step part{.proto = proto,
            .scope = step.scope,
            .inputs = step.inputs,
            .node = {.op_type = "Loop", .opset = step.node.opset, .bodies = {}, .trip_count = count},
            .op = step.op,
            .constant = step.constant,
            .trained = step.trained,
            .data_dependent = step.data_dependent,
            .merge = step.merge};
  const auto frame = build_pass(part, loop.body, loop.around, after(count / 2));
  unrolled_nodes_ += loop.body.node_size();
  const SizeChange change = change_of_sizes(part);
  if (!change.is_known || change.steps != by_pass) return false;
  const Graph& body = part.node.bodies.back().graph;
  const std::vector<Dims> last = after(count);
  std::vector<Value> values;
  for (std::size_t i = 0; i + 1 < body.outputs.size(); ++i) {
    const Value result = plain(body.values[body.outputs[i + 1]]);
    values.push_back(i < carried ? result : stacked(result, count));
    if (i < carried) values.back().dims = last[i];
  }
  finish_control_flow(part, std::move(values), *frame);
  for (std::size_t i = 0; i < carried; ++i) step.inputs[i + 2] = step.scope.ids.at(proto.output(static_cast<int>(i)));
  for (std::size_t k = 0; k < loop.collected.size(); ++k)
    loop.collected[k].push_back({step.scope.ids.at(proto.output(static_cast<int>(carried + k))), true});
  loop.passes += count;
  loop.note_states(step.inputs);
  return true;
}

/// Joins what the passes collect.
void Builder::collect(Step& step, const Unrolled& loop) {
  for (std::size_t k = 0; k < loop.collected.size(); ++k) {
    const int output = static_cast<int>(step.inputs.size() - 2 + k);
    if (output >= step.proto.output_size() || step.proto.output(output).empty()) continue;
    const std::string& y = step.proto.output(output);
    auto& joined = made_nodes_.emplace_back();
    joined.set_op_type("Concat");
    joined.add_output(y);
    auto& axis = *joined.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(0);
    for (std::size_t n = 0; n < loop.collected[k].size(); ++n) {
      const Unrolled::Collected& part = loop.collected[k][n];
      const std::string name = y + "/" + std::to_string(n);
      if (!part.of_several) {
        auto& unsqueeze = made_nodes_.emplace_back();
        unsqueeze.set_op_type("Unsqueeze");
        unsqueeze.add_input(name + "/pass");
        unsqueeze.add_output(name);
        step.scope.ids[unsqueeze.input(0)] = part.value;
        if (opset_of(unsqueeze) < 13) {
          auto& axes = *unsqueeze.add_attribute();
          axes.set_name("axes");
          axes.set_type(onnx::AttributeProto::INTS);
          axes.add_ints(0);
        } else {
          unsqueeze.add_input(name + "/axes");
          define_value(step, unsqueeze.input(1),
                       {.name = unsqueeze.input(1),
                        .type = DataType::i64,
                        .dims = {1},
                        .constant = true,
                        .literal = Literal{.ints = {0}, .floats = {}}});
        }
        visit(step.scope, unsqueeze);
      }
      joined.add_input(name);
    }
    for (std::size_t n = 0; n < loop.collected[k].size(); ++n)
      if (loop.collected[k][n].of_several)
        step.scope.ids[joined.input(static_cast<int>(n))] = loop.collected[k][n].value;
    visit(step.scope, joined);
  }
}

/// Visits the nodes of the body whose operands are constants: they do the same in each pass.
void Builder::visit_constants(Unrolled& loop) {
  std::set<std::string_view> of_pass;
  for (const auto& input : loop.body.input()) of_pass.insert(input.name());
  const auto is_constant = [&](const std::string& name) {
    if (name.empty()) return true;
    const auto id = of_pass.contains(name) ? std::nullopt : find_value(loop.around, name);
    return id && loop.around.frame.graph.values[*id].constant;
  };
  for (const auto& node : loop.body.node()) {
    const bool has_body = std::any_of(node.attribute().begin(), node.attribute().end(),
                                      [](const auto& attribute) { return attribute.has_g(); });
    const bool constant = node.input_size() > 0 ? std::all_of(node.input().begin(), node.input().end(), is_constant)
                                                : node.op_type() == "Constant";
    if (constant && !has_body) visit(loop.around, node);
    else of_pass.insert(node.output().begin(), node.output().end());
  }
}

void Builder::unroll(Step& step, const onnx::GraphProto& body) {
  Frame& outer = step.scope.frame;
  struct Owner {  // of the constants of this loop and of those in it
    Builder& builder;
    bool is_outermost = builder.unrolled_into_ == nullptr;
    ~Owner() {
      if (!is_outermost) return;
      builder.unrolled_into_ = nullptr;
      builder.stored_once_.clear();
    }
  } owner{*this};
  if (owner.is_outermost) unrolled_into_ = &outer;
  Unrolled loop{.body = body, .around = {.frame = outer, .parent = &step.scope, .source = body}};
  loop.collected.resize(to_size(body.output_size() - 1) - (step.inputs.size() - 2));
  loop.note_states(step.inputs);
  add_initializers(loop.around);
  visit_constants(loop);
  std::int64_t left = *step.node.trip_count;
  step.inputs[0].reset();
  const auto sizes = [&] {
    std::vector<Dims> all;
    for (std::size_t i = 2; i < step.inputs.size(); ++i) all.push_back(outer.graph.values[*step.inputs[i]].dims);
    return all;
  };
  const std::int64_t of_pass = std::max<std::int64_t>(1, static_cast<std::int64_t>(node_count(body))),
                     room = std::max<std::int64_t>(0, most_nodes - unrolled_nodes_);
  const std::int64_t most = std::min(most_passes, room / of_pass), exact = left <= most ? left : most / 2;
  std::unique_ptr<Frame> frame;
  const auto settles = [&] {
    frame = build_pass(step, body, loop.around, sizes());
    return !change_of_sizes(step).any;
  };
  bool settled = false, may_settle = true;
  while (left > 0 && loop.passes < exact && unrolled_nodes_ < most_nodes && !settled) {
    const std::vector<Dims> before = sizes();
    try {
      add_pass(step, loop);
    } catch (const LocatedError& error) {
      if (!error.of_shapes) throw;
      break;
    }
    --left;
    const bool by_data = std::any_of(step.inputs.begin() + 2, step.inputs.end(),
                                     [&](const auto& id) { return outer.graph.values[*id].data_dependent; });
    if (by_data) break;
    if (before == sizes() && may_settle && left > 0) may_settle = settled = settles();
  }
  if (left > 0 && !settled) settled = settles();
  if (left > 0 && !settled) {
    const SizeChange change = change_of_sizes(step);
    const std::int64_t loops = std::clamp(most / 2, least_loops, most_loops), each = left / loops | 1;
    constexpr std::int64_t countable = std::int64_t{1} << 32;
    bool steady =
        unrolled_nodes_ < most_nodes && change.is_known && change.grows != change.shrinks && left <= countable;
    while (steady && left > 0) {  // the last pass alone, so that the results have their sizes
      const std::int64_t count = left == 1 ? 1 : std::min(each, left % 2 == 0 ? left - 1 : left - 2);
      steady = add_passes(step, loop, count);
      if (steady) left -= count;
    }
    if (left > 0) settled = settles();
  }
  if (left > 0) {
    const SizeChange change = change_of_sizes(step);
    if (!settled && change.is_known) step.node.attributes["changes_sizes"] = std::int64_t{1};
    step.node.trip_count = settled || !change.shrinks ? std::optional(left) : std::nullopt;
    const std::size_t carried = step.inputs.size() - 2;
    finish_loop(step, *frame);
    Ids last(2);
    for (std::size_t i = 0; i < carried; ++i) {
      const std::string& name =
          static_cast<int>(i) < step.proto.output_size() ? step.proto.output(static_cast<int>(i)) : std::string();
      last.push_back(name.empty() ? std::nullopt : std::optional(step.scope.ids.at(name)));
    }
    loop.note_states(last);
    for (std::size_t k = 0; k < loop.collected.size(); ++k) {
      const auto output = static_cast<int>(carried + k);
      if (output < step.proto.output_size() && !step.proto.output(output).empty())
        loop.collected[k].push_back({step.scope.ids.at(step.proto.output(output)), true});
    }
  } else {
    for (std::size_t i = 2; i < step.inputs.size() && static_cast<int>(i) - 2 < step.proto.output_size(); ++i)
      alias(step, static_cast<int>(i) - 2, *step.inputs[i]);
  }
  collect(step, loop);
  outer.graph.unrolled.push_back(std::move(loop.states));
}

}  // namespace benanza::importer
