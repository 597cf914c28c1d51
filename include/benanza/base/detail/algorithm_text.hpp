// SPDX-License-Identifier: Apache-2.0
// Access to the parts of the name of an algorithm, `name[,key=value]...`.
#pragma once

#include <string_view>

namespace benanza::detail {

/// The name without its keys: `brgconv:avx2` for `brgconv:avx2,src=...,threads=2`.
[[nodiscard]] inline std::string_view without_keys(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.find(','));
}

/// The value of a key of an algorithm: `aBcd8b` for `jit,src=aBcd8b`. Empty if the key is absent.
[[nodiscard]] inline std::string_view value_of(std::string_view algorithm, std::string_view key) {
  for (std::size_t at = algorithm.find(','); at != std::string_view::npos; at = algorithm.find(',', at + 1)) {
    const std::string_view rest = algorithm.substr(at + 1);
    if (rest.starts_with(key) && rest.size() > key.size() && rest[key.size()] == '=') {
      const std::string_view value = rest.substr(key.size() + 1);
      return value.substr(0, value.find(','));
    }
  }
  return {};
}

}  // namespace benanza::detail
