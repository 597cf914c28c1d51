// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <benanza/catch2.hpp>

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_macros.hpp>
#endif

#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

namespace {
std::string model_file;
}

TEST_CASE("the engine is near the bound") {
  using namespace benanza::literals;
  const benanza::Bound bound{.model = "mine", .latency = 10.0_ms};
  const benanza::Seconds measured = 11.5_ms;
  REQUIRE_THAT(measured, benanza::is_within(1.2).of(bound));
  REQUIRE_THAT(measured, !benanza::is_within(1.1).of(bound));
}

TEST_CASE("a bound without results is partial, and nothing is within it") {
  const auto model = benanza::make_model_layers(benanza::import_onnx(model_file));
  const benanza::Analysis analysis = benanza::analyze(model, benanza::ResultDatabase{});
  CHECK(analysis.macs > 0);
  REQUIRE_THAT(benanza::milliseconds(1), !benanza::is_within(1e9).of(analysis.bound(benanza::RungName::library_fused)));
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  model_file = argv[1];
  return Catch::Session().run(1, argv);
}
