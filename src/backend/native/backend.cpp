// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include "plan/cpu_set.hpp"
#include "widened.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace benanza::native {

namespace {

/// The compiler of this file and of the kernels: `gcc=12.2`.
std::string compiler() {
#ifdef __clang__
  return "clang=" + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
  return "gcc=" + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

/// Whether the layer's kernels accept every number that differs from those of the measurement.
bool takes_numbers(const Layer& layer, Parameters numbers) {
  const Parameters own = parameters_of(layer);
  const bool normalizes =
      std::holds_alternative<op::BatchNorm>(layer) || std::holds_alternative<op::LayerNorm>(layer) ||
      std::holds_alternative<op::GroupNorm>(layer) || std::holds_alternative<op::ChannelNorm>(layer) ||
      std::holds_alternative<op::NormGradient>(layer);
  if (normalizes) {
    numbers.epsilon = own.epsilon;
    numbers.momentum = own.momentum;
  } else if (std::holds_alternative<op::Attention>(layer)) {
    numbers.attention_scale = own.attention_scale;
    numbers.attention_softcap = own.attention_softcap;
  } else if (std::holds_alternative<op::Lrn>(layer)) {
    numbers.lrn_alpha = own.lrn_alpha;
    numbers.lrn_bias = own.lrn_bias;
  } else if (const auto* pad = std::get_if<op::Pad>(&layer)) {
    if (pad->type == DataType::f32) numbers.pad_value = own.pad_value;
  } else if (is_8_bit(type(layer)) &&
             (std::holds_alternative<op::Conv>(layer) || std::holds_alternative<op::MatMul>(layer))) {
    numbers.zero_point_a = own.zero_point_a;
    numbers.zero_point_b = own.zero_point_b;
    numbers.zero_point_y = own.zero_point_y;
    numbers.rescale = own.rescale;
  }
  return numbers == own;
}

class NativeBackend final : public Backend {
 public:
  explicit NativeBackend(Isa isa, bool on_openmp = false) : isa_(isa), kernels_(kernels(isa)), on_openmp_(on_openmp) {}

  [[nodiscard]] std::string_view name() const override { return "native"; }
  /// Increased with every change of a kernel that may affect a time; kernels also change with their compiler.
  [[nodiscard]] std::string version() const override { return "10," + compiler(); }
  [[nodiscard]] bool uses_openmp() const override { return on_openmp_; }
  [[nodiscard]] std::shared_ptr<const Backend> on_openmp() const override {
    return OpenmpTeam().exists() ? std::make_shared<NativeBackend>(isa_, true) : nullptr;
  }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    return plans_with(layer, threads, parameters_of(layer));
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts_with(const Layer& layer, int threads,
                                                                  const Parameters& numbers) const override {
    if (!takes_numbers(layer, numbers)) return Backend::drafts_with(layer, threads, numbers);
    return drafts_of(plans_with(layer, threads, numbers));
  }

 private:
  [[nodiscard]] std::variant<Plans, Unsupported> plans_with(const Layer& layer, int threads,
                                                            const Parameters& numbers) const {
    const Context context{.kernels = kernels_, .pool = pool(threads), .threads = threads, .numbers = numbers};
    const auto plans_of = [&](const Layer& one) {
      return std::visit([&](const auto& op) { return native::plans(op, context); }, one);
    };
    auto result = plans_of(layer);
    const bool keeps_numbers = !is_8_bit(type(layer)) || numbers == parameters_of(layer);
    const auto wide = std::holds_alternative<Unsupported>(result) && keeps_numbers ? widened(layer) : std::nullopt;
    if (!wide) return result;
    auto plans = plans_of(*wide);
    if (std::holds_alternative<Unsupported>(plans)) return result;
    return widen(std::get<Plans>(std::move(plans)), layer, *wide, context);
  }

  /// A pool of as many threads as there are processors, or of more if a caller insists; these then share processors.
  std::shared_ptr<const ThreadPool> pool(int threads) const {
    const std::lock_guard lock(mutex_);
    if (pool_ == nullptr || pool_->size() < threads) {
      std::vector<int> where = threads > 1 ? cpus() : std::vector<int>{0};
      const std::size_t processors = where.size();
      while (where.size() < static_cast<std::size_t>(threads)) where.push_back(where[where.size() % processors]);
      pool_ = on_openmp_ ? std::make_shared<ThreadPool>(OpenmpTeam(), static_cast<int>(where.size()))
                         : std::make_shared<ThreadPool>(where);
    }
    return pool_;
  }

  Isa isa_;
  const Kernels& kernels_;
  bool on_openmp_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

std::shared_ptr<const Backend> backend(Isa isa) { return std::make_shared<NativeBackend>(isa); }
std::shared_ptr<const Backend> backend() { return backend(widest_isa()); }

}  // namespace benanza::native
