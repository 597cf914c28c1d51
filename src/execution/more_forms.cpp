// SPDX-License-Identifier: Apache-2.0
#include "more_forms.hpp"

#include "layout_changes.hpp"
#include "reordered_layer.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace benanza::execution {

namespace {

/// A contiguous part of a tensor in row-major memory, in elements.
struct Part {
  std::int64_t begin = 0, elements = 0;
};

/// The parts that a Concat joins, or that a Split or a Slice takes out; empty if one of them is not contiguous.
std::vector<Part> parts_of(const Layer& layer) {
  std::vector<Part> parts;
  const auto add = [&](std::int64_t elements) {
    parts.push_back({parts.empty() ? 0 : parts.back().begin + parts.back().elements, elements});
  };
  if (const auto* concat = std::get_if<op::Concat>(&layer); concat && concat->outer == 1 && !concat->in_place)
    for (const auto size : concat->sizes) add(size * concat->inner);
  if (const auto* split = std::get_if<op::Split>(&layer); split && split->outer == 1)
    for (const auto size : split->sizes) add(size * split->inner);
  if (const auto* slice = std::get_if<op::Slice>(&layer)) {
    std::size_t axis = 0;  // the axis that is cut; axes before it have size 1, axes after it are whole
    while (axis < slice->x.size() && slice->x[axis] == 1) ++axis;
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < slice->x.size(); ++i) {
      if (slice->x[i] != slice->y[i]) return {};
      inner *= slice->x[i];
    }
    const bool steps = std::any_of(slice->steps.begin(), slice->steps.end(), [](auto step) { return step != 1; });
    if (axis < slice->x.size() && !steps) parts.push_back({slice->starts[axis] * inner, slice->y[axis] * inner});
  }
  return parts;
}

/// The order of a whole tensor in which a part of `elements` elements has the order `part`.
std::optional<ElementOrder> whole_order(const ElementOrder& part, std::int64_t elements, std::int64_t whole) {
  if (part.is_row_major()) return part;
  std::vector<OrderDigit> digits = part.digits();
  const OrderDigit first = digits.front();
  if (first.stride * first.extent == elements) digits.erase(digits.begin());  // the outermost, larger in the whole
  constexpr std::int64_t most_in_block = 16;  // extent of the innermost digit; a whole would have no other order
  const std::int64_t block = first.stride * first.extent == elements ? first.stride : elements;
  if (whole % block != 0 || part.digits().back().extent > most_in_block) return std::nullopt;
  digits.insert(digits.begin(), {whole / block, block});
  return ElementOrder(digits);
}

bool is_elementwise(const GroupCall& group) {
  if (!std::holds_alternative<op::Unary>(group.layer) && !std::holds_alternative<op::Binary>(group.layer) &&
      !std::holds_alternative<op::Nary>(group.layer))
    return false;
  if (group.shapes.outputs.size() != 1) return false;
  const std::int64_t elements = group.shapes.outputs[0].elements();
  for (std::size_t i = 0; i < group.operands.size(); ++i) {
    const std::int64_t own = group.shapes.inputs[i].elements();
    if (own != 1 && (own != elements || group.operands[i].constant)) return false;
  }
  return elements > 1;
}

class Adder {
 public:
  Adder(const Graph& graph, ModelCalls& model, const CallPlans& plans) : graph_(graph), model_(model), plans_(plans) {}

  void run() {
    constexpr int passes = 3;  // over chains of calls that take any order
    constexpr std::size_t most_orders = 4;
    for (const auto& call : model_.calls)
      for (const auto& plan : call.plans) {
        for (std::size_t i = 0; i < plan.inputs.size(); ++i)
          if (!call.group.operands[i].constant) note(call.group.operands[i].value, plan.inputs[i]);
        for (std::size_t i = 0; i < plan.outputs.size(); ++i)
          if (call.group.outputs[i]) note(*call.group.outputs[i], plan.outputs[i]);
      }
    for (int pass = 0; pass < passes; ++pass)
      for (std::size_t k = 0; k < 2 * model_.calls.size(); ++k) {
        const std::size_t at = k < model_.calls.size() ? k : 2 * model_.calls.size() - 1 - k;
        const ModelCall& call = model_.calls[at];
        if (call.plans.empty()) continue;
        for (const auto& plan : more_plans(call))
          if (known_[root_of_output(call)].size() < most_orders) note_all(call, plan);
      }
    for (auto& call : model_.calls)
      if (!call.plans.empty())
        for (auto& plan : more_plans(call)) call.plans.push_back(std::move(plan));
  }

 private:
  void note(ValueId id, const Arrangement& form) {
    if (form.order) known_[model_.root(id)].insert(form);
  }
  void note_all(const ModelCall& call, const CallPlan& plan) {
    for (std::size_t i = 0; i < plan.inputs.size(); ++i)
      if (!call.group.operands[i].constant) note(call.group.operands[i].value, plan.inputs[i]);
    for (std::size_t i = 0; i < plan.outputs.size(); ++i)
      if (call.group.outputs[i]) note(*call.group.outputs[i], plan.outputs[i]);
  }
  [[nodiscard]] ValueId root_of_output(const ModelCall& call) const {
    for (const auto& output : call.group.outputs)
      if (output) return model_.root(*output);
    return graph_.values.size();
  }

  [[nodiscard]] std::vector<CallPlan> more_plans(const ModelCall& call) {
    if (is_elementwise(call.group)) return in_other_orders(call);
    if (std::holds_alternative<op::Binary>(call.group.layer) || std::holds_alternative<op::Reduce>(call.group.layer))
      return of_reordered_layers(call);
    if (std::holds_alternative<op::Transpose>(call.group.layer)) return of_transposition(call);
    const auto parts = parts_of(call.group.layer);
    return parts.empty() ? std::vector<CallPlan>{} : without_call(call, parts);
  }

  /// The forms other than row-major that values of this size among operands and results have in other calls.
  [[nodiscard]] std::set<Arrangement> forms_of(const GroupCall& group, std::int64_t elements) {
    std::set<Arrangement> forms;
    const auto collect = [&](ValueId id) {
      if (graph_.value(id).elements() == elements)
        for (const auto& form : known_[model_.root(id)])
          if (!form.is_plain()) forms.insert(form);
    };
    for (const auto& operand : group.operands)
      if (!operand.constant) collect(operand.value);
    if (group.outputs[0]) collect(*group.outputs[0]);
    return forms;
  }

  static bool is_row_major(const CallPlan& plan) {
    const auto is_plain = [](const Arrangement& form) { return form.is_plain(); };
    return plan.plan && std::all_of(plan.inputs.begin(), plan.inputs.end(), is_plain) && is_plain(plan.outputs[0]);
  }

  [[nodiscard]] std::vector<CallPlan> in_other_orders(const ModelCall& call) {
    constexpr std::size_t most = 2;
    const GroupCall& group = call.group;
    const std::int64_t elements = group.shapes.outputs[0].elements();
    const auto forms = forms_of(group, elements);
    std::vector<CallPlan> result;
    std::size_t used = 0;
    for (const auto& plan : call.plans) {
      if (!is_row_major(plan)) continue;
      for (const auto& form : forms) {
        CallPlan other = plan;
        for (std::size_t i = 0; i < other.inputs.size(); ++i)
          if (group.shapes.inputs[i].elements() == elements) other.inputs[i] = form;
        other.outputs[0] = form;
        result.push_back(std::move(other));
      }
      if (++used == most) break;
    }
    return result;
  }

  /// Broadcasts and reductions of tensors in the orders of their neighbours. Their time is assumed to be that of the
  /// row-major layer until they have been executed.
  [[nodiscard]] std::vector<CallPlan> of_reordered_layers(const ModelCall& call) {
    const GroupCall& group = call.group;
    std::int64_t elements = 0;
    for (const auto& operand : group.shapes.inputs) elements = std::max(elements, operand.elements());
    std::vector<CallPlan> result;
    std::set<std::pair<std::string, int>> used;  // backend, threads
    for (const auto& plan : call.plans) {
      if (!is_row_major(plan) || !used.emplace(plan.backend, plan.threads()).second) continue;
      for (const auto& form : forms_of(group, elements)) {
        const auto reordered = reordered_layer(group.layer, *form.order);
        if (!reordered) continue;
        bool reorders_constant = false;
        for (std::size_t i = 0; i < group.operands.size(); ++i)
          reorders_constant = reorders_constant || (reordered->inputs[i] && group.operands[i].constant);
        const CallPlan* const found = reorders_constant ? nullptr : plan_of(reordered->layer, plan);
        if (found == nullptr) continue;
        CallPlan& other = result.emplace_back(*found);
        if (other.alone.value == 0) other.alone = plan.alone;
        for (std::size_t i = 0; i < other.inputs.size(); ++i)
          if (reordered->inputs[i]) other.inputs[i] = form;
        if (reordered->outputs[0]) other.outputs[0] = form;
      }
    }
    return result;
  }

  /// A transposition from the orders that its operand has in other calls to those that its result has in other calls.
  /// It is another transposition, or nothing at all.
  [[nodiscard]] std::vector<CallPlan> of_transposition(const ModelCall& call) {
    const GroupCall& group = call.group;
    const auto& transpose = std::get<op::Transpose>(group.layer);
    const std::int64_t elements = element_count(transpose.x);
    if (group.operands[0].constant || !group.outputs[0] || bits(transpose.type) < 8) return {};
    const auto forms = [&](ValueId id) {
      std::set<Arrangement> result = known_[model_.root(id)];
      result.insert(Arrangement{});
      return result;
    };
    std::vector<CallPlan> result;
    for (const auto& to : forms(*group.outputs[0])) {
      const auto order = order_of_operand(transpose, *to.order);
      if (!order) continue;
      for (const auto& from : forms(group.operands[0].value)) {
        if (from.is_plain() && to.is_plain()) continue;
        CallPlan plan{.offsets = {0}};
        if (*from.order != *order) {
          const auto layer = layout_change_layer(transpose.type, elements, from, arrangement_of(*order));
          const CallPlan* const found = layer ? plan_of(*layer, call.plans.front()) : nullptr;
          if (found == nullptr) continue;
          plan = *found;
          if (plan.alone.value == 0) plan.alone = call.plans.front().alone;
        }
        plan.inputs = {from};
        plan.outputs = {to};
        result.push_back(std::move(plan));
      }
    }
    return result;
  }

  /// The plan of the layer's fastest row; without rows, a plan of the same backend and number of threads as `like`.
  /// Null if neither is row-major.
  [[nodiscard]] const CallPlan* plan_of(const Layer& layer, const CallPlan& like) {
    const auto [made, first] =
        reordered_.try_emplace({LayerSignature(layer).text(), like.backend, like.threads()}, std::nullopt);
    if (first) {
      if (auto plan = plans_.fastest_plan(layer); plan && is_row_major(*plan)) made->second = std::move(plan);
      else
        for (auto& offered : plans_.offered(layer, like.threads() == 1))
          if (offered.backend == like.backend && offered.threads() == like.threads() && is_row_major(offered)) {
            made->second = std::move(offered);
            break;
          }
    }
    return made->second ? &*made->second : nullptr;
  }

  [[nodiscard]] std::vector<CallPlan> without_call(const ModelCall& call, const std::vector<Part>& parts) {
    const GroupCall& group = call.group;
    const bool joins = std::holds_alternative<op::Concat>(group.layer);
    const auto& operands = joins ? group.shapes.outputs : group.shapes.inputs;
    const std::int64_t whole = operands[0].elements();
    if (parts.size() != (joins ? group.operands.size() : group.outputs.size()) || bits(operands[0].type) < 8) return {};
    if (!joins && group.operands[0].constant) return {};
    const auto value_of = [&](std::size_t k) -> std::optional<ValueId> {
      if (!joins) return group.outputs[k];
      return group.operands[k].constant ? std::nullopt : std::optional(group.operands[k].value);
    };
    std::set<Arrangement> wholes;
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (const auto id = value_of(k))
        for (const auto& form : known_[model_.root(*id)])
          if (const auto order = whole_order(*form.order, parts[k].elements, whole))
            wholes.insert(arrangement_of(*order));
    if (const auto id = joins ? group.outputs[0] : std::optional(group.operands[0].value))
      for (const auto& form : known_[model_.root(*id)]) wholes.insert(form);
    wholes.insert(Arrangement{});
    std::vector<CallPlan> result;
    for (const auto& form : wholes) {
      std::vector<Arrangement> lie;
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const auto order = form.order->of_part(parts[k].elements);
        const std::int64_t bytes = parts[k].begin * bits(operands[0].type) / 8;
        const bool begins = form.is_plain() || parts[k].begin % form.order->digits().front().stride == 0;
        if (!order || !begins || (!joins && bytes % 64 != 0)) break;
        lie.push_back(arrangement_of(*order));
      }
      if (lie.size() != parts.size()) continue;
      CallPlan plan;
      plan.inputs = joins ? lie : std::vector<Arrangement>{form};
      plan.outputs = joins ? std::vector<Arrangement>{form} : lie;
      for (const auto& part : parts)
        plan.offsets.push_back(static_cast<std::size_t>(part.begin * bits(operands[0].type) / 8));
      // Each execution writes constants among the parts in row-major order.
      bool takes_constants = true;
      for (std::size_t k = 0; joins && k < parts.size(); ++k)
        takes_constants = takes_constants && (!group.operands[k].constant || lie[k].is_plain());
      if (takes_constants) result.push_back(std::move(plan));
    }
    return result;
  }

  const Graph& graph_;
  ModelCalls& model_;
  const CallPlans& plans_;
  std::map<ValueId, std::set<Arrangement>> known_{};
  std::map<std::tuple<std::string, std::string, int>, std::optional<CallPlan>> reordered_{};  ///< see `plan_of`
};

}  // namespace

void add_forms(const Graph& graph, ModelCalls& model, const CallPlans& plans) { Adder(graph, model, plans).run(); }

}  // namespace benanza::execution
