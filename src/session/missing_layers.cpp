// SPDX-License-Identifier: Apache-2.0
#include "missing_layers.hpp"

#include <benanza/bounds/analyze.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/measuring_time.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace benanza {

namespace {

/// Whether the model has totals, of rounds that one run took of all its layers, and quiet ones.
bool has_totals(const ResultDatabase& database, const ModelLayers& model, const bench::Question& question) {
  const Analysis analysis = analyze(model, database, {.threads = question.threads, .backends = question.backends});
  const Rung& library = analysis[RungName::library];
  return library.withheld.empty() && library.common_rounds;
}

/// Whether the best plan of the layer in one of the states moved between groups of rounds: another one may be the best.
bool has_noisy_winner(std::span<const Measurement> rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Measurement& row) {
    return row.measured() && row.noisy && detail::sorted_finite(row.rounds_s).size() >= rounds_for_spread;
  });
}

/// Where the budget is spent: calls in the form that has more of them, and ways to run a part of a group.
double weight_of(const UniqueLayer& unique) {
  std::int64_t calls = 0;
  for (const auto& user : unique.users) calls += std::max(user.count, user.fused) + user.parts;
  return static_cast<double>(calls);
}

}  // namespace

MissingLayers missing_layers(const ResultDatabase& database, std::span<const ModelLayers> models,
                             const bench::Question& question, Again again) {
  const auto rows = database.newest_rows();
  const auto is_known = [&](const std::string& signature, const Layer& layer) {
    const auto found = rows.find(signature);
    return found != rows.end() && bench::is_known(layer, found->second, question);
  };
  LayerSet wanted;
  std::string name;
  std::set<std::string> needed;
  for (const auto& model : models) {
    const LayerSet layers = measurable_layers(model);
    bool complete = true;
    for (const auto& [layer_signature, unique] : layers.layers()) {
      needed.insert(layer_signature.text());
      complete = complete && is_known(layer_signature.text(), unique.layer);
    }
    if (complete && again != Again::all && has_totals(database, model, question)) continue;
    add_measurable(model, wanted);
    name += (name.empty() ? "" : "-") + model.single.model;
  }
  MissingLayers missing{.name = name.size() > 60 ? std::to_string(models.size()) + "-models" : name,
                        .needed = needed.size()};
  for (const auto& [layer_signature, unique] : wanted.layers()) {
    bench::Wanted entry{.layer = unique.layer, .weight = weight_of(unique)};
    const auto found = rows.find(layer_signature.text());
    const bool contest = found != rows.end() && again != Again::all && has_noisy_winner(found->second);
    if (!contest && is_known(layer_signature.text(), unique.layer)) {
      entry.known = found->second;
    } else if ((question.certain || contest) && found != rows.end()) {
      std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(missing.earlier),
                   [&](const Measurement& row) { return row.threads <= question.threads; });
    }
    if (entry.known.empty()) needed.erase(layer_signature.text());  // those that are left are known
    missing.layers.push_back(std::move(entry));
  }
  for (const auto& signature : needed)
    for (const auto& row : rows.at(signature)) missing.saved += measuring_time(row);
  return missing;
}

Seconds default_budget(std::span<const ModelLayers> models) {
  // A processor of 100 GFLOP/s calls each layer 50 times: a few times for each candidate, then in rounds, which call
  // each layer in several forms, cache states and thread counts.
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
