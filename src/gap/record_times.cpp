// SPDX-License-Identifier: Apache-2.0
#include "record_times.hpp"

#include "record_tree.hpp"
#include <benanza/base/detail/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace benanza::gap {

namespace {

std::vector<double> values_of(const std::vector<Seconds>& samples) {
  std::vector<double> values;
  for (const auto& sample : samples) values.push_back(sample.value);
  return values;
}

/// Disjoint spans of time, ascending.
class Spans {
 public:
  /// Adds spans; returns how much of them was not covered before.
  double add_all(std::vector<std::pair<double, double>> spans) {
    const double before = length();
    spans.insert(spans.end(), spans_.begin(), spans_.end());
    std::sort(spans.begin(), spans.end());
    spans_.clear();
    for (const auto& span : spans) {
      if (!(span.second > span.first)) continue;
      if (!spans_.empty() && span.first <= spans_.back().second)
        spans_.back().second = std::max(spans_.back().second, span.second);
      else spans_.push_back(span);
    }
    return length() - before;
  }
  [[nodiscard]] double length() const {
    double sum = 0;
    for (const auto& span : spans_) sum += span.second - span.first;
    return sum;
  }
  /// Returns how much of [begin, end) is not covered, and covers it.
  double take(double begin, double end) {
    auto at = std::lower_bound(spans_.begin(), spans_.end(), begin,
                               [](const auto& span, double time) { return span.second < time; });
    double fresh = end - begin;
    std::pair<double, double> joined{begin, end};
    auto last = at;
    for (; last != spans_.end() && last->first <= end; ++last) {
      fresh -= std::max(0.0, std::min(end, last->second) - std::max(begin, last->first));
      joined.first = std::min(joined.first, last->first);
      joined.second = std::max(joined.second, last->second);
    }
    at = spans_.erase(at, last);
    spans_.insert(at, joined);
    return std::max(0.0, fresh);
  }

 private:
  std::vector<std::pair<double, double>> spans_{};
};

/// Ranks kinds of work: the lowest rank fills the time, each next one only what is left.
int rank_of(Activity activity, bool counted) {
  if (counted) return 0;
  switch (activity) {
    case Activity::call: return 1;
    case Activity::wait: return 2;
    default: return 3;
  }
}

/// The standard error of the mean over these passes. Neighbouring passes may be disturbed alike, so that it is at least
/// the standard error over four parts of the run.
Seconds standard_error(const std::vector<Seconds>& times, const std::vector<std::size_t>& passes) {
  const auto error_of = [](const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / (count - 1) / count);
  };
  constexpr std::size_t parts = 4;
  std::vector<double> single, means(parts);
  for (const auto p : passes) single.push_back(times[p].value);
  if (single.size() < 2 * parts) return Seconds{error_of(single)};
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = single.size() * part / parts, end = single.size() * (part + 1) / parts;
    for (std::size_t i = begin; i < end; ++i) means[part] += single[i] / static_cast<double>(end - begin);
  }
  return Seconds{std::max(error_of(single), error_of(means))};
}

/// A mean over `middle`, if the times are by pass and there are enough passes; else a median.
std::optional<Seconds> uncertainty_over(const std::vector<Seconds>& times, const std::vector<std::size_t>& middle) {
  if (middle.size() < 2 || times.size() <= middle.back()) return uncertainty_of_median(times);
  return standard_error(times, middle);
}

/// The passes that count (RecordTimes::quiet).
std::vector<std::size_t> quiet_passes(const std::vector<Seconds>& latencies) {
  constexpr double tolerated = 1.1;
  constexpr std::size_t least = 8;
  std::vector<std::size_t> all(latencies.size()), quiet;
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Seconds low = quantile_of(latencies, 0.1), high = quantile_of(latencies, 0.9);
  if (high <= low * disturbed_spread) return all;
  std::copy_if(all.begin(), all.end(), std::back_inserter(quiet),
               [&](std::size_t p) { return latencies[p] <= low * tolerated; });
  return quiet.size() < least ? all : quiet;
}

class Builder {
 public:
  explicit Builder(const EngineProfile& profile)
      : records_(profile.records), latencies_(profile.latencies), same_run_(!profile.latencies_apart) {
    const std::size_t count = records_.size();
    result_.counted.assign(count, false);
    choose_counted();
    find_enclosing();
    result_.of_records = latencies_.empty();
    result_.passes = result_.of_records ? sums_of_passes() : latencies_;
    const auto quiet = quiet_passes(result_.passes);
    for (const auto p : quiet) result_.quiet.push_back(result_.passes[p]);
    if (same_run_ && quiet.size() < result_.passes.size()) quiet_of_several_ = quiet;
    constexpr std::size_t least = 8;
    if (same_run_ && quiet.size() >= least) {
      const Seconds low = quantile_of(result_.quiet, 0.25), high = quantile_of(result_.quiet, 0.75);
      for (const auto p : quiet)
        if (low <= result_.passes[p] && result_.passes[p] <= high) result_.middle.push_back(p);
    }
    for (std::size_t r = 0; r < count; ++r) {
      total_.push_back(typical(records_[r].times));
      result_.own.push_back(total_[r]);
      result_.uncertainty.push_back(uncertainty_of_typical(records_[r].times));
      result_.by_pass.push_back(records_[r].times.size() > 1 ? records_[r].times : std::vector<Seconds>{});
    }
  }

  RecordTimes run() {
    subtract_nested();
    const bool placed = all_placed();
    std::map<std::int64_t, double> lanes;  // time of counted records that are not nested in others
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (result_.counted[r]) lanes[records_[r].lane] += result_.own[r].value;
    double busy = 0, all = 0;
    for (const auto& [lane, time] : lanes) {
      all += time;
      busy = std::max(busy, time);
    }
    if (lanes.size() > 1 && placed) busy = std::min(all, covered());
    else if (placed) static_cast<void>(covered());
    result_.side_by_side = {all - busy};
    const double extra = placed ? fill_gaps() : fill_lane(lanes);
    result_.latency = result_.passes.empty() ? Seconds{all} : quantile_of(result_.quiet, 0.5);
    if (result_.of_records) result_.latency += Seconds{extra} - result_.side_by_side;
    if (placed && same_run_ && !result_.of_records) set_between(lanes.size() <= 1, busy, extra);
    result_.rest = result_.latency - Seconds{busy + extra} - result_.between;
    for (std::size_t r = 0; r < records_.size(); ++r)  // a share of these counts
      if (!result_.counted[r])
        for (auto& time : result_.by_pass[r]) time.value *= total_[r].value > 0 ? result_.own[r] / total_[r] : 0;
    return std::move(result_);
  }

 private:
  /// The sum of the records of each pass, without those inside others. Empty if some were not timed by pass, or took
  /// no time that shows.
  [[nodiscard]] std::vector<Seconds> sums_of_passes() const {
    std::vector<Seconds> sums;
    for (std::size_t r = 0; r < records_.size(); ++r) {
      if (!result_.counted[r] || enclosing_[r]) continue;
      const auto& times = records_[r].times;
      if (sums.empty()) sums.resize(times.size());
      if (times.size() != sums.size()) return {};
      for (std::size_t p = 0; p < times.size(); ++p) sums[p] += times[p];
    }
    if (std::any_of(sums.begin(), sums.end(), [](Seconds sum) { return sum.value <= 0; })) sums.clear();
    return sums;
  }

  /// The median over quiet passes, if it is known by pass.
  [[nodiscard]] std::optional<Seconds> start_of(std::size_t r) const {
    const ProfileRecord& record = records_[r];
    if (record.starts_s.size() != result_.passes.size()) return record.start;
    std::vector<double> known;
    for (const auto p : quiet_of_several_)
      if (!std::isnan(record.starts_s[p])) known.push_back(record.starts_s[p]);
    return known.empty() ? record.start : Seconds{detail::quantile(known, 0.5)};
  }

  /// The time in a pass of the usual length: the mean over the middle half of the passes by latency. Means are used
  /// because they add up and medians do not: if each pass has a few slow layers of its own, no median shows them. The
  /// median if there are few passes or the times are not per pass.
  [[nodiscard]] Seconds typical(const std::vector<Seconds>& times) const {
    if (result_.middle.empty() || times.size() != result_.passes.size()) return quantile_of(times, 0.5);
    Seconds sum{};
    for (const auto p : result_.middle) sum += times[p];
    return sum / static_cast<double>(result_.middle.size());
  }

  /// A single slow pass shows in it.
  [[nodiscard]] std::optional<Seconds> uncertainty_of_typical(const std::vector<Seconds>& times) const {
    return times.size() == result_.passes.size() ? uncertainty_over(times, result_.middle)
                                                 : uncertainty_of_median(times);
  }

  void choose_counted() {
    std::set<std::int64_t> kernel_lanes;
    for (const auto& record : records_)
      if (record.activity == Activity::kernel) kernel_lanes.insert(record.lane);
    for (std::size_t r = 0; r < records_.size(); ++r) {
      const ProfileRecord& record = records_[r];
      switch (record.activity) {
        case Activity::kernel:
        case Activity::copy:
        case Activity::conversion: result_.counted[r] = true; break;
        case Activity::layer: result_.counted[r] = kernel_lanes.empty() || kernel_lanes.contains(record.lane); break;
        case Activity::wait:
        case Activity::call: break;
      }
    }
  }

  /// The nearest counted record of the same lane that encloses this one, if there is one.
  [[nodiscard]] std::optional<std::size_t> encloser(std::size_t r,
                                                    const std::vector<std::size_t>& counted_above) const {
    std::size_t steps = 0;  // a cycle has no end
    for (auto above = counted_above[r]; above != no_record && steps < records_.size(); ++steps) {
      if (above != r && records_[above].lane == records_[r].lane) return above;
      above = counted_above[above];
    }
    return std::nullopt;
  }

  void find_enclosing() {
    enclosing_.resize(records_.size());
    const auto counted_above = nearest_above(records_, [this](std::size_t r) { return bool{result_.counted[r]}; });
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (result_.counted[r]) enclosing_[r] = encloser(r, counted_above);
  }

  void subtract_nested() {
    for (std::size_t r = 0; r < records_.size(); ++r) {
      const auto above = enclosing_[r];
      if (!above) continue;
      result_.own[*above].value -= total_[r].value;
      auto& outer = result_.by_pass[*above];
      const auto& inner = records_[r].times;
      if (outer.size() != inner.size()) outer.clear();
      for (std::size_t p = 0; p < outer.size(); ++p) outer[p].value -= inner[p].value;
    }
    for (auto& own : result_.own) own.value = std::max(0.0, own.value);
  }

  [[nodiscard]] bool all_placed() const {
    bool any = false;
    for (std::size_t r = 0; r < records_.size(); ++r) {
      if (!result_.counted[r] || enclosing_[r]) continue;
      any = true;
      if (!records_[r].start) return false;
    }
    return any;
  }

  /// How long at least one counted record runs. Starts are medians, too; therefore, no record of a lane may begin
  /// before the previous one ended.
  double covered() {
    std::map<std::int64_t, std::vector<std::size_t>> lanes;
    std::vector<Seconds> starts;
    for (std::size_t r = 0; r < records_.size(); ++r) starts.push_back(start_of(r).value_or(Seconds{}));
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (result_.counted[r] && !enclosing_[r]) lanes[records_[r].lane].push_back(r);
    std::vector<std::pair<double, double>> spans;
    for (auto& [lane, list] : lanes) {
      std::stable_sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) { return starts[a] < starts[b]; });
      double end = -1e300;
      for (const auto r : list) {
        const double begin = std::max(end, starts[r].value);
        end = begin + total_[r].value;
        spans.emplace_back(begin, end);
      }
    }
    return spans_.add_all(std::move(spans));
  }

  /// Adds waits, calls and host layers, for the time in which no counted record runs.
  double fill_gaps() {
    std::vector<std::size_t> others;
    for (std::size_t r = 0; r < records_.size(); ++r)
      if (!result_.counted[r]) others.push_back(r);
    std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
      return rank_of(records_[a].activity, false) < rank_of(records_[b].activity, false);
    });
    double extra = 0;
    for (const auto r : others) {
      const auto start = start_of(r);
      result_.own[r] = {start ? spans_.take(start->value, start->value + total_[r].value) : 0.0};
      extra += result_.own[r].value;
    }
    return extra;
  }

  /// Without start times: waits and calls on the busiest lane do not overlap its records.
  double fill_lane(const std::map<std::int64_t, double>& lanes) {
    const auto busiest =
        std::max_element(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    double extra = 0;
    for (std::size_t r = 0; r < records_.size(); ++r) {
      if (result_.counted[r]) continue;
      const bool beside = busiest != lanes.end() && records_[r].lane != busiest->first;
      const bool same_work = records_[r].activity == Activity::layer || records_[r].parent.has_value();
      if (beside || same_work) result_.own[r] = {};
      extra += result_.own[r].value;
    }
    return extra;
  }

  /// The part of the latency in which nothing ran: what no record covers, if the latency is of the same run and all
  /// records have start times. On one lane, computed pass by pass.
  void set_between(bool one_lane, double busy, double extra) {
    const std::size_t passes = latencies_.size();
    const auto is_aligned = [&](std::size_t r) { return records_[r].times.size() == passes; };
    bool aligned = one_lane;
    for (std::size_t r = 0; r < records_.size(); ++r) aligned = aligned && (!result_.counted[r] || is_aligned(r));
    if (!aligned || passes < 2) {
      result_.between = {std::max(0.0, result_.latency.value - busy - extra)};
      return;
    }
    std::vector<Seconds> idle = latencies_;
    for (std::size_t r = 0; r < records_.size(); ++r) {
      if (!result_.counted[r] || enclosing_[r]) continue;
      for (std::size_t p = 0; p < passes; ++p) idle[p].value -= records_[r].times[p].value;
    }
    result_.between = {std::max(0.0, typical(idle).value - extra)};
    result_.between_uncertainty = uncertainty_of_typical(idle);
  }

  const std::vector<ProfileRecord>& records_;
  const std::vector<Seconds>& latencies_;
  bool same_run_;  // records and latencies have the same passes
  std::vector<Seconds> total_{};
  std::vector<std::optional<std::size_t>> enclosing_{};  // the counted record of its lane around each counted one
  std::vector<std::size_t> quiet_of_several_{};          // the quiet passes; empty if all are
  Spans spans_{};
  RecordTimes result_{};
};

}  // namespace

Seconds quantile_of(const std::vector<Seconds>& samples, double p) {
  const double value = detail::quantile(values_of(samples), p);
  return {std::isfinite(value) ? value : 0.0};
}

std::optional<Seconds> uncertainty_of_median(const std::vector<Seconds>& samples) {
  constexpr std::size_t groups = 4, least = 8;
  if (samples.size() < 2) return std::nullopt;
  const auto values = values_of(samples);
  if (samples.size() >= least) {
    const double relative = detail::group_uncertainty(values, 0.5, groups);
    const double median = detail::quantile(values, 0.5);
    if (std::isfinite(relative) && median > 0) return Seconds{relative * median};
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return Seconds{(*high - *low) / 2};
}

std::optional<Seconds> RecordTimes::uncertainty_of(const std::map<std::size_t, double>& factors) const {
  std::vector<Seconds> sums;
  Seconds separate{};
  bool by_passes = !factors.empty();
  for (const auto& [record, factor] : factors) {
    if (!uncertainty[record]) return std::nullopt;
    separate += *uncertainty[record] * std::fabs(factor);
    const auto& times = by_pass[record];
    if (sums.empty()) sums.resize(times.size());
    by_passes = by_passes && !times.empty() && times.size() == sums.size();
    for (std::size_t p = 0; by_passes && p < times.size(); ++p) sums[p] += times[p] * factor;
  }
  return by_passes ? uncertainty_over(sums, middle) : separate;
}

RecordTimes make_record_times(const EngineProfile& profile) { return Builder(profile).run(); }

}  // namespace benanza::gap
