// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime_nodes.hpp"

#include <algorithm>
#include <array>

namespace benanza::profile {

bool is_asynchronous(std::string_view provider) {
  constexpr std::array<std::string_view, 11> asynchronous{
      "CUDAExecutionProvider",   "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider",
      "ROCMExecutionProvider",   "MIGraphXExecutionProvider", "DmlExecutionProvider",
      "WebGpuExecutionProvider", "JsExecutionProvider",       "WebNNExecutionProvider",
      "CANNExecutionProvider",   "QNNExecutionProvider"};
  return std::find(asynchronous.begin(), asynchronous.end(), provider) != asynchronous.end();
}

bool runs_subgraph(std::string_view op) {
  constexpr std::array<std::string_view, 9> names{
      "If", "Loop", "Scan", "SequenceMap", "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch", "YieldOp"};
  return std::find(names.begin(), names.end(), op) != names.end();
}

std::optional<DataType> onnxruntime_type(std::string_view name) {
  struct Pair {
    std::string_view name;
    DataType type;
  };
  constexpr std::array<Pair, 26> types{{{"float", DataType::f32},
                                        {"float16", DataType::f16},
                                        {"bfloat16", DataType::bf16},
                                        {"double", DataType::f64},
                                        {"int8", DataType::i8},
                                        {"uint8", DataType::u8},
                                        {"int16", DataType::i16},
                                        {"uint16", DataType::u16},
                                        {"int32", DataType::i32},
                                        {"uint32", DataType::u32},
                                        {"int64", DataType::i64},
                                        {"uint64", DataType::u64},
                                        {"bool", DataType::boolean},
                                        {"string", DataType::string},
                                        {"float8e4m3fn", DataType::f8e4m3},
                                        {"float8e4m3fnuz", DataType::f8e4m3fnuz},
                                        {"float8e5m2", DataType::f8e5m2},
                                        {"float8e5m2fnuz", DataType::f8e5m2fnuz},
                                        {"float4e2m1", DataType::f4e2m1},
                                        {"float6e2m3", DataType::f6e2m3},
                                        {"float6e3m2", DataType::f6e3m2},
                                        {"int2", DataType::i2},
                                        {"uint2", DataType::u2},
                                        {"int4", DataType::i4},
                                        {"uint4", DataType::u4},
                                        {"complex64", DataType::c64}}};
  for (const Pair& pair : types)
    if (pair.name == name) return pair.type;
  return std::nullopt;
}

namespace {
/// Blocked layouts (nchwc_transformer.cc), and matrices for a product with bias (matmul_add_fusion.cc).
bool is_inserted(std::string_view name, std::string_view op) {
  return op == "ReorderInput" || op == "ReorderOutput" || name.starts_with("gemm_input_reshape") ||
         name.starts_with("gemm_output_reshape");
}
}  // namespace

std::string_view node_of_model(std::string_view name, std::string_view op, std::string_view index) {
  if (is_inserted(name, op) || op.starts_with("Memcpy")) return {};
  if (name.starts_with(op) && name.substr(op.size()).starts_with('_') && name.substr(op.size() + 1) == index) return {};
  constexpr std::string_view token = "_token_", blocked = "_nchwc", fusion = "Fusion";
  if (const auto at = name.rfind(token);
      at != std::string_view::npos && name.find_first_not_of("0123456789", at + token.size()) == std::string_view::npos)
    name = name.substr(0, at);  // Graph::GenerateUniqueNodeName
  if (name.ends_with(blocked)) name.remove_suffix(blocked.size());
  std::string_view end = name;
  if (end.ends_with('/')) end.remove_suffix(1);
  if (const auto at = end.rfind('/'); end.ends_with(fusion) && at != std::string_view::npos) name = name.substr(0, at);
  return name;
}

Activity activity_of(const NodeDescription& what) {
  if (what.kernel) return Activity::kernel;
  if (what.op.starts_with("Memcpy")) return Activity::copy;
  if (is_inserted(what.name, what.op)) return Activity::conversion;
  // Casts of the model have its names; casts that the engine inserted have these (insert_cast_transformer.cc).
  if (what.op == "Cast" &&
      (what.name.starts_with("InsertedPrecisionFreeCast_") || what.name.starts_with("InsertedCast_")))
    return Activity::conversion;
  if (is_asynchronous(what.provider)) return Activity::call;  // its time is the time of the launch
  return Activity::layer;
}

}  // namespace benanza::profile
