// SPDX-License-Identifier: Apache-2.0
#include <benanza/results/result_diff.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace benanza {

namespace {

using Key = std::pair<std::string, CacheState>;

/// What one side knows about a layer.
struct TriedPlans {
  std::map<std::string, const Measurement*> plans{};  ///< by backend and algorithm; from the later run

  [[nodiscard]] const Measurement* fastest() const {
    const Measurement* best = nullptr;
    for (const auto& [plan, row] : plans)
      if (row->measured() && (!best || timing_of(*row).median < timing_of(*best).median)) best = row;
    return best;
  }
  [[nodiscard]] std::string why_none() const {
    return plans.empty() ? "no row" : "no valid row: " + plans.begin()->second->reason;
  }
};

std::map<Key, TriedPlans> sides(const ResultDatabase& results, int threads, const std::set<std::string>& only) {
  const Machine machine = results.machine();
  if (threads == 0 && !results.runs().empty()) threads = machine.cores;
  std::map<Key, TriedPlans> found;
  for (const auto& run : results.runs())
    for (const auto& row : run.rows)
      if (row.threads <= threads && row.backend != "reference" && (only.empty() || only.contains(row.signature)))
        found[{row.signature, row.cache}].plans[row.backend + "/" + row.algorithm] = &row;
  return found;
}

auto rank(const LayerChange& layer) {
  return std::tuple(layer.comparison.verdict, -std::fabs(layer.comparison.change.value_or(0)));
}

Comparison compare_rows(const Measurement& before, const Measurement& after, double tolerance) {
  if (is_same(before, after)) return {.verdict = Verdict::same, .change = 0.0};
  return compare(timing_of_session(before), timing_of_session(after), tolerance);
}

/// Whether two kernels are the same work for the device; times and counters are ignored.
bool is_alike(const KernelLaunch& a, const KernelLaunch& b) {
  return a.name == b.name && a.grid == b.grid && a.block == b.block &&
         a.registers_per_thread == b.registers_per_thread && a.static_shared_bytes == b.static_shared_bytes &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

/// The kernels of `these` that `others` lacks, or has less often.
std::vector<KernelLaunch> without(std::vector<KernelLaunch> these, const std::vector<KernelLaunch>& others) {
  std::vector<KernelLaunch> left = others;
  std::erase_if(these, [&](const KernelLaunch& kernel) {
    const auto found =
        std::find_if(left.begin(), left.end(), [&](const auto& other) { return is_alike(kernel, other); });
    if (found == left.end()) return false;
    left.erase(found);
    return true;
  });
  return these;
}

std::optional<KernelChanges> kernel_changes(const Measurement& before, const Measurement& after) {
  const auto &first = before.kernel_launches, &second = after.kernel_launches;
  if (first.empty() || second.empty()) return std::nullopt;
  return KernelChanges{.gone = without(first, second), .added = without(second, first)};
}

}  // namespace

std::vector<LayerChange> diff_layers(const ResultDatabase& before, const ResultDatabase& after,
                                     const DiffOptions& options, const std::set<std::string>& only) {
  const auto old_side = sides(before, options.threads_before, only);
  const auto new_side = sides(after, options.threads_after, only);
  std::map<Key, std::pair<TriedPlans, TriedPlans>> both;
  for (const auto& [key, side] : old_side) both[key].first = side;
  for (const auto& [key, side] : new_side) both[key].second = side;
  std::vector<LayerChange> changes;
  for (const auto& [key, pair] : both) {
    const Measurement *first = pair.first.fastest(), *second = pair.second.fastest();
    if (!first && !second) continue;  // no library has a valid row on either side
    LayerChange change{.signature = key.first, .cache = key.second};
    if (first) change.before = *first;
    else change.comparison.reason = "before: " + pair.first.why_none();
    if (second) change.after = *second;
    else change.comparison.reason = "after: " + pair.second.why_none();
    if (first && second) {
      change.comparison = compare_rows(*first, *second, options.tolerance);
      change.kernels = kernel_changes(*first, *second);
    }
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LayerChange& a, const LayerChange& b) { return rank(a) < rank(b); });
  return changes;
}

}  // namespace benanza
