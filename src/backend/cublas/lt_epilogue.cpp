// SPDX-License-Identifier: Apache-2.0
#include "lt_epilogue.hpp"

namespace benanza::cublas {

std::variant<LtEpilogue, std::string> lt_epilogue(const Epilogue& post, std::size_t operand) {
  LtEpilogue result;
  bool relu = false, gelu = false;
  for (const auto& step : post) {
    const std::string refused =
        "no epilogue of cuBLASLt does this: " + std::string(enum_names(step.fn)[static_cast<std::size_t>(step.fn)]) +
        " after the steps before it";
    if (relu || gelu) return refused;
    if (step == bias && !result.bias) {
      result.bias = operand++;
      result.name += ":bias";
    } else if (step.fn == ElementwiseFn::add && !step.channel && step.shape.empty() && !result.c) {
      result.c = operand++;
      result.name += ":add";
    } else if (step.fn == ElementwiseFn::relu) {
      relu = true;
      result.name += ":relu";
    } else if (step.fn == ElementwiseFn::gelu_tanh) {  // CUBLASLT_EPILOGUE_GELU; exact GELU differs by up to 5e-4
      gelu = true;
      result.name += ":gelu";
    } else {
      return refused;
    }
  }
  if (relu) result.kind = result.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  else if (gelu) result.kind = result.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  else if (result.bias) result.kind = CUBLASLT_EPILOGUE_BIAS;
  return result;
}

}  // namespace benanza::cublas
