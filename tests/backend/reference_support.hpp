// SPDX-License-Identifier: Apache-2.0
// Short ways to run the reference on small operands given as numbers.
#pragma once

#include "plan/fill.hpp"
#include "reference/reference.hpp"
#include <benanza/plan/element.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::test {

/// A row-major operand made from numbers, or random.
class Buffer {
 public:
  Buffer(DataType type, const std::vector<double>& values)
      : bytes_((values.size() * static_cast<std::size_t>(bits(type)) + 7) / 8) {
    for (std::size_t i = 0; i < values.size(); ++i) store(bytes_.data(), type, static_cast<std::int64_t>(i), values[i]);
  }
  explicit Buffer(const Operand& operand, std::uint64_t seed = 1) : bytes_(static_cast<std::size_t>(operand.bytes())) {
    fill(operand, bytes_.data(), seed);
  }
  [[nodiscard]] const void* data() const { return bytes_.data(); }
  [[nodiscard]] void* data() { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

/// All elements of an output. Each input is given as numbers in row-major order and stored in the type that the layer
/// reads.
inline std::vector<double> run(const Layer& layer, const std::vector<std::vector<double>>& inputs,
                               std::size_t output = 0, const reference::Parameters& parameters = {}) {
  const Operands shapes = operands(layer);
  std::vector<Buffer> buffers;
  std::vector<const void*> pointers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i < shapes.inputs.size() && shapes.inputs[i].elements() != static_cast<std::int64_t>(inputs[i].size()))
      throw UsageError("a test gives operand " + std::to_string(i) + " a wrong number of elements");
    buffers.emplace_back(shapes.inputs.at(i).type, inputs[i]);
  }
  for (const auto& buffer : buffers) pointers.push_back(buffer.data());
  return reference::evaluate_all(layer, pointers, output, parameters);
}

/// Random operands, filled in the same way as for a measurement.
inline std::vector<Buffer> random_inputs(const Layer& layer) {
  std::vector<Buffer> buffers;
  for (const auto& operand : operands(layer).inputs) buffers.emplace_back(operand, buffers.size() + 1);
  return buffers;
}
inline std::vector<const void*> pointers(const std::vector<Buffer>& buffers) {
  std::vector<const void*> result;
  for (const auto& buffer : buffers) result.push_back(buffer.data());
  return result;
}

}  // namespace benanza::test
