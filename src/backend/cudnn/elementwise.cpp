// SPDX-License-Identifier: Apache-2.0
// Activations, element-wise functions of two or more tensors, and permutations.
#include "families.hpp"

#include <algorithm>

namespace benanza::cudnn {

namespace {

std::string no_function(ElementwiseFn fn, DataType type) {
  return "no call of cuDNN does " + std::string(enum_names(fn)[static_cast<std::size_t>(fn)]) + " of " +
         std::string(name(type));
}

constexpr std::size_t most_dimensions = 5;

}  // namespace

void add_plans(const op::Unary& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_function(op.fn, op.type));
  // Without an epilogue, each result depends only on its own element, so any shape with the same element count will do.
  const TensorShape shape = op.post.empty() ? TensorShape{element_count(op.x), 1, 1, 1} : with_rank(op.x);
  std::string why;
  const auto epilogue = epilogue_calls(op.post, op.post.empty() ? shape : op.x, 0, 1, Order::nchw, *how, why);
  if (!epilogue) return candidates.refuse(why);
  const TensorDescriptor x = tensor(how->stored, shape);
  const Factor one(*how, 1), zero(*how, 0);
  if (const auto function = activation(op.fn, op.alpha, op.beta)) {
    candidates.add({.algorithm = "activation_forward",
                    .execute =
                        [=, steps = *epilogue](cudnnHandle_t handle, const Arguments& a) {
                          check(calls().cudnnActivationForward(handle, function->get(), one.get(), x.get(), a.inputs[0],
                                                               zero.get(), x.get(), a.outputs[0]),
                                "cudnnActivationForward");
                          for (const auto& step : steps) step(handle, a, a.outputs[0]);
                        },
                    .tolerance = how->tolerance});
  } else if (op.fn == ElementwiseFn::sqrt) {
    const auto root = make_op_tensor(CUDNN_OP_TENSOR_SQRT, *how);
    candidates.add({.algorithm = "op_tensor:sqrt",
                    .execute =
                        [=, steps = *epilogue](cudnnHandle_t handle, const Arguments& a) {
                          check(calls().cudnnOpTensor(handle, root.get(), one.get(), x.get(), a.inputs[0], one.get(),
                                                      x.get(), a.inputs[0], zero.get(), x.get(), a.outputs[0]),
                                "cudnnOpTensor");
                          for (const auto& step : steps) step(handle, a, a.outputs[0]);
                        },
                    .tolerance = how->tolerance});
  } else {
    candidates.refuse(no_function(op.fn, op.type));
  }
}

void add_plans(const op::Binary& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  const auto function = op_tensor(op.fn);
  if (!how || !function) return candidates.refuse(no_function(op.fn, op.type));
  const TensorShape whole = op.y();
  const std::size_t rank = std::max<std::size_t>(4, whole.size());
  if (rank > most_dimensions) return candidates.refuse("cuDNN's element-wise calls take at most 5 dimensions");
  // The first operand must have the result's shape (cuDNN, cudnnOpTensor). All these functions commute, except for a
  // sign.
  const bool swapped = !(op.a == whole);
  if (swapped && !(op.b == whole)) return candidates.refuse("cuDNN broadcasts one of two operands only");
  std::string why;
  const auto epilogue = epilogue_calls(op.post, whole, 0, op.same ? 1 : 2, Order::nchw, *how, why);
  if (!epilogue) return candidates.refuse(why);
  const TensorDescriptor y = tensor(how->stored, with_rank(whole, rank)),
                         small = tensor(how->stored, with_rank(swapped ? op.a : op.b, rank));
  const auto descriptor = make_op_tensor(*function, *how);
  const bool subtracts = op.fn == ElementwiseFn::sub;
  const Factor of_first(*how, subtracts && swapped ? -1 : 1), of_second(*how, subtracts && !swapped ? -1 : 1),
      zero(*how, 0);
  const std::size_t first = swapped ? 1 : 0, second = op.same ? 0 : 1 - first;
  candidates.add({.algorithm = "op_tensor",
                  .execute =
                      [=, steps = *epilogue](cudnnHandle_t handle, const Arguments& a) {
                        check(calls().cudnnOpTensor(handle, descriptor.get(), of_first.get(), y.get(), a.inputs[first],
                                                    of_second.get(), small.get(), a.inputs[second], zero.get(), y.get(),
                                                    a.outputs[0]),
                              "cudnnOpTensor");
                        for (const auto& step : steps) step(handle, a, a.outputs[0]);
                      },
                  .tolerance = how->tolerance});
}

void add_plans(const op::Nary& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  const auto function = op_tensor(op.fn);
  if (!how || !function || op.count < 2) return candidates.refuse(no_function(op.fn, op.type));
  const TensorDescriptor x = tensor(how->stored, {element_count(op.x), 1, 1, 1});
  const auto descriptor = make_op_tensor(*function, *how);
  const double scale = op.mean ? 1 / static_cast<double>(op.count) : 1;
  const Factor one(*how, 1), last(*how, scale), zero(*how, 0);
  candidates.add({.algorithm = "op_tensor:chain",
                  .execute =
                      [=, count = static_cast<std::size_t>(op.count)](cudnnHandle_t handle, const Arguments& a) {
                        const void* sum = a.inputs[0];
                        for (std::size_t i = 1; i < count; ++i) {
                          const Factor& factor = i + 1 == count ? last : one;
                          check(
                              calls().cudnnOpTensor(handle, descriptor.get(), factor.get(), x.get(), sum, factor.get(),
                                                    x.get(), a.inputs[i], zero.get(), x.get(), a.outputs[0]),
                              "cudnnOpTensor");
                          sum = a.outputs[0];
                        }
                      },
                  .tolerance = how->tolerance});
}

void add_plans(const op::Transpose& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how || op.perm.size() > most_dimensions)
    return candidates.refuse("cuDNN permutes at most 5 dimensions of floating-point numbers");
  TensorShape y = with_rank(op.y()), strides = packed_strides(op.x), permuted = TensorShape::filled(y.size(), 1);
  for (std::size_t i = 0; i < op.perm.size(); ++i) permuted[i] = strides[static_cast<std::size_t>(op.perm[i])];
  const TensorDescriptor to = tensor(how->stored, y), from = tensor(how->stored, y);
  const auto sizes = ints(y), steps = ints(permuted);
  check(calls().cudnnSetTensorNdDescriptor(from.get(), how->stored, static_cast<int>(sizes.size()), sizes.data(),
                                           steps.data()),
        "cudnnSetTensorNdDescriptor");
  const Factor one(*how, 1), zero(*how, 0);
  candidates.add({.algorithm = "transform_tensor",
                  .execute =
                      [=](cudnnHandle_t handle, const Arguments& a) {
                        check(calls().cudnnTransformTensor(handle, one.get(), from.get(), a.inputs[0], zero.get(),
                                                           to.get(), a.outputs[0]),
                              "cudnnTransformTensor");
                      },
                  .tolerance = how->tolerance});
}

}  // namespace benanza::cudnn
