// SPDX-License-Identifier: Apache-2.0
#include "infer.hpp"

#include "proto.hpp"

#include <memory>
#include <utility>

namespace benanza::importer {
namespace {

/// The library's view of one node. Benanza traverses bodies itself (control_flow.cpp), so the library does not infer
/// them.
class Context final : public onnx::InferenceContext {
 public:
  Context(const onnx::NodeProto& node, Frame& frame, std::span<const std::optional<ValueId>> inputs)
      : node_(node), frame_(frame), inputs_(inputs), outputs_(static_cast<std::size_t>(node.output_size())) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    return find_attribute(node_, name);
  }
  size_t getNumInputs() const override { return inputs_.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override {
    if (index >= inputs_.size()) throw InputError("input " + std::to_string(index) + " is missing");
    return inputs_[index] ? frame_.facts[*inputs_[index]].type : nullptr;
  }
  const onnx::TensorProto* getInputData(size_t index) const override {
    if (index >= inputs_.size() || !inputs_[index]) return nullptr;
    const Value& value = frame_.graph.values[*inputs_[index]];
    if (!value.literal) return nullptr;
    auto& tensor = frame_.facts[*inputs_[index]].tensor;
    if (!tensor)
      if (auto made = encode(value.type, value.dims, *value.literal))
        tensor = std::make_unique<onnx::TensorProto>(*std::move(made));
    return tensor.get();
  }
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t index) override {
    if (index >= outputs_.size()) throw InputError("output " + std::to_string(index) + " is missing");
    return &outputs_[index];
  }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    throw InputError("shapes inside of its body '" + name + "' are not supported");
  }
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(size_t) const override { return nullptr; }

  [[nodiscard]] std::vector<onnx::TypeProto> outputs() && { return std::move(outputs_); }

 private:
  const onnx::NodeProto& node_;
  Frame& frame_;
  std::span<const std::optional<ValueId>> inputs_;
  std::vector<onnx::TypeProto> outputs_;
};

}  // namespace

std::vector<onnx::TypeProto> infer_types(const onnx::OpSchema& schema, const onnx::NodeProto& node, Frame& frame,
                                         std::span<const std::optional<ValueId>> inputs) {
  Context context(node, frame, inputs);
  schema.GetTypeAndShapeInferenceFunction()(context);
  return std::move(context).outputs();
}

}  // namespace benanza::importer
