// SPDX-License-Identifier: Apache-2.0
// Sizes of models' inputs from files: defaults for a set of models, and shapes in a profile.
#pragma once

#include <benanza/onnx.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::tool {

/// Sizes by model, from the object in a JSON file: `{"a.onnx": {"dim": {"height": 320}}, "*": {"batch": 1}}`.
class ShapesFile {
 public:
  /// Throws InputError with the file's name and the place in it.
  explicit ShapesFile(const std::filesystem::path& file);

  /// The sizes that apply if the command line gives none: the model's own entry, then the entry of `*`.
  [[nodiscard]] std::vector<ImportOptions> defaults(const std::filesystem::path& model) const;
  /// Throws InputError if the model's own entry names a dimension or an input that the model does not have.
  void check_names(const std::filesystem::path& model, const Graph& graph) const;

 private:
  [[nodiscard]] const ImportOptions* own(const std::filesystem::path& model) const;

  std::string file_;
  std::map<std::string, ImportOptions> entries_{};
};

/// Model -> key of its entry (`dim`, `value`) -> name -> number.
using SizesByModel = std::map<std::string, std::map<std::string, std::map<std::string, std::int64_t>>>;
/// The text of such a file, as one line.
[[nodiscard]] std::string shapes_text(const SizesByModel& likely);

/// ONNX node, or a value that it computes -> shapes of its inputs, if a profile has them.
[[nodiscard]] std::map<std::string, std::vector<std::vector<std::int64_t>>> node_inputs(const EngineProfile& profile);

}  // namespace benanza::tool
