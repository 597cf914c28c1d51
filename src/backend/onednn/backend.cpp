// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"
#include "plan/processor.hpp"
#include <benanza/backend/onednn.hpp>
#include <benanza/plan/backend.hpp>

namespace benanza::onednn {
namespace {

/// Whether the layer's primitives accept every number that differs from those of the measurement.
bool takes_numbers(const Layer& layer, Parameters numbers) {
  const Parameters own = parameters_of(layer);
  if (std::holds_alternative<op::BatchNorm>(layer) || std::holds_alternative<op::LayerNorm>(layer) ||
      std::holds_alternative<op::NormGradient>(layer)) {
    numbers.epsilon = own.epsilon;
  } else if (std::holds_alternative<op::Attention>(layer)) {
    numbers.attention_scale = own.attention_scale;
  } else if (std::holds_alternative<op::Lrn>(layer)) {
    numbers.lrn_alpha = own.lrn_alpha;
    numbers.lrn_bias = own.lrn_bias;
  } else if (is_8_bit(type(layer)) &&
             (std::holds_alternative<op::Conv>(layer) || std::holds_alternative<op::ConvTranspose>(layer) ||
              std::holds_alternative<op::MatMul>(layer))) {
    numbers.zero_point_a = own.zero_point_a;
    numbers.zero_point_b = own.zero_point_b;
    numbers.zero_point_y = own.zero_point_y;
    numbers.rescale = own.rescale;
  }
  return numbers == own;
}

class OneDnn final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "onednn"; }
  /// With the instruction set that oneDNN uses, if it is not the processor's: a program may have limited it.
  [[nodiscard]] std::string version() const override {
    const std::string isa = Library::isa();
    return Library::version() + (isa.empty() || isa == processor_isa() ? "" : " (" + isa + ")");
  }
  [[nodiscard]] bool uses_openmp() const override { return true; }
  [[nodiscard]] std::variant<Plans, Unsupported> plans(const Layer& layer, int threads) const override {
    return build_all(drafts(layer, threads));
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts(const Layer& layer, int threads) const override {
    return with_numbers(layer, threads, parameters_of(layer));
  }
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts_with(const Layer& layer, int threads,
                                                                  const Parameters& numbers) const override {
    if (!takes_numbers(layer, numbers)) return Backend::drafts_with(layer, threads, numbers);
    return with_numbers(layer, threads, numbers);
  }

 private:
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> with_numbers(const Layer& layer, int threads,
                                                                   const Parameters& numbers) const {
    return std::visit([&](const auto& op) { return drafts_for(op, threads, numbers); }, layer);
  }
  template <class Op>
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> drafts_for(const Op& op, int threads,
                                                                 const Parameters& numbers) const {
    if constexpr (Offered<Op>) {
      const auto type = element_type(op.type);
      if (!type || (f32_only<Op> && op.type != DataType::f32) || (op.type == DataType::i32 && !only_moves<Op>))
        return Unsupported{"no " + std::string(benanza::name(op.type)) + " " + std::string(Op::kind) + " in oneDNN " +
                           Library::version()};
      Library::use_threads(threads);
      Candidates candidates(library_, op, threads, numbers);
      try {
        add_plans(op, candidates);
      } catch (const dnnl::error& error) {
        // A problem that oneDNN cannot express is not a failure.
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
