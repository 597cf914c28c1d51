// SPDX-License-Identifier: Apache-2.0
#include "onednn_problem.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>

namespace benanza::profile {

namespace {

/// The type of a role (`src`) among the descriptors; empty for a type that ONNX lacks, or an undefined one.
std::optional<DataType> type_of(std::string_view memory, std::string_view role) {
  while (!memory.empty()) {
    const auto end = memory.find(' ');
    std::string_view one = memory.substr(0, end);
    memory.remove_prefix(end == std::string_view::npos ? memory.size() : end + 1);
    if (!one.starts_with(role) || one.size() <= role.size()) continue;
    const char behind = one[role.size()];
    if (behind != '_' && behind != ':') continue;  // `src_f32:`, `src:f32:`
    one.remove_prefix(role.size() + 1);
    one = one.substr(0, one.find(':'));
    if (one == "s8") return DataType::i8;
    if (one == "s32") return DataType::i32;
    if (one == "f8_e4m3") return DataType::f8e4m3;
    if (one == "f8_e5m2") return DataType::f8e5m2;
    return data_type_from_name(one);
  }
  return std::nullopt;
}

/// `mb1_ic3oc64_ih224oh112`: the numbers, by the letters in front of them.
std::map<std::string, std::int64_t, std::less<>> lettered(std::string_view problem) {
  std::map<std::string, std::int64_t, std::less<>> found;
  const char* at = problem.data();
  const char* const end = at + problem.size();
  while (at != end) {
    const char* const name = at;
    while (at != end && *at >= 'a' && *at <= 'z') ++at;
    const std::string letters(name, at);
    std::int64_t value = 0;
    const auto read = std::from_chars(at, end, value);
    if (read.ec == std::errc{} && !letters.empty()) found.emplace(letters, value);
    at = read.ec == std::errc{} ? read.ptr : at;
    while (at != end && !(*at >= 'a' && *at <= 'z')) ++at;
  }
  return found;
}

/// `2x3x4`; empty for anything else.
std::optional<std::vector<std::int64_t>> crossed(std::string_view text) {
  std::vector<std::int64_t> dims;
  while (true) {
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{}) return std::nullopt;
    dims.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.empty()) return dims;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

void add(std::vector<ProfiledTensor>& to, std::optional<DataType> type, std::vector<std::int64_t> dims) {
  if (type) to.push_back({*type, std::move(dims)});
}

void set_windowed(ProfileRecord& record, std::string_view memory, std::string_view problem, bool weights) {
  const auto size = lettered(problem);
  const auto has = [&size](const char* name) { return size.find(name) != size.end(); };
  const auto at = [&size](const char* name) { return size.find(name)->second; };
  const std::int64_t groups = has("g") ? at("g") : 1;
  if (!has("mb") || !has("ic") || groups < 1) return;
  const bool channels = has("oc");
  std::vector<std::int64_t> source{at("mb"), at("ic")}, result{at("mb"), channels ? at("oc") : at("ic")};
  std::vector<std::int64_t> window{channels ? at("oc") : at("ic"), at("ic") / groups};
  for (const char* axis : {"d", "h", "w"}) {
    const std::string in = std::string("i") + axis, out = std::string("o") + axis, kernel = std::string("k") + axis;
    if (!has(in.c_str())) continue;
    source.push_back(at(in.c_str()));
    if (has(out.c_str())) result.push_back(at(out.c_str()));
    if (has(kernel.c_str())) window.push_back(at(kernel.c_str()));
    else if (weights) window.push_back(at(in.c_str()));  // an inner product: the whole plane
  }
  const auto type = type_of(memory, "src");
  add(record.inputs, type, std::move(source));
  if (weights) add(record.inputs, type_of(memory, "wei"), std::move(window));
  add(record.outputs, type_of(memory, "dst"), std::move(result));
}

}  // namespace

void set_tensors(ProfileRecord& record, std::string_view primitive, std::string_view memory, std::string_view problem) {
  if (primitive == "convolution" || primitive == "deconvolution" || primitive == "inner_product")
    return set_windowed(record, memory, problem, true);
  if (primitive == "pooling") return set_windowed(record, memory, problem, false);
  const auto colon = problem.find(':');
  const auto first = crossed(problem.substr(0, colon));
  if (!first) return;
  const auto type = type_of(memory, "src") ? type_of(memory, "src") : type_of(memory, "src_0");
  add(record.inputs, type ? type : type_of(memory, "data"), *first);
  if (colon == std::string_view::npos) {
    add(record.outputs, type_of(memory, "dst"), *first);
    return;
  }
  const auto second = crossed(problem.substr(colon + 1, problem.find(':', colon + 1) - colon - 1));
  if (!second) return;
  if (primitive == "matmul") {
    add(record.inputs, type_of(memory, "wei"), *second);
    std::vector<std::int64_t> result = *first;
    if (second->size() != result.size() || result.size() < 2) return;
    for (std::size_t i = 0; i + 2 < result.size(); ++i) result[i] = std::max(result[i], (*second)[i]);
    result.back() = second->back();
    add(record.outputs, type_of(memory, "dst"), std::move(result));
  } else if (primitive == "binary") {
    add(record.inputs, type_of(memory, "src_1"), *second);
  }
}

}  // namespace benanza::profile
