// SPDX-License-Identifier: Apache-2.0
// StoredTensors: the numbers of a model's constants, read from the file that the model was imported from. What the file
// holds as plain bytes, within itself or beside it, is mapped and not copied.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace benanza {

/// Elements as they lie in memory, row-major, at any alignment.
struct StoredBytes {
  std::shared_ptr<const void> owner{};  ///< keeps `bytes` valid
  std::span<const std::byte> bytes{};
  DataType type = DataType::f32;
};

class StoredTensors {
 public:
  /// Throws InputError, with the file's name, where it cannot be read.
  explicit StoredTensors(std::filesystem::path file);
  ~StoredTensors();
  StoredTensors(const StoredTensors&) = delete;
  StoredTensors& operator=(const StoredTensors&) = delete;

  /// The elements of a value that an executable import of the same file has left with a `stored` place, in the file's
  /// type: a model may have been given another floating-point type since. Throws InputError, with the names of the file
  /// and the tensor, where data is not there, cut off or of another size, where the file is not the one that was
  /// imported, and for strings.
  [[nodiscard]] StoredBytes read(const Value& value);

 private:
  class Files;
  std::filesystem::path file_;
  std::unique_ptr<Files> files_;
};

}  // namespace benanza
