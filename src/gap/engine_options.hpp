// SPDX-License-Identifier: Apache-2.0
// How to follow advice in an engine: the table of engines' options.
#pragma once

#include <benanza/gap/gap.hpp>

#include <optional>
#include <string_view>

namespace benanza::gap {

/// Options of the profile's engine that bring about the change on the device that it ran on, with the names of its
/// documentation. Empty if none is known, if it is the engine's default, or if the records show that it is on. `type`:
/// the new type of a Change::type.
[[nodiscard]] std::string_view engine_option(const EngineProfile& profile, Change change,
                                             std::optional<DataType> type = {});

}  // namespace benanza::gap
