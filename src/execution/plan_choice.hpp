// SPDX-License-Identifier: Apache-2.0
// PlanSearch: chooses a plan for each call of a model, all together. It minimises the sum of the rows' times, of layout
// changes between calls, and of switches from one library's threads to another's.
#pragma once

#include "layout_changes.hpp"
#include "sequence.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace benanza::execution {

/// Whether a plan may be chosen.
using Allowed = std::function<bool(const CallPlan& plan)>;

class PlanSearch {
 public:
  /// All must outlive it.
  PlanSearch(const Graph& graph, const ModelCalls& model, LayoutChanges& changes);

  /// Starts from the fastest allowed plans. Returns a choice that improves neither by changing the plan of one call,
  /// nor by bringing consecutive calls into one kind of layout. If no plan of a call is allowed, all are.
  [[nodiscard]] PlanChoice run(const Allowed& allowed);
  /// The same from a given choice, over all plans.
  [[nodiscard]] PlanChoice improve(const PlanChoice& choice);
  /// The time of each step of a choice in its place. From then on these times are used instead of those of the rows.
  void observe(const PlanChoice& choice, std::span<const StepOwner> owners, std::span<const Seconds> times);
  /// The sum for a choice.
  [[nodiscard]] Seconds cost(const PlanChoice& choice);

 private:
  /// An operand or a result of a call.
  struct End {
    std::size_t call = 0, operand = 0;
  };
  struct Tensor {
    const Value* value = nullptr;
    std::optional<End> maker{};  ///< empty if it exists in row-major form
    std::vector<End> readers{};
    bool is_output = false;            ///< an output of the graph, which is row-major
    std::vector<Arrangement> forms{};  ///< the first is row-major
    std::vector<Seconds> changes{};    ///< from each form to each, alone; negative if not known yet
    std::vector<Seconds> in_place{};   ///< the same when executed in place; negative if never
  };
  /// For a plan, the indices in `forms` of the tensors that it reads and writes.
  struct Ends {
    std::vector<std::size_t> inputs{}, outputs{};
    std::uint8_t kinds = 0;  ///< kinds of layouts, as bits
  };

  std::size_t place_in(Tensor& tensor, const Arrangement& form);
  [[nodiscard]] Seconds change(Tensor& tensor, std::size_t from, std::size_t to);
  [[nodiscard]] Seconds cost_of(Tensor& tensor);
  [[nodiscard]] Seconds cost_at(std::size_t call);
  [[nodiscard]] Seconds time_of(std::size_t call) const;
  void search();
  [[nodiscard]] Seconds switch_between(std::size_t a, std::size_t b) const;
  [[nodiscard]] const CallPlan* plan(std::size_t call) const;
  void change_one_at_a_time();
  [[nodiscard]] bool change_some_in_a_row();

  const ModelCalls& model_;
  LayoutChanges& changes_;
  std::map<ValueId, std::size_t> known_{};  ///< root -> tensor
  std::vector<Tensor> tensors_{};
  std::vector<std::vector<std::size_t>> touched_;  ///< tensors of each call
  std::vector<std::vector<Ends>> ends_;            ///< one for each plan of each call
  std::vector<std::vector<std::size_t>> usable_{};
  PlanChoice choice_{};
  std::vector<std::vector<Seconds>> in_place_;  ///< time of each plan of each call; negative if not known
  double in_place_over_alone_ = 1;              ///< over all observed calls
  double change_in_place_over_alone_ = 1;       ///< over all observed changes
  /// Changes between two kinds of layouts, by the binary logarithm of the number of elements, rounded down.
  std::map<std::tuple<DataType, std::uint8_t, std::uint8_t, int>, Seconds> seconds_of_element_{};
};

}  // namespace benanza::execution
