// SPDX-License-Identifier: Apache-2.0
// The exports of TensorRT's trtexec (samples/common/sampleReporting.cpp): --exportProfile (time of each layer, over all
// passes), --exportTimes (each pass) and --exportLayerInfo (what each layer is; fields of the engine inspector, some of
// which 11.0 renamed).
#include "passes.hpp"
#include "reader.hpp"
#include "record_value.hpp"
#include "small_json.hpp"
#include "trtexec_record.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace benanza::profile {

namespace {

using Json = nlohmann::json;

constexpr std::string_view separator = " + ";

/// `[ONNX Layer: /conv1/Conv]` in the Metadata of a layer; several are divided by a record separator.
std::vector<std::string> nodes_of_metadata(std::string_view text) {
  constexpr std::string_view mark = "[ONNX Layer: ";
  std::vector<std::string> nodes;
  for (auto at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at)) {
    at += mark.size();
    const auto end = text.find_first_of("\x1e\x1f", at);
    std::string_view name = text.substr(at, end == std::string_view::npos ? end : end - at);
    if (const auto close = name.rfind(']'); close != std::string_view::npos) name = name.substr(0, close);
    if (!name.empty() && std::find(nodes.begin(), nodes.end(), name) == nodes.end()) nodes.emplace_back(name);
  }
  return nodes;
}

/// The pieces of a fused layer's name: nodes, including names of weights. Layers that TensorRT itself made, and ranges
/// of nodes ({ForeignNode[a...b]}), have none.
std::vector<std::string> nodes_of_name(std::string_view name) {
  std::vector<std::string> nodes;
  if (name.starts_with("Reformatting CopyNode") || name.starts_with('{') || name.starts_with('[')) return nodes;
  for (std::size_t at = 0; at <= name.size();) {
    const auto end = std::min(name.find(separator, at), name.size());
    std::string_view piece = name.substr(at, end - at);
    at = end + separator.size();
    while (piece.starts_with("PWN(")) {  // a chain of pointwise operators
      piece.remove_prefix(4);
      if (piece.ends_with(')')) piece.remove_suffix(1);
    }
    if (!piece.empty() && piece.find("(Unnamed Layer*") == std::string_view::npos) nodes.emplace_back(piece);
  }
  return nodes;
}

Activity activity_of(std::string_view name, std::string_view type) {
  if (name.starts_with("Reformatting CopyNode")) return Activity::conversion;
  if (name.ends_with("[DevicetoShapeHostCopy]") || name.ends_with(" copy")) return Activity::copy;
  // A Reformat with a name of its own may be a node of the model (a cast, a transposition, a quantization).
  return type == "NoOp" ? Activity::call : Activity::layer;
}

std::string element(std::size_t index) { return "element " + std::to_string(index); }

EngineProfile read_layer_times(Source& source, const ProfileOptions&) {
  EngineProfile made{.engine = "tensorrt"};
  double count = 0;
  bool begun = false;
  for_each_json(source, {}, longest_record, [&](const Json& entry, std::uint64_t position, std::size_t i) {
    if (entry.is_object() && entry.contains("count")) {
      if (std::exchange(begun, true)) source.fail(position, "a second 'count': the layers of two runs");
      count = number_at(entry, "count", element(i));
      return;
    }
    const std::string name = entry.is_object() ? text_at(entry, "name") : "";
    if (name.empty()) throw Unreadable(element(i) + ": a layer without 'name'");
    // Files before 8.0 contain no medians; means add up to the total.
    const bool has_mean = entry.contains("averageMs") || !(count > 0);
    const Seconds mean = has_mean ? time_at(entry, "averageMs", milliseconds(1), element(i))
                                  : time_at(entry, "timeMs", milliseconds(1), element(i)) / count;
    made.records.push_back(trtexec_record(source, name, i));
    made.records.back().times = {mean};
  });
  if (made.records.empty()) throw InputError(source.path().string() + ": no layer in the profile");
  made.warnings.push_back(source.path().string() + std::string(trtexec_overhead));
  return made;
}

EngineProfile read_pass_times(Source& source, const ProfileOptions& options) {
  EngineProfile made{.engine = "tensorrt"};
  std::vector<Seconds> passes;
  for_each_json(source, {}, longest_record, [&](const Json& pass, std::uint64_t, std::size_t i) {
    passes.push_back(pass_time(time_at(pass, "computeMs", milliseconds(1), element(i)), element(i)));
  });
  const std::size_t dropped = warm_up_passes(source, passes, options);
  made.warm_ups = static_cast<std::int64_t>(dropped);
  made.latencies.assign(passes.begin() + static_cast<std::ptrdiff_t>(dropped), passes.end());
  return made;
}

/// `Row major linear FP32`, `Thirty-two wide channel vectorized row major Int8 format` (<= 10), `Half` (11).
std::optional<DataType> type_of(std::string_view format) {
  struct Pair {
    std::string_view word;
    DataType type;
  };
  constexpr std::array<Pair, 14> words{{{"BFloat16", DataType::bf16},
                                        {"BF16", DataType::bf16},
                                        {"FP16", DataType::f16},
                                        {"Half", DataType::f16},
                                        {"FP32", DataType::f32},
                                        {"Float", DataType::f32},
                                        {"FP8", DataType::f8e4m3},
                                        {"Int8", DataType::i8},
                                        {"INT8", DataType::i8},
                                        {"Int64", DataType::i64},
                                        {"INT64", DataType::i64},
                                        {"Int32", DataType::i32},
                                        {"INT32", DataType::i32},
                                        {"Bool", DataType::boolean}}};
  for (const Pair& pair : words)
    if (format.find(pair.word) != std::string_view::npos) return pair.type;
  return std::nullopt;
}

std::vector<ProfiledTensor> tensors(const Json& layer, const char* key) {
  std::vector<ProfiledTensor> result;
  if (!layer.contains(key) || !layer[key].is_array()) return result;
  for (const Json& entry : layer[key]) {
    if (!entry.is_object()) return {};
    const std::string format =
        entry.contains("Datatype") ? text_at(entry, "Datatype") : text_at(entry, "Format/Datatype");
    const auto type = type_of(format);
    if (!type || !entry.contains("Dimensions") || !entry["Dimensions"].is_array()) return {};
    auto& tensor = result.emplace_back(ProfiledTensor{.type = *type});
    for (const Json& extent : entry["Dimensions"])
      if (extent.is_number_integer()) tensor.dims.push_back(extent.get<std::int64_t>());
  }
  return result;
}

EngineProfile read_layers(Source& source, const ProfileOptions&) {
  EngineProfile made{.engine = "tensorrt"};
  std::size_t bare = 0;
  for_each_json(source, "Layers", longest_record, [&](const Json& layer, std::uint64_t, std::size_t index) {
    const std::string name = layer.is_string()   ? layer.get<std::string>()
                             : layer.is_object() ? text_at(layer, "Name")
                                                 : "";
    if (name.empty()) throw Unreadable("Layers " + element(index) + ": a layer without 'Name'");
    auto& record = made.records.emplace_back(trtexec_record(source, name, index));
    if (!layer.is_object()) {
      ++bare;
      return;
    }
    record.op = text_at(layer, "LayerType");
    record.activity = activity_of(record.name, record.op);
    record.algorithm = text_at(layer, "TacticName");
    record.inputs = tensors(layer, "Inputs");
    record.outputs = tensors(layer, "Outputs");
    if (auto nodes = nodes_of_metadata(text_at(layer, "Metadata")); !nodes.empty()) record.nodes = std::move(nodes);
    if (layer.contains("StreamId") && layer["StreamId"].is_number_integer())
      record.lane = layer["StreamId"].get<std::int64_t>();
  });
  if (bare > 0)
    made.warnings.push_back(source.path().string() +
                            ": only names of layers: build the engine with --profilingVerbosity=detailed for the rest");
  return made;
}

/// Whether the text is a bare array of objects whose first elements have this key.
bool is_array_with(std::string_view head, std::string_view key) {
  const auto first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '[' &&
         head.substr(0, 4096).find(key) != std::string_view::npos;
}

bool sniff_layer_times(std::string_view head) {
  return is_array_with(head, "\"timeMs\"") || is_array_with(head, "\"averageMs\"");
}
bool sniff_pass_times(std::string_view head) { return is_array_with(head, "\"computeMs\""); }
bool sniff_layers(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '{' && head.find("\"Layers\"") < first + 64;
}

}  // namespace

ProfileRecord trtexec_record(const Source& source, std::string name, std::uint64_t position) {
  ProfileRecord record{.name = std::move(name)};
  record.nodes = nodes_of_name(record.name);
  record.activity = activity_of(record.name, "");
  record.provider = "tensorrt";
  record.place = {source.index(), position};
  return record;
}

const Reader trtexec_profile{"trtexec --exportProfile", sniff_layer_times, read_layer_times};
const Reader trtexec_times{"trtexec --exportTimes", sniff_pass_times, read_pass_times};
const Reader trtexec_layers{"trtexec --exportLayerInfo", sniff_layers, read_layers};

}  // namespace benanza::profile
