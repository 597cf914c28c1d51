// SPDX-License-Identifier: Apache-2.0
#include "request.hpp"

#include <benanza/base/detail/field_text.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/whole_file.hpp>
#include <benanza/version.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace benanza::isolation {

namespace {

constexpr std::string_view version_key = "version";

std::filesystem::path lines_of(const std::filesystem::path& folder) { return folder / "request"; }
std::filesystem::path known_of(const std::filesystem::path& folder) { return folder / "known.json"; }
std::filesystem::path earlier_of(const std::filesystem::path& folder) { return folder / "earlier.json"; }

/// The shortest text from which the same value is read back.
std::string exact(double value) {
  std::array<char, 40> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError("a request for a worker has '" + std::string(text) + "', expected a number");
  return value;
}

/// The text up to the next tab; removes both from the line.
std::string_view take(std::string_view& line) {
  const auto end = std::min(line.find('\t'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(line.size(), end + 1));
  return field;
}

void read_line(Request& request, std::string_view line) {
  measure::MeasureOptions& options = request.options;
  const std::string_view key = take(line);
  if (key == version_key) {
    if (line != version)
      throw InputError("a request for a worker of Benanza " + std::string(line) + ", this is " + std::string(version));
  } else if (key == "measures") {
    request.measures = number<int>(line) != 0;
  } else if (key == "backend") {
    request.backends.emplace_back(line);
  } else if (key == "filter") {
    request.filter = line;
  } else if (key == "threads") {
    options.threads = number<int>(line);
  } else if (key == "cache") {
    if (const auto cache = detail::enum_from_name<CacheState>(line)) options.caches.push_back(*cache);
  } else if (key == "metric") {
    if (const auto metric = detail::enum_from_name<KernelMetric>(line)) options.metrics.push_back(*metric);
  } else if (key == "budget") {
    options.budget = {number<double>(line)};
  } else if (key == "layer") {
    const auto weight = number<double>(take(line));
    request.layers.push_back({.layer = parse_layer(line), .weight = weight});
  } else if (key == "crashing_plan") {
    const std::string_view row = take(line);
    options.crashing_plans[std::string(row)] = line;
  } else {
    throw InputError("a request for a worker has a line '" + std::string(key) + "', which is not known");
  }
}

/// A run that transfers rows from one process to another.
Run carrier() {
  return {.tool = std::string(version), .signature_version = signature_version, .machine = measure::this_machine()};
}

}  // namespace

std::filesystem::path run_of(const std::filesystem::path& folder) { return folder / "run.json"; }

void write_request(const Request& request, const std::filesystem::path& folder) {
  const measure::MeasureOptions& options = request.options;
  std::string lines;
  const auto add = [&lines](std::string_view key, std::string_view value, std::string_view more = {}) {
    lines.append(key).append("\t").append(value);
    if (!more.empty()) lines.append("\t").append(more);
    lines += '\n';
  };
  add(version_key, version);
  add("measures", request.measures ? "1" : "0");
  add("threads", std::to_string(options.threads));
  add("budget", exact(options.budget.value));
  for (const CacheState cache : options.caches) add("cache", enum_names(cache)[static_cast<std::size_t>(cache)]);
  for (const KernelMetric metric : options.metrics) add("metric", detail::enum_name(metric));
  if (!request.filter.empty()) add("filter", request.filter);
  for (const auto& backend : request.backends) add("backend", backend);
  for (const auto& [row, reason] : options.crashing_plans) add("crashing_plan", row, reason);
  Run known = carrier();
  std::set<std::string> with_rows;
  for (const auto& entry : request.layers) {
    const std::string signature = LayerSignature(entry.layer).text();
    add("layer", exact(entry.weight), signature);
    if (with_rows.insert(signature).second) known.rows.insert(known.rows.end(), entry.known.begin(), entry.known.end());
  }
  if (options.ceilings) known.ceilings = *options.ceilings;
  write_run(known, known_of(folder));
  std::error_code none;
  if (options.earlier) write_run(*options.earlier, earlier_of(folder));
  else std::filesystem::remove(earlier_of(folder), none);
  write_whole(lines_of(folder), lines);
}

Request read_request(const std::filesystem::path& folder) {
  Request request;
  request.options.caches.clear();
  std::istringstream lines(read_whole(lines_of(folder)));
  for (std::string line; std::getline(lines, line);) read_line(request, line);
  if (!std::filesystem::exists(known_of(folder))) return request;
  Run known = read_run(known_of(folder));
  std::map<std::string, std::vector<Measurement>> rows;
  for (auto& row : known.rows) rows[row.signature].push_back(std::move(row));
  for (auto& entry : request.layers)
    if (const auto found = rows.find(LayerSignature(entry.layer).text()); found != rows.end())
      entry.known = found->second;
  if (!known.ceilings.empty()) request.options.ceilings = std::move(known.ceilings);
  if (std::filesystem::exists(earlier_of(folder)))
    request.options.earlier = std::make_shared<const Run>(read_run(earlier_of(folder)));
  return request;
}

}  // namespace benanza::isolation
