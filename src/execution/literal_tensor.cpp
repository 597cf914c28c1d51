// SPDX-License-Identifier: Apache-2.0
#include "literal_tensor.hpp"

#include <cstring>
#include <string>

namespace benanza::execution {

Tensor to_tensor(DataType type, const Tensor::Dims& dims, const Literal& literal) {
  const std::size_t given = literal.floats.empty() ? literal.ints.size() : literal.floats.size();
  Tensor result(type, dims);
  if (static_cast<std::int64_t>(given) != result.elements())
    throw InputError("a constant has " + std::to_string(given) + " numbers, expected " +
                     std::to_string(result.elements()));
  if (literal.floats.empty() && (type == DataType::i64 || type == DataType::u64)) {
    if (given != 0) std::memcpy(result.writable(), literal.ints.data(), given * sizeof(std::int64_t));
    return result;
  }
  for (std::size_t i = 0; i < given; ++i)
    store(result.writable(), type, static_cast<std::int64_t>(i),
          literal.floats.empty() ? static_cast<double>(literal.ints[i]) : literal.floats[i]);
  return result;
}

Tensor to_tensor(DataType type, const Tensor::Dims& dims, const BandedNumbers& numbers) {
  Tensor result(type, dims);
  const std::int64_t rows = dims[dims.size() - 2], columns = dims.back();
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    const std::int64_t diagonal = i % columns - i / columns % rows;
    const bool is_inside = numbers.band.least <= diagonal && diagonal <= numbers.band.most;
    store(result.writable(), type, i, is_inside ? numbers.inside : numbers.outside);
  }
  return result;
}

Literal to_literal(const Tensor& tensor) {
  Literal literal;
  const auto count = static_cast<std::size_t>(tensor.elements());
  if (is_float(tensor.type())) {
    literal.floats = tensor.values();
  } else if (tensor.type() == DataType::i64 || tensor.type() == DataType::u64) {
    literal.ints.resize(count);
    if (count != 0) std::memcpy(literal.ints.data(), tensor.data(), count * sizeof(std::int64_t));
  } else {
    for (std::size_t i = 0; i < count; ++i)
      literal.ints.push_back(static_cast<std::int64_t>(tensor[static_cast<std::int64_t>(i)]));
  }
  return literal;
}

}  // namespace benanza::execution
