// SPDX-License-Identifier: Apache-2.0
// The shipped models of examples/models/zoo2019 and examples/models/modern.
#pragma once

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace benanza::testing {

/// All 44 models, by folder and name.
inline std::vector<std::filesystem::path> model_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"zoo2019", "modern"})
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(BENANZA_MODELS) / folder))
      if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.size() != 44)
    throw std::runtime_error(std::to_string(files.size()) + " models under " + BENANZA_MODELS + ", expected 44");
  return files;
}

}  // namespace benanza::testing
