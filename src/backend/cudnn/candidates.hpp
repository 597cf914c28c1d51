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

/// Converts row-major data to another layout, or back, in host memory.
using Relayout = std::function<void(const void* from, void* to)>;

/// An operand that is not row-major.
struct OtherLayout {
  Layout layout{};
  Relayout relayout{};  ///< packs an input, unpacks an output
  /// For an output: the position of the element with a given row-major index. Empty if it is not known.
  std::function<std::int64_t(std::int64_t)> position{};
};

/// A plan that is not built yet.
struct Draft {
  std::string algorithm{};  ///< without threads
  /// Finalises what `execute` calls and sets the workspace size that it needs; returns the reason if cuDNN refuses.
  /// Null if nothing is left to do.
  std::function<std::optional<std::string>(Draft&)> finalize{};
  bool compiled_here = false;  ///< cuDNN generates its code during finalisation, which takes seconds
  std::function<void(cudnnHandle_t, const Arguments&)> execute{};
  std::vector<std::pair<std::size_t, OtherLayout>> inputs{}, outputs{};
  std::size_t workspace_bytes = 0;
  bool saves_multiplications = false;
  bool advised = false;  ///< cuDNN's heuristic lists it first
  double tolerance = 1e-4;
};

class Candidates {
 public:
  Candidates(std::shared_ptr<const Handle> handle, const Layer& layer, const Parameters& numbers);

  [[nodiscard]] cudnnHandle_t handle() const { return handle_->get(); }
  [[nodiscard]] Device& device() const { return handle_->device(); }
  [[nodiscard]] const Operands& operands() const { return operands_; }
  [[nodiscard]] const Parameters& numbers() const { return numbers_; }

  /// Starts a list of drafts, the most promising first.
  void begin_list() { rank_ = 0; }
  void add(Draft draft) { drafts_.emplace_back(rank_++, std::move(draft)); }
  /// Adds a reason why there may be no plan. The reasons are returned if no draft is added.
  void refuse(const std::string& reason);
  /// The first draft of each list, then the second of each, and so on; drafts whose code is generated here come last.
  [[nodiscard]] std::variant<PlanDrafts, Unsupported> result() &&;

 private:
  std::shared_ptr<const Handle> handle_;
  Operands operands_;
  Parameters numbers_;
  std::string no_call_, reasons_{};
  int rank_ = 0;
  std::vector<std::pair<int, Draft>> drafts_{};
};

/// Makes input or output `i` of a draft channels-last, unless that is the same order.
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
/// The steps of an epilogue as calls; `operand` is the number of the first input that they read. Empty, with the reason
/// in `why`, if cuDNN has no call for a step.
[[nodiscard]] std::optional<std::vector<EpilogueCall>> epilogue_calls(const Epilogue& post, const TensorShape& y,
                                                                      std::size_t channel_axis, std::size_t operand,
                                                                      Order order, const Arithmetic& arithmetic,
                                                                      std::string& why);
/// The shape with leading 1s up to `rank`. Empty if it has more dimensions than that, or if `rank` exceeds 5.
[[nodiscard]] std::optional<TensorShape> leading_ones(const TensorShape& shape, std::size_t rank);

}  // namespace benanza::cudnn
