// SPDX-License-Identifier: Apache-2.0
// An engine's unit test that fails when the engine is slower than the libraries allow. For GoogleTest include
// benanza/gtest.hpp and write EXPECT_THAT.
#define CATCH_CONFIG_MAIN
#include <benanza/bounds/analyze.hpp>
#include <benanza/catch2.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

namespace {

/// Stands for the engine under test.
benanza::Seconds run_engine() { return benanza::milliseconds(0.044); }

}  // namespace

TEST_CASE("the engine runs MNIST within 1.2 times of the best library calls") {
  const auto model = benanza::make_model_layers(benanza::import_onnx("examples/models/zoo2019/MNIST.onnx"));
  const auto results = benanza::ResultDatabase::load("examples/results/mnist.json");
  const auto analysis = benanza::analyze(model, results, {.threads = 1});

  REQUIRE_THAT(run_engine(), benanza::is_within(1.2).of(analysis.bound()));
}
