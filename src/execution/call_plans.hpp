// SPDX-License-Identifier: Apache-2.0
// CallPlans: the plans that a layer may be called by, from the rows of a database.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/plan/backend.hpp>
#include <benanza/results/measurement.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::execution {

struct CallPlan {
  std::shared_ptr<const Plan> plan{};
  std::string backend{};
  bool uses_openmp = false;
  Seconds alone{};  ///< of its row, everything in the caches; 0: it has none
  [[nodiscard]] std::string name() const { return backend + " " + plan->algorithm(); }
};

class CallPlans {
 public:
  CallPlans(std::map<std::string, std::vector<Measurement>> rows, std::vector<std::shared_ptr<const Backend>> backends,
            int threads)
      : rows_(std::move(rows)), backends_(std::move(backends)), threads_(threads) {}

  /// What the fastest plan takes by its row; nothing where no row has a time.
  [[nodiscard]] std::optional<Seconds> best_time(const Layer& layer) const;
  /// The plans of the fastest rows, the fastest first; the first that a backend offers where no row has a time. Built
  /// once for each layer.
  [[nodiscard]] const std::vector<CallPlan>& of(const Layer& layer);

 private:
  [[nodiscard]] std::vector<const Measurement*> fastest(const Layer& layer) const;

  std::map<std::string, std::vector<Measurement>> rows_;
  std::vector<std::shared_ptr<const Backend>> backends_;
  int threads_;
  std::map<std::string, std::vector<CallPlan>> built_{};  ///< by signature
};

}  // namespace benanza::execution
