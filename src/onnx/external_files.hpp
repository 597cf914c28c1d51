// SPDX-License-Identifier: Apache-2.0
// ExternalFiles: the files in which a model keeps numbers of its tensors.
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
#include <utility>

namespace benanza::importer {

class ExternalFiles {
 public:
  /// `model`: the path of the model. Without it, nothing can be read.
  explicit ExternalFiles(std::optional<std::filesystem::path> model) : model_(std::move(model)) {}

  /// The bytes at a place, or none if they cannot be read. At most `most_files` files are opened. They stay valid as
  /// long as this object.
  [[nodiscard]] std::string_view bytes(const ExternalData& place, std::size_t size);

 private:
  static constexpr std::size_t most_files = 16;

  std::optional<std::filesystem::path> model_;
  std::map<std::string, std::unique_ptr<MappedFile>> files_{};  // null: it cannot be read
};

}  // namespace benanza::importer
