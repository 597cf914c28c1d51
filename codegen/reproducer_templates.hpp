// SPDX-License-Identifier: Apache-2.0
// The text of reproducers, embedded from the files `reproducer_<library>.cpp.txt` beside this one.
#pragma once

#include <string_view>

namespace benanza::codegen {

extern const std::string_view reproducer_onednn;

}  // namespace benanza::codegen
