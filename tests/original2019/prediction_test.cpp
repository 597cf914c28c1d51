// SPDX-License-Identifier: Apache-2.0
// The accuracy of predictions, on the layer times of four GPUs that the original Benanza published. Expected values:
// recomputed from the published tables by a script in another language, and the limits that the methods have to keep.
#include "devices.hpp"
#include "support/catch.hpp"
#include <benanza/base/detail/quantile.hpp>
#include <benanza/predict/detail/spread.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace {

using namespace devices2019;

using Method = Seconds Totals::*;

double error_of(const Totals& total, Method method) { return std::abs(total.*method / total.measured - 1); }
double factor_of(const Totals& total, Method method) { return std::abs(std::log(total.measured / (total.*method))); }

double mean_error(std::int64_t batch, Method method) {
  double sum = 0;
  int count = 0;
  for (const auto& total : all_totals())
    if (total.batch == batch) {
      sum += error_of(total, method);
      ++count;
    }
  return sum / count;
}

/// The batch, and the length of a call on the origin, weighted by time.
CallSize size_of(const Totals& total) {
  double time = 0, squares = 0;
  for (const auto& layer : total.layers) {
    time += layer.origin.value;
    squares += layer.origin.value * layer.origin.value;
  }
  return {.batch = total.batch, .call = {squares / time}};
}

/// The models for which a method has one spread.
using Counts = std::function<bool(const Totals&)>;

/// The largest error of this share of the totals, over ordered pairs of GPUs with more than four of them.
double spread_over(Method method, const Counts& counts, double share) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> of_pair;
  for (const auto& total : all_totals())
    if (counts(total)) of_pair[{total.from, total.to}].push_back(factor_of(total, method));
  double largest = 0;
  for (const auto& [pair, factors] : of_pair)
    if (factors.size() > 4) largest = std::max(largest, benanza::detail::quantile(factors, share));
  return std::exp(largest);
}

/// The same for 90 % of single layers, each weighted by its time.
double layer_spread(PredictionMethod method, const Counts& counts) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::pair<double, double>>> of_pair;
  for (const auto& total : all_totals())
    for (const auto& layer : total.layers) {
      if (!counts(total)) continue;
      const std::optional<Seconds> predicted =
          method == PredictionMethod::database_ratio ? layer.by_ratio : std::optional(layer.by_formula);
      if (predicted)
        of_pair[{total.from, total.to}].emplace_back(std::abs(std::log(layer.measured / *predicted)),
                                                     layer.measured.value);
    }
  double largest = 0;
  for (auto& [pair, layers] : of_pair) {
    std::sort(layers.begin(), layers.end());
    double all = 0, before = 0;
    for (const auto& [factor, weight] : layers) all += weight;
    for (const auto& [factor, weight] : layers)
      if ((before += weight) >= 0.9 * all) {
        largest = std::max(largest, factor);
        break;
      }
  }
  return std::exp(largest);
}

}  // namespace

TEST_CASE("V100 to T4 at batch 32: the formula gives what was predicted with it before") {
  const std::map<std::string, std::pair<double, double>> predicted_and_measured_ms{{"ResNet050-v1", {125.8, 123.7}},
                                                                                   {"VGG16", {174.4, 176.9}},
                                                                                   {"MobileNet-v2", {44.3, 48.3}},
                                                                                   {"Squeezenet-v1.1", {19.9, 18.3}}};
  std::size_t seen = 0;
  for (const auto& total : all_totals()) {
    const auto expected = predicted_and_measured_ms.find(total.model);
    if (total.batch != 32 || total.from != 0 || total.to != 1 || expected == predicted_and_measured_ms.end()) continue;
    INFO(total.model);
    CHECK(total.by_formula.value * 1e3 == Approx(expected->second.first).margin(0.06));
    CHECK(total.measured.value * 1e3 == Approx(expected->second.second).margin(0.06));
    ++seen;
  }
  CHECK(seen == predicted_and_measured_ms.size());
}

TEST_CASE("the database predicts totals of models over ordered pairs of GPUs best, and better than bandwidths alone") {
  std::printf("mean error of model totals over ordered pairs of V100, T4, TITAN Xp and K80, 29 models\n");
  std::printf("%8s %16s %12s %16s %10s\n", "batch", "bandwidth ratio", "large wave", "database ratio", "refused");
  for (const auto batch : batches) {
    double refused = 0;
    int count = 0;
    for (const auto& total : all_totals())
      if (total.batch == batch) {
        refused += total.refused;
        ++count;
      }
    CHECK(count == 29 * 12);
    const double bandwidth = mean_error(batch, &Totals::by_bandwidth), formula = mean_error(batch, &Totals::by_formula),
                 ratio = mean_error(batch, &Totals::by_ratio);
    std::printf("%8d %14.1f %% %10.1f %% %14.1f %% %8.1f %%\n", static_cast<int>(batch), 100 * bandwidth, 100 * formula,
                100 * ratio, 100 * refused / count);
    CHECK(ratio < bandwidth);
    if (batch != 32) continue;
    CHECK(ratio <= 0.06);
    CHECK(formula <= 0.13);
    CHECK(formula < bandwidth);
  }
}

TEST_CASE("the intervals hold nine of ten totals of devices that they were not made from") {
  struct Row {
    PredictionMethod method;
    Method member;
    CallSize size;  // one of those for which the spread is the same
    double share = 1;
  };
  const Row rows[] = {{PredictionMethod::database_ratio, &Totals::by_ratio, {}, 0.9},
                      {PredictionMethod::large_wave, &Totals::by_formula, {.batch = 32, .call = {1e-3}}},
                      {PredictionMethod::large_wave, &Totals::by_formula, {.batch = 8, .call = {1e-3}}},
                      {PredictionMethod::large_wave, &Totals::by_formula, {.batch = 1, .call = {1e-4}}}};
  std::printf("%-16s %8s %8s %12s %14s %8s\n", "method", "batch", "factor", "of layers", "totals", "held");
  for (const auto& [method, member, size, share] : rows) {
    const Spread spread = spread_of(method, size);
    const auto counts = [&, method = method](const Totals& total) {
      return spread_of(method, size_of(total)).of_total == spread.of_total;
    };
    const double factor = spread_over(member, counts, share), of_layer = layer_spread(method, counts);
    int held = 0, count = 0;
    for (std::size_t out = 0; out < gpus.size(); ++out) {
      const auto has = [out](const Totals& total) { return total.from == out || total.to == out; };
      const double without = std::log(spread_over(
          member, [&](const Totals& total) { return counts(total) && !has(total); }, share));
      for (const auto& total : all_totals())
        if (has(total) && counts(total)) {
          held += factor_of(total, member) <= without;
          ++count;
        }
    }
    std::printf("%-16s %8d %8.2f %12.2f %14d %6.1f %%\n",
                std::string(enum_names(method)[static_cast<std::size_t>(method)]).c_str(), static_cast<int>(size.batch),
                factor, of_layer, count / 2, 100.0 * held / count);
    CHECK(held >= 0.8 * count);
    // The program's constants are these factors, rounded up.
    CHECK(spread.of_total >= factor);
    CHECK(spread.of_total <= factor * 1.05);
    CHECK(spread.of_layer >= of_layer);
    CHECK(spread.of_layer <= of_layer * 1.05);
  }
}
