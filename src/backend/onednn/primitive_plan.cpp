// SPDX-License-Identifier: Apache-2.0
#include "primitive_plan.hpp"

#include <algorithm>
#include <cstring>

namespace benanza::onednn {
namespace {

std::vector<Layout> layouts(const std::vector<std::optional<OperandLayout>>& chosen,
                            std::span<const Operand> operands) {
  std::vector<Layout> result = plain_layouts(operands);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) continue;
    const auto& [plain, packed, transform] = *chosen[i];
    if (!transform && same_memory(packed, plain)) continue;
    result[i] = {.name = layout_name(packed, plain), .bytes = packed.get_size()};
    if (transform) result[i].name += "-" + transform->name;
    else result[i].order = order_of(packed, plain);
  }
  return result;
}

/// Size of the largest scratchpad: the steps run one after another and share it.
std::size_t scratchpad_bytes(const Draft& draft) {
  std::size_t bytes = 0;
  for (const auto& step : draft.steps)
    bytes = std::max(bytes, step.descriptor.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD).get_size());
  return bytes;
}

std::byte* address(const Slot& slot, const Arguments& arguments) {
  switch (slot.kind) {
    case Slot::Kind::input:
      return static_cast<std::byte*>(const_cast<void*>(arguments.inputs[slot.index])) + slot.offset;
    case Slot::Kind::output: return static_cast<std::byte*>(arguments.outputs[slot.index]) + slot.offset;
    default: return static_cast<std::byte*>(arguments.workspace) + slot.offset;
  }
}

}  // namespace

PrimitivePlan::PrimitivePlan(std::shared_ptr<const Library> library, Draft draft, std::string name,
                             const Operands& operands, int threads)
    : Plan({.algorithm = std::move(name),
            .threads = threads,
            .inputs = layouts(draft.inputs, operands.inputs),
            .outputs = layouts(draft.outputs, operands.outputs),
            .workspace_bytes = draft.workspace_bytes + scratchpad_bytes(draft),
            .saves_multiplications = draft.saves_multiplications,
            .tolerance = draft.tolerance,
            .sums_into = {draft.sums_into},
            .overwritable = draft.overwritable}),
      library_(std::move(library)),
      input_layouts_(std::move(draft.inputs)),
      output_layouts_(std::move(draft.outputs)),
      held_(std::move(draft.held)) {
  const Slot scratchpad{Slot::Kind::workspace, 0, draft.workspace_bytes};
  for (auto& [descriptor, uses] : draft.steps) {
    dnnl_primitive_t primitive = nullptr;
    check(dnnl_primitive_create(&primitive, descriptor.get()), "dnnl_primitive_create");
    Call call{.primitive = dnnl::primitive()};
    call.primitive.reset(primitive);
    if (descriptor.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD).get_size() > 0)
      uses.push_back({DNNL_ARG_SCRATCHPAD, scratchpad});
    for (const auto& use : uses) {
      const bool is_held = use.slot.kind == Slot::Kind::held;
      memories_.emplace_back(use.own ? *use.own : descriptor.query_md(dnnl::query::exec_arg_md, use.argument),
                             library_->engine, is_held ? held_[use.slot.index].data() : DNNL_MEMORY_NONE);
      if (!is_held) bindings_.push_back({.memory = memories_.back().get(), .slot = use.slot});
      call.arguments.push_back({use.argument, memories_.back().get()});
    }
    calls_.push_back(std::move(call));
  }
}

void PrimitivePlan::do_execute(const Arguments& arguments) const {
  Library::use_threads(threads());
  for (auto& binding : bindings_) {
    std::byte* const wanted = address(binding.slot, arguments);
    if (wanted == binding.bound) continue;
    check(dnnl_memory_set_data_handle(binding.memory, wanted), "dnnl_memory_set_data_handle");
    binding.bound = wanted;
  }
  // The C call is used because the C++ one builds a map and a vector of the arguments each time.
  for (const auto& call : calls_)
    check(dnnl_primitive_execute(call.primitive.get(), library_->stream.get(), static_cast<int>(call.arguments.size()),
                                 call.arguments.data()),
          "dnnl_primitive_execute");
}

void PrimitivePlan::do_pack_input(std::size_t i, const void* plain, void* packed) const {
  if (inputs().at(i).name == "plain") {
    std::memcpy(packed, plain, inputs()[i].bytes);
    return;
  }
  const OperandLayout& layout = *input_layouts_.at(i);
  if (!layout.transform) return reorder(layout.plain, plain, layout.packed, packed);
  const std::vector<float> values = layout.transform->apply(plain);
  reorder(layout.plain, values.data(), layout.packed, packed);
}

void PrimitivePlan::do_unpack_output(std::size_t i, const void* packed, void* plain) const {
  if (outputs().at(i).name == "plain") {
    std::memcpy(plain, packed, outputs()[i].bytes);
    return;
  }
  reorder(output_layouts_.at(i)->packed, packed, output_layouts_[i]->plain, plain);
}

std::optional<std::int64_t> PrimitivePlan::do_output_position(std::size_t i, std::int64_t index) const {
  if (outputs().at(i).name == "plain") return index;
  return position_in(output_layouts_.at(i)->packed, output_layouts_[i]->plain, index);
}

void PrimitivePlan::reorder(const Desc& from, const void* source, const Desc& to, void* target) const {
  auto found = std::find_if(changes_.begin(), changes_.end(),
                            [&](const Change& change) { return change.from == from && change.to == to; });
  if (found == changes_.end()) {
    Change change{.from = from,
                  .to = to,
                  .source = dnnl::memory(from, library_->engine, DNNL_MEMORY_NONE),
                  .target = dnnl::memory(to, library_->engine, DNNL_MEMORY_NONE)};
    change.primitive = dnnl::reorder(change.source, change.target);
    found = changes_.insert(changes_.end(), std::move(change));
  }
  found->source.set_data_handle(const_cast<void*>(source));
  found->target.set_data_handle(target);
  found->primitive.execute(library_->stream, found->source, found->target);
}

}  // namespace benanza::onednn
