// SPDX-License-Identifier: Apache-2.0
// CallPlans: the plans that can compute a layer, from the rows of a database.
#pragma once

#include "arrangement.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/plan/backend.hpp>
#include <benanza/results/measurement.hpp>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::execution {

struct CallPlan {
  /// If null, nothing is called: operands are written where the result has them, or results are where the operand is.
  std::shared_ptr<const Plan> plan{};
  std::string backend{};
  bool uses_openmp = false;
  Seconds alone{};  ///< time in its row, with everything in the caches; 0 if it has no row
  std::vector<Arrangement> inputs{}, outputs{};
  std::vector<std::size_t> offsets{};  ///< if nothing is called: of the parts within the whole, in bytes
  [[nodiscard]] std::string name() const { return plan ? backend + " " + plan->algorithm() : "in place"; }
  [[nodiscard]] int threads() const { return plan ? plan->threads() : 1; }
};

class CallPlans {
 public:
  CallPlans(std::map<std::string, std::vector<Measurement>> rows, std::vector<std::shared_ptr<const Backend>> backends,
            int threads)
      : rows_(std::move(rows)), backends_(std::move(backends)), threads_(threads) {}

  /// The time of the fastest row. Empty if no row has a time.
  [[nodiscard]] std::optional<Seconds> best_time(const Layer& layer) const;
  /// The plans of the fastest rows, the fastest first. If no row has a time, the first plan that a backend offers. All
  /// compute with `numbers`; none if no backend does. Built once for each layer and its numbers.
  [[nodiscard]] const std::vector<CallPlan>& of(const Layer& layer, const Parameters& numbers);
  /// The plan of the fastest row. Empty if the layer has no row whose plan a backend can build.
  [[nodiscard]] std::optional<CallPlan> fastest_plan(const Layer& layer) const;
  /// The plan of the fastest row that takes and gives row-major tensors; constants may be in other forms. If no row has
  /// such a plan, the plan of the fastest row; if no row has a time, the first that a backend offers. It computes with
  /// `numbers`.
  [[nodiscard]] std::optional<CallPlan> row_major_plan(const Layer& layer, const Parameters& numbers) const;
  /// Every plan that a backend offers, without times, either on one thread or on as many as calls may use.
  [[nodiscard]] std::vector<CallPlan> offered(const Layer& layer, bool on_one_thread) const;

 private:
  [[nodiscard]] std::vector<const Measurement*> fastest(const Layer& layer) const;
  /// The plans of the fastest rows, at most `most` of them.
  [[nodiscard]] std::vector<CallPlan> of_rows(const Layer& layer, const Parameters& numbers, std::size_t most) const;
  [[nodiscard]] std::optional<CallPlan> first_offered(const Layer& layer, const Parameters& numbers) const;

  std::map<std::string, std::vector<Measurement>> rows_;
  std::vector<std::shared_ptr<const Backend>> backends_;
  int threads_;
  struct Built {
    Parameters numbers{};
    std::vector<CallPlan> plans{};
  };
  std::map<std::string, std::list<Built>> built_{};  ///< by signature
};

}  // namespace benanza::execution
