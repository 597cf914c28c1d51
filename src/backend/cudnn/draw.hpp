// SPDX-License-Identifier: Apache-2.0
// Draw: a cudnn-frontend graph over the operands of a layer: tensors, steps of epilogues, the result.
#pragma once

#include "graph_drawing.hpp"

#include <memory>
#include <string>
#include <vector>

namespace benanza::cudnn {

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Numbers = std::vector<std::int64_t>;

[[nodiscard]] inline Numbers numbers(const TensorShape& shape) { return {shape.begin(), shape.end()}; }

/// Input `i` of the layer has the number i + 1.
class Draw {
 public:
  explicit Draw(const Subject& subject);

  [[nodiscard]] Graph& graph() { return *graph_; }
  [[nodiscard]] const std::shared_ptr<Graph>& shared() const { return graph_; }

  Tensor input(std::size_t i, const Numbers& dims, const Numbers& strides);
  /// Output `i` has the number first_output + i.
  void output(const Tensor& tensor, const Numbers& dims, const Numbers& strides, std::size_t i = 0);

  /// Attributes of a product: integers are summed in integers.
  template <class Attributes>
  [[nodiscard]] Attributes product(Attributes attributes) const {
    if (subject_.is_integer()) attributes.set_compute_data_type(fe::DataType_t::INT32);
    return attributes;
  }

  /// Applies one step to a running value; null for a function that cuDNN's graphs lack.
  [[nodiscard]] Tensor step(const Tensor& value, const PostOp& post, const Tensor& operand);
  /// Applies the steps of an epilogue to a result of this shape and order; its operands are inputs from `i` on. Null if
  /// cuDNN's graphs lack a step.
  [[nodiscard]] Tensor epilogue(Tensor value, const Epilogue& post, const TensorShape& y, std::size_t channel_axis,
                                std::size_t i, Order order);

 private:
  [[nodiscard]] Tensor apply(const Tensor& value, fe::PointwiseMode_t mode);
  [[nodiscard]] Tensor combine(const Tensor& a, const Tensor& b, fe::PointwiseMode_t mode);
  [[nodiscard]] Tensor number(double value) { return graph_->tensor(static_cast<float>(value)); }
  /// slope * value + offset, clamped to the range from 0 to 1.
  [[nodiscard]] Tensor ramp(const Tensor& value, double slope, double offset);
  [[nodiscard]] Tensor rescaled(const Tensor& value);

  const Subject& subject_;
  std::shared_ptr<Graph> graph_;
};

}  // namespace benanza::cudnn
