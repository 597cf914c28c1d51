// SPDX-License-Identifier: Apache-2.0
// How to follow an advice in an engine: the table of engines' options.
#pragma once

#include <benanza/gap/gap.hpp>

#include <optional>
#include <string_view>

namespace benanza::gap {

/// Options of the profile's engine that bring about the change, as its documentation names them, on the device that it
/// ran on; empty where none is known, where it is the engine's default, or where the records show that it is on.
/// `type`: what is changed to by a Change::type.
[[nodiscard]] std::string_view engine_option(const EngineProfile& profile, Change change,
                                             std::optional<DataType> type = {});

}  // namespace benanza::gap
