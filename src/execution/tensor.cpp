// SPDX-License-Identifier: Apache-2.0
#include <benanza/execution/tensor.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace benanza {

namespace {

constexpr std::size_t tensor_alignment = 64;  // alignment of the buffers of plans (plan/backend.hpp)

std::size_t byte_size(DataType type, const Tensor::Dims& dims) {
  for (const auto size : dims)
    if (size < 0) throw InputError("a tensor with a dimension of " + std::to_string(size));
  return static_cast<std::size_t>((checked_product(element_count(dims), bits(type)) + 7) / 8);
}

}  // namespace

Tensor::Tensor(DataType type, Dims dims) : type_(type), dims_(std::move(dims)) {
  const std::size_t size = std::max<std::size_t>(byte_size(type_, dims_), 1);
  void* data =
      std::aligned_alloc(tensor_alignment, (size + tensor_alignment - 1) / tensor_alignment * tensor_alignment);
  if (data == nullptr) throw std::bad_alloc();
  owner_ = std::shared_ptr<const void>(data, [](const void* p) { std::free(const_cast<void*>(p)); });
  data_ = data;
}

Tensor::Tensor(DataType type, Dims dims, std::shared_ptr<const void> owner, const void* data)
    : type_(type), dims_(std::move(dims)), owner_(std::move(owner)), data_(data) {}

Tensor Tensor::of(DataType type, Dims dims, std::span<const double> values) {
  Tensor result(type, std::move(dims));
  if (result.elements() != static_cast<std::int64_t>(values.size()))
    throw UsageError(std::to_string(values.size()) + " numbers for a tensor of " + std::to_string(result.elements()) +
                     " elements");
  for (std::size_t i = 0; i < values.size(); ++i)
    store(result.writable(), type, static_cast<std::int64_t>(i), values[i]);
  return result;
}

std::size_t Tensor::bytes() const { return byte_size(type_, dims_); }

bool Tensor::aligned() const { return reinterpret_cast<std::uintptr_t>(data_) % tensor_alignment == 0; }

std::vector<double> Tensor::values() const {
  std::vector<double> result(static_cast<std::size_t>(elements()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = (*this)[static_cast<std::int64_t>(i)];
  return result;
}

Tensor Tensor::as(DataType type, Dims dims) const {
  Tensor result = *this;
  result.type_ = type;
  result.dims_ = std::move(dims);
  if (result.bytes() != bytes())
    throw UsageError(described(type_, dims_) + " is not as large as " + described(type, result.dims_));
  return result;
}

std::string described(DataType type, const Tensor::Dims& dims) {
  std::string text(name(type));
  text += ' ';
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : "x") + std::to_string(dims[i]);
  return dims.empty() ? text + "scalar" : text;
}

}  // namespace benanza
