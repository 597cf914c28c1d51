// SPDX-License-Identifier: Apache-2.0
// The report of `memory` for a terminal:
//
//   resnet50    batch 2, training: sgd, f32, least that must be kept
//   25.6 M parameters    peak 478 MB at /layer1/layer1.0/relu/Relu/ReluGrad (backward)
//
//                        at the peak            most at once
//     weights              102 MB   21.4 %        102 MB
//     feature maps         165 MB   34.6 %        172 MB
#include "format/numbers.hpp"
#include "format/text.hpp"
#include <benanza/report/memory_report.hpp>

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

constexpr std::size_t layers_that_matter = 8;

std::string bytes_text(double bytes) { return scaled(bytes) + "B"; }
std::string_view category_name(std::size_t category) { return enum_names(MemoryCategory{})[category]; }
double share_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string batch_text(const std::optional<std::int64_t>& batch) {
  if (!batch) return "unknown";
  if (*batch == 0) return "none";
  return fmt::format("{}{}", *batch == most_batch ? ">= " : "", *batch);
}

void head(std::ostream& out, const MemoryReport::Model& model) {
  const MemoryProfile& profile = model.profile;
  constexpr std::size_t width = 78;
  const std::string facts =
      fmt::format("batch {}, {}", profile.batch, profile.training ? "training" + model.options : "inference");
  if (profile.model.size() + 4 + facts.size() <= width) out << profile.model << "    " << facts << '\n';
  else out << profile.model << '\n' << wrapped(facts, width, 2);
  out << fmt::format("{} parameters    peak {}", scaled(static_cast<double>(model.parameters)),
                     bytes_text(profile.peak_bytes()));
  if (!profile.steps.empty()) {
    const MemoryStep& step = profile.steps[profile.peak];
    out << fmt::format(" at step {} of {},\n  {} of {}", profile.peak + 1, profile.steps.size(),
                       enum_names(Phase{})[static_cast<std::size_t>(step.phase)], clipped(step.node, 60));
  }
  out << '\n';
}

void categories(std::ostream& out, const MemoryProfile& profile) {
  out << fmt::format("\n  {:<16} {:>20} {:>16}\n", "", "at the peak", "most at once");
  const MemoryBytes at_peak = profile.steps.empty() ? profile.totals : profile.steps[profile.peak].bytes;
  for (std::size_t c = 0; c < memory_categories; ++c) {
    if (profile.totals[c] == 0) continue;
    out << fmt::format("  {:<16} {:>11} {:>6.1f} % {:>16}\n", category_name(c), bytes_text(at_peak[c]),
                       share_of(at_peak[c], profile.peak_bytes()), bytes_text(profile.totals[c]));
  }
  if (profile.training) out << fmt::format("  kept from forward to backward: {}\n", bytes_text(profile.kept_bytes()));
  if (!profile.has_workspace) out << "  workspace of plans: unknown (--results)\n";
}

void layer_rows(std::ostream& out, const MemoryProfile& profile, const TableOptions& options) {
  double all = 0;
  for (const auto& layer : profile.layers) all += total(layer.bytes);
  const std::size_t count = options.all ? profile.layers.size() : std::min(layers_that_matter, profile.layers.size());
  out << fmt::format("\n  {:>7} {:>9} {:>9} {:>9}  layer (bytes with gradients and states)\n", "share", "bytes",
                     "weights", "maps");
  for (std::size_t i = 0; i < count; ++i) {
    const MemoryLayer& layer = profile.layers[i];
    const double bytes = total(layer.bytes);
    out << fmt::format("  {:>5.1f} % {:>9} {:>9} {:>9}  {}\n", share_of(bytes, all), bytes_text(bytes),
                       bytes_text(layer.bytes[static_cast<std::size_t>(MemoryCategory::weights)]),
                       bytes_text(layer.bytes[static_cast<std::size_t>(MemoryCategory::feature_maps)]),
                       clipped(layer.op_type + " " + layer.node, 38));
  }
  if (count < profile.layers.size()) out << fmt::format("  ({} more: --all)\n", profile.layers.size() - count);
}

void what_ifs(std::ostream& out, const MemoryReport::Model& model, const MemoryReport& report) {
  out << fmt::format("\n  largest batch in {} ({}): {}{}\n", bytes_text(report.capacity_bytes), report.capacity_of,
                     batch_text(model.largest_batch), model.profile.has_workspace ? ", workspaces left out" : "");
  if (model.what_ifs.empty()) return;
  out << fmt::format("\n  {:<37} {:>8} {:>7} {:>9} {:>13}\n", "instead", "peak", "change", "products", "largest batch");
  for (const auto& one : model.what_ifs)
    out << fmt::format("  {:<37} {:>8} {:>+5.0f} % {:>+7.0f} % {:>13}\n", one.options, bytes_text(one.peak_bytes),
                       share_of(one.peak_bytes - model.profile.peak_bytes(), model.profile.peak_bytes()),
                       100 * (one.work - 1), batch_text(one.largest_batch));
}

void sweep_rows(std::ostream& out, const MemoryReport& report) {
  out << fmt::format("{} over batch    {}\n", report.models.front().profile.model,
                     report.models.front().profile.training ? "training" + report.models.front().options : "inference");
  if (!report.times_of.empty()) out << wrapped("times: " + report.times_of, 78, 0);
  out << fmt::format("{:>10} {:>11} {:>11} {:>11} {:>11} {:>12}\n", "batch", "peak", "weights", "maps", "latency",
                     "inputs/s");
  for (const auto& model : report.models) {
    const auto rate = model.inputs_per_second();
    out << fmt::format("{:>10} {:>11} {:>11} {:>11} {:>11} {:>12}{}\n", model.profile.batch,
                       bytes_text(model.profile.peak_bytes()), bytes_text(model.profile.of(MemoryCategory::weights)),
                       bytes_text(model.profile.of(MemoryCategory::feature_maps)),
                       model.latency ? time_text(*model.latency) : "unknown",
                       rate ? fmt::format("{:.4g}", *rate) : "unknown",
                       model.profile.peak_bytes() > report.capacity_bytes ? "  does not fit" : "");
  }
  out << '\n';
}

}  // namespace

std::vector<std::string> memory_answers(const MemoryReport::Model& model, const MemoryReport& report) {
  const MemoryProfile& profile = model.profile;
  std::vector<std::string> answers;
  const MemoryBytes at_peak = profile.steps.empty() ? profile.totals : profile.steps[profile.peak].bytes;
  const auto most = static_cast<std::size_t>(std::max_element(at_peak.begin(), at_peak.end()) - at_peak.begin());
  if (profile.peak_bytes() > 0)
    answers.push_back(fmt::format("{} fill {:.0f} % of the peak", category_name(most),
                                  share_of(at_peak[most], profile.peak_bytes())));
  std::map<std::string, double> by_type;
  double kept = 0;
  const auto shown = profile.training ? MemoryCategory::feature_maps : MemoryCategory::weights;
  for (const auto& layer : profile.layers) {
    by_type[layer.op_type] += layer.bytes[static_cast<std::size_t>(shown)];
    kept += layer.bytes[static_cast<std::size_t>(shown)];
  }
  if (kept > 0) {
    const auto largest = std::max_element(by_type.begin(), by_type.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    answers.push_back(fmt::format("{:.0f} % of the {} are those of {}", share_of(largest->second, kept),
                                  category_name(static_cast<std::size_t>(shown)), largest->first));
  }
  if (const std::size_t few = std::min<std::size_t>(3, profile.layers.size()); few > 0) {
    double all = 0, most_of_it = 0;
    std::string names;
    for (std::size_t i = 0; i < profile.layers.size(); ++i) {
      all += total(profile.layers[i].bytes);
      if (i >= few) continue;
      most_of_it += total(profile.layers[i].bytes);
      names += (i == 0 ? "" : ", ") + clipped(profile.layers[i].node, 40);
    }
    answers.push_back(fmt::format("{1} of {2} layers hold {0:.0f} % of the layers' memory: {3}",
                                  share_of(most_of_it, all), few, profile.layers.size(), names));
  }
  const double capacity = report.capacity_bytes;
  if (capacity > 0 && profile.peak_bytes() > capacity)
    answers.push_back(fmt::format("the peak is {:.3g} times the capacity", profile.peak_bytes() / capacity));
  else if (capacity > 0)
    answers.push_back(
        fmt::format("the peak uses {:.2g} % of the capacity{}", share_of(profile.peak_bytes(), capacity),
                    model.largest_batch && *model.largest_batch > profile.batch
                        ? fmt::format("; a batch up to {:.3g} times as large fits",
                                      static_cast<double>(*model.largest_batch) / static_cast<double>(profile.batch))
                        : ""));
  if (!profile.recurrent.empty())
    answers.push_back(
        fmt::format("--saved eager leaves out what PyTorch keeps for {} recurrent layer{}: its size is not known",
                    profile.recurrent.size(), profile.recurrent.size() == 1 ? "" : "s"));
  for (const auto& one : model.what_ifs)
    if (one.options == "--saved eager" && one.kept_bytes < profile.kept_bytes() && profile.recurrent.empty())
      answers.push_back(
          fmt::format("--saved eager keeps {} less than least: PyTorch's attention keeps no weights and "
                      "computes them again in backward, while least computes nothing again",
                      bytes_text(profile.kept_bytes() - one.kept_bytes)));
  const MemoryWhatIf* best = nullptr;
  for (const auto& one : model.what_ifs)
    if (!one.only_counts && (best == nullptr || one.peak_bytes < best->peak_bytes)) best = &one;
  if (best != nullptr) {
    if (best->peak_bytes < profile.peak_bytes())
      answers.push_back(fmt::format("the best opportunity is {}: {:.0f} % of the peak, for {:.0f} % more products",
                                    best->options, share_of(best->peak_bytes, profile.peak_bytes()),
                                    std::max(0.0, 100 * (best->work - 1))));
  }
  return answers;
}

void write_table(std::ostream& out, const MemoryReport& report, const TableOptions& options) {
  if (report.sweep) sweep_rows(out, report);
  bool first = true;
  for (const auto& model : report.models) {
    if (!std::exchange(first, false)) out << '\n';
    head(out, model);
    categories(out, model.profile);
    layer_rows(out, model.profile, options);
    what_ifs(out, model, report);
    out << '\n';
    for (const auto& answer : memory_answers(model, report)) out << wrapped(answer, 78, 2);
  }
}

}  // namespace benanza
