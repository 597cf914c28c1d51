// SPDX-License-Identifier: Apache-2.0
#include "row_name.hpp"

#include <benanza/results/ceiling_row.hpp>

#include <algorithm>
#include <charconv>

namespace benanza {

namespace {

/// What can follow a benchmark's own name (benchmark_name.cc of Google Benchmark).
bool is_suffix(std::string_view segment) {
  for (std::string_view word : {"manual_time", "real_time", "process_time"})
    if (segment == word) return true;
  for (std::string_view key : {"iterations:", "repeats:", "threads:", "min_time:", "min_warmup_time:"})
    if (segment.starts_with(key)) return true;
  return false;
}

std::optional<CacheState> cache_state(std::string_view text) {
  const auto names = enum_names(CacheState{});
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<CacheState>(found - names.begin());
}

}  // namespace

std::optional<RowName> parse_row_name(std::string_view name) {
  for (auto slash = name.rfind('/'); slash != std::string_view::npos && is_suffix(name.substr(slash + 1));
       slash = name.rfind('/'))
    name = name.substr(0, slash);
  RowName row;
  const auto first = name.find('/');
  if (first == std::string_view::npos) return std::nullopt;
  row.backend = name.substr(0, first);
  // The algorithm of a ceiling may be the name of the row that reached it; its quantity always has two words. Other
  // algorithms have one.
  std::size_t second = 0, third = 0;
  if (row.backend == machine_backend) {
    third = name.rfind('/', name.rfind('/') - 1);
    second = third == std::string_view::npos || third <= first ? first : name.rfind('/', third - 1);
  } else {
    second = name.find('/', first + 1);
    third = second == std::string_view::npos ? second : name.find('/', second + 1);
  }
  if (second == std::string_view::npos || third == std::string_view::npos || second <= first) return std::nullopt;
  const auto cache = cache_state(name.substr(second + 1, third - second - 1));
  if (!cache) return std::nullopt;
  row.algorithm = name.substr(first + 1, second - first - 1);
  row.cache = *cache;
  row.what = name.substr(third + 1);
  if (row.backend.empty() || row.algorithm.empty() || row.what.empty()) return std::nullopt;
  return row;
}

std::optional<int> threads_of(std::string_view algorithm) {
  constexpr std::string_view key = "threads=";
  const auto at = algorithm.rfind(key);
  if (at == std::string_view::npos) return std::nullopt;
  int threads = 0;
  const auto text = algorithm.substr(at + key.size(), algorithm.find_first_of(",/", at) - at - key.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  return error == std::errc{} && end == text.data() + text.size() && threads > 0 ? threads : 0;
}

}  // namespace benanza
