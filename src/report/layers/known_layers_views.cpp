// SPDX-License-Identifier: Apache-2.0
#include "known_layers_views.hpp"

#include "format/numbers.hpp"

#include <fmt/format.h>

#include <ostream>

namespace benanza::report {

using namespace format;

namespace {

std::string share(double part, double all) { return all > 0 ? fmt::format("{:.1f} %", 100 * part / all) : "-"; }
std::string share(std::int64_t part, std::int64_t all) {
  return share(static_cast<double>(part), static_cast<double>(all));
}

std::string database_of(const KnownLayersReport& report) {
  std::string text;
  if (report.other_models > 0)
    text = fmt::format("{} other model{}", report.other_models, report.other_models == 1 ? "" : "s");
  if (report.of_results) text += text.empty() ? "results" : " and results";
  return text.empty() ? "nothing" : text;
}

void write_counts(std::ostream& out, const LayersReport& report) {
  const KnownLayersReport& known = *report.known;
  out << fmt::format("{:<28} {:>7} {:>7} {:>7} {:>14}\n", "by the rules of " + known.rules, "layers", "unique", "share",
                     "unique, today");
  for (std::size_t i = 0; i < known.models.size(); ++i) {
    const KnownLayers& row = known.models[i];
    const bool of_all = i + 1 == known.models.size();
    const auto today = of_all ? static_cast<std::int64_t>(report.unique()) : report.models[i].unique_layers;
    out << fmt::format("{:<28} {:>7} {:>7} {:>7} {:>14}\n",
                       of_all ? fmt::format("{} models", i) : clipped(row.model, 28), row.layers, row.unique,
                       share(row.unique, row.layers), today);
  }
}

void write_added(std::ostream& out, const KnownLayersReport& report) {
  bool timed = false;
  for (const auto& row : report.models) timed = timed || row.timed > 0;
  out << fmt::format("{:<28} {:>7} {:>7} {:>7} {:>8}", "known: " + database_of(report), "unique", "known", "new",
                     "new");
  if (timed) out << fmt::format(" {:>10} {:>10} {:>8}", "time", "of new", "new");
  out << '\n';
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    const KnownLayers& row = report.models[i];
    out << fmt::format("{:<28} {:>7} {:>7} {:>7} {:>8}",
                       row.model.empty() ? fmt::format("{} models", i) : clipped(row.model, 28), row.unique, row.known,
                       row.added(), share(row.added(), row.unique));
    if (timed)
      out << fmt::format(" {:>10} {:>10} {:>8}", time_text(row.time), time_text(row.added_time()),
                         share(row.added_time().value, row.time.value));
    out << '\n';
  }
  const KnownLayers& all = report.models.back();
  if (timed)
    out << fmt::format("time: {} of each unique layer once; {} of {} have one\n",
                       report.rules.empty() ? "what measuring it took" : "one call", all.timed, all.unique);
}

}  // namespace

void write_known_layers(std::ostream& out, const LayersReport& report) {
  const KnownLayersReport& known = *report.known;
  if (!known.rules.empty()) write_counts(out, report);
  if (!known.rules.empty() && known.asked_known) out << '\n';
  if (known.asked_known) write_added(out, known);
}

Json known_layers_json(const KnownLayersReport& report) {
  Json models = Json::array();
  for (const auto& row : report.models) {
    const auto of_database = [&](Json value) { return report.asked_known ? value : Json(nullptr); };
    const auto of_times = [&](Seconds time) { return row.timed > 0 ? ms(time) : Json(nullptr); };
    models.push_back({{"model", row.model.empty() ? Json(nullptr) : Json(row.model)},
                      {"layers", row.layers},
                      {"unique", row.unique},
                      {"known", of_database(row.known)},
                      {"new", of_database(row.added())},
                      {"timed", row.timed},
                      {"time_ms", of_times(row.time)},
                      {"known_time_ms", of_database(of_times(row.known_time))},
                      {"new_time_ms", of_database(of_times(row.added_time()))}});
  }
  return {{"rules", report.rules.empty() ? Json(nullptr) : Json(report.rules)},
          {"other_models", report.other_models},
          {"models", models}};
}

}  // namespace benanza::report
