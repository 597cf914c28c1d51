// SPDX-License-Identifier: Apache-2.0
// NumPy's file format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Versions 1 to 3, both
// orders of elements, both orders of bytes.
#pragma once

#include <benanza/execution/tensor.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace benanza {

struct NpyHeader {
  std::string descr{};             ///< type of the elements: `<f4`
  std::optional<DataType> type{};  ///< empty if no tensor of a model has such elements
  bool big_endian = false;
  bool fortran_order = false;  ///< the first index varies fastest
  Tensor::Dims dims{};
  std::size_t data_begin = 0;  ///< in bytes
};

/// Throws InputError with the file's name.
[[nodiscard]] NpyHeader read_npy_header(const std::filesystem::path& file);

/// Reads an array of floats (16, 32 or 64 bits), integers or booleans from a file. Throws InputError with the file's
/// name.
[[nodiscard]] Tensor read_npy(const std::filesystem::path& file);

/// Replaces the file; types that NumPy does not have (bf16, floats of 8 bits) are written as f32. Throws
/// EnvironmentError, and InputError for strings and complex numbers.
void write_npy(const std::filesystem::path& file, const Tensor& tensor);

}  // namespace benanza
