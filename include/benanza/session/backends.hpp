// SPDX-License-Identifier: Apache-2.0
// The backends that this Benanza was built with, by name.
#pragma once

#include <benanza/plan/choose_backends.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace benanza {

/// `choose_backends` among those that this Benanza was built with.
[[nodiscard]] std::vector<std::shared_ptr<const Backend>> usable_backends(
    std::span<const std::string> names = {}, const std::function<void(const std::string& text)>& warn = {});

}  // namespace benanza
