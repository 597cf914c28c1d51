// SPDX-License-Identifier: Apache-2.0
// LtEpilogue: the operations that cuBLASLt applies after a product.
#pragma once

#include <benanza/model/epilogue.hpp>

#include <cublasLt.h>

#include <optional>
#include <string>
#include <variant>

namespace benanza::cublas {

/// The form that cuBLASLt's epilogues support: y = activation(a b + c + bias).
struct LtEpilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  std::optional<std::size_t> bias{}, c{};  ///< input numbers
  std::string name{};
};

/// `operand` is the number of the first input that the steps read. Returns the reason if a step is not supported.
[[nodiscard]] std::variant<LtEpilogue, std::string> lt_epilogue(const Epilogue& post, std::size_t operand);

}  // namespace benanza::cublas
