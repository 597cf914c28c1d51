// SPDX-License-Identifier: Apache-2.0
#include "plan/batch_offset.hpp"
#include <benanza/backend/openblas.hpp>
#include <benanza/plan/backend.hpp>

#include <cblas.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

namespace benanza::openblas {
namespace {

/// One product of the batch: where its operands begin, in elements.
struct Offsets {
  std::int64_t a = 0, b = 0, y = 0;
};

/// y = a b for each entry of a batch. `lda` and `ldb` are the lengths of the stored rows.
struct Problem {
  blasint m = 0, n = 0, k = 0, lda = 0, ldb = 0;
  CBLAS_TRANSPOSE trans_a = CblasNoTrans, trans_b = CblasNoTrans;
  std::vector<Offsets> batch{};
};

/// BLAS by element type.
template <class T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr auto gemm = cblas_sgemm;
  static constexpr auto gemv = cblas_sgemv;
};
template <>
struct Blas<double> {
  static constexpr auto gemm = cblas_dgemm;
  static constexpr auto gemv = cblas_dgemv;
};

template <class T>
class ProductPlan final : public Plan {
 public:
  ProductPlan(Problem problem, bool vector, const Operands& operands, int threads)
      : Plan({.algorithm = std::string(vector ? "gemv" : "gemm") + ",threads=" + std::to_string(threads),
              .threads = threads,
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs)}),
        problem_(std::move(problem)),
        vector_(vector) {}

 private:
  void do_execute(const Arguments& arguments) const override {
    openblas_set_num_threads(threads());
    const auto* const a = static_cast<const T*>(arguments.inputs[0]);
    const auto* const b = static_cast<const T*>(arguments.inputs[1]);
    auto* const y = static_cast<T*>(arguments.outputs[0]);
    const Problem& p = problem_;
    for (const auto& at : p.batch) {
      if (!vector_) {
        Blas<T>::gemm(CblasRowMajor, p.trans_a, p.trans_b, p.m, p.n, p.k, 1, a + at.a, p.lda, b + at.b, p.ldb, 0,
                      y + at.y, p.n);
      } else if (p.n == 1) {
        const bool stored_transposed = p.trans_a == CblasTrans;
        Blas<T>::gemv(CblasRowMajor, p.trans_a, stored_transposed ? p.k : p.m, stored_transposed ? p.m : p.k, 1,
                      a + at.a, p.lda, b + at.b, 1, 0, y + at.y, 1);
      } else {  // y' = b' a'
        const bool stored_transposed = p.trans_b == CblasTrans;
        Blas<T>::gemv(CblasRowMajor, stored_transposed ? CblasNoTrans : CblasTrans, stored_transposed ? p.n : p.k,
                      stored_transposed ? p.k : p.n, 1, b + at.b, p.ldb, a + at.a, 1, 0, y + at.y, 1);
      }
    }
  }

  Problem problem_;
  bool vector_;
};

/// Empty if a dimension exceeds BLAS's integers.
std::optional<Problem> make_problem(const op::MatMul& op) {
  const auto fits = [](std::int64_t dim) { return dim <= std::numeric_limits<blasint>::max(); };
  if (!fits(op.m()) || !fits(op.n()) || !fits(op.k())) return std::nullopt;
  Problem problem{
      .m = static_cast<blasint>(op.m()), .n = static_cast<blasint>(op.n()), .k = static_cast<blasint>(op.k())};
  problem.lda = op.trans_a ? problem.m : problem.k;
  problem.ldb = op.trans_b ? problem.k : problem.n;
  if (op.trans_a) problem.trans_a = CblasTrans;
  if (op.trans_b) problem.trans_b = CblasTrans;
  const TensorShape batch = op.batch();
  const std::int64_t entries = element_count(batch);
  for (std::int64_t i = 0; i < entries; ++i)
    problem.batch.push_back({batch_offset(batch, i, op.a, op.m() * op.k()),
                             batch_offset(batch, i, op.b, op.k() * op.n()), i * op.m() * op.n()});
  return problem;
}

bool is_serial() { return openblas_get_parallel() == OPENBLAS_SEQUENTIAL; }

class OpenBlas final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "openblas"; }

  /// In "OpenBLAS 0.3.21 ...", the first word is the library and the second its version. With the processor whose
  /// kernels it uses, if a variable chose them, and with `serial` for a build without threads, which another path of
  /// libraries may bring.
  [[nodiscard]] std::string version() const override {
    const std::string config = openblas_get_config();
    const std::size_t begin = config.find(' ') + 1;
    const std::string version = config.substr(begin, config.find(' ', begin) - begin);
    const char* const chosen = std::getenv("OPENBLAS_CORETYPE");
    return version + (is_serial() ? " serial" : "") +
           (chosen == nullptr || *chosen == '\0' ? "" : " (" + std::string(openblas_get_corename()) + ")");
  }

  [[nodiscard]] std::variant<std::monostate, Unsupported> availability() const override {
    if (openblas_get_parallel() == OPENBLAS_OPENMP || is_serial()) return {};
    return Unsupported{
        "this OpenBLAS runs on threads of its own, which would spin beside those of other libraries: the build for "
        "OpenMP is needed"};
  }

  [[nodiscard]] bool uses_openmp() const override { return true; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    if (const auto state = availability(); std::holds_alternative<Unsupported>(state))
      return std::get<Unsupported>(state);
    const auto* const op = std::get_if<op::MatMul>(&layer);
    if (op == nullptr) return Unsupported{"no " + std::string(kind(layer)) + " in OpenBLAS"};
    if ((op->type != DataType::f32 && op->type != DataType::f64) || op->b_type.value_or(op->type) != op->type ||
        op->y_type.value_or(op->type) != op->type)
      return Unsupported{"backend openblas runs f32 and f64 only"};
    if (!op->post.empty()) return Unsupported{"no epilogue in OpenBLAS"};
    const auto problem = make_problem(*op);
    if (!problem) return Unsupported{"a dimension exceeds the integers of this OpenBLAS"};
    return op->type == DataType::f32 ? plans_of<float>(*op, *problem, threads)
                                     : plans_of<double>(*op, *problem, threads);
  }

 private:
  template <class T>
  static Plans plans_of(const op::MatMul& op, const Problem& problem, int threads) {
    const Operands shapes = op.operands();
    Plans plans;
    plans.push_back(std::make_unique<ProductPlan<T>>(problem, false, shapes, threads));
    if (op.m() == 1 || op.n() == 1) plans.push_back(std::make_unique<ProductPlan<T>>(problem, true, shapes, threads));
    return plans;
  }
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<const OpenBlas>(); }

}  // namespace benanza::openblas
