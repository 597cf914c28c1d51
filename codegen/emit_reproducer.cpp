// SPDX-License-Identifier: Apache-2.0
#include "emit_reproducer.hpp"

#include "reproducer_templates.hpp"
#include "writer.hpp"
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>

namespace benanza {

namespace codegen {

PlanName parse_plan(std::string_view text) {
  PlanName plan;
  const auto fail = [&] {
    throw UsageError("plan '" + as_comment(text) + "', expected e.g. jit:avx2,src=aBcd8b,threads=1");
  };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    if (at == 0 && !part.empty()) plan.algorithm = part;
    else if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) fail();
    else plan.keys[std::string(part.substr(0, equals))] = part.substr(equals + 1);
    at = end + 1;
  }
  const auto plain = [](char c) { return as_word({&c, 1})[0] == c || c == ':' || c == '='; };
  if (!std::all_of(plan.algorithm.begin(), plan.algorithm.end(), plain)) fail();
  const auto threads = plan.keys.find("threads");
  if (threads == plan.keys.end()) return plan;
  const std::string& count = threads->second;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), plan.threads);
  if (error != std::errc{} || end != count.data() + count.size() || plan.threads < 1) fail();
  plan.keys.erase(threads);
  return plan;
}

std::string reproducer_banner(const Reproducer& reproducer, std::string_view compile, std::string_view run) {
  std::string text = "// Made by `" + as_comment(reproducer.command) + "`.\n";
  text += "// Layer: " + signature(reproducer.layer).text() + "\n// Plan:  " + as_comment(reproducer.plan) + "\n//\n";
  return text + "//   " + std::string(compile) + "\n//   " + std::string(run) + "\n";
}

std::string filled(std::string_view text, const std::map<std::string_view, std::string>& places) {
  std::string result;
  while (!text.empty()) {
    const auto from = text.find('@');
    const auto to = from == std::string_view::npos ? from : text.find('@', from + 1);
    result += text.substr(0, from);
    if (to == std::string_view::npos) break;
    result += places.at(text.substr(from + 1, to - from - 1));
    text.remove_prefix(to + 1);
  }
  return result;
}

std::string list(std::span<const std::int64_t> dims) {
  std::string text;
  for (auto dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "{" + text + "}";
}

std::string float_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-3.4e38f" : "3.4e38f";
  return fmt::format(
      "{}f", static_cast<float>(value) == std::floor(value) ? fmt::format("{:.1f}", value) : fmt::format("{}", value));
}

bool starts_with_bias(const Epilogue& post) { return !post.empty() && post[0] == bias; }

Dims operand_dims(const PostOp& op, std::span<const std::int64_t> y, std::size_t channel_axis) {
  if (op.channel) {
    Dims dims(y.size(), 1);
    dims[channel_axis] = y[channel_axis];
    return dims;
  }
  if (op.shape.empty()) return {y.begin(), y.end()};
  Dims dims(y.size() - op.shape.size(), 1);
  dims.insert(dims.end(), op.shape.begin(), op.shape.end());
  return dims;
}

void refuse_reproducer(std::string_view library, const std::string& what) {
  throw UsageError("a reproducer of " + std::string(library) + " has no words for " + what);
}

void refuse_kind(std::string_view kind) {
  throw UsageError(std::string(kind) + " has no reproducer: convolutions (Conv) and matrix products (MatMul) have one");
}

std::string cuda_element(DataType type) {
  switch (type) {
    case DataType::f16: return "__half";
    case DataType::bf16: return "__nv_bfloat16";
    case DataType::f64: return "double";
    case DataType::f8e4m3: return "__nv_fp8_e4m3";
    case DataType::f8e5m2: return "__nv_fp8_e5m2";
    case DataType::i8: return "std::int8_t";
    case DataType::i32: return "std::int32_t";
    default: return "float";
  }
}

std::string cuda_reproducer(const Reproducer& reproducer, std::string_view libraries, std::string_view headers,
                            std::string layer) {
  return reproducer_banner(
             reproducer,
             fmt::format("g++ -O2 -std=c++20 -I$CUDA_HOME/include reproducer.cpp -L$CUDA_HOME/lib64 {} -lcudart "
                         "-lbenchmark -o reproducer",
                         libraries),
             "./reproducer") +
         std::string(headers) +
         filled(reproducer_cuda, {{"element", cuda_element(type(reproducer.layer))},
                                  {"flops", fmt::format("{:.0f}", cost(reproducer.layer).flops.value)},
                                  {"layer", std::move(layer)}});
}

}  // namespace codegen

namespace {

struct Emitter {
  std::string_view backend;
  void (*emit)(const Reproducer&, std::ostream&);
};
/// THE list of libraries with reproducers.
constexpr std::array emitters{Emitter{"onednn", codegen::emit_onednn_reproducer},
                              Emitter{"cudnn", codegen::emit_cudnn_reproducer},
                              Emitter{"cublas", codegen::emit_cublaslt_reproducer}};

}  // namespace

bool has_reproducer(std::string_view backend) {
  return std::any_of(emitters.begin(), emitters.end(), [&](const Emitter& e) { return e.backend == backend; });
}

void emit_reproducer(const Reproducer& reproducer, std::ostream& out) {
  std::string known;
  for (const auto& emitter : emitters) {
    if (emitter.backend == reproducer.backend) return emitter.emit(reproducer, out);
    known += (known.empty() ? "" : ", ") + std::string(emitter.backend);
  }
  throw UsageError("backend '" + codegen::as_comment(reproducer.backend) + "' has no reproducers; there are those of " +
                   known);
}

}  // namespace benanza
