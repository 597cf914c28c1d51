// SPDX-License-Identifier: Apache-2.0
// The report of `scale` as JSON and as CSV.
#include "scale_json.hpp"

#include "format/numbers.hpp"

#include <fmt/format.h>

#include <ostream>

namespace benanza {

using namespace format;

namespace {

Json rate(const std::optional<BytesPerSecond>& value) {
  return value ? format::number(in_gigabits(*value)) : Json(nullptr);
}

Json interval(const std::optional<Interval<BytesPerSecond>>& value) {
  return value ? Json{rate(value->least), rate(value->most)} : Json(nullptr);
}

Json point_json(const ScalingPoint& point) {
  Json speed_ups = nullptr;
  if (point.speed_up_interval)
    speed_ups = {format::number(point.speed_up_interval->least), format::number(point.speed_up_interval->most)};
  return {{"workers", point.workers},
          {"bandwidth_gbps", rate(point.bandwidth)},
          {"iteration_ms", format::ms(point.length)},
          {"communication_ms", format::ms(point.communication)},
          {"exposed_ms", format::ms(point.exposed)},
          {"speed_up", format::number(point.speed_up)},
          {"speed_up_interval", speed_ups},
          {"efficiency", format::number(point.efficiency)}};
}

Json detail_json(const ScalingDetail& detail) {
  Json buckets = Json::array(), gradients = Json::array();
  for (const auto& sent : detail.timeline.sent)
    buckets.push_back({{"gradients", sent.bucket.last - sent.bucket.first + 1},
                       {"bytes", format::whole(sent.bucket.bytes.value)},
                       {"ready_ms", format::ms(sent.ready)},
                       {"start_ms", format::ms(sent.start)},
                       {"end_ms", format::ms(sent.end())},
                       {"exposed_ms", format::ms(sent.exposed)}});
  for (const auto& one : detail.exposed)
    gradients.push_back(
        {{"parameter", one.name}, {"bytes", format::whole(one.bytes.value)}, {"exposed_ms", format::ms(one.exposed)}});
  return {{"bandwidth_gbps", rate(detail.bandwidth)}, {"buckets", buckets}, {"gradients", gradients}};
}

Json scaling_json(const Scaling& scaling) {
  const Iteration& at = scaling.iteration;
  const ScalingOptions& options = scaling.options;
  Json points = Json::array(), least = Json::array(), details = Json::array(), curves = Json::array(),
       other = Json::array();
  for (const auto& point : scaling.points) points.push_back(point_json(point));
  for (const auto& point : scaling.other_order) other.push_back(point_json(point));
  for (const auto& one : scaling.least)
    least.push_back({{"workers", one.workers},
                     {"break_even_gbps", rate(one.break_even)},
                     {"break_even_interval_gbps", interval(one.break_even_interval)},
                     {"break_even_without_overlap_gbps", rate(one.break_even_without_overlap)},
                     {"wanted_gbps", rate(one.wanted)},
                     {"wanted_interval_gbps", interval(one.wanted_interval)},
                     {"wanted_without_overlap_gbps", rate(one.wanted_without_overlap)}});
  for (const auto& detail : scaling.details) details.push_back(detail_json(detail));
  for (const auto& curve : scaling.curves) {
    Json bandwidths = Json::array(), efficiencies = Json::array();
    for (const auto& point : curve.points) {
      bandwidths.push_back(rate(point.bandwidth));
      efficiencies.push_back(format::number(point.efficiency));
    }
    curves.push_back({{"workers", curve.workers}, {"bandwidth_gbps", bandwidths}, {"efficiency", efficiencies}});
  }
  const auto name_of = [](auto value) { return enum_names(value)[static_cast<std::size_t>(value)]; };
  return {{"model", at.model},
          {"file", at.file},
          {"batch", at.batch},
          {"type", name(at.type)},
          {"workers", options.workers},
          {"algorithm", name_of(options.algorithm)},
          {"measured_by", options.measured ? Json(options.measured->backend) : Json(nullptr)},
          {"reached", {format::number(options.reached_least), format::number(options.reached_most)}},
          {"latency_ms", format::ms(options.latency)},
          {"overhead_ms", format::ms(options.exchange.overhead)},
          {"overhead_uncertainty", format::number(options.overhead_uncertainty)},
          {"order", name_of(options.exchange.order)},
          {"bucket_bytes", format::whole(options.exchange.bucket.value)},
          {"wanted_efficiency", format::number(options.efficiency)},
          {"forward_ms", format::ms(Iteration::sum(at.forward))},
          {"backward_ms", format::ms(Iteration::sum(at.backward))},
          {"update_ms", format::ms(at.update)},
          {"iteration_ms", format::ms(at.time())},
          {"iteration_uncertainty", format::number(at.uncertainty)},
          {"arithmetic_share", at.units ? format::number(at.units->arithmetic) : Json(nullptr)},
          {"memory_share", at.units ? format::number(at.units->memory) : Json(nullptr)},
          {"gradient_bytes", format::whole(at.gradient_bytes().value)},
          {"buckets", scaling.buckets.size()},
          {"points", points},
          {"other_order", other},
          {"least", least},
          {"exchanges", details},
          {"curves", curves},
          {"answers", scale_answers(scaling)}};
}

}  // namespace

format::Json report::scale_json(const ScaleReport& report) {
  Json models = Json::array();
  for (const auto& scaling : report.models) models.push_back(scaling_json(scaling));
  return {{"schema", 1}, {"times_of", report.times_of}, {"warnings", report.warnings}, {"models", models}};
}

void write_json(std::ostream& out, const ScaleReport& report) { format::write(out, report::scale_json(report)); }

void write_csv(std::ostream& out, const ScaleReport& report) {
  out << "model,batch,workers,bandwidth_gbps,iteration_ms,communication_ms,exposed_ms,speed_up,efficiency\n";
  for (const auto& scaling : report.models)
    for (const auto& point : scaling.points)
      out << fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n",
                         format::csv_field(scaling.iteration.model), scaling.iteration.batch, point.workers,
                         in_gigabits(point.bandwidth), point.length.value * 1e3, point.communication.value * 1e3,
                         point.exposed.value * 1e3, point.speed_up, point.efficiency);
}

}  // namespace benanza
