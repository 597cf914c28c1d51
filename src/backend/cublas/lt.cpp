// SPDX-License-Identifier: Apache-2.0
#include "plans.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace benanza::cublas {

namespace {

/// cuBLASLt lists the best first; those behind are slower ones of the same families.
constexpr int most_results = 32;

template <class Handle>
using Owned = std::shared_ptr<std::remove_pointer_t<Handle>>;

/// What cuBLASLt's epilogues can do: y = activation(a b + c + bias).
struct LtEpilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  std::optional<std::size_t> bias{}, c{};  ///< numbers of inputs
  std::string name{};
};

std::variant<LtEpilogue, std::string> lt_epilogue(const Epilogue& post, std::size_t operand) {
  LtEpilogue result;
  bool relu = false, gelu = false;
  for (const auto& step : post) {
    const std::string refused =
        "no epilogue of cuBLASLt does this: " + std::string(enum_names(step.fn)[static_cast<std::size_t>(step.fn)]) +
        " behind what comes before it";
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
    } else if (step.fn == ElementwiseFn::gelu || step.fn == ElementwiseFn::gelu_tanh) {
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

/// Descriptors of one product; the bias's pointer is set for each call.
struct Descriptors {
  Owned<cublasLtMatmulDesc_t> product{};
  Owned<cublasLtMatrixLayout_t> first{}, second{}, result{};
};

template <class Value>
void set(const Owned<cublasLtMatmulDesc_t>& product, cublasLtMatmulDescAttributes_t attribute, Value value) {
  check(calls().cublasLtMatmulDescSetAttribute(product.get(), attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}

Owned<cublasLtMatrixLayout_t> layout(cudaDataType_t type, int rows, int columns, int ld, int batch,
                                     std::int64_t stride) {
  cublasLtMatrixLayout_t raw = nullptr;
  check(calls().cublasLtMatrixLayoutCreate(&raw, type, static_cast<std::uint64_t>(rows),
                                           static_cast<std::uint64_t>(columns), ld),
        "cublasLtMatrixLayoutCreate");
  Owned<cublasLtMatrixLayout_t> result(
      raw, [](cublasLtMatrixLayout_t l) { static_cast<void>(calls().cublasLtMatrixLayoutDestroy(l)); });
  if (batch > 1) {
    check(calls().cublasLtMatrixLayoutSetAttribute(raw, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
          "cublasLtMatrixLayoutSetAttribute");
    check(calls().cublasLtMatrixLayoutSetAttribute(raw, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                   sizeof stride),
          "cublasLtMatrixLayoutSetAttribute");
  }
  return result;
}

Descriptors describe(const Problem& p, const LtEpilogue& epilogue) {
  cublasLtMatmulDesc_t raw = nullptr;
  check(calls().cublasLtMatmulDescCreate(&raw, p.arithmetic.compute, p.arithmetic.scale), "cublasLtMatmulDescCreate");
  Descriptors result;
  result.product = Owned<cublasLtMatmulDesc_t>(
      raw, [](cublasLtMatmulDesc_t d) { static_cast<void>(calls().cublasLtMatmulDescDestroy(d)); });
  set(result.product, CUBLASLT_MATMUL_DESC_TRANSA, p.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(result.product, CUBLASLT_MATMUL_DESC_TRANSB, p.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(result.product, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue.kind);
  if (epilogue.bias) set(result.product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, p.arithmetic.stored);
  const cudaDataType_t type = p.arithmetic.stored;
  result.first = layout(type, p.ldb, p.trans_b ? p.n : p.k, p.ldb, p.batch, p.stride_b);
  result.second = layout(type, p.lda, p.trans_a ? p.k : p.m, p.lda, p.batch, p.stride_a);
  result.result = layout(type, p.n, p.m, p.n, p.batch, p.stride_y);
  return result;
}

/// What makes an algorithm again: its number and configuration.
std::string name_of(const cublasLtMatmulAlgo_t& algorithm) {
  struct Key {
    cublasLtMatmulAlgoConfigAttributes_t attribute;
    const char* name;
  };
  constexpr std::array keys{Key{CUBLASLT_ALGO_CONFIG_ID, "id"},
                            Key{CUBLASLT_ALGO_CONFIG_TILE_ID, "tile"},
                            Key{CUBLASLT_ALGO_CONFIG_STAGES_ID, "stages"},
                            Key{CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "splitk"},
                            Key{CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, "reduction"},
                            Key{CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, "swizzle"},
                            Key{CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, "custom"},
                            Key{CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, "inner"},
                            Key{CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, "cluster"}};
  std::string text = "lt";
  for (const auto& key : keys) {
    std::uint32_t value = 0;  // two of them have 16 bits, the rest stays zero
    std::size_t written = 0;
    if (calls().cublasLtMatmulAlgoConfigGetAttribute(&algorithm, key.attribute, &value, sizeof value, &written) !=
            CUBLAS_STATUS_SUCCESS &&
        calls().cublasLtMatmulAlgoConfigGetAttribute(&algorithm, key.attribute, &value, sizeof(std::uint16_t),
                                                     &written) != CUBLAS_STATUS_SUCCESS)
      continue;
    if (value != 0) text += std::string(",") + key.name + "=" + std::to_string(value);
  }
  return text;
}

class LtPlan final : public Plan {
 public:
  LtPlan(const Problem& problem, LtEpilogue epilogue, Descriptors described,
         const cublasLtMatmulHeuristicResult_t& found, std::string algorithm, const Operands& operands,
         std::shared_ptr<const Handles> handles)
      : Plan({.algorithm = std::move(algorithm) + ",threads=1",
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs),
              .workspace_bytes = found.workspaceSize,
              .tolerance = problem.arithmetic.tolerance}),
        input_a_(problem.input_a),
        input_b_(problem.input_b),
        wide_(problem.arithmetic.scale == CUDA_R_64F),
        epilogue_(std::move(epilogue)),
        described_(std::move(described)),
        algorithm_(found.algo),
        handles_(std::move(handles)) {}

 private:
  void do_execute(const Arguments& arguments) const override {
    const float one = 1, beta = epilogue_.c ? 1 : 0;
    const double wide_one = 1, wide_beta = epilogue_.c ? 1 : 0;
    if (epilogue_.bias) set(described_.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, arguments.inputs[*epilogue_.bias]);
    const void* const c = epilogue_.c ? arguments.inputs[*epilogue_.c] : arguments.outputs[0];
    check(calls().cublasLtMatmul(
              handles_->lt(), described_.product.get(), wide_ ? static_cast<const void*>(&wide_one) : &one,
              arguments.inputs[input_b_], described_.first.get(), arguments.inputs[input_a_], described_.second.get(),
              wide_ ? static_cast<const void*>(&wide_beta) : &beta, c, described_.result.get(), arguments.outputs[0],
              described_.result.get(), &algorithm_, arguments.workspace, workspace_bytes(), handles_->stream()),
          "cublasLtMatmul");
  }

  std::size_t input_a_, input_b_;
  bool wide_;
  LtEpilogue epilogue_;
  Descriptors described_;
  cublasLtMatmulAlgo_t algorithm_;
  std::shared_ptr<const Handles> handles_;
};

}  // namespace

std::optional<std::string> add_lt_plans(const Problem& problem, const Epilogue& post, const Operands& operands,
                                        const std::shared_ptr<const Handles>& handles, Plans& plans) {
  if (!problem.offsets.empty()) return "cuBLASLt takes strided batches only";
  const auto made = lt_epilogue(post, 2);
  if (const auto* refused = std::get_if<std::string>(&made)) return *refused;
  const auto& epilogue = std::get<LtEpilogue>(made);
  const Descriptors described = describe(problem, epilogue);

  cublasLtMatmulPreference_t raw = nullptr;
  check(calls().cublasLtMatmulPreferenceCreate(&raw), "cublasLtMatmulPreferenceCreate");
  const Owned<cublasLtMatmulPreference_t> preference(
      raw, [](cublasLtMatmulPreference_t p) { static_cast<void>(calls().cublasLtMatmulPreferenceDestroy(p)); });
  const std::size_t most = workspace_bytes;
  check(calls().cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most),
        "cublasLtMatmulPreferenceSetAttribute");
  // Buffers start at multiples of 64 bytes, which is what kernels may count on here.
  constexpr std::uint32_t alignment = 64;
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    check(calls().cublasLtMatmulPreferenceSetAttribute(raw, attribute, &alignment, sizeof alignment),
          "cublasLtMatmulPreferenceSetAttribute");

  std::array<cublasLtMatmulHeuristicResult_t, most_results> results{};
  int count = 0;
  const cublasStatus_t status = calls().cublasLtMatmulAlgoGetHeuristic(
      handles->lt(), described.product.get(), described.first.get(), described.second.get(), described.result.get(),
      described.result.get(), raw, most_results, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0))
    return "cuBLASLt has no algorithm for this product";
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const auto& found = results[static_cast<std::size_t>(i)];
    if (found.state != CUBLAS_STATUS_SUCCESS) continue;
    std::string name = name_of(found.algo);
    if (!epilogue.name.empty()) name.insert(2, epilogue.name);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
    plans.push_back(
        std::make_unique<LtPlan>(problem, epilogue, describe(problem, epilogue), found, name, operands, handles));
  }
  return std::nullopt;
}

}  // namespace benanza::cublas
