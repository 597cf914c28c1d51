// SPDX-License-Identifier: Apache-2.0
// The rows that a witness needs, without measuring: of every plan that backends offer for the layers of a model. The
// times are made up, because the witness only orders plans by them.
#pragma once

#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/backend.hpp>
#include <benanza/results/results.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::testing {

/// `only_in_place`: a layer with plans that add in place has only the rows of those plans. `threads`: of every plan.
inline ResultDatabase rows_for(const Graph& graph, const std::vector<std::shared_ptr<const Backend>>& backends,
                               bool only_in_place = false, int threads = 1) {
  const ModelLayers layers = make_model_layers(graph);
  Run run;
  std::set<std::string> seen;
  const auto add = [&](const Layer& layer, double time) {
    const std::string signature = LayerSignature(layer).text();
    if (is_free(layer) || !seen.insert(signature).second) return;
    std::vector<Measurement> rows;
    for (const auto& backend : backends) {
      auto drafts = backend->drafts(layer, threads);
      auto* list = std::get_if<PlanDrafts>(&drafts);
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
        rows.push_back({.backend = std::string(backend->name()),
                        .algorithm = (*list)[i].algorithm,
                        .signature = signature,
                        .threads = threads,
                        .samples = 1,
                        .times = MeasuredTimes{.p10 = {time + static_cast<double>(i) * 1e-6}, .median = {time}}});
    }
    const auto adds = [](const Measurement& row) { return row.algorithm.find(",sum=in_place") != std::string::npos; };
    const bool some = only_in_place && std::any_of(rows.begin(), rows.end(), adds);
    for (auto& row : rows)
      if (!some || adds(row)) run.rows.push_back(std::move(row));
  };
  for (const auto& at : layers.fused.layers) {
    add(at.layer, 10e-6);
    for (const auto& piece : at.pieces) add(piece.layer, 15e-6);
  }
  for (const auto& at : layers.single.layers) add(at.layer, 30e-6);
  ResultDatabase database;
  database.add(std::move(run));
  return database;
}

}  // namespace benanza::testing
