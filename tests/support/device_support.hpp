// SPDX-License-Identifier: Apache-2.0
// Runs every plan that a device's backend has for a layer and compares it with the reference. Without a device a test
// reports why it is skipped, and checks that the backend gives the reason too.
#pragma once

#include "backend/plan_support.hpp"

#include <algorithm>
#include <string>

namespace benanza::test {

/// Device buffers for the duration of a test, aligned like those of a session: operands to 64 bytes, a workspace to
/// 256.
class OnDevice {
 public:
  static constexpr std::size_t operand = 64, workspace = 256;

  /// The start is a multiple of `alignment`, and of no larger power of two.
  OnDevice(Device& device, std::size_t bytes, std::size_t alignment)
      : device_(device), data_(device.allocate(alignment + bytes + 256)), offset_(alignment) {
    device_.set(data(), 0xFF, bytes);
  }
  OnDevice(OnDevice&& other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)), offset_(other.offset_) {}
  OnDevice& operator=(OnDevice&&) = delete;
  ~OnDevice() {
    if (data_ != nullptr) device_.release(data_);
  }
  [[nodiscard]] void* data() const { return static_cast<std::byte*>(data_) + offset_; }

 private:
  Device& device_;
  void* data_;
  std::size_t offset_;
};

/// Whether the backend can run here. If not, checks that it gives the reason.
inline bool has_device(const Backend& backend) {
  const auto state = backend.availability();
  const auto* why = std::get_if<Unsupported>(&state);
  if (why == nullptr) return true;
  WARN(backend.name() << " is skipped: " << why->reason);
  CHECK_FALSE(why->reason.empty());
  const auto plans = backend.plans(op::Unary{.fn = ElementwiseFn::relu, .x = {64}}, 1);
  REQUIRE(std::holds_alternative<Unsupported>(plans));
  CHECK(std::get<Unsupported>(plans).reason == why->reason);
  return false;
}

/// The elements that are gathered are equal to those of the whole tensor.
inline void check_gather(Device& device, const Operand& operand, const void* there, const void* here) {
  const std::size_t width = static_cast<std::size_t>(bits(operand.type)) / 8;
  const auto positions = reference::sample_indices(operand.elements(), 100);
  const AlignedBuffer gathered(positions.size() * width);
  device.gather(gathered.data(), there, positions, width);
  const auto* const got = static_cast<const std::byte*>(gathered.data());
  const auto* const whole = static_cast<const std::byte*>(here);
  int wrong = 0;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (!std::equal(got + i * width, got + (i + 1) * width, whole + static_cast<std::size_t>(positions[i]) * width))
      ++wrong;
  CHECK(wrong == 0);
}

/// All plans for the layer agree with the reference at sampled elements. Returns their number. A plan that the library
/// refuses when it is called is left out, with a warning; a session excludes its row.
inline std::size_t check_device_plans(const Backend& backend, const Layer& layer) {
  const Operands shapes = operands(layer);
  auto result = backend.plans(layer, 1);
  if (const auto* unsupported = std::get_if<Unsupported>(&result)) {
    INFO(unsupported->reason);
    CHECK(unsupported->reason.empty());
    return 0;
  }
  Device& device = *backend.device();
  const auto plain = filled_inputs(shapes);
  std::vector<const void*> pointers;
  for (const auto& buffer : plain) pointers.push_back(buffer.data());
  std::size_t ran = 0;
  for (const auto& plan : std::get<Plans>(result)) {
    INFO(backend.name() << " " << plan->algorithm());
    std::vector<OnDevice> inputs, outputs;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const AlignedBuffer packed(plan->inputs()[i].bytes);
      plan->pack_input(i, plain[i].data(), packed.data());
      inputs.emplace_back(device, plan->inputs()[i].bytes, OnDevice::operand);
      device.upload(inputs.back().data(), packed.data(), plan->inputs()[i].bytes);
      in.push_back(inputs.back().data());
    }
    for (const auto& layout : plan->outputs()) {
      const void* const start = start_of(*plan, shapes.outputs.at(outputs.size()), outputs.size(), in);
      outputs.emplace_back(device, layout.bytes, OnDevice::operand);
      out.push_back(outputs.back().data());
      if (start != nullptr) device.copy(out.back(), start, layout.bytes);
    }
    const OnDevice workspace(device, plan->workspace_bytes(), OnDevice::workspace);
    try {
      plan->execute({.inputs = in, .outputs = out, .workspace = workspace.data()});
    } catch (const DeviceLost&) {
      throw;
    } catch (const EnvironmentError& refused) {
      device.finish();  // throws if there is another error
      WARN(backend.name() << " " << plan->algorithm() << " does not run: " << refused.what());
      continue;
    }
    device.finish();
    ++ran;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const AlignedBuffer packed(plan->outputs()[i].bytes), got(static_cast<std::size_t>(shapes.outputs[i].bytes()));
      device.download(packed.data(), out[i], plan->outputs()[i].bytes);
      plan->unpack_output(i, packed.data(), got.data());
      check_positions(*plan, i, shapes.outputs[i], packed.data(), got.data());
      check_gather(device, shapes.outputs[i], out[i], packed.data());
      const auto samples = reference::checked_indices(layer, pointers, i, 400);
      const auto expected = reference::evaluate(layer, pointers, i, samples);
      const auto read = reference::read(shapes.outputs[i], got.data(), samples);
      INFO("output " << i << ", difference " << reference::difference(expected, read));
      CHECK(reference::agree(layer, i, expected, read, plan->tolerance()));
    }
  }
  return ran;
}

}  // namespace benanza::test
