// SPDX-License-Identifier: Apache-2.0
#include "layer_call.hpp"

#include "operand_indices.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <variant>

namespace benanza::execution {

namespace {

/// Memory for `bytes` in a plan's layout, aligned.
Tensor bytes_of_size(std::size_t bytes) { return Tensor(DataType::u8, {static_cast<std::int64_t>(bytes)}); }

/// Whether the processor sums 8-bit products in 32 bits.
bool has_vnni() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return true;
#endif
}

}  // namespace

bool takes_any_operands(const Layer& layer) {
  return std::visit(
      []<class Op>(const Op& op) {
        constexpr auto is = []<class... Any>(std::type_identity<std::variant<Any...>>) {
          return (std::is_same_v<Op, Any> || ...);
        };
        constexpr bool of_floats = is(
            std::type_identity<std::variant<op::ConvTranspose, op::Attention, op::Rotary, op::Recurrent, op::BatchNorm,
                                            op::LayerNorm, op::GroupNorm, op::Lrn, op::Softmax, op::AxisNorm,
                                            op::ConvGradient, op::UnaryGradient, op::SoftmaxGradient, op::NormGradient,
                                            op::PoolGradient, op::GatherGradient, op::RecurrentGradient,
                                            op::ChannelNorm, op::Loss, op::Fourier, op::GridSample, op::DeformConv>>{});
        constexpr bool of_any =
            is(std::type_identity<std::variant<
                   op::Conv, op::MatMul, op::Pool, op::Unary, op::Binary, op::Nary, op::Where, op::Reduce,
                   op::Transpose, op::Concat, op::Split, op::Slice, op::Pad, op::Expand, op::Tile, op::Gather,
                   op::GatherElements, op::GatherNd, op::ScatterElements, op::ScatterNd, op::TensorScatter, op::Einsum,
                   op::Cumulative, op::TopK, op::Resize, op::Cast, op::Quantize, op::Dequantize, op::Trilu>>{});
        if constexpr (std::is_same_v<Op, op::Binary>)  // an integer division by zero stops the processor
          if (!is_float(op.type) && (op.fn == ElementwiseFn::div || op.fn == ElementwiseFn::mod)) return false;
        return of_any || (of_floats && is_float(op.type) && bits(op.type) >= 16);
      },
      layer);
}

void ignore_common_nans(std::vector<double>& expected, std::vector<double>& got) {
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i)
    if (std::isnan(expected[i]) && std::isnan(got[i])) expected[i] = got[i] = 0;
}

bool is_as_exact_as_its_terms(const Layer& layer, const std::vector<Tensor>& operands,
                              const std::vector<double>& expected, const std::vector<double>& got, double tolerance) {
  const auto* reduce = std::get_if<op::Reduce>(&layer);
  if (reduce == nullptr || !(reduce->fn == op::ReduceFn::sum || reduce->fn == op::ReduceFn::mean)) return false;
  double term = 0, difference = 0;
  for (std::int64_t i = 0; i < operands[0].elements(); ++i) term = std::max(term, std::fabs(operands[0][i]));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) != std::isnan(got[i])) return false;
    difference = std::max(difference, std::fabs(expected[i] - got[i]));
  }
  return difference <= tolerance * term;
}

std::shared_ptr<const ChosenPlan> PlanChooser::choose(const NodeCall& node_call) {
  if (backends_.empty() || !takes_any_operands(node_call.layer) || is_free(node_call.layer)) return nullptr;
  if (node_call.shapes.outputs.empty()) return nullptr;  // results are made of the inputs alone
  Known& known = known_[LayerSignature(node_call.layer).text()];
  for (const auto& [numbers, plan] : known)
    if (numbers == node_call.parameters) return plan;
  auto& found = known.emplace_back(node_call.parameters, nullptr).second;
  if (choice_) return found = choice_(node_call);
  auto backends = backends_;
  if (is_8_bit(type(node_call.layer)) && !has_vnni())  // oneDNN saturates sums of 8-bit products at 16 bits
    std::stable_partition(backends.begin(), backends.end(),
                          [](const auto& backend) { return backend->name() == "native"; });
  for (const auto& backend : backends) {
    auto drafts = backend->drafts_with(node_call.layer, threads_, node_call.parameters);
    auto* list = std::get_if<PlanDrafts>(&drafts);
    if (list == nullptr) continue;
    for (const auto& draft : *list) {
      auto built = draft.build();
      auto* plan = std::get_if<std::unique_ptr<Plan>>(&built);
      if (plan == nullptr) continue;
      const std::string name = std::string(backend->name()) + " " + (*plan)->algorithm();
      found = std::make_shared<const ChosenPlan>(ChosenPlan{name, std::move(*plan)});
      return found;
    }
  }
  return nullptr;
}

LayerCall::LayerCall(const Node& node, NodeCall node_call, std::shared_ptr<const ChosenPlan> plan,
                     const NodeTensors& constants)
    : node_(&node),
      node_call_(std::move(node_call)),
      plan_(std::move(plan)),
      constants_(node_call_.shapes.inputs.size()) {
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const auto& made_of = node_call_.operands[i].inputs;
    const auto is_known = [&](std::size_t input) { return input < constants.size() && constants[input].has_value(); };
    if (!std::all_of(made_of.begin(), made_of.end(), is_known)) continue;
    const Tensor plain = operand_tensor(node_call_, node, i, constants);
    check_indices(node, node_call_, i, plain);
    constants_[i] = plan_ ? packed(i, plain) : plain;
  }
}

std::string LayerCall::plan_name() const {
  return is_free(node_call_.layer) ? std::string() : plan_ ? plan_->name : "reference";
}

bool LayerCall::is_wanted(std::size_t output) const {
  return std::any_of(node_call_.outputs.begin(), node_call_.outputs.end(),
                     [&](const OutputSource& source) { return source.of_layer == output; });
}

/// The operand in row-major form, or in the plan's form if it is constant. Indices are checked, since neither plans nor
/// the reference check them.
Tensor LayerCall::operand(std::size_t i, const NodeTensors& inputs) const {
  if (constants_[i]) return *constants_[i];
  Tensor made = operand_tensor(node_call_, *node_, i, inputs);
  check_indices(*node_, node_call_, i, made);
  return made;
}

Tensor LayerCall::packed(std::size_t i, const Tensor& operand) const {
  const Layout& layout = plan_->plan->inputs()[i];
  if (layout.name == "plain" && operand.aligned()) return operand;
  Tensor result = bytes_of_size(layout.bytes);
  plan_->plan->pack_input(i, operand.data(), result.writable());
  return result;
}

std::map<std::size_t, Tensor> LayerCall::run(const NodeTensors& inputs) const {
  if (is_free(node_call_.layer))
    return node_call_.shapes.inputs.empty() ? std::map<std::size_t, Tensor>{}
                                            : std::map<std::size_t, Tensor>{{0, operand(0, inputs)}};
  return plan_ ? run_plan(inputs) : run_reference(inputs);
}

std::map<std::size_t, Tensor> LayerCall::run_plan(const NodeTensors& inputs) const {
  const Plan& plan = *plan_->plan;
  std::vector<Tensor> operands, results;
  std::vector<const void*> reads;
  std::vector<void*> writes;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    operands.push_back(constants_[i] ? *constants_[i] : packed(i, operand(i, inputs)));
    reads.push_back(operands.back().data());
  }
  for (std::size_t i = 0; i < plan.outputs().size(); ++i) {
    const Operand& output = node_call_.shapes.outputs[i];
    results.push_back(plan.outputs()[i].name == "plain"
                          ? Tensor(output.type, {output.shape.begin(), output.shape.end()})
                          : bytes_of_size(plan.outputs()[i].bytes));
    writes.push_back(results.back().writable());
    if (const auto input = starts_as(plan, output, i))
      std::memcpy(writes.back(), reads[*input], results.back().bytes());
  }
  constexpr std::size_t workspace_alignment = 256;  // plan/backend.hpp
  Tensor workspace = bytes_of_size(plan.workspace_bytes() + workspace_alignment);
  void* place = workspace.writable();
  std::size_t space = workspace.bytes();
  std::align(workspace_alignment, plan.workspace_bytes(), place, space);
  plan.execute({.inputs = reads, .outputs = writes, .workspace = place});

  std::map<std::size_t, Tensor> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_wanted(i)) continue;
    const Operand& output = node_call_.shapes.outputs[i];
    if (plan.outputs()[i].name != "plain") {
      Tensor plain(output.type, {output.shape.begin(), output.shape.end()});
      plan.unpack_output(i, results[i].data(), plain.writable());
      results[i] = plain;
    }
    outputs[i] = results[i];
  }
  return outputs;
}

std::map<std::size_t, Tensor> LayerCall::run_reference(const NodeTensors& inputs) const {
  std::vector<Tensor> operands;
  std::vector<const void*> reads;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    operands.push_back(operand(i, inputs));
    reads.push_back(operands.back().data());
  }
  std::map<std::size_t, Tensor> outputs;
  for (std::size_t i = 0; i < node_call_.shapes.outputs.size(); ++i) {
    if (!is_wanted(i)) continue;
    const Operand& output = node_call_.shapes.outputs[i];
    outputs[i] = Tensor::of(output.type, {output.shape.begin(), output.shape.end()},
                            reference::evaluate_all(node_call_.layer, reads, i, node_call_.parameters));
  }
  return outputs;
}

void LayerCall::check(const NodeTensors& inputs, const std::map<std::size_t, Tensor>& outputs,
                      Execution& execution) const {
  if (!plan_) return;
  std::vector<Tensor> operands;
  std::vector<const void*> reads;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    operands.push_back(operand_tensor(node_call_, *node_, i, inputs));
    reads.push_back(operands.back().data());
  }
  for (const auto& [i, tensor] : outputs) {
    const auto samples = reference::checked_indices(node_call_.layer, reads, i, checked_samples);
    auto expected = reference::evaluate(node_call_.layer, reads, i, samples, node_call_.parameters);
    auto got = reference::read(node_call_.shapes.outputs[i], tensor.data(), samples);
    ignore_common_nans(expected, got);
    ++execution.checked;
    if (!reference::agree(node_call_.layer, i, expected, got, plan_->plan->tolerance()) &&
        !is_as_exact_as_its_terms(node_call_.layer, operands, expected, got, plan_->plan->tolerance()))
      execution.disagreements.push_back({.node = node_->name,
                                         .plan = plan_->name,
                                         .difference = reference::difference(expected, got),
                                         .tolerance = plan_->plan->tolerance()});
  }
}

}  // namespace benanza::execution
