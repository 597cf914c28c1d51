// SPDX-License-Identifier: Apache-2.0
#include "backend/node_vector.hpp"

#include "execution/bind_node.hpp"
#include <benanza/onnx.hpp>
#include <benanza/plan/element.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

namespace benanza::test {

namespace {

template <class Message>
Message read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Message message;
  if (!file || !message.ParseFromIstream(&file)) throw InputError(path.string() + ": cannot be read");
  return message;
}

/// The elements as they lie in memory, independent of the field in which the tensor keeps them.
std::string bytes_of(const onnx::TensorProto& tensor, DataType type) {
  if (tensor.has_raw_data()) return tensor.raw_data();
  std::string bytes;
  const auto append = [&](const auto& field, std::size_t size) {
    for (const auto& value : field)
      bytes.append(reinterpret_cast<const char*>(&value), size);  // little-endian: the low bytes
  };
  append(tensor.float_data(), sizeof(float));
  append(tensor.double_data(), sizeof(double));
  append(tensor.int64_data(), sizeof(std::int64_t));
  append(tensor.int32_data(), std::max<std::size_t>(1, static_cast<std::size_t>(bits(type)) / 8));
  append(tensor.uint64_data(), static_cast<std::size_t>(bits(type)) / 8);
  return bytes;
}

Numbers to_numbers(const onnx::TensorProto& tensor) {
  const auto type = data_type_from_onnx(tensor.data_type());
  if (!type || *type == DataType::string || *type == DataType::c64 || *type == DataType::c128)
    throw Skip{"strings or complex numbers"};
  Numbers result{.type = *type, .dims = {tensor.dims().begin(), tensor.dims().end()}};
  const std::string bytes = bytes_of(tensor, *type);
  const std::int64_t count = element_count(result.dims);
  if (static_cast<std::int64_t>(bytes.size()) * 8 < count * bits(*type))
    throw InputError("a tensor of a node vector is too short");
  for (std::int64_t i = 0; i < count; ++i) result.values.push_back(load(bytes.data(), *type, i));
  return result;
}

/// Inputs that determine an operator's shape or are not tensors of a layer: models have them as constants, the vectors
/// have them as inputs.
std::set<std::string> parameter_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& proto : graph.node()) {
    Node node{.domain = proto.domain(), .op_type = proto.op_type(), .bodies = {}};
    for (ValueId i = 0; i < static_cast<ValueId>(proto.input_size()); ++i) node.inputs.emplace_back(i);
    for (const std::size_t i : execution::parameter_inputs(node)) names.insert(proto.input(static_cast<int>(i)));
  }
  return names;
}

void check_kind(const onnx::ValueInfoProto& value) {
  if (!value.type().has_tensor_type()) throw Skip{"sequences or optionals"};
}

}  // namespace

NodeVector read_node_vector(const std::filesystem::path& folder, const std::filesystem::path& scratch) {
  auto model = read<onnx::ModelProto>(folder / "model.onnx");
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const auto& value : graph.input()) check_kind(value);
  for (const auto& value : graph.output()) check_kind(value);

  NodeVector result;
  for (const auto& node : graph.node()) result.op_types.push_back(node.op_type());
  for (const auto& tensor : graph.initializer()) result.inputs[tensor.name()] = to_numbers(tensor);

  const std::filesystem::path data = folder / "test_data_set_0";
  const std::set<std::string> parameters = parameter_names(graph);
  ImportOptions options{.executable = true};
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string& name = graph.input(i).name();
    auto tensor = read<onnx::TensorProto>(data / ("input_" + std::to_string(i) + ".pb"));
    Numbers numbers = to_numbers(tensor);
    // A function that is written out computes with its parameters: sizes and axes, which are short lists of integers.
    const bool is_expanded = folder.filename().string().find("_expanded") != std::string::npos;
    const bool is_list = !is_float(numbers.type) && numbers.type != DataType::boolean && numbers.dims.size() <= 1 &&
                         numbers.values.size() <= 8;
    if (parameters.contains(name) || (is_expanded && is_list)) {
      tensor.set_name(name);
      *graph.add_initializer() = tensor;
    } else {
      options.inputs[name] = numbers.dims;
      *inputs.Add() = graph.input(i);
    }
    result.inputs[name] = std::move(numbers);
  }
  for (int i = 0; i < graph.output_size(); ++i)
    result.outputs.push_back(to_numbers(read<onnx::TensorProto>(data / ("output_" + std::to_string(i) + ".pb"))));
  graph.mutable_input()->Swap(&inputs);

  const std::filesystem::path path = scratch / (folder.filename().string() + ".onnx");
  {
    std::ofstream file(path, std::ios::binary);
    if (!model.SerializeToOstream(&file)) throw EnvironmentError(path.string() + ": cannot be written");
  }
  result.graph = import_onnx(path, options);
  return result;
}

std::vector<std::string> read_op_types(const std::filesystem::path& folder) {
  const auto model = read<onnx::ModelProto>(folder / "model.onnx");
  std::vector<std::string> result;
  for (const auto& node : model.graph().node()) result.push_back(node.op_type());
  return result;
}

}  // namespace benanza::test
