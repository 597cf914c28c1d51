// SPDX-License-Identifier: Apache-2.0
// The JSON of a study; docs/study.md documents the keys.
#include "study_json.hpp"

#include <benanza/report/study_report.hpp>
#include <benanza/version.hpp>

namespace benanza {

using namespace format;

namespace report {

namespace {

template <class E>
Json by_name(const auto& values, const auto& write) {
  Json result = Json::object();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) result[std::string(enum_names(E{})[i])] = write(values[i]);
  return result;
}

Json rungs_json(const Rungs& rungs) {
  return by_name<RungName>(rungs, [](std::optional<Seconds> time) { return ms(time); });
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json mean_json(const std::optional<GeometricMean>& mean) {
  if (!mean) return nullptr;
  return {
      {"models", mean->count}, {"mean", number(mean->mean)}, {"low", number(mean->low)}, {"high", number(mean->high)}};
}

Json row_json(const StudyRow& row) {
  const auto plain = [](std::optional<double> value) { return number(value); };
  return {{"model", row.model},
          {"device", row.device},
          {"framework", text_or_null(row.framework)},
          {"batch", row.batch},
          {"type", row.type ? Json(name(*row.type)) : Json(nullptr)},
          {"latency_ms", ms(row.latency)},
          {"latency_min_ms", ms(row.lowest)},
          {"latency_max_ms", ms(row.highest)},
          {"latency_file", text_or_null(row.file)},
          {"doubt", text_or_null(row.doubt)},
          {"source", text_or_null(row.source)},
          {"missing_layers", row.missing},
          {"provisional", text_or_null(row.provisional)},
          {"bounds_ms", rungs_json(row.rungs)},
          {"advised_ms", ms(row.advised)},
          {"ratios", by_name<RungName>(row.ratios, plain)},
          {"speedups", by_name<Optimization>(row.speedups, plain)},
          {"narrow_type", row.narrow ? Json(name(*row.narrow)) : Json(nullptr)},
          {"chosen_over_best", number(row.chosen_over_best)}};
}

Json account_json(const StudyAccount& account) {
  Json types = Json::object();
  for (const auto& [type, rungs] : account.in_types) types[std::string(name(type))] = rungs_json(rungs);
  return {{"model", account.model},
          {"device", account.device},
          {"batch", account.batch},
          {"source", account.source},
          {"missing_layers", account.missing},
          {"provisional", text_or_null(account.provisional)},
          {"bounds_ms", rungs_json(account.rungs)},
          {"advised_ms", ms(account.advised)},
          {"in_types_ms", types},
          {"plain_layout_ms", ms(account.plain_layout)},
          {"any_layout_ms", ms(account.any_layout)}};
}

}  // namespace

Json study_json(const Study& study) {
  Json rows = Json::array(), means = Json::array(), accounts = Json::array(), claims = Json::array(),
       optimizations = Json::array();
  for (const auto& row : study.rows) rows.push_back(row_json(row));
  for (const auto& mean : study.means)
    means.push_back({{"quantity", mean.quantity},
                     {"device", mean.device},
                     {"framework", text_or_null(mean.framework)},
                     {"batch", mean.batch},
                     {"all", mean_json(mean.all)},
                     {"complete", mean_json(mean.complete)}});
  for (const auto& account : study.accounts) accounts.push_back(account_json(account));
  for (const auto& claim : study.claims)
    claims.push_back({{"what", claim.what},
                      {"published", text_or_null(claim.published)},
                      {"found", number(claim.found)},
                      {"agrees", claim.agrees}});
  for (const auto name : enum_names(Optimization{})) optimizations.push_back(name);
  return {{"schema", 1},    {"tool", version},  {"optimizations", optimizations}, {"rows", rows},
          {"means", means}, {"claims", claims}, {"accounts", accounts},           {"notes", study.notes}};
}

}  // namespace report

void write_json(std::ostream& out, const Study& study) { format::write(out, report::study_json(study)); }

}  // namespace benanza
