// SPDX-License-Identifier: Apache-2.0
// What trtexec exports, in the form of versions 8 to 11; the names of layers are those of a real MobileNet engine.
#include "support/profile_support.hpp"

namespace {

using namespace profile_support;

const std::string profile_text = R"json([
  { "count" : 6610 }
, { "name" : "QuantizeLinear_2", "timeMs" : 31.3879, "averageMs" : 0.00474854, "medianMs" : 0.004544, "percentage" : 1.00949 }
, { "name" : "features.0.0.weight + QuantizeLinear_8 + Conv_12 + PWN(Clip_16)",
                  "timeMs" : 57.6562, "averageMs" : 0.00872257, "medianMs" : 0.008608, "percentage" : 1.85433
}
, { "name" : "Reformatting CopyNode for Input Tensor 0 to GlobalAveragePool_843", "timeMs" : 26.8927, "averageMs" : 0.00406848, "medianMs" : 0.004096, "percentage" : 0.864919 }
]
)json";

const std::string times_text = R"json([
  { "startEnqMs" : 4.19, "endEnqMs" : 4.28, "startComputeMs" : 4.17, "endComputeMs" : 4.65, "h2dMs" : 0.5, "computeMs" : 0.75, "d2hMs" : 0.1, "latencyMs" : 1.35 }
, { "startEnqMs" : 4.29, "endEnqMs" : 4.33, "startComputeMs" : 4.66, "endComputeMs" : 5.12, "h2dMs" : 0.5, "computeMs" : 0.5, "d2hMs" : 0.1, "latencyMs" : 1.1 }
, { "startEnqMs" : 4.29, "endEnqMs" : 4.33, "startComputeMs" : 4.66, "endComputeMs" : 5.12, "h2dMs" : 0.5, "computeMs" : 0.5, "d2hMs" : 0.1, "latencyMs" : 1.1 }
]
)json";

/// `combined`: a tensor's type and format in one field, as in version 10; otherwise in two, as in version 11.
std::string layers_text(bool combined) {
  const std::string i8 = combined ? R"("Format/Datatype": "Thirty-two wide channel vectorized row major Int8 format")"
                                  : R"("Datatype": "Int8", "Format": "Thirty-two wide channel vectorized row major")";
  const std::string f32 = combined ? R"("Format/Datatype": "Row major linear FP32")"
                                   : R"("Datatype": "Float", "Format": "Row major linear")";
  return R"json({"Layers": [{
  "Name": "QuantizeLinear_2", "LayerType": "Reformat",
  "Inputs": [ { "Name": "input1", "Location": "Device", "Dimensions": [1,3,224,224], )json" +
         f32 + R"json( }],
  "Outputs": [ { "Name": "317", "Location": "Device", "Dimensions": [1,3,224,224], )json" +
         i8 + R"json( }],
  "TacticValue": "0x0000000000000000", "StreamId": 0, "Metadata": "[ONNX Layer: QuantizeLinear_2]"
},{
  "Name": "features.0.0.weight + QuantizeLinear_8 + Conv_12 + PWN(Clip_16)", "LayerType": "CaskConvolution",
  "Inputs": [ { "Name": "317", "Location": "Device", "Dimensions": [1,3,224,224], )json" +
         i8 + R"json( }],
  "Outputs": [ { "Name": "334", "Location": "Device", "Dimensions": [1,32,112,112], )json" +
         i8 + R"json( }],
  "TacticName": "volta_int8x4_icudnn_int8x4_128x32_relu_xregs_medium_c32_nn_v1",
  "StreamId": 1, "Metadata": "[ONNX Layer: QuantizeLinear_8]\u001e[ONNX Layer: Conv_12]\u001e[ONNX Layer: Clip_16]"
},{
  "Name": "{ForeignNode[MatMul_1...Softmax_9]}", "LayerType": "Myelin", "Inputs": [], "Outputs": []
}],
)json" +
         (combined
              ? R"json("Bindings": ["input1","output1"])json"
              : R"json("I/O Tensors": [{"Name": "input1","IOMode": "Input","DataType": "Float","Dimensions": [1,3,224,224]}])json") +
         "}";
}

}  // namespace

TEST_CASE("times of layers by trtexec are averages over all passes") {
  const auto profile = read_text(profile_text);
  CHECK(profile.engine == "tensorrt");
  CHECK(profile.format == "trtexec --exportProfile");
  REQUIRE(profile.records.size() == 3);
  const auto& fused = profile.records[1];
  CHECK(fused.times.size() == 1);
  CHECK(fused.times[0].value == Approx(8.72257e-6));
  CHECK(fused.nodes == std::vector<std::string>{"features.0.0.weight", "QuantizeLinear_8", "Conv_12", "Clip_16"});
  CHECK(profile.records[2].activity == Activity::conversion);
  CHECK(profile.records[2].nodes.empty());
  CHECK(profile.latencies.empty());
  CHECK(warned(profile, "their sum exceeds the latency"));
}

TEST_CASE("times of passes by trtexec are those of the computation") {
  const auto profile = read_text(times_text);
  CHECK(profile.warm_ups == 1);
  CHECK(microseconds(profile.latencies) == std::vector<double>{500, 500});
  CHECK(profile.records.empty());
}

TEST_CASE("layers of an engine are read as versions 10 and 11 write them") {
  for (const bool combined : {true, false}) {
    CAPTURE(combined);
    const auto profile = read_text(layers_text(combined));
    CHECK(profile.format == "trtexec --exportLayerInfo");
    REQUIRE(profile.records.size() == 3);
    const auto& fused = profile.records[1];
    CHECK(fused.op == "CaskConvolution");
    CHECK(fused.algorithm == "volta_int8x4_icudnn_int8x4_128x32_relu_xregs_medium_c32_nn_v1");
    CHECK(fused.nodes == std::vector<std::string>{"QuantizeLinear_8", "Conv_12", "Clip_16"});
    CHECK(fused.lane == 1);
    CHECK(fused.inputs == std::vector<ProfiledTensor>{{DataType::i8, {1, 3, 224, 224}}});
    CHECK(fused.outputs == std::vector<ProfiledTensor>{{DataType::i8, {1, 32, 112, 112}}});
    CHECK(profile.records[0].inputs == std::vector<ProfiledTensor>{{DataType::f32, {1, 3, 224, 224}}});
    CHECK(profile.records[2].nodes.empty());
    CHECK(fused.times.empty());
    CHECK(profile.total_only == "the files name layers, but no times of them");
  }
  const auto names = read_text(R"({"Layers": ["[trainStation1]", "/conv1/Conv + /relu/Relu"], "Bindings": ["x"]})");
  CHECK(names.records[1].nodes == std::vector<std::string>{"/conv1/Conv", "/relu/Relu"});
  CHECK(warned(names, "only names of layers"));
}

TEST_CASE("the exports of one run of trtexec are joined by the names of layers") {
  const Folder folder;
  const fs::path files[] = {folder.write("layers", layers_text(false)), folder.write("profile", profile_text),
                            folder.write("times", times_text)};
  const auto profile = read_profile(files);
  CHECK(profile.files.size() == 3);
  CHECK(profile.latencies.size() == 2);
  REQUIRE(profile.records.size() == 3);
  const auto& fused = profile.records[1];
  CHECK(fused.times[0].value == Approx(8.72257e-6));
  CHECK(fused.place.file == 1);
  CHECK(fused.op == "CaskConvolution");
  CHECK(fused.nodes == std::vector<std::string>{"QuantizeLinear_8", "Conv_12", "Clip_16"});
  CHECK(profile.total_only.empty());
  CHECK(warned(profile, "1 of 3 described layers have no time"));  // the ForeignNode
}

TEST_CASE("a log of trtexec gives the median of the time on the GPU") {
  const auto profile = read_text(R"(&&&& RUNNING TensorRT.trtexec [TensorRT v8502] # trtexec --onnx=resnet50.onnx
[12/01/2025-10:00:00] [I] Selected Device: NVIDIA A100-SXM4-40GB
[12/01/2025-10:00:00] [I] TensorRT version: 8.5.2
[12/01/2025-10:00:09] [I] Latency: min = 1.1 ms, max = 1.4 ms, mean = 1.2 ms, median = 1.2 ms, percentile(99%) = 1.3 ms
[12/01/2025-10:00:09] [I] GPU Compute Time: min = 0.46 ms, max = 0.51 ms, mean = 0.4751 ms, median = 0.474 ms, percentile(90%) = 0.48 ms, percentile(99%) = 0.49 ms
&&&& PASSED TensorRT.trtexec
)");
  CHECK(microseconds(profile.latencies) == std::vector<double>{474});
  CHECK(profile.device == "NVIDIA A100-SXM4-40GB");
  CHECK(profile.version == "8.5.2");
  CHECK(warned(profile, "no spread"));
  CHECK_THAT(error_of("&&&& RUNNING TensorRT.trtexec # trtexec\n"), Catch::Contains("it did not finish"));
}

TEST_CASE("broken exports of trtexec are refused with the place") {
  CHECK_THAT(error_of(R"([{"count": 3}, {"name": "a", "averageMs": -1}])"),
             Catch::Contains("element 1: 'averageMs' is -1"));
  CHECK_THAT(error_of(R"([{"count": 3}, {"averageMs": 1}])"), Catch::Contains("element 1: a layer without 'name'"));
  CHECK_THAT(error_of(R"([{"count": 3}, {"name": "a", "averageMs": 1}, {"count": 3}, {"name": "a", "averageMs": 1}])"),
             Catch::Contains("profile: byte 46: a second 'count': the layers of two runs"));
  CHECK(warned(read_text(R"([{"computeMs": 1}, {"latencyMs": 1}])"), "element 1: no number 'computeMs'"));
  const auto passes = read_text(R"([{"computeMs": 1}, {"computeMs": 0}, {"computeMs": 3}])");
  CHECK(warned(passes, "element 1 takes a time of 0"));
  CHECK(passes.latencies == std::vector<Seconds>{{1e-3}, {3e-3}});
  CHECK_THAT(error_of(R"({"Layers": [7]})"), Catch::Contains("Layers element 0: a layer without 'Name'"));
}
