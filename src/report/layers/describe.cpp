// SPDX-License-Identifier: Apache-2.0
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/report.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

namespace {

std::string dims(std::span<const std::int64_t> shape) {
  std::string text;
  for (auto dim : shape) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

std::string steps(const Epilogue& post) {
  std::string text;
  for (const auto& op : post)
    text += (text.empty() ? ", +" : " +") +
            (op == bias ? "bias" : std::string(enum_names(op.fn)[static_cast<std::size_t>(op.fn)]));
  return text;
}

/// `2`, or `2x1` if axes differ.
std::string alike(std::span<const std::int64_t> sizes) {
  const bool all_alike = std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
  return all_alike && !sizes.empty() ? std::to_string(sizes.front()) : dims(sizes);
}

/// `3x3/2 d=4 group 8`: kernel, strides, dilations, groups.
std::string window(std::span<const std::int64_t> kernel, const TensorShape& strides, const TensorShape& dilations,
                   std::int64_t group) {
  std::string text = dims(kernel);
  if (!strides.empty()) text += "/" + alike(strides);
  if (!dilations.empty()) text += " d=" + alike(dilations);
  if (group > 1) text += " group " + std::to_string(group);
  return text;
}

/// Layers that have no words of their own: the signature, without the type that most rows share.
template <class Op>
std::string in_words(const Op& op) {
  std::string text = LayerSignature(Layer(op)).text();
  const std::string plain_type = "/f32/";
  if (const auto at = text.find(plain_type); at != std::string::npos) text.replace(at, plain_type.size(), " ");
  return text;
}

std::string in_words(const op::Conv& op) {
  const std::span kernel(op.w.begin() + 2, op.w.end());
  return "Conv " + dims(op.x) + ", " + std::to_string(op.w[0]) + " of " +
         window(kernel, op.strides, op.dilations, op.group) + steps(op.post);
}

std::string in_words(const op::MatMul& op) {
  return "MatMul " + dims(op.a) + " * " + dims(op.b) + (op.b_constant ? "" : ", both vary") + steps(op.post);
}

std::string in_words(const op::Pool& op) {
  const bool global = std::equal(op.kernel.begin(), op.kernel.end(), op.x.begin() + 2, op.x.end());
  const char* name = op.mode == op::PoolMode::max       ? "MaxPool "
                     : op.mode == op::PoolMode::average ? "AveragePool "
                                                        : "LpPool ";
  return name + dims(op.x) + ", " + (global ? "global" : window(op.kernel, op.strides, op.dilations, 1));
}

std::string in_words(const op::Unary& op) {
  return std::string(enum_names(op.fn)[static_cast<std::size_t>(op.fn)]) + " " + dims(op.x) + steps(op.post);
}

std::string in_words(const op::Binary& op) {
  return std::string(enum_names(op.fn)[static_cast<std::size_t>(op.fn)]) + " " + dims(op.a) +
         (op.a == op.b ? "" : ", " + dims(op.b)) + steps(op.post);
}

std::string in_words(const op::BatchNorm& op) { return "BatchNorm " + dims(op.x) + steps(op.post); }
std::string in_words(const op::Softmax& op) { return std::string(op.log ? "LogSoftmax " : "Softmax ") + dims(op.x); }
std::string in_words(const op::LayerNorm& op) {
  const bool adds = op.residual != op::Residual::none;
  return std::string(op.rms ? "RMSNorm " : "LayerNorm ") + (adds ? "of a sum " : "") + dims(op.x);
}
std::string in_words(const op::Transpose& op) { return "Transpose " + dims(op.x) + " to " + dims(op.perm); }
std::string in_words(const op::Attention& op) {
  return "Attention q " + dims(op.q) + ", k " + dims(op.k) + (op.mask.empty() ? "" : ", mask");
}
/// The formulas of an expression: `y = x / (1 + exp(-x))` with numbered inputs.
class Formula {
 public:
  explicit Formula(const op::Expression& op) : op_(op), uses_(op.in.size() + op.steps.size(), 0) {
    for (const auto& step : op.steps)
      for (std::size_t i = 0; i < step.operands(); ++i) ++uses_[step.of[i]];
  }

  /// The steps that are used several times or written have names.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t value = op_.in.size(); value < uses_.size(); ++value)
      if (uses_[value] != 1 || is_written(value))
        text += (text.empty() ? "" : ", ") + name(value) + " = " + formula(value);
    return text;
  }

 private:
  [[nodiscard]] bool is_written(std::size_t value) const {
    return std::find(op_.out.begin(), op_.out.end(), static_cast<std::int64_t>(value)) != op_.out.end();
  }
  [[nodiscard]] std::string name(std::size_t value) const {
    if (value < op_.in.size()) return op_.in.size() == 1 ? "x" : "x" + std::to_string(value);
    return (is_written(value) ? "y" : "t") + std::to_string(value);
  }
  [[nodiscard]] std::string operand(std::size_t value) const {
    return value < op_.in.size() || uses_[value] != 1 || is_written(value) ? name(value) : formula(value);
  }
  [[nodiscard]] std::string formula(std::size_t value) const {
    const ExpressionStep& step = op_.steps[value - op_.in.size()];
    std::string text = step.kind == StepKind::choice       ? "where"
                       : step.kind == StepKind::conversion ? std::string(benanza::name(step.to))
                       : step.kind == StepKind::reduction  ? "row_" + std::string(word(step.reduce))
                                                           : std::string(word(step.fn));
    for (const auto& [fn, sign] : {std::pair(ElementwiseFn::add, " + "), std::pair(ElementwiseFn::sub, " - "),
                                   std::pair(ElementwiseFn::mul, " * "), std::pair(ElementwiseFn::div, " / ")})
      if (step.kind == StepKind::function && step.fn == fn)
        return "(" + operand(step.of[0]) + sign + operand(step.of[1]) + ")";
    for (std::size_t i = 0; i < step.operands(); ++i) text += (i == 0 ? "(" : ", ") + operand(step.of[i]);
    return text + ")";
  }
  template <class E>
  [[nodiscard]] static std::string_view word(E e) {
    return enum_names(e)[static_cast<std::size_t>(e)];
  }

  const op::Expression& op_;
  std::vector<std::size_t> uses_;  ///< of each value, by steps
};

std::string in_words(const op::Expression& op) {
  std::string text = "Expression " + dims(op.x);
  for (const auto& input : op.in)
    if (!input.shape.empty() && element_count(input.shape) > 1) text += ", " + dims(input.shape);
  return text + ": " + Formula(op).text();
}
std::string in_words(const op::Rotary& op) { return "Rotary " + dims(op.x); }

}  // namespace

std::string describe(const Layer& layer) {
  std::string text = std::visit([](const auto& op) { return in_words(op); }, layer);
  const DataType own = type(layer);
  if (own == DataType::f32 || text.find('/' + std::string(name(own)) + '/') != std::string::npos) return text;
  const auto behind_kind = std::min(text.find(' '), text.size());
  return text.insert(behind_kind, " " + std::string(name(own)));
}

}  // namespace benanza
