// SPDX-License-Identifier: Apache-2.0
#include <benanza/base/detail/duration.hpp>
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

/// The narrower type with the least layer-by-layer time.
std::optional<DataType> narrow_type(const StudyAccount& account) {
  std::optional<DataType> best;
  for (const auto& [type, rungs] : account.in_types) {
    const auto time = rung_of(rungs, RungName::library);
    if (time && (!best || *time < *rung_of(account.in_types.at(*best), RungName::library))) best = type;
  }
  return best;
}

/// The least of the rungs that libraries reach, over all types.
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

/// Whether `lowest` takes at least fusion and parallel branches into account.
bool knows_all(const StudyAccount& account) {
  return rung_of(account.rungs, RungName::library_parallel) && rung_of(account.rungs, RungName::library_fused);
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
    case Optimization::all: return knows_all(account) ? over(rung(RungName::library), lowest(account)) : std::nullopt;
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
  // Among the accounts for which `knows_all` holds, the one with the most types is the most informative.
  const StudyAccount* widest = nullptr;
  for (const auto* account : accounts)
    if (knows_all(*account) && (!widest || account->in_types.size() > widest->in_types.size())) widest = account;
  if (widest) at(Optimization::all) = speedup(*widest, Optimization::all);
  if (const auto algorithms = at(Optimization::algorithms); algorithms && at(Optimization::all))
    *at(Optimization::all) *= *algorithms;
}

StudyRow row_of(const Place& place, std::vector<const StudyAccount*> accounts) {
  for (std::size_t i = accounts.size(); i-- > 1;)
    if (accounts[i]->missing > 0) accounts.erase(accounts.begin() + static_cast<std::ptrdiff_t>(i));
  StudyRow row{.model = std::get<2>(place), .device = std::get<0>(place), .batch = std::get<1>(place)};
  for (const auto* account : accounts) {
    const bool first = row.source.empty();
    if (first) row.source = account->source;
    if (first) row.missing = account->missing;
    if (row.provisional.empty()) row.provisional = account->provisional;
    for (std::size_t i = 0; i < rung_count; ++i)
      if (!row.rungs[i]) row.rungs[i] = account->rungs[i];
    if (!row.advised) row.advised = account->advised;
  }
  set_speedups(row, accounts);
  return row;
}

/// Why the latency cannot be one of the model. Empty if it can.
std::string doubt_about(const StudyRow& row, Seconds latency) {
  constexpr double most = 5;  // times faster than the best library calls: more than other algorithms can gain
  if (const auto floor = rung_of(row.rungs, RungName::model_floor); floor && latency < *floor)
    return "below the model floor";
  std::optional<Seconds> bound;
  for (const auto name : measured_rungs) bound = least(bound, rung_of(row.rungs, name));
  return bound && latency * most < *bound ? "below a fifth of every bound" : "";
}

/// Whether two files contain the same measurement.
bool is_same(const StudyLatency& a, const StudyLatency& b) {
  return a.framework == b.framework && a.type == b.type && a.time == b.time && a.lowest == b.lowest &&
         a.highest == b.highest && a.chosen_over_best == b.chosen_over_best;
}

void add_latency(StudyRow& row, const StudyLatency& latency, const std::vector<const StudyAccount*>& accounts) {
  row.framework = latency.framework;
  row.latency = latency.time;
  row.file = latency.file;
  row.lowest = latency.lowest;
  row.highest = latency.highest;
  row.chosen_over_best = latency.chosen_over_best;
  row.type = latency.type;
  if (row.type) {
    row.rungs = {};
    for (const auto* account : accounts)
      if (const auto found = account->in_types.find(*row.type); found != account->in_types.end())
        for (std::size_t i = 0; i < rung_count; ++i)
          if (!row.rungs[i]) row.rungs[i] = found->second[i];
  }
  if (!latency.time) return;
  row.doubt = doubt_about(row, *latency.time);
  if (!row.doubt.empty()) return;
  for (std::size_t i = 0; i < rung_count; ++i) row.ratios[i] = over(row.rungs[i], latency.time);
}

class Means {
 public:
  void add(const StudyRow& row, const std::string& quantity, const std::string& framework,
           std::optional<double> value) {
    if (!value) return;
    Values& values = values_[{row.device, row.batch, framework, quantity}];
    if (!values.models.insert(row.model).second) return;  // the row of each framework has the speed-ups
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

/// The group over which a mean is taken: an engine with another type is a separate one.
std::string framework_of(const StudyRow& row) {
  return row.framework + (row.type ? " in " + std::string(name(*row.type)) : "");
}

std::vector<StudyMean> means_of(const std::vector<StudyRow>& rows) {
  Means means;
  for (const auto& row : rows) {
    means.add(row, "chosen over best", framework_of(row), row.chosen_over_best);
    if (row.latency)
      for (const auto name : measured_rungs)
        means.add(row, "ratio of " + std::string(enum_names(name)[static_cast<std::size_t>(name)]), framework_of(row),
                  row.ratio(name));
    for (std::size_t i = 0; i < optimization_count; ++i)
      means.add(row, std::string(enum_names(Optimization{})[i]), "", row.speedups[i]);
  }
  return means.take();
}

std::string latency_text(const StudyRow& row) {
  return detail::duration_text(*row.latency) + (row.file.empty() ? "" : " (" + row.file + ")");
}

/// Notes that means leave out all but the first of several latencies of a framework.
void note_further_latencies(Study& study) {
  std::map<std::pair<Place, std::string>, const StudyRow*> first_rows;
  std::size_t further = 0;
  std::string example;
  for (const auto& row : study.rows) {
    if (!row.latency || !row.doubt.empty()) continue;
    const std::string framework = framework_of(row);
    const auto [first, is_new] = first_rows.try_emplace({{row.device, row.batch, row.model}, framework}, &row);
    if (is_new || further++ > 0) continue;
    example = framework + " of " + row.model + " on " + row.device + ", batch " + std::to_string(row.batch) + ": " +
              latency_text(*first->second) + " counts, " + latency_text(row) + " does not";
  }
  if (further > 0)
    study.notes.push_back("means lack " + std::to_string(further) + (further == 1 ? " latency" : " latencies") +
                          " of a framework that has another one before, first " + example);
}

/// Notes device names that are ambiguous because several devices of the accounts begin with them.
void note_unclear_devices(Study& study, const std::set<std::string>& devices) {
  std::map<std::string, std::string> unclear;
  for (const auto& row : study.rows)
    for (const auto& device : devices)
      if (row.latency && !row.device.empty() && !devices.contains(row.device) && device.starts_with(row.device + ", "))
        unclear[row.device] = device;
  for (const auto& [name, one] : unclear)
    study.notes.push_back("latencies on " + name + " have no bounds: the results are of several such devices, e.g. '" +
                          one + "'; their files can say which");
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
    auto& own = measured[place];
    if (std::any_of(own.begin(), own.end(), [&](const auto* other) { return is_same(*other, latency); })) continue;
    own.push_back(&latency);
    by_place[place];  // a latency without a bound has a row, too
  }
  for (const auto& [place, own] : by_place) {
    const StudyRow row = row_of(place, own);
    const auto found = measured.find(place);
    if (found == measured.end()) study.rows.push_back(row);
    else
      for (const auto* latency : found->second) add_latency(study.rows.emplace_back(row), *latency, own);
  }
  study.means = means_of(study.rows);
  note_further_latencies(study);
  note_unclear_devices(study, devices);
  for (const auto& row : study.rows)
    if (!row.doubt.empty())
      study.notes.push_back(row.framework + "'s latency of " + row.model + " on " + row.device + ", batch " +
                            std::to_string(row.batch) + ", is " + row.doubt + ": it gets no ratio");
  return study;
}

}  // namespace benanza
