// SPDX-License-Identifier: Apache-2.0
#include "suite_flags.hpp"

#include <benanza/base/detail/duration.hpp>
#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/quantile.hpp>
#include <benanza/error.hpp>
#include <benanza/model/data_type.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <span>

namespace benanza::bench {

namespace {

/// The value of `--name=value`.
std::optional<std::string> value_of(std::string_view argument, std::string_view name) {
  if (!argument.starts_with("--")) return std::nullopt;
  argument.remove_prefix(2);
  if (!argument.starts_with(name)) return std::nullopt;
  argument.remove_prefix(name.size());
  if (argument.empty()) return "true";
  if (!argument.starts_with('=')) return std::nullopt;
  return std::string(argument.substr(1));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Reads truth values like Google Benchmark.
bool is_true(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !(text.empty() || text == "0" || text == "f" || text == "n" || text == "false" || text == "no" ||
           text == "off");
}

int parse_threads(const std::string& text) {
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc{} || end != text.data() + text.size() || threads < 1)
    throw UsageError("--benanza_threads: '" + text + "', expected a positive number");
  return threads;
}

/// The names in a list, `hot,cold`; `expected` names the possible ones.
template <class Named>
std::vector<Named> parse_names(const std::string& flag, const std::string& text, const std::string& expected) {
  std::vector<Named> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto name = detail::enum_from_name<Named>(std::string_view(text).substr(begin, end - begin));
    if (!name) throw UsageError(flag + ": '" + text + "', expected some of " + expected);
    names.push_back(*name);
    begin = end + 1;
  }
  return names;
}

/// Whether the pattern occurs in the text at `at`; `.` stands for any character, as in the regular expression.
bool literal_at(std::string_view text, std::size_t at, std::string_view pattern) {
  if (text.size() - at < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] != '.' && pattern[i] != text[at + i]) return false;
  return true;
}

}  // namespace

SuiteFlags parse_suite_flags(int argc, const char* const* argv) {
  SuiteFlags flags{.filter = environment("BENCHMARK_FILTER"),
                   .list = is_true(environment("BENCHMARK_LIST_TESTS")),
                   .out = environment("BENCHMARK_OUT")};
  std::string format = environment("BENCHMARK_OUT_FORMAT"), repeat = environment("BENCHMARK_REPETITIONS");
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (i == 0) flags.rest.emplace_back(argument);
    else if (const auto threads = value_of(argument, "benanza_threads")) flags.threads = parse_threads(*threads);
    else if (const auto budget = value_of(argument, "benanza_budget"))
      flags.budget = detail::parse_duration(*budget, "--benanza_budget");
    else if (const auto caches = value_of(argument, "benanza_cache"))
      flags.caches = parse_names<CacheState>("--benanza_cache", *caches, "hot, cold-weights and cold");
    else if (const auto metrics = value_of(argument, "benanza_metrics"))
      flags.metrics = parse_names<KernelMetric>("--benanza_metrics", *metrics, "kernels, dram, flops and occupancy");
    else if (const auto isolate = value_of(argument, "benanza_isolate")) flags.isolate = is_true(*isolate);
    else if (const auto done = value_of(argument, "benanza_done")) flags.done = *done;
    else if (const auto filter = value_of(argument, "benchmark_filter")) flags.filter = *filter;
    else if (const auto list = value_of(argument, "benchmark_list_tests")) flags.list = is_true(*list);
    else if (const auto out = value_of(argument, "benchmark_out")) flags.out = *out;
    else if (const auto out_format = value_of(argument, "benchmark_out_format")) format = *out_format;
    else {
      if (const auto repetitions = value_of(argument, "benchmark_repetitions")) repeat = *repetitions;
      flags.rest.emplace_back(argument);
    }
  }
  flags.repetitions = static_cast<std::size_t>(std::max(1, std::atoi(repeat.c_str())));
  if (flags.filter == "all" || flags.filter == ".") flags.filter.clear();
  flags.rest.emplace_back("--benchmark_filter=.");
  flags.rest.emplace_back("--benchmark_list_tests=false");
  const bool json = format.empty() || format == "json";
  flags.rest.emplace_back("--benchmark_out=" + (json ? std::string() : flags.out));
  if (!json) {
    flags.rest.emplace_back("--benchmark_out_format=" + format);
    flags.out.clear();
  }
  return flags;
}

std::vector<double> p10_of_parts(const std::vector<double>& times, std::size_t parts) {
  std::vector<double> result;
  for (std::size_t part = 0; parts > 1 && part < parts; ++part) {
    const auto at = [&](std::size_t i) {
      return times.begin() + static_cast<std::ptrdiff_t>(times.size() * i / parts);
    };
    result.push_back(detail::quantile(std::span(at(part), at(part + 1)), 0.1));
    if (!std::isfinite(result.back())) return {};
  }
  return result;
}

std::function<bool(std::string_view)> name_filter(const std::string& filter) {
  if (filter.empty()) return [](std::string_view) { return true; };
  const bool negated = filter.front() == '-';
  try {
    const std::regex pattern(negated ? filter.substr(1) : filter, std::regex::extended | std::regex::nosubs);
    return [pattern, negated](std::string_view name) {
      return std::regex_search(name.begin(), name.end(), pattern) != negated;
    };
  } catch (const std::regex_error& error) {
    throw UsageError("--benchmark_filter: '" + filter + "' is not a regular expression: " + error.what());
  }
}

bool may_pass(std::string_view filter, std::string_view signature) {
  constexpr std::string_view literal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,=:/-";
  if (filter.empty() || filter.front() == '-' || filter.find_first_not_of(literal) != std::string_view::npos)
    return true;
  // A pasted name: the signature begins after the cache state. No part of a signature has the name of a cache state.
  for (const std::string_view state : {"/hot/", "/cold-weights/", "/cold/"})
    if (const auto at = filter.find(state); at != std::string_view::npos)
      return literal_at(signature, 0, filter.substr(at + state.size()));
  // A pasted signature, or its beginning: kind and element type are adjacent nowhere else.
  const auto slash = filter.find('/');
  if (slash == std::string_view::npos || slash == 0) return true;
  const auto second = filter.find('/', slash + 1);
  if (second == std::string_view::npos || !data_type_from_name(filter.substr(slash + 1, second - slash - 1)))
    return true;
  for (std::size_t at = 0; at < signature.size(); ++at)
    if (literal_at(signature, at, filter)) return true;
  return false;
}

}  // namespace benanza::bench
