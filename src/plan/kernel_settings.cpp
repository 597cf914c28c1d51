// SPDX-License-Identifier: Apache-2.0
#include "engine_variables.inc"
#include <benanza/plan/kernel_settings.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <unistd.h>

namespace benanza {

bool is_kernel_setting(std::string_view variable) {
  return variable.starts_with("GLIBC_TUNABLES=") ||
         std::any_of(std::begin(kernel_variables), std::end(kernel_variables),
                     [&](std::string_view name) { return variable.starts_with(name); });
}

std::string kernel_settings(bool of_worker) {
  std::set<std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const bool is_own = variable.starts_with("CUDNN_FRONTEND_");  // tells cuDNN's graphs where a library is
    if (variable.starts_with("LD_PRELOAD=") || (!of_worker && !is_own && is_kernel_setting(variable)))
      found.emplace(variable);
  }
  std::string text;
  for (const auto& variable : found) text += (text.empty() ? "" : " ") + variable;
  return text;
}

}  // namespace benanza
