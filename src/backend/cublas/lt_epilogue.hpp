// SPDX-License-Identifier: Apache-2.0
// LtEpilogue: what cuBLASLt does after a product.
#pragma once

#include <benanza/model/epilogue.hpp>

#include <cublasLt.h>

#include <optional>
#include <string>
#include <variant>

namespace benanza::cublas {

/// What cuBLASLt's epilogues can do: y = activation(a b + c + bias).
struct LtEpilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  std::optional<std::size_t> bias{}, c{};  ///< numbers of inputs
  std::string name{};
};

/// `operand` is the number of the first input that the steps read. Or which step there is none for.
[[nodiscard]] std::variant<LtEpilogue, std::string> lt_epilogue(const Epilogue& post, std::size_t operand);

}  // namespace benanza::cublas
