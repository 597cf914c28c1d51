// SPDX-License-Identifier: Apache-2.0
#include "layer_time.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/error.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/original2019/rules.hpp>

#include <algorithm>
#include <map>

namespace benanza::original2019 {

namespace {

/// One form: the time of each occurrence, and the layer as which it counts.
struct FormTimes {
  Form form = Form::single;
  std::vector<LayerTime> times{};
  std::vector<Layer> layers{};
  [[nodiscard]] std::vector<Seconds> seconds() const {
    std::vector<Seconds> result;
    for (const auto& time : times) result.push_back(time.time);
    return result;
  }
  [[nodiscard]] bool has_times() const {
    return std::any_of(times.begin(), times.end(), [](const auto& time) { return time.status == Status::measured; });
  }
  [[nodiscard]] Seconds total() const {
    Seconds sum{};
    for (const auto& time : times) sum += time.time;
    return sum;
  }
};

FormTimes single_form(const Graph& graph, const LayerGraph& layers, const Results& results,
                      std::vector<std::string>& warnings) {
  FormTimes form;
  if (!results.printed.empty()) form.times = printed_times(graph, results, warnings);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    form.layers.push_back(layers.layers[i].layer);
    if (results.printed.empty()) form.times.push_back({});
    if (is_free(graph.nodes[i], form.layers[i])) form.times[i] = {.status = Status::free};
    else if (results.printed.empty()) form.times[i] = layer_time(graph.nodes[i], graph, results);
  }
  return form;
}

std::optional<ElementwiseFn> function_of(const std::string& op_type) {
  if (op_type == "Relu") return ElementwiseFn::relu;
  if (op_type == "Sigmoid") return ElementwiseFn::sigmoid;
  if (op_type == "Tanh") return ElementwiseFn::tanh;
  return std::nullopt;
}

/// A convolution with bias becomes one call if such a call was timed and is not slower than the calls that it replaces.
FormTimes fused_form(const Graph& graph, const LayerGraph& layers, const Results& results, FormTimes form) {
  form.form = Form::fused;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op_type != "Conv") continue;
    const LayerTensor& y = layers.tensors[layers.layers[i].outputs.front()];
    const bool one_reader = !y.output && y.consumers.size() == 1;
    const std::size_t next = one_reader ? y.consumers.front() : i;
    const auto function = one_reader ? function_of(graph.nodes[next].op_type) : std::nullopt;
    const auto covers_known = [&](std::size_t at) { return form.times[at].status == Status::measured; };
    if (function && covers_known(next)) {
      const auto fused = fused_time(graph.nodes[i], graph, results, graph.nodes[next].op_type);
      if (fused && (!covers_known(i) || fused->time <= form.times[i].time + form.times[next].time)) {
        form.times[i] = *fused;
        form.times[next] = {.status = Status::free};
        if (auto* conv = std::get_if<op::Conv>(&form.layers[i])) conv->post.push_back(*function);
        continue;
      }
    }
    const auto fused = fused_time(graph.nodes[i], graph, results, "");
    if (fused && (!covers_known(i) || fused->time <= form.times[i].time)) form.times[i] = *fused;
  }
  return form;
}

/// The longest path to the end of the last timed layer, without that layer's own time: the original's parallel total.
Seconds path_without_last(const FormTimes& form, const LayerGraph& layers) {
  std::vector<Seconds> times = form.seconds();
  std::size_t last = times.size();
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i].value > 0) last = i;
  if (last == times.size()) return {};
  std::vector<std::vector<Predecessor>> predecessors;
  for (std::size_t i = 0; i <= last; ++i) predecessors.push_back(layers.layers[i].predecessors);
  std::vector<Seconds> finish(last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    for (const auto& p : predecessors[i]) finish[i] = std::max(finish[i], finish[p.from]);
    if (i != last) finish[i] += times[i];
  }
  return finish[last];
}

/// The sum with the algorithms that cuDNN advised, if the database has them.
Seconds advised_total(const FormTimes& form) {
  Seconds sum{};
  for (const auto& time : form.times) sum += time.advised.value_or(time.time);
  return sum;
}

Measurement measurement_of(const LayerTime& time, const std::string& signature) {
  return {.backend = time.backend,
          .algorithm = time.algorithm,
          .signature = signature,
          .times = MeasuredTimes{time.time, time.time, time.time, time.time}};
}

/// Adds the rows of one form, each combination of a layer and a time once, and the graph that refers to them.
void add_form(Analysis& analysis, const FormTimes& form, const LayerGraph& layers, const CriticalPath& path) {
  std::vector<LayerRow> rows;
  std::map<std::string, std::size_t> index;
  std::vector<std::size_t> row_of;
  for (std::size_t i = 0; i < form.times.size(); ++i) {
    const LayerTime& time = form.times[i];
    const std::string signature = LayerSignature(form.layers[i]).text();
    const std::string key = signature + " " + time.algorithm + " " + std::to_string(time.time.value * 1e9) + " " +
                            std::to_string(static_cast<int>(time.status)) + time.reason;
    const auto [at, added] = index.try_emplace(key, rows.size());
    if (added) {
      LayerRow row{.signature = signature,
                   .form = form.form,
                   .status = time.status,
                   .reason = time.reason,
                   .p10 = time.time,
                   .median = time.time,
                   .cost = cost(form.layers[i])};
      if (time.status == Status::measured) row.chosen = measurement_of(time, signature);
      rows.push_back(std::move(row));
    }
    LayerRow& row = rows[at->second];
    ++row.count;
    row.nodes.push_back(layers.layers[i].nodes.front());
    row.critical = row.critical || path.on_path[i];
    row_of.push_back(at->second);
  }
  std::vector<std::size_t> order(rows.size()), place(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&rows](std::size_t a, std::size_t b) { return rows[a].total() > rows[b].total(); });
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = analysis.rows.size() + i;
  TimedGraph graph{.form = form.form};
  for (std::size_t i = 0; i < form.times.size(); ++i) {
    TimedLayer layer{.name = layers.layers[i].nodes.front(),
                     .predecessors = layers.layers[i].predecessors,
                     .critical = path.on_path[i]};
    if (form.times[i].status == Status::measured) {
      const TimedPlan plan{.time = form.times[i].time};
      layer.calls.push_back({.row = place[row_of[i]], .fastest = plan, .least_work = plan});
    }
    graph.layers.push_back(std::move(layer));
  }
  for (const auto i : order) analysis.rows.push_back(std::move(rows[i]));
  analysis.graphs.push_back(std::move(graph));
}

Coverage coverage_of(const FormTimes& form) {
  Coverage result;
  double flops = 0;
  for (std::size_t i = 0; i < form.times.size(); ++i) {
    const auto status = static_cast<std::size_t>(form.times[i].status);
    ++result.count[status];
    result.time_share[status] += form.times[i].time.value;
    result.flops_share[status] += cost(form.layers[i]).flops.value;
    flops += cost(form.layers[i]).flops.value;
  }
  const double time = form.total().value;
  for (std::size_t s = 0; s < 4; ++s) {
    result.time_share[s] = time > 0 ? result.time_share[s] / time : 0;
    result.flops_share[s] = flops > 0 ? result.flops_share[s] / flops : 0;
  }
  return result;
}

/// Adds one warning per defect, with the nodes that it affects.
void warn_of_defects(const FormTimes& form, const LayerGraph& layers, std::vector<std::string>& warnings) {
  std::map<std::string, std::vector<std::string>> nodes;
  for (std::size_t i = 0; i < form.times.size(); ++i)
    for (const auto& defect : form.times[i].defects) nodes[defect].push_back(layers.layers[i].nodes.front());
  for (const auto& [defect, names] : nodes) {
    std::string text = layers.model + ": known defect of the 2019 data: " + defect + ", " +
                       std::to_string(names.size()) + (names.size() == 1 ? " layer:" : " layers:");
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); ++i) text += " " + names[i];
    if (names.size() > 5) text += " ...";
    warnings.push_back(text);
  }
}

}  // namespace

Accounting analyze(const Graph& graph, const Results& results) {
  for (const auto& node : graph.nodes)
    if (!node.bodies.empty())
      throw InputError(graph.file + ": node '" + node.name + "' (" + node.op_type +
                       "): the rules of 2019 know no control flow");
  const ModelLayers model = make_model_layers(graph);
  const LayerGraph& layers = model.single;
  // The results that do not depend on times: sizes of the model, its FLOPs and bytes.
  Accounting result{.analysis = benanza::analyze(model, {}, {.threads = 1, .analytic = true})};
  Analysis& analysis = result.analysis;
  analysis.analytic = false;
  analysis.rows.clear();
  analysis.graphs.clear();
  analysis.missing.clear();
  analysis.rungs = {};

  const FormTimes single = single_form(graph, layers, results, result.warnings);
  const bool has_fused = results.printed.empty();
  const FormTimes fused = has_fused ? fused_form(graph, layers, results, single) : FormTimes{};
  std::vector<std::vector<Predecessor>> predecessors;
  for (const auto& layer : layers.layers) predecessors.push_back(layer.predecessors);
  for (const auto* form : {&single, &fused}) {
    if (form == &fused && !has_fused) continue;
    const CriticalPath path = critical_path(form->seconds(), predecessors);
    const bool is_fused = form == &fused;
    add_form(analysis, *form, layers, path);
    if (!form->has_times()) continue;  // nothing is known, which differs from 0
    analysis[is_fused ? RungName::library_fused : RungName::library].bound = form->total();
    analysis[is_fused ? RungName::library_fused_parallel : RungName::library_parallel].bound = path.length;
    analysis.reference[is_fused ? "library_fused_parallel_without_last" : "library_parallel_without_last"] =
        path_without_last(*form, layers);
  }
  if (const Seconds total = advised_total(single); !results.advised.empty() && total.value > 0)
    analysis.reference["library_advised"] = total;
  if (results.printed_total) analysis.reference["printed_total"] = *results.printed_total;
  analysis.coverage = coverage_of(single);
  analysis.coverage_fused = coverage_of(has_fused ? fused : single);
  analysis.groups = std::count_if(fused.times.begin(), fused.times.end(),
                                  [](const auto& time) { return time.status != Status::free; });
  for (std::size_t i = 0; i < single.times.size(); ++i)
    if (single.times[i].status == Status::missing)
      analysis.missing.push_back(graph.nodes[i].name + " (" + graph.nodes[i].op_type + "): " + single.times[i].reason);
  warn_of_defects(single, layers, result.warnings);
  for (const auto batch : results.batches)
    if (batch != graph.batch)
      result.warnings.push_back(graph.name + " is analysed at batch " + std::to_string(graph.batch) +
                                ": what the database holds of batch " + std::to_string(batch) +
                                " does not count (--batch sets the model's)");
  return result;
}

}  // namespace benanza::original2019
