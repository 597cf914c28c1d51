// SPDX-License-Identifier: Apache-2.0
// The layers that a bound of training consists of: each has a plan of oneDNN or of Benanza's own kernels.
#include "support/catch.hpp"
#include <benanza/backend/native.hpp>
#include <benanza/backend/onednn.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/onnx.hpp>
#include <benanza/plan/backend.hpp>
#include <benanza/training/derive_training.hpp>

#include <set>
#include <string>

using namespace benanza;

namespace {

/// Signatures of layers for which neither backend has a plan. Random numbers are left out: no two implementations agree
/// on them.
std::set<std::string> layers_without_plan(const TrainingGraph& iteration) {
  const auto native = native::backend(), onednn = onednn::backend();
  std::set<std::string> seen, lacking;
  for (const Node& node : iteration.graph.nodes) {
    const Layer layer = make_layer(node, iteration.graph);
    if (is_free(layer) || node.op_type.starts_with("Random")) continue;
    const std::string text = LayerSignature(layer).text();
    if (!seen.insert(text).second) continue;
    const auto has_plan = [&](const Backend& backend) {
      return !std::holds_alternative<Unsupported>(backend.drafts(layer, 2));
    };
    if (!has_plan(*native) && !has_plan(*onednn)) lacking.insert(text);
  }
  return lacking;
}

}  // namespace

TEST_CASE("every layer of an iteration of training has a plan", "[training]") {
  for (const std::string name : {"resnet50", "vgg16", "mobilenet_v3_large", "densenet121", "convnext_tiny", "vit_b_16"})
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw}) {
      CAPTURE(name, static_cast<int>(optimizer));
      const Graph graph = import_onnx(std::string(BENANZA_MODELS) + "/training/" + name + ".onnx", {.training = true});
      CHECK(layers_without_plan(derive_training(graph, {.optimizer = optimizer})) == std::set<std::string>{});
    }
}
