// SPDX-License-Identifier: Apache-2.0
// What the exports of trtexec and its log say about a layer.
#pragma once

#include "source.hpp"
#include <benanza/profile/engine_profile.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace benanza::profile {

/// A layer of TensorRT's name for it, without times.
[[nodiscard]] ProfileRecord trtexec_record(const Source& source, std::string name, std::uint64_t position);

/// Follows the name of the file in a warning.
inline constexpr std::string_view trtexec_overhead =
    ": times of layers come from runs with events between layers: their sum exceeds the latency";

}  // namespace benanza::profile
