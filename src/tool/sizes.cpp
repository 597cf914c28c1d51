// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include <benanza/error.hpp>
#include <benanza/results/whole_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace benanza::tool {

namespace {

using Json = nlohmann::json;
using Dims = std::vector<std::int64_t>;

std::int64_t size_of(const Json& json, const std::string& where, std::int64_t least) {
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  const double given = json.is_number() ? json.get<double>() : 0.5;
  const bool is_whole = given == std::trunc(given) && given >= -beyond && given < beyond;  // 4.0 is a size as well
  if (!is_whole || json.get<std::int64_t>() < least)
    throw InputError(where + ": found " + json.dump() + ", expected a whole number from " + std::to_string(least));
  return json.get<std::int64_t>();
}

void expect_object(const Json& json, const std::string& where) {
  if (!json.is_object()) throw InputError(where + ": found " + std::string(json.type_name()) + ", expected an object");
}

/// The keys are the options of the command line.
ImportOptions entry(const Json& json, const std::string& where) {
  expect_object(json, where);
  ImportOptions options;
  for (const auto& [key, value] : json.items()) {
    const std::string here = where + "." + key;
    if (key == "batch") {
      options.batch = size_of(value, here, 1);
      continue;
    }
    if (key != "dim" && key != "input" && key != "value")
      throw InputError(where + ": unknown key '" + key + "', expected batch, dim, input or value");
    expect_object(value, here);
    for (const auto& [name, given] : value.items()) {
      const std::string at = here + "." + name;
      if (key == "dim") options.dims[name] = size_of(given, at, 0);
      if (key == "value") options.values[name] = size_of(given, at, std::numeric_limits<std::int64_t>::min());
      if (key != "input") continue;
      if (!given.is_array()) throw InputError(at + ": found " + given.dump() + ", expected a shape such as [1, 3]");
      for (const auto& size : given) options.inputs[name].push_back(size_of(size, at, 0));
      options.inputs.try_emplace(name);  // a scalar
    }
  }
  return options;
}

}  // namespace

ShapesFile::ShapesFile(const std::filesystem::path& file) : file_(file.string()) {
  Json document;
  try {
    document = Json::parse(read_settings(file));
  } catch (const Json::parse_error& error) {
    throw InputError(file_ + ": at byte " + std::to_string(error.byte) + ": not JSON");
  } catch (const Json::exception&) {
    throw InputError(file_ + ": a number that is out of range");
  }
  expect_object(document, file_);
  for (const auto& [name, value] : document.items()) entries_[name] = entry(value, file_ + ": " + name);
}

const ImportOptions* ShapesFile::own(const std::filesystem::path& model) const {
  for (const auto& name : {model.string(), model.filename().string(), model.stem().string()})
    if (const auto found = entries_.find(name); found != entries_.end()) return &found->second;
  return nullptr;
}

std::vector<ImportOptions> ShapesFile::defaults(const std::filesystem::path& model) const {
  std::vector<ImportOptions> result;
  if (const ImportOptions* found = own(model)) result.push_back(*found);
  if (const auto all = entries_.find("*"); all != entries_.end()) result.push_back(all->second);
  return result;
}

void ShapesFile::check_names(const std::filesystem::path& model, const Graph& graph) const {
  const ImportOptions* found = own(model);
  if (found == nullptr) return;
  for (const auto& [name, size] : found->dims)
    if (!graph.dims.contains(name))
      throw InputError(file_ + ": " + graph.name + " has no symbolic dimension '" + name + "'");
  for (const auto& [name, shape] : found->inputs) {
    const auto is_it = [&, &wanted = name](ValueId id) { return graph.values[id].name == wanted; };
    if (std::none_of(graph.inputs.begin(), graph.inputs.end(), is_it))
      throw InputError(file_ + ": " + graph.name + " has no input '" + name + "'");
  }
}

std::string shapes_text(const SizesByModel& likely) { return Json(likely).dump(); }

std::map<std::string, std::vector<Dims>> node_inputs(const EngineProfile& profile) {
  std::map<std::string, std::vector<Dims>> result;
  for (const auto& record : profile.records) {
    if (record.inputs.empty() || record.nodes.size() != 1) continue;
    std::vector<Dims>& shapes = result[record.nodes.front()];
    if (!shapes.empty()) continue;
    for (const auto& input : record.inputs) shapes.push_back(input.dims);
  }
  return result;
}

}  // namespace benanza::tool
