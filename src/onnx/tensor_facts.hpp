// SPDX-License-Identifier: Apache-2.0
// TensorFacts: what the message of a tensor says, and where its numbers are.
#pragma once

#include "external_files.hpp"
#include "wire.hpp"
#include <benanza/model/data_type.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::importer {

struct TensorFacts {
  std::string_view name{};
  std::vector<std::int64_t> dims{};
  std::uint64_t type = 0;
  std::string_view raw{};  ///< the last of its fields
  std::size_t raw_bytes = 0, other_bytes = 0;
  bool external = false;
  /// All numbers, as raw_data has them: bytes of the file, of external data or of `converted`. Empty if they are not as
  /// many as the dimensions say, or cannot be read.
  std::string_view numbers{};
  std::shared_ptr<const std::string> converted{};  ///< from the fields of a type, such as int32_data

  [[nodiscard]] std::optional<DataType> known_type() const {
    return data_type_from_onnx(type < 64 ? static_cast<int>(type) : 0);
  }
};

/// Reads the messages of tensors of one file.
class TensorReader {
 public:
  /// `file` is the start of the whole file: error messages give positions in it. `model`: its path, for external data.
  TensorReader(const char* file, std::optional<std::filesystem::path> model)
      : file_(file), external_(std::move(model)) {}

  /// Everything but `numbers`. Throws InputError for external data outside the model's folder, as an engine that runs
  /// the model would open it.
  [[nodiscard]] TensorFacts facts(std::string_view message) const;
  [[nodiscard]] TensorFacts facts_and_numbers(std::string_view message) const;
  /// Adds what one field of dimensions holds.
  void append_dims(std::vector<std::int64_t>& dims, const WireField& field) const;
  /// Throws InputError for a negative dimension and for a number of elements that overflows.
  [[nodiscard]] static std::int64_t checked_elements(const TensorFacts& facts);

 private:
  [[nodiscard]] WireReader read(std::string_view message) const { return {message, file_}; }
  [[nodiscard]] bool is_external(std::string_view tensor, std::string_view name) const;
  void read_typed_fields(TensorFacts& found, std::string_view message, DataType type, std::size_t size) const;

  const char* file_;
  mutable ExternalFiles external_;
};

}  // namespace benanza::importer
