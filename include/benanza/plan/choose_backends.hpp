// SPDX-License-Identifier: Apache-2.0
// choose_backends: backends by name.
#pragma once

#include <benanza/plan/backend.hpp>
#include <benanza/results/results.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace benanza {

/// `cuda` stands for cudnn, cublas and cuda; other names stand for themselves. Each name occurs once.
[[nodiscard]] std::vector<std::string> expand_backends(std::span<const std::string> names);

/// The backends in `all` with these names; without names, all of the processor. Backends that are not available are
/// left out, unless they were named: without a library the bound is another bound. `warn` is called for a backend of a
/// group that is left out. Throws UsageError for an unknown name, EnvironmentError if a named backend, or every one, is
/// not available.
[[nodiscard]] std::vector<std::shared_ptr<const Backend>> choose_backends(
    std::span<const std::shared_ptr<const Backend>> all, std::span<const std::string> names,
    const std::function<void(const std::string& text)>& warn = {});

/// Whether one of these names, or of the group that it stands for, is a backend of an accelerator. Touches no
/// accelerator.
[[nodiscard]] bool name_device(std::span<const std::string> names, std::span<const std::shared_ptr<const Backend>> all);

[[nodiscard]] std::vector<std::string> names_of(std::span<const std::shared_ptr<const Backend>> backends);
[[nodiscard]] std::vector<BackendVersion> versions_of(std::span<const std::shared_ptr<const Backend>> backends);

}  // namespace benanza
