// SPDX-License-Identifier: Apache-2.0
#include <benanza/study/make_study.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace benanza {

namespace {

using Place = std::tuple<std::string, std::int64_t, std::string>;  // device, batch size, model

std::optional<double> over(std::optional<Seconds> a, std::optional<Seconds> b) {
  if (!a || !b || a->value <= 0 || b->value <= 0) return std::nullopt;
  return *a / *b;
}

std::optional<Seconds> least(std::optional<Seconds> a, std::optional<Seconds> b) {
  return a && b ? std::optional(std::min(*a, *b)) : a ? a : b;
}

/// The narrower type in which layer by layer takes least.
std::optional<DataType> narrow_type(const StudyAccount& account) {
  std::optional<DataType> best;
  for (const auto& [type, rungs] : account.in_types) {
    const auto time = rung_of(rungs, RungName::library);
    if (time && (!best || *time < *rung_of(account.in_types.at(*best), RungName::library))) best = type;
  }
  return best;
}

/// The least of the rungs that libraries reach, in whatever type.
std::optional<Seconds> lowest(const StudyAccount& account) {
  std::optional<Seconds> result;
  const auto take = [&result](const Rungs& rungs) {
    for (const auto name :
         {RungName::library, RungName::library_parallel, RungName::library_fused, RungName::library_fused_parallel})
      result = least(result, rung_of(rungs, name));
  };
  take(account.rungs);
  for (const auto& [type, rungs] : account.in_types) take(rungs);
  return result;
}

/// How many kinds of optimisation are in `lowest`.
int kinds_in(const StudyAccount& account) {
  int kinds = 0;
  for (const auto name : {RungName::library_parallel, RungName::library_fused, RungName::library_fused_parallel})
    kinds += rung_of(account.rungs, name) ? 1 : 0;
  return kinds + (account.in_types.empty() ? 0 : 1);
}

std::optional<double> speedup(const StudyAccount& account, Optimization what) {
  const auto rung = [&account](RungName name) { return rung_of(account.rungs, name); };
  switch (what) {
    case Optimization::parallel: return over(rung(RungName::library), rung(RungName::library_parallel));
    case Optimization::algorithms: return over(account.advised, rung(RungName::library));
    case Optimization::fusion: return over(rung(RungName::library), rung(RungName::library_fused));
    case Optimization::tensor_cores:
      if (const auto type = narrow_type(account))
        return over(rung(RungName::library), rung_of(account.in_types.at(*type), RungName::library));
      return std::nullopt;
    case Optimization::layout: return over(account.plain_layout, account.any_layout);
    case Optimization::all:
      return kinds_in(account) > 0 ? over(rung(RungName::library), lowest(account)) : std::nullopt;
  }
  return std::nullopt;
}

void set_speedups(StudyRow& row, const std::vector<const StudyAccount*>& accounts) {
  const auto at = [&row](Optimization what) -> std::optional<double>& {
    return row.speedups[static_cast<std::size_t>(what)];
  };
  for (std::size_t i = 0; i < optimization_count; ++i) {
    const auto what = static_cast<Optimization>(i);
    if (what == Optimization::all) continue;
    for (const auto* account : accounts) {
      const auto found = speedup(*account, what);
      if (!found) continue;
      at(what) = found;
      if (what == Optimization::tensor_cores) row.narrow = narrow_type(*account);
      break;
    }
  }
  const StudyAccount* widest = nullptr;
  for (const auto* account : accounts)
    if (!widest || kinds_in(*account) > kinds_in(*widest)) widest = account;
  if (widest) at(Optimization::all) = speedup(*widest, Optimization::all);
  if (const auto algorithms = at(Optimization::algorithms); algorithms && at(Optimization::all))
    *at(Optimization::all) *= *algorithms;
}

StudyRow row_of(const Place& place, const std::vector<const StudyAccount*>& accounts) {
  StudyRow row{.model = std::get<2>(place), .device = std::get<0>(place), .batch = std::get<1>(place)};
  for (const auto* account : accounts) {
    const bool first = row.source.empty();
    if (first) row.source = account->source;
    if (first) row.missing = account->missing;
    for (std::size_t i = 0; i < rung_count; ++i)
      if (!row.rungs[i]) row.rungs[i] = account->rungs[i];
    if (!row.advised) row.advised = account->advised;
  }
  set_speedups(row, accounts);
  return row;
}

void add_latency(StudyRow& row, const StudyLatency& latency) {
  row.framework = latency.framework;
  row.latency = latency.time;
  row.lowest = latency.lowest;
  row.highest = latency.highest;
  row.chosen_over_best = latency.chosen_over_best;
  for (std::size_t i = 0; i < rung_count; ++i) row.ratios[i] = over(row.rungs[i], latency.time);
}

class Means {
 public:
  void add(const StudyRow& row, const std::string& quantity, const std::string& framework,
           std::optional<double> value) {
    if (!value) return;
    Values& values = values_[{row.device, row.batch, framework, quantity}];
    if (!values.models.insert(row.model).second) return;  // speed-ups stand in the row of each framework
    values.all.push_back(*value);
    if (!row.partial()) values.complete.push_back(*value);
  }
  [[nodiscard]] std::vector<StudyMean> take() const {
    std::vector<StudyMean> means;
    for (const auto& [key, values] : values_) {
      const auto& [device, batch, framework, quantity] = key;
      StudyMean mean{.quantity = quantity,
                     .device = device,
                     .framework = framework,
                     .batch = batch,
                     .all = *geometric_mean(values.all)};
      if (values.complete.size() < values.all.size()) mean.complete = geometric_mean(values.complete);
      means.push_back(std::move(mean));
    }
    return means;
  }

 private:
  struct Values {
    std::vector<double> all{}, complete{};
    std::set<std::string> models{};
  };
  std::map<std::tuple<std::string, std::int64_t, std::string, std::string>, Values> values_{};
};

std::vector<StudyMean> means_of(const std::vector<StudyRow>& rows) {
  Means means;
  for (const auto& row : rows) {
    if (row.latency)
      for (const auto name : measured_rungs)
        means.add(row, "ratio of " + std::string(enum_names(name)[static_cast<std::size_t>(name)]), row.framework,
                  row.ratio(name));
    for (std::size_t i = 0; i < optimization_count; ++i)
      means.add(row, std::string(enum_names(Optimization{})[i]), "", row.speedups[i]);
  }
  return means.take();
}

}  // namespace

std::string device_name(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string plain_name(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)))
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

Study make_study(std::vector<StudyAccount> accounts, std::vector<StudyLatency> latencies) {
  Study study;
  std::set<std::string> devices;
  for (auto& account : accounts) {
    account.device = device_name(account.device);
    devices.insert(account.device);
  }
  std::map<Place, std::vector<const StudyAccount*>> by_place;
  study.accounts = std::move(accounts);
  for (const auto& account : study.accounts)
    by_place[{account.device, account.batch, account.model}].push_back(&account);
  std::map<Place, std::vector<const StudyLatency*>> measured;
  for (auto& latency : latencies) {
    latency.device = device_name(latency.device);
    if (latency.device.empty() && devices.size() == 1) latency.device = *devices.begin();
    const Place place{latency.device, latency.batch, latency.model};
    measured[place].push_back(&latency);
    by_place[place];  // a latency without a bound has a line too
  }
  for (const auto& [place, own] : by_place) {
    const StudyRow row = row_of(place, own);
    const auto found = measured.find(place);
    if (found == measured.end()) study.rows.push_back(row);
    else
      for (const auto* latency : found->second) add_latency(study.rows.emplace_back(row), *latency);
  }
  study.means = means_of(study.rows);
  return study;
}

}  // namespace benanza
