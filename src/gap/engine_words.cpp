// SPDX-License-Identifier: Apache-2.0
#include "engine_words.hpp"

#include <benanza/model/layer.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <span>
#include <string>

namespace benanza::gap {

namespace {

/// Lower case, letters and digits only.
std::string flat(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Lower-case words: `aten::max_pool2d` and `MaxPool` both begin with `max`.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool open = false, lower = false;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalpha(u) == 0) {
      open = false;
      continue;
    }
    if (!open || (lower && std::isupper(u) != 0)) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(u));
    open = true;
    lower = std::islower(u) != 0;
  }
  return words;
}

enum class Position : std::uint8_t {
  anywhere,
  word,   ///< a whole word, for short texts: `padding` does not contain the word `add`
  begins  ///< a word begins with it: `node_conv` is not `deconv`
};

struct Rule {
  std::string_view text;
  Position where;
  std::array<std::string_view, 3> kinds;
};

// What engines call operators. The first match decides: `ConvTranspose` comes before `conv`, and the `implicit_gemm` of
// a convolution comes before `gemm`.
constexpr Rule rules[] = {
    // Gradients, which must come before the operators whose names they contain.
    {"optimizerstep", Position::anywhere, {"OptimizerStep"}},
    {"convolutionbackward", Position::anywhere, {"ConvGradient"}},
    {"convgrad", Position::anywhere, {"ConvGradient"}},
    {"dgrad", Position::anywhere, {"ConvGradient"}},
    {"wgrad", Position::anywhere, {"ConvGradient"}},
    {"normbackward", Position::anywhere, {"NormGradient"}},
    {"normalizationgrad", Position::anywhere, {"NormGradient"}},
    {"softmaxbackward", Position::anywhere, {"SoftmaxGradient", "LossGradient"}},
    {"softmaxgrad", Position::anywhere, {"SoftmaxGradient"}},
    {"nlllossbackward", Position::anywhere, {"LossGradient"}},
    {"nllloss2dbackward", Position::anywhere, {"LossGradient"}},
    {"crossentropylossgrad", Position::anywhere, {"LossGradient"}},
    {"pool2dbackward", Position::anywhere, {"PoolGradient"}},
    {"withindicesbackward", Position::anywhere, {"PoolGradient"}},
    {"poolgrad", Position::anywhere, {"PoolGradient"}},
    {"embeddingdensebackward", Position::anywhere, {"GatherGradient"}},
    {"gathergrad", Position::anywhere, {"GatherGradient"}},
    {"attentionbackward", Position::anywhere, {"SoftmaxGradient"}},
    {"attentionforcpubackward", Position::anywhere, {"SoftmaxGradient"}},
    {"flashbwd", Position::anywhere, {"SoftmaxGradient"}},
    {"fmhacutlassb", Position::anywhere, {"SoftmaxGradient"}},
    {"backward", Position::anywhere, {"UnaryGradient", "ResizeGradient"}},
    {"attention", Position::anywhere, {"Attention"}},
    {"flashattn", Position::anywhere, {"Attention"}},
    {"flashfwd", Position::anywhere, {"Attention"}},
    {"fmha", Position::anywhere, {"Attention"}},
    {"sdpa", Position::anywhere, {"Attention"}},
    {"mha", Position::word, {"Attention"}},
    {"dequantize", Position::anywhere, {"Dequantize"}},
    {"quantize", Position::anywhere, {"Quantize"}},
    {"fakequant", Position::anywhere, {"Quantize"}},
    {"convtranspose", Position::anywhere, {"ConvTranspose"}},
    {"transposedconv", Position::anywhere, {"ConvTranspose"}},
    {"deconv", Position::begins, {"ConvTranspose"}},
    {"convert", Position::anywhere, {"Cast"}},
    {"layernorm", Position::anywhere, {"LayerNorm"}},
    {"rmsnorm", Position::anywhere, {"LayerNorm"}},
    {"mvn", Position::word, {"LayerNorm", "GroupNorm"}},
    {"groupnorm", Position::anywhere, {"GroupNorm"}},
    {"instancenorm", Position::anywhere, {"GroupNorm"}},
    {"batchnorm", Position::anywhere, {"BatchNorm", "ChannelNorm"}},
    {"bnfw", Position::anywhere, {"BatchNorm"}},
    {"lrn", Position::anywhere, {"Lrn"}},
    {"localresponse", Position::anywhere, {"Lrn"}},
    {"crossentropy", Position::anywhere, {"Loss"}},
    {"nllloss", Position::anywhere, {"Loss"}},
    {"loglikelihood", Position::anywhere, {"Loss"}},
    {"logsoftmax", Position::anywhere, {"Softmax", "Loss"}},
    {"softmax", Position::anywhere, {"Softmax"}},
    {"deformconv", Position::anywhere, {"DeformConv"}},
    {"conv", Position::anywhere, {"Conv"}},
    {"winograd", Position::anywhere, {"Conv"}},
    {"scudnn", Position::anywhere, {"Conv"}},
    {"implicitgemm", Position::anywhere, {"Conv"}},
    {"fprop", Position::anywhere, {"Conv"}},
    {"gemm", Position::anywhere, {"MatMul"}},
    {"gemv", Position::anywhere, {"MatMul"}},
    {"matmul", Position::anywhere, {"MatMul"}},
    {"matrixmultiply", Position::anywhere, {"MatMul"}},
    {"fullyconnected", Position::anywhere, {"MatMul"}},
    {"innerproduct", Position::anywhere, {"MatMul"}},
    {"addmm", Position::anywhere, {"MatMul"}},
    {"bmm", Position::word, {"MatMul"}},
    {"mm", Position::word, {"MatMul"}},
    {"linear", Position::word, {"MatMul"}},
    {"dense", Position::word, {"MatMul"}},
    {"pool", Position::anywhere, {"Pool", "Reduce"}},
    {"lstm", Position::anywhere, {"Recurrent"}},
    {"gru", Position::word, {"Recurrent"}},
    {"rnn", Position::word, {"Recurrent"}},
    {"cumsum", Position::anywhere, {"Cumulative"}},
    {"cumprod", Position::anywhere, {"Cumulative"}},
    {"dft", Position::word, {"Fourier"}},
    {"stft", Position::word, {"Fourier"}},
    {"gathernd", Position::anywhere, {"GatherNd"}},
    {"gatherelements", Position::anywhere, {"GatherElements"}},
    {"gather", Position::anywhere, {"Gather", "Slice"}},
    {"embedding", Position::anywhere, {"Gather"}},
    {"tensorscatter", Position::anywhere, {"TensorScatter"}},
    {"scatternd", Position::anywhere, {"ScatterNd"}},
    {"scatter", Position::anywhere, {"ScatterElements", "ScatterNd"}},
    {"concat", Position::anywhere, {"Concat"}},
    {"cat", Position::word, {"Concat"}},
    {"split", Position::anywhere, {"Split"}},
    {"chunk", Position::word, {"Split"}},
    {"slice", Position::anywhere, {"Slice"}},
    {"transpose", Position::anywhere, {"Transpose"}},
    {"permut", Position::anywhere, {"Transpose"}},
    {"depthtospace", Position::anywhere, {"Transpose"}},
    {"spacetodepth", Position::anywhere, {"Transpose"}},
    {"padding", Position::anywhere, {"Pad"}},
    {"pad", Position::word, {"Pad"}},
    {"reshape", Position::anywhere, {"View"}},
    {"squeeze", Position::anywhere, {"View"}},
    {"flatten", Position::anywhere, {"View"}},
    {"identity", Position::anywhere, {"View"}},
    {"dropout", Position::anywhere, {"View"}},
    {"view", Position::word, {"View"}},
    {"detach", Position::word, {"View"}},
    {"asstrided", Position::anywhere, {"View"}},
    {"resize", Position::anywhere, {"Resize"}},
    {"upsampl", Position::anywhere, {"Resize"}},
    {"interpolate", Position::anywhere, {"Resize"}},
    {"argm", Position::anywhere, {"Reduce"}},
    {"reduc", Position::anywhere, {"Reduce", "Pool"}},
    {"mean", Position::word, {"Reduce", "Pool"}},
    {"einsum", Position::anywhere, {"Einsum"}},
    {"where", Position::word, {"Where"}},
    {"select", Position::word, {"Where"}},
    {"cast", Position::word, {"Cast"}},
    {"expand", Position::anywhere, {"Expand"}},
    {"broadcast", Position::anywhere, {"Expand"}},
    {"tile", Position::word, {"Tile"}},
    {"elementwise", Position::anywhere, {"Binary", "Unary", "Nary"}},
    {"eltwise", Position::anywhere, {"Binary", "Unary", "Nary"}},
    {"pointwise", Position::anywhere, {"Binary", "Unary", "Nary"}},
    {"binary", Position::word, {"Binary"}},
    {"gelu", Position::anywhere, {"Unary"}},
    {"silu", Position::anywhere, {"Unary"}},
    {"swish", Position::anywhere, {"Unary"}},
    {"relu", Position::anywhere, {"Unary"}},
    {"sigmoid", Position::anywhere, {"Unary"}},
    {"softplus", Position::anywhere, {"Unary"}},
    {"tanh", Position::word, {"Unary"}},
    {"mish", Position::word, {"Unary"}},
    {"clip", Position::word, {"Unary"}},
    {"clamp", Position::word, {"Unary"}},
    {"elu", Position::word, {"Unary"}},
    {"erf", Position::word, {"Unary"}},
    {"exp", Position::word, {"Unary"}},
    {"log", Position::word, {"Unary"}},
    {"neg", Position::word, {"Unary"}},
    {"abs", Position::word, {"Unary"}},
    {"sqrt", Position::word, {"Unary"}},
    {"rsqrt", Position::word, {"Unary"}},
    {"square", Position::word, {"Unary"}},
    {"reciprocal", Position::word, {"Unary"}},
    {"activation", Position::anywhere, {"Unary"}},
    {"add", Position::word, {"Binary", "Nary"}},
    {"sum", Position::word, {"Binary", "Nary", "Reduce"}},
    {"sub", Position::word, {"Binary"}},
    {"mul", Position::word, {"Binary"}},
    {"multiply", Position::word, {"Binary"}},
    {"div", Position::word, {"Binary"}},
    {"divide", Position::word, {"Binary"}},
    {"pow", Position::word, {"Binary", "Unary"}},
    {"max", Position::word, {"Binary", "Nary"}},
    {"min", Position::word, {"Binary", "Nary"}},
    {"less", Position::word, {"Binary"}},
    {"greater", Position::word, {"Binary"}},
    {"equal", Position::word, {"Binary"}},
};

bool holds(const Rule& rule, const std::string& text, const std::vector<std::string>& words) {
  if (rule.where == Position::anywhere) return text.find(rule.text) != std::string::npos;
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return rule.where == Position::word ? word == rule.text : word.starts_with(rule.text);
  });
}

/// Kinds that no rule names are known by their own names.
std::vector<std::string_view> kinds_without_rule() {
  std::vector<std::string_view> result;
  for_each_operator([&]<class Op>(std::type_identity<Op>) {
    const bool has_rule = std::any_of(std::begin(rules), std::end(rules), [](const Rule& rule) {
      return std::find(rule.kinds.begin(), rule.kinds.end(), Op::kind) != rule.kinds.end();
    });
    if (!has_rule && !Op::onnx_types.empty()) result.push_back(Op::kind);
  });
  return result;
}

/// torch.compile names a kernel after all operators around it. Products among them are library calls, which have
/// records of their own, so the kernel belongs to the others.
std::string without_products(std::string_view name) {
  std::string text(name);
  static constexpr std::string_view generated[] = {"cpp_fused_", "triton_poi_fused_", "triton_red_fused_",
                                                   "triton_per_fused_"};
  const auto is_in = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (std::none_of(std::begin(generated), std::end(generated), is_in)) return text;
  for (const std::string_view product : {"_convolution_backward", "_convolution", "_addmm", "_bmm", "_mm"})
    for (auto at = text.find(product); at != std::string::npos; at = text.find(product, at)) {
      const std::size_t end = at + product.size();
      if (end == text.size() || text[end] == '_') text.erase(at, product.size());
      else ++at;
    }
  return text;
}

std::vector<std::string_view> kinds_of_text(std::string_view said) {
  const std::string name = without_products(said);
  const std::string text = flat(name);
  const auto words = words_of(name);
  for (const Rule& rule : rules) {
    if (!holds(rule, text, words)) continue;
    std::vector<std::string_view> kinds;
    for (const auto kind : rule.kinds)
      if (!kind.empty()) kinds.push_back(kind);
    return kinds;
  }
  static const auto others = kinds_without_rule();
  for (const auto kind : others)
    if (text.find(flat(kind)) != std::string::npos) return {kind};
  return {};
}

bool has_any(const ProfileRecord& record, std::span<const std::string_view> texts) {
  for (const std::string* name : {&record.op, &record.name}) {
    const std::string text = flat(*name);
    if (std::any_of(texts.begin(), texts.end(), [&](auto part) { return text.find(part) != std::string::npos; }))
      return true;
    if (!record.op.empty()) break;  // a node's own name says less than its operator
  }
  return false;
}

}  // namespace

bool is_scope(const ProfileRecord& record) {
  static constexpr std::string_view begins[] = {
      "autograd::engine",         "torch::autograd::", "Optimizer.zero_grad#",  "CompiledFunction", "Torch-Compiled",
      "TorchDynamo Cache Lookup", "Pregraph bytecode", "AOTDispatcher Runtime", "## Call Compiled"};
  const std::string_view name = record.name;
  if (std::any_of(std::begin(begins), std::end(begins), [&](auto begin) { return name.starts_with(begin); }))
    return true;
  // `ReluBackward0`, `MeanBackward1`: a node of autograd's graph
  const auto end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < name.size() && name.substr(0, end + 1).ends_with("Backward") &&
         !name.starts_with("aten::");
}

std::vector<std::string_view> kinds_of(const ProfileRecord& record) {
  if (is_scope(record)) return {};
  if (auto kinds = kinds_of_text(record.op); !kinds.empty()) return kinds;
  return kinds_of_text(record.name);
}

bool is_conversion(const ProfileRecord& record) {
  static constexpr std::string_view words[] = {"reorder",       "reformat",   "nchwtonhwc",   "nhwctonchw",
                                               "converttensor", "layoutconv", "convertlayout"};
  return record.activity == Activity::conversion || has_any(record, words);
}

bool is_copy(const ProfileRecord& record) {
  static constexpr std::string_view words[] = {"memcpy", "memset", "copyhosttodevice", "copydevicetohost"};
  return record.activity == Activity::copy || has_any(record, words);
}

}  // namespace benanza::gap
