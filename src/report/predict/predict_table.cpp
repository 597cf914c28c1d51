// SPDX-License-Identifier: Apache-2.0
// The report of `predict` for a terminal:
//
//   MNIST    batch 1
//   measured on NVIDIA V100 SXM2 32 GB: 37.7 us
//
//   device                           time         90 % interval  items/s  per cost
//   NVIDIA T4                    0.144 ms   75.6 us .. 0.273 ms    6.97 k   50.2 M
//
//   NVIDIA T4: large wave 100 % of the time
//   formulas take the clocks base 1312 MHz to base 585 MHz
//      share      time       was  method          layer
//     60.0 %   86.1 us   20.5 us  large wave      Conv 1x8x14x14, 16 of 5x5...
#include "format/numbers.hpp"
#include "format/text.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/predict_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

using namespace format;

namespace {

constexpr std::size_t layers_that_decide = 5;

std::string_view method_text(PredictionMethod method) { return enum_names(method)[static_cast<std::size_t>(method)]; }
std::string layers_text(std::int64_t count) { return fmt::format("{} layer{}", count, count == 1 ? "" : "s"); }

void devices(std::ostream& out, const PredictedModel& model) {
  const bool priced = std::any_of(model.targets.begin(), model.targets.end(),
                                  [](const Prediction& target) { return target.price.has_value(); });
  out << fmt::format("\n  {:<25} {:>11} {:>21} {:>8}{}\n", "device", "time", "90 % interval", "items/s",
                     priced ? "  per cost" : "");
  for (const auto& target : model.targets) {
    const auto items = target.throughput(), per_cost = target.throughput_per_cost();
    if (!(target.total.time.value > 0)) {
      out << fmt::format("  {:<25} {:>11}\n", clipped(target.target, 25), "no basis");
      continue;
    }
    const std::string interval =  // a part of the layers says nothing of the rest
        target.partial() ? "unknown"
                         : fmt::format("{} ..{:>9}", time_text(target.total.low), time_text(target.total.high));
    out << fmt::format("  {:<25} {:>11} {:>21} {:>9}{}\n", clipped(target.target, 25),
                       (target.partial() ? ">= " : "") + time_text(target.total.time), interval,
                       items ? scaled(*items) : "partial", per_cost ? fmt::format(" {:>8}", scaled(*per_cost)) : "");
  }
}

std::string methods_text(const Prediction& target) {
  std::string text;
  for (std::size_t m = 0; m < prediction_method_count; ++m) {
    if (target.count[m] == 0) continue;
    const auto method = static_cast<PredictionMethod>(m);
    text += text.empty() ? "" : ", ";
    if (method == PredictionMethod::no_basis) text += fmt::format("no basis for {}", layers_text(target.count[m]));
    else
      text += fmt::format("{} {:.3g} % of the time", method_text(method),
                          target.total.time.value > 0 ? 100 * (target.time[m] / target.total.time) : 0);
  }
  if (target.raised > 0) text += fmt::format("; {} raised to the floor", layers_text(target.raised));
  return text;
}

void reasons(std::ostream& out, const Prediction& target) {
  std::map<std::string, std::int64_t> lacking;
  for (const auto& layer : target.layers)
    if (!layer.time) lacking[layer.reason] += layer.count;
  for (const auto& [reason, count] : lacking)
    out << wrapped(fmt::format("no basis for {}: {}", layers_text(count), reason), 78, 2);
}

void layers(std::ostream& out, const Prediction& target, const TableOptions& options) {
  out << '\n' << wrapped(target.target + ": " + methods_text(target), 78, 2);
  if (!target.clocks.empty()) out << wrapped("formulas take the clocks " + target.clocks, 78, 2);
  reasons(out, target);
  if (!(target.total.time.value > 0)) return;
  const auto known = static_cast<std::size_t>(std::count_if(target.layers.begin(), target.layers.end(),
                                                            [](const auto& layer) { return layer.time.has_value(); }));
  const std::size_t count = options.all ? known : std::min(known, layers_that_decide);
  out << fmt::format("  {:>8} {:>9} {:>9}  {:<14}  {}\n", "share", "time", "was", "method", "layer");
  for (std::size_t i = 0; i < count; ++i) {
    const PredictedLayer& layer = target.layers[i];
    const Seconds total = *layer.total();
    out << fmt::format(
        "  {:>6.1f} % {:>9} {:>9}  {:<14}  {}\n", 100 * (total / target.total.time), time_text(total),
        layer.origin ? time_text(*layer.origin * static_cast<double>(layer.count)) : "-", method_text(layer.method),
        clipped((layer.count > 1 ? fmt::format("x{} ", layer.count) : "") + describe(parse_layer(layer.signature)),
                32));
  }
  if (count < known) out << fmt::format("  ({} more: --all)\n", known - count);
}

}  // namespace

void write_table(std::ostream& out, const PredictReport& report, const TableOptions& options) {
  bool first = true;
  for (const auto& model : report.models) {
    if (!std::exchange(first, false)) out << '\n';
    out << fmt::format("{}    batch {}\n", clipped(model.model, 60), model.batch);
    const std::string lacking =
        model.origin_missing > 0 ? fmt::format(" without {}", layers_text(model.origin_missing)) : "";
    out << wrapped(fmt::format("measured on {}: {}{}", model.origin, time_text(model.origin_time), lacking), 78, 0);
    devices(out, model);
    for (const auto& target : model.targets) layers(out, target, options);
  }
}

}  // namespace benanza
