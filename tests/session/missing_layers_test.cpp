// SPDX-License-Identifier: Apache-2.0
// What a session measures for a model if a database has its layers in part, or with doubt. The rows are handwritten.
#include "session/missing_layers.hpp"

#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;

/// Relu and Softmax: two unique layers, which are separate in the fused form too.
ModelLayers two_layers() {
  benanza::testing::GraphBuilder g;
  g.output(g.map("Softmax", {g.map("Relu", {g.input({4, 64})})}, {{"axis", std::int64_t{0}}}));
  return make_model_layers(g.graph());
}

/// 10 samples of one call and `rounds` rounds, each of 10 us.
Measurement timed(const ModelLayers& model, std::size_t layer, std::size_t rounds) {
  return {.backend = "lib",
          .algorithm = "a,threads=1",
          .signature = LayerSignature(model.single.layers[layer].layer).text(),
          .samples = 10,
          .times = MeasuredTimes{.p10 = {1e-5}, .median = {1e-5}},
          .rounds_s = std::vector<double>(rounds, 1e-5)};
}

/// The missing layers after sessions with these rows, in order. Sessions are a day apart, from 2026-01-01 on.
MissingLayers missing_after(const ModelLayers& model, const std::vector<std::vector<Measurement>>& sessions,
                            Again again = Again::nothing, const std::optional<Retry>& retry = {}) {
  ResultDatabase database;
  int day = 10;
  for (const auto& rows : sessions) {
    Run run{.started = "2026-01-" + std::to_string(day++) + "T00:00:00Z", .tool = "1"};
    run.machine = {.device = "fake", .isa = "none", .cores = 1};
    run.backends = {{"lib", "1"}};
    run.rows = rows;
    database.add(std::move(run));
  }
  const measure::Question question{
      .backends = {"lib"}, .caches = {CacheState::hot}, .threads = 1, .certain = again == Again::uncertain};
  return missing_layers(database, std::vector{model}, question, again, retry);
}

MissingLayers missing_of(const ModelLayers& model, const std::vector<Measurement>& rows, Again again = Again::nothing) {
  return missing_after(model, {rows}, again);
}

/// The number of known rows of a layer, for which it gets only new rounds; 0: the layer is tuned.
std::size_t known_rows(const MissingLayers& missing, const std::string& signature) {
  const auto found = std::find_if(missing.layers.begin(), missing.layers.end(), [&](const measure::Wanted& entry) {
    return LayerSignature(entry.layer).text() == signature;
  });
  REQUIRE(found != missing.layers.end());
  return found->known.size();
}

constexpr std::size_t relu = 0, softmax = 1;

}  // namespace

TEST_CASE("nothing is missing of a model whose layers were all timed in rounds together") {
  const ModelLayers model = two_layers();
  const std::vector<Measurement> rows{timed(model, relu, 8), timed(model, softmax, 8)};
  const MissingLayers missing = missing_of(model, rows);
  CHECK(missing.layers.empty());
  CHECK(missing.earlier.empty());
  CHECK(missing.name.empty());
  CHECK(missing.needed == 2);
  CHECK(missing.saved.value == Approx(2 * 18 * 1e-5));  // 10 samples and 8 rounds of 10 us each
  // Unless new rounds are requested, which tune nothing.
  const MissingLayers again = missing_of(model, rows, Again::all);
  REQUIRE(again.layers.size() == 2);
  CHECK(known_rows(again, rows[relu].signature) == 1);
  CHECK(known_rows(again, rows[softmax].signature) == 1);
  CHECK(again.name == "model");
  CHECK(again.saved.value == Approx(2 * 18 * 1e-5));
}

TEST_CASE("a model without totals gets rounds of all its layers, and those without rows are tuned") {
  const ModelLayers model = two_layers();
  SECTION("a layer without rows") {
    const std::vector<Measurement> rows{timed(model, relu, 8)};
    const MissingLayers missing = missing_of(model, rows);
    REQUIRE(missing.layers.size() == 2);
    CHECK(known_rows(missing, rows[0].signature) == 1);
    CHECK(known_rows(missing, timed(model, softmax, 8).signature) == 0);
    CHECK(missing.earlier.empty());
    CHECK(missing.needed == 2);
    CHECK(missing.saved.value == Approx(18 * 1e-5));
  }
  SECTION("three rounds, where a total takes four") {
    const std::vector<Measurement> rows{timed(model, relu, 3), timed(model, softmax, 3)};
    const MissingLayers missing = missing_of(model, rows);
    REQUIRE(missing.layers.size() == 2);
    for (const auto& row : rows) CHECK(known_rows(missing, row.signature) == 1);
  }
}

TEST_CASE("a layer is tuned again until a session without another process has compared thread counts") {
  const ModelLayers model = two_layers();
  std::vector<Measurement> rows{timed(model, relu, 8), timed(model, softmax, 8)};
  for (const std::size_t layer : {relu, softmax}) {
    rows.push_back(timed(model, layer, 0));
    rows.back().algorithm = "a,threads=2";
    rows.back().threads = 2;
  }
  const auto missing_beside = [&](const std::vector<double>& others) {
    ResultDatabase database;
    int day = 10;
    for (const double other : others) {
      Run run{.started = "2026-01-" + std::to_string(day++) + "T00:00:00Z", .tool = "1", .others = other, .rows = rows};
      run.machine = {.device = "fake", .isa = "none", .cores = 2};
      run.backends = {{"lib", "1"}};
      database.add(std::move(run));
    }
    return missing_layers(database, std::vector{model},
                          {.backends = {"lib"}, .caches = {CacheState::hot}, .threads = 2}, Again::nothing, {});
  };
  CHECK(missing_beside({0.02}).layers.empty());
  CHECK(known_rows(missing_beside({0.5}), rows[relu].signature) == 0);
  CHECK(known_rows(missing_beside({0.5, 0.5, 0.5, 0.5}), rows[relu].signature) == 0);
  CHECK(missing_beside({0.5, 0.02}).layers.empty());
}

TEST_CASE("a layer whose best plan moved between groups of rounds is tuned once more") {
  const ModelLayers model = two_layers();  // Softmax has no rows, so that the model is measured
  Measurement row = timed(model, relu, 8);
  row.noisy = true;
  const std::string signature = row.signature;
  SECTION("with the rows that it has as earlier ones") {
    const MissingLayers missing = missing_of(model, {row});
    CHECK(known_rows(missing, signature) == 0);
    REQUIRE(missing.earlier.size() == 1);
    CHECK(missing.earlier[0].signature == signature);
    CHECK(missing.saved.value == 0);
  }
  SECTION("but not with those of more threads than are asked for") {
    Measurement more = timed(model, relu, 0);
    more.algorithm = "a,threads=2";
    more.threads = 2;
    const MissingLayers missing = missing_of(model, {row, more});
    REQUIRE(missing.earlier.size() == 1);
    CHECK(missing.earlier[0].threads == 1);
  }
  SECTION("seven rounds tell nothing of groups") {
    row.rounds_s.resize(7);
    CHECK(known_rows(missing_of(model, {row}), signature) == 1);
  }
  SECTION("contended rounds do not count") {
    row.rounds_s[3] = std::numeric_limits<double>::quiet_NaN();
    CHECK(known_rows(missing_of(model, {row}), signature) == 1);
  }
  SECTION("a plan that was not chosen may be noisy") {
    Measurement other = timed(model, relu, 0);
    other.algorithm = "b,threads=1";
    other.noisy = true;
    row.noisy = false;
    CHECK(known_rows(missing_of(model, {row, other}), signature) == 2);
  }
  SECTION("one that only every fourth round timed neither") {
    Measurement seldom = timed(model, relu, 8);
    seldom.algorithm = "b,threads=1";
    seldom.times->p10 = {2e-5};
    seldom.noisy = true;
    row.noisy = false;
    for (std::size_t round = 0; round < seldom.rounds_s.size(); ++round)
      seldom.rounds_s[round] = round % 4 == 0 ? 2e-5 : std::numeric_limits<double>::quiet_NaN();
    CHECK(missing_of(model, {row, seldom, timed(model, softmax, 8)}).layers.empty());
  }
  SECTION("a plan whose times do not count does not win") {
    row.exclude(RowStatus::failed);
    const MissingLayers missing = missing_of(model, {row});
    CHECK(known_rows(missing, signature) == 1);
    CHECK(missing.earlier.empty());
  }
  SECTION("not where all layers get new rounds") {
    CHECK(known_rows(missing_of(model, {row}, Again::all), signature) == 1);
  }
}

TEST_CASE("noisy winners of a model that has totals are measured again, and its other layers get rounds") {
  const ModelLayers model = two_layers();
  std::vector<Measurement> rows{timed(model, relu, 8), timed(model, softmax, 8)};
  rows[relu].noisy = true;
  for (const Again again : {Again::nothing, Again::uncertain}) {
    const MissingLayers missing = missing_of(model, rows, again);
    CHECK(known_rows(missing, rows[relu].signature) == 0);
    CHECK(known_rows(missing, rows[softmax].signature) == 1);
    REQUIRE(missing.earlier.size() == 1);
    CHECK(missing.earlier[0].signature == rows[relu].signature);
  }
}

TEST_CASE("a contended winner of a model that has totals is measured again") {
  const ModelLayers model = two_layers();
  std::vector<Measurement> rows{timed(model, relu, 8), timed(model, softmax, 8)};
  // The relu takes 1 of 101 us: rounds count without it, so that there are totals.
  rows[softmax].times = MeasuredTimes{.p10 = {1e-4}, .median = {1e-4}};
  rows[softmax].rounds_s.assign(8, 1e-4);
  rows[relu].times = MeasuredTimes{.p10 = {1e-6}, .median = {1e-6}};
  rows[relu].rounds_s.assign(8, std::numeric_limits<double>::quiet_NaN());
  rows[relu].noisy = true;
  SECTION("no sample was quiet: selected again") {
    rows[relu].samples = 0;
    rows[relu].contended = true;
    CHECK(known_rows(missing_of(model, rows), rows[relu].signature) == 0);
  }
  SECTION("the selection was quiet: timed again") {
    CHECK(known_rows(missing_of(model, rows), rows[relu].signature) == 1);
  }
}

TEST_CASE("a winner that two further sessions leave noisy is settled") {
  const ModelLayers model = two_layers();
  const std::vector<Measurement> quiet{timed(model, relu, 8), timed(model, softmax, 8)};
  std::vector<Measurement> noisy = quiet, unfinished = quiet;
  noisy[relu].noisy = true;
  for (auto& row : unfinished) row.rounds_s.clear();
  CHECK(missing_after(model, {noisy, noisy}).layers.size() == 2);
  CHECK(missing_after(model, {noisy, noisy, noisy}).layers.empty());
  CHECK(missing_after(model, {noisy, noisy, noisy}, Again::uncertain).layers.size() == 2);
  // A session that got no rounds of it counts as one of them, if there was a doubt.
  CHECK(missing_after(model, {unfinished, unfinished, noisy}).layers.size() == 2);
  CHECK(missing_after(model, {noisy, unfinished, unfinished}).layers.empty());
  // Layers that alternate in being noisy do not continue forever.
  std::vector<Measurement> other = quiet;
  other[softmax].noisy = true;
  CHECK(missing_after(model, {noisy, other}).layers.size() == 2);
  CHECK(missing_after(model, {noisy, other, noisy}).layers.empty());
  // A quiet session ends the doubt.
  CHECK(missing_after(model, {noisy, quiet}).layers.empty());
  CHECK(missing_after(model, {noisy, quiet, noisy}).layers.size() == 2);
}

TEST_CASE("a noisy winner on more threads than are asked for is not measured again") {
  const ModelLayers model = two_layers();
  std::vector<Measurement> rows{timed(model, relu, 8), timed(model, softmax, 8), timed(model, relu, 8)};
  rows[2].algorithm = "a,threads=2";
  rows[2].threads = 2;
  rows[2].noisy = true;
  CHECK(missing_of(model, rows).layers.empty());
}

TEST_CASE("a plan that ended its process is tried again twice, on other days or with other versions") {
  const ModelLayers model = two_layers();
  const Measurement good = timed(model, relu, 8), other = timed(model, softmax, 8);
  Measurement killed = good;
  killed.algorithm = "b,threads=1";
  killed.rounds_s.clear();
  killed.exclude_for("killed, as the system does when memory runs out");
  const std::vector<Measurement> rows{good, killed, other};
  const auto missing = [&](std::size_t sessions, const std::string& day, const std::string& tool = "1") {
    return missing_after(model, std::vector(sessions, rows), Again::nothing, Retry{.day = day, .tool = tool});
  };
  CHECK(missing_after(model, {rows}).layers.empty());  // without a worker, the next one would end this process
  CHECK(missing(1, "2026-01-10").layers.empty());      // the day on which it was killed
  CHECK_FALSE(missing(1, "2026-01-10", "2").layers.empty());
  const MissingLayers next = missing(1, "2026-01-11");
  CHECK(known_rows(next, good.signature) == 0);
  CHECK(known_rows(next, other.signature) == 1);
  REQUIRE(next.earlier.size() == 1);  // what is known of the layer, without the reason to leave the plan out
  CHECK(next.earlier[0].name() == good.name());
  CHECK_FALSE(missing(2, "2026-01-12").layers.empty());
  CHECK(missing(3, "2026-01-13").layers.empty());
  CHECK(missing_after(model, {rows, {good, timed(model, softmax, 8)}}, Again::nothing, Retry{.day = "2026-01-20"})
            .layers.size() == 2);
  Measurement failed = killed, slow = killed;
  failed.exclude(RowStatus::failed, "not supported");
  slow.exclude(RowStatus::slower, "9 ms");
  for (const auto& excluded : {failed, slow})
    CHECK(missing_after(model, {{good, excluded, other}}, Again::nothing, Retry{.day = "2026-01-20"}).layers.empty());
  CHECK(missing_after(model, {rows, {good, slow, other}}, Again::nothing, Retry{.day = "2026-01-20"}).layers.empty());
}

TEST_CASE("a session that only one session contradicts after a week is in doubt, and another one is measured") {
  const ModelLayers model = two_layers();
  std::vector<std::vector<Measurement>> sessions(8, std::vector<Measurement>{});
  sessions[0] = {timed(model, relu, 8), timed(model, softmax, 8)};
  sessions[7] = sessions[0];
  for (auto& row : sessions[7]) {
    row.rounds_s.assign(8, 1.2e-5);
    row.times = MeasuredTimes{.p10 = {1.2e-5}, .median = {1.2e-5}};
  }
  CHECK(missing_after(model, sessions).layers.size() == 2);
  sessions.push_back(sessions[7]);
  CHECK(missing_after(model, sessions).layers.empty());
}
