// SPDX-License-Identifier: Apache-2.0
// The report of `predict` as JSON and as CSV.
#include "predict_json.hpp"

#include "format/numbers.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

namespace benanza {

using namespace format;

namespace {

std::string_view method_name(PredictionMethod method) { return enum_names(method)[static_cast<std::size_t>(method)]; }
/// A time from a row of the target is measured, all others are predicted; the two are never confused.
std::string_view status_of(const PredictedLayer& layer) {
  if (!layer.time) return "no basis";
  return layer.method == PredictionMethod::measured ? "measured" : "predicted";
}

/// Whether any layer has a basis: without one, the total is not 0 but unknown.
bool is_known(const Prediction& target) { return target.total.time.value > 0; }

std::string_view status_of(const Prediction& target) {
  if (!is_known(target)) return "no basis";
  const bool measured = !target.partial() && target.total.time == target.time_of(PredictionMethod::measured);
  return measured ? "measured" : "predicted";
}

Json layer_json(const PredictedLayer& layer) {
  const auto of_time = [&](Seconds PredictedTime::*member) {
    return layer.time ? format::ms((*layer.time).*member) : Json(nullptr);
  };
  return {{"signature", layer.signature},
          {"node", layer.node},
          {"count", layer.count},
          {"status", status_of(layer)},
          {"method", method_name(layer.method)},
          {"origin_ms", format::ms(layer.origin)},
          {"time_ms", of_time(&PredictedTime::time)},
          {"low_ms", of_time(&PredictedTime::low)},
          {"high_ms", of_time(&PredictedTime::high)},
          {"floor_ms", format::ms(layer.floor)},
          {"raised", layer.raised},
          {"reason", layer.reason}};
}

Json target_json(const Prediction& target) {
  Json methods = Json::object(), layers = Json::array();
  for (std::size_t m = 0; m < prediction_method_count; ++m)
    methods[std::string(method_name(static_cast<PredictionMethod>(m)))] = {{"layers", target.count[m]},
                                                                           {"time_ms", format::ms(target.time[m])}};
  for (const auto& layer : target.layers) layers.push_back(layer_json(layer));
  const auto part = [&](Seconds time) { return is_known(target) ? format::ms(time) : Json(nullptr); };
  return {{"device", target.target},
          {"record", target.record},
          {"status", status_of(target)},
          {"partial", target.partial()},
          {"total_ms", part(target.total.time)},
          {"low_ms", part(target.total.low)},
          {"high_ms", part(target.total.high)},
          {"items_per_s", format::number(target.throughput())},
          {"price_per_hour", format::number(target.price)},
          {"items_per_cost", format::number(target.throughput_per_cost())},
          {"raised_to_floor", target.raised},
          {"clocks", target.clocks},
          {"methods", methods},
          {"layers", layers}};
}

std::string cell(const std::optional<Seconds>& time) {
  return time ? fmt::format("{:.6g}", time->value * 1e3) : std::string();
}

/// The first fields of a line of CSV.
std::string head_of(const PredictedModel& model, const Prediction& target) {
  return fmt::format("{},{},{}", format::csv_field(model.model), model.batch, format::csv_field(target.target));
}

}  // namespace

format::Json report::predict_json(const PredictReport& report) {
  Json models = Json::array();
  for (const auto& model : report.models) {
    Json targets = Json::array();
    for (const auto& target : model.targets) targets.push_back(target_json(target));
    models.push_back({{"model", model.model},
                      {"file", model.file},
                      {"batch", model.batch},
                      {"origin", model.origin},
                      {"origin_ms", ms(model.origin_time)},
                      {"origin_missing", model.origin_missing},
                      {"targets", targets}});
  }
  return {{"schema", 1}, {"warnings", report.warnings}, {"models", models}};
}

void write_json(std::ostream& out, const PredictReport& report) { format::write(out, report::predict_json(report)); }

void write_csv(std::ostream& out, const PredictReport& report) {
  out << "model,batch,device,signature,count,status,method,origin_ms,time_ms,low_ms,high_ms,floor_ms,raised\n";
  for (const auto& model : report.models)
    for (const auto& target : model.targets) {
      const std::string head = head_of(model, target);
      for (const auto& layer : target.layers) {
        const auto part = [&](Seconds PredictedTime::*member) {
          return layer.time ? cell((*layer.time).*member) : std::string();
        };
        out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", head, format::csv_field(layer.signature), layer.count,
                           status_of(layer), method_name(layer.method), cell(layer.origin), part(&PredictedTime::time),
                           part(&PredictedTime::low), part(&PredictedTime::high), cell(layer.floor),
                           layer.raised ? 1 : 0);
      }
    }
}

void write_rungs_csv(std::ostream& out, const PredictReport& report) {
  out << "model,batch,device,status,origin_ms,time_ms,low_ms,high_ms,raised_layers\n";
  for (const auto& model : report.models)
    for (const auto& target : model.targets) {
      const auto part = [&](Seconds time) { return is_known(target) ? cell(time) : std::string(); };
      out << fmt::format("{},{},{},{},{},{},{}\n", head_of(model, target),
                         is_known(target) && target.partial() ? "partial" : status_of(target), cell(model.origin_time),
                         part(target.total.time), part(target.total.low), part(target.total.high), target.raised);
    }
}

}  // namespace benanza
