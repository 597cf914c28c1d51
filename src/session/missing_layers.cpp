// SPDX-License-Identifier: Apache-2.0
#include "missing_layers.hpp"

#include <benanza/base/detail/quantile.hpp>
#include <benanza/bounds/analyze.hpp>
#include <benanza/bounds/detail/session_rounds.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/comparison.hpp>
#include <benanza/results/measuring_time.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace benanza {

namespace {

/// A winner that is in doubt after this many sessions is settled: the session that found it, and two that measured it
/// again. Otherwise, a machine that is never quiet would be measured forever.
constexpr std::size_t most_sessions = 3;

/// Whether the model has totals from quiet rounds that one run took of all its layers.
bool has_totals(const ResultDatabase& database, const ModelLayers& model, const measure::Question& question) {
  const Analysis analysis = analyze(model, database, {.threads = question.threads, .backends = question.backends});
  const Rung& library = analysis[RungName::library];
  return !library.provisional() && library.common_rounds && !(analysis.quietest && analysis.quietest->in_doubt);
}

/// The best plan of a layer in each state, among those that rounds timed.
class Winners {
 public:
  void add(const Measurement& row) {
    if (row.rounds_s.empty() || !row.measured()) return;
    const Measurement*& best = best_[row.cache];
    if (best == nullptr || row.times->p10 < best->times->p10) best = &row;
  }
  [[nodiscard]] bool none() const { return best_.empty(); }
  template <class Is>
  [[nodiscard]] bool any(const Is& is) const {
    return std::any_of(best_.begin(), best_.end(), [&](const auto& best) { return is(*best.second); });
  }

 private:
  std::map<CacheState, const Measurement*> best_{};
};

/// Whether the plan's times changed between groups of rounds, or no sample of it was quiet. If so, another plan may be
/// the best.
bool moved(const Measurement& row) {
  return row.contended || (row.noisy && detail::sorted_finite(row.rounds_s).size() >= rounds_for_spread);
}

/// Whether the plan is in doubt for another reason than a session that had no time for rounds.
bool is_in_doubt(const Measurement& row) {
  return row.contended || (row.noisy && row.rounds_s.size() >= rounds_for_spread);
}

bool has_moved_winner(std::span<const Measurement> rows) {
  Winners winners;
  for (const auto& row : rows) winners.add(row);
  return winners.any(moved);
}

/// What sessions show about the winners of one layer.
struct Doubt {
  bool pending = false;      ///< after the latest session that timed rounds of the layer
  std::size_t sessions = 0;  ///< with the layer, and with a winner in doubt, of this layer or of another one
};

std::map<std::string, Doubt> doubts_of(const ResultDatabase& database, const measure::Question& question) {
  const auto& caches = question.caches;
  const auto is_asked_for = [&](CacheState cache) {
    return cache == CacheState::hot || std::find(caches.begin(), caches.end(), cache) != caches.end();
  };
  std::map<std::string, Doubt> doubts;
  for (const auto& run : database.runs()) {
    std::map<std::string, Winners> seen;
    for (const auto& row : run.rows)
      if (row.threads <= question.threads && is_asked_for(row.cache)) seen[row.signature].add(row);
    bool left_doubt = false;
    for (const auto& [signature, winners] : seen) {
      Doubt& doubt = doubts[signature];
      if (!winners.none()) doubt.pending = winners.any(is_in_doubt);
      left_doubt = left_doubt || doubt.pending;
    }
    if (!left_doubt) continue;
    for (const auto& [signature, winners] : seen) ++doubts[signature].sessions;
  }
  return doubts;
}

/// Rows, by name, of plans that ended the last process that tried them and are tried again.
std::set<std::string> retried_rows(const ResultDatabase& database, const std::optional<Retry>& retry) {
  constexpr std::size_t most_tries = 3;
  std::set<std::string> due;
  if (!retry) return due;
  std::map<std::string, std::set<std::pair<std::string, std::string>>> ends;  // days and versions, by row
  for (const auto& run : database.runs())
    for (const auto& row : run.rows) {
      const std::string name = row.name();
      if (row.status == RowStatus::ended) ends[name].emplace(run.started.substr(0, retry->day.size()), run.tool);
      else if (was_tried(row.status)) ends.erase(name);
    }
  for (const auto& [name, sessions] : ends)
    if (sessions.size() < most_tries && !sessions.contains({retry->day, retry->tool})) due.insert(name);
  return due;
}

/// Where the budget is spent: calls in the form that has more of them, and ways to run a part of a group.
double weight_of(const UniqueLayer& unique) {
  double calls = 0;
  for (const auto& user : unique.users)
    calls += static_cast<double>(std::max(user.count, user.fused)) + static_cast<double>(user.parts);
  return calls;
}

}  // namespace

MissingLayers missing_layers(const ResultDatabase& database, std::span<const ModelLayers> models,
                             const measure::Question& question, Again again, const std::optional<Retry>& retry) {
  const auto rows = database.newest_rows();
  const std::set<std::string> retried = retried_rows(database, retry);
  const auto is_retried = [&](const Measurement& row) {
    return row.threads <= question.threads && retried.contains(row.name());
  };
  const auto has_retries = [&](const std::string& signature) {
    const auto found = rows.find(signature);
    return found != rows.end() && std::any_of(found->second.begin(), found->second.end(), is_retried);
  };
  const auto is_known = [&](const std::string& signature, const Layer& layer) {
    const auto found = rows.find(signature);
    return found != rows.end() && measure::is_known(layer, found->second, question) && !has_retries(signature);
  };
  const auto doubts = again == Again::nothing ? doubts_of(database, question) : std::map<std::string, Doubt>{};
  const auto is_settled = [&](const std::string& signature) {
    const auto found = doubts.find(signature);
    return found == doubts.end() || !found->second.pending || found->second.sessions >= most_sessions;
  };
  detail::CrowdedChoices crowded;
  for (const auto& run : database.runs())
    for (const auto& row : run.rows)
      if (row.threads <= question.threads) crowded.add(run, row);
  LayerSet wanted;
  std::string name;
  std::set<std::string> needed;
  for (const auto& model : models) {
    const LayerSet layers = measurable_layers(model);
    bool complete = true, settled = true;
    for (const auto& [layer_signature, unique] : layers.layers()) {
      needed.insert(layer_signature.text());
      complete = complete && is_known(layer_signature.text(), unique.layer);
      settled = settled && is_settled(layer_signature.text());
    }
    if (complete && settled && again != Again::all && has_totals(database, model, question)) continue;
    add_measurable(model, wanted);
    name += (name.empty() ? "" : "-") + model.single.model;
  }
  MissingLayers missing{.name = name.size() > 60 ? std::to_string(models.size()) + "-models" : name,
                        .needed = needed.size()};
  for (const auto& [layer_signature, unique] : wanted.layers()) {
    measure::Wanted entry{.layer = unique.layer, .weight = weight_of(unique)};
    const auto found = rows.find(layer_signature.text());
    const bool may_repeat =
        again == Again::uncertain || (again == Again::nothing && !is_settled(layer_signature.text()));
    const bool is_crowded = again != Again::all && crowded.contains(layer_signature.text());
    const bool repeats = found != rows.end() && (is_crowded || (may_repeat && has_moved_winner(found->second)));
    if (!repeats && is_known(layer_signature.text(), unique.layer)) {
      entry.known = found->second;
    } else if ((question.certain || repeats || has_retries(layer_signature.text())) && found != rows.end()) {
      std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(missing.earlier),
                   [&](const Measurement& row) { return row.threads <= question.threads && !is_retried(row); });
    }
    if (entry.known.empty()) needed.erase(layer_signature.text());  // those that are left are known
    missing.layers.push_back(std::move(entry));
  }
  for (const auto& signature : needed)
    for (const auto& row : rows.at(signature)) missing.saved += measuring_time(row);
  return missing;
}

Seconds default_budget(std::span<const ModelLayers> models) {
  // A processor of 100 GFLOP/s calls each layer 50 times: a few times for each candidate, and the rest in rounds, which
  // call each layer in several forms, cache states and thread counts.
  constexpr FlopsPerSecond pace{2e9};
  const Seconds least{models.size() == 1 ? 45.0 : 36.0};
  Seconds budget{};
  for (const auto& model : models) {
    const LayerSet layers = measurable_layers(model);
    Flops once{};
    for (const auto& [signature, unique] : layers.layers()) once += cost(unique.layer).flops;
    budget += std::max(least, once / pace);
  }
  return budget;
}

}  // namespace benanza
