// SPDX-License-Identifier: Apache-2.0
// The engine's unit test: it is right about what it runs, and not too far from what the best library calls take.
#define CATCH_CONFIG_MAIN
#include "mnist_engine.hpp"
#include <benanza/analysis.hpp>
#include <benanza/catch2.hpp>
#include <benanza/gap.hpp>
#include <benanza/onnx.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace {

struct Bounds {
  benanza::ModelLayers model = benanza::make_model_layers(benanza::import_onnx(ENGINE_MODEL));
  benanza::Analysis analysis = benanza::analyze(
      model, benanza::ResultDatabase::load(std::array<std::filesystem::path, 1>{ENGINE_RESULTS}), {.threads = 1});
};

}  // namespace

TEST_CASE("the engine is within a factor of the best library calls") {
  const Bounds bounds;
  MnistEngine engine;
  const benanza::EngineProfile profile = profile_of(engine, 50);
  const auto fastest = *std::min_element(profile.latencies.begin(), profile.latencies.end());
  REQUIRE_THAT(fastest, benanza::is_within(ENGINE_FACTOR).of(bounds.analysis.bound(benanza::RungName::library_fused)));
}

TEST_CASE("every layer of the model is in the engine's profile, and the parts of its gap add up") {
  const Bounds bounds;
  MnistEngine engine;
  const benanza::Gap gap = benanza::compare(bounds.analysis, bounds.model, profile_of(engine, 50));
  CHECK(gap.not_found.empty());
  for (const auto& record : gap.records) CHECK(record.group.has_value());
  if (gap.gap) {  // of a machine with invented figures the engine may be anything
    benanza::Seconds sum{};
    for (const auto& part : gap.parts) sum += part.time;
    CHECK(std::fabs(sum.value - gap.gap->value) < 1e-9);
  }
}
