// SPDX-License-Identifier: Apache-2.0
#include "between_libraries.hpp"

#include <algorithm>

namespace benanza::profile {

std::string without_version(const std::string& call) {
  const auto at = call.rfind("_v");
  const bool versioned = at != std::string::npos && at + 2 < call.size() && call.starts_with("cu") &&
                         call.find_first_not_of("0123456789", at + 2) == std::string::npos;
  std::string name = versioned ? call.substr(0, at) : call;
  for (const char* stream : {"_ptsz", "_ptds"})  // variants for a per-thread default stream
    if (versioned && name.ends_with(stream)) name.resize(name.size() - 5);
  return name;
}

bool BetweenLibraries::add(const DeviceEvent& event, std::int64_t moment, std::int64_t begin, std::int64_t end) {
  const auto [before, after] = spans_.around(event.thread, moment);
  if (!before || !after || before->end > moment || before->end < begin || after->start >= end) return false;
  Sum& sum = sums_[{event.activity, event.activity == Activity::kernel ? event.name : without_version(event.name),
                    before->function, after->function}];
  ++sum.count;
  sum.time += event.end - event.start;
  if (!event.chain.empty()) ++sum.chains[event.chain];
  return true;
}

std::vector<BetweenCalls> BetweenLibraries::take(std::size_t passes) const {
  std::vector<BetweenCalls> result;
  const auto average = [passes](std::int64_t sum) { return static_cast<double>(sum) / static_cast<double>(passes); };
  for (const auto& [key, sum] : sums_) {
    const auto& [activity, name, after, before] = key;
    BetweenCalls made{.name = name,
                      .activity = activity,
                      .after = after,
                      .before = before,
                      .count = average(sum.count),
                      .time = nanoseconds(average(sum.time))};
    const auto most = std::max_element(sum.chains.begin(), sum.chains.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != sum.chains.end()) made.chain = most->first;
    result.push_back(std::move(made));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const BetweenCalls& a, const BetweenCalls& b) { return a.time > b.time; });
  return result;
}

}  // namespace benanza::profile
