// SPDX-License-Identifier: Apache-2.0
// StoredTensors: the numbers of a model's constants, read from the file that the model was imported from. Plain bytes,
// in the file itself or in a file next to it, are mapped, not copied.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace benanza {

/// Elements as in memory, row-major, at any alignment.
struct StoredBytes {
  std::shared_ptr<const void> owner{};  ///< keeps `bytes` valid
  std::span<const std::byte> bytes{};
  DataType type = DataType::f32;
};

class StoredTensors {
 public:
  /// Throws InputError, with the file's name, if it cannot be read.
  explicit StoredTensors(std::filesystem::path file);
  ~StoredTensors();
  StoredTensors(const StoredTensors&) = delete;
  StoredTensors& operator=(const StoredTensors&) = delete;

  /// The elements of a value that has `stored` after an executable import of the same file. They have the file's type:
  /// the model may have been given another floating-point type since. Throws InputError, with the names of the file and
  /// the tensor, if data is missing, cut off or of another size, if the file is not the one that was imported, and for
  /// strings.
  [[nodiscard]] StoredBytes read(const Value& value);

 private:
  class Files;
  std::filesystem::path file_;
  std::unique_ptr<Files> files_;
};

}  // namespace benanza
