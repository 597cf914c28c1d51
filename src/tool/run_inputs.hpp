// SPDX-License-Identifier: Apache-2.0
// Inputs of a run: from NumPy files, or random if there is no file.
#pragma once

#include "options.hpp"
#include <benanza/execution/executor.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::tool {

/// Moves the values of `--input` that are files rather than shapes out of the options, and binds open sizes of the
/// model to the shapes of their arrays. Returns input name -> file. Throws UsageError, also if an input has two files,
/// and InputError.
[[nodiscard]] std::map<std::string, std::filesystem::path> take_input_files(ModelOptions& options);

/// Whether an input of a training iteration is a state of an optimizer, which is 0 before the first step.
[[nodiscard]] bool is_state(const std::string& input);

/// The names of inputs that have no file, without such states.
[[nodiscard]] std::vector<std::string> inputs_without_file(const std::map<std::string, std::filesystem::path>& files,
                                                           std::span<const TensorInfo> inputs, bool training);

/// All inputs of the model, random if there is no file. Throws InputError for a file of an unknown input, for an array
/// that does not fit the input, and for an array with a NaN, unless `allow_nan`.
[[nodiscard]] std::map<std::string, Tensor> read_inputs(const std::map<std::string, std::filesystem::path>& files,
                                                        std::span<const TensorInfo> inputs, std::uint64_t seed,
                                                        bool allow_nan);

/// The seed of `--weights random:SEED`; empty for an empty text. Throws UsageError.
[[nodiscard]] std::optional<std::uint64_t> weight_seed(const std::string& text);

}  // namespace benanza::tool
