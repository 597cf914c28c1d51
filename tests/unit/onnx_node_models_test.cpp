// SPDX-License-Identifier: Apache-2.0
// The models of ONNX's node tests as they are, with every input an input: what they are made of may not be a layer that
// is known, but none of them breaks the importer.
#include "support/catch.hpp"
#include <benanza/error.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace benanza;

/// Its encoder has one key and three values: ONNX's own inference refuses it.
constexpr const char* refused_by_onnx = "test_ai_onnx_ml_label_encoder_tensor_mapping";

/// Names the option that binds what is open, or says that only the numbers of an input tell a size.
bool says_what_is_open(const std::string& message) {
  return message.find("(--") != std::string::npos || message.find("it depends on data") != std::string::npos;
}

TEST_CASE("Every model of ONNX's node tests has layers, or a size that its inputs' numbers decide", "[onnx]") {
  const std::filesystem::path folder = BENANZA_ONNX_NODE_TESTS;
  if (!std::filesystem::is_directory(folder)) {
    WARN("skipped: no folder " << folder.string() << " with ONNX's node-test vectors");
    return;
  }
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename() != refused_by_onnx) models.push_back(entry.path() / "model.onnx");
  std::sort(models.begin(), models.end());

  std::size_t with_layers = 0;
  for (const auto& model : models) {
    try {
      static_cast<void>(make_model_layers(import_onnx(model)));
      ++with_layers;
    } catch (const InputError& error) {
      if (!says_what_is_open(error.what())) FAIL_CHECK(error.what());
    } catch (const std::exception& error) {
      FAIL_CHECK(model.string() << ": " << error.what());
    }
  }
  CAPTURE(models.size());
  CHECK(4 * with_layers >=
        3 * models.size());  // sizes are open where a function is written out and its axes are inputs
}

}  // namespace
