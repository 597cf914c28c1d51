// SPDX-License-Identifier: Apache-2.0
#include "sequence.hpp"

#include <benanza/detail/quantile.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

namespace benanza::execution {

namespace {

const std::string plain = "plain";

/// Nobody owns it: the arena outlives its users.
Tensor seen(const Value& value, const void* data) {
  return Tensor(value.type, value.dims, std::shared_ptr<const void>(std::shared_ptr<const void>{}, data), data);
}

std::size_t bytes_of(const Value& value) { return Tensor(value.type, value.dims, nullptr, nullptr).bytes(); }

/// A constant as a plan takes it, aligned.
Tensor packed(const Plan& plan, std::size_t i, const Tensor& constant) {
  const Layout& layout = plan.inputs()[i];
  if (layout.name == plain && constant.aligned()) return constant;
  Tensor result(DataType::u8, {static_cast<std::int64_t>(layout.bytes)});
  plan.pack_input(i, constant.data(), result.writable());
  return result;
}

std::vector<std::string> names_of(const Graph& graph, std::span<const std::size_t> nodes) {
  std::vector<std::string> names;
  for (const auto node : nodes) names.push_back(graph.nodes[node].name);
  return names;
}

/// What a call of a plan reads and writes, from one execution to the next.
struct Buffers {
  std::vector<const void*> inputs{};
  std::vector<void*> outputs{};
  void* workspace = nullptr;
  std::vector<Tensor> constants{};  ///< that `inputs` point to
};

}  // namespace

std::string layout_key(const CallPlan& plan, const Layout& layout, const Operand& operand) {
  if (layout.name == plain) return plain;
  std::string key = plan.backend + " " + layout.name;
  for (const auto size : operand.shape) key += " " + std::to_string(size);
  return key;
}

Sequence::Sequence(const Graph& graph, Program& program, Resources& resources, const ModelCalls& model,
                   const PlanChoice& choice, const std::map<ValueId, Tensor>& inputs)
    : graph_(graph), program_(program), resources_(resources), model_(model) {
  for (const auto& [id, tensor] : inputs) write(id, plain, tensor.bytes());
  for (std::size_t i = 0; i < model.calls.size(); ++i) {
    const ModelCall& call = model.calls[i];
    if (call.plans.empty()) add_node(call);
    else add_call(call, call.plans[choice[i]]);
  }
  for (const auto id : graph.outputs)
    if (!program.constants()[id]) use(read(id, plain, nullptr, nullptr, 0));
  const std::size_t end = steps_.size();
  for (const auto id : graph.outputs)
    if (const auto found = places_.find({model.root(id), plain}); found != places_.end())
      regions_[found->second].last = end;
  for (const auto& [id, tensor] : inputs) {  // they are not written again by the next execution
    MemoryNeed& region = regions_[places_.at({id, plain})];
    region.first = 0;
    region.last = end;
  }
  arena_.emplace(regions_);
  for (const auto& [id, tensor] : inputs)
    std::memcpy(arena_->at(places_.at({id, plain})), tensor.data(), tensor.bytes());
  for (const auto& step : steps_) step.bind();
}

void Sequence::use(std::size_t region) { regions_[region].last = std::max(regions_[region].last, steps_.size()); }

void Sequence::push(Step step, WitnessCall said) {
  steps_.push_back(std::move(step));
  calls_.push_back(std::move(said));
}

std::size_t Sequence::write(ValueId id, const std::string& form, std::size_t bytes) {
  regions_.push_back({.bytes = bytes, .first = steps_.size(), .last = steps_.size()});
  places_[{id, form}] = regions_.size() - 1;
  return regions_.size() - 1;
}

std::size_t Sequence::read(ValueId id, const std::string& form, const ModelCall* call, const CallPlan* plan,
                           std::size_t operand) {
  const ValueId root = model_.root(id);
  if (const auto found = places_.find({root, form}); found != places_.end()) {
    use(found->second);
    return found->second;
  }
  const auto reorder = [&](std::size_t from, std::size_t to, std::function<void(const void*, void*)> change) {
    use(from);
    auto addresses = std::make_shared<std::pair<const void*, void*>>();
    push({.execute = [addresses, change = std::move(change)] { change(addresses->first, addresses->second); },
          .bind =
              [this, addresses, from, to] {
                *addresses = {arena_->at(from), arena_->at(to)};
              }},
         {.nodes = {graph_.value(id).name}, .plan = "layout"});
  };
  if (form == plain) {
    const auto maker = makers_.find(root);
    if (maker == makers_.end())
      throw InputError("value '" + graph_.value(root).name + "' is read before it is computed");
    const std::size_t from = places_.at({root, maker->second.form});
    const std::size_t to = write(root, plain, bytes_of(graph_.value(root)));
    reorder(from, to, [held = maker->second.plan->plan, output = maker->second.output](const void* in, void* out) {
      held->unpack_output(output, in, out);
    });
    return to;
  }
  const std::size_t from = read(id, plain, call, plan, operand);
  const std::size_t to = write(root, form, plan->plan->inputs()[operand].bytes);
  reorder(from, to, [held = plan->plan, operand](const void* in, void* out) { held->pack_input(operand, in, out); });
  use(to);
  return to;
}

void Sequence::add_call(const ModelCall& call, const CallPlan& plan) {
  auto buffers = std::make_shared<Buffers>();
  std::vector<std::optional<std::size_t>> reads;
  const BoundGroup& group = call.group;
  for (std::size_t i = 0; i < group.operands.size(); ++i) {
    const auto& [value, constant] = group.operands[i];
    if (constant) {
      buffers->constants.push_back(packed(*plan.plan, i, *constant));
      buffers->inputs.push_back(buffers->constants.back().data());
      reads.emplace_back();
      continue;
    }
    const std::string form = layout_key(plan, plan.plan->inputs()[i], group.shapes.inputs[i]);
    reads.emplace_back(read(value, form, &call, &plan, i));
    buffers->inputs.push_back(nullptr);
  }
  for (const auto& region : reads)
    if (region) use(*region);  // a change of layout may have come between
  std::vector<std::size_t> writes;
  for (std::size_t i = 0; i < group.shapes.outputs.size(); ++i) {
    const Layout& layout = plan.plan->outputs()[i];
    const std::string form = layout_key(plan, layout, group.shapes.outputs[i]);
    const bool is_value = group.outputs[i].has_value();
    const ValueId id = is_value ? *group.outputs[i] : graph_.values.size() + inner_++;
    writes.push_back(write(id, form, layout.bytes));
    if (is_value) makers_[id] = {.plan = &plan, .output = i, .form = form};
  }
  buffers->outputs.resize(writes.size());
  const std::size_t workspace = write(graph_.values.size() + inner_++, "workspace", plan.plan->workspace_bytes());
  std::vector<std::pair<std::size_t, std::size_t>> copies;  // of what a result starts as
  for (std::size_t i = 0; i < group.shapes.outputs.size(); ++i)
    if (const auto from = group.shapes.outputs[i].starts_as) copies.emplace_back(i, *from);
  push({.execute =
            [held = plan.plan, buffers, copies] {
              for (const auto& [to, from] : copies)
                std::memcpy(buffers->outputs[to], buffers->inputs[from], held->outputs()[to].bytes);
              held->execute({.inputs = buffers->inputs, .outputs = buffers->outputs, .workspace = buffers->workspace});
            },
        .bind =
            [this, buffers, reads, writes, workspace] {
              for (std::size_t i = 0; i < reads.size(); ++i)
                if (reads[i]) buffers->inputs[i] = arena_->at(*reads[i]);
              for (std::size_t i = 0; i < writes.size(); ++i) buffers->outputs[i] = arena_->at(writes[i]);
              buffers->workspace = arena_->at(workspace);
            },
        .openmp = plan.plan->threads() > 1 ? std::optional(plan.uses_openmp) : std::nullopt,
        .repeatable = std::none_of(group.shapes.inputs.begin(), group.shapes.inputs.end(),
                                   [](const Operand& operand) { return !is_float(operand.type); })},
       {.nodes = names_of(graph_, group.nodes),
        .plan = plan.name(),
        .alone = plan.alone,
        .fastest = call.plans.front().alone});
}

void Sequence::add_node(const ModelCall& call) {
  const Node& node = graph_.nodes[call.group.nodes.front()];
  NodeStep* const step = program_.step_of(node);
  if (step == nullptr) throw NotExecutable(node, "control flow within a sequence of plans");
  std::vector<std::optional<std::size_t>> reads, writes;
  auto inputs = std::make_shared<NodeTensors>();
  for (const auto& id : node.inputs) {
    const auto& constant = id ? program_.constants()[*id] : std::nullopt;
    inputs->push_back(constant);
    reads.push_back(id && !constant ? std::optional(read(*id, plain, nullptr, nullptr, 0)) : std::nullopt);
  }
  for (const auto& region : reads)
    if (region) use(*region);
  for (const auto& id : node.outputs)
    writes.push_back(id ? std::optional(write(*id, plain, bytes_of(graph_.value(*id)))) : std::nullopt);
  push({.execute =
            [this, step, inputs, writes, &node] {
              const NodeTensors made = step->run(*inputs, resources_);
              for (std::size_t i = 0; i < writes.size(); ++i) {
                if (!writes[i]) continue;
                if (i >= made.size() || !made[i]) throw NotExecutable(node, "an output that is not computed");
                if (made[i]->bytes() != bytes_of(graph_.value(*node.outputs[i])))
                  throw NotExecutable(node, "a size that data decides");
                std::memcpy(arena_->at(*writes[i]), made[i]->data(), made[i]->bytes());
              }
            },
        .bind =
            [this, inputs, reads, &node] {
              for (std::size_t i = 0; i < reads.size(); ++i)
                if (reads[i]) (*inputs)[i] = seen(graph_.value(*node.inputs[i]), arena_->at(*reads[i]));
            }},
       {.nodes = {node.name}, .plan = step->plan_name()});
}

void Sequence::run() {
  for (const auto& step : steps_) step.execute();
}

std::vector<Seconds> Sequence::run_timed() {
  std::vector<Seconds> times;
  times.reserve(steps_.size());
  auto before = std::chrono::steady_clock::now();
  for (const auto& step : steps_) {
    step.execute();
    const auto after = std::chrono::steady_clock::now();
    times.push_back({std::chrono::duration<double>(after - before).count()});
    before = after;
  }
  return times;
}

Seconds Sequence::time_steps(std::size_t first, std::size_t last) {
  constexpr std::size_t least = 5, most = 100;
  constexpr double enough = 2e-3;
  std::vector<double> times;
  double sum = 0;
  while (times.size() < least || (times.size() < most && sum < enough)) {
    const auto before = std::chrono::steady_clock::now();
    for (std::size_t i = first; i <= last; ++i) steps_[i].execute();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    sum += times.back();
  }
  return {detail::quantile(times, 0.1)};
}

void Sequence::time_layout_changes() {
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (calls_[i].plan == "layout") calls_[i].alone = time_steps(i, i);
}

Seconds Sequence::time_switches() {
  Seconds sum{};
  std::optional<std::size_t> before;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (calls_[i].plan == "layout") continue;
    if (before && step.openmp && steps_[*before].openmp && step.openmp != steps_[*before].openmp && step.repeatable &&
        steps_[*before].repeatable) {
      Seconds apart{};
      for (std::size_t k = *before; k <= i; ++k) apart += time_steps(k, k);
      sum += std::max(Seconds{}, time_steps(*before, i) - apart);
    }
    before = i;
  }
  return sum;
}

std::vector<Tensor> Sequence::outputs() const {
  std::vector<Tensor> result;
  for (const auto id : graph_.outputs) {
    if (const auto& constant = program_.constants()[id]) result.push_back(*constant);
    else result.push_back(seen(graph_.value(id), arena_->at(places_.at({model_.root(id), plain}))));
  }
  return result;
}

Bytes Sequence::all_tensors() const {
  double sum = 0;
  for (const auto& region : regions_) sum += static_cast<double>(region.bytes);
  return {sum};
}

}  // namespace benanza::execution
