// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "graphs.hpp"
#include <benanza/backend/cuda.hpp>
#include <benanza/backend/cudnn.hpp>
#include <benanza/plan/backend.hpp>

#include <mutex>
#include <type_traits>

namespace benanza::cudnn {

namespace {

class CudnnBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "cudnn"; }
  [[nodiscard]] std::string version() const override {
    const auto& library = Library::get();
    const auto* found = std::get_if<std::unique_ptr<const Library>>(&library);
    return found == nullptr ? "none" : (*found)->version();
  }
  [[nodiscard]] std::variant<std::monostate, Unsupported> availability() const override {
    if (auto state = cuda::availability(); std::holds_alternative<Unsupported>(state)) return state;
    if (const auto* reason = std::get_if<std::string>(&Library::get())) return Unsupported{*reason};
    return {};
  }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::shared_ptr<Device> device() const override { return device_.get(); }

  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    return build_all(drafts(layer, threads));
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts(const Layer& layer, int) const override {
    return drafts_of(layer, parameters_of(layer));
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts_with(const Layer& layer, int threads,
                                                                  const Parameters& numbers) const override {
    if (takes(layer, numbers)) return drafts_of(layer, numbers);
    return Backend::drafts_with(layer, threads, numbers);
  }

 private:
  /// Whether this backend's plans for the layer can compute with these numbers.
  [[nodiscard]] static bool takes(const Layer& layer, const Parameters& numbers) {
    Parameters taken = parameters_of(layer);
    if (std::holds_alternative<op::LayerNorm>(layer) || std::holds_alternative<op::BatchNorm>(layer))
      taken.epsilon = numbers.epsilon;
    if (std::holds_alternative<op::Attention>(layer)) taken.attention_scale = numbers.attention_scale;
    if (std::holds_alternative<op::Lrn>(layer)) {
      taken.lrn_alpha = numbers.lrn_alpha;
      taken.lrn_bias = numbers.lrn_bias;
    }
    return taken == numbers;
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts_of(const Layer& layer, const Parameters& numbers) const {
    if (auto state = availability(); auto* why = std::get_if<Unsupported>(&state)) return *why;
    Candidates candidates(handle(), layer, numbers);
    try {
      std::visit(
          [&](const auto& op) {
            if constexpr (Offered<std::decay_t<decltype(op)>>) add_plans(op, candidates);
            else candidates.refuse("no " + std::string(op.kind) + " in cuDNN");
          },
          layer);
    } catch (const DeviceLost&) {
      throw;
    } catch (const EnvironmentError& failed) {  // the layer's graphs may support what cuDNN's calls do not
      candidates.refuse(failed.what());
    }
    add_graph_plans(layer, candidates);
    return std::move(candidates).result();
  }
  /// Created with the first plan.
  [[nodiscard]] std::shared_ptr<const Handle> handle() const {
    const std::lock_guard lock(mutex_);
    if (handle_ == nullptr) handle_ = std::make_shared<const Handle>(device_.get());
    return handle_;
  }

  cuda::DeviceShare device_{};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Handle> handle_;
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<const CudnnBackend>(); }

}  // namespace benanza::cudnn
