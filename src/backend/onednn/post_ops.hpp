// SPDX-License-Identifier: Apache-2.0
// PostOps: a layer's epilogue as attributes of a primitive.
#pragma once

#include "draft.hpp"

#include <optional>
#include <string>
#include <variant>

namespace benanza::onednn {

/// A function of one operand in oneDNN's terms.
struct Eltwise {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
};
/// Empty if oneDNN lacks the function.
[[nodiscard]] std::optional<Eltwise> eltwise(ElementwiseFn fn, double alpha, double beta);
/// Empty if oneDNN lacks the function.
[[nodiscard]] std::optional<dnnl::algorithm> binary(ElementwiseFn fn);

struct PostOps {
  dnnl::post_ops ops{};
  std::vector<Use> uses{};  ///< the operands that they read
  Type type = Type::f32;    ///< type of the operands
  /// Operands of a layer. Its first sum with a tensor of the result's dimensions is done in place; constants do not
  /// count. If null, no sum is.
  const Operands* in_place = nullptr;
  std::optional<std::size_t> sums_into{};  ///< the input of that sum: the result holds it before a call

  /// Appends a function of one operand; returns false if oneDNN lacks it.
  bool append(ElementwiseFn fn, double alpha, double beta);
  /// Appends a function with operand `slot`, which has dimensions `operand`, in a result of dimensions `result` and the
  /// given form (any form if it is empty); returns false if oneDNN lacks it.
  bool append(ElementwiseFn fn, bool swapped, const Slot& slot, const Dims& operand, const Dims& result,
              std::optional<Form> form);
  [[nodiscard]] dnnl::primitive_attr attributes() const;
};

/// Dimensions of the operands of an epilogue on a result of dimensions `y`, with the rank of y.
[[nodiscard]] std::vector<Dims> epilogue_dims(const Epilogue& post, const TensorShape& y, std::size_t channel_axis);

/// Whether the first step is a bias, which primitives with weights take as a separate argument.
[[nodiscard]] inline bool starts_with_bias(const Epilogue& post) { return !post.empty() && post[0] == bias; }

/// Appends steps `first` and later. `operands` are the dimensions of the operands of all steps, the first of which is
/// input `input_base`. Returns the reason if oneDNN lacks a step.
[[nodiscard]] std::variant<PostOps, Unsupported> make_post_ops(const Epilogue& post, std::size_t first,
                                                               const std::vector<Dims>& operands,
                                                               std::size_t input_base, const Dims& y,
                                                               std::optional<Form> form, PostOps before = {});

/// Ways to run the epilogue of a layer with weights, without a bias at its start. The operands of its binary steps are
/// the inputs from 2 on. The first way writes to a separate result. The second way, if there is one, adds to an operand
/// in place: the result's memory holds it before a call. A vector of one number for each channel is not such an
/// operand, since it is constant and would be copied there before each call. `scaled` results are rounded to 8 bits and
/// have no second way. `operands` are the dimensions of the operands of all steps. Returns the reason if oneDNN lacks a
/// step.
[[nodiscard]] std::variant<std::vector<PostOps>, Unsupported> ways_of_epilogue(const Epilogue& post,
                                                                               const std::vector<Dims>& operands,
                                                                               const Dims& y, std::optional<Form> form,
                                                                               Type type, const Operands& layer,
                                                                               bool scaled);

/// Whether the implementation settled on a layout for every operand.
[[nodiscard]] bool settled(const dnnl::primitive_desc_base& descriptor, const PostOps& post);

}  // namespace benanza::onednn
