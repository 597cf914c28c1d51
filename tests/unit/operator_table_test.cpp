// SPDX-License-Identifier: Apache-2.0
// The table of operators in docs/operators.md agrees with the list in the code.
#include "support/catch.hpp"
#include <benanza/model/layer.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace benanza;

template <class Op>
std::string row() {
  std::string text = "| " + std::string(Op::kind) + " |";
  std::string separator = " ";
  for (const auto type : Op::onnx_types) {
    text += separator + std::string(type);
    separator = ", ";
  }
  return text + " |\n";
}

/// The last operator stands for everything that no other one describes.
template <std::size_t... I>
std::string rows(std::index_sequence<I...>) {
  return (row<std::variant_alternative_t<I, Layer>>() + ...);
}

}  // namespace

TEST_CASE("docs/operators.md lists every operator with the ONNX types that it describes") {
  const std::string table = rows(std::make_index_sequence<std::variant_size_v<Layer> - 1>());
  std::stringstream document;
  document << std::ifstream(std::filesystem::path(BENANZA_MODELS) / ".." / ".." / "docs" / "operators.md").rdbuf();
  INFO("expected\n" << table);
  CHECK(document.str().find(table) != std::string::npos);
}

TEST_CASE("Families and transparency say which operators are products and which only move elements") {
  std::set<std::string_view> products, movements;
  for_each_operator([&]<class Op>(std::type_identity<Op>) {
    if (is_product(Op{})) products.insert(Op::kind);
    if (is_movement(Op{})) movements.insert(Op::kind);
  });
  CHECK(products == std::set<std::string_view>{"Attention", "Conv", "ConvGradient", "ConvTranspose", "DeformConv",
                                               "Einsum", "MatMul", "Recurrent", "RecurrentGradient"});
  CHECK(movements == std::set<std::string_view>{"Concat", "Expand", "Slice", "Split", "Transpose", "View"});
}
