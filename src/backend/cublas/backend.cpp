// SPDX-License-Identifier: Apache-2.0
#include "plans.hpp"
#include <benanza/backend/cublas.hpp>
#include <benanza/backend/cuda.hpp>
#include <benanza/plan/backend.hpp>

#include <mutex>

namespace benanza::cublas {

namespace {

class CublasBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "cublas"; }
  [[nodiscard]] std::string version() const override { return cublas::version(); }
  [[nodiscard]] std::variant<std::monostate, Unsupported> availability() const override {
    if (auto state = cuda::availability(); std::holds_alternative<Unsupported>(state)) return state;
    if (const auto* reason = std::get_if<std::string>(&library())) return Unsupported{*reason};
    return {};
  }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::shared_ptr<Device> device() const override { return device_.get(); }

  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int) const override {
    if (auto state = availability(); auto* why = std::get_if<Unsupported>(&state)) return *why;
    if (const auto* product = std::get_if<op::MatMul>(&layer)) return plans_of(describe(*product), {}, layer);
    if (const auto* conv = std::get_if<op::Conv>(&layer))
      return plans_of(describe(*conv), describe_channels_last(*conv), layer);
    if (const auto* attention = std::get_if<op::Attention>(&layer))
      return attention_plans(*attention, operands(layer), handles());
    return Unsupported{"no " + std::string(kind(layer)) + " in cuBLAS"};
  }

 private:
  /// `lt` is another form of the layer that only cuBLASLt takes.
  [[nodiscard]] std::variant<Plans, Unsupported> plans_of(const Described& described,
                                                          const std::optional<Described>& lt,
                                                          const Layer& layer) const {
    const Epilogue& post = *epilogue(layer);
    const Operands shapes = operands(layer);
    Plans plans;
    std::string refused;
    const auto add_lt = [&](const Described& form) {
      if (const auto* why = std::get_if<std::string>(&form)) {
        refused = *why;
        return;
      }
      try {
        refused = add_lt_plans(std::get<Problem>(form), post, shapes, handles(), plans).value_or("");
      } catch (const DeviceLost&) {
        throw;
      } catch (const EnvironmentError& failed) {  // the existing plans remain
        refused = failed.what();
      }
    };
    if (const auto* problem = std::get_if<Problem>(&described); problem && post.empty() && !problem->arithmetic.narrow)
      add_blas_plans(*problem, shapes, handles(), plans);
    add_lt(described);
    if (lt) add_lt(*lt);
    if (plans.empty()) return Unsupported{refused};
    return plans;
  }

  /// Created with the first plan.
  [[nodiscard]] std::shared_ptr<const Handles> handles() const {
    const std::lock_guard lock(mutex_);
    if (handles_ == nullptr) handles_ = std::make_shared<const Handles>(device_.get());
    return handles_;
  }

  cuda::DeviceShare device_{};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Handles> handles_;
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<const CublasBackend>(); }

}  // namespace benanza::cublas
