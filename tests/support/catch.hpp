// SPDX-License-Identifier: Apache-2.0
// Catch2 as the system has it: version 3 where it is there, otherwise 2.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
namespace Catch {
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }  // version 2's name for it
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
