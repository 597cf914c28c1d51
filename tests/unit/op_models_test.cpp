// SPDX-License-Identifier: Apache-2.0
// Every node of the 44 models becomes a layer of its own kind, with multiply-adds that agree with other sources.
#include "support/catch.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/onnx.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace {

using namespace benanza;

struct Model {
  std::string file{};
  std::int64_t macs = 0;  // over Conv, MatMul, Gemm and LSTM, from the shapes of ONNX's Python shape inference
  double published =
      0;  // in 10^9: `_ops` of torchvision's weights; VGG16, VGG19, ResNet and SqueezeNet of 2019 are the same networks
};
const std::array models{
    Model{"zoo2019/ArcFace.onnx", 12'089'606'144},
    Model{"zoo2019/BVLC_AlexNet.onnx", 654'560'384},
    Model{"zoo2019/BVLC_CaffeNet.onnx", 720'608'384},
    Model{"zoo2019/BVLC_GoogleNet.onnx", 1'582'671'872},
    Model{"zoo2019/BVLC_RCNN_ILSVRC13.onnx", 717'331'584},
    Model{"zoo2019/DUC.onnx", 673'074'204'672},
    Model{"zoo2019/DenseNet-121.onnx", 2'834'161'664},
    Model{"zoo2019/Emotion-FerPlus.onnx", 875'831'296},
    Model{"zoo2019/Inception-v1.onnx", 1'431'556'352},
    Model{"zoo2019/Inception-v2.onnx", 2'018'851'840},
    Model{"zoo2019/MNIST.onnx", 786'560},
    Model{"zoo2019/MobileNet-v2.onnx", 429'111'936},
    Model{"zoo2019/ResNet018-v1.onnx", 1'814'073'344, 1.814},
    Model{"zoo2019/ResNet018-v2.onnx", 1'814'073'344},
    Model{"zoo2019/ResNet034-v1.onnx", 3'663'761'408, 3.664},
    Model{"zoo2019/ResNet034-v2.onnx", 3'663'761'408},
    Model{"zoo2019/ResNet050-v1.onnx", 3'857'973'248},
    Model{"zoo2019/ResNet050-v2.onnx", 4'089'184'256, 4.089},
    Model{"zoo2019/ResNet101-v1.onnx", 7'570'194'432},
    Model{"zoo2019/ResNet101-v2.onnx", 7'801'405'440, 7.801},
    Model{"zoo2019/ResNet152-v1.onnx", 11'282'415'616},
    Model{"zoo2019/ResNet152-v2.onnx", 11'513'626'624, 11.514},
    Model{"zoo2019/Shufflenet.onnx", 124'664'528},
    Model{"zoo2019/Squeezenet-v1.1.onnx", 349'151'936, 0.349},
    Model{"zoo2019/Tiny_YOLO-v2.onnx", 3'128'426'496},
    Model{"zoo2019/VGG16-BN.onnx", 15'470'264'320},
    Model{"zoo2019/VGG16.onnx", 15'470'264'320, 15.470},
    Model{"zoo2019/VGG19-BN.onnx", 19'632'062'464},
    Model{"zoo2019/VGG19.onnx", 19'632'062'464, 19.632},
    Model{"zoo2019/Zfnet512.onnx", 1'481'727'008},
    Model{"modern/bert_base_s128.onnx", 11'173'625'856},
    Model{"modern/convnext_tiny.onnx", 4'455'531'264, 4.456},
    Model{"modern/deeplabv3_resnet50.onnx", 168'731'205'888},
    Model{"modern/deepspeech_lstm.onnx", 3'095'100'800},
    Model{"modern/efficientnet_b0.onnx", 385'814'752, 0.386},
    Model{"modern/gpt2_s128.onnx", 11'173'625'856},
    Model{"modern/llama_160m_decode_p512.onnx", 109'529'088},
    Model{"modern/llama_160m_prefill_s128.onnx", 13'111'394'304},
    Model{"modern/mobilenet_v3_large.onnx", 216'589'760, 0.217},
    Model{"modern/regnet_y_1_6gf.onnx", 1'612'076'160, 1.612},
    Model{"modern/resnet50.onnx", 4'089'184'256, 4.089},
    Model{"modern/swin_t.onnx", 4'490'566'656, 4.491},
    Model{"modern/vit_b_16.onnx", 17'563'828'224, 17.564},
    Model{"modern/whisper_tiny_encoder.onnx", 18'468'864'000},
};

TEST_CASE("Every node of the models becomes a layer that is not opaque", "[op][models]") {
  for (const auto& [file, macs, published] : models) {
    INFO(file);
    const Graph graph = import_onnx(std::string(BENANZA_MODELS) + "/" + file);
    std::int64_t counted = 0;
    for (const auto& node : graph.nodes) {
      const Layer layer = make_layer(node, graph);
      const LayerSignature signature(layer);
      INFO(node.name << ": " << signature.text());
      CHECK_FALSE(is_opaque(layer));
      CHECK(parse_layer(signature.text()) == layer);
      CHECK(operands(layer).outputs[0].elements() == graph.output(node, 0).elements());
      counted += cost(layer).macs;
    }
    CHECK(counted == macs);
    if (published != 0) CHECK(std::round(static_cast<double>(counted) / 1e6) == std::round(published * 1e3));
  }
}

}  // namespace
