// SPDX-License-Identifier: Apache-2.0
#include "seen_calls.hpp"

#include "passes.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace benanza::profile {

namespace {

using Indices = std::vector<std::size_t>;

/// Equal ids for calls that do the same thing in the same way.
class Ids {
 public:
  std::uint32_t of(const LibraryCall& call) {
    const auto next = static_cast<std::uint32_t>(ids_.size());
    return ids_.try_emplace({call.function, call.signature, call.algorithm, call.math}, next).first->second;
  }

 private:
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::uint32_t> ids_{};
};

/// The number of calls in the last pass, if the sequence ends with the same calls by two threads, one after the other:
/// one pass per thread, after a long autotuning. 0 if it does not end like that.
std::size_t repeated_end(std::span<const std::uint32_t> ids, const std::vector<SeenCall>& seen) {
  std::size_t of_last = 0;
  while (of_last < seen.size() && seen[seen.size() - 1 - of_last].thread == seen.back().thread) ++of_last;
  if (2 * of_last > seen.size()) return 0;
  const auto second = ids.last(of_last), first = ids.last(2 * of_last).first(of_last);
  return std::equal(first.begin(), first.end(), second.begin()) ? of_last : 0;
}

/// The calls that form the last pass; empty if none repeats.
Indices last_pass(const Indices& among, std::span<const std::uint32_t> all_ids) {
  std::vector<std::uint32_t> ids;
  for (const auto i : among) ids.push_back(all_ids[i]);
  Stretch pass{};
  if (const auto passes = find_repetitions(ids); !passes.empty()) pass = passes.back();
  Indices result;
  for (std::size_t i = pass.first; i < pass.last; ++i) result.push_back(among[i]);
  return result;
}

}  // namespace

std::vector<LibraryCall> calls_of_one_pass(const Source& source, const std::vector<SeenCall>& seen,
                                           std::vector<std::string>& warnings) {
  if (seen.empty()) return {};
  Ids known;
  std::vector<std::uint32_t> ids;
  Indices all;
  std::map<std::string, Indices> of_thread;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ids.push_back(known.of(seen[i].call));
    all.push_back(i);
    of_thread[seen[i].thread].push_back(i);
  }
  Indices pass = last_pass(all, ids);
  if (pass.empty() && of_thread.size() > 1) {  // passes of two threads overlap: use the busiest thread
    const Indices* busiest = nullptr;
    for (const auto& [thread, calls] : of_thread)
      if (!busiest || calls.size() > busiest->size()) busiest = &calls;
    pass = last_pass(*busiest, ids);
  }
  if (pass.empty())
    for (std::size_t i = seen.size() - repeated_end(ids, seen); i < seen.size(); ++i) pass.push_back(i);
  if (pass.empty()) {
    pass = all;
    if (seen.size() > 1)
      warnings.push_back(source.path().string() + ": no sequence of its " + std::to_string(seen.size()) +
                         " calls repeats itself: all of them count as one pass");
  }
  std::vector<LibraryCall> calls;
  std::map<std::uint32_t, std::size_t> place;
  for (const auto i : pass) {
    const auto [at, added] = place.try_emplace(ids[i], calls.size());
    if (added) calls.push_back(seen[i].call);
    ++calls[at->second].count;
  }
  return calls;
}

}  // namespace benanza::profile
