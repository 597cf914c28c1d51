// SPDX-License-Identifier: Apache-2.0
// Where an engine deviates from the model: shapes, types, order.
#include "gap_questions.hpp"
#include <benanza/model/data_type.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

namespace benanza::gap {

namespace {

constexpr std::size_t most_out_of_order = 20;

std::string dims_text(const std::vector<std::int64_t>& dims) {
  std::string made;
  for (const auto dim : dims) made += (made.empty() ? "" : "x") + std::to_string(dim);
  return made;
}

/// Whether an engine's shape is the model's in some layout: the same extents in another order, with the channels
/// possibly split into blocks or padded to a whole block.
bool same_in_some_layout(const std::vector<std::int64_t>& model, const std::vector<std::int64_t>& engine) {
  const auto elements = [](const std::vector<std::int64_t>& dims) {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  };
  const bool batch = !model.empty() && model.size() == engine.size() && model[0] != engine[0];
  if (batch && elements(model) != elements(engine)) return false;
  std::vector<std::int64_t> rest = engine;
  std::int64_t channels = 1;
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (i == 1 && model.size() > 2) channels = model[i];
    else if (const auto found = std::find(rest.begin(), rest.end(), model[i]); found != rest.end()) rest.erase(found);
    else if (model[i] != 1) return false;
  }
  const std::int64_t left = elements(rest);
  constexpr std::array<std::int64_t, 5> blocks{1, 4, 8, 16, 32};
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](std::int64_t block) { return left == (channels + block - 1) / block * block; });
}

/// Shapes and types of the records' outputs, judged by the records that are certain to be a layer. Reported once, if
/// most of them deviate.
void add_other_tensors(std::vector<std::string>& result, const ModelLayers& model, const EngineProfile& profile,
                       const Gap& gap) {
  std::vector<std::string> shapes, types;
  std::size_t known = 0;
  for (const auto& record : gap.records) {
    const ProfileRecord& said = profile.records[record.record];
    if (!record.group || record.layers.empty() || record.by > MatchedBy::part_of_name) continue;
    const Occurrence& last = model.single.layers[record.layers.back()];
    if (last.outputs.empty() || said.outputs.empty()) continue;
    const ProfiledTensor& there = said.outputs[0];
    const LayerTensor& here = model.single.tensors[last.outputs[0]];
    if (there.dims.empty() || *std::min_element(there.dims.begin(), there.dims.end()) < 1) continue;
    ++known;
    if (!same_in_some_layout(here.dims, there.dims))
      shapes.push_back("'" + said.name + "' makes " + dims_text(there.dims) + ", the model " + dims_text(here.dims));
    const DataType stored = here.type == DataType::tf32 ? DataType::f32 : here.type;
    if (there.type != stored)
      types.push_back("'" + said.name + "' makes " + std::string(name(there.type)) + ", the model " +
                      std::string(name(stored)));
  }
  const auto tell = [&](const std::vector<std::string>& found, const std::string& why) {
    if (2 * found.size() > known)
      result.push_back(std::to_string(found.size()) + " of " + std::to_string(known) +
                       " records with known shapes, as " + found.front() + ": " + why);
  };
  tell(shapes, "another batch, input size or model?");
  tell(types, "the bound is not in the engine's type");
}

}  // namespace

std::vector<std::string> deviations_of(const ModelLayers& model, const EngineProfile& profile, const Gap& gap) {
  std::vector<std::string> result;
  add_other_tensors(result, model, profile, gap);
  std::size_t out_of_order = 0;
  std::map<std::size_t, const ProfileRecord*> served;  // layer of the single form -> its record, if certain
  for (const auto& record : gap.records)
    if (record.group && record.by <= MatchedBy::name && profile.records[record.record].start)
      for (const auto layer : record.layers) served.emplace(layer, &profile.records[record.record]);
  for (const auto& [layer, record] : served)
    for (const auto& before : model.single.layers[layer].predecessors) {
      const auto found = served.find(before.from);
      if (found == served.end() || *found->second->start <= *record->start) continue;
      result.push_back("'" + record->name + "' starts before '" + found->second->name + "', whose result it needs");
      if (++out_of_order >= most_out_of_order) return result;
    }
  return result;
}

}  // namespace benanza::gap
