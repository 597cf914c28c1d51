// SPDX-License-Identifier: Apache-2.0
// Conversions between the ONNX library's messages and Benanza's own types.
#pragma once

#include "constant_kind.hpp"
#include "tensor.hpp"
#include <benanza/model/graph.hpp>

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::importer {

/// A constant of the file. It has its numbers only if it is small and the pre-scan kept them.
struct Constant {
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};
  std::optional<Literal> literal{};
  std::optional<StoredPlace> stored{};
  std::optional<BandedNumbers> banded{};  ///< set if the pre-scan found only two numbers
  std::optional<SparseNumbers> sparse{};
  ConstantKind kind = ConstantKind::numbers;
  std::optional<double> number{};              ///< of all elements, if the kind says that they are equal
  std::optional<std::size_t> same_bytes_as{};  ///< an earlier initializer
  std::vector<Ramp> ramps{};                   ///< set if the pre-scan found evenly increasing indices
};

/// Throws InputError on an unknown element type and on data that does not fit the dimensions.
[[nodiscard]] Constant decode(const onnx::TensorProto& tensor);

/// A floating-point number of raw_data.
[[nodiscard]] double raw_number(std::string_view raw, DataType type, std::size_t index);

/// The message that shape rules read. Empty for types whose numbers no rule needs.
[[nodiscard]] std::optional<onnx::TensorProto> encode(DataType type, const std::vector<std::int64_t>& dims,
                                                      const Literal& literal);

/// A tensor's type; a negative dimension is unknown.
[[nodiscard]] onnx::TypeProto make_type(DataType type, const std::vector<std::int64_t>& dims);

/// Element type of a tensor, or of the tensors inside a sequence or an optional; empty if it is not specified.
[[nodiscard]] std::optional<DataType> element_type(const onnx::TypeProto& type);

/// Copies the attributes of a node, except for graphs, which are left to the caller. Tensors become literals if they
/// have their numbers.
void copy_attributes(const onnx::NodeProto& from, Node& to);

/// Calls `visit` with each graph that is an attribute of the node.
template <class Visit>
void for_each_body(onnx::NodeProto& node, Visit&& visit) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) visit(*attribute.mutable_g());
    for (auto& graph : *attribute.mutable_graphs()) visit(graph);
  }
}

/// Nodes of a graph, with those of its bodies.
[[nodiscard]] std::size_t node_count(const onnx::GraphProto& graph);

[[nodiscard]] const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);

/// A message of the library as one line.
[[nodiscard]] std::string one_line(std::string_view message);

}  // namespace benanza::importer
