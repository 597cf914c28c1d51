// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include "widened.hpp"
#include <benanza/plan/cpu_set.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace benanza::native {

namespace {

/// The one that this file and the kernels are built with: `gcc=12.2`.
std::string compiler() {
#ifdef __clang__
  return "clang=" + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
  return "gcc=" + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

class NativeBackend final : public Backend {
 public:
  explicit NativeBackend(Isa isa) : kernels_(kernels(isa)) {}

  [[nodiscard]] std::string_view name() const override { return "native"; }
  /// Raised with every change of a kernel that may change a time; kernels also change with their compiler.
  [[nodiscard]] std::string version() const override { return "5," + compiler(); }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    const Context context{.kernels = kernels_, .pool = pool(threads), .threads = threads};
    const auto plans_of = [&](const Layer& one) {
      return std::visit([&](const auto& op) { return native::plans(op, context); }, one);
    };
    auto result = plans_of(layer);
    const auto wide = std::holds_alternative<Unsupported>(result) ? widened(layer) : std::nullopt;
    if (!wide) return result;
    auto plans = plans_of(*wide);
    if (std::holds_alternative<Unsupported>(plans)) return result;
    return widen(std::get<Plans>(std::move(plans)), layer, *wide, context);
  }

 private:
  /// A pool of as many threads as processors; of more if a caller insists, which then share processors.
  std::shared_ptr<const ThreadPool> pool(int threads) const {
    const std::lock_guard lock(mutex_);
    if (pool_ == nullptr || pool_->size() < threads) {
      std::vector<int> where = threads > 1 ? cpus() : std::vector<int>{0};
      const std::size_t processors = where.size();
      while (where.size() < static_cast<std::size_t>(threads)) where.push_back(where[where.size() % processors]);
      pool_ = std::make_shared<ThreadPool>(where);
    }
    return pool_;
  }

  const Kernels& kernels_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

std::shared_ptr<const Backend> backend(Isa isa) { return std::make_shared<NativeBackend>(isa); }
std::shared_ptr<const Backend> backend() { return backend(widest_isa()); }

}  // namespace benanza::native
