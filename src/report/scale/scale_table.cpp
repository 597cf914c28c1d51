// SPDX-License-Identifier: Apache-2.0
// The report of `scale` for a terminal:
//
//   resnet50    batch 2 on each worker    one iteration 41.9 ms
//   102 MB of f32 gradients in 5 buckets    ring, latency 0 ms, fifo
//
//     workers        10 Gbps            100 Gbps        least for
//                speed-up     eff.   speed-up     eff.   more than one   90 %
//           2        1.32   66.0 %       1.93   96.4 %       6.91 Gbps   41.2 Gbps
#include "format/numbers.hpp"
#include "format/text.hpp"
#include <benanza/report/scale_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

using namespace format;

namespace {

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

/// `25 Gbit/s`, or the measured network.
std::string network_text(const Scaling& scaling, BytesPerSecond bandwidth) {
  if (!scaling.options.measured) return rate_text(bandwidth);
  return fmt::format("what {} was measured to take", scaling.options.measured->backend);
}

void head(std::ostream& out, const Scaling& scaling, const ScaleReport& report) {
  const Iteration& at = scaling.iteration;
  out << fmt::format("{}    batch {} on each worker    one worker: {} an iteration\n", clipped(at.model, 30), at.batch,
                     time_text(at.time()));
  out << fmt::format("{}B of {} gradients in {} bucket{}    {}, latency {}, {} order\n",
                     scaled(at.gradient_bytes().value), name(at.type), scaling.buckets.size(),
                     scaling.buckets.size() == 1 ? "" : "s",
                     enum_names(scaling.options.algorithm)[static_cast<std::size_t>(scaling.options.algorithm)],
                     time_text(scaling.options.latency), order_name(scaling.options.exchange.order));
  if (const Seconds overhead = scaling.options.exchange.overhead; overhead.value > 0)
    out << fmt::format("packing and unpacking all gradients takes {}{}\n", time_text(overhead),
                       scaling.options.overhead_uncertainty > 0
                           ? fmt::format(" ± {:.2g} %", 100 * scaling.options.overhead_uncertainty)
                           : "");
  if (at.uncertainty > 0) out << fmt::format("an iteration is known to ± {:.2g} %\n", 100 * at.uncertainty);
  out << fmt::format("forward {}, backward {}, optimizer {}\n", time_text(Iteration::sum(at.forward)),
                     time_text(Iteration::sum(at.backward)), time_text(at.update));
  out << wrapped("times: " + report.times_of, 78, 0);
}

const ScalingPoint& point_of(const Scaling& scaling, std::size_t bandwidth, std::size_t row) {
  return scaling.points[bandwidth * scaling.least.size() + row];
}
/// The row with the most workers.
const ScalingPoint& last_point(const Scaling& scaling, std::size_t bandwidth) {
  return scaling.options.measured ? scaling.points.back() : point_of(scaling, bandwidth, scaling.least.size() - 1);
}

/// `1.32 (1.28 to 1.35)`.
std::string with_interval(double value, const std::optional<Interval<double>>& interval) {
  std::string text = fmt::format("{:.3g}", value);
  if (interval) text += fmt::format(" ({:.3g} to {:.3g})", interval->least, interval->most);
  return text;
}
std::string with_interval(const std::optional<BytesPerSecond>& value,
                          const std::optional<Interval<BytesPerSecond>>& interval) {
  std::string text = rate_text(value);
  if (value && interval) text += fmt::format(" ({} to {})", rate_text(interval->least), rate_text(interval->most));
  return text;
}

void measured_speed_ups(std::ostream& out, const Scaling& scaling) {
  out << fmt::format("\n  all-reduces as measured by {}\n", scaling.options.measured->backend);
  out << fmt::format("  {:>7} {:>22} {:>11} {:>15} {:>16}\n", "workers", "speed-up", "efficiency", "communication",
                     "as a network of");
  for (const auto& point : scaling.points)
    out << fmt::format("  {:>7} {:>22} {:>11} {:>15} {:>16}\n", point.workers,
                       with_interval(point.speed_up, point.speed_up_interval), percent(point.efficiency),
                       time_text(point.communication), rate_text(point.bandwidth));
}

void speed_ups(std::ostream& out, const Scaling& scaling) {
  if (scaling.options.measured) return measured_speed_ups(out, scaling);
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
  for (const auto& least : scaling.least) {
    const auto &even = least.break_even_interval, &high = least.wanted_interval;
    if (!even || !high) continue;
    if (&least == &scaling.least.front())
      out << fmt::format("\n  {:<7} {:>32} {:>34}\n", "between", "faster than one worker", wanted + " efficiency");
    out << fmt::format("  {:>7} {:>15} {:>16} {:>16} {:>17}\n", least.workers, rate_text(even->least),
                       rate_text(even->most), rate_text(high->least), rate_text(high->most));
  }
}

void exposed_rows(std::ostream& out, const Scaling& scaling, const TableOptions& options) {
  const ScalingDetail& detail = scaling.details.front();
  out << fmt::format("\n  {} workers at {}: {} of communication, {} of it exposed\n", scaling.options.workers,
                     network_text(scaling, detail.bandwidth), time_text(detail.timeline.communication()),
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

/// The share of an iteration at the first network that a network without any time for bytes would save.
double bandwidth_saves(const Scaling& scaling, const ScalingPoint& now) {
  const auto curve = std::find_if(scaling.curves.begin(), scaling.curves.end(),
                                  [&](const ScalingCurve& each) { return each.workers == now.workers; });
  if (curve == scaling.curves.end() || curve->points.empty()) return 1;
  const double most = curve->points.back().efficiency;  // 316 times what sends all gradients while one worker computes
  return most > now.efficiency ? 1 - now.efficiency / most : 0;
}

/// What would shorten an iteration at the first network the most: the other order, less overhead, fewer messages, no
/// waiting at all, or faster computation.
std::string opportunity(const Scaling& scaling, const ScalingPoint& now, const ScalingPoint& other,
                        const std::string& there) {
  const SendOrder order = scaling.options.exchange.order;
  const double waits = share_of(now.exposed, now.length);
  const double saved = 1 - other.length / now.length;
  if (order == SendOrder::fifo && saved > 0.005 && saved > waits / 4)
    return fmt::format("the best opportunity at {}: --order priority makes an iteration {} shorter, of {} that waits",
                       there, percent(saved), percent(waits));
  const double overhead = share_of(scaling.details.front().timeline.overhead, now.length);
  if (overhead >= std::max(waits, 0.2))
    return fmt::format(
        "the best opportunity at {} is the overhead: packing and unpacking gradients takes {} of an iteration", there,
        percent(overhead));
  if (const double saves = bandwidth_saves(scaling, now); waits >= 0.2 && saves < waits / 2)
    return fmt::format(
        "the best opportunity at {} is latency: fewer messages (a larger --bucket) shorten what waits, {} of an "
        "iteration; no bandwidth saves more than {}",
        there, percent(waits), percent(saves));
  if (waits >= 0.2)
    return fmt::format(
        "the best opportunity at {} is the network: half the bytes (--precision mixed) or twice the "
        "bandwidth shorten what waits, {} of an iteration",
        there, percent(waits));
  return fmt::format("the best opportunity at {} is the computation: {} of an iteration waits for the network", there,
                     percent(waits));
}

}  // namespace

std::vector<std::string> scale_answers(const Scaling& scaling) {
  std::vector<std::string> answers;
  const std::int64_t n = scaling.options.workers;
  const LeastBandwidths& least = scaling.least.back();
  if (!least.break_even)
    answers.push_back(fmt::format("{} workers are never faster than one: latency and overhead alone take longer", n));
  else if (least.break_even->value <= 0)
    answers.push_back(fmt::format("{} workers exchange nothing and are {} times as fast as one", n, n));
  else
    answers.push_back(fmt::format("{} workers are faster than one from {} on, without overlap from {}", n,
                                  with_interval(least.break_even, least.break_even_interval),
                                  rate_text(least.break_even_without_overlap)));
  const std::string wanted = percent(scaling.options.efficiency);
  if (!least.wanted)
    answers.push_back(fmt::format("no bandwidth gives {} efficiency: latency and overhead are too long", wanted));
  else if (least.wanted->value > 0)
    answers.push_back(
        fmt::format("{} efficiency needs {}", wanted, with_interval(least.wanted, least.wanted_interval)));
  for (std::size_t b = 0; b < scaling.details.size(); ++b) {
    const ScalingPoint& point = last_point(scaling, b);
    const ScalingDetail& detail = scaling.details[b];
    const std::string at = fmt::format("at {} {} workers do the work of {}", network_text(scaling, detail.bandwidth), n,
                                       with_interval(point.speed_up, point.speed_up_interval));
    const double share = share_of(point.exposed, point.length);
    if (share < 0.005) answers.push_back(at + ": the exchange is hidden behind backward");
    else
      answers.push_back(fmt::format("{}: {} of an iteration waits for the network, longest for the gradient of {}", at,
                                    percent(share), clipped(detail.exposed.front().name, 40)));
  }
  const ScalingPoint &now = last_point(scaling, 0), &other = scaling.other_order.front();
  const std::string there = network_text(scaling, now.bandwidth);
  std::string used = fmt::format("of an iteration at {}, computation takes {} and the network is in use for {}", there,
                                 percent(share_of(scaling.iteration.time(), now.length)),
                                 percent(share_of(now.communication, now.length)));
  if (const Seconds overhead = scaling.details.front().timeline.overhead; overhead.value > 0)
    used += fmt::format("; packing and unpacking gradients takes {}", percent(share_of(overhead, now.length)));
  if (const auto& units = scaling.iteration.units)
    used +=
        fmt::format("; while computing, arithmetic units are used to {} of their peak, memory beyond the caches to {}",
                    percent(units->arithmetic), percent(units->memory));
  answers.push_back(used);
  answers.push_back(opportunity(scaling, now, other, there));
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
