// SPDX-License-Identifier: Apache-2.0
// Matrix products and sums of products by index.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

/// Matrix product with broadcast batch dimensions: MatMul, Gemm, their quantised and fused forms, and an Einsum that is
/// a matrix product.
struct MatMul {
  static constexpr std::string_view kind = "MatMul";
  static constexpr Family family = Family::product;
  static constexpr std::array<std::string_view, 13> onnx_types{"MatMul",
                                                               "Gemm",
                                                               "MatMulInteger",
                                                               "QLinearMatMul",
                                                               "com.microsoft.QGemm",
                                                               "com.microsoft.FusedGemm",
                                                               "com.microsoft.FusedMatMul",
                                                               "com.microsoft.TransposeMatMul",
                                                               "com.microsoft.DynamicQuantizeMatMul",
                                                               "com.microsoft.MatMulIntegerToFloat",
                                                               "com.microsoft.MatMulNBits",
                                                               "com.microsoft.MatMulBnb4",
                                                               "Einsum"};
  DataType type = DataType::f32;
  TensorShape a{};  ///< batch... M K (logical: after trans_a)
  TensorShape
      b{};  ///< batch... K N (logical: after trans_b); 2-D if it has no batch, with a's batch then folded into M
  bool trans_a = false;  ///< a is stored as batch... K M; never set if a is constant
  bool trans_b =
      false;  ///< b is stored as batch... N K; never set if b is constant, since it is re-laid out beforehand
  bool a_constant = false;
  bool b_constant = false;
  std::optional<DataType> b_type{};  ///< if it differs from `type` (quantised)
  std::optional<DataType> y_type{};
  bool a_zero = false;  ///< quantised: a has a zero point other than 0, so that sums over b have to be subtracted
  bool b_zero = false;  ///< the same for b; scales do not affect the speed, be it one per column or one for all
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("a", self.a);
    visit("b", self.b);
    visit("trans_a", self.trans_a);
    visit("trans_b", self.trans_b);
    visit("a_constant", self.a_constant);
    visit("b_constant", self.b_constant);
    visit("b_type", self.b_type);
    visit("y_type", self.y_type);
    visit("a_zero", self.a_zero);
    visit("b_zero", self.b_zero);
    visit("post", self.post);
  }
  constexpr bool operator==(const MatMul&) const = default;

  /// A vector is a matrix of one row (a) or column (b).
  [[nodiscard]] static std::optional<MatMul> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::int64_t m() const { return a[a.size() - 2]; }
  [[nodiscard]] constexpr std::int64_t k() const { return a[a.size() - 1]; }
  [[nodiscard]] constexpr std::int64_t n() const { return b[b.size() - 1]; }
  /// Broadcast batch dimensions. Empty for a plain product.
  [[nodiscard]] TensorShape batch() const;
  [[nodiscard]] TensorShape y() const;

  /// Shapes of operands are those in memory: with trans_a the last two dimensions of a are exchanged.
  [[nodiscard]] Operands operands() const;

  /// ONNX MatMul (numpy.matmul): M N K multiply-adds for each batch entry.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// Which input of a node is what. An index is 0 if a's zero point is computed at run time, or if there is no addend.
  struct Inputs {
    std::size_t b = 1, a_zero = 2, b_zero = 3, c = 0;
  };
  [[nodiscard]] static Inputs inputs_of(std::string_view op);

  /// FusedMatMul: in memory the rows may come before the batch. A stride between rows makes up for that.
  [[nodiscard]] static detail::Dims batch_first(const Node& node, std::string_view key, detail::Dims dims);

  /// Reads weights of 2, 4 or 8 bits, packed in blocks. With accuracy level 4 the other operand is rounded to 8 bits
  /// too.
  [[nodiscard]] static std::optional<MatMul> from_packed(const Node& node, const Graph& graph);

  /// Equal products become equal layers: dimensions are logical, and `transposed` is the order in memory.
  [[nodiscard]] static std::optional<MatMul> canonical(const Value& a_value, detail::Dims a_dims, bool a_transposed,
                                                       const Value& b_value, detail::Dims b_dims, bool b_transposed);

  /// Reads C of Gemm as a step of the epilogue: a bias if it is a constant row, a tensor of the result's shape, or one
  /// that broadcasts to it.
  [[nodiscard]] static std::optional<PostOp> addend(const Value& c, const TensorShape& y);

  /// Reads an Einsum whose letters are batch, rows, depth and columns, each a run in the same order wherever it occurs.
  /// In the result the batch comes first, and rows come before columns: `bhid,bhjd->bhij`.
  [[nodiscard]] static std::optional<MatMul> from_einsum(const Node& node, const Graph& graph);
};

/// Einsum of one or two tensors that is not a plain matrix product. Labels are small integers, one for each index
/// letter.
struct Einsum {
  static constexpr std::string_view kind = "Einsum";
  static constexpr Family family = Family::product;
  static constexpr std::array<std::string_view, 1> onnx_types{"Einsum"};
  DataType type = DataType::f32;
  TensorShape a{};
  TensorShape b{};         ///< rank 0 without labels: there is only one operand
  TensorShape a_labels{};  ///< one for each axis of a
  TensorShape b_labels{};
  TensorShape y_labels{};  ///< of the result; a label that is missing here is summed over
  bool two_operands = true;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("a", self.a);
    visit("b", self.b);
    visit("a_labels", self.a_labels);
    visit("b_labels", self.b_labels);
    visit("y_labels", self.y_labels);
    visit("two_operands", self.two_operands);
  }
  constexpr bool operator==(const Einsum&) const = default;

  [[nodiscard]] static std::optional<Einsum> from(const Node& node, const Graph& graph);

  [[nodiscard]] std::int64_t extent(std::int64_t label) const;
  [[nodiscard]] TensorShape y() const;
  [[nodiscard]] Operands operands() const;

  /// ONNX Einsum. Labels that occur in one operand only and not in the result are summed first: one addition for each
  /// element of that operand. Then there is one multiply-add for each point of the space of the remaining labels, or
  /// one multiplication if nothing is left to sum.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// The size of a label in one operand, 1 if it is absent or broadcasts.
  [[nodiscard]] static std::int64_t size_in(const TensorShape& shape, const TensorShape& labels, std::int64_t label);
  /// An operand in which a label occurs twice is read along the diagonal.
  [[nodiscard]] static std::optional<std::int64_t> touched(const TensorShape& shape, const TensorShape& labels);
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/product_inl.hpp>
#endif
