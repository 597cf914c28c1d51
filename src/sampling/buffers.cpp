// SPDX-License-Identifier: Apache-2.0
#include "buffers.hpp"

#include "placement.hpp"
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

namespace benanza::sampling {

namespace {

/// Operands as they are timed: one region for all magnitudes, since each region may grow to the size of all caches.
std::vector<Operand> as_timed(std::vector<Operand> operands) {
  for (auto& operand : operands) operand.exponent = 0;
  return operands;
}

}  // namespace

std::vector<const void*> Buffers::inputs(const std::string& layer, const std::string& backend,
                                         const std::vector<Operand>& inputs, const Plan& plan, bool exact) {
  const auto& layouts = plan.inputs();
  packed_.begin_call(layer);
  const std::vector<Operand> placed = exact ? inputs : as_timed(inputs);
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < placed.size(); ++i)
    bytes.push_back(std::max(exact ? 0 : layouts[i].bytes, static_cast<std::size_t>(placed[i].bytes())));
  std::vector<const void*> result = regions_.for_calls(placed, bytes);
  // This comes last, since packing reads the plain inputs, which may just have moved.
  std::vector<const void*> source;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (layouts[i].name == "plain" || !(exact || inputs[i].constant)) continue;
    if (source.empty()) source = plain_inputs(inputs);
    result[i] = packed_.packed(layer + "|" + backend + "|" + std::to_string(i) + "|" + layouts[i].name,
                               inputs[i].constant, plan, i, source[i]);
  }
  return result;
}

std::pair<std::vector<void*>, void*> Buffers::outputs(const Plan& plan) {
  Placement placement(memory_ != nullptr);
  std::vector<std::size_t> offsets;
  for (const auto& layout : plan.outputs()) offsets.push_back(placement.add(layout.bytes, offsets.size()));
  const std::size_t workspace = placement.add(plan.workspace_bytes(), offsets.size(), workspace_alignment);
  std::byte* const base = detail::grown(results_, placement.size(), memory_);
  std::vector<void*> result;
  for (const std::size_t offset : offsets) result.push_back(base + offset);
  return {std::move(result), base + workspace};
}

void Buffers::rotate(const std::string& layer, const std::string& backend, const std::vector<Operand>& exact,
                     CacheState cache, Work& work) {
  const std::vector<Operand> inputs = as_timed(exact);
  const auto& layouts = work.plan->inputs();
  const bool everything = cache == CacheState::cold;
  // One copy: what lies in each region, line after line, so that a traversal of the region leaves no line out.
  std::map<Region, std::size_t> ends, still;
  std::vector<std::size_t> offsets(inputs.size());
  std::size_t results = 0;
  const auto rounded = [this](std::size_t bytes) { return rounded_up(bytes, memory_ != nullptr ? 256 : 64); };
  const auto take = [&](std::size_t& end, std::size_t bytes) { return std::exchange(end, end + rounded(bytes)); };
  Rotation rotation{.position = &position_, .workspace = everything && work.plan->workspace_bytes() > 0};
  const auto is_read = [&](std::size_t input) {  // an operand that a plan adds to in place rotates as an output
    for (std::size_t i = 0; i < work.plan->outputs().size(); ++i)
      if (work.plan->sums_into(i) == input) return false;
    return true;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Region key = region_of(inputs[i]);
    still[key] += rounded(std::max(layouts[i].bytes, static_cast<std::size_t>(inputs[i].bytes()))) + 2 * 4096;
    if (!is_read(i) || (!inputs[i].is_weight() && !(everything && !inputs[i].constant))) continue;
    rotation.inputs.push_back(i);
    // If a call reads only some rows of a table, the next copy begins that many bytes later, so that it reads other
    // rows. An operand that a call could do without is read as a whole.
    const std::size_t touched =
        inputs[i].touched.value_or(0) > 0 ? static_cast<std::size_t>(inputs[i].touched_bytes()) : layouts[i].bytes;
    offsets[i] = take(ends[key], touched);
  }
  std::vector<std::size_t> output_offsets;
  if (everything)
    for (const auto& layout : work.plan->outputs()) output_offsets.push_back(take(results, layout.bytes));

  // A step is what a call certainly touches, that is, its operands: it may use as little of a workspace as it likes.
  rotation.step = results;
  for (const auto& [key, end] : ends) rotation.step = std::max(rotation.step, end);
  if (rotation.workspace) {  // aligned in every copy
    rotation.step = rounded_up(rotation.step, workspace_alignment);
    position_ = rounded_up(position_, workspace_alignment);
  }
  rotation.region = cold_distance_ + rotation.step;
  if (position_ + rotation.step > rotation.region) position_ = 0;
  // Copies come after the operands that do not move, which would warm them. All regions grow before pointers into any
  // of them are taken.
  const auto region = [&](std::size_t i) {
    const std::size_t beside = still.at(region_of(inputs[i]));
    const auto whole = static_cast<std::size_t>(inputs[i].bytes());
    return regions_.for_calls(inputs[i], beside + rotation.region + whole + 256) + beside + position_;
  };
  for (const auto i : rotation.inputs) static_cast<void>(region(i));
  work.inputs = this->inputs(layer, backend, exact, *work.plan, false);
  for (const auto i : rotation.inputs) work.inputs[i] = region(i) + offsets[i];
  if (results > 0) {
    const std::size_t workspaces = rounded_up(rotation.region + 256, workspace_alignment);
    const std::size_t most = workspaces + rotation.region + work.plan->workspace_bytes() + 256;
    std::byte* const base =
        detail::grown(rotated_results_, rotation.workspace ? most : rotation.region + 256, memory_) + position_;
    for (std::size_t i = 0; i < output_offsets.size(); ++i) {
      rotation.outputs.push_back(i);
      work.outputs[i] = base + output_offsets[i];
    }
    if (rotation.workspace) work.workspace = base + workspaces;
  }
  work.rotation = std::move(rotation);
}

void Buffers::spoil(const Operands& operands, const Plan& plan, const std::vector<void*>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t bytes = plan.outputs()[i].bytes;
    if (const auto input = starts_as(plan, operands.outputs[i], i)) {
      const void* start = plain_inputs(operands.inputs)[*input];
      if (plan.inputs()[*input].name != "plain") {
        std::byte* const packed = detail::grown(staging_, bytes + 256, nullptr);
        plan.pack_input(*input, start, packed);
        start = packed;
      }
      if (memory_ != nullptr) memory_->upload(outputs[i], start, bytes);
      else std::memcpy(outputs[i], start, bytes);
    } else if (memory_ != nullptr) {
      memory_->set(outputs[i], 0xFF, bytes);
    } else {
      std::memset(outputs[i], 0xFF, bytes);
    }
  }
}

std::vector<double> Buffers::sampled(const Operand& operand, const Plan& plan, std::size_t i, const void* output,
                                     std::span<const std::int64_t> indices) {
  std::vector<std::int64_t> positions;
  for (const auto index : indices)
    if (const auto position = plan.output_position(i, index)) positions.push_back(*position);
  const bool whole_bytes = bits(operand.type) % 8 == 0;
  if (positions.size() < indices.size() || (memory_ != nullptr && !whole_bytes)) {
    output = plain_output(operand, plan, i, output);
    positions.assign(indices.begin(), indices.end());
  } else if (memory_ != nullptr) {
    const std::size_t width = static_cast<std::size_t>(bits(operand.type)) / 8;
    std::byte* const gathered = detail::grown(staging_, positions.size() * width, nullptr);
    memory_->gather(gathered, output, positions, width);
    output = gathered;
    std::iota(positions.begin(), positions.end(), std::int64_t{0});
  }
  std::vector<double> result;
  for (const auto position : positions) result.push_back(load(output, operand.type, position));
  return result;
}

const void* Buffers::plain_output(const Operand& operand, const Plan& plan, std::size_t i, const void* output) {
  const void* here = output;
  if (memory_ != nullptr) {
    const std::size_t bytes = plan.outputs()[i].bytes;
    std::byte* const staged = detail::grown(staging_, bytes + 256, nullptr);
    memory_->download(staged, output, bytes);
    here = staged;
  }
  void* const plain = detail::grown(plain_output_, static_cast<std::size_t>(operand.bytes()) + 256, nullptr);
  plan.unpack_output(i, here, plain);
  return plain;
}

std::size_t Buffers::needed(const std::vector<Operand>& inputs, const Plan& plan, CacheState cache) const {
  std::size_t bytes = plan.workspace_bytes();
  for (const auto& operand : inputs) bytes += static_cast<std::size_t>(operand.bytes());
  for (const auto& layout : plan.inputs()) bytes += layout.bytes;
  for (const auto& layout : plan.outputs()) bytes += 2 * layout.bytes;
  if (cache != CacheState::hot) bytes += (cache == CacheState::cold ? 4 : 2) * cold_distance_;
  return bytes;
}

}  // namespace benanza::sampling
