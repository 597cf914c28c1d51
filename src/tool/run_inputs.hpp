// SPDX-License-Identifier: Apache-2.0
// Inputs of a run: from NumPy files, and random where none is given.
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

/// Moves the values of `--input` that are files, not shapes, out of the options, and has their arrays' shapes bind what
/// the model leaves open. Input name -> file. Throws UsageError, also where an input has two, and InputError.
[[nodiscard]] std::map<std::string, std::filesystem::path> take_input_files(ModelOptions& options);

/// Whether that input of an iteration of training is a state of an optimizer, which is 0 before the first step.
[[nodiscard]] bool is_state(const std::string& input);

/// The names of inputs that have no file, without those states.
[[nodiscard]] std::vector<std::string> inputs_without_file(const std::map<std::string, std::filesystem::path>& files,
                                                           std::span<const TensorInfo> inputs, bool training);

/// All inputs of the model, random where there is no file. Throws InputError for a file of an unknown input, for an
/// array that is not the input's, and for one with a NaN, unless `allow_nan`.
[[nodiscard]] std::map<std::string, Tensor> read_inputs(const std::map<std::string, std::filesystem::path>& files,
                                                        std::span<const TensorInfo> inputs, std::uint64_t seed,
                                                        bool allow_nan);

/// The seed of `--weights random:SEED`; nothing for an empty text. Throws UsageError.
[[nodiscard]] std::optional<std::uint64_t> weight_seed(const std::string& text);

}  // namespace benanza::tool
