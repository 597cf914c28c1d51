// SPDX-License-Identifier: Apache-2.0
// Between the ONNX library's messages and Benanza's own types.
#pragma once

#include "tensor.hpp"
#include <benanza/model/graph.hpp>

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

namespace benanza::importer {

/// A constant of the file: its numbers are there only when it is small and the pre-scan kept them.
struct Constant {
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};
  std::optional<Literal> literal{};
  std::optional<StoredPlace> stored{};
  std::optional<BandedNumbers> banded{};  ///< where the pre-scan found two numbers alone
  std::optional<SparseNumbers> sparse{};
  std::vector<Ramp> ramps{};  ///< where the pre-scan found indices that go up evenly
};

/// Throws InputError on an unknown element type and on data that does not fit the dimensions.
[[nodiscard]] Constant decode(const onnx::TensorProto& tensor);

/// The message that shape rules read; nothing for types whose numbers no rule needs.
[[nodiscard]] std::optional<onnx::TensorProto> encode(DataType type, const std::vector<std::int64_t>& dims,
                                                      const Literal& literal);

/// A tensor's type; a negative dimension is one that is not known.
[[nodiscard]] onnx::TypeProto make_type(DataType type, const std::vector<std::int64_t>& dims);

/// Element type of a tensor, or of the tensors inside a sequence or an optional; nothing when it is not said.
[[nodiscard]] std::optional<DataType> element_type(const onnx::TypeProto& type);

/// The attributes of a node. Graphs are left to the caller, tensors become literals when their numbers are there.
void copy_attributes(const onnx::NodeProto& from, Node& to);

[[nodiscard]] const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);

/// A message of the library on one line.
[[nodiscard]] std::string one_line(std::string_view message);

}  // namespace benanza::importer
