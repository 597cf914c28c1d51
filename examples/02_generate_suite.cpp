// SPDX-License-Identifier: Apache-2.0
// A model's layers as a Google Benchmark program: C++ that compiles on machines without ONNX or Python. The program
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
  benanza::add_measurable(model, suite.layers);
  benanza::emit_suite(suite, std::cout);
}
