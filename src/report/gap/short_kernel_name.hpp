// SPDX-License-Identifier: Apache-2.0
// short_kernel_name: the function name of a CUDA C++ kernel alone. Template arguments can take hundreds of characters.
#pragma once

#include <string>
#include <string_view>

namespace benanza::report {

/// `at::native::vectorized_layer_norm_kernel` of `void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<
/// c10::Half, float>(int, float, ...)`: without return type, parameters and template arguments. Names without
/// parameters are not changed.
[[nodiscard]] inline std::string short_kernel_name(std::string_view name) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  std::string result;
  int depth = 0;  // number of open angle brackets
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(unnamed)) {
      i += unnamed.size() - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      if (--depth < 0) return std::string(name);
    } else if (depth == 0) {
      if (name[i] == '(') return result.empty() || name[i - 1] == ' ' ? std::string(name) : result;
      if (name[i] == ' ' && i + 1 < name.size() && name[i + 1] != '(')
        result.clear();  // the text so far is a return type
      else result += name[i];
    }
  }
  return std::string(name);
}

}  // namespace benanza::report
