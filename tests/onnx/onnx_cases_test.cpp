// SPDX-License-Identifier: Apache-2.0
// The unchanged models of ONNX's own tests, in which every input is an input: single nodes, functions written out,
// models that PyTorch exported, networks without their weights. Each of them has layers, or is refused for a reason
// that is listed here.
#include "support/catch.hpp"
#include <benanza/error.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace benanza;

/// Why a model has no bound, the message in the error, and the largest number of models.
struct Refusal {
  std::string_view reason;
  std::string_view message;
  std::size_t most;
};
constexpr std::array refusals{
    Refusal{"a dimension is a symbol that is not bound", "dimensions of its inputs are not bound", 5},
    Refusal{"axes, lengths or shapes are numbers of an input", "it depends on data", 41},
};

std::vector<std::filesystem::path> models_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  std::sort(models.begin(), models.end());
  return models;
}

TEST_CASE("Every model of ONNX's own tests has layers, or is refused for a reason that is listed", "[onnx]") {
  const std::filesystem::path folder = BENANZA_ONNX_CASES;
  if (!std::filesystem::is_directory(folder)) {
    WARN("skipped: no folder " << folder.string() << " with the models of ONNX's own tests");
    return;
  }
  std::map<std::string_view, std::size_t> refused;
  const auto models = models_below(folder);
  for (const auto& model : models) {
    try {
      static_cast<void>(make_model_layers(import_onnx(model)));
    } catch (const InputError& error) {
      const std::string message = error.what();
      const auto listed = std::find_if(refusals.begin(), refusals.end(), [&](const Refusal& refusal) {
        return message.find(refusal.message) != std::string::npos;
      });
      if (listed == refusals.end()) FAIL_CHECK(message);
      else ++refused[listed->reason];
    } catch (const std::exception& error) {
      FAIL_CHECK(model.string() << ": " << error.what());
    }
  }
  CHECK(models.size() > 2000);  // ONNX 1.23.2: 1,884 of nodes and 152 others
  for (const auto& refusal : refusals) {
    CAPTURE(refusal.reason);
    CHECK(refused[refusal.reason] <= refusal.most);
  }
}

}  // namespace
