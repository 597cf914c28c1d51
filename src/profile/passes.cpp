// SPDX-License-Identifier: Apache-2.0
#include "passes.hpp"

#include <benanza/error.hpp>
#include <benanza/profile/detail/warm_ups.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

namespace benanza::profile {

namespace {

/// The longest range [first, last) in which each element equals the one `period` before it.
Stretch longest_run(std::span<const std::uint32_t> ids, std::size_t period) {
  Stretch best{}, run{};
  for (std::size_t i = period; i < ids.size(); ++i) {
    if (!may_be_same(ids[i], ids[i - period])) continue;
    if (run.last != i) run.first = i - period;
    run.last = i + 1;
    if (run.last - run.first > best.last - best.first) best = run;
  }
  return best;
}

/// The element of [first, last) whose id occurs least often in the whole sequence, but more than once; `last` if there
/// is none.
std::size_t rarest(std::span<const std::uint32_t> ids, const std::vector<std::size_t>& count, std::size_t first,
                   std::size_t last) {
  std::size_t best = last;
  for (std::size_t i = first; i < last; ++i)
    if (ids[i] != unreadable_id && count[ids[i]] > 1 && (best == last || count[ids[i]] < count[ids[best]])) best = i;
  return best;
}

/// Distances of one element to others with its id. If the element is in the passes, one of them is a period, because
/// each element of a repeating range has an equal one a period before or after it. Passes that cover half of the
/// sequence contain its whole second or its whole third quarter, so one element of each is tried. (Not the rarest of
/// all, which may belong to the set-up, such as the kernels that set an engine's parameters.) The rarest element has
/// few equals inside a pass, so its nearest ones suffice.
std::vector<std::size_t> candidate_periods(std::span<const std::uint32_t> ids) {
  std::vector<std::size_t> count;
  for (const std::uint32_t id : ids) {
    if (id == unreadable_id) continue;
    if (id >= count.size()) count.resize(id + std::size_t{1}, 0);
    ++count[id];
  }
  constexpr std::size_t equals_tried = 32;  // on each side
  const std::size_t size = ids.size();
  std::vector<std::size_t> periods;
  for (const auto& [first, last] : {Stretch{size / 4, size / 2}, Stretch{size / 2, size - size / 4}}) {
    const std::size_t at = rarest(ids, count, first, last);
    if (at == last) continue;
    std::size_t found = 0;
    for (std::size_t i = at; i-- > 0 && found < equals_tried;)
      if (ids[i] == ids[at]) periods.push_back(at - i), ++found;
    found = 0;
    for (std::size_t i = at + 1; i < size && found < equals_tried; ++i)
      if (ids[i] == ids[at]) periods.push_back(i - at), ++found;
  }
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

/// Where in the period passes begin: after the longest idle time, by the median over the repetitions.
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

/// Whether the passes continue to the end of the sequence, where the last one may be cut off.
bool reach_end(const std::vector<Stretch>& passes, std::span<const std::uint32_t> ids) {
  const Stretch& last = passes.back();
  const auto rest = ids.subspan(last.last);
  return rest.size() < last.last - last.first &&
         std::equal(rest.begin(), rest.end(), ids.begin() + static_cast<std::ptrdiff_t>(last.first), may_be_same);
}

/// Whether the idle time before a pass is at least twice the longest one inside a pass, by medians over the passes.
bool begin_behind_idle(const std::vector<Stretch>& passes, std::span<const double> idle_before) {
  const std::size_t period = passes.front().last - passes.front().first;
  double before = 0, inside = 0;
  for (std::size_t phase = 0; phase < period; ++phase) {
    std::vector<double> idle;
    for (const Stretch& pass : passes)
      if (pass.first + phase > 0) idle.push_back(idle_before[pass.first + phase]);  // nothing is before the first one
    const double typical = detail::quantile(idle, 0.5);
    if (phase == 0) before = typical;
    else inside = std::max(inside, typical);
  }
  return before > 0 && before >= 2 * inside;
}

/// Whether each record of a pass has a name of its own. Equal blocks of a model, whose layers are named by their
/// operators, are shorter (Conv, BatchNormalization, Relu), or have an operator twice.
bool have_own_names(std::span<const std::uint32_t> pass) {
  constexpr std::size_t least = 5;
  std::vector<std::uint32_t> names(pass.begin(), pass.end());
  std::erase(names, unreadable_id);
  std::sort(names.begin(), names.end());
  return pass.size() >= least && std::adjacent_find(names.begin(), names.end()) == names.end();
}

/// Whether repetitions may be passes.
bool are_likely(const std::vector<Stretch>& passes, std::span<const std::uint32_t> ids,
                std::span<const double> idle_before, Covering covering) {
  if (passes.empty()) return false;
  const Stretch& first = passes.front();
  if (covering == Covering::from_start)
    return first.first == 0 &&
           (passes.back().last == ids.size() || (reach_end(passes, ids) && have_own_names(ids.subspan(0, first.last))));
  return reach_end(passes, ids) || (!idle_before.empty() && begin_behind_idle(passes, idle_before));
}

/// The most elements, but not all, that are both the first and the last ones (Knuth, Morris, Pratt).
std::size_t repeated_start(std::span<const std::uint32_t> ids) {
  std::vector<std::size_t> longest(ids.size(), 0);  // for the elements up to each one
  for (std::size_t i = 1; i < ids.size(); ++i) {
    std::size_t length = longest[i - 1];
    while (length > 0 && ids[i] != ids[length]) length = longest[length - 1];
    longest[i] = length + (ids[i] == ids[length] ? 1 : 0);
  }
  return longest.empty() ? 0 : longest.back();
}

/// Why a sequence of a format that usually contains one pass may have several; empty if nothing shows it.
std::string doubt_about_one(const std::vector<Stretch>& repetitions, std::span<const std::uint32_t> ids) {
  const std::string all = "its " + std::to_string(ids.size()) + " records are taken as one pass, although ",
                    how = "--passes says how many passes there are";
  if (!repetitions.empty())
    return all + std::to_string(repetitions.back().last - repetitions.front().first) + " of them repeat: " + how;
  const std::size_t again = repeated_start(ids);
  constexpr std::size_t least = 2;  // one record may be of the same name, such as a reorder
  if (again < least) return "";
  return all + "the last " + std::to_string(again) +
         " are the first ones again: a second pass that is cut off has to be removed from the file";
}

/// As many passes as told, each of one or several repetitions.
std::vector<Stretch> passes_as_told(const Source& source, std::span<const std::uint32_t> ids,
                                    std::span<const double> idle_before, std::int64_t told) {
  if (told < 1) throw UsageError("a number of passes below 1");
  if (told == 1) return {{0, ids.size()}};
  const auto count = static_cast<std::size_t>(told);
  const std::vector<Stretch> found = find_repetitions(ids, idle_before);
  if (found.empty() || found.size() % count != 0)
    throw InputError(source.path().string() + ": its " + std::to_string(ids.size()) + " records repeat " +
                     std::to_string(found.size()) + " times, expected " + std::to_string(count) +
                     " passes or a multiple of that");
  const std::size_t each = found.size() / count;
  std::vector<Stretch> passes;
  for (std::size_t i = 0; i < found.size(); i += each) passes.push_back({found[i].first, found[i + each - 1].last});
  return passes;
}

}  // namespace

namespace {

std::vector<Stretch> all_passes(const Source& source, std::span<const std::uint32_t> ids,
                                std::span<const double> idle_before, const ProfileOptions& options,
                                std::vector<std::string>& warnings, Covering covering) {
  if (ids.empty()) return {};
  if (options.passes) return passes_as_told(source, ids, idle_before, *options.passes);
  std::vector<Stretch> passes = find_repetitions(ids, idle_before);
  if (are_likely(passes, ids, idle_before, covering)) {
    const std::size_t records = passes.front().last - passes.front().first;
    warnings.push_back(source.path().string() + ": " + std::to_string(passes.size()) +
                       " passes found by repetition of " + std::to_string(records) +
                       (records == 1 ? " record" : " records") +
                       "; equal blocks of one pass repeat too: --passes says how many passes there are");
    return passes;
  }
  if (covering == Covering::behind_warm_up)
    warnings.push_back(source.path().string() + ": nothing repeats up to the end: its " + std::to_string(ids.size()) +
                       " records are taken as one pass, which may hold warm-ups");
  else if (const std::string doubt = doubt_about_one(passes, ids); !doubt.empty())
    warnings.push_back(source.path().string() + ": " + doubt);
  return {{0, ids.size()}};
}

}  // namespace

bool is_readable(std::span<const std::uint32_t> ids, std::span<const Stretch> passes, std::size_t k) {
  return std::none_of(passes.begin(), passes.end(),
                      [&](const Stretch& pass) { return ids[pass.first + k] == unreadable_id; });
}

std::size_t unreadable_in(std::span<const std::uint32_t> ids, std::span<const Stretch> passes) {
  std::size_t count = 0;
  for (const Stretch& pass : passes) {
    const auto part = ids.subspan(pass.first, pass.last - pass.first);
    count += static_cast<std::size_t>(std::count(part.begin(), part.end(), unreadable_id));
  }
  return count;
}

std::vector<Stretch> repeated_passes(const Source& source, std::span<const std::uint32_t> ids,
                                     std::span<const double> idle_before, const ProfileOptions& options,
                                     std::vector<std::string>& warnings, Covering covering) {
  std::vector<Stretch> passes = all_passes(source, ids, idle_before, options, warnings, covering);
  if (covering == Covering::from_start && !passes.empty())
    if (const std::size_t outside = ids.size() - (passes.back().last - passes.front().first); outside > 0)
      warnings.push_back(source.path().string() + ": " + std::to_string(outside) + " records outside of the " +
                         std::to_string(passes.size()) + " passes (a pass that is cut off) are left out");
  const auto is_whole = [ids](const Stretch& pass) {
    const auto part = ids.subspan(pass.first, pass.last - pass.first);
    return std::find(part.begin(), part.end(), unreadable_id) == part.end();
  };
  if (std::any_of(passes.begin(), passes.end(), is_whole)) std::erase_if(passes, std::not_fn(is_whole));
  return passes;
}

std::vector<Stretch> find_repetitions(std::span<const std::uint32_t> ids, std::span<const double> idle_before) {
  Stretch stretch{};
  std::size_t period = 0;
  for (const std::size_t candidate : candidate_periods(ids)) {
    const Stretch run = longest_run(ids, candidate);
    // A longer period than needed covers a range that is just as long; the shortest period with the same coverage is
    // the pass.
    if (run.last - run.first >= 2 * candidate && run.last - run.first > stretch.last - stretch.first) {
      stretch = run;
      period = candidate;
    }
  }
  // Repetitions inside one pass (blocks of a model) cover only a part of the sequence and are not passes.
  if (period == 0 || 2 * (stretch.last - stretch.first) < ids.size()) return {};
  // Repetitions from the start of the sequence begin with a pass; repetitions up to the end end with one.
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

namespace {

constexpr float absent = std::numeric_limits<float>::quiet_NaN();

}  // namespace

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
    slot.starts.resize(passes_, absent);
    slot.starts.push_back(static_cast<float>(event.start));
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    Slot& slot = slots_[slot_of_event_[i]];
    // Only the pass that introduced a record sets its parent, so parents cannot form a cycle.
    if (slot.first_pass == passes_ && events[i].parent != no_parent) slot.parent = slot_of_event_[events[i].parent];
  }
  ++passes_;
}

std::vector<PassRecords::Collected> PassRecords::take() {
  std::vector<double> start;
  for (const Slot& slot : slots_) {
    std::vector<double> known;
    for (const float each : slot.starts)
      if (!std::isnan(each)) known.push_back(each);
    start.push_back(detail::quantile(known, 0.5));
  }
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
    const auto is_known = [](float each) { return !std::isnan(each); };
    made.present = static_cast<std::size_t>(std::count_if(slot.starts.begin(), slot.starts.end(), is_known));
    slot.starts.resize(passes_, absent);
    made.starts_s = std::move(slot.starts);
    slot.times.resize(passes_, Seconds{});
    made.times = std::move(slot.times);
  }
  *this = {};
  return result;
}

}  // namespace benanza::profile
