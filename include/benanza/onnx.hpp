// SPDX-License-Identifier: Apache-2.0
// import_onnx: from an ONNX file to a Graph. Without protobuf: only src/onnx uses the ONNX library.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

struct ImportOptions {
  std::optional<std::int64_t> batch{};         ///< rewrites the first dimension of every real input that shares it
  std::map<std::string, std::int64_t> dims{};  ///< symbolic dimension -> size
  std::map<std::string, std::vector<std::int64_t>> inputs{};  ///< input name -> full shape
  std::map<std::string, std::int64_t> values{};               ///< scalar input name -> its value, e.g. a trip count
};

/// Reads, checks, binds, infers shapes, inlines functions and folds. Costs the structure of the file, not its weights:
/// tensor payloads are skipped on the wire, external data is never opened. Throws InputError (broken or unbound model;
/// the message starts with the file's name and says what was found and expected) and UsageError (an option names
/// nothing in the model).
[[nodiscard]] Graph import_onnx(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace benanza
