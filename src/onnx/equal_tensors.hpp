// SPDX-License-Identifier: Apache-2.0
// EqualTensors: large tensors of a file with the same numbers, such as weights that an exporter has stored twice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace benanza::importer {

class EqualTensors {
 public:
  /// Smaller tensors are not compared.
  static constexpr std::size_t least_bytes = 1 << 16;

  /// The number of an earlier tensor of the same type and dimensions with the same bytes, otherwise empty. Only the
  /// first and the last bytes are read, and all bytes if an earlier tensor has the same ones. A tensor that seems to
  /// have one number everywhere is left out. `bytes` have to stay valid.
  [[nodiscard]] std::optional<std::size_t> find_or_add(std::size_t number, const std::string& type_and_dims,
                                                       std::string_view bytes);

 private:
  struct Tensor {
    std::size_t number = 0;
    std::string_view bytes{};
  };

  std::unordered_map<std::string, std::vector<Tensor>> known_{};
};

}  // namespace benanza::importer
