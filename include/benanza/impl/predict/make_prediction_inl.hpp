// SPDX-License-Identifier: Apache-2.0
// What predict computes.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/layer_floor.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/predict/detail/kernel_waves.hpp>
#include <benanza/predict/detail/ratio_database.hpp>
#include <benanza/predict/detail/spread.hpp>
#include <benanza/predict/detail/wave_scaling.hpp>
#include <benanza/predict/make_prediction.hpp>
#include <benanza/predict/prediction.hpp>
#include <benanza/results/expected_time.hpp>
#include <benanza/results/results.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace benanza {

BENANZA_INLINE FastestRows fastest_rows(const ResultDatabase& results, int threads) {
  FastestRows fastest;
  for (const auto& [signature, rows] : results.newest_rows())
    for (const auto& row : rows) {
      if (!row.measured() || row.backend == "reference" || row.threads > threads || row.cache != CacheState::hot)
        continue;
      const auto [at, added] = fastest.try_emplace(signature, row);
      if (!added && expected_time(row) < expected_time(at->second)) at->second = row;
    }
  return fastest;
}

BENANZA_INLINE std::string kind_of(std::string_view signature) {
  const auto end_of_part = [&](std::size_t from) { return std::min(signature.find('/', from), signature.size()); };
  const std::size_t type = std::min(end_of_part(0) + 1, signature.size());
  std::size_t end = end_of_part(type);
  if (const auto rest = signature.substr(std::min(end + 1, signature.size()));
      rest.starts_with("of=") || rest.starts_with("op="))
    end = end_of_part(end + 1);
  return std::string(signature.substr(0, end));
}

BENANZA_INLINE std::string epilogue_of(std::string_view signature) {
  constexpr std::string_view begins = "/post=";
  const auto at = signature.find(begins);
  if (at == std::string_view::npos) return {};
  std::string text;
  int depth = 0;
  for (const char c : signature.substr(at + begins.size())) {
    if (c == '/') break;
    if (c == '(') ++depth;
    if (depth == 0) text += c;
    if (c == ')') --depth;
  }
  return text;
}

BENANZA_INLINE LayerFeatures features_of(const std::string& signature, Seconds time) {
  const Cost c = cost(parse_layer(signature));
  return {.kind = kind_of(signature),
          .epilogue = epilogue_of(signature),
          .time = time,
          .flops = c.flops,
          .bytes = c.bytes()};
}

BENANZA_INLINE RatioDatabase ratios_of(const FastestRows& from, const FastestRows& to) {
  RatioDatabase ratios;
  for (const auto& [signature, there] : to)
    if (const auto here = from.find(signature); here != from.end()) {
      const Seconds time = expected_time(here->second);
      if (!(time.value > 0)) continue;
      ratios.add({.layer = features_of(signature, time), .shape = signature, .ratio = expected_time(there) / time});
    }
  return ratios;
}

namespace detail {

/// Predicts the time of one layer by the best method that has a basis.
class LayerPredictor {
 public:
  LayerPredictor(const DeviceRecord& origin, const PredictionTarget& target, const CallSize& size)
      : origin_(origin), target_(target), size_(size) {}

  [[nodiscard]] PredictedLayer predict(const LayerRow& row) const {
    PredictedLayer made{
        .signature = row.signature, .count = row.count, .node = row.nodes.empty() ? "" : row.nodes.front()};
    const Layer layer = parse_layer(row.signature);
    const bool saves = row.chosen && row.chosen->saves_multiplications;
    made.floor =
        layer_floor(layer, target_.record.ceilings, saves);  // what saves on the origin may do so on the target
    if (row.status == Status::measured && row.chosen) made.origin = row.median;
    if (const auto found = target_.rows.find(row.signature); found != target_.rows.end()) {
      made.method = PredictionMethod::measured;
      const Measurement& measured = found->second;
      const Seconds time = expected_time(measured);
      made.time = PredictedTime{time, std::min(time, measured.times->p10), std::max(time, measured.times->p90)};
      return made;
    }
    if (!made.origin || !(made.origin->value > 0)) {
      made.reason = "not measured on " + origin_.device + (row.reason.empty() ? "" : ": " + row.reason);
      return made;
    }
    by_ratio(made);
    if (!made.time) by_formula(made, layer, *row.chosen);
    if (made.time && made.time->time < made.floor) {
      made.raised = true;
      made.time->time = made.floor;
    }
    if (made.time) {
      made.time->low = std::max(made.time->low, made.floor);
      made.time->high = std::max(made.time->high, made.time->time);
    }
    return made;
  }

 private:
  void by_ratio(PredictedLayer& made) const {
    if (target_.ratios.empty()) return;
    const auto found = target_.ratios.find(features_of(made.signature, *made.origin));
    if (const auto* reason = std::get_if<std::string>(&found)) {
      made.reason = *reason;
      return;
    }
    made.method = PredictionMethod::database_ratio;
    made.time = with_spread(*made.origin * std::get<NearestRatio>(found).ratio, spread_of(made.method, size_).of_layer);
  }

  void by_formula(PredictedLayer& made, const Layer& layer, const Measurement& row) const {
    const RatesOfBoth rates = rates_of(origin_, target_.record, arithmetic_type(layer));
    if (!rates.reason.empty()) {
      made.reason += (made.reason.empty() ? "" : "; ") + rates.reason;
      return;
    }
    const double weight = memory_weight(cost(layer).intensity(), rates.to->ridge());
    const auto waves = kernel_waves_ratio(row.kernel_launches, origin_, target_.record, *rates.from, *rates.to, weight);
    made.method = waves ? PredictionMethod::wave : PredictionMethod::large_wave;
    const double ratio = waves ? *waves : large_wave_ratio(*rates.from, *rates.to, weight);
    made.time = with_spread(*made.origin * ratio, spread_of(made.method, size_).of_layer);
  }

  const DeviceRecord& origin_;
  const PredictionTarget& target_;
  CallSize size_;
};

/// The batch, and the length of a call over the measured time of all layers of a form.
[[nodiscard]] inline CallSize call_size_of(const Analysis& analysis, Form form) {
  double time = 0, squares = 0;
  for (const auto& row : analysis.rows) {
    if (row.form != form || row.status != Status::measured) continue;
    const double all = row.median.value * static_cast<double>(row.count);
    time += all;
    squares += all * row.median.value;
  }
  return {.batch = analysis.batch, .call = {time > 0 ? squares / time : 0}};
}

inline std::string clocks_text(const DeviceRecord& origin, const DeviceRecord& target) {
  const auto one = [](const DeviceRecord& record) {
    const auto clock = record.clock();
    return std::string(enum_names(clock->kind)[static_cast<std::size_t>(clock->kind)]) + " " +
           std::to_string(static_cast<std::int64_t>(std::round(clock->hz / 1e6))) + " MHz";
  };
  if (!origin.clock() || !target.clock()) return "";
  return one(origin) + " to " + one(target);
}

}  // namespace detail

BENANZA_INLINE Prediction predict(const Analysis& analysis, const DeviceRecord& origin, const PredictionTarget& target,
                                  Form form) {
  Prediction result{.model = analysis.model,
                    .file = analysis.file,
                    .batch = analysis.batch,
                    .target = target.record.device,
                    .record = target.record.file,
                    .price = target.price};
  const CallSize size = detail::call_size_of(analysis, form);
  const detail::LayerPredictor predictor(origin, target, size);
  bool by_formula = false;
  for (const auto& row : analysis.rows) {
    if (row.form != form || row.status == Status::free) continue;
    PredictedLayer made = predictor.predict(row);
    const auto count = static_cast<double>(made.count);
    const auto method = static_cast<std::size_t>(made.method);
    result.count[method] += made.count;
    if (made.origin) result.origin_time += *made.origin * count;
    if (made.raised) result.raised += made.count;
    if (made.time) {
      result.time[method] += made.time->time * count;
      // Errors of one method have the same sign in many layers: their intervals add up and do not average out.
      PredictedTime of_total = *made.time;
      if (made.method != PredictionMethod::measured) {
        of_total = with_spread(made.time->time, spread_of(made.method, size).of_total);
        of_total.low = std::max(of_total.low, made.floor);
      }
      result.total += of_total * count;
    }
    by_formula = by_formula || made.method == PredictionMethod::wave || made.method == PredictionMethod::large_wave;
    result.layers.push_back(std::move(made));
  }
  if (by_formula) result.clocks = detail::clocks_text(origin, target.record);
  std::stable_sort(result.layers.begin(), result.layers.end(), [](const PredictedLayer& a, const PredictedLayer& b) {
    return a.total().value_or(Seconds{}) > b.total().value_or(Seconds{});
  });
  return result;
}

}  // namespace benanza
