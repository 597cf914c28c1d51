// SPDX-License-Identifier: Apache-2.0
// The Catch2 of the system: version 3 if it is installed, otherwise version 2.
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
