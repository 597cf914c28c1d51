// SPDX-License-Identifier: Apache-2.0
#include "nested_events.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace benanza::profile {

Names::Found Names::find_or_add(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return {found->second, false};
  const auto id = static_cast<std::uint32_t>(ids_.size());
  ids_.emplace(std::string(text), id);
  return {id, true};
}

namespace {

/// By start, longer events first. Parents that readers have already set follow their events.
void sort_by_start(std::vector<TimedEvent>& events) {
  const auto before = [](const TimedEvent& a, const TimedEvent& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.end != b.end) return a.end > b.end;
    return a.position < b.position;
  };
  if (std::is_sorted(events.begin(), events.end(), before)) return;
  const bool linked =
      std::any_of(events.begin(), events.end(), [](const TimedEvent& event) { return event.parent != no_event; });
  if (!linked) {
    std::sort(events.begin(), events.end(), before);
    return;
  }
  std::vector<std::uint32_t> order(events.size()), now(events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return before(events[a], events[b]); });
  for (std::uint32_t i = 0; i < order.size(); ++i) now[order[i]] = i;
  std::vector<TimedEvent> sorted;
  sorted.reserve(events.size());
  for (const std::uint32_t from : order) {
    sorted.push_back(events[from]);
    if (sorted.back().parent != no_event) sorted.back().parent = now[sorted.back().parent];
  }
  events = std::move(sorted);
}

}  // namespace

Misnested nest(std::vector<TimedEvent>& events, std::int64_t tolerance) {
  sort_by_start(events);
  Misnested wrong;
  std::vector<std::vector<std::uint32_t>> open;  // by lane, the enclosing events from outermost to innermost
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    TimedEvent& event = events[i];
    if (event.lane >= open.size()) open.resize(event.lane + std::size_t{1});
    auto& stack = open[event.lane];
    bool misfit = false;
    while (!stack.empty()) {
      const std::int64_t end = events[stack.back()].end;
      const bool fits = event.end <= end + tolerance;
      if (end > event.start && fits) break;
      misfit = misfit || (!fits && end > event.start + tolerance);  // begins inside, ends outside
      stack.pop_back();
    }
    if (misfit && wrong.count++ == 0) wrong.position = event.position;
    if (!stack.empty() && event.parent == no_event) event.parent = stack.back();
    stack.push_back(i);
  }
  return wrong;
}

void assign_passes(std::vector<TimedEvent>& events, std::span<const PassSpan> passes) {
  if (passes.empty()) return;
  std::size_t pass = 0;
  for (TimedEvent& event : events) {
    while (pass + 1 < passes.size() && event.start >= passes[pass + 1].start) ++pass;
    if (event.start >= passes[pass].start && event.start <= passes[pass].end)
      event.pass = static_cast<std::uint32_t>(pass);
  }
}

EventRecords collect(const std::vector<TimedEvent>& events, std::span<const PassSpan> passes, std::size_t first) {
  // Events by pass, each in order of start: a stable counting sort over indices.
  std::vector<std::size_t> begin(passes.size() + 1, 0);
  for (const TimedEvent& event : events)
    if (event.pass != no_event) ++begin[event.pass + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> order(begin.back()), local(events.size(), no_event);
  {
    auto next = begin;
    for (std::uint32_t i = 0; i < events.size(); ++i)
      if (events[i].pass != no_event) order[next[events[i].pass]++] = i;
  }
  PassRecords passed;
  std::vector<PassEvent> of_pass;
  for (std::size_t pass = first; pass < passes.size(); ++pass) {
    of_pass.clear();
    for (std::size_t k = begin[pass]; k < begin[pass + 1]; ++k)
      local[order[k]] = static_cast<std::uint32_t>(k - begin[pass]);
    for (std::size_t k = begin[pass]; k < begin[pass + 1]; ++k) {
      const TimedEvent& event = events[order[k]];
      const std::uint32_t parent = event.parent;
      const bool inside = parent != no_event && events[parent].pass == pass;
      of_pass.push_back({.what = event.what,
                         .source = order[k],
                         .parent = inside ? local[parent] : no_event,
                         .start = static_cast<double>(event.start - passes[pass].start) * 1e-9,
                         .duration = static_cast<double>(event.end - event.start) * 1e-9});
    }
    passed.add_pass(of_pass);
  }
  const std::size_t counted = passed.passes();
  EventRecords result;
  for (auto& slot : passed.take()) {
    auto& record = result.records.emplace_back();
    const TimedEvent& event = events[slot.source];
    record.lane = event.lane;
    record.place.position = event.position;
    record.parent = slot.parent;
    record.start = Seconds{slot.start};
    record.times = std::move(slot.times);
    record.starts_s = std::move(slot.starts_s);
    result.what.push_back(slot.what);
    if (slot.present != counted) ++result.irregular;
  }
  return result;
}

}  // namespace benanza::profile
