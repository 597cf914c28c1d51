// SPDX-License-Identifier: Apache-2.0
// Candidates: the plans of one layer as a family of operators collects them.
#pragma once

#include "descriptors.hpp"
#include <benanza/plan/backend.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace benanza::cudnn {

/// Row-major to another form, or back, in the processor's memory.
using Relayout = std::function<void(const void* from, void* to)>;

/// An operand that does not lie row-major.
struct OtherLayout {
  Layout layout{};
  Relayout relayout{};  ///< packs an input, unpacks an output
  /// For an output: where the element of a row-major index lies. Empty: not known.
  std::function<std::int64_t(std::int64_t)> position{};
};

/// A plan in the making.
struct Draft {
  std::string algorithm{};  ///< without threads
  /// Finalises what `execute` calls and sets the workspace that it needs; returns why cuDNN refuses. Null: nothing is
  /// left to do.
  std::function<std::optional<std::string>(Draft&)> finalize{};
  bool compiled_here = false;  ///< cuDNN generates its code when it is finalised, which takes seconds
  std::function<void(cudnnHandle_t, const Arguments&)> execute{};
  std::vector<std::pair<std::size_t, OtherLayout>> inputs{}, outputs{};
  std::size_t workspace_bytes = 0;
  bool saves_multiplications = false;
  bool advised = false;  ///< what cuDNN's heuristic lists first
  double tolerance = 1e-4;
};

class Candidates {
 public:
  Candidates(std::shared_ptr<const Handle> handle, const Layer& layer, const Parameters& numbers);

  [[nodiscard]] cudnnHandle_t handle() const { return handle_->get(); }
  [[nodiscard]] Device& device() const { return handle_->device(); }
  [[nodiscard]] const Operands& operands() const { return operands_; }
  [[nodiscard]] const Parameters& numbers() const { return numbers_; }

  /// A list of drafts begins, the most promising first.
  void begin_list() { rank_ = 0; }
  void add(Draft draft) { drafts_.emplace_back(rank_++, std::move(draft)); }
  /// Why there may be no plan: the reasons that are given if none is added.
  void refuse(const std::string& reason);
  /// The first of each list, then the second of each ...; behind all others those whose code is generated here.
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> result() &&;

 private:
  std::shared_ptr<const Handle> handle_;
  Operands operands_;
  Parameters numbers_;
  std::string no_call_, reasons_{};
  int rank_ = 0;
  std::vector<std::pair<int, Draft>> drafts_{};
};

/// Makes input or output `i` of a draft lie channels-last, where that is another order at all.
void put_channels_last(Draft& draft, const Operands& operands, std::size_t i, bool is_output);

/// The factor of a blended result in the type that cuDNN reads it in.
class Factor {
 public:
  Factor(const Arithmetic& arithmetic, double value)
      : single_(static_cast<float>(value)), double_(value), wide_(arithmetic.stored == CUDNN_DATA_DOUBLE) {}
  [[nodiscard]] const void* get() const { return wide_ ? static_cast<const void*>(&double_) : &single_; }

 private:
  float single_;
  double double_;
  bool wide_;
};

/// One call of an epilogue, in place on the result.
using EpilogueCall = std::function<void(cudnnHandle_t, const Arguments&, void* y)>;
/// The steps of an epilogue as calls; `operand` is the number of the first input that they read. Nothing for a step
/// that cuDNN has no call for, which `why` then says.
[[nodiscard]] std::optional<std::vector<EpilogueCall>> epilogue_calls(const Epilogue& post, const TensorShape& y,
                                                                      std::size_t channel_axis, std::size_t operand,
                                                                      Order order, const Arithmetic& arithmetic,
                                                                      std::string& why);
/// Rank 4 or 5, 1s in front where there are fewer; nothing for more.
[[nodiscard]] std::optional<TensorShape> leading_ones(const TensorShape& shape, std::size_t rank);

}  // namespace benanza::cudnn
