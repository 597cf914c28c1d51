// SPDX-License-Identifier: Apache-2.0
// The emitters of reproducers: one file for each library, one line in the list of emit_reproducer.cpp.
#pragma once

#include <benanza/codegen.hpp>

#include <map>
#include <string>
#include <string_view>

namespace benanza::codegen {

/// A plan's name taken apart: `jit:avx2,src=aBcd8b,threads=2`.
struct PlanName {
  std::string algorithm{};  ///< jit:avx2
  std::map<std::string, std::string, std::less<>> keys{};
  int threads = 1;
};
/// Throws UsageError for a text that is none.
[[nodiscard]] PlanName parse_plan(std::string_view text);

/// The banner: command, the layer's signature, and how to compile.
[[nodiscard]] std::string reproducer_banner(const Reproducer& reproducer, std::string_view compile,
                                            std::string_view run);

/// The template with each `@name@` replaced by its text.
[[nodiscard]] std::string filled(std::string_view text, const std::map<std::string_view, std::string>& places);

void emit_onednn_reproducer(const Reproducer& reproducer, std::ostream& out);

}  // namespace benanza::codegen
