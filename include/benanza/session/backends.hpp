// SPDX-License-Identifier: Apache-2.0
// Backends by name.
#pragma once

#include <benanza/plan/backend.hpp>
#include <benanza/results/results.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace benanza {

/// `cuda` stands for cudnn, cublas and cuda; other names stand for themselves. Each name once.
[[nodiscard]] std::vector<std::string> expand_backends(std::span<const std::string> names);

/// The backends of these names; without names, all of the processor. Those that are not available are left out, unless
/// they were named: without a library the bound is another bound. `warn` is called for a backend of a group that is
/// left out. Throws UsageError for an unknown name, EnvironmentError where a named one, or every one, is not available.
[[nodiscard]] std::vector<std::shared_ptr<const Backend>> usable_backends(
    std::span<const std::string> names = {}, const std::function<void(const std::string& text)>& warn = {});

[[nodiscard]] std::vector<BackendVersion> versions_of(std::span<const std::shared_ptr<const Backend>> backends);

}  // namespace benanza
