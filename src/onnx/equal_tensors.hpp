// SPDX-License-Identifier: Apache-2.0
// EqualTensors: large tensors of a file with the same numbers, such as weights that an exporter has stored twice.
#pragma once

#include "external_data.hpp"
#include "mapped_file.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::importer {

class EqualTensors {
 public:
  /// Smaller tensors are not compared.
  static constexpr std::size_t least_bytes = 1 << 16;

  /// `model`: the file, for external data. Without it, external data is not compared.
  explicit EqualTensors(std::optional<std::filesystem::path> model) : model_(std::move(model)) {}

  /// The number of an earlier tensor of the same type and dimensions with the same bytes, otherwise empty. Only the
  /// first and the last bytes are read, and all bytes if an earlier tensor has the same ones. A tensor that seems to
  /// have one number everywhere is left out. `bytes` have to stay valid.
  [[nodiscard]] std::optional<std::size_t> find_or_add(std::size_t number, const std::string& type_and_dims,
                                                       std::string_view bytes);
  /// The bytes of external data, or none if they cannot be read. At most `most_files` files are opened.
  [[nodiscard]] std::string_view external(const ExternalData& place, std::size_t size);

 private:
  static constexpr std::size_t most_files = 16;
  struct Tensor {
    std::size_t number = 0;
    std::string_view bytes{};
  };

  std::optional<std::filesystem::path> model_;
  std::map<std::string, std::unique_ptr<MappedFile>> files_{};  // null: it cannot be read
  std::unordered_map<std::string, std::vector<Tensor>> known_{};
};

}  // namespace benanza::importer
