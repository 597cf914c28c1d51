// SPDX-License-Identifier: Apache-2.0
// ConstTensor: a view of a row-major tensor that reads its elements as numbers.
#pragma once

#include <benanza/model/tensor_shape.hpp>
#include <benanza/plan/element.hpp>

namespace benanza {

struct ConstTensor {
  const void* data = nullptr;
  DataType type = DataType::f32;
  TensorShape shape{};

  [[nodiscard]] double operator[](std::int64_t i) const { return load(data, type, i); }
  /// The elements as floats; null if they are of another type.
  [[nodiscard]] const float* floats() const {
    return stored_type(type) == DataType::f32 ? static_cast<const float*>(data) : nullptr;
  }
};

}  // namespace benanza
