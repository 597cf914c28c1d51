// SPDX-License-Identifier: Apache-2.0
// Chain: element-wise steps with broadcasting in one pass over memory. A block of the result that fits the first-level
// cache goes through all steps before the next block is touched. Adjacent dimensions that broadcast in the same way are
// folded first.
#pragma once

#include "context.hpp"

#include <vector>

namespace benanza::native {

class Chain {
 public:
  Chain(const Kernels& kernels, DataType type, const TensorShape& y);

  /// Adds a tensor that broadcasts to y (missing leading dimensions count as 1) and returns its number. The second form
  /// has no `argument`; its tensor is the caller's parameter vector number `parameter`.
  std::size_t add_input(std::size_t argument, DataType type, const TensorShape& shape);
  std::size_t add_parameter(std::size_t parameter, const TensorShape& shape);

  /// The running value starts as input 0. Each returns false if no kernel supports the step.
  [[nodiscard]] bool add_unary(ElementwiseFn fn, double alpha, double beta);
  [[nodiscard]] bool add_binary(ElementwiseFn fn, std::size_t operand, bool swapped);
  [[nodiscard]] bool add_scale(float factor);
  /// value * scale + shift
  void add_affine(std::size_t scale, std::size_t shift);
  /// Input 0 is the condition.
  [[nodiscard]] bool set_where(std::size_t yes, std::size_t no, DataType type);
  /// Adds the steps of an epilogue, whose operands are arguments from `argument` on.
  [[nodiscard]] bool add_epilogue(const Epilogue& post, std::size_t argument, std::size_t channel_axis);

  /// Call after the last step.
  void finish();
  /// Scratch for one thread.
  [[nodiscard]] std::size_t scratch_bytes() const;
  /// Elements [begin, end) of y. `parameters` are the vectors of add_parameter.
  void run(const Arguments& arguments, std::span<const float* const> parameters, Index begin, Index end, bool stream,
           std::byte* scratch) const;
  [[nodiscard]] Index elements() const { return element_count(y_); }
  [[nodiscard]] DataType result_type() const { return type_; }
  /// The arguments with the layout of y whose elements `run` reads before it writes y there.
  [[nodiscard]] std::vector<std::size_t> overwritable() const;

 private:
  struct Input {
    std::size_t argument = 0;
    bool parameter = false;
    DataType type = DataType::f32;
    TensorShape strides{};  ///< in elements, one for each dimension
    bool flat = true;       ///< has the layout of y
  };
  enum class Kind : std::uint8_t { unary, binary, add_relu, scale, affine, where };
  struct Step {
    Kind kind = Kind::unary;
    ElementwiseFn fn = ElementwiseFn::relu;
    Arithmetic type = Arithmetic::f32;
    std::size_t operand = 0, second = 0;
    bool swapped = false, then_relu = false;
    float alpha = 0, beta = 0;
    UnaryKernel unary = nullptr;
  };
  /// The location of a block of an operand; one element for the whole block if stride is 0.
  struct View {
    const void* data = nullptr;
    Index stride = 1;
  };

  /// The start of an operand's current row.
  struct Cursor {
    const std::byte* row = nullptr;
    Index bytes = 0;  ///< size of one element
  };

  void run_rows(std::span<Cursor> cursors, std::span<View> views, std::byte* y, Index begin, Index end, bool stream,
                std::byte* scratch) const;
  [[nodiscard]] const std::byte* base(const Input& input, const Arguments& arguments,
                                      std::span<const float* const> parameters) const;
  [[nodiscard]] std::byte* buffer(std::byte* scratch, std::size_t i) const;
  void expand(std::size_t input, const std::byte* base, Index begin, Index n, std::byte* to) const;
  void block(std::span<View> views, Index n, std::byte* y, bool stream, std::byte* scratch) const;
  void apply(const Step& step, View value, std::span<const View> views, void* y, Index n) const;

  const Kernels& kernels_;
  DataType type_;  ///< type of the running value
  TensorShape y_;
  std::vector<Input> inputs_{};
  std::vector<Step> steps_{};
  TensorShape dims_{};  ///< dimensions of y, folded; the strides of the inputs correspond to them
  bool by_rows_ =
      true;  ///< whether rows are long enough for one kernel call each; otherwise operands are expanded block by block
  bool direct_ = true;  ///< one step without conversion: no block is needed
};

}  // namespace benanza::native
