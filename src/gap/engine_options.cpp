// SPDX-License-Identifier: Apache-2.0
// Sources: onnxruntime.ai/docs (performance/tune-performance/threading, execution-providers/CUDA-ExecutionProvider,
// performance/model-optimizations) and onnxruntime_session_options_config_keys.h, docs.openvino.ai (CPU device, whose
// hints are for latency, pinned threads and the fastest type of the processor unless told otherwise),
// docs.nvidia.com/deeplearning/tensorrt (trtexec, IBuilderConfig), pytorch.org/docs (torch.compile, torch.backends,
// torch.cuda.CUDAGraph).
#include "engine_options.hpp"

#include "phases.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

namespace benanza::gap {

namespace {

enum class DeviceKind : std::uint8_t { any, cpu, gpu };

struct Option {
  std::string_view engine;
  Change change;
  DeviceKind device;
  std::string_view text;
  std::optional<DataType> type{};  // set for a change of type
};

// Lists nothing that is on by default, since the reader of the advice already has that.
constexpr Option options[] = {
    {"onnxruntime", Change::layout, DeviceKind::cpu,
     "another execution provider for these layers, or the model exported without the operator "
     "that breaks the blocked layout"},
    {"onnxruntime", Change::layout, DeviceKind::gpu, "CUDA provider option prefer_nhwc=1"},
    {"onnxruntime", Change::copy, DeviceKind::gpu, "IOBinding (session.io_binding, run_with_iobinding)"},
    {"onnxruntime", Change::algorithm, DeviceKind::cpu,
     "the oneDNN or OpenVINO execution provider instead of the CPU one, or a custom operator for the layer"},
    {"onnxruntime", Change::algorithm, DeviceKind::gpu, "the TensorRT execution provider instead of the CUDA one"},
    {"onnxruntime", Change::overhead, DeviceKind::gpu, "CUDA provider option enable_cuda_graph=1"},
    {"onnxruntime", Change::parallel, DeviceKind::cpu, "execution_mode=ORT_PARALLEL with inter_op_num_threads"},
    {"onnxruntime", Change::type, DeviceKind::cpu, "onnxruntime.quantization.quantize_static", DataType::i8},
    {"onnxruntime", Change::type, DeviceKind::cpu,
     "the OpenVINO execution provider; the CPU one has bf16 products on arm64 alone (session config entry "
     "mlas.enable_gemm_fastmath_arm64_bfloat16=1)",
     DataType::bf16},
    {"onnxruntime", Change::type, DeviceKind::gpu, "onnxruntime.transformers.float16.convert_float_to_float16",
     DataType::f16},
    {"onnxruntime", Change::type, DeviceKind::gpu,
     "onnxruntime.quantization.quantize_static and the TensorRT execution provider with trt_int8_enable=1",
     DataType::i8},

    {"openvino", Change::type, DeviceKind::any, "nncf.quantize", DataType::i8},
    {"openvino", Change::copy, DeviceKind::any, "ov::InferRequest::set_tensor with the application's own memory"},

    {"tensorrt", Change::layout, DeviceKind::any,
     "--inputIOFormats and --outputIOFormats in the layout of the kernels"},
    {"tensorrt", Change::algorithm, DeviceKind::any, "--builderOptimizationLevel=5"},
    {"tensorrt", Change::overhead, DeviceKind::any,
     "--useCudaGraph; IExecutionContext::enqueueV3 captured in a CUDA graph"},
    {"tensorrt", Change::wait, DeviceKind::any, "--useSpinWait"},
    {"tensorrt", Change::parallel, DeviceKind::any, "--maxAuxStreams=N, more than TensorRT chooses by itself"},
    {"tensorrt", Change::type, DeviceKind::any, "--fp16 (strongly typed networks: the types of the model)",
     DataType::f16},
    {"tensorrt", Change::type, DeviceKind::any, "--bf16 (strongly typed networks: the types of the model)",
     DataType::bf16},
    {"tensorrt", Change::type, DeviceKind::any, "--int8 (strongly typed networks: the types of the model)",
     DataType::i8},

    {"pytorch", Change::layout, DeviceKind::any, "model.to(memory_format=torch.channels_last), inputs alike"},
    {"pytorch", Change::copy, DeviceKind::gpu, "pinned memory and non_blocking=True"},
    {"pytorch", Change::algorithm, DeviceKind::gpu,
     "torch.backends.cudnn.benchmark = True; torch.compile(mode=\"max-autotune\")"},
    {"pytorch", Change::algorithm, DeviceKind::cpu, "torch.compile(mode=\"max-autotune\")"},
    {"pytorch", Change::fusion, DeviceKind::any, "torch.compile"},
    {"pytorch", Change::overhead, DeviceKind::gpu, "torch.compile(mode=\"reduce-overhead\"), or torch.cuda.CUDAGraph"},
    {"pytorch", Change::overhead, DeviceKind::cpu, "torch.compile; torch.inference_mode"},
    {"pytorch", Change::type, DeviceKind::any, "torch.autocast(device_type, dtype=torch.bfloat16)", DataType::bf16},
    {"pytorch", Change::type, DeviceKind::any, "torch.autocast(device_type, dtype=torch.float16)", DataType::f16},
    {"pytorch", Change::type, DeviceKind::gpu, "torch.set_float32_matmul_precision(\"high\")", DataType::tf32},
    {"pytorch", Change::view, DeviceKind::any, "torch.compile"},
    {"pytorch", Change::extra, DeviceKind::any, "torch.compile"},
};

/// Operators that ONNX Runtime's graph optimizations create, from level `extended` up.
constexpr std::string_view made_by_optimizer[] = {
    "FusedConv", "FusedGemm", "FusedMatMul", "ReorderInput",           "ReorderOutput", "SkipLayerNormalization",
    "BiasGelu",  "FastGelu",  "QuickGelu",   "EmbedLayerNormalization"};

/// Whether the records show that no level of ONNX Runtime's optimizations was turned off.
bool is_optimized(const EngineProfile& profile) {
  return std::any_of(profile.records.begin(), profile.records.end(), [](const ProfileRecord& record) {
    return std::find(std::begin(made_by_optimizer), std::end(made_by_optimizer), record.op) !=
           std::end(made_by_optimizer);
  });
}

/// Whether PyTorch computed gradients.
bool trains(const EngineProfile& profile) {
  const auto phases = phases_of(profile.records);
  return std::find(phases.begin(), phases.end(), Phase::backward) != phases.end();
}

bool is_on_gpu(const EngineProfile& profile) {
  const auto names_one = [](const std::string& text) {
    for (const char* part : {"CUDA", "Tensorrt", "TensorRT", "NVIDIA", "Tesla", "GeForce", "ROCM", "MIGraphX"})
      if (text.find(part) != std::string::npos) return true;
    return false;
  };
  return names_one(profile.device) || profile.engine == "tensorrt" ||
         std::any_of(profile.records.begin(), profile.records.end(),
                     [&](const ProfileRecord& record) { return names_one(record.provider); });
}

}  // namespace

std::string_view engine_option(const EngineProfile& profile, Change change, std::optional<DataType> type) {
  const bool on_gpu = is_on_gpu(profile);
  if (change == Change::overhead && !on_gpu && trains(profile)) return "torch.compile";  // no inference mode
  if (type == DataType::u8) type = DataType::i8;  // both are reached by the same quantization
  for (const Option& option : options) {
    const bool here = option.device == DeviceKind::any || (option.device == DeviceKind::gpu) == on_gpu;
    if (here && option.engine == profile.engine && option.change == change && option.type == type) return option.text;
  }
  if (profile.engine == "onnxruntime" && (change == Change::fusion || change == Change::extra) &&
      !is_optimized(profile))
    return "graph_optimization_level=ORT_ENABLE_ALL (the default) where it was lowered";
  return {};
}

}  // namespace benanza::gap
