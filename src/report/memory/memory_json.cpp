// SPDX-License-Identifier: Apache-2.0
// The report of `memory` as JSON, as CSV and as the data of its page.
#include "memory_json.hpp"

#include "format/numbers.hpp"
#include "report/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

namespace benanza {

using namespace format;

namespace {

constexpr std::size_t largest_blocks = 20;

std::string key_of(std::size_t category) {
  const std::string_view name = enum_names(MemoryCategory{})[category];  // the array of names lives for this line
  std::string key;
  for (const char c : name)
    if (c != ',') key += c == ' ' ? '_' : c;
  return key;
}

Json by_category(const MemoryBytes& bytes) {
  Json result = Json::object();
  for (std::size_t c = 0; c < memory_categories; ++c) result[key_of(c)] = format::whole(bytes[c]);
  return result;
}

Json timeline_json(const MemoryProfile& profile) {
  Json nodes = Json::array(), phases = Json::array(), bytes = Json::object();
  for (std::size_t c = 0; c < memory_categories; ++c) bytes[key_of(c)] = Json::array();
  for (const auto& step : profile.steps) {
    nodes.push_back(step.node);
    phases.push_back(enum_names(Phase{})[static_cast<std::size_t>(step.phase)]);
    for (std::size_t c = 0; c < memory_categories; ++c) bytes[key_of(c)].push_back(format::whole(step.bytes[c]));
  }
  return {{"nodes", nodes}, {"phases", phases}, {"bytes", bytes}};
}

/// The largest tensors that are alive at the peak.
Json at_peak(const MemoryProfile& profile) {
  std::vector<const MemoryBlock*> alive;
  for (const auto& block : profile.blocks)
    if (block.first <= profile.peak && profile.peak <= block.last) alive.push_back(&block);
  std::stable_sort(alive.begin(), alive.end(), [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  if (alive.size() > largest_blocks) alive.resize(largest_blocks);
  Json result = Json::array();
  for (const auto* block : alive)
    result.push_back({{"tensor", block->name},
                      {"layer", block->layer},
                      {"category", key_of(static_cast<std::size_t>(block->category))},
                      {"bytes", format::whole(block->bytes)}});
  return result;
}

Json model_json(const MemoryReport::Model& model, const MemoryReport& report) {
  const MemoryProfile& profile = model.profile;
  Json layers = Json::array(), what_ifs = Json::array(), kept = Json::array();
  for (const auto& one : profile.kept)
    kept.push_back(
        {{"tensor", one.name}, {"layer", one.node}, {"reader", one.reader}, {"bytes", format::whole(one.bytes)}});
  for (const auto& layer : profile.layers)
    layers.push_back({{"node", layer.node}, {"op_type", layer.op_type}, {"bytes", by_category(layer.bytes)}});
  for (const auto& one : model.what_ifs)
    what_ifs.push_back({{"options", one.options},
                        {"peak_bytes", format::whole(one.peak_bytes)},
                        {"kept_bytes", format::whole(one.kept_bytes)},
                        {"products", one.work},
                        {"largest_batch", one.largest_batch ? Json(*one.largest_batch) : Json(nullptr)}});
  const bool timed = !profile.steps.empty();
  return {{"model", profile.model},
          {"file", profile.file},
          {"batch", profile.batch},
          {"training", profile.training},
          {"options", model.options},
          {"parameters", model.parameters},
          {"warnings", model.warnings},
          {"macs", format::whole(model.macs)},
          {"peak_bytes", format::whole(profile.peak_bytes())},
          {"peak_step", timed ? Json(profile.peak) : Json(nullptr)},
          {"at_peak", timed ? by_category(profile.steps[profile.peak].bytes) : by_category(profile.totals)},
          {"most_at_once", by_category(profile.totals)},
          {"kept_bytes", format::whole(profile.kept_bytes())},
          {"kept_unknown_in_eager_mode", profile.recurrent},
          {"workspace_known", profile.has_workspace},
          {"largest_batch", model.largest_batch ? Json(*model.largest_batch) : Json(nullptr)},
          {"latency_ms", format::ms(model.latency)},
          {"inputs_per_second", format::number(model.inputs_per_second())},
          {"instead", what_ifs},
          {"answers", memory_answers(model, report)},
          {"largest_at_peak", at_peak(profile)},
          {"kept", kept},
          {"layers", layers},
          {"timeline", timeline_json(profile)}};
}

}  // namespace

format::Json report::memory_json(const MemoryReport& report) {
  Json models = Json::array();
  for (const auto& model : report.models) models.push_back(model_json(model, report));
  return {{"schema", 1},
          {"capacity_bytes", whole(report.capacity_bytes)},
          {"capacity_of", report.capacity_of},
          {"largest_batch_tried", most_batch},
          {"times_of", report.times_of.empty() ? Json(nullptr) : Json(report.times_of)},
          {"sweep", report.sweep},
          {"models", models}};
}

void write_json(std::ostream& out, const MemoryReport& report) { format::write(out, report::memory_json(report)); }

void write_csv(std::ostream& out, const MemoryReport& report) {
  out << "model,batch,step,node,phase";
  for (std::size_t c = 0; c < memory_categories; ++c) out << ',' << key_of(c);
  out << ",total\n";
  for (const auto& model : report.models)
    for (std::size_t i = 0; i < model.profile.steps.size(); ++i) {
      const MemoryStep& step = model.profile.steps[i];
      out << fmt::format("{},{},{},{},{}", format::csv_field(model.profile.model), model.profile.batch, i,
                         format::csv_field(step.node), enum_names(Phase{})[static_cast<std::size_t>(step.phase)]);
      for (const double bytes : step.bytes) out << fmt::format(",{:.0f}", bytes);
      out << fmt::format(",{:.0f}\n", total(step.bytes));
    }
}

}  // namespace benanza
