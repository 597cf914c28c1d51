// SPDX-License-Identifier: Apache-2.0
// cpu_quota: how much processor time the control group of this process grants.
#pragma once

#include <filesystem>
#include <optional>

namespace benanza {

/// Processors whose time this process may use at once (Linux's CPU bandwidth control), 0.5 for half of one: the least
/// that its control group, or one that encloses it, grants. Nothing without a limit. `root`: the folder that contains
/// proc and sys; versions 1 and 2 of control groups are read (cgroups(7)).
[[nodiscard]] std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

}  // namespace benanza
