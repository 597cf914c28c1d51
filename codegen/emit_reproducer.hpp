// SPDX-License-Identifier: Apache-2.0
// The emitters of reproducers: one file for each library, one line in the list of emit_reproducer.cpp.
#pragma once

#include <benanza/codegen.hpp>
#include <benanza/model/epilogue.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::codegen {

/// A plan's name taken apart: `jit:avx2,src=aBcd8b,threads=2`.
struct PlanName {
  std::string algorithm{};  ///< jit:avx2
  std::map<std::string, std::string, std::less<>> keys{};
  int threads = 1;
};
/// Throws UsageError for a text that is not a plan's name.
[[nodiscard]] PlanName parse_plan(std::string_view text);

/// The banner: command, the layer's signature, and how to compile.
[[nodiscard]] std::string reproducer_banner(const Reproducer& reproducer, std::string_view compile,
                                            std::string_view run);

/// The template with each `@name@` replaced by its text.
[[nodiscard]] std::string filled(std::string_view text, const std::map<std::string_view, std::string>& places);

using Dims = std::vector<std::int64_t>;
/// `{1, 64, 56, 56}`.
[[nodiscard]] std::string list(std::span<const std::int64_t> dims);
/// Largest float for an infinite limit.
[[nodiscard]] std::string float_text(double value);
[[nodiscard]] bool starts_with_bias(const Epilogue& post);
/// Dimensions of an operand of the epilogue, of the result's rank.
[[nodiscard]] Dims operand_dims(const PostOp& op, std::span<const std::int64_t> y, std::size_t channel_axis);
/// Throw UsageError.
[[noreturn]] void refuse_reproducer(std::string_view library, const std::string& what);
[[noreturn]] void refuse_kind(std::string_view kind);

/// What CUDA's headers call elements of a type; float for those that it has no word for.
[[nodiscard]] std::string cuda_element(DataType type);
/// The program of a library on an NVIDIA GPU: `layer` is its part of the file, `headers` are its includes.
[[nodiscard]] std::string cuda_reproducer(const Reproducer& reproducer, std::string_view libraries,
                                          std::string_view headers, std::string layer);

void emit_cublaslt_reproducer(const Reproducer& reproducer, std::ostream& out);
void emit_cudnn_reproducer(const Reproducer& reproducer, std::ostream& out);
void emit_onednn_reproducer(const Reproducer& reproducer, std::ostream& out);

}  // namespace benanza::codegen
