// SPDX-License-Identifier: Apache-2.0
// A model's layers as a Google Benchmark program: C++ that compiles where neither ONNX nor Python is. The program
// `benanza generate` does the same for any number of models.
#include <benanza/codegen.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <iostream>

int main() {
  const benanza::ModelLayers model =
      benanza::make_model_layers(benanza::import_onnx("examples/models/zoo2019/MNIST.onnx"));

  benanza::SuiteSource suite{
      .name = "mnist", .command = "examples/02_generate_suite", .backends = {"onednn", "native"}};
  for (const auto& at : model.single.layers)
    suite.layers.add(at.layer, model.single.model, at.nodes.front(), at.repeat);
  for (const auto& group : model.fused.layers)  // each way to do a group, or a part of it, in one call
    for (const auto& piece : group.pieces)
      suite.layers.add(piece.layer, model.fused.model, group.nodes.front(), group.repeat);
  benanza::emit_suite(suite, std::cout);
}
