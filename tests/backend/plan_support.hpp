// SPDX-License-Identifier: Apache-2.0
// Runs every plan that a backend has for a layer and compares it with the reference.
#pragma once

#include "plan/fill.hpp"
#include "reference/reference.hpp"
#include "support/catch.hpp"
#include <benanza/plan/backend.hpp>
#include <benanza/plan/element.hpp>

#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

namespace benanza::test {

/// Memory with the alignment that plans are promised, full of NaN.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t bytes) : data_(static_cast<std::byte*>(::operator new(bytes + 1, alignment))) {
    std::memset(data_, 0xFF, bytes);
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  AlignedBuffer& operator=(AlignedBuffer&&) = delete;
  ~AlignedBuffer() { ::operator delete(data_, alignment); }
  [[nodiscard]] void* data() const { return data_; }

 private:
  static constexpr std::align_val_t alignment{64};
  std::byte* data_;
};

/// Plain operands of a layer, filled in the same way as for a measurement.
inline std::vector<AlignedBuffer> filled_inputs(const Operands& operands) {
  std::vector<AlignedBuffer> buffers;
  for (const auto& operand : operands.inputs) {
    buffers.emplace_back(static_cast<std::size_t>(operand.bytes()));
    fill(operand, buffers.back().data(), buffers.size());
  }
  return buffers;
}

/// The elements of an output lie where the plan says that they lie.
inline void check_positions(const Plan& plan, std::size_t i, const Operand& operand, const void* packed,
                            const void* plain) {
  int wrong = 0;
  for (const auto index : reference::sample_indices(operand.elements(), 400))
    if (const auto position = plan.output_position(i, index))
      wrong += load(packed, operand.type, *position) != load(plain, operand.type, index) ? 1 : 0;
  CHECK(wrong == 0);
}

/// What output `i` holds before a call that updates it in place: one of the operands in the plan's layouts. Null for
/// other outputs.
inline const void* start_of(const Plan& plan, const Operand& output, std::size_t i,
                            const std::vector<const void*>& inputs) {
  const auto input = starts_as(plan, output, i);
  return input ? inputs.at(*input) : nullptr;
}

/// Executes a plan on freshly packed buffers and returns its outputs, plain.
inline std::vector<AlignedBuffer> outputs_of(const Plan& plan, const Operands& operands,
                                             const std::vector<AlignedBuffer>& plain) {
  std::vector<AlignedBuffer> packed, results, unpacked;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    packed.emplace_back(plan.inputs().at(i).bytes);
    plan.pack_input(i, plain[i].data(), packed.back().data());
    inputs.push_back(packed.back().data());
  }
  for (const auto& layout : plan.outputs()) {
    const void* const start = start_of(plan, operands.outputs.at(results.size()), results.size(), inputs);
    results.emplace_back(layout.bytes);
    outputs.push_back(results.back().data());
    if (start != nullptr) std::memcpy(outputs.back(), start, layout.bytes);
  }
  const AlignedBuffer workspace(plan.workspace_bytes());
  plan.execute({.inputs = inputs, .outputs = outputs, .workspace = workspace.data()});
  for (std::size_t i = 0; i < results.size(); ++i) {
    unpacked.emplace_back(static_cast<std::size_t>(operands.outputs[i].bytes()));
    plan.unpack_output(i, results[i].data(), unpacked.back().data());
    check_positions(plan, i, operands.outputs[i], results[i].data(), unpacked.back().data());
  }
  return unpacked;
}

/// The result is the same if it is written over an operand that the plan may overwrite.
inline void check_overwritten(const Plan& plan, const Operands& operands, const std::vector<AlignedBuffer>& plain) {
  if (plan.overwritable().empty()) return;
  REQUIRE(operands.outputs.size() == 1);
  const auto expected = outputs_of(plan, operands, plain);
  for (const auto over : plan.overwritable()) {
    INFO("over operand " << over);
    REQUIRE(plan.inputs().at(over).bytes == plan.outputs()[0].bytes);
    CHECK(plan.inputs()[over].name == plan.outputs()[0].name);
    std::vector<AlignedBuffer> packed;
    std::vector<const void*> inputs;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      packed.emplace_back(plan.inputs()[i].bytes);
      plan.pack_input(i, plain[i].data(), packed.back().data());
      inputs.push_back(packed.back().data());
    }
    const std::vector<void*> outputs{packed[over].data()};
    const AlignedBuffer workspace(plan.workspace_bytes());
    plan.execute({.inputs = inputs, .outputs = outputs, .workspace = workspace.data()});
    const AlignedBuffer result(static_cast<std::size_t>(operands.outputs[0].bytes()));
    plan.unpack_output(0, outputs[0], result.data());
    CHECK(std::memcmp(result.data(), expected[0].data(), static_cast<std::size_t>(operands.outputs[0].bytes())) == 0);
  }
}

/// Fills one 8-bit operand with all values of its type.
inline void fill_with_all_bytes(const Operand& operand, const AlignedBuffer& buffer) {
  auto* const bytes = static_cast<std::uint8_t*>(buffer.data());
  for (std::int64_t i = 0; i < operand.elements(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 163 + i / 256);
}

/// All plans for the layer agree with the reference at sampled elements, in two calls with different buffers. Returns
/// the number of plans. `plain`: the inputs.
inline std::size_t check_plans(const Backend& backend, const Layer& layer, int threads,
                               const std::vector<AlignedBuffer>& plain) {
  const Operands shapes = operands(layer);
  auto result = backend.plans(layer, threads);
  if (const auto* unsupported = std::get_if<Unsupported>(&result)) {
    INFO(unsupported->reason);
    CHECK(unsupported->reason.empty());
    return 0;
  }
  std::vector<const void*> pointers;
  for (const auto& buffer : plain) pointers.push_back(buffer.data());
  std::vector<std::vector<std::int64_t>> samples;
  std::vector<std::vector<double>> expected;
  for (std::size_t i = 0; i < shapes.outputs.size(); ++i) {
    samples.push_back(reference::checked_indices(layer, pointers, i, 400));
    expected.push_back(reference::evaluate(layer, pointers, i, samples[i]));
  }
  const auto& plans = std::get<Plans>(result);
  std::vector<std::string> names;
  for (const auto& plan : plans) {
    INFO(plan->algorithm());
    CHECK(plan->algorithm().find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,=:-") ==
          std::string::npos);
    CHECK(plan->algorithm().ends_with(",threads=" + std::to_string(threads)));
    CHECK(plan->threads() == threads);
    CHECK(std::find(names.begin(), names.end(), plan->algorithm()) == names.end());
    names.push_back(plan->algorithm());
    REQUIRE(plan->inputs().size() == shapes.inputs.size());
    REQUIRE(plan->outputs().size() == shapes.outputs.size());
    for (int call = 0; call < 2; ++call) {
      const auto outputs = outputs_of(*plan, shapes, plain);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto got = reference::read(shapes.outputs[i], outputs[i].data(), samples[i]);
        INFO("output " << i << ", difference " << reference::difference(expected[i], got));
        CHECK(reference::agree(layer, i, expected[i], got, plan->tolerance()));
      }
    }
    check_overwritten(*plan, shapes, plain);
  }
  return plans.size();
}
inline std::size_t check_plans(const Backend& backend, const Layer& layer, int threads) {
  return check_plans(backend, layer, threads, filled_inputs(operands(layer)));
}

}  // namespace benanza::test
