// SPDX-License-Identifier: Apache-2.0
// Tensor: a type, dimensions and elements in the processor's memory, row-major. Copies share the elements: a reshape
// costs nothing, and weights stay in the mapped file.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/tensor_shape.hpp>
#include <benanza/plan/element.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace benanza {

class Tensor {
 public:
  using Dims = std::vector<std::int64_t>;

  /// A scalar of f32 without elements, to be assigned to.
  Tensor() = default;
  /// Uninitialised elements, aligned to 64 bytes. Throws InputError if the size overflows, and std::bad_alloc.
  Tensor(DataType type, Dims dims);
  /// Elements that are stored elsewhere, at any alignment, for as long as `owner` lives.
  Tensor(DataType type, Dims dims, std::shared_ptr<const void> owner, const void* data);
  /// These numbers, rounded to the type. Throws UsageError if the dimensions have another number of elements.
  [[nodiscard]] static Tensor of(DataType type, Dims dims, std::span<const double> values);

  [[nodiscard]] DataType type() const { return type_; }
  [[nodiscard]] const Dims& dims() const { return dims_; }
  [[nodiscard]] std::int64_t elements() const { return element_count(dims_); }
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const void* data() const { return data_; }
  /// Whether the elements are aligned as plans require: to 64 bytes.
  [[nodiscard]] bool aligned() const;
  /// Call it on a tensor that was made without elements, before the tensor is copied.
  [[nodiscard]] void* writable() { return const_cast<void*>(data_); }
  /// Element `i` as a number.
  [[nodiscard]] double operator[](std::int64_t i) const { return load(data_, type_, i); }
  [[nodiscard]] std::vector<double> values() const;
  /// The same elements as another type with the same number of bits, and with other dimensions; throws UsageError for
  /// other sizes.
  [[nodiscard]] Tensor as(DataType type, Dims dims) const;

 private:
  DataType type_ = DataType::f32;
  Dims dims_{};
  std::shared_ptr<const void> owner_{};
  const void* data_ = nullptr;
};

/// `f32 1x3x224x224`; `f32 scalar` for a scalar.
[[nodiscard]] std::string described(DataType type, const Tensor::Dims& dims);

}  // namespace benanza
