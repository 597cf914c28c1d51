// SPDX-License-Identifier: Apache-2.0
#include "support/cudnn_shapes.hpp"
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/onnx.hpp>

using namespace benanza;
using test::has_cudnn;
using test::output_of;

TEST_CASE("cuDNN's output shapes of every convolution and pooling of real models are ours") {
  if (!has_cudnn()) return;
  std::size_t compared = 0;
  for (const char* file : {"/zoo2019/BVLC_AlexNet.onnx", "/zoo2019/BVLC_GoogleNet.onnx", "/zoo2019/ResNet050-v1.onnx",
                           "/modern/efficientnet_b0.onnx"}) {
    const LayerGraph graph = make_layer_graph(import_onnx(std::string(BENANZA_MODELS) + file));
    for (const auto& at : graph.layers) {
      INFO(LayerSignature(at.layer).text());
      std::optional<TensorShape> theirs;
      TensorShape ours;
      if (const auto* conv = std::get_if<op::Conv>(&*at.layer)) theirs = output_of(*conv), ours = conv->y();
      if (const auto* pool = std::get_if<op::Pool>(&*at.layer)) theirs = output_of(*pool), ours = pool->y();
      if (!theirs) continue;
      CHECK(*theirs == ours);
      ++compared;
    }
  }
  CHECK(compared > 50);
}
