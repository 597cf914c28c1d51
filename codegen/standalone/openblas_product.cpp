// Matrix product, by OpenBLAS: one call for each entry of the batch.
#include "processor.hpp"

#include <cblas.h>

#include <cstdlib>

namespace {

struct Product {
  const char* signature;
  Work work;
  bool wide = false;  // double: cblas_dgemm; else float: cblas_sgemm
  int m, n, k, batch;
  std::int64_t stride_a, stride_b;  // from one entry of the batch to the next; 0: the same one
  bool trans_a = false, trans_b = false;
  bool constant_b = false;
};

template <class Element>
Ready product(const Product& layer, bool vector, int threads, Cache cache) {
  use_threads(threads);
  openblas_set_num_threads(threads);
  const auto buffers = std::make_shared<Buffers>(cache);
  const auto operand = [&](std::int64_t count, bool weights) {
    Numbers numbers;
    std::vector<Element> values(static_cast<std::size_t>(count));
    for (auto& value : values) value = static_cast<Element>(numbers.next());
    return buffers->add(values.data(), values.size() * sizeof(Element), weights);
  };
  const std::int64_t m = layer.m, n = layer.n, k = layer.k, last = layer.batch - 1;
  const std::size_t a = operand(layer.stride_a * last + m * k, false),
                    b = operand(layer.stride_b * last + k * n, layer.constant_b),
                    y = operand((last + 1) * m * n, false);
  buffers->spread();
  const auto how_a = layer.trans_a ? CblasTrans : CblasNoTrans, how_b = layer.trans_b ? CblasTrans : CblasNoTrans;
  const int lda = layer.trans_a ? layer.m : layer.k, ldb = layer.trans_b ? layer.k : layer.n;
  constexpr bool wide = sizeof(Element) == sizeof(double);
  return {.call =
              [=](std::size_t copy) {
                for (int i = 0; i < layer.batch; ++i) {
                  const auto* const at_a = static_cast<const Element*>(buffers->at(a, copy)) + i * layer.stride_a;
                  const auto* const at_b = static_cast<const Element*>(buffers->at(b, copy)) + i * layer.stride_b;
                  auto* const at_y = static_cast<Element*>(buffers->at(y, copy)) + i * m * n;
                  if (!vector) {
                    if constexpr (wide)
                      cblas_dgemm(CblasRowMajor, how_a, how_b, layer.m, layer.n, layer.k, 1, at_a, lda, at_b, ldb, 0,
                                  at_y, layer.n);
                    else
                      cblas_sgemm(CblasRowMajor, how_a, how_b, layer.m, layer.n, layer.k, 1, at_a, lda, at_b, ldb, 0,
                                  at_y, layer.n);
                    continue;
                  }
                  // b is a column, or a is a row and y' = b' a'.
                  const bool column = layer.n == 1, stored = column ? layer.trans_a : layer.trans_b;
                  const int inner = column ? lda : ldb,
                            outer = column ? (stored ? layer.k : layer.m) : (stored ? layer.n : layer.k);
                  const auto how = column == stored ? CblasTrans : CblasNoTrans;
                  if constexpr (wide)
                    cblas_dgemv(CblasRowMajor, how, outer, inner, 1, column ? at_a : at_b, inner, column ? at_b : at_a,
                                1, 0, at_y, 1);
                  else
                    cblas_sgemv(CblasRowMajor, how, outer, inner, 1, column ? at_a : at_b, inner, column ? at_b : at_a,
                                1, 0, at_y, 1);
                }
              },
          .copies = buffers->copies()};
}

constexpr Product products[] = {
    // @rows@
};

}  // namespace

void add_openblas_product() {
  const std::string config = openblas_get_config();  // OpenBLAS 0.3.21 ...
  const auto begin = config.find(' ') + 1;
  const char* const chosen = std::getenv("OPENBLAS_CORETYPE");
  name_library("openblas",
               config.substr(begin, config.find(' ', begin) - begin) +
                   (openblas_get_parallel() == OPENBLAS_SEQUENTIAL ? " serial" : "") +
                   (chosen == nullptr || *chosen == '\0' ? "" : std::string(" (") + openblas_get_corename() + ")"));
  if (openblas_get_parallel() != OPENBLAS_SEQUENTIAL &&
      openblas_get_parallel() != OPENBLAS_OPENMP) {  // threads of its own spin beside oneDNN's
    for (const Product& layer : products)
      add_refusal("openblas/none", layer.signature, "this OpenBLAS does not run on OpenMP's threads");
    return;
  }
  for (const Product& layer : products)
    for (const int threads : options().threads)
      for (const bool vector : {false, true}) {
        if (vector && layer.m != 1 && layer.n != 1) continue;
        const std::string plan =
            (vector ? "openblas/gemv,threads=" : "openblas/gemm,threads=") + std::to_string(threads);
        add_row(plan, layer.signature, layer.work, layer.constant_b, [=](Cache cache) {
          return layer.wide ? product<double>(layer, vector, threads, cache)
                            : product<float>(layer, vector, threads, cache);
        });
      }
}
