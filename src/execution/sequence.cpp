// SPDX-License-Identifier: Apache-2.0
#include "sequence.hpp"

#include "time_of_calls.hpp"
#include <benanza/base/detail/quantile.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

namespace benanza::execution {

namespace {

/// A tensor without ownership: the arena outlives its users.
Tensor seen(const Value& value, const void* data) {
  return Tensor(value.type, value.dims, std::shared_ptr<const void>(std::shared_ptr<const void>{}, data), data);
}

std::size_t bytes_of(const Value& value) { return Tensor(value.type, value.dims, nullptr, nullptr).bytes(); }

std::vector<std::string> names_of(const Graph& graph, std::span<const std::size_t> nodes) {
  std::vector<std::string> names;
  for (const auto node : nodes) names.push_back(graph.nodes[node].name);
  return names;
}

/// What a call of a plan reads and writes, the same in every execution.
struct Buffers {
  std::vector<const void*> inputs{};
  std::vector<void*> outputs{};
  void* workspace = nullptr;
};

std::optional<bool> team_of(const Plan& plan, bool uses_openmp) {
  return plan.threads() > 1 ? std::optional(uses_openmp) : std::nullopt;
}

}  // namespace

Sequence::Sequence(const Model& model, const PlanChoice& choice) : model_(model) {
  const Graph& graph = model.graph;
  find_last_readers();
  for (const auto& [id, tensor] : model.inputs) regions_[write(id, {}, tensor.bytes())].may_move = false;
  for (std::size_t i = 0; i < model.calls.calls.size(); ++i) {
    const ModelCall& call = model.calls.calls[i];
    call_ = i;
    if (call.plans.empty()) add_node(call);
    else if (const CallPlan& plan = call.plans[choice[i]]; plan.plan) add_call(call, plan);
    else add_in_place(call, plan);
  }
  end_of_calls_ = steps_.size();
  const auto& constants = model.program.constants();
  for (const auto id : graph.outputs)
    if (!constants[id]) use(read(id, {}, nullptr, 0));
  const std::size_t end = steps_.size();
  for (const auto id : graph.outputs)
    if (const auto found = places_.find({model.calls.root(id), {}}); found != places_.end())
      regions_[found->second].last = end;
  for (const auto& [id, tensor] : model.inputs) {  // the next execution does not write them again
    Region& region = regions_[places_.at({id, {}})];
    region.first = 0;
    region.last = end;
  }
  place();
  for (const auto& [id, tensor] : model.inputs) {
    std::byte* const to = at(places_.at({id, {}}));
    if (model.device != nullptr) model.device->upload(to, tensor.data(), tensor.bytes());
    else std::memcpy(to, tensor.data(), tensor.bytes());
  }
  for (const auto& step : steps_) step.bind();
}

void Sequence::copy(void* to, const void* from, std::size_t bytes) const {
  if (model_.device != nullptr) model_.device->copy(to, from, bytes);
  else std::memcpy(to, from, bytes);
}

void Sequence::use(std::size_t region) { regions_[region].last = std::max(regions_[region].last, steps_.size()); }

void Sequence::find_last_readers() {
  const auto& calls = model_.calls.calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (const auto& operand : calls[i].group.operands)
      if (!operand.constant) last_readers_[model_.calls.root(operand.value)] = i;
    for (const auto node : calls[i].group.nodes)  // by itself, or with inputs for which the layer has no operand
      for (const auto& id : model_.graph.nodes[node].inputs)
        if (id) last_readers_[model_.calls.root(*id)] = i;
  }
  for (const auto id : model_.graph.outputs) last_readers_[model_.calls.root(id)] = calls.size();
}

bool Sequence::may_overwrite(std::size_t i, const GroupCall& group,
                             const std::vector<std::optional<std::size_t>>& regions) const {
  const auto& region = regions[i];
  if (!region || regions_[*region].whole || !regions_[*region].may_move) return false;
  if (last_readers_.at(model_.calls.root(group.operands[i].value)) != call_) return false;
  if (std::count(regions.begin(), regions.end(), region) > 1) return false;
  return std::none_of(regions_.begin(), regions_.end(), [&](const Region& part) { return part.whole == region; });
}

std::optional<std::size_t> Sequence::overwritten(const CallPlan& plan, const GroupCall& group,
                                                 const std::vector<std::optional<std::size_t>>& regions) const {
  for (const auto i : plan.plan->overwritable())
    if (plan.inputs[i] == plan.outputs[0] && may_overwrite(i, group, regions)) return i;
  return std::nullopt;
}

void Sequence::push(Step step, WitnessCall said, std::optional<StepOwner::Change> change) {
  owners_.push_back({.call = call_, .change = std::move(change)});
  steps_.push_back(std::move(step));
  calls_.push_back(std::move(said));
}

std::size_t Sequence::write(ValueId id, const Arrangement& form, std::size_t bytes) {
  const std::size_t region = regions_.size();
  regions_.push_back({.bytes = bytes, .first = steps_.size(), .last = steps_.size()});
  places_[{id, form}] = region;
  return region;
}

/// A region is alive while one of its parts is.
void Sequence::place() {
  for (auto& region : regions_)
    for (auto whole = region.whole; whole; whole = regions_[*whole].whole) {
      regions_[*whole].first = std::min(regions_[*whole].first, region.first);
      regions_[*whole].last = std::max(regions_[*whole].last, region.last);
    }
  std::vector<MemoryNeed> needs;
  for (const auto& region : regions_) {
    blocks_.push_back(needs.size());
    if (!region.whole) needs.push_back({region.bytes, region.first, region.last});
  }
  arena_.emplace(needs, model_.device);
}

std::byte* Sequence::at(std::size_t region) const {
  std::size_t offset = 0;
  for (; regions_[region].whole; region = *regions_[region].whole) offset += regions_[region].offset;
  return arena_->at(blocks_[region]) + offset;
}

std::size_t Sequence::change(StepOwner::Change what, const LayoutChange& how, std::size_t from) {
  const std::size_t to = write(what.root, what.to, how.call.plan->outputs()[0].bytes);
  const std::size_t workspace = write(model_.graph.values.size() + inner_++, {}, how.call.plan->workspace_bytes());
  use(from);
  auto buffers = std::make_shared<Buffers>(Buffers{.inputs = {nullptr}, .outputs = {nullptr}});
  push({.execute =
            [held = how.call.plan, buffers] {
              held->execute({.inputs = buffers->inputs, .outputs = buffers->outputs, .workspace = buffers->workspace});
            },
        .bind =
            [this, buffers, from, to, workspace] {
              buffers->inputs[0] = at(from);
              buffers->outputs[0] = at(to);
              buffers->workspace = at(workspace);
            },
        .openmp = team_of(*how.call.plan, how.call.uses_openmp),
        .repeatable = true},
       {.nodes = {model_.graph.value(what.root).name},
        .plan = "layout",
        .layer = LayerSignature(how.layer).text(),
        .layout_plan = how.call.name(),
        .alone = how.call.alone},
       what);
  return to;
}

void Sequence::pack(StepOwner::Change what, std::size_t from, std::size_t to,
                    std::function<void(const void*, void*)> how) {
  const std::string& name = model_.graph.value(what.root).name;
  if (model_.device != nullptr)
    throw InputError("no kernel brings value '" + name + "' from layout '" + what.from.key + "' to '" + what.to.key +
                     "'");
  use(from);
  auto addresses = std::make_shared<std::pair<const void*, void*>>();
  push({.execute = [addresses, how = std::move(how)] { how(addresses->first, addresses->second); },
        .bind =
            [this, addresses, from, to] {
              *addresses = {at(from), at(to)};
            }},
       {.nodes = {name}, .plan = "layout"}, what);
}

std::size_t Sequence::read(ValueId id, const Arrangement& form, const CallPlan* plan, std::size_t operand) {
  const ValueId root = model_.calls.root(id);
  if (const auto found = places_.find({root, form}); found != places_.end()) {
    use(found->second);
    return found->second;
  }
  const Value& value = model_.graph.value(root);
  const auto maker = makers_.find(root);
  const Arrangement made = maker != makers_.end() ? maker->second.form : Arrangement{};
  for (const Arrangement& from : {made, Arrangement{}}) {
    const auto place = places_.find({root, from});
    if (place == places_.end() || from == form) continue;
    if (const auto* how = model_.changes.find(value.type, value.elements(), from, form))
      return change({root, from, form}, *how, place->second);
  }
  if (form.is_plain()) {
    if (maker == makers_.end() || maker->second.plan == nullptr)
      throw InputError("value '" + value.name + "' is read before it is computed");
    // The call uses the plan of another layer, whose layout does not describe this value.
    if (!made.is_plain() && maker->second.plan->plan->outputs()[maker->second.output].name == "plain")
      throw InputError("no plan brings value '" + value.name + "' into row-major order");
    const std::size_t from = places_.at({root, made}), to = write(root, {}, bytes_of(value));
    pack({root, made, {}}, from, to,
         [held = maker->second.plan->plan, output = maker->second.output](const void* in, void* out) {
           held->unpack_output(output, in, out);
         });
    return to;
  }
  const std::size_t from = read(id, {}, nullptr, 0);
  if (const auto* how = model_.changes.find(value.type, value.elements(), {}, form))
    return change({root, {}, form}, *how, from);
  if (plan == nullptr || !plan->plan || plan->plan->inputs()[operand].name == "plain")
    throw InputError("value '" + value.name + "' is in no order that is read");
  const std::size_t to = write(root, form, plan->plan->inputs()[operand].bytes);
  pack({root, {}, form}, from, to,
       [held = plan->plan, operand](const void* in, void* out) { held->pack_input(operand, in, out); });
  return to;
}

void Sequence::add_call(const ModelCall& call, const CallPlan& plan) {
  auto buffers = std::make_shared<Buffers>();
  std::vector<std::optional<std::size_t>> reads;
  const GroupCall& group = call.group;
  for (std::size_t i = 0; i < group.operands.size(); ++i) {
    const auto& [value, constant] = group.operands[i];
    if (constant) {
      buffers->inputs.push_back(model_.packed.of(*plan.plan, i, *constant));
      reads.emplace_back();
      continue;
    }
    reads.emplace_back(read(value, plan.inputs[i], &plan, i));
    buffers->inputs.push_back(nullptr);
  }
  for (const auto& region : reads)
    if (region) use(*region);  // a layout change may come in between
  std::vector<std::size_t> writes;
  std::vector<std::pair<std::size_t, std::size_t>> copies;  // (result, operand that it starts as a copy of)
  bool is_repeatable = std::none_of(group.shapes.inputs.begin(), group.shapes.inputs.end(),
                                    [](const Operand& operand) { return !is_float(operand.type); });
  for (std::size_t i = 0; i < group.shapes.outputs.size(); ++i) {
    const bool is_value = group.outputs[i].has_value();
    const ValueId id = is_value ? *group.outputs[i] : model_.graph.values.size() + inner_++;
    const auto start = starts_as(*plan.plan, group.shapes.outputs[i], i);
    const auto over = start || i > 0 ? start : overwritten(plan, group, reads);
    if (over && may_overwrite(*over, group, reads)) {
      places_[{id, plan.outputs[i]}] = *reads[*over];
      writes.push_back(*reads[*over]);
      is_repeatable = is_repeatable && start;
      written_over_ += plan.plan->outputs()[i].bytes;
    } else {
      writes.push_back(write(id, plan.outputs[i], plan.plan->outputs()[i].bytes));
      if (start) copies.emplace_back(i, *start);
    }
    if (is_value) makers_[id] = {.plan = &plan, .output = i, .form = plan.outputs[i]};
  }
  for (const auto& [value, offset] : group.parts) {
    const std::size_t part = write(value, {}, bytes_of(model_.graph.value(value)));
    regions_[part].whole = writes[0];
    regions_[part].offset = offset;
    makers_[value] = {};
  }
  buffers->outputs.resize(writes.size());
  const std::size_t workspace = write(model_.graph.values.size() + inner_++, {}, plan.plan->workspace_bytes());
  push({.execute =
            [this, held = plan.plan, buffers, copies] {
              for (const auto& [to, from] : copies)
                copy(buffers->outputs[to], buffers->inputs[from], held->outputs()[to].bytes);
              held->execute({.inputs = buffers->inputs, .outputs = buffers->outputs, .workspace = buffers->workspace});
            },
        .bind =
            [this, buffers, reads, writes, workspace] {
              for (std::size_t i = 0; i < reads.size(); ++i)
                if (reads[i]) buffers->inputs[i] = at(*reads[i]);
              for (std::size_t i = 0; i < writes.size(); ++i) buffers->outputs[i] = at(writes[i]);
              buffers->workspace = at(workspace);
            },
        .openmp = team_of(*plan.plan, plan.uses_openmp),
        .repeatable = is_repeatable},
       {.nodes = names_of(model_.graph, group.nodes),
        .plan = plan.name(),
        .alone = plan.alone,
        .fastest = call.moved_in_place ? Seconds{} : call.plans.front().alone});
}

void Sequence::add_copy(const ModelCall& call, const Tensor* constant, std::optional<std::size_t> region,
                        std::size_t whole, std::size_t offset, std::size_t bytes) {
  if (region) use(*region);
  const void* const from = constant == nullptr ? nullptr : model_.packed.row_major(*constant);
  auto addresses = std::make_shared<std::pair<const void*, std::byte*>>(from, nullptr);
  push({.execute = [this, addresses, bytes] { copy(addresses->second, addresses->first, bytes); },
        .bind =
            [this, addresses, region, whole, offset] {
              if (region) addresses->first = at(*region);
              addresses->second = at(whole) + offset;
            }},
       {.nodes = names_of(model_.graph, call.group.nodes), .plan = "layout"});
}

/// A part is copied if it already is in another region, or if plans would not accept its place.
void Sequence::add_in_place(const ModelCall& call, const CallPlan& plan) {
  constexpr std::size_t alignment = 64;  // plan/backend.hpp
  push({.execute = [] {}, .bind = [] {}}, {.nodes = names_of(model_.graph, call.group.nodes),
                                           .plan = plan.name(),
                                           .fastest = call.moved_in_place ? Seconds{} : call.plans.front().alone});
  const GroupCall& group = call.group;
  const auto bytes_of_operand = [](const Operand& operand) { return static_cast<std::size_t>(operand.bytes()); };
  if (std::holds_alternative<op::Concat>(group.layer)) {
    std::vector<std::optional<std::size_t>> parts;
    for (std::size_t k = 0; k < group.operands.size(); ++k)
      parts.push_back(group.operands[k].constant
                          ? std::nullopt
                          : std::optional(read(group.operands[k].value, plan.inputs[k], nullptr, 0)));
    const std::size_t whole = write(*group.outputs[0], plan.outputs[0], bytes_of_operand(group.shapes.outputs[0]));
    makers_[*group.outputs[0]] = {.form = plan.outputs[0]};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::size_t bytes = bytes_of_operand(group.shapes.inputs[k]);
      Region* const part = parts[k] ? &regions_[*parts[k]] : nullptr;
      if (part && !part->whole && part->may_move && part->bytes == bytes && plan.offsets[k] % alignment == 0) {
        part->whole = whole;
        part->offset = plan.offsets[k];
        use(whole);
      } else {
        add_copy(call, part ? nullptr : &*group.operands[k].constant, parts[k], whole, plan.offsets[k], bytes);
      }
    }
    use(whole);
    return;
  }
  const std::size_t whole = read(group.operands[0].value, plan.inputs[0], nullptr, 0);
  for (std::size_t k = 0; k < group.outputs.size(); ++k) {
    if (!group.outputs[k]) continue;
    const std::size_t part = write(*group.outputs[k], plan.outputs[k], bytes_of_operand(group.shapes.outputs[k]));
    regions_[part].whole = whole;
    regions_[part].offset = plan.offsets[k];
    makers_[*group.outputs[k]] = {.output = k, .form = plan.outputs[k]};
  }
}

void Sequence::add_node(const ModelCall& call) {
  const Node& node = model_.graph.nodes[call.group.nodes.front()];
  NodeStep* const step = model_.program.step_of(node);
  if (step == nullptr) throw NotExecutable(node, "control flow within a sequence of plans");
  if (model_.device != nullptr) throw NotExecutable(node, "no plan of the device runs it");
  std::vector<std::optional<std::size_t>> reads, writes;
  auto inputs = std::make_shared<NodeTensors>();
  for (const auto& id : node.inputs) {
    const auto& constant = id ? model_.program.constants()[*id] : std::nullopt;
    inputs->push_back(constant);
    reads.push_back(id && !constant ? std::optional(read(*id, {}, nullptr, 0)) : std::nullopt);
  }
  for (const auto& region : reads)
    if (region) use(*region);
  for (const auto& id : node.outputs)
    writes.push_back(id ? std::optional(write(*id, {}, bytes_of(model_.graph.value(*id)))) : std::nullopt);
  push({.execute =
            [this, step, inputs, writes, &node] {
              const NodeTensors made = step->run(*inputs, model_.resources);
              for (std::size_t i = 0; i < writes.size(); ++i) {
                if (!writes[i]) continue;
                if (i >= made.size() || !made[i]) throw NotExecutable(node, "an output that is not computed");
                if (made[i]->bytes() != bytes_of(model_.graph.value(*node.outputs[i])))
                  throw NotExecutable(node, "a size that data decides");
                std::memcpy(at(*writes[i]), made[i]->data(), made[i]->bytes());
              }
            },
        .bind =
            [this, inputs, reads, &node] {
              for (std::size_t i = 0; i < reads.size(); ++i)
                if (reads[i]) (*inputs)[i] = seen(model_.graph.value(*node.inputs[i]), at(*reads[i]));
            }},
       {.nodes = {node.name}, .plan = step->plan_name()});
}

void Sequence::run() {
  for (const auto& step : steps_) step.execute();
}

std::vector<Seconds> Sequence::run_timed() {
  std::vector<Seconds> times;
  times.reserve(steps_.size());
  if (model_.device != nullptr) {
    for (const auto& step : steps_) times.push_back(time_of_calls(model_.device, step.execute));
    return times;
  }
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
    const auto all = [&] {
      for (std::size_t i = first; i <= last; ++i) steps_[i].execute();
    };
    times.push_back(time_of_calls(model_.device, all).value);
    sum += times.back();
  }
  return {detail::quantile(times, 0.1)};
}

void Sequence::time_layout_changes() {
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (calls_[i].plan == "layout" && calls_[i].alone.value == 0) calls_[i].alone = time_steps(i, i);
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
  for (const auto id : model_.graph.outputs) {
    const Value& value = model_.graph.value(id);
    if (const auto& constant = model_.program.constants()[id]) {
      result.push_back(*constant);
      continue;
    }
    const std::byte* const data = at(places_.at({model_.calls.root(id), {}}));
    if (model_.device == nullptr) {
      result.push_back(seen(value, data));
      continue;
    }
    Tensor copied(value.type, value.dims);
    model_.device->download(copied.writable(), data, copied.bytes());
    result.push_back(std::move(copied));
  }
  return result;
}

Bytes Sequence::all_tensors() const {
  auto sum = static_cast<double>(written_over_);
  for (const auto& region : regions_) sum += static_cast<double>(region.bytes);
  return {sum};
}

}  // namespace benanza::execution
