// SPDX-License-Identifier: Apache-2.0
// cuDNN's API log (CUDNN_LOGINFO_DBG=1 up to 8, CUDNN_LOGLEVEL_DBG=2 or 3 from 9 on). Legacy calls name descriptors and
// the algorithm. A call of the backend is cudnnBackendExecute, whose plan is an engine with knobs. It is printed with
// the call, or set by the cudnnBackendSetAttribute calls before it. The log has no durations: it shows what was chosen,
// not how long it took.
#include "api_log.hpp"
#include "logged_layer.hpp"
#include "reader.hpp"
#include "seen_calls.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace benanza::profile {

namespace {

constexpr std::string_view backend_execute = "cudnnBackendExecute", set_attribute = "cudnnBackendSetAttribute";

/// The functions that an engine calls to compute layers; set-up, queries and gradients do not count.
bool computes(std::string_view function) {
  constexpr std::array<std::string_view, 16> functions{"cudnnConvolutionForward",
                                                       "cudnnConvolutionBiasActivationForward",
                                                       "cudnnPoolingForward",
                                                       "cudnnActivationForward",
                                                       "cudnnAddTensor",
                                                       "cudnnOpTensor",
                                                       "cudnnBatchNormalizationForwardInference",
                                                       "cudnnSoftmaxForward",
                                                       "cudnnLRNCrossChannelForward",
                                                       "cudnnDropoutForward",
                                                       "cudnnReduceTensor",
                                                       "cudnnTransformTensor",
                                                       "cudnnTransformTensorEx",
                                                       "cudnnRNNForwardInference",
                                                       "cudnnRNNForward",
                                                       backend_execute};
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

/// `implicit_precomp_gemm` of `CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM`.
std::string lower(std::string_view word, std::string_view prefix) {
  if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
  std::string text;
  for (const char c : word) text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

DataType type_of(const ApiRecord& record, std::string_view descriptor) {
  return logged_type(record.word(std::string(descriptor) + ".dataType")).value_or(DataType::f32);
}

/// Whether the channels are contiguous, and there are other dimensions besides the channels.
bool channels_last(const ApiRecord& record) {
  const Dims dims = record.list("xDesc.dimA"), strides = record.list("xDesc.strideA");
  return dims.size() >= 4 && strides.size() == dims.size() && dims[1] > 1 && strides[1] == 1 &&
         strides.back() == dims[1];
}

std::optional<ElementwiseFn> activation_of(std::string_view mode) {
  if (mode == "CUDNN_ACTIVATION_RELU") return ElementwiseFn::relu;
  if (mode == "CUDNN_ACTIVATION_SIGMOID") return ElementwiseFn::sigmoid;
  if (mode == "CUDNN_ACTIVATION_TANH") return ElementwiseFn::tanh;
  return std::nullopt;
}

std::string conv_signature_of(const ApiRecord& record) {
  LoggedConv conv{.type = type_of(record, "xDesc"),
                  .y_type = type_of(record, "yDesc"),
                  .x = record.list("xDesc.dimA"),
                  .w = record.list("wDesc.dimA"),
                  .pads = record.list("convDesc.padA"),
                  .strides = record.list("convDesc.strideA"),
                  .dilations = record.list("convDesc.dilationA"),
                  .group = record.number("convDesc.groupCount").value_or(1)};
  if (!record.find("yDesc.dataType")) conv.y_type = conv.type;
  if (record.word("convDesc.mode") == "CUDNN_CONVOLUTION") return {};  // mirrored kernels: not a layer of a model
  if (record.function == "cudnnConvolutionBiasActivationForward") {
    conv.post.push_back(bias);
    if (!record.find("alpha2") || record.word("alpha2").find_first_not_of("0.") != std::string_view::npos)
      conv.post.push_back({ElementwiseFn::add, TensorShape{}});
    const std::string_view mode = record.find("activationDesc.mode") ? record.word("activationDesc.mode")
                                                                     : record.word("activationDesc.reluMode");
    if (const auto function = activation_of(mode)) conv.post.push_back(*function);
    else if (mode != "CUDNN_ACTIVATION_IDENTITY") return {};
  }
  return conv_signature(conv);
}

/// The value whose path ends with `tail`; empty if there is no such parameter, or if there are several with different
/// values.
std::optional<std::string_view> ending(const ApiRecord& record, std::string_view tail) {
  std::optional<std::string_view> found;
  for (const auto& [path, value] : record.parameters) {
    if (path != tail && !(path.ends_with(tail) && path[path.size() - tail.size() - 1] == '.')) continue;
    if (found && *found != value) return std::nullopt;
    found = value;
  }
  return found;
}

/// The engine of a plan that a record prints: `eng14,TILE_SIZE=2`; empty if it prints none.
std::string engine_of(const ApiRecord& record) {
  const auto engine = ending(record, "engine_id");
  if (!engine || engine->starts_with('-')) return {};
  std::string text = "eng" + std::string(*engine);
  constexpr std::string_view knob = "CUDNN_KNOB_TYPE_";
  for (const auto& [path, value] : record.parameters) {
    const auto at = path.rfind(knob);
    if (at != std::string::npos && path.find("knobChoice") != std::string::npos)
      text += ',' + path.substr(at + knob.size()) + '=' + value;
  }
  return text;
}

/// The convolution of an operation graph that consists of one; empty for any other graph, and if the graph is not
/// printed.
std::string graph_signature(const ApiRecord& record) {
  std::string_view operation;
  for (const auto& [path, value] : record.parameters) {
    if (value.find("CUDNN_BACKEND_OPERATION_") == std::string::npos ||
        value.find("OPERATIONGRAPH") != std::string::npos)
      continue;
    if (!operation.empty()) return {};
    operation = path;
    if (value.find("CONVOLUTION_FORWARD") == std::string::npos) return {};
  }
  if (operation.empty()) return {};
  ApiRecord inner;
  for (const auto& [path, value] : record.parameters)
    if (path.size() > operation.size() && path.starts_with(operation) && path[operation.size()] == '.')
      inner.parameters.emplace_back(path.substr(operation.size() + 1), value);
  const auto list = [&inner](std::string_view name) {
    const auto value = ending(inner, name);
    ApiRecord one;
    if (value) one.parameters.emplace_back("it", *value);
    return one.list("it");
  };
  const auto type = ending(inner, "xDesc.type");
  ApiRecord word;
  word.parameters.emplace_back("it", type.value_or("CUDNN_DATA_FLOAT"));
  const DataType x_type = logged_type(word.word("it")).value_or(DataType::f32);
  return conv_signature({.type = x_type,
                         .y_type = x_type,
                         .x = list("xDesc.dimA"),
                         .w = list("wDesc.dimA"),
                         .pads = list("convDesc.padA"),
                         .strides = list("convDesc.strideA"),
                         .dilations = list("convDesc.dilationA")});
}

class CudnnLog {
 public:
  CudnnLog(Source& source) : source_(source) {}

  EngineProfile read() {
    const ApiLog log = read_api_log(
        source_, [](std::string_view function) { return computes(function) || function == set_attribute; },
        [this](ApiRecord&& record) { take(record); });
    EngineProfile made;
    made.warnings = log.warnings;
    if (uncertain_ > 0)
      made.warnings.push_back(source_.path().string() + ": " + std::to_string(uncertain_) +
                              " calls of two threads are interleaved line by line, first at byte " +
                              std::to_string(first_uncertain_) + ": their sizes cannot be told apart");
    made.calls = calls_of_one_pass(source_, seen_, made.warnings);
    return made;
  }

 private:
  void take(const ApiRecord& record) {
    if (record.function == set_attribute) {
      // The plain form: one attribute per record. Sets the engine of the thread's next call.
      if (record.word("attributeName").find("ENGINE_GLOBAL_INDEX") == std::string_view::npos) return;
      for (const std::string_view name : {"arrayOfElements", "[0]"})
        if (const auto value = record.find(name)) {
          std::string_view text = *value;
          while (!text.empty() && (text.front() == '[' || text.front() == ' ')) text.remove_prefix(1);
          text = text.substr(0, text.find_first_not_of("0123456789"));
          if (!text.empty()) engine_[record.thread] = "eng" + std::string(text);
        }
      return;
    }
    // From 9.12 on, a separate record contains the status that a call returned.
    if (record.parameters.size() == 1 && record.find("status")) return;
    LibraryCall call{.library = "cudnn", .function = record.function, .place = {source_.index(), record.position}};
    if (record.function == backend_execute) {
      call.algorithm = engine_of(record);
      if (call.algorithm.empty())
        if (const auto known = engine_.find(record.thread); known != engine_.end()) call.algorithm = known->second;
      call.signature = graph_signature(record);
    } else {
      describe(record, call);
    }
    if (record.uncertain) {
      if (uncertain_++ == 0) first_uncertain_ = record.position;
      call.signature.clear();
      call.algorithm.clear();
      call.math.clear();
    }
    seen_.push_back({std::move(call), record.thread});
  }

  static void describe(const ApiRecord& record, LibraryCall& call) {
    const bool convolution = record.function.starts_with("cudnnConvolution");
    if (convolution) {
      call.signature = conv_signature_of(record);
      call.algorithm = lower(record.word("algo"), "CUDNN_CONVOLUTION_FWD_ALGO_");
      if (!call.algorithm.empty() && channels_last(record)) call.algorithm += ",layout=nhwc";
      call.math = record.word("convDesc.mathType");
    } else if (record.function == "cudnnBatchNormalizationForwardInference") {
      const Dims x = record.list("xDesc.dimA");
      call.algorithm = lower(record.word("mode"), "CUDNN_BATCHNORM_");
      if (x.size() >= 2 && call.algorithm.starts_with("spatial"))
        call.signature = LayerSignature(op::BatchNorm{.type = type_of(record, "xDesc"),
                                                      .x = {x[0], x[1], element_count(x) / (x[0] * x[1])}})
                             .text();
    } else if (record.function == "cudnnActivationForward") {
      const Dims x = record.list("xDesc.dimA");
      call.algorithm = lower(record.word("activationDesc.mode"), "CUDNN_ACTIVATION_");
      const auto function = activation_of(record.word("activationDesc.mode"));
      if (!x.empty() && function)
        call.signature =
            LayerSignature(op::Unary{.type = type_of(record, "xDesc"), .fn = *function, .x = {element_count(x)}})
                .text();
    } else if (record.function == "cudnnPoolingForward") {
      call.algorithm = lower(record.word("poolingDesc.mode"), "CUDNN_POOLING_");
    } else if (record.function == "cudnnSoftmaxForward") {
      call.algorithm = lower(record.word("algo"), "CUDNN_SOFTMAX_");
    }
  }

  Source& source_;
  std::vector<SeenCall> seen_{};
  std::map<std::string, std::string> engine_{};  // by thread
  std::int64_t uncertain_ = 0;
  std::uint64_t first_uncertain_ = 0;
};

EngineProfile read_cudnn(Source& source, const ProfileOptions&) { return CudnnLog(source).read(); }

bool sniff_cudnn(std::string_view head) { return is_api_log(head, "CuDNN") || is_api_log(head, "cuDNN"); }

/// cudnn-frontend's own log (CUDNN_FRONTEND_LOG_INFO=1): `[cudnn_frontend] INFO: Executing "eng14_k2=2_k3=0" plan...`.
constexpr std::string_view frontend_mark = "[cudnn_frontend]", executing = "Executing \"";

bool sniff_frontend(std::string_view head) {
  return !sniff_cudnn(head) && head.find(frontend_mark) != std::string_view::npos;
}

EngineProfile read_frontend(Source& source, const ProfileOptions&) {
  std::vector<SeenCall> seen;
  Lines lines(source);
  std::string_view line;
  while (lines.next(line)) {
    const auto mark = line.find(frontend_mark);
    if (mark == std::string_view::npos) continue;
    const auto at = line.find(executing, mark);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + executing.size());
    const auto end = rest.find('"');
    if (end == std::string_view::npos) {
      source.leave_out(lines.position(), "a plan's name is cut off");
      continue;
    }
    seen.push_back({{.library = "cudnn",
                     .function = "cudnn_frontend execute",
                     .algorithm = std::string(rest.substr(0, end)),
                     .place = {source.index(), lines.position()}},
                    {}});
  }
  EngineProfile made;
  made.calls = calls_of_one_pass(source, seen, made.warnings);
  return made;
}

}  // namespace

const Reader cudnn_log{"cuDNN API log", sniff_cudnn, read_cudnn};
const Reader cudnn_frontend_log{"cudnn-frontend log", sniff_frontend, read_frontend};

}  // namespace benanza::profile
