// SPDX-License-Identifier: Apache-2.0
#include "engine_words.hpp"

#include <benanza/model/layer.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
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

enum class Where : std::uint8_t {
  anywhere,
  word,   ///< short ones: `add` is no part of `padding`
  begins  ///< a word begins so: `node_conv` is no `deconv`
};

struct Rule {
  std::string_view text;
  Where where;
  std::array<std::string_view, 3> kinds;
};

// What engines call operators. The first that fits decides: `ConvTranspose` stands before `conv`, `implicit_gemm` of a
// convolution before `gemm`.
constexpr Rule rules[] = {
    {"attention", Where::anywhere, {"Attention"}},
    {"dequantize", Where::anywhere, {"Dequantize"}},
    {"quantize", Where::anywhere, {"Quantize"}},
    {"fakequant", Where::anywhere, {"Quantize"}},
    {"convtranspose", Where::anywhere, {"ConvTranspose"}},
    {"transposedconv", Where::anywhere, {"ConvTranspose"}},
    {"deconv", Where::begins, {"ConvTranspose"}},
    {"convert", Where::anywhere, {"Cast"}},
    {"layernorm", Where::anywhere, {"LayerNorm"}},
    {"rmsnorm", Where::anywhere, {"LayerNorm"}},
    {"mvn", Where::word, {"LayerNorm", "GroupNorm"}},
    {"groupnorm", Where::anywhere, {"GroupNorm"}},
    {"instancenorm", Where::anywhere, {"GroupNorm"}},
    {"batchnorm", Where::anywhere, {"BatchNorm"}},
    {"bnfw", Where::anywhere, {"BatchNorm"}},
    {"lrn", Where::anywhere, {"Lrn"}},
    {"localresponse", Where::anywhere, {"Lrn"}},
    {"softmax", Where::anywhere, {"Softmax"}},
    {"conv", Where::anywhere, {"Conv"}},
    {"winograd", Where::anywhere, {"Conv"}},
    {"scudnn", Where::anywhere, {"Conv"}},
    {"implicitgemm", Where::anywhere, {"Conv"}},
    {"fprop", Where::anywhere, {"Conv"}},
    {"gemm", Where::anywhere, {"MatMul"}},
    {"gemv", Where::anywhere, {"MatMul"}},
    {"matmul", Where::anywhere, {"MatMul"}},
    {"matrixmultiply", Where::anywhere, {"MatMul"}},
    {"fullyconnected", Where::anywhere, {"MatMul"}},
    {"innerproduct", Where::anywhere, {"MatMul"}},
    {"addmm", Where::anywhere, {"MatMul"}},
    {"bmm", Where::word, {"MatMul"}},
    {"mm", Where::word, {"MatMul"}},
    {"linear", Where::word, {"MatMul"}},
    {"dense", Where::word, {"MatMul"}},
    {"pool", Where::anywhere, {"Pool", "Reduce"}},
    {"lstm", Where::anywhere, {"Recurrent"}},
    {"gru", Where::word, {"Recurrent"}},
    {"rnn", Where::word, {"Recurrent"}},
    {"gathernd", Where::anywhere, {"GatherNd"}},
    {"gatherelements", Where::anywhere, {"GatherElements"}},
    {"gather", Where::anywhere, {"Gather", "Slice"}},
    {"embedding", Where::anywhere, {"Gather"}},
    {"scatternd", Where::anywhere, {"ScatterNd"}},
    {"scatter", Where::anywhere, {"ScatterElements", "ScatterNd"}},
    {"concat", Where::anywhere, {"Concat"}},
    {"cat", Where::word, {"Concat"}},
    {"split", Where::anywhere, {"Split"}},
    {"chunk", Where::word, {"Split"}},
    {"slice", Where::anywhere, {"Slice"}},
    {"transpose", Where::anywhere, {"Transpose"}},
    {"permut", Where::anywhere, {"Transpose"}},
    {"depthtospace", Where::anywhere, {"Transpose"}},
    {"spacetodepth", Where::anywhere, {"Transpose"}},
    {"padding", Where::anywhere, {"Pad"}},
    {"pad", Where::word, {"Pad"}},
    {"reshape", Where::anywhere, {"View"}},
    {"squeeze", Where::anywhere, {"View"}},
    {"flatten", Where::anywhere, {"View"}},
    {"identity", Where::anywhere, {"View"}},
    {"dropout", Where::anywhere, {"View"}},
    {"view", Where::word, {"View"}},
    {"resize", Where::anywhere, {"Resize"}},
    {"upsampl", Where::anywhere, {"Resize"}},
    {"interpolate", Where::anywhere, {"Resize"}},
    {"argm", Where::anywhere, {"Reduce"}},
    {"reduc", Where::anywhere, {"Reduce", "Pool"}},
    {"mean", Where::word, {"Reduce", "Pool"}},
    {"einsum", Where::anywhere, {"Einsum"}},
    {"where", Where::word, {"Where"}},
    {"select", Where::word, {"Where"}},
    {"cast", Where::word, {"Cast"}},
    {"expand", Where::anywhere, {"Expand"}},
    {"broadcast", Where::anywhere, {"Expand"}},
    {"tile", Where::word, {"Tile"}},
    {"elementwise", Where::anywhere, {"Binary", "Unary", "Nary"}},
    {"eltwise", Where::anywhere, {"Binary", "Unary", "Nary"}},
    {"pointwise", Where::anywhere, {"Binary", "Unary", "Nary"}},
    {"binary", Where::word, {"Binary"}},
    {"gelu", Where::anywhere, {"Unary"}},
    {"silu", Where::anywhere, {"Unary"}},
    {"swish", Where::anywhere, {"Unary"}},
    {"relu", Where::anywhere, {"Unary"}},
    {"sigmoid", Where::anywhere, {"Unary"}},
    {"softplus", Where::anywhere, {"Unary"}},
    {"tanh", Where::word, {"Unary"}},
    {"mish", Where::word, {"Unary"}},
    {"clip", Where::word, {"Unary"}},
    {"clamp", Where::word, {"Unary"}},
    {"elu", Where::word, {"Unary"}},
    {"erf", Where::word, {"Unary"}},
    {"exp", Where::word, {"Unary"}},
    {"log", Where::word, {"Unary"}},
    {"neg", Where::word, {"Unary"}},
    {"abs", Where::word, {"Unary"}},
    {"sqrt", Where::word, {"Unary"}},
    {"rsqrt", Where::word, {"Unary"}},
    {"square", Where::word, {"Unary"}},
    {"reciprocal", Where::word, {"Unary"}},
    {"activation", Where::anywhere, {"Unary"}},
    {"add", Where::word, {"Binary", "Nary"}},
    {"sum", Where::word, {"Binary", "Nary", "Reduce"}},
    {"sub", Where::word, {"Binary"}},
    {"mul", Where::word, {"Binary"}},
    {"multiply", Where::word, {"Binary"}},
    {"div", Where::word, {"Binary"}},
    {"divide", Where::word, {"Binary"}},
    {"pow", Where::word, {"Binary", "Unary"}},
    {"max", Where::word, {"Binary", "Nary"}},
    {"min", Where::word, {"Binary", "Nary"}},
    {"less", Where::word, {"Binary"}},
    {"greater", Where::word, {"Binary"}},
    {"equal", Where::word, {"Binary"}},
};

bool holds(const Rule& rule, const std::string& text, const std::vector<std::string>& words) {
  if (rule.where == Where::anywhere) return text.find(rule.text) != std::string::npos;
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return rule.where == Where::word ? word == rule.text : word.starts_with(rule.text);
  });
}

/// The kinds that no rule names are known by their own names.
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
