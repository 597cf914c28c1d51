// SPDX-License-Identifier: Apache-2.0
#include "engine_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>

namespace benanza::analysis {

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

struct Rule {
  std::string_view text;
  bool whole_word;  ///< short ones: `add` is no part of `padding`
  std::array<std::string_view, 3> kinds;
};

// The first that fits decides: `ConvTranspose` stands before `conv`, `implicit_gemm` of a convolution before `gemm`.
constexpr Rule rules[] = {
    {"attention", false, {"Attention"}},
    {"dequantize", false, {"Dequantize"}},
    {"quantize", false, {"Quantize"}},
    {"fakequant", false, {"Quantize"}},
    {"convtranspose", false, {"ConvTranspose"}},
    {"transposedconv", false, {"ConvTranspose"}},
    {"deconv", false, {"ConvTranspose"}},
    {"convert", false, {"Cast"}},
    {"layernorm", false, {"LayerNorm"}},
    {"rmsnorm", false, {"LayerNorm"}},
    {"mvn", true, {"LayerNorm", "GroupNorm"}},
    {"groupnorm", false, {"GroupNorm"}},
    {"instancenorm", false, {"GroupNorm"}},
    {"batchnorm", false, {"BatchNorm"}},
    {"bnfw", false, {"BatchNorm"}},
    {"lrn", false, {"Lrn"}},
    {"localresponse", false, {"Lrn"}},
    {"softmax", false, {"Softmax"}},
    {"conv", false, {"Conv"}},
    {"winograd", false, {"Conv"}},
    {"scudnn", false, {"Conv"}},
    {"implicitgemm", false, {"Conv"}},
    {"fprop", false, {"Conv"}},
    {"gemm", false, {"MatMul"}},
    {"gemv", false, {"MatMul"}},
    {"matmul", false, {"MatMul"}},
    {"matrixmultiply", false, {"MatMul"}},
    {"fullyconnected", false, {"MatMul"}},
    {"innerproduct", false, {"MatMul"}},
    {"addmm", false, {"MatMul"}},
    {"bmm", true, {"MatMul"}},
    {"mm", true, {"MatMul"}},
    {"linear", true, {"MatMul"}},
    {"dense", true, {"MatMul"}},
    {"pool", false, {"Pool", "Reduce"}},
    {"lstm", false, {"Recurrent"}},
    {"gru", true, {"Recurrent"}},
    {"rnn", true, {"Recurrent"}},
    {"gathernd", false, {"GatherNd"}},
    {"gatherelements", false, {"GatherElements"}},
    {"gather", false, {"Gather", "Slice"}},
    {"embedding", false, {"Gather"}},
    {"scatternd", false, {"ScatterNd"}},
    {"scatter", false, {"ScatterElements", "ScatterNd"}},
    {"concat", false, {"Concat"}},
    {"cat", true, {"Concat"}},
    {"split", false, {"Split"}},
    {"chunk", true, {"Split"}},
    {"slice", false, {"Slice"}},
    {"transpose", false, {"Transpose"}},
    {"permut", false, {"Transpose"}},
    {"depthtospace", false, {"Transpose"}},
    {"spacetodepth", false, {"Transpose"}},
    {"padding", false, {"Pad"}},
    {"pad", true, {"Pad"}},
    {"reshape", false, {"View"}},
    {"squeeze", false, {"View"}},
    {"flatten", false, {"View"}},
    {"identity", false, {"View"}},
    {"dropout", false, {"View"}},
    {"view", true, {"View"}},
    {"resize", false, {"Resize"}},
    {"upsampl", false, {"Resize"}},
    {"interpolate", false, {"Resize"}},
    {"topk", false, {"TopK"}},
    {"argm", false, {"Reduce", "TopK"}},
    {"reduc", false, {"Reduce", "Pool"}},
    {"mean", true, {"Reduce", "Pool"}},
    {"einsum", false, {"Einsum"}},
    {"where", true, {"Where"}},
    {"select", true, {"Where"}},
    {"cast", true, {"Cast"}},
    {"expand", false, {"Expand"}},
    {"broadcast", false, {"Expand"}},
    {"tile", true, {"Tile"}},
    {"elementwise", false, {"Binary", "Unary", "Nary"}},
    {"eltwise", false, {"Binary", "Unary", "Nary"}},
    {"pointwise", false, {"Binary", "Unary", "Nary"}},
    {"binary", true, {"Binary"}},
    {"gelu", false, {"Unary"}},
    {"silu", false, {"Unary"}},
    {"swish", false, {"Unary"}},
    {"relu", false, {"Unary"}},
    {"sigmoid", false, {"Unary"}},
    {"softplus", false, {"Unary"}},
    {"tanh", true, {"Unary"}},
    {"mish", true, {"Unary"}},
    {"clip", true, {"Unary"}},
    {"clamp", true, {"Unary"}},
    {"elu", true, {"Unary"}},
    {"erf", true, {"Unary"}},
    {"exp", true, {"Unary"}},
    {"log", true, {"Unary"}},
    {"neg", true, {"Unary"}},
    {"abs", true, {"Unary"}},
    {"sqrt", true, {"Unary"}},
    {"rsqrt", true, {"Unary"}},
    {"square", true, {"Unary"}},
    {"reciprocal", true, {"Unary"}},
    {"activation", false, {"Unary"}},
    {"add", true, {"Binary", "Nary"}},
    {"sum", true, {"Binary", "Nary", "Reduce"}},
    {"sub", true, {"Binary"}},
    {"mul", true, {"Binary"}},
    {"multiply", true, {"Binary"}},
    {"div", true, {"Binary"}},
    {"divide", true, {"Binary"}},
    {"pow", true, {"Binary", "Unary"}},
    {"max", true, {"Binary", "Nary"}},
    {"min", true, {"Binary", "Nary"}},
    {"less", true, {"Binary"}},
    {"greater", true, {"Binary"}},
    {"equal", true, {"Binary"}},
};

bool holds(const Rule& rule, const std::string& text, const std::vector<std::string>& words) {
  if (rule.whole_word) return std::find(words.begin(), words.end(), rule.text) != words.end();
  return text.find(rule.text) != std::string::npos;
}

std::vector<std::string_view> kinds_of_text(std::string_view name) {
  const std::string text = flat(name);
  const auto words = words_of(name);
  for (const Rule& rule : rules) {
    if (!holds(rule, text, words)) continue;
    std::vector<std::string_view> kinds;
    for (const auto kind : rule.kinds)
      if (!kind.empty()) kinds.push_back(kind);
    return kinds;
  }
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

std::vector<std::string_view> kinds_of(const ProfileRecord& record) {
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

}  // namespace benanza::analysis
