// SPDX-License-Identifier: Apache-2.0
#include "passes.hpp"

#include <benanza/detail/warm_ups.hpp>
#include <benanza/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace benanza::profile {

namespace {

/// The longest stretch [first, last) in which each element equals the one `period` before it.
Stretch longest_run(std::span<const std::uint32_t> ids, std::size_t period) {
  Stretch best{}, run{};
  for (std::size_t i = period; i < ids.size(); ++i) {
    if (ids[i] != ids[i - period]) continue;
    if (run.last != i) run.first = i - period;
    run.last = i + 1;
    if (run.last - run.first > best.last - best.first) best = run;
  }
  return best;
}

/// Distances between neighbouring occurrences of the ids that occur least, but more than once: a period is the distance
/// of two occurrences of something that a pass has once. Elements of a pass that all occur several times in it have
/// their sums of distances tried too.
std::vector<std::size_t> candidate_periods(std::span<const std::uint32_t> ids) {
  std::vector<std::size_t> count(ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end()) + std::size_t{1}, 0);
  for (const std::uint32_t id : ids) ++count[id];
  std::vector<std::uint32_t> rare;
  for (std::uint32_t id = 0; id < count.size(); ++id)
    if (count[id] > 1) rare.push_back(id);
  std::stable_sort(rare.begin(), rare.end(), [&](auto a, auto b) { return count[a] < count[b]; });
  constexpr std::size_t ids_tried = 8, sums_tried = 16;
  rare.resize(std::min(rare.size(), ids_tried));
  std::vector<std::size_t> periods;
  for (const std::uint32_t id : rare) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] == id) at.push_back(i);
    const std::size_t middle = at.size() / 2;  // away from what precedes and follows the passes
    for (std::size_t k = 1; k <= sums_tried && k < at.size(); ++k) {
      const std::size_t from = std::min(middle, at.size() - 1 - k);
      periods.push_back(at[from + k] - at[from]);
    }
    periods.push_back(at.back() - at[at.size() - 2]);
  }
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

/// Where in the period passes begin: behind the longest idle time, by the median over the repetitions.
std::size_t phase_by_idle(const Stretch& stretch, std::size_t period, std::span<const double> idle_before) {
  std::size_t best = 0;
  double longest = -1;
  for (std::size_t phase = 0; phase < period; ++phase) {
    std::vector<double> idle;
    for (std::size_t i = stretch.first + phase; i < stretch.last; i += period) idle.push_back(idle_before[i]);
    const double typical = detail::quantile(idle, 0.5);
    if (typical > longest) {
      longest = typical;
      best = phase;
    }
  }
  return best;
}

}  // namespace

std::vector<Stretch> find_repetitions(std::span<const std::uint32_t> ids, std::span<const double> idle_before) {
  Stretch stretch{};
  std::size_t period = 0;
  for (const std::size_t candidate : candidate_periods(ids)) {
    const Stretch run = longest_run(ids, candidate);
    // A longer period than needed loses nothing of the stretch; the shortest that covers as much is the pass.
    if (run.last - run.first >= 2 * candidate && run.last - run.first > stretch.last - stretch.first) {
      stretch = run;
      period = candidate;
    }
  }
  // What repeats inside one pass (blocks of a model) covers a part only: not passes.
  if (period == 0 || 2 * (stretch.last - stretch.first) < ids.size()) return {};
  // What repeats from the start on begins with a pass, what repeats up to the end ends with one.
  std::size_t phase = (stretch.last - stretch.first) % period;
  if (stretch.first == 0) phase = 0;
  else if (stretch.last != ids.size() && !idle_before.empty()) phase = phase_by_idle(stretch, period, idle_before);
  std::vector<Stretch> passes;
  for (std::size_t at = stretch.first + phase; at + period <= stretch.last; at += period)
    passes.push_back({at, at + period});
  return passes;
}

std::size_t warm_up_passes(const Source& source, std::span<const Seconds> passes, const ProfileOptions& options) {
  if (options.warm_ups) {
    if (*options.warm_ups < 0) throw UsageError("a negative number of warm-up passes");
    const auto dropped = static_cast<std::size_t>(*options.warm_ups);
    if (dropped > 0 && dropped >= passes.size())
      throw InputError(source.path().string() + ": holds " + std::to_string(passes.size()) + " passes, of which " +
                       std::to_string(dropped) + " are to be dropped as warm-ups: none is left");
    return dropped;
  }
  return detail::warm_ups(passes);
}

void PassRecords::add_pass(std::span<const PassEvent> events) {
  std::fill(seen_.begin(), seen_.end(), 0);
  slot_of_event_.clear();
  for (const PassEvent& event : events) {
    if (event.what >= slots_of_.size()) {
      slots_of_.resize(event.what + std::size_t{1});
      seen_.resize(slots_of_.size(), 0);
    }
    auto& known = slots_of_[event.what];
    const std::uint32_t occurrence = seen_[event.what]++;
    if (occurrence == known.size()) {
      known.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.push_back({.what = event.what, .source = event.source, .first_pass = passes_});
    }
    slot_of_event_.push_back(known[occurrence]);
    Slot& slot = slots_[known[occurrence]];
    slot.times.resize(passes_, Seconds{});
    slot.times.push_back({event.duration});
    slot.starts.push_back(static_cast<float>(event.start));
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    Slot& slot = slots_[slot_of_event_[i]];
    // Only the pass that brought a record says where it belongs: so no ring of parents can come about.
    if (slot.first_pass == passes_ && events[i].parent != no_parent) slot.parent = slot_of_event_[events[i].parent];
  }
  ++passes_;
}

std::vector<PassRecords::Collected> PassRecords::take() {
  std::vector<double> start;
  for (const Slot& slot : slots_)
    start.push_back(detail::quantile(std::vector<double>(slot.starts.begin(), slot.starts.end()), 0.5));
  std::vector<std::uint32_t> order(slots_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return start[a] < start[b]; });
  std::vector<std::size_t> now(slots_.size());
  for (std::size_t i = 0; i < order.size(); ++i) now[order[i]] = i;
  std::vector<Collected> result;
  result.reserve(slots_.size());
  for (const std::uint32_t from : order) {
    Slot& slot = slots_[from];
    auto& made = result.emplace_back();
    made.what = slot.what;
    made.source = slot.source;
    if (slot.parent != no_parent) made.parent = now[slot.parent];
    made.start = start[from];
    made.present = slot.starts.size();
    slot.times.resize(passes_, Seconds{});
    made.times = std::move(slot.times);
  }
  *this = {};
  return result;
}

}  // namespace benanza::profile
