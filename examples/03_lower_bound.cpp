// SPDX-License-Identifier: Apache-2.0
// The ladder of bounds of a model from stored results: nothing is measured, no device is needed. The results here are
// invented, so that every figure can be checked by hand; `benanza bound MODEL` measures real ones and keeps them in
// such files.
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <cstdio>

int main() {
  const benanza::ModelLayers model =
      benanza::make_model_layers(benanza::import_onnx("examples/models/zoo2019/MNIST.onnx"));
  const auto results = benanza::ResultDatabase::load("examples/results/mnist.json");
  const benanza::Analysis analysis = benanza::analyze(model, results, {.threads = 1});

  for (std::size_t i = 0; i < benanza::rung_count; ++i) {
    const auto& bound = analysis.rungs[i].bound;
    const auto name = enum_names(benanza::RungName{})[i];
    if (bound) std::printf("%-22s %8.3f us\n", name.data(), bound->value * 1e6);
    else std::printf("%-22s not known\n", name.data());
  }
  std::printf("measured %d of %d layers%s\n", static_cast<int>(analysis.coverage[benanza::Status::measured]),
              static_cast<int>(analysis.layers), analysis.partial() ? ", the bounds are partial" : "");
}
