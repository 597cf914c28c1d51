// SPDX-License-Identifier: Apache-2.0
#include "lt_epilogue.hpp"
#include "plan/transpose_matrices.hpp"
#include "plans.hpp"
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace benanza::cublas {

namespace {

/// cuBLASLt lists the best results first; later ones are slower members of the same families.
constexpr int most_results = 32;

template <class Handle>
using Owned = std::shared_ptr<std::remove_pointer_t<Handle>>;

/// Descriptors of one product; the bias's pointer is set for each call.
struct Descriptors {
  Owned<cublasLtMatmulDesc_t> product{};
  Owned<cublasLtMatrixLayout_t> first{}, second{}, addend{}, result{};
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

/// With `fast`, sums of f8 are rounded more often.
Descriptors describe(const Problem& p, const LtEpilogue& epilogue, bool fast) {
  cublasLtMatmulDesc_t raw = nullptr;
  check(calls().cublasLtMatmulDescCreate(&raw, p.arithmetic.compute, p.arithmetic.scale), "cublasLtMatmulDescCreate");
  Descriptors result;
  result.product = Owned<cublasLtMatmulDesc_t>(
      raw, [](cublasLtMatmulDesc_t d) { static_cast<void>(calls().cublasLtMatmulDescDestroy(d)); });
  set(result.product, CUBLASLT_MATMUL_DESC_TRANSA, p.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(result.product, CUBLASLT_MATMUL_DESC_TRANSB, p.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(result.product, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue.kind);
  if (fast) set(result.product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  if (epilogue.bias) set(result.product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, p.arithmetic.bias);
  const cudaDataType_t type = p.arithmetic.stored;
  result.first = layout(type, p.ldb, p.trans_b ? p.n : p.k, p.ldb, p.batch, p.stride_b);
  result.second = layout(type, p.lda, p.trans_a ? p.k : p.m, p.lda, p.batch, p.stride_a);
  result.addend = layout(p.arithmetic.addend, p.n, p.m, p.n, p.batch, p.stride_y);
  result.result = layout(p.arithmetic.result, p.n, p.m, p.n, p.batch, p.stride_y);
  return result;
}

/// What identifies an algorithm: its number and configuration.
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
    std::uint32_t value = 0;  // two of them have 16 bits; the remaining bits stay zero
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

/// A factor in the type that cuBLASLt reads it in.
class Factor {
 public:
  Factor(cudaDataType_t type, double value) {
    switch (type) {
      case CUDA_R_64F: value_ = value; break;
      case CUDA_R_32I: value_ = static_cast<std::int32_t>(value); break;
      default: value_ = static_cast<float>(value);
    }
  }
  [[nodiscard]] const void* get() const {
    return std::visit([](const auto& value) { return static_cast<const void*>(&value); }, value_);
  }

 private:
  std::variant<float, double, std::int32_t> value_;
};

/// How the matrices of input `i` are transposed.
Turned turned(const Problem& problem, const LtEpilogue& epilogue, std::size_t i) {
  return i == problem.input_a   ? problem.turned_a
         : i == problem.input_b ? problem.turned_b
         : i == epilogue.c      ? problem.turned_y
                                : Turned{};
}

/// The type to which a bias of narrow operands is converted, since it is added after the factor. Empty if the bias is
/// added without conversion.
std::optional<DataType> converted_bias(const Arithmetic& arithmetic) {
  if (!arithmetic.narrow) return std::nullopt;
  return arithmetic.bias == CUDA_R_16BF ? DataType::bf16 : DataType::f32;
}

void lay_out(Layout& layout, const Turned& how, const Operand& operand) {
  layout.name = how.layout;
  layout.order =
      transposed_order(operand.elements() / std::max<std::int64_t>(1, how.rows * how.columns), how.rows, how.columns);
}

std::vector<Layout> input_layouts(const Problem& problem, const LtEpilogue& epilogue, const Operands& operands) {
  std::vector<Layout> result = plain_layouts(operands.inputs);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (const Turned how = turned(problem, epilogue, i)) lay_out(result[i], how, operands.inputs[i]);
  if (const auto type = converted_bias(problem.arithmetic); type && epilogue.bias) {
    const auto bytes = static_cast<std::size_t>(operands.inputs[*epilogue.bias].elements() * bits(*type) / 8);
    result.at(*epilogue.bias) = {.name = std::string("as_") + std::string(name(*type)), .bytes = bytes};
  }
  return result;
}

std::vector<Layout> output_layouts(const Problem& problem, const Operands& operands) {
  std::vector<Layout> result = plain_layouts(operands.outputs);
  if (problem.turned_y) lay_out(result[0], problem.turned_y, operands.outputs[0]);
  return result;
}

/// Transposes the operand's matrices of rows x columns.
void turn(const Operand& operand, std::int64_t rows, std::int64_t columns, const void* from, void* to) {
  transpose_matrices(from, to, operand.elements() / (rows * columns), rows, columns,
                     static_cast<std::size_t>(bits(operand.type)) / 8);
}

class LtPlan final : public Plan {
 public:
  LtPlan(const Problem& problem, LtEpilogue epilogue, Descriptors described,
         const cublasLtMatmulHeuristicResult_t& found, std::string algorithm, bool advised, const Operands& operands,
         std::shared_ptr<const Handles> handles)
      : Plan({.algorithm = std::move(algorithm) + ",threads=1",
              .inputs = input_layouts(problem, epilogue, operands),
              .outputs = output_layouts(problem, operands),
              .workspace_bytes = found.workspaceSize,
              .advised = advised,
              .tolerance = problem.arithmetic.tolerance}),
        problem_(problem),
        operands_(operands),
        alpha_(problem.arithmetic.scale, problem.factor),
        beta_(problem.arithmetic.scale, epilogue.c ? 1 : 0),
        epilogue_(std::move(epilogue)),
        described_(std::move(described)),
        algorithm_(found.algo),
        handles_(std::move(handles)) {}

 private:
  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    const Operand& operand = operands_.inputs.at(i);
    if (const Turned how = turned(problem_, epilogue_, i)) {
      turn(operand, how.rows, how.columns, plain, packed);
    } else if (const auto type = converted_bias(problem_.arithmetic); type && i == epilogue_.bias) {
      for (std::int64_t e = 0; e < operand.elements(); ++e)
        store(packed, *type, e, problem_.factor * load(plain, operand.type, e));
    } else {
      std::memcpy(packed, plain, inputs().at(i).bytes);
    }
  }
  void do_unpack_output(std::size_t i, const void* packed, void* plain) const override {
    if (const Turned how = problem_.turned_y) turn(operands_.outputs.at(i), how.columns, how.rows, packed, plain);
    else std::memcpy(plain, packed, outputs().at(i).bytes);
  }
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t, std::int64_t index) const override {
    const Turned how = problem_.turned_y;
    return how ? transposed_index(index, how.rows, how.columns) : index;
  }

  void do_execute(const Arguments& arguments) const override {
    if (epilogue_.bias) set(described_.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, arguments.inputs[*epilogue_.bias]);
    // Without an addend, c is not read. The result is passed in its place, or null if the addend's type differs.
    const void* const c = epilogue_.c                                                ? arguments.inputs[*epilogue_.c]
                          : problem_.arithmetic.addend == problem_.arithmetic.result ? arguments.outputs[0]
                                                                                     : nullptr;
    check(calls().cublasLtMatmul(handles_->lt(), described_.product.get(), alpha_.get(),
                                 arguments.inputs[problem_.input_b], described_.first.get(),
                                 arguments.inputs[problem_.input_a], described_.second.get(), beta_.get(), c,
                                 described_.addend.get(), arguments.outputs[0], described_.result.get(), &algorithm_,
                                 arguments.workspace, workspace_bytes(), handles_->stream()),
          "cublasLtMatmul");
  }

  Problem problem_;
  Operands operands_;
  Factor alpha_, beta_;
  LtEpilogue epilogue_;
  Descriptors described_;
  cublasLtMatmulAlgo_t algorithm_;
  std::shared_ptr<const Handles> handles_;
};

Owned<cublasLtMatmulPreference_t> preference(const Arithmetic& arithmetic) {
  cublasLtMatmulPreference_t raw = nullptr;
  check(calls().cublasLtMatmulPreferenceCreate(&raw), "cublasLtMatmulPreferenceCreate");
  Owned<cublasLtMatmulPreference_t> result(
      raw, [](cublasLtMatmulPreference_t p) { static_cast<void>(calls().cublasLtMatmulPreferenceDestroy(p)); });
  const std::size_t most = workspace_bytes;
  check(calls().cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most),
        "cublasLtMatmulPreferenceSetAttribute");
  // Buffers start at multiples of 64 bytes, so kernels may rely on that alignment.
  constexpr std::uint32_t alignment = 64;
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    check(calls().cublasLtMatmulPreferenceSetAttribute(raw, attribute, &alignment, sizeof alignment),
          "cublasLtMatmulPreferenceSetAttribute");
  // Partial sums of a product that is split along k are added in the type of the arithmetic, never in a narrower result
  // type.
  const bool wide =
      arithmetic.result == CUDA_R_32F || arithmetic.result == CUDA_R_64F || arithmetic.result == CUDA_R_32I;
  const std::uint32_t reduction =
      wide ? CUBLASLT_REDUCTION_SCHEME_MASK : CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  check(calls().cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reduction,
                                                     sizeof reduction),
        "cublasLtMatmulPreferenceSetAttribute");
  return result;
}

}  // namespace

std::optional<std::string> add_lt_plans(const Problem& problem, const Epilogue& post, const Operands& operands,
                                        const std::shared_ptr<const Handles>& handles, Plans& plans) {
  if (!problem.offsets.empty()) return "cuBLASLt takes strided batches only";
  const auto made = lt_epilogue(post, 2);
  if (const auto* refused = std::get_if<std::string>(&made)) return *refused;
  const auto& epilogue = std::get<LtEpilogue>(made);
  const Arithmetic& how = problem.arithmetic;
  if (epilogue.c && how.addend != how.stored) return "cuBLASLt adds no operand of this type to a product of f8";
  if (epilogue.bias && problem.factor != 1 && !(post[0] == bias))
    return "a bias after other steps is not scaled as this product is";
  if (how.scale == CUDA_R_32I && !post.empty()) return "cuBLASLt has no epilogue for sums of integers";
  const auto wanted = preference(how);

  std::vector<std::string> names;
  for (const bool fast : {false, true}) {
    if (fast && how.stored != CUDA_R_8F_E4M3) continue;
    const Descriptors described = describe(problem, epilogue, fast);
    std::array<cublasLtMatmulHeuristicResult_t, most_results> results{};
    int count = 0;
    const cublasStatus_t status = calls().cublasLtMatmulAlgoGetHeuristic(
        handles->lt(), described.product.get(), described.first.get(), described.second.get(), described.addend.get(),
        described.result.get(), wanted.get(), most_results, results.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (how.narrow && status != CUBLAS_STATUS_SUCCESS)) continue;
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    for (int i = 0; i < count; ++i) {
      const auto& found = results[static_cast<std::size_t>(i)];
      if (found.state != CUBLAS_STATUS_SUCCESS) continue;
      std::string name = name_of(found.algo);
      name.insert(2, (fast ? ":fast" : "") + epilogue.name);
      if (problem.turned_y) name += std::string(",layout=") + problem.turned_y.layout;
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      names.push_back(name);
      plans.push_back(std::make_unique<LtPlan>(problem, epilogue, describe(problem, epilogue, fast), found, name,
                                               names.size() == 1, operands, handles));
    }
  }
  if (names.empty()) return "cuBLASLt has no algorithm for this product";
  return std::nullopt;
}

}  // namespace benanza::cublas
