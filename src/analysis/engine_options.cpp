// SPDX-License-Identifier: Apache-2.0
// Sources: onnxruntime.ai/docs (performance/tune-performance/threading, execution-providers/CUDA-ExecutionProvider,
// performance/model-optimizations), docs.openvino.ai (CPU device; performance hints and thread scheduling),
// docs.nvidia.com/deeplearning/tensorrt (trtexec, IBuilderConfig), pytorch.org/docs (torch.compile, torch.backends,
// torch.cuda.CUDAGraph).
#include "engine_options.hpp"

#include <cstdint>

namespace benanza::analysis {

namespace {

enum class Device : std::uint8_t { any, cpu, gpu };

struct Option {
  std::string_view engine;
  Change change;
  Device device;
  std::string_view text;
};

constexpr Option options[] = {
    {"onnxruntime", Change::layout, Device::cpu,
     "another execution provider for these layers, or the model exported without the operator "
     "that breaks the blocked layout"},
    {"onnxruntime", Change::layout, Device::gpu, "CUDA provider option prefer_nhwc=1"},
    {"onnxruntime", Change::copy, Device::any, "IOBinding (session.io_binding, run_with_iobinding)"},
    {"onnxruntime", Change::wait, Device::cpu, "session config entry session.intra_op.allow_spinning=1"},
    {"onnxruntime", Change::algorithm, Device::cpu,
     "the oneDNN or OpenVINO execution provider instead of the CPU one, or a custom operator for the layer"},
    {"onnxruntime", Change::algorithm, Device::gpu,
     "CUDA provider options cudnn_conv_algo_search=EXHAUSTIVE and cudnn_conv_use_max_workspace=1"},
    {"onnxruntime", Change::fusion, Device::any,
     "graph_optimization_level=ORT_ENABLE_ALL; for transformers onnxruntime.transformers.optimizer"},
    {"onnxruntime", Change::overhead, Device::gpu, "CUDA provider option enable_cuda_graph=1"},
    {"onnxruntime", Change::overhead, Device::cpu,
     "graph_optimization_level=ORT_ENABLE_ALL; session config entry session.intra_op.allow_spinning=1"},
    {"onnxruntime", Change::parallel, Device::cpu, "execution_mode=ORT_PARALLEL with inter_op_num_threads"},
    {"onnxruntime", Change::type, Device::any,
     "onnxruntime.quantization.quantize_static for 8 bits, onnxruntime.transformers.float16 for f16"},
    {"onnxruntime", Change::view, Device::any, "graph_optimization_level=ORT_ENABLE_ALL"},
    {"onnxruntime", Change::extra, Device::any, "graph_optimization_level=ORT_ENABLE_ALL"},

    {"openvino", Change::wait, Device::cpu, "PERFORMANCE_HINT=LATENCY, ENABLE_CPU_PINNING"},
    {"openvino", Change::overhead, Device::cpu, "PERFORMANCE_HINT=LATENCY, NUM_STREAMS=1, INFERENCE_NUM_THREADS"},
    {"openvino", Change::type, Device::any, "INFERENCE_PRECISION_HINT (bf16, f16); nncf.quantize for 8 bits"},
    {"openvino", Change::copy, Device::any, "ov::InferRequest::set_tensor with the application's own memory"},

    {"tensorrt", Change::layout, Device::any, "--inputIOFormats and --outputIOFormats in the layout of the kernels"},
    {"tensorrt", Change::algorithm, Device::any,
     "--builderOptimizationLevel=5, more workspace (--memPoolSize=workspace:...)"},
    {"tensorrt", Change::overhead, Device::any,
     "--useCudaGraph; IExecutionContext::enqueueV3 captured in a CUDA graph"},
    {"tensorrt", Change::wait, Device::any, "--useSpinWait"},
    {"tensorrt", Change::parallel, Device::any, "--maxAuxStreams"},
    {"tensorrt", Change::type, Device::any, "--fp16, --bf16, --int8 (strongly typed networks: the types of the model)"},

    {"pytorch", Change::layout, Device::any, "model.to(memory_format=torch.channels_last), inputs alike"},
    {"pytorch", Change::copy, Device::gpu, "pinned memory and non_blocking=True"},
    {"pytorch", Change::algorithm, Device::gpu,
     "torch.backends.cudnn.benchmark = True; torch.compile(mode=\"max-autotune\")"},
    {"pytorch", Change::algorithm, Device::cpu, "torch.compile(mode=\"max-autotune\")"},
    {"pytorch", Change::fusion, Device::any, "torch.compile"},
    {"pytorch", Change::overhead, Device::gpu, "torch.compile(mode=\"reduce-overhead\"), or torch.cuda.CUDAGraph"},
    {"pytorch", Change::overhead, Device::cpu, "torch.compile; torch.inference_mode"},
    {"pytorch", Change::type, Device::any,
     "torch.autocast(dtype=torch.bfloat16); torch.set_float32_matmul_precision(\"high\") for tf32"},
    {"pytorch", Change::view, Device::any, "torch.compile"},
    {"pytorch", Change::extra, Device::any, "torch.compile"},
};

}  // namespace

std::string_view engine_option(std::string_view engine, Change change, bool on_gpu) {
  for (const Option& option : options) {
    const bool here = option.device == Device::any || (option.device == Device::gpu) == on_gpu;
    if (here && option.engine == engine && option.change == change) return option.text;
  }
  return {};
}

}  // namespace benanza::analysis
