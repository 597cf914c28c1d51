// SPDX-License-Identifier: Apache-2.0
// How an advice is followed in an engine: the one table of engines' options.
#pragma once

#include <benanza/gap.hpp>

#include <string_view>

namespace benanza::analysis {

/// Options of that engine that bring about the change, as its documentation names them; empty where none is known.
/// `on_gpu`: the profile is of a device other than the CPU.
[[nodiscard]] std::string_view engine_option(std::string_view engine, Change change, bool on_gpu);

}  // namespace benanza::analysis
