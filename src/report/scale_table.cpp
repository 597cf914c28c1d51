// SPDX-License-Identifier: Apache-2.0
// The report of `scale` for a terminal:
//
//   resnet50    batch 2 on each worker    one iteration 41.9 ms
//   102 MB of f32 gradients in 5 buckets    ring, latency 0 ms, fifo
//
//     workers        10 Gbps            100 Gbps        least for
//                speed-up     eff.   speed-up     eff.   more than one   90 %
//           2        1.32   66.0 %       1.93   96.4 %       6.91 Gbps   41.2 Gbps
#include "format.hpp"
#include "text.hpp"
#include <benanza/report/scale_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

namespace {

using namespace report;

constexpr std::size_t gradients_that_matter = 5;
constexpr std::size_t bandwidths_in_a_line = 3;

std::string rate_text(BytesPerSecond rate) { return scaled(rate.value * 8) + "bit/s"; }
std::string rate_text(const std::optional<BytesPerSecond>& rate) {
  if (!rate) return "none";
  return rate->value > 0 ? rate_text(*rate) : "any";
}
std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }
double share_of(Seconds part, Seconds whole) { return whole.value > 0 ? part / whole : 0; }
std::string_view order_name(SendOrder order) { return enum_names(order)[static_cast<std::size_t>(order)]; }

void head(std::ostream& out, const Scaling& scaling, const ScaleReport& report) {
  const Iteration& at = scaling.iteration;
  out << fmt::format("{}    batch {} on each worker    one worker: {} an iteration\n", clipped(at.model, 30), at.batch,
                     time_text(at.time()));
  out << fmt::format("{}B of {} gradients in {} bucket{}    {}, latency {}, {} order\n",
                     scaled(at.gradient_bytes().value), name(at.type), scaling.buckets.size(),
                     scaling.buckets.size() == 1 ? "" : "s",
                     enum_names(scaling.options.algorithm)[static_cast<std::size_t>(scaling.options.algorithm)],
                     time_text(scaling.options.latency), order_name(scaling.options.exchange.order));
  out << fmt::format("forward {}, backward {}, optimizer {}\n", time_text(Iteration::sum(at.forward)),
                     time_text(Iteration::sum(at.backward)), time_text(at.update));
  out << wrapped("times: " + report.times_of, 78, 0);
}

const ScalingPoint& point_of(const Scaling& scaling, std::size_t bandwidth, std::size_t row) {
  return scaling.points[bandwidth * scaling.least.size() + row];
}

void speed_ups(std::ostream& out, const Scaling& scaling) {
  const auto& bandwidths = scaling.options.bandwidths;
  for (std::size_t first = 0; first < bandwidths.size(); first += bandwidths_in_a_line) {
    const std::size_t last = std::min(first + bandwidths_in_a_line, bandwidths.size());
    out << fmt::format("\n  {:>7}", "");
    for (std::size_t b = first; b < last; ++b) out << fmt::format(" {:>22}", rate_text(bandwidths[b]));
    out << fmt::format("\n  {:>7}", "workers");
    for (std::size_t b = first; b < last; ++b) out << fmt::format(" {:>11} {:>10}", "speed-up", "efficiency");
    out << '\n';
    for (std::size_t row = 0; row < scaling.least.size(); ++row) {
      out << fmt::format("  {:>7}", scaling.least[row].workers);
      for (std::size_t b = first; b < last; ++b) {
        const ScalingPoint& point = point_of(scaling, b, row);
        out << fmt::format(" {:>11.3g} {:>10}", point.speed_up, percent(point.efficiency));
      }
      out << '\n';
    }
  }
}

void least_rows(std::ostream& out, const Scaling& scaling) {
  const std::string wanted = fmt::format("{:.3g} %", 100 * scaling.options.efficiency);
  out << fmt::format("\n  {:<7} {:>32} {:>34}\n", "least", "faster than one worker", wanted + " efficiency");
  out << fmt::format("  {:>7} {:>15} {:>16} {:>16} {:>17}\n", "workers", "with overlap", "without", "with overlap",
                     "without");
  for (const auto& least : scaling.least)
    out << fmt::format("  {:>7} {:>15} {:>16} {:>16} {:>17}\n", least.workers, rate_text(least.break_even),
                       rate_text(least.break_even_without_overlap), rate_text(least.wanted),
                       rate_text(least.wanted_without_overlap));
}

void exposed_rows(std::ostream& out, const Scaling& scaling, const TableOptions& options) {
  const ScalingDetail& detail = scaling.details.front();
  out << fmt::format("\n  {} workers at {}: {} of communication, {} of it exposed\n", scaling.options.workers,
                     rate_text(detail.bandwidth), time_text(detail.timeline.communication()),
                     time_text(detail.timeline.exposed));
  if (detail.timeline.exposed.value <= 0) return;
  const auto waited = static_cast<std::size_t>(std::count_if(detail.exposed.begin(), detail.exposed.end(),
                                                             [](const auto& one) { return one.exposed.value > 0; }));
  const std::size_t count = options.all ? waited : std::min(waited, gradients_that_matter);
  out << fmt::format("  {:>10} {:>7} {:>9}  gradient of\n", "exposed", "share", "bytes");
  for (std::size_t i = 0; i < count; ++i) {
    const ExposedGradient& one = detail.exposed[i];
    out << fmt::format("  {:>10} {:>7} {:>9}  {}\n", time_text(one.exposed),
                       percent(share_of(one.exposed, detail.timeline.exposed)), scaled(one.bytes.value) + "B",
                       clipped(one.name, 46));
  }
  if (count < waited) out << fmt::format("  ({} more: --all)\n", waited - count);
}

}  // namespace

std::vector<std::string> scale_answers(const Scaling& scaling) {
  std::vector<std::string> answers;
  const std::int64_t n = scaling.options.workers;
  const LeastBandwidths& least = scaling.least.back();
  if (!least.break_even)
    answers.push_back(
        fmt::format("{} workers are never faster than one: the latency of the messages alone takes longer", n));
  else if (least.break_even->value <= 0)
    answers.push_back(fmt::format("{} workers exchange nothing and are {} times as fast as one", n, n));
  else
    answers.push_back(fmt::format("{} workers are faster than one from {} on ({} without overlap)", n,
                                  rate_text(least.break_even), rate_text(least.break_even_without_overlap)));
  const std::string wanted = percent(scaling.options.efficiency);
  if (!least.wanted)
    answers.push_back(fmt::format("no bandwidth gives {} efficiency: the latency is too long", wanted));
  else if (least.wanted->value > 0)
    answers.push_back(fmt::format("{} efficiency needs {}", wanted, rate_text(least.wanted)));
  for (std::size_t b = 0; b < scaling.details.size(); ++b) {
    const ScalingPoint& point = point_of(scaling, b, scaling.least.size() - 1);
    const ScalingDetail& detail = scaling.details[b];
    const std::string at =
        fmt::format("at {} {} workers do the work of {:.3g}", rate_text(detail.bandwidth), n, point.speed_up);
    const double share = share_of(point.exposed, point.length);
    if (share < 0.005) answers.push_back(at + ": the exchange is hidden behind backward");
    else
      answers.push_back(fmt::format("{}: {} of an iteration waits for the network, longest for the gradient of {}", at,
                                    percent(share), clipped(detail.exposed.front().name, 40)));
  }
  const ScalingPoint &now = point_of(scaling, 0, scaling.least.size() - 1), &other = scaling.other_order.front();
  const SendOrder order = scaling.options.exchange.order;
  if (order == SendOrder::fifo && other.length < now.length * 0.995)
    answers.push_back(fmt::format("at {} --order priority makes an iteration {} shorter", rate_text(now.bandwidth),
                                  percent(1 - other.length / now.length)));
  return answers;
}

void write_table(std::ostream& out, const ScaleReport& report, const TableOptions& options) {
  bool first = true;
  for (const auto& scaling : report.models) {
    if (!std::exchange(first, false)) out << '\n';
    head(out, scaling, report);
    speed_ups(out, scaling);
    least_rows(out, scaling);
    exposed_rows(out, scaling, options);
    out << '\n';
    for (const auto& answer : scale_answers(scaling)) out << wrapped(answer, 78, 2);
  }
}

}  // namespace benanza
