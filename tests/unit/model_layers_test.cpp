// SPDX-License-Identifier: Apache-2.0
// Both forms of the 44 models.
#include "support/catch.hpp"
#include "support/model_files.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/onnx.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace benanza;

/// The layers to measure of a form: those that are not free, and the parts of groups that are one call.
std::map<std::string, Layer> measurable(const LayerGraph& form) {
  std::map<std::string, Layer> layers;
  for (const auto& at : form.layers) {
    if (!is_free(at.layer)) layers.emplace(LayerSignature(at.layer).text(), at.layer);
    for (const auto& piece : at.pieces) layers.emplace(LayerSignature(piece.layer).text(), piece.layer);
  }
  return layers;
}

TEST_CASE("In both forms of the models every layer is a known operator that its signature tells", "[models]") {
  for (const auto& file : testing::model_files()) {
    INFO(file.string());
    const ModelLayers model = make_model_layers(import_onnx(file));
    for (const auto* form : {&model.single, &model.fused})
      for (const auto& [text, layer] : measurable(*form)) {
        INFO(text);
        CHECK_FALSE(is_opaque(layer));
        CHECK(parse_layer(text) == layer);
      }
  }
}

TEST_CASE("The groups of a model cover each of its layers once", "[models]") {
  for (const auto& file : testing::model_files()) {
    INFO(file.string());
    const ModelLayers model = make_model_layers(import_onnx(file));
    std::vector<int> covered(model.single.layers.size(), 0);
    bool any_group = false;
    for (const auto& group : model.fused.layers) {
      for (const auto member : group.members) ++covered.at(member);
      any_group = any_group || group.members.size() > 1;
      // Moved strides change single layers, and slice a tensor that other layers read whole.
      if (group.members.empty()) CHECK(std::holds_alternative<op::Slice>(*group.layer));
      if (group.members.size() > 1) CHECK_FALSE(group.pieces.empty());
      for (const auto& piece : group.pieces)
        if (piece.count == 1) CHECK(piece.layer != model.single.layers[group.members[piece.first]].layer);
      if (group.members.size() == 1 && !group.pieces.empty())
        CHECK(group.layer != model.single.layers[group.members[0]].layer);
    }
    CHECK(std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; }));
    CHECK(any_group);  // in each of them a bias or an activation follows a convolution or a product
  }
}

}  // namespace
