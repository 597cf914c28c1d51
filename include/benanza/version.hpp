// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace benanza {

/// Version of Benanza; CMakeLists.txt reads it from here.
inline constexpr std::string_view version = "0.1.0";

}  // namespace benanza
