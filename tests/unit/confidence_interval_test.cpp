// SPDX-License-Identifier: Apache-2.0
// The interval behind `±`: by hand, and how often it holds the true value of simulated databases.
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/base/detail/confidence_interval.hpp>
#include <benanza/bounds/analyze.hpp>
#include <benanza/bounds/model_diff.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <array>
#include <cmath>
#include <random>

namespace {

using namespace benanza;
using benanza::testing::GraphBuilder;

/// Times of two layers on a machine whose speed differs between groups of rounds, by the same factor for both layers.
struct Population {
  double group_sd = 0;                   ///< standard deviation of the factor of a group, relative
  double round_sd = 0.01;                ///< standard deviation of one round of one layer, relative
  double contaminated = 0.05;            ///< share of the rounds that are contaminated, per layer
  double contamination = 0.1;            ///< mean of the time that is added then, relative
  std::array<double, 2> times{1, 0.25};  ///< undisturbed, in ms

  double group(std::mt19937& random) const { return 1 + group_sd * std::normal_distribution(0.0, 1.0)(random); }
  double layer(double time, double group, std::mt19937& random) const {
    double factor = group + round_sd * std::normal_distribution(0.0, 1.0)(random);
    if (std::uniform_real_distribution(0.0, 1.0)(random) < contaminated)
      factor += std::exponential_distribution(1 / contamination)(random);
    return 1e-3 * time * factor;
  }
  /// The first decile of the totals of all possible rounds, each in its own group.
  double first_decile() const {
    std::mt19937 random(1);
    std::vector<double> totals(200'000);
    for (double& total : totals) {
      const double shared = group(random);
      for (const double time : times) total += layer(time, shared, random);
    }
    return detail::quantile(totals, 0.1);
  }
  /// `visits`: how often the selection saw both layers, in separate groups.
  Run run(std::size_t groups, std::size_t rounds, std::size_t visits, std::mt19937& random) const {
    Run run{.machine = {.device = "simulated", .isa = "none", .cores = 1}, .backends = {{"lib", "1"}}};
    for (const char* signature : {"Unary/f32/fn=relu/x=1000", "Softmax/f32/x=10x100x1"})
      run.rows.push_back({.backend = "lib",
                          .algorithm = "a,threads=1",
                          .signature = LayerSignature::parse(signature).text(),
                          .samples = static_cast<std::int64_t>(rounds)});
    for (std::size_t g = 0; g < groups; ++g) {
      const double shared = group(random);
      for (std::size_t r = 0; r < rounds / groups; ++r)
        for (std::size_t i = 0; i < times.size(); ++i) run.rows[i].rounds_s.push_back(layer(times[i], shared, random));
    }
    for (std::size_t v = 0; v < visits; ++v) {
      const double shared = group(random);
      for (std::size_t i = 0; i < times.size(); ++i) {
        std::array<double, 5> samples{};
        for (double& sample : samples) sample = layer(times[i], shared, random);
        run.rows[i].visits_s.push_back(detail::quantile(samples, 0.5));
      }
    }
    for (auto& row : run.rows) {
      row.times =
          MeasuredTimes{.p10 = {detail::quantile(row.rounds_s, 0.1)}, .median = {detail::quantile(row.rounds_s, 0.5)}};
    }
    return run;
  }
};

constexpr int databases = 500;

/// The number of databases in which the interval of a population holds `truth`.
int count_held(const Population& population, double truth, std::size_t groups, std::size_t rounds, std::size_t visits,
               std::mt19937& random) {
  GraphBuilder g;
  g.output(g.map("Softmax", {g.map("Relu", {g.input({10, 100})})}));
  const ModelLayers model = make_model_layers(g.graph());
  int held = 0;
  for (int i = 0; i < databases; ++i) {
    ResultDatabase database;
    database.add(population.run(groups, rounds, visits, random));
    const Rung library = analyze(model, database, {.threads = 1})[RungName::library];
    held += std::abs(library.bound->value - truth) <= library.uncertainty * library.bound->value ? 1 : 0;
  }
  return held;
}

void check_level(int held) {
  const double standard_error =
      std::sqrt(detail::confidence_level * (1 - detail::confidence_level) / databases);  // 0.0097
  CHECK(held >= databases * (detail::confidence_level - 3 * standard_error));
  CHECK(held < databases * 0.99);  // no wider than necessary
}

Rung rung(double bound, double uncertainty) { return {.bound = Seconds{bound}, .uncertainty = uncertainty}; }

}  // namespace

TEST_CASE("Student's t at 95 % is that of the tables") {
  // Two-sided, as in any statistics text: 3, 4, 7, 15 and 30 degrees of freedom.
  CHECK(detail::student_t(3) == Approx(3.182).epsilon(0.0015));
  CHECK(detail::student_t(4) == Approx(2.776).epsilon(0.0015));
  CHECK(detail::student_t(7) == Approx(2.365).epsilon(0.0015));
  CHECK(detail::student_t(15) == Approx(2.131).epsilon(0.0015));
  CHECK(detail::student_t(30) == Approx(2.042).epsilon(0.0015));
  CHECK(std::isinf(detail::student_t(0)));
}

TEST_CASE("the half interval is that of sections and of the jackknife together") {
  // Medians of four groups of one value: 1 2 3 6, of all 2.5. Squared distances 2.25 + 0.25 + 0.25 + 12.25 = 15, over 4
  // * 3: 1.25. Without one group the medians are 3 3 2 2: mean 2.5, squares 4 * 0.25 = 1, times 3 / 4: 0.75. The
  // variance is 2, t is 3.182.
  const std::vector<double> values{1, 2, 3, 6};
  CHECK(detail::half_interval(values, 0.5, 4) == Approx(3.182 * std::sqrt(2.0)).epsilon(0.0015));
  // A fifth group with 2.5 adds nothing to the squares: 15 / (4 * 4) + 0.75. With groups of one value it does not add a
  // degree of freedom.
  const std::vector<double> further{2.5};
  CHECK(detail::half_interval(values, 0.5, 4, further) == Approx(3.182 * std::sqrt(15.0 / 16 + 0.75)).epsilon(0.0015));
  // With groups of five values it adds one: each of the four values five times, with the medians of above. t is 2.776.
  std::vector<double> many;
  for (const double value : values) many.insert(many.end(), 5, value);
  CHECK(detail::half_interval(many, 0.5, 4, further) == Approx(2.776 * std::sqrt(15.0 / 16 + 0.75)).epsilon(0.0015));
  CHECK(detail::half_interval(std::vector<double>(8, 5.0), 0.1, 4) == 0);
  // A group without finite values is left out; a single group has no interval.
  CHECK(detail::half_interval(std::vector<double>{1, std::nan(""), 3, 6}, 0.5, 4) ==
        detail::half_interval(std::vector<double>{1, 3, 6}, 0.5, 3));
  CHECK(std::isinf(detail::half_interval(std::vector<double>{1, std::nan(""), std::nan(""), std::nan("")}, 0.5, 4)));
  CHECK(detail::round_groups(8) == 4);
  CHECK(detail::round_groups(40) == 4);
  CHECK(detail::round_groups(90) == 9);
  CHECK(detail::round_groups(160) == 16);
}

TEST_CASE("the interval holds the truth of 500 simulated databases as often as it claims") {
  const std::size_t groups = GENERATE(4U, 8U, 16U);
  const double group_sd = GENERATE(0.0, 0.01, 0.02);
  const Population population{.group_sd = group_sd};
  std::mt19937 random(static_cast<unsigned>(groups));
  const int held = count_held(population, population.first_decile(), groups, 10 * groups, 0, random);
  INFO(groups << " groups, standard deviation of groups " << group_sd << ": held " << held);
  check_level(held);
}

// The least number of rounds that a total needs, and a few more, in four groups: the result of a short budget.
TEST_CASE("the interval holds the truth as often as it claims with few rounds, and with visits of the selection") {
  const double group_sd = GENERATE(0.0, 0.01, 0.02);
  const Population population{.group_sd = group_sd};
  const double truth = population.first_decile();
  for (const std::size_t rounds : {4U, 8U, 12U}) {
    for (const std::size_t visits : {0U, 2U}) {
      std::mt19937 random(static_cast<unsigned>(rounds));
      const int held = count_held(population, truth, 4, rounds, visits, random);
      INFO(rounds << " rounds, " << visits << " visits, standard deviation of groups " << group_sd << ": held "
                  << held);
      check_level(held);
    }
  }
}

TEST_CASE("sessions agree within their intervals in quadrature, and never beyond 10 %") {
  CHECK(agree(rung(1, 0.03), rung(1.04, 0.03)));        // 0.04 < hypot(0.03, 0.0312) = 0.0433
  CHECK_FALSE(agree(rung(1, 0.03), rung(1.05, 0.03)));  // 0.05 > hypot(0.03, 0.0315) = 0.0435
  CHECK_FALSE(agree(rung(1, 0.24), rung(1.3, 0.24)));   // 0.30 < hypot(0.24, 0.312), but 30 %
  CHECK(agree(rung(1, 0.24), rung(1.09, 0.24)));
  CHECK(agree(Rung{}, Rung{}));
  CHECK_FALSE(agree(rung(1, 0.03), Rung{}));
}
