// SPDX-License-Identifier: Apache-2.0
#include "kineto_events.hpp"

#include <array>

namespace benanza::profile {

TraceKind trace_kind(std::string_view category) {
  struct Pair {
    std::string_view name;
    TraceKind kind;
  };
  constexpr std::array<Pair, 14> kinds{{{"cpu_op", TraceKind::op},
                                        {"Operator", TraceKind::op},
                                        {"user_annotation", TraceKind::annotation},
                                        {"cuda_runtime", TraceKind::call},
                                        {"cuda_driver", TraceKind::call},
                                        {"hip_runtime", TraceKind::call},
                                        {"Runtime", TraceKind::call},
                                        {"privateuse1_runtime", TraceKind::call},
                                        {"kernel", TraceKind::kernel},
                                        {"Kernel", TraceKind::kernel},
                                        {"gpu_memcpy", TraceKind::copy},
                                        {"Memcpy", TraceKind::copy},
                                        {"gpu_memset", TraceKind::copy},
                                        {"Memset", TraceKind::copy}}};
  for (const Pair& pair : kinds)
    if (pair.name == category) return pair.kind;
  return TraceKind::other;
}

std::optional<DataType> torch_type(std::string_view name) {
  struct Pair {
    std::string_view name;
    DataType type;
  };
  constexpr std::array<Pair, 12> types{{{"float", DataType::f32},
                                        {"c10::Half", DataType::f16},
                                        {"c10::BFloat16", DataType::bf16},
                                        {"double", DataType::f64},
                                        {"signed char", DataType::i8},
                                        {"unsigned char", DataType::u8},
                                        {"short", DataType::i16},
                                        {"int", DataType::i32},
                                        {"long", DataType::i64},
                                        {"long int", DataType::i64},
                                        {"bool", DataType::boolean},
                                        {"c10::Float8_e4m3fn", DataType::f8e4m3}}};
  for (const Pair& pair : types)
    if (pair.name == name) return pair.type;
  return std::nullopt;
}

namespace {
bool waits(std::string_view call) { return call.find("Synchronize") != std::string_view::npos; }
}  // namespace

Activity activity_of(const TraceDescription& what) {
  switch (what.kind) {
    case TraceKind::kernel: return Activity::kernel;
    case TraceKind::copy: return Activity::copy;
    case TraceKind::call: return waits(what.name) ? Activity::wait : Activity::call;
    default: return Activity::layer;
  }
}

}  // namespace benanza::profile
