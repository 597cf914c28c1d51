// SPDX-License-Identifier: Apache-2.0
// Compares the calls of a sequence with the reference, one after the other.
#include "layer_call.hpp"
#include "reference/reference.hpp"
#include "sequence.hpp"

#include <cstring>
#include <utility>

namespace benanza::execution {

namespace {

/// Copies elements of `width` bytes that are in the order of these digits.
void copy_into_row_major(std::byte* to, const std::byte* from, std::size_t width, std::int64_t elements,
                         const std::vector<OrderDigit>& digits) {
  std::vector<std::int64_t> places(digits.size());
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    std::memcpy(to + static_cast<std::size_t>(at) * width, from + static_cast<std::size_t>(i) * width, width);
    for (std::size_t d = digits.size(); d-- > 0;) {
      at += digits[d].stride;
      if (++places[d] < digits[d].extent) break;
      at -= digits[d].extent * digits[d].stride;
      places[d] = 0;
    }
  }
}

}  // namespace

Tensor Sequence::row_major(Tensor to, std::size_t region, const Arrangement& form, const Plan* plan,
                           std::size_t output) const {
  const std::byte* from = at(region);
  std::vector<std::byte> copied;
  if (model_.device != nullptr) {
    copied.resize(regions_[region].bytes);
    model_.device->download(copied.data(), from, copied.size());
    from = copied.data();
  }
  const auto width = static_cast<std::size_t>(bits(to.type())) / 8;
  if (form.is_plain()) std::memcpy(to.writable(), from, to.bytes());
  else if (form.order && width > 0)
    copy_into_row_major(static_cast<std::byte*>(to.writable()), from, width, to.elements(), form.order->digits());
  else plan->unpack_output(output, from, to.writable());
  return to;
}

WitnessCheck Sequence::check(const PlanChoice& choice) {
  WitnessCheck result;
  std::map<ValueId, Tensor> values;  // row-major, by root, until their last reader
  const auto tensor_of = [&](ValueId id) { return Tensor(model_.graph.value(id).type, model_.graph.value(id).dims); };
  for (const auto& [id, tensor] : model_.inputs) values.insert_or_assign(id, tensor);
  std::size_t step = 0;
  for (std::size_t i = 0; i < model_.calls.calls.size(); ++i) {
    for (; step < end_of_calls_ && owners_[step].call == i; ++step) steps_[step].execute();
    const ModelCall& call = model_.calls.calls[i];
    const GroupCall& group = call.group;
    std::map<ValueId, Tensor> made;
    if (call.plans.empty()) {
      for (const auto& id : model_.graph.nodes[group.nodes.front()].outputs)
        if (id) made.insert_or_assign(*id, row_major(tensor_of(*id), places_.at({*id, {}}), {}, nullptr, 0));
    } else {
      const CallPlan& plan = call.plans[choice[i]];
      std::map<std::size_t, Tensor> outputs;
      for (std::size_t k = 0; k < group.shapes.outputs.size(); ++k) {
        if (!group.outputs[k]) continue;
        const ValueId id = *group.outputs[k];
        outputs[k] = row_major(tensor_of(id), places_.at({id, plan.outputs[k]}), plan.outputs[k], plan.plan.get(), k);
        made.insert_or_assign(id, outputs[k]);
      }
      for (const auto& [id, offset] : group.parts)
        made.insert_or_assign(id, row_major(tensor_of(id), places_.at({id, {}}), {}, nullptr, 0));
      if (!group.parts.empty()) {  // the whole is not a value of the graph
        const Operand& whole = group.shapes.outputs[0];
        const std::size_t part = places_.at({group.parts.front().value, {}});
        Tensor to(whole.type, {whole.shape.begin(), whole.shape.end()});
        outputs[0] = row_major(std::move(to), *regions_[part].whole, {}, nullptr, 0);
      }
      compare(call, plan, values, outputs, result);
    }
    values.merge(made);
    std::erase_if(values, [&](const auto& value) {
      const auto last = last_readers_.find(value.first);
      return last == last_readers_.end() || last->second <= i;
    });
  }
  for (; step < steps_.size(); ++step) steps_[step].execute();
  return result;
}

void Sequence::compare(const ModelCall& call, const CallPlan& plan, const std::map<ValueId, Tensor>& values,
                       const std::map<std::size_t, Tensor>& outputs, WitnessCheck& result) const {
  const GroupCall& group = call.group;
  std::vector<Tensor> operands;
  std::vector<const void*> reads;
  for (const auto& operand : group.operands) {
    const auto found = operand.constant ? values.end() : values.find(model_.calls.root(operand.value));
    if (!operand.constant && found == values.end()) return;
    operands.push_back(operand.constant ? *operand.constant : found->second);
    reads.push_back(operands.back().data());
  }
  if (outputs.empty()) return;
  ++result.calls;
  const double tolerance = plan.plan ? plan.plan->tolerance() : 0;  // without a plan, elements are not changed
  for (const auto& [i, tensor] : outputs) {
    const auto samples = reference::checked_indices(group.layer, reads, i, checked_samples);
    auto expected = reference::evaluate(group.layer, reads, i, samples, group.numbers);
    auto got = reference::read(group.shapes.outputs[i], tensor.data(), samples);
    ignore_common_nans(expected, got);
    const bool is_wrong = !reference::agree(group.layer, i, expected, got, tolerance) &&
                          !is_as_exact_as_its_terms(group.layer, operands, expected, got, tolerance);
    const double difference = reference::difference(expected, got);
    const bool was_wrong = result.wrong > 0;
    result.wrong += is_wrong ? 1 : 0;
    if (!result.plan.empty() && std::pair(is_wrong, difference) <= std::pair(was_wrong, result.difference)) continue;
    result.difference = difference;
    result.tolerance = tolerance;
    result.plan = plan.name();
    result.nodes.clear();
    for (const auto node : group.nodes) result.nodes.push_back(model_.graph.nodes[node].name);
  }
}

}  // namespace benanza::execution
