// Matrix product with its epilogue by cuBLASLt: every algorithm that its heuristic lists on this device. Row-major:
// cuBLASLt counts columns first, so it computes y' = b' a', with b as its first operand.
#include "device.hpp"

#include <cublasLt.h>

#define CHECK_LT(call)                                                         \
  do {                                                                         \
    if (const cublasStatus_t status = (call); status != CUBLAS_STATUS_SUCCESS) \
      failed(#call, cublasLtGetStatusString(status));                          \
  } while (false)

namespace {

struct Product {
  const char* signature;
  Work work;
  cudaDataType_t type, y_type;       // types of both operands and of the result
  cudaDataType_t c_type, bias_type;  // types of the tensor that is added and of the bias
  cublasComputeType_t compute;       // CUBLAS_COMPUTE_32F: f32 is not rounded to tf32
  cudaDataType_t scale;              // type of alpha and beta
  double alpha = 1;
  int m, n, k, batch;
  std::int64_t stride_a, stride_b;  // from one entry of the batch to the next, in elements; 0: the same one
  bool trans_a = false, trans_b = false;
  bool constant_a = false, constant_b = false;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  bool has_bias = false, has_c = false;
  const char* name = "lt";  // name of the plans, without what the algorithms add
  const char* layout = "";  // nhwc: the product of a convolution with channels last
};

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
constexpr int most_results = 32;

cublasLtHandle_t lt() {
  static const cublasLtHandle_t made = [] {
    cublasLtHandle_t result = nullptr;
    CHECK_LT(cublasLtCreate(&result));
    const std::size_t version = cublasLtGetVersion();  // 130100 is 13.1.0
    name_library("cublas", std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
                               std::to_string(version % 100));
    return result;
  }();
  return made;
}

template <class Descriptor>
using Owned = std::shared_ptr<std::remove_pointer_t<Descriptor>>;

Owned<cublasLtMatrixLayout_t> layout(cudaDataType_t type, int rows, int columns, int batch, std::int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  CHECK_LT(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), rows));
  Owned<cublasLtMatrixLayout_t> result(
      made, [](cublasLtMatrixLayout_t l) { static_cast<void>(cublasLtMatrixLayoutDestroy(l)); });
  if (batch > 1) {
    CHECK_LT(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
    CHECK_LT(
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
  }
  return result;
}

template <class Value>
void set(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  CHECK_LT(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value));
}

struct Problem {
  Owned<cublasLtMatmulDesc_t> product{};
  Owned<cublasLtMatrixLayout_t> first{}, second{}, addend{}, result{};
};

/// `fast`: sums of f8 are rounded more often.
Problem describe(const Product& layer, bool fast) {
  cublasLtMatmulDesc_t made = nullptr;
  CHECK_LT(cublasLtMatmulDescCreate(&made, layer.compute, layer.scale));
  Problem problem;
  problem.product = Owned<cublasLtMatmulDesc_t>(
      made, [](cublasLtMatmulDesc_t d) { static_cast<void>(cublasLtMatmulDescDestroy(d)); });
  set(made, CUBLASLT_MATMUL_DESC_TRANSA, layer.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_TRANSB, layer.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, layer.epilogue);
  if (fast) set(made, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  if (layer.has_bias) set(made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, layer.bias_type);
  const std::int64_t stride_y = std::int64_t{layer.m} * layer.n;
  problem.first = layer.trans_b ? layout(layer.type, layer.k, layer.n, layer.batch, layer.stride_b)
                                : layout(layer.type, layer.n, layer.k, layer.batch, layer.stride_b);
  problem.second = layer.trans_a ? layout(layer.type, layer.m, layer.k, layer.batch, layer.stride_a)
                                 : layout(layer.type, layer.k, layer.m, layer.batch, layer.stride_a);
  problem.addend = layout(layer.c_type, layer.n, layer.m, layer.batch, stride_y);
  problem.result = layout(layer.y_type, layer.n, layer.m, layer.batch, stride_y);
  return problem;
}

/// What makes an algorithm again: its number and configuration. What is 0 is not named.
std::string name_of(const cublasLtMatmulAlgo_t& algorithm) {
  constexpr std::pair<cublasLtMatmulAlgoConfigAttributes_t, const char*> keys[] = {
      {CUBLASLT_ALGO_CONFIG_ID, "id"},
      {CUBLASLT_ALGO_CONFIG_TILE_ID, "tile"},
      {CUBLASLT_ALGO_CONFIG_STAGES_ID, "stages"},
      {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "splitk"},
      {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, "reduction"},
      {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, "swizzle"},
      {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, "custom"},
      {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, "inner"},
      {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, "cluster"}};
  std::string text;
  for (const auto& [attribute, key] : keys) {
    std::uint32_t value = 0;  // two of them have 16 bits
    std::size_t written = 0;
    if (cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written) !=
            CUBLAS_STATUS_SUCCESS &&
        cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof(std::uint16_t), &written) !=
            CUBLAS_STATUS_SUCCESS)
      continue;
    if (value != 0) text += std::string(",") + key + "=" + std::to_string(value);
  }
  return text;
}

/// The algorithms that cuBLASLt lists, the one that it recommends first; why there are none where the list is empty.
std::vector<cublasLtMatmulHeuristicResult_t> listed(const Problem& problem, std::string& reason) {
  cublasLtMatmulPreference_t made = nullptr;
  CHECK_LT(cublasLtMatmulPreferenceCreate(&made));
  const Owned<cublasLtMatmulPreference_t> preference(
      made, [](cublasLtMatmulPreference_t p) { static_cast<void>(cublasLtMatmulPreferenceDestroy(p)); });
  CHECK_LT(cublasLtMatmulPreferenceSetAttribute(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                                sizeof workspace_bytes));
  constexpr std::uint32_t alignment = 64;  // what kernels may count on
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    CHECK_LT(cublasLtMatmulPreferenceSetAttribute(made, attribute, &alignment, sizeof alignment));
  std::vector<cublasLtMatmulHeuristicResult_t> found(most_results);
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      lt(), problem.product.get(), problem.first.get(), problem.second.get(), problem.addend.get(),
      problem.result.get(), made, most_results, found.data(), &count);
  if (status != CUBLAS_STATUS_SUCCESS)
    reason = std::string("cublasLtMatmulAlgoGetHeuristic: ") + cublasLtGetStatusString(status);
  found.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
  found.erase(
      std::remove_if(found.begin(), found.end(), [](const auto& one) { return one.state != CUBLAS_STATUS_SUCCESS; }),
      found.end());
  return found;
}

/// A number in the type of the factors.
struct Factor {
  Factor(cudaDataType_t type, double value) {
    const float narrow = static_cast<float>(value);
    const auto whole = static_cast<std::int32_t>(value);
    if (type == CUDA_R_64F) std::memcpy(bytes, &value, sizeof value);
    else if (type == CUDA_R_32I) std::memcpy(bytes, &whole, sizeof whole);
    else std::memcpy(bytes, &narrow, sizeof narrow);
  }
  alignas(8) char bytes[8]{};
};

Ready prepare(const Product& layer, bool fast, const cublasLtMatmulHeuristicResult_t& chosen, Cache cache) {
  const Problem problem = describe(layer, fast);
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::int64_t m = layer.m, n = layer.n, k = layer.k, last = layer.batch - 1;
  const std::size_t a = buffers->add(elements(layer.type, layer.stride_a * last + m * k), layer.constant_a),
                    b = buffers->add(elements(layer.type, layer.stride_b * last + k * n), layer.constant_b),
                    y = buffers->add(elements(layer.y_type, layer.batch * m * n), false),
                    c = layer.has_c ? buffers->add(elements(layer.c_type, layer.batch * m * n), false) : y,
                    bias = layer.has_bias ? buffers->add(elements(layer.bias_type, n), true) : y;
  buffers->spread();
  const Memory workspace(chosen.workspaceSize);
  const Factor alpha(layer.scale, layer.alpha), beta(layer.scale, layer.has_c ? 1 : 0);
  const bool reads_c = layer.has_c || layer.c_type == layer.y_type;  // what is not added is not read, but has its type
  return {.call =
              [=](std::size_t copy) {
                // The one descriptor that depends on where the operands are.
                if (layer.has_bias)
                  set<const void*>(problem.product.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, buffers->at(bias, copy));
                CHECK_LT(cublasLtMatmul(lt(), problem.product.get(), alpha.bytes, buffers->at(b, copy),
                                        problem.first.get(), buffers->at(a, copy), problem.second.get(), beta.bytes,
                                        reads_c ? buffers->at(c, copy) : nullptr, problem.addend.get(),
                                        buffers->at(y, copy), problem.result.get(), &chosen.algo, workspace.get(),
                                        chosen.workspaceSize, stream()));
              },
          .copies = buffers->copies()};
}

constexpr Product products[] = {
    // @rows@
};

}  // namespace

void add_cublaslt_product() {
  static_cast<void>(lt());
  for (const Product& layer : products) {
    std::set<std::string> names;
    std::string reason = "cuBLASLt lists no algorithm";
    for (const bool fast : {false, true}) {
      if (fast && layer.type != CUDA_R_8F_E4M3) continue;
      for (const auto& found : listed(describe(layer, fast), reason)) {
        const std::string epilogue = std::string(layer.name).substr(2);
        std::string plan = std::string("cublas/lt") + (fast ? ":fast" : "") + epilogue + name_of(found.algo);
        if (*layer.layout != '\0') plan += std::string(",layout=") + layer.layout;
        plan += ",threads=1";
        if (!names.insert(plan).second) continue;
        add_row(plan, layer.signature, layer.work, layer.constant_a || layer.constant_b,
                [=](Cache cache) { return prepare(layer, fast, found, cache); });
      }
    }
    if (names.empty()) add_refusal("cublas/lt:none,threads=1", layer.signature, "not offered: " + reason);
  }
}
