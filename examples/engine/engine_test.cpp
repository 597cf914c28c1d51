// SPDX-License-Identifier: Apache-2.0
// The engine's unit test: its results are right, and it is not much slower than the best library calls.
#define CATCH_CONFIG_MAIN
#include "mnist_engine.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/catch2.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/onnx.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

namespace {

struct Bounds {
  benanza::ModelLayers model = benanza::make_model_layers(benanza::import_onnx(ENGINE_MODEL));
  benanza::Analysis analysis = benanza::analyze(model, benanza::ResultDatabase::load(ENGINE_RESULTS), {.threads = 1});
};

/// A clock that advances by `step` at each read, so that a test's outcome does not depend on the machine.
MnistEngine::Clock stepping(std::chrono::microseconds step) {
  return [step, at = benanza::Recorder::Time{}]() mutable { return at += step; };
}

benanza::Seconds fastest(const benanza::EngineProfile& profile) {
  return *std::min_element(profile.latencies.begin(), profile.latencies.end());
}

}  // namespace

// The bound is 38.7 us on the invented machine of the results; the engine takes five steps of the clock.
TEST_CASE("an engine within twice the best library calls holds its bound, and a slower one does not") {
  const auto bound = Bounds().analysis.bound();
  MnistEngine engine;
  CHECK_THAT(fastest(profile_of(engine, 3, stepping(std::chrono::microseconds(15)))), benanza::is_within(2).of(bound));
  CHECK_THAT(fastest(profile_of(engine, 3, stepping(std::chrono::microseconds(16)))), !benanza::is_within(2).of(bound));
}

// ENGINE_FACTOR=30 ./engine_test "[time]", with ENGINE_RESULTS of the machine that it runs on.
TEST_CASE("on this machine the engine is within ENGINE_FACTOR of the best library calls", "[.][time]") {
  const char* const factor = std::getenv("ENGINE_FACTOR");
  REQUIRE(factor != nullptr);
  MnistEngine engine;
  REQUIRE_THAT(fastest(profile_of(engine, 50)), benanza::is_within(std::stod(factor)).of(Bounds().analysis.bound()));
}

TEST_CASE("every layer of the model is in the engine's profile, and the parts of its gap add up") {
  const Bounds bounds;
  MnistEngine engine;
  const auto profile = profile_of(engine, 3, stepping(std::chrono::microseconds(16)));
  const benanza::Gap gap = benanza::compare(bounds.analysis, bounds.model, profile);
  CHECK(gap.not_found.empty());
  for (const auto& record : gap.records) CHECK(record.group.has_value());
  REQUIRE(gap.gap.has_value());
  benanza::Seconds sum{};
  for (const auto& part : gap.parts) sum += part.time;
  CHECK(std::fabs(sum.value - gap.gap->value) < 1e-9);
}
