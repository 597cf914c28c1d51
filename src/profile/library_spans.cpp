// SPDX-License-Identifier: Apache-2.0
#include "library_spans.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace benanza::profile {

namespace {

/// The first call that begins after the moment.
auto next_of(const std::vector<LibrarySpan>& spans, std::int64_t moment) {
  return std::upper_bound(spans.begin(), spans.end(), moment,
                          [](std::int64_t time, const LibrarySpan& span) { return time < span.start; });
}

}  // namespace

std::string library_of_function(const std::string& function) {
  constexpr std::array<std::string_view, 6> libraries{"cudnn", "cublas", "cusparse", "cufft", "cusolver", "curand"};
  for (const auto library : libraries)
    if (function.starts_with(library)) return std::string(library);
  return {};
}

void LibrarySpans::finish() {
  for (auto& [thread, spans] : by_thread_) {
    std::stable_sort(spans.begin(), spans.end(), [](const LibrarySpan& a, const LibrarySpan& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::int64_t end = 0;
    bool any = false;
    std::erase_if(spans, [&](const LibrarySpan& span) {
      if (any && span.start < end) return true;
      any = true;
      end = span.end;
      return false;
    });
  }
}

const LibrarySpan* LibrarySpans::inside(std::int64_t thread, std::int64_t moment) const {
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) return nullptr;
  const auto next = next_of(found->second, moment);
  if (next == found->second.begin() || std::prev(next)->end <= moment) return nullptr;
  return &*std::prev(next);
}

std::pair<const LibrarySpan*, const LibrarySpan*> LibrarySpans::around(std::int64_t thread, std::int64_t moment) const {
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) return {};
  const auto next = next_of(found->second, moment);
  return {next == found->second.begin() ? nullptr : &*std::prev(next), next == found->second.end() ? nullptr : &*next};
}

}  // namespace benanza::profile
