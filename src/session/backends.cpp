// SPDX-License-Identifier: Apache-2.0
#include "plan/backends.hpp"

#include <benanza/session/backends.hpp>

namespace benanza {

std::vector<std::shared_ptr<const Backend>> usable_backends(std::span<const std::string> names,
                                                            const std::function<void(const std::string&)>& warn) {
  return choose_backends(plan::all_backends(), names, warn);
}

}  // namespace benanza
