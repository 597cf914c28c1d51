// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include <benanza/backend/onednn.hpp>
#include <benanza/plan/backend.hpp>

namespace benanza::onednn {
namespace {

class OneDnn final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "onednn"; }
  [[nodiscard]] std::string version() const override { return Library::version(); }
  [[nodiscard]] bool uses_openmp() const override { return true; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    return build_all(drafts(layer, threads));
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts(const Layer& layer, int threads) const override {
    return std::visit([&](const auto& op) { return drafts_of(op, threads); }, layer);
  }

 private:
  template <class Op>
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts_of(const Op& op, int threads) const {
    if constexpr (Offered<Op>) {
      const auto type = element_type(op.type);
      if (!type || (f32_only<Op> && op.type != DataType::f32) || (op.type == DataType::i32 && !only_moves<Op>))
        return Unsupported{"no " + std::string(benanza::name(op.type)) + " " + std::string(Op::kind) + " in oneDNN " +
                           Library::version()};
      Library::use_threads(threads);
      Candidates candidates(library_, op, threads);
      try {
        add_plans(op, candidates);
      } catch (const dnnl::error& error) {
        // A problem that oneDNN has no words for is not a failure.
        if (error.status != dnnl_unimplemented && error.status != dnnl_invalid_arguments)
          check(error.status, error.what());
        candidates.refuse("oneDNN " + Library::version() + " " + error.what());
      }
      return std::move(candidates).result();
    } else {
      return Unsupported{"no " + std::string(Op::kind) + " in oneDNN " + Library::version()};
    }
  }

  std::shared_ptr<const Library> library_ = std::make_shared<const Library>();
};

}  // namespace

std::shared_ptr<const Backend> backend() { return std::make_shared<const OneDnn>(); }

}  // namespace benanza::onednn
